//! The processes that a program has started, whatever group or session they have moved to.
//!
//! On Linux this process is the subreaper of all that it starts: a descendant whose parent ends becomes a child of this process and not
//! of `init`, so it stays within reach. Each program has a mark in its environment, which those that it starts inherit: that tells the
//! orphans of several programs apart. [`end`] kills the tree below a program and the orphans with its mark, or without any.
//!
//! Elsewhere, and where `/proc` cannot be read, a program's process group is all that is ended.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::process::Command;

/// The variable with a program's mark.
const MARK: &str = "HARN_COMMAND";

/// The programs that were started and have not been waited for. Their exit status belongs to the
/// code that started them.
static LEADERS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

fn leaders() -> MutexGuard<'static, BTreeSet<i32>> {
    // Nothing panics while it holds the lock.
    LEADERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A program that is about to start. No other is looked for meanwhile.
pub(crate) struct Starting {
    leaders: MutexGuard<'static, BTreeSet<i32>>,
    mark: String,
}

impl Starting {
    /// Puts the mark into the environment of a program.
    pub(crate) fn of(command: &mut Command) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        #[cfg(target_os = "linux")]
        {
            static ONCE: std::sync::Once = std::sync::Once::new();
            // Where it is refused, the tree below a program is still within reach.
            ONCE.call_once(|| {
                let _ = nix::sys::prctl::set_child_subreaper(true);
            });
        }
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        // A run inside of a program has its mark too: what that program has started, the run has started for it.
        let outer = std::env::var(MARK).map_or_else(|_| String::new(), |mark| format!("{mark}/"));
        let mark = format!("{outer}{}-{number}", std::process::id());
        command.env(MARK, &mark);
        let leaders = leaders();
        #[cfg(target_os = "linux")]
        proc::reap(&leaders);
        Self { leaders, mark }
    }

    /// The program runs; its mark.
    pub(crate) fn started(mut self, leader: Option<i32>) -> String {
        self.leaders.extend(leader);
        self.mark
    }
}

/// A program was waited for: what it left running may go on.
pub(crate) fn is_over(leader: i32) {
    leaders().remove(&leader);
}

/// Kills a program with its descendants.
#[cfg(target_os = "linux")]
pub(crate) fn end(leader: i32, mark: &str) {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    /// The number of searches: a process that is killed may just be starting another one.
    const ROUNDS: usize = 5;
    let leaders = leaders();
    for _ in 0..ROUNDS {
        let found = proc::descendants(leader, mark, &leaders);
        if found.is_empty() {
            return;
        }
        for pid in found {
            // It may be over already.
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
        proc::reap(&leaders);
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn end(_leader: i32, _mark: &str) {}

#[cfg(target_os = "linux")]
mod proc {
    use super::MARK;
    use nix::sys::wait::{Id, WaitPidFlag, waitid, waitpid};
    use nix::unistd::Pid;
    use std::collections::BTreeSet;
    use std::fs;

    /// A process, its parent, and whether it has ended and was not waited for.
    struct Process {
        pid: i32,
        parent: i32,
        is_over: bool,
    }

    fn processes() -> Vec<Process> {
        let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
        entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter_map(read).collect()
    }

    /// The fields behind the name, which may hold anything: the state and the parent.
    fn read(pid: i32) -> Option<Process> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let is_over = matches!(fields.next()?, "Z" | "X");
        Some(Process { pid, parent: fields.next()?.parse().ok()?, is_over })
    }

    /// The mark in a process's environment; nothing where it has none or may not be read.
    fn mark_of(pid: i32) -> Option<String> {
        let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
        let prefix = format!("{MARK}=");
        let entry = environment.split(|byte| *byte == 0).find_map(|entry| entry.strip_prefix(prefix.as_bytes()))?;
        String::from_utf8(entry.to_vec()).ok()
    }

    /// Whether a mark is this one, or that of a program which a run inside of it has started.
    fn is_below(found: &str, mark: &str) -> bool {
        found.strip_prefix(mark).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    fn own() -> i32 {
        Pid::this().as_raw()
    }

    /// Returns the processes below a program, and below the orphans that are its own or without an
    /// owner; not the program itself.
    pub(super) fn descendants(leader: i32, mark: &str, leaders: &BTreeSet<i32>) -> Vec<i32> {
        let all: Vec<_> = processes().into_iter().filter(|process| !process.is_over).collect();
        let is_orphan = |process: &&Process| {
            let adopted = process.parent == own() && !leaders.contains(&process.pid);
            adopted && mark_of(process.pid).is_none_or(|found| is_below(&found, mark))
        };
        let mut found: Vec<i32> = all.iter().filter(is_orphan).map(|process| process.pid).collect();
        let mut next = 0;
        let mut parents = vec![leader];
        parents.extend(&found);
        while let Some(parent) = parents.get(next).copied() {
            next += 1;
            let children = all.iter().filter(|process| process.parent == parent && !parents.contains(&process.pid));
            let children: Vec<i32> = children.map(|process| process.pid).collect();
            found.extend(&children);
            parents.extend(children);
        }
        found
    }

    /// Waits for the orphans that have ended, since they have no other parent.
    pub(super) fn reap(leaders: &BTreeSet<i32>) {
        let look = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        while let Ok(status) = waitid(Id::All, look) {
            match status.pid() {
                Some(orphan) if !leaders.contains(&orphan.as_raw()) => {
                    let _ = waitpid(orphan, Some(WaitPidFlag::WNOHANG));
                }
                // Orphans behind a program that is about to be waited for come next time.
                _ => return,
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn marks_are_nested() {
            assert!(is_below("7-1", "7-1") && is_below("7-1/9-0", "7-1"));
            assert!(!is_below("7-12", "7-1") && !is_below("7-2", "7-1") && !is_below("", "7-1"));
        }

        #[test]
        fn this_process_is_read_with_its_parent() {
            let this = read(own()).unwrap();
            assert_eq!((this.pid, this.parent, this.is_over), (own(), Pid::parent().as_raw(), false));
        }
    }
}
