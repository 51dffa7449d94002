//! A running program with all that it has started.

use crate::before_exec;
use crate::confinement::Confinement;
use crate::descendants::{self, Starting};
use tokio::process::{Child, Command};

/// A running program with those that it has started: they end when this is dropped.
pub(crate) struct ProcessGroup {
    pub(crate) child: Child,
    leader: Option<i32>,
    mark: String,
}

impl ProcessGroup {
    /// Starts a program in a group of its own. On Linux the program ends with the thread that calls this, however that ends.
    ///
    /// # Errors
    /// The system does not start it.
    pub(crate) fn start(command: &mut Command, confinement: Option<Confinement>) -> std::io::Result<Self> {
        before_exec::prepare(command, confinement);
        #[cfg(unix)]
        command.process_group(0);
        let starting = Starting::of(command);
        let child = command.kill_on_drop(true).spawn()?;
        let leader = child.id().and_then(|id| i32::try_from(id).ok());
        let mark = starting.started(leader);
        Ok(Self { child, leader, mark })
    }

    /// It is over: what it left running on purpose may go on.
    pub(crate) fn release(&mut self) {
        if let Some(leader) = self.leader.take() {
            descendants::is_over(leader);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(leader) = self.leader {
            use nix::sys::signal::{Signal, killpg};
            // The group may have ended already.
            let _ = killpg(nix::unistd::Pid::from_raw(leader), Signal::SIGKILL);
            descendants::end(leader, &self.mark);
        }
    }
}

/// Returns the exit code as shells count: for a process ended by a signal, 128 plus the signal's
/// number.
pub(crate) fn exit_code(status: std::process::ExitStatus) -> i64 {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        if let Some(signal) = status.signal() {
            return i64::from(128 + signal);
        }
    }
    i64::from(status.code().unwrap_or(1))
}
