//! The steps of a child process between its start and its program: it is tied to the thread that started it, and it enters its
//! [`Confinement`], in which it has few capabilities.
#![allow(unsafe_code)]

use crate::confinement::Confinement;
use tokio::process::Command;

/// Makes the program of `command` end with the thread that starts it, also when this process is killed by `SIGKILL`, and
/// confines it. Descendants of the program inherit the confinement, but not the tie.
///
/// From now on, programs without the capability for it cannot read the memory of this process, nor its environment.
pub(crate) fn prepare(command: &mut Command, confinement: Option<Confinement>) {
    #[cfg(target_os = "linux")]
    {
        use nix::sys::{prctl, signal::Signal};
        use nix::unistd::{getpid, getppid};

        static ONCE: std::sync::Once = std::sync::Once::new();
        // A program starts dumpable again.
        ONCE.call_once(|| {
            let _ = prctl::set_dumpable(false);
        });
        let parent = getpid();
        let mut confinement = confinement;
        let steps = move || -> std::io::Result<()> {
            prctl::set_pdeathsig(Signal::SIGKILL)?;
            // The parent may have ended before the line above.
            if getppid() != parent {
                return Err(nix::errno::Errno::ESRCH.into());
            }
            match confinement.take() {
                None => Ok(()),
                Some(confinement) => confinement.enter().and_then(|_| drop_capabilities()),
            }
        };
        // SAFETY: the closure runs between `fork` and `exec` of a process that may have several threads. It makes system calls
        // only (`prctl`, `getppid`, `landlock_restrict_self`, `capset`, `close`), takes no lock, and allocates nothing unless
        // it fails.
        unsafe { command.pre_exec(steps) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (command, confinement);
}

/// Drops the capabilities that the tools of a model do not need, for good. A program of the superuser keeps those that
/// concern files and users. Without the others it can neither read what the kernel keeps of other processes, nor leave
/// its confinement.
#[cfg(target_os = "linux")]
fn drop_capabilities() -> std::io::Result<()> {
    use rustix::thread::{
        CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set, remove_capability_from_bounding_set,
        set_capabilities,
    };

    const KEPT: CapabilitySet = CapabilitySet::CHOWN
        .union(CapabilitySet::DAC_OVERRIDE)
        .union(CapabilitySet::FOWNER)
        .union(CapabilitySet::FSETID)
        .union(CapabilitySet::SETGID)
        .union(CapabilitySet::SETUID)
        .union(CapabilitySet::NET_BIND_SERVICE);

    // Programs that the superuser starts have what this set allows. A process without `CAP_SETPCAP` cannot change it,
    // and a kernel does not know all of them; a confined process gets none that it does not have.
    for one in (0..64).map(|bit| CapabilitySet::from_bits_retain(1 << bit)) {
        if !KEPT.contains(one) {
            let _ = remove_capability_from_bounding_set(one);
        }
    }
    // Kernels before 4.3 have no such set.
    let _ = clear_ambient_capability_set();
    let has = capabilities(None)?;
    let permitted = has.permitted.intersection(KEPT);
    let kept = CapabilitySets {
        effective: has.effective.intersection(KEPT),
        permitted,
        inheritable: has.inheritable.intersection(permitted),
    };
    Ok(set_capabilities(None, kept)?)
}
