//! The state a daemon keeps of its naps.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::data::Data;
use crate::watch::{Change, ChangeKind};
use crate::words::words;

words! {
    /// Why a daemon went on.
    pub enum WakeCause {
        /// A host put something into the queue.
        Queue = "queue",
        /// Files that it watches changed.
        Files = "files",
        /// A handler or a provider reminds of something.
        Reminder = "reminder",
        /// A message was added to its session.
        Message = "message",
        /// It is to be suspended.
        Suspension = "suspension",
    }
}

/// The state a daemon keeps of its naps, besides their number.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DaemonState {
    /// Number of times it went on after a nap.
    pub wakes: u32,
    /// The last of those.
    pub last_wake: Option<Wake>,
    /// Number of file changes reported to it.
    pub files: u64,
    /// Number of times it has consolidated its transcript.
    pub consolidations: u32,
    /// Number of messages in the transcript after the last consolidation.
    pub consolidated_at: usize,
    /// The changes that no prompt has reported yet.
    pub untold: Untold,
}

/// Why and when a daemon went on.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wake {
    cause: WakeCause,
    at_ms: u64,
    files: usize,
}

/// Changes since the last prompt.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Untold {
    /// The iteration after which they were found.
    iteration: u32,
    /// The first of them, by path.
    pub files: BTreeMap<Arc<str>, ChangeKind>,
    /// Number of further changes.
    pub more: u64,
}

impl Untold {
    /// Maximum number of paths that are kept; further ones are only counted.
    const KEPT: usize = 1_000;

    /// Adds the changes found after an iteration. Changes from an earlier iteration are dropped: a prompt has reported
    /// them.
    pub fn add(&mut self, iteration: u32, changes: &[Change]) {
        if self.iteration != iteration {
            *self = Untold { iteration, ..Untold::default() };
        }
        for Change { path, kind } in changes {
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
    /// It goes on.
    pub fn wakes(&mut self, cause: WakeCause, files: usize, at_ms: u64) {
        self.wakes += 1;
        self.last_wake = Some(Wake { cause, at_ms, files });
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

    fn change(path: &str, kind: ChangeKind) -> Change {
        Change { path: path.into(), kind }
    }

    #[test]
    fn changes_of_one_file_come_to_one_until_a_prompt_has_told_of_them() {
        use ChangeKind as C;
        let mut untold = Untold::default();
        untold.add(1, &[change("a", C::Created), change("b", C::Removed)]);
        untold.add(1, &[change("a", C::Modified), change("b", C::Created), change("c", C::Removed)]);
        let found: Vec<_> = untold.files.iter().map(|(path, kind)| (path.as_ref(), *kind)).collect();
        assert_eq!(found, [("a", C::Created), ("b", C::Modified), ("c", C::Removed)]);
        untold.add(2, &[change("d", C::Created)]);
        assert_eq!((untold.files.len(), untold.count()), (1, 1));
    }

    #[test]
    fn of_a_flood_the_first_paths_are_kept_and_all_are_counted() {
        let flood: Vec<_> = (0..5_000).map(|n| change(&format!("f{n:04}"), ChangeKind::Created)).collect();
        let mut untold = Untold::default();
        untold.add(1, &flood);
        assert_eq!((untold.files.len(), untold.count()), (Untold::KEPT, 5_000));
    }
}
