//! Running a command to its end, or until it is stopped.

use super::git;
use crate::confinement::{Confinement, Reach};
use crate::group::{ProcessGroup, exit_code};
use crate::system;
use base::data::Data;
use runtime::scope::Scope;
use runtime::seam::Output;
use runtime::stop::stopped;
use std::collections::VecDeque;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;

/// Variables that a command sees; keys of model servers are none of them.
const VARIABLES: &[&str] = &["PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ"];

/// The limits and the environment of a command.
pub(super) struct Limits {
    pub(super) timeout_ms: u64,
    /// Bytes of each of its two outputs that are kept.
    pub(super) most: usize,
    /// Further variables that it sees.
    pub(super) env: Vec<String>,
}

/// Runs a command in `root`. Everything that it started ends with it when it is stopped.
pub(super) async fn run(root: &Path, also: &Reach, words: &[String], limits: &Limits, scope: &Scope) -> Output {
    if let Err(stopped) = scope.check() {
        return Output::error(format!("stopped: {stopped}"));
    }
    let scratch = match Scratch::new() {
        Ok(scratch) => scratch,
        Err(error) => return Output::error(format!("cannot create a temporary folder: {error}")),
    };
    let mut reach = also.clone();
    if git::is_git(words) {
        let more = git::reach(root);
        reach.readable.extend(more.readable);
        reach.writable.extend(more.writable);
    }
    reach.writable.extend([root.to_owned(), scratch.path.clone()]);
    let prepare = |words: &[String], folder: &Path| -> std::io::Result<(Command, Option<Confinement>)> {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).current_dir(folder).env_clear().env("TERM", "dumb");
        git::set_variables(&mut command);
        let seen = VARIABLES.iter().copied().chain(limits.env.iter().map(String::as_str));
        let seen = seen.filter(|name| !name.starts_with("GIT_CONFIG"));
        command.envs(seen.filter_map(|name| Some((name, std::env::var_os(name)?))));
        command.env("TMPDIR", &scratch.path);
        Ok((command, Some(Confinement::new(&reach)?)))
    };
    if git::is_git(words) {
        let checked = tokio::select! {
            biased;
            checked = git::check_repository(root, words, &prepare) => checked,
            why = stopped(scope) => Err(format!("stopped: {why}")),
        };
        if let Err(why) = checked {
            return Output::error(why);
        }
    }
    let started = prepare(words, root).and_then(|(mut command, confinement)| {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        ProcessGroup::start(&mut command, confinement)
    });
    let mut group = match started {
        Ok(group) => group,
        Err(error) => {
            return Output::error(format!("cannot run `{}`: {}", words[0], system::reason(&error, "program")));
        }
    };
    let (mut out, mut err) = (KeptOutput::new(limits.most), KeptOutput::new(limits.most));
    let (stdout, stderr) = (group.child.stdout.take(), group.child.stderr.take());
    let ended = {
        let all = async {
            tokio::join!(out.read(stdout), err.read(stderr));
            group.child.wait().await
        };
        tokio::select! {
            biased;
            ended = all => Ok(ended),
            why = stopped(scope) => Err(format!("stopped: {why}")),
            // The program takes real time, whatever the run's clock says.
            () = tokio::time::sleep(Duration::from_millis(limits.timeout_ms)) => {
                Err(format!("stopped after {} ms", limits.timeout_ms))
            }
        }
    };
    let code = match ended {
        Ok(Ok(status)) => {
            group.release();
            Ok(exit_code(status))
        }
        Ok(Err(error)) => Err(format!("cannot wait for `{}`: {error}", words[0])),
        Err(why) => Err(why),
    };
    output(out, err, code)
}

/// A folder for the temporary files of one command, removed with it: the system's own is not open to it.
struct Scratch {
    path: PathBuf,
}

impl Scratch {
    fn new() -> std::io::Result<Scratch> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let folder = std::env::temp_dir();
        let mut tries = 0;
        loop {
            let n = MADE.fetch_add(1, Ordering::Relaxed);
            let path = folder.join(format!("harn-shell-{}-{n}", std::process::id()));
            match std::fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Scratch { path }),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && tries < 1000 => tries += 1,
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is left to the system.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

fn output(out: KeptOutput, err: KeptOutput, code: Result<i64, String>) -> Output {
    let truncated = out.is_cut() || err.is_cut();
    let (stdout, stderr) = (out.into_text(), err.into_text());
    let mut text = stdout.clone();
    let mut add = |more: &str| {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(more);
    };
    if !stderr.is_empty() {
        add("[stderr]\n");
        add(&stderr);
    }
    match &code {
        Ok(0) => {}
        Ok(code) => add(&format!("[exit code {code}]")),
        Err(why) => add(&format!("[{why}]")),
    }
    let ok = code == Ok(0);
    let value = Data::dict([
        ("ok", Data::from(ok)),
        ("code", code.ok().into()),
        ("stdout", stdout.into()),
        ("stderr", stderr.into()),
    ]);
    Output { text: text.into(), value, ok, truncated }
}

/// The beginning and the end of an output: errors are often at the end.
struct KeptOutput {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    half: usize,
    left_out: u64,
}

impl KeptOutput {
    fn new(most: usize) -> Self {
        Self { head: Vec::new(), tail: VecDeque::new(), half: most / 2, left_out: 0 }
    }

    /// Reads to the end. A program whose output cannot be read has said what it had to say.
    async fn read(&mut self, stream: Option<impl AsyncRead + Unpin>) {
        let Some(mut stream) = stream else { return };
        let mut buffer = [0; 8192];
        while let Ok(count @ 1..) = stream.read(&mut buffer).await {
            self.take(&buffer[..count]);
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        let (first, rest) = bytes.split_at(bytes.len().min(self.half - self.head.len()));
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(self.half);
        self.tail.drain(..over);
        self.left_out += over as u64;
    }

    fn is_cut(&self) -> bool {
        self.left_out > 0
    }

    /// Returns the text; invalid UTF-8 becomes U+FFFD.
    fn into_text(self) -> String {
        let tail: Vec<u8> = self.tail.into();
        if self.left_out == 0 {
            return String::from_utf8_lossy(&[self.head, tail].concat()).into_owned();
        }
        let (head, tail) = (String::from_utf8_lossy(&self.head), String::from_utf8_lossy(&tail));
        format!("{head}\n[{} bytes omitted]\n{tail}", self.left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_long_output_is_left_out() {
        let mut kept = KeptOutput::new(10);
        for piece in [&b"abc"[..], b"defgh", b"ijklmnopq", b"rs"] {
            kept.take(piece);
        }
        assert!(kept.is_cut());
        assert_eq!(kept.into_text(), "abcde\n[9 bytes omitted]\nopqrs");
        let mut short = KeptOutput::new(10);
        short.take(b"abcdefgh");
        assert_eq!((short.is_cut(), short.into_text().as_str()), (false, "abcdefgh"));
    }
}
