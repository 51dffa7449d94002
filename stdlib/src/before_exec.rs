//! The steps of a child process between its start and its program: it is tied to the thread that started it, and it enters its
//! [`Confinement`].
#![allow(unsafe_code)]

use crate::confinement::Confinement;
use tokio::process::Command;

/// Makes the program of `command` end with the thread that starts it, also when this process is killed by `SIGKILL`, and
/// confines it. Descendants of the program inherit the confinement, but not the tie.
pub(crate) fn prepare(command: &mut Command, confinement: Option<Confinement>) {
    #[cfg(target_os = "linux")]
    {
        use nix::sys::{prctl, signal::Signal};
        use nix::unistd::{getpid, getppid};

        let parent = getpid();
        let mut confinement = confinement;
        let steps = move || -> std::io::Result<()> {
            prctl::set_pdeathsig(Signal::SIGKILL)?;
            // The parent may have ended before the line above.
            if getppid() != parent {
                return Err(nix::errno::Errno::ESRCH.into());
            }
            confinement.take().map_or(Ok(()), |confinement| confinement.enter().map(drop))
        };
        // SAFETY: the closure runs between `fork` and `exec` of a process that may have several threads. It makes system calls
        // only (`prctl`, `getppid`, `landlock_restrict_self`, `close`), takes no lock, and allocates nothing unless it fails.
        unsafe { command.pre_exec(steps) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (command, confinement);
}
