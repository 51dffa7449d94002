//! [`IdleSessions`]: how long sessions have been idle.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

/// The shortest and the longest pause between two looks at the sessions.
const PAUSE: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(10));

/// The times for which sessions have been idle, by the looks at them.
pub(super) struct IdleSessions {
    limit: Duration,
    idle: HashMap<Arc<str>, IdleSession>,
}

struct IdleSession {
    /// The number of its last use.
    used: u64,
    since: Instant,
}

impl IdleSessions {
    /// Creates a record of sessions that may be idle for `limit`.
    pub(super) fn new(limit: Duration) -> IdleSessions {
        IdleSessions { limit, idle: HashMap::new() }
    }

    /// Returns the pause between two looks.
    pub(super) fn pause(&self) -> Duration {
        (self.limit / 4).clamp(PAUSE.0, PAUSE.1)
    }

    /// Looks at the sessions that have no work and no client now, by their ids, each with the number of its last use.
    /// Returns those for which this has been so, without another use, for the limit.
    pub(super) fn look(&mut self, quiet: Vec<(Arc<str>, u64)>, now: Instant) -> HashMap<Arc<str>, u64> {
        let mut before = std::mem::take(&mut self.idle);
        let mut due = HashMap::new();
        for (id, used) in quiet {
            let since = before.remove(&id).filter(|known| known.used == used).map_or(now, |known| known.since);
            if now.duration_since(since) >= self.limit {
                due.insert(id.clone(), used);
            }
            self.idle.insert(id, IdleSession { used, since });
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(30 * 60);

    #[test]
    fn a_session_is_due_once_it_was_unused_and_quiet_for_the_whole_time() {
        let begin = Instant::now();
        let mut idle = IdleSessions::new(LIMIT);
        let mut due = |minute: u64, used: u64, is_quiet: bool| {
            let quiet = if is_quiet { vec![("s".into(), used)] } else { Vec::new() };
            !idle.look(quiet, begin + Duration::from_secs(60 * minute)).is_empty()
        };
        assert!(!due(0, 1, true) && !due(29, 1, true) && due(30, 1, true));
        // A use between two looks begins the time anew.
        assert!(!due(31, 2, true) && !due(60, 2, true) && due(61, 2, true));
        // So does work, or a client, even if it is the same use.
        assert!(!due(62, 2, false) && !due(63, 2, true) && !due(92, 2, true) && due(93, 2, true));
    }

    #[test]
    fn a_session_that_is_over_is_forgotten() {
        let begin = Instant::now();
        let mut idle = IdleSessions::new(LIMIT);
        let look = |id: &str| vec![(id.into(), 1)];
        assert!(idle.look(look("a"), begin).is_empty());
        assert!(idle.look(look("b"), begin + LIMIT).is_empty());
        assert_eq!(idle.idle.len(), 1);
        assert!(idle.look(look("a"), begin + LIMIT).is_empty(), "another session with its id");
    }

    #[test]
    fn looks_are_frequent_enough_for_the_limit_and_no_more() {
        let pause = |limit| IdleSessions::new(Duration::from_millis(limit)).pause().as_millis();
        assert_eq!([1, 200, 60_000, 1_800_000].map(pause), [20, 50, 10_000, 10_000]);
    }
}
