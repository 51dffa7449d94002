//! Failures of a server's own operations: a line of the log for each cause, once a minute, and counts.
//!
//! A server goes on after a failed write or delivery, so the caller may learn of it late or not at all. The line is for
//! its operator. A failure that repeats itself, such as each write to a full disk, must not fill the log as well.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time for which the line of a cause is not repeated.
const MINUTE: Duration = Duration::from_secs(60);

/// Maximum number of causes that are told apart.
const MOST_CAUSES: usize = 256;

/// The cause of further failures while that many others are known.
const OTHER: &str = "other";

/// An operation of a server that can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailedOperation {
    /// Accepting a connection.
    Accept,
    /// Writing what must be kept.
    Write,
    /// Reading what was kept.
    Read,
    /// Taking a session or a task for this process.
    Claim,
    /// Delivering an event or a response to a client.
    Delivery,
}

impl FailedOperation {
    /// All operations.
    pub const ALL: [FailedOperation; 5] = [
        FailedOperation::Accept,
        FailedOperation::Write,
        FailedOperation::Read,
        FailedOperation::Claim,
        FailedOperation::Delivery,
    ];

    /// Returns the word of the log and of the metric.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            FailedOperation::Accept => "accept",
            FailedOperation::Write => "write",
            FailedOperation::Read => "read",
            FailedOperation::Claim => "claim",
            FailedOperation::Delivery => "delivery",
        }
    }
}

/// The failures of a process.
struct FailureLog {
    /// Time since any beginning.
    clock: Box<dyn Fn() -> Duration + Send + Sync>,
    counts: [AtomicU64; FailedOperation::ALL.len()],
    causes: Mutex<HashMap<(FailedOperation, String), ReportedCause>>,
}

/// A cause whose line was written.
struct ReportedCause {
    at: Duration,
    /// Number of failures since then, which have no line.
    repeated: u64,
}

impl FailureLog {
    fn new(clock: impl Fn() -> Duration + Send + Sync + 'static) -> FailureLog {
        FailureLog { clock: Box::new(clock), counts: Default::default(), causes: Mutex::default() }
    }

    /// Counts a failure. Returns whether it gets a line: the number of failures with this cause since the last one.
    fn note(&self, operation: FailedOperation, cause: &str) -> Option<u64> {
        self.counts[operation as usize].fetch_add(1, Ordering::Relaxed);
        let now = (self.clock)();
        let is_due = |cause: &ReportedCause| now.saturating_sub(cause.at) >= MINUTE;
        let mut causes = self.causes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut key = (operation, cause.to_owned());
        if causes.len() >= MOST_CAUSES && !causes.contains_key(&key) {
            causes.retain(|_, cause| !is_due(cause));
            if causes.len() >= MOST_CAUSES {
                key.1 = OTHER.to_owned();
            }
        }
        match causes.get_mut(&key) {
            Some(known) if !is_due(known) => {
                known.repeated += 1;
                None
            }
            known => {
                let repeated = known.map_or(0, |known| known.repeated);
                causes.insert(key, ReportedCause { at: now, repeated: 0 });
                Some(repeated)
            }
        }
    }

    fn count(&self, operation: FailedOperation) -> u64 {
        self.counts[operation as usize].load(Ordering::Relaxed)
    }
}

static FAILURES: LazyLock<FailureLog> = LazyLock::new(|| {
    let begin = Instant::now();
    FailureLog::new(move || begin.elapsed())
});

/// Counts a failed operation of this process, and writes a line unless one with the same operation and cause was written in
/// the last minute. The cause is a code or another short text that does not vary; the message is a sentence with the details.
/// Returns whether it wrote the line.
pub fn report(operation: FailedOperation, cause: &str, message: impl Display) -> bool {
    let word = operation.as_str();
    let repeated = FAILURES.note(operation, cause);
    match repeated {
        None => {}
        Some(0) => tracing::error!(operation = word, "{message}"),
        Some(repeated) => tracing::error!(operation = word, repeated, "{message}"),
    }
    repeated.is_some()
}

/// Returns the number of failures of this process, by operation.
#[must_use]
pub fn counts() -> [(&'static str, u64); FailedOperation::ALL.len()] {
    FailedOperation::ALL.map(|operation| (operation.as_str(), FAILURES.count(operation)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::FailedOperation::{Accept, Write};
    use super::*;

    /// A log, and its time in seconds.
    fn at_zero() -> (FailureLog, Arc<AtomicU64>) {
        let seconds = Arc::new(AtomicU64::new(0));
        let clock = seconds.clone();
        (FailureLog::new(move || Duration::from_secs(clock.load(Ordering::Relaxed))), seconds)
    }

    #[test]
    fn a_cause_has_one_line_a_minute_and_the_next_one_says_how_often_it_came() {
        let (log, seconds) = at_zero();
        assert_eq!(log.note(Write, "full"), Some(0));
        for second in [0, 1, 59] {
            seconds.store(second, Ordering::Relaxed);
            assert_eq!(log.note(Write, "full"), None);
        }
        // Another cause, and another operation.
        assert_eq!((log.note(Write, "gone"), log.note(Accept, "full")), (Some(0), Some(0)));
        seconds.store(60, Ordering::Relaxed);
        assert_eq!((log.note(Write, "full"), log.note(Write, "full")), (Some(3), None));
        seconds.store(180, Ordering::Relaxed);
        assert_eq!(log.note(Write, "full"), Some(1));
        assert_eq!((log.count(Write), log.count(Accept)), (8, 1));
    }

    #[test]
    fn the_number_of_causes_is_bounded() {
        let (log, seconds) = at_zero();
        for number in 0..MOST_CAUSES {
            assert_eq!(log.note(Write, &number.to_string()), Some(0));
        }
        assert_eq!((log.note(Write, "new"), log.note(Write, "newer"), log.note(Write, "0")), (Some(0), None, None));
        seconds.store(60, Ordering::Relaxed);
        assert_eq!(log.note(Write, "newer"), Some(0));
        assert_eq!(log.causes.lock().unwrap().len(), 1);
        assert_eq!(log.count(Write), MOST_CAUSES as u64 + 4);
    }
}
