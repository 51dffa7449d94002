//! A file with a suspended worker, or a loop that outlives its process: all state that the loop needs to go on, as
//! plain data, and the names of the parts that are not data (tools, functions), which the resuming program must supply
//! again.
//!
//! A snapshot is an export: it holds the current state of the session and its loop. The file of a persisted loop is a
//! snapshot followed by steps, a line for each ([`Journal`]); reading it applies the steps to the snapshot. All other
//! files are read and written by [`SnapshotStorage`].
//!
//! A snapshot is resumed once: the resuming process claims the file by renaming it, so only one of two processes
//! succeeds. A loop that rewrites its own file repeatedly holds a [`LockFile`](base::lock::LockFile) instead, for as
//! long as it works.

use std::sync::Arc;

use base::data::Data;
use base::words::words;

use crate::session::Session;

use super::LoopState;

mod error;
mod file;
mod journal;
mod loop_snapshot;
mod plausible;
mod session;
mod storage;

pub use error::SnapshotError;
pub(crate) use file::SnapshotText;
pub use journal::Journal;
pub(crate) use journal::WrittenLoop;
pub use loop_snapshot::StoredEnd;
pub use session::{StoredSession, follow_pending, pending_by_log, settle_with_log};
pub use storage::SnapshotStorage;
pub(crate) use storage::SnapshotTarget;

/// Value of a snapshot's field `format`.
const FORMAT: &str = "harn.worker.snapshot";

words! {
    /// The way a worker was started.
    pub enum WorkerMode {
        /// By `sub_agent_run`.
        SubAgent = "sub_agent",
        /// By `spawn_agent`.
        Agent = "agent",
        /// Not a worker but a loop that outlives its process.
        Loop = "loop",
    }
}

/// The reason and time of a worker's suspension.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suspension {
    /// The reason.
    pub reason: Arc<str>,
    /// Last turn before it.
    pub suspended_at_turn: u32,
    /// Time, in milliseconds since 1970-01-01 UTC.
    pub suspended_at_ms: u64,
    /// Whether the model requested it.
    pub by_itself: bool,
}

impl Suspension {
    /// Converts the value to the dict that scripts see.
    #[must_use]
    pub fn to_data(&self) -> Data {
        Data::dict([
            ("reason", Data::from(&self.reason)),
            ("suspended_at_turn", self.suspended_at_turn.into()),
            ("suspended_at_ms", self.suspended_at_ms.into()),
            ("initiator", if self.by_itself { "self" } else { "operator" }.into()),
        ])
    }
}

/// The description of a worker, as far as a file can hold it.
#[derive(Debug, Clone, Default)]
pub struct Recipe {
    /// The options that are data.
    pub options: Data,
    /// Names of the options that are not data.
    pub needs: Vec<Arc<str>>,
    /// Default folder of its snapshots; `None` means that none are written.
    pub folder: Option<Arc<str>>,
}

/// A suspended worker.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    format: String,
    version: u32,
    /// Its id.
    pub id: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// Its task.
    pub task: Arc<str>,
    /// The way it was started.
    pub mode: WorkerMode,
    /// Reason and time of the suspension.
    pub suspension: Suspension,
    /// State of its loop.
    pub state: LoopState,
    /// Outcome of a loop without a parent, if it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<StoredEnd>,
    /// Its options, as far as they are data.
    pub options: Data,
    /// Options that are not data: functions.
    pub needs: Vec<Arc<str>>,
    /// The names of its tools.
    pub tools: Vec<Arc<str>>,
    /// Its session.
    pub session: StoredSession,
}

/// The names and the description of stored work.
pub(crate) struct StoredWork<'a> {
    pub(crate) id: Arc<str>,
    pub(crate) name: Arc<str>,
    pub(crate) task: Arc<str>,
    pub(crate) mode: WorkerMode,
    pub(crate) recipe: &'a Recipe,
    pub(crate) tools: Vec<Arc<str>>,
}

impl Snapshot {
    /// The newest supported version.
    pub const VERSION: u32 = 4;

    /// Builds the snapshot of work that is not running. `ended` is set if it is over.
    pub(crate) fn of(
        work: StoredWork<'_>,
        session: &Session,
        suspension: Suspension,
        state: LoopState,
        ended: Option<StoredEnd>,
    ) -> Snapshot {
        let StoredWork { id, name, task, mode, recipe, tools } = work;
        Snapshot {
            format: FORMAT.to_owned(),
            version: Self::VERSION,
            id,
            name,
            task,
            mode,
            suspension,
            state,
            ended,
            options: recipe.options.clone(),
            needs: recipe.needs.clone(),
            tools,
            session: StoredSession::of(session),
        }
    }

    /// Converts the snapshot to text.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Keys are strings and floats are finite, so serialization cannot fail.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Reads a snapshot and the steps after it.
    ///
    /// # Errors
    /// Fails if the text is not a snapshot of a supported version, or a part of it is invalid.
    pub fn from_json(text: &str) -> Result<Snapshot, SnapshotError> {
        let broken = |why: String| SnapshotError::Broken(why);
        let head: SnapshotHead = first(text)?.0;
        if head.format.as_deref() != Some(FORMAT) {
            return Err(broken("its `format` is not that of a worker snapshot".to_owned()));
        }
        match head.version {
            Some(version) if version <= u64::from(Self::VERSION) => {}
            Some(version) => return Err(SnapshotError::Newer(version)),
            None => return Err(broken("its `version` is missing".to_owned())),
        }
        let (mut snapshot, steps): (Snapshot, &str) = first(text)?;
        journal::apply(&mut snapshot, steps).map_err(broken)?;
        snapshot.version = Self::VERSION;
        snapshot.unsound().map_or(Ok(snapshot), |why| Err(broken(why)))
    }
}

/// Reads the first value of a text. Returns it with the rest of the text.
fn first<'a, T: serde::Deserialize<'a>>(text: &'a str) -> Result<(T, &'a str), SnapshotError> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter();
    match values.next() {
        Some(Ok(value)) => Ok((value, text.get(values.byte_offset()..).unwrap_or_default())),
        Some(Err(error)) => Err(SnapshotError::Broken(error.to_string())),
        None => Err(SnapshotError::Broken("the file is empty".to_owned())),
    }
}

/// The fields that are read first, to distinguish a newer version from a broken file.
#[derive(serde::Deserialize)]
struct SnapshotHead {
    format: Option<String>,
    version: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_snapshot_says_why() {
        let why = |text: &str| Snapshot::from_json(text).unwrap_err().to_string();
        assert!(why("{\"format\": \"harn.wor").contains("EOF"));
        assert!(why("{}").contains("`format`"));
        assert!(why(r#"{"format":"harn.worker.snapshot"}"#).contains("`version` is missing"));
        assert!(why(r#"{"format":"harn.worker.snapshot","version":99}"#).contains("version 99"));
        assert!(
            why(r#"{"format":"harn.worker.snapshot","version":1,"colour":"red"}"#).contains("unknown field `colour`")
        );
    }
}
