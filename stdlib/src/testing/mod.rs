//! Tests of scripts: the context of a running test, and what its assertions need.
//!
//! - [`TestContext`]: the test that a world runs. [`Snapshots`]: where its snapshots are.
//! - [`pretty`]: values as lines, so that a difference between two of them is short.
//! - [`TestCode`]: the catalogue.

mod pretty;

pub use pretty::pretty;

use eventlog::{LogError, LogReader, RecordFilter};
use lang::value::Value;
use runtime::lifecycle::rebuild::{Biography, Rebuilt};
use std::cell::Cell;
use std::rc::Rc;

/// The snapshots of a file of tests.
pub trait Snapshots {
    /// Compares a text with the snapshot of that name, which is unique in its file.
    fn compare(&self, name: &str, text: &str) -> SnapshotResult;
}

/// The result of a comparison with a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SnapshotResult {
    /// It is the same, or the snapshot was written because that was asked for.
    Same,
    /// There is no snapshot yet.
    Missing {
        /// The file that it belongs into.
        file: String,
    },
    /// It is another text.
    Different {
        /// The file of the snapshot.
        file: String,
        /// The text of the snapshot.
        expected: String,
    },
    /// Another comparison of this run is in the way.
    Taken {
        /// The test that made it with another text; `None` if it is this test.
        by: Option<String>,
    },
    /// The file cannot be read or written.
    Failed {
        /// The reason.
        reason: String,
    },
}

/// The test that a run is made for.
pub(crate) struct TestContext {
    /// Its name.
    pub(crate) name: String,
    pub(crate) snapshots: Rc<dyn Snapshots>,
    /// The number of its snapshots without a name.
    pub(crate) unnamed: Cell<usize>,
}

/// Two texts that should be the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The text that was found.
    pub actual: String,
    /// The text that was expected.
    pub expected: String,
}

impl Difference {
    /// Returns how two values differ, if their difference is more than a message can show.
    pub(crate) fn of(actual: &Value, expected: &Value) -> Option<Self> {
        let difference = Self { actual: pretty::narrow(actual), expected: pretty::narrow(expected) };
        let has_lines = difference.actual.contains('\n') || difference.expected.contains('\n');
        (has_lines && difference.actual != difference.expected).then_some(difference)
    }
}

/// Records of the log that are read at a time.
const PAGE: usize = 1024;

/// Reads the lives of all reminders in a log.
pub(crate) fn lives(log: &LogReader) -> Result<Rebuilt, LogError> {
    let (mut rebuilt, mut filter) = (Rebuilt::default(), RecordFilter::default());
    loop {
        let records = log.read(&filter, PAGE)?;
        let Some(last) = records.last() else { return Ok(rebuilt) };
        filter.after = last.cursor;
        records.iter().for_each(|record| rebuilt.take(record));
    }
}

/// Reminders that a failure lists; the others are counted.
const MOST_LISTED: usize = 8;

/// Returns a note about the reminders that are pending in any session, if there are any.
pub(crate) fn pending_note(rebuilt: &Rebuilt) -> Option<String> {
    let mut lines = Vec::new();
    for session in rebuilt.sessions() {
        lines.extend(session.pending().map(|life| format!("session {}: {}", session.id, summary(life))));
    }
    let more = lines.len().saturating_sub(MOST_LISTED);
    lines.truncate(MOST_LISTED);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    (!lines.is_empty()).then(|| format!("pending reminders:\n{}", lines.join("\n")))
}

/// Characters of a reminder's text that a list shows.
const BODY: usize = 60;

/// Returns one line about a reminder: its key or id, its remaining lifetime, and its text.
pub(crate) fn summary(life: &Biography) -> String {
    let reminder = &life.reminder;
    let name = match &reminder.dedupe_key {
        Some(key) => format!("key {key}"),
        None => format!("id {}", reminder.id),
    };
    let turns = |count: u32| if count == 1 { "1 turn".to_owned() } else { format!("{count} turns") };
    let left = match life.ttl_left {
        Some(left) if life.is_pending() => format!(" · {} left", turns(left)),
        _ => String::new(),
    };
    let body = reminder.body.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown: String = body.chars().take(BODY).collect();
    let cut = if shown.len() < body.len() { "…" } else { "" };
    format!("{name}{left} · \"{shown}{cut}\"")
}
