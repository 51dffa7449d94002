//! [`Confinement`]: which files a program can reach, held by the kernel (Landlock). Kernels without Landlock, and other systems,
//! confine nothing.

use std::io;
use std::path::PathBuf;

/// Folders of the system: programs, libraries, their settings, and what the kernel says of processes and devices. Landlock
/// itself keeps a confined program from reading `/proc/PID/environ` and the like of processes outside of its confinement.
#[cfg(target_os = "linux")]
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/nix",
    "/gnu",
    "/snap",
    "/proc",
    "/sys",
    "/run/current-system",
    "/run/resolvconf",
    "/run/systemd/resolve",
];

#[cfg(target_os = "linux")]
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// Folders that a program can reach besides those of the system.
#[derive(Debug, Default, Clone)]
pub(crate) struct Reach {
    /// Folders whose files can be read and run.
    pub(crate) readable: Vec<PathBuf>,
    /// Folders whose files can be read, run and changed.
    pub(crate) writable: Vec<PathBuf>,
}

/// A confinement that a child process can enter before it runs its program.
pub(crate) struct Confinement {
    #[cfg(target_os = "linux")]
    ruleset: landlock::RulesetCreated,
}

impl Confinement {
    /// Prepares a confinement. Folders that do not exist are left out.
    ///
    /// # Errors
    /// The kernel has Landlock and does not accept the rules.
    #[cfg(target_os = "linux")]
    pub(crate) fn new(reach: &Reach) -> io::Result<Confinement> {
        use landlock::{
            ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr, Scope,
            path_beneath_rules,
        };

        // The newest one that the rules below make use of; an older kernel holds what it knows of it.
        let abi = ABI::V9;
        let (all, read) = (AccessFs::from_all(abi), AccessFs::from_read(abi));
        let system = SYSTEM.iter().map(PathBuf::from).chain(program_folders());
        let build = || -> Result<_, landlock::RulesetError> {
            Ruleset::default()
                .set_compatibility(CompatLevel::BestEffort)
                .handle_access(all)?
                .scope(Scope::Signal | Scope::AbstractUnixSocket)?
                .create()?
                .add_rules(path_beneath_rules(system, read))?
                .add_rules(path_beneath_rules(DEVICES, all))?
                .add_rules(path_beneath_rules(&reach.readable, read))?
                .add_rules(path_beneath_rules(&reach.writable, all))
        };
        build().map(|ruleset| Confinement { ruleset }).map_err(io::Error::other)
    }

    /// Prepares a confinement that confines nothing.
    ///
    /// # Errors
    /// None.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn new(_: &Reach) -> io::Result<Confinement> {
        Ok(Confinement {})
    }

    /// Confines the calling thread and the processes that it starts, for good. Returns whether the kernel holds any of it.
    ///
    /// # Errors
    /// The kernel has Landlock and refuses.
    #[cfg(target_os = "linux")]
    pub(crate) fn enter(self) -> io::Result<bool> {
        let status = self.ruleset.restrict_self().map_err(|_| nix::errno::Errno::EPERM)?;
        Ok(status.ruleset != landlock::RulesetStatus::NotEnforced)
    }
}

/// The folders in `PATH`, but none that holds the user's own.
#[cfg(target_os = "linux")]
fn program_folders() -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let holds_home = |folder: &PathBuf| home.as_ref().is_some_and(|home| home.starts_with(folder));
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).filter(|folder| folder.is_absolute() && !holds_home(folder)).collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_thread_reaches_no_file_outside() {
        let folder = std::env::temp_dir().join(format!("harn-confinement-{}", std::process::id()));
        let (inside, outside) = (folder.join("in"), folder.join("out"));
        fs::create_dir_all(&inside).unwrap();
        fs::create_dir_all(&outside).unwrap();
        fs::write(outside.join("a.txt"), "secret").unwrap();
        let confinement = Confinement::new(&Reach { writable: vec![inside.clone()], ..Reach::default() }).unwrap();
        let (read, wrote, stays, held) = {
            let outside = outside.clone();
            let body = move || {
                let held = confinement.enter().unwrap();
                let read = fs::read(outside.join("a.txt")).is_ok();
                let wrote = fs::write(outside.join("b.txt"), "x").is_ok();
                (read, wrote, fs::write(inside.join("b.txt"), "x").is_ok(), held)
            };
            std::thread::spawn(body).join().unwrap()
        };
        println!("Landlock: {}", if held { "present" } else { "not present" });
        assert!(stays);
        assert_eq!((read, wrote), (!held, !held), "whether the kernel has Landlock: {held}");
        fs::remove_dir_all(folder).unwrap();
    }
}
