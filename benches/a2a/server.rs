//! A process that listens.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A process that listens. It is killed when this is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) at: SocketAddr,
    folder: PathBuf,
}

impl Server {
    /// Serves a script of `benches/a2a/programs`, with these options.
    pub(crate) fn harn(script: &str, args: &[&str]) -> Server {
        let folder = std::env::temp_dir().join(format!("harn-bench-a2a-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for the sessions");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/a2a/programs").join(script);
        let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
        command.args(["serve", "a2a", "--listen", "127.0.0.1:0"]).arg(script).args(args).current_dir(&folder);
        command.env_remove("HARN_EVENT_LOG").env_remove("HARN_A2A_TOKEN").env("HARN_LLM_PROVIDER", "mock");
        Server::start(command, folder)
    }

    /// The process that only parses and answers.
    pub(crate) fn bare() -> Server {
        let mut command = Command::new(std::env::current_exe().expect("the path of the bench"));
        command.arg(super::bare::WORD);
        Server::start(command, std::env::temp_dir())
    }

    fn start(mut command: Command, folder: PathBuf) -> Server {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the process starts");
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let at = loop {
            let line = lines.next().expect("it says where it listens").expect("a line");
            let url = line.split("http://").nth(1).and_then(|rest| rest.split([';', '/', ' ']).next());
            if let Some(at) = url.and_then(|at| at.parse().ok()) {
                break at;
            }
        };
        std::thread::spawn(move || lines.for_each(drop));
        Server { child, at, folder }
    }

    /// Returns the server's resident memory, in KiB.
    pub(crate) fn memory_kib(&self) -> u64 {
        self.status("VmRSS:")
    }

    /// The most that it took, in KiB.
    pub(crate) fn peak_kib(&self) -> u64 {
        self.status("VmHWM:")
    }

    fn status(&self, field: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(field));
        line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if self.folder != std::env::temp_dir() {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}
