//! The state a daemon keeps of its naps.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::data::Data;
use base::words::words;

use crate::watch::{FileChange, FileChangeKind};

words! {
    /// The reason a daemon went on.
    pub enum WakeCause {
        /// A host injected an item into the queue.
        Queue = "queue",
        /// Watched files changed.
        Files = "files",
        /// A handler or a provider added a reminder.
        Reminder = "reminder",
        /// A message was added to its session.
        Message = "message",
        /// It was requested to suspend.
        Suspension = "suspension",
    }
}

/// The state a daemon keeps of its naps, besides their number.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DaemonState {
    /// Number of times it went on after a nap.
    pub wakes: u32,
    /// The last wake.
    pub last_wake: Option<DaemonWake>,
    /// Number of file changes reported to it.
    pub files: u64,
    /// Number of times it has consolidated its transcript.
    pub consolidations: u32,
    /// Number of messages in the transcript after the last consolidation.
    pub consolidated_at: usize,
    /// The changes that no prompt has reported yet.
    pub untold: UnreportedChanges,
}

/// A wake of a daemon: its reason and time.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DaemonWake {
    cause: WakeCause,
    at_ms: u64,
    files: usize,
}

/// Changes since the last prompt.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UnreportedChanges {
    /// The iteration after which they were found.
    iteration: u32,
    /// The first of them, by path.
    pub files: BTreeMap<Arc<str>, FileChangeKind>,
    /// Number of further changes.
    pub more: u64,
}

impl UnreportedChanges {
    /// Maximum number of paths that are kept; further ones are only counted.
    const KEPT: usize = 1_000;

    /// Adds the changes found after an iteration. Changes from an earlier iteration are dropped: a prompt has reported
    /// them.
    pub fn add(&mut self, iteration: u32, changes: &[FileChange]) {
        if self.iteration != iteration {
            *self = UnreportedChanges { iteration, ..UnreportedChanges::default() };
        }
        for FileChange { path, kind } in changes {
            if let Some(known) = self.files.get_mut(path) {
                *known = known.and_then(*kind);
            } else if self.files.len() < Self::KEPT {
                self.files.insert(path.clone(), *kind);
            } else {
                self.more += 1;
            }
        }
    }

    /// Returns the number of changes.
    #[must_use]
    pub fn count(&self) -> u64 {
        u64::try_from(self.files.len()).unwrap_or(u64::MAX).saturating_add(self.more)
    }
}

impl DaemonState {
    /// Records that the daemon goes on.
    pub fn wakes(&mut self, cause: WakeCause, files: usize, at_ms: u64) {
        self.wakes += 1;
        self.last_wake = Some(DaemonWake { cause, at_ms, files });
    }

    /// Converts the state to the dict that scripts see: `{naps, wakes, last_wake?, consolidations, files?}`.
    #[must_use]
    pub fn to_data(&self, naps: u32, watches: bool) -> Data {
        let last_wake = self.last_wake.as_ref().map_or(Data::Nil, |wake| {
            let files = if wake.cause == WakeCause::Files { wake.files.into() } else { Data::Nil };
            Data::dict_of_present([
                ("cause", Data::from(wake.cause.as_str())),
                ("at_ms", wake.at_ms.into()),
                ("files", files),
            ])
        });
        Data::dict_of_present([
            ("naps", Data::from(naps)),
            ("wakes", self.wakes.into()),
            ("last_wake", last_wake),
            ("consolidations", self.consolidations.into()),
            ("files", if watches { self.files.into() } else { Data::Nil }),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(path: &str, kind: FileChangeKind) -> FileChange {
        FileChange { path: path.into(), kind }
    }

    #[test]
    fn changes_of_one_file_come_to_one_until_a_prompt_has_told_of_them() {
        use FileChangeKind as C;
        let mut untold = UnreportedChanges::default();
        untold.add(1, &[change("a", C::Created), change("b", C::Removed)]);
        untold.add(1, &[change("a", C::Modified), change("b", C::Created), change("c", C::Removed)]);
        let found: Vec<_> = untold.files.iter().map(|(path, kind)| (path.as_ref(), *kind)).collect();
        assert_eq!(found, [("a", C::Created), ("b", C::Modified), ("c", C::Removed)]);
        untold.add(2, &[change("d", C::Created)]);
        assert_eq!((untold.files.len(), untold.count()), (1, 1));
    }

    #[test]
    fn of_a_flood_the_first_paths_are_kept_and_all_are_counted() {
        let flood: Vec<_> = (0..5_000).map(|n| change(&format!("f{n:04}"), FileChangeKind::Created)).collect();
        let mut untold = UnreportedChanges::default();
        untold.add(1, &flood);
        assert_eq!((untold.files.len(), untold.count()), (UnreportedChanges::KEPT, 5_000));
    }
}
