//! The program of a server: a child process in a group of its own, which ends with the run.

use super::spec::ServerProgram;
use crate::group::{ProcessGroup, exit_code};
use crate::system;
use base::call::LocalFuture;
use mcp::{Launcher, RunningProcess, ServerProcess};
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use tokio::process::Command;

/// Variables that every program sees. Keys of model servers are none of them.
const VARIABLES: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// Starts the program of a server.
pub(super) struct ProgramLauncher {
    pub(super) program: ServerProgram,
    /// Its working folder.
    pub(super) folder: PathBuf,
}

impl Launcher for ProgramLauncher {
    fn launch(&self) -> Result<ServerProcess, String> {
        let written = &*self.program.command;
        // A relative path begins in the working folder; a bare name is looked up in `PATH`.
        let path = if written.contains('/') { self.folder.join(written) } else { PathBuf::from(written) };
        let mut command = Command::new(path);
        command.args(self.program.args.iter().map(AsRef::<str>::as_ref)).current_dir(&self.folder).env_clear();
        let passed = self.program.pass_env.iter().map(AsRef::<str>::as_ref);
        let seen = VARIABLES.iter().copied().chain(passed);
        command.envs(seen.filter_map(|name| Some((name, std::env::var_os(name)?))));
        command.envs(self.program.env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut group = ProcessGroup::start(&mut command, None)
            .map_err(|error| format!("cannot run `{written}`: {}", system::reason(&error, "program")))?;
        let child = &mut group.child;
        let (Some(stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(format!("`{written}` has no standard input and output"));
        };
        Ok(ServerProcess {
            stdin: Box::new(stdin),
            stdout: Box::new(stdout),
            stderr: Box::new(stderr),
            process: Box::new(RunningProgram(group)),
        })
    }
}

/// A program that runs, with those that it has started.
struct RunningProgram(ProcessGroup);

impl RunningProcess for RunningProgram {
    fn wait(&mut self) -> LocalFuture<'_, io::Result<i64>> {
        Box::pin(async { self.0.child.wait().await.map(exit_code) })
    }
}
