//! A server of the command in a process of its own. It is started again after a number of mutants, so that what it keeps of
//! them does not slow down the next ones.

use crate::harn::environment;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// The timeout of the first line of a server.
const LIMIT: Duration = Duration::from_secs(300);

/// A running server.
pub(crate) struct Served {
    child: Child,
    /// Its standard input and output, for a protocol over them.
    pub(crate) input: Option<ChildStdin>,
    pub(crate) output: Option<ChildStdout>,
    first: Receiver<String>,
    /// The text on standard error.
    reported: Arc<Mutex<String>>,
}

/// Returns a command in the working directory.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
    let memory = std::env::current_dir().unwrap_or_default().join("memory");
    command.args(arguments).env_clear().envs(environment()).env("HARN_MEMORY_ROOT", memory);
    command
}

impl Served {
    /// Starts a server.
    ///
    /// # Errors
    /// It does not start.
    pub(crate) fn start(arguments: &[&str]) -> Result<Served, String> {
        let mut command = command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let reported = Arc::new(Mutex::new(String::new()));
        let (sender, first) = channel();
        let (stderr, kept) = (child.stderr.take(), reported.clone());
        thread::spawn(move || {
            let Some(stderr) = stderr else { return };
            let mut stderr = BufReader::new(stderr);
            let mut line = Vec::new();
            while stderr.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                let text = String::from_utf8_lossy(&line).into_owned();
                let mut kept = kept.lock().unwrap();
                // A panic is kept with what follows it; other lines only until there are many.
                if kept.len() > 1 << 16 && !kept.contains("panicked at") {
                    kept.clear();
                }
                kept.push_str(&text);
                let _ = sender.send(text);
                line.clear();
            }
        });
        Ok(Served { input: child.stdin.take(), output: child.stdout.take(), child, first, reported })
    }

    /// Returns the addresses in the line that says where a server listens.
    ///
    /// # Errors
    /// It does not listen.
    pub(crate) fn addresses(&self) -> Result<Vec<String>, String> {
        loop {
            let line = match self.first.recv_timeout(LIMIT) {
                Ok(line) => line,
                Err(RecvTimeoutError::Disconnected) => return Err(format!("it does not listen: {}", self.reported())),
                Err(RecvTimeoutError::Timeout) => return Err(format!("no address within {LIMIT:?}")),
            };
            let after = line.split("http://").skip(1);
            let is_part = |sign: char| sign.is_ascii_alphanumeric() || ".:".contains(sign);
            let found: Vec<String> =
                after.map(|rest| rest.chars().take_while(|sign| is_part(*sign)).collect()).collect();
            if !found.is_empty() {
                return Ok(found);
            }
        }
    }

    fn reported(&self) -> String {
        self.reported.lock().unwrap().clone()
    }

    /// Checks that the process runs and that nothing has panicked in it.
    ///
    /// # Errors
    /// Says what happened.
    pub(crate) fn is_well(&mut self) -> Result<(), String> {
        let ended = self.child.try_wait().map_err(|error| error.to_string())?;
        let reported = self.reported();
        match ended {
            Some(status) => Err(format!("the server ended: {status}; {reported}")),
            None if reported.contains("panicked at") => Err(format!("a panic in the server: {reported}")),
            None => Ok(()),
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads to the end.
pub(crate) fn lines_of(output: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, lines) = channel();
    thread::spawn(move || {
        let mut output = BufReader::new(output);
        let mut line = Vec::new();
        while output.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            let _ = sender.send(std::mem::take(&mut line));
        }
    });
    lines
}

/// Removes a file or a folder of an earlier server.
pub(crate) fn removed(path: &str) {
    let _ = std::fs::remove_dir_all(Path::new(path));
    for ending in ["", "-wal", "-shm", "-lock"] {
        let _ = std::fs::remove_file(format!("{path}{ending}"));
    }
}
