//! [`Reconnection`]: when a client connects again.

use std::time::Duration;

use backon::{BackoffBuilder as _, ExponentialBackoff, ExponentialBuilder};
use tokio::time::Instant;

/// The first step of the pauses, which doubles, and the last one. A pause has at least the length of its step, and with
/// the jitter less than twice as much: many clients of one daemon do not come back at once.
const STEPS: (Duration, Duration) = (Duration::from_millis(50), Duration::from_millis(2_500));

/// The time after which a connection counts as one that works. One that ends before was a failed attempt, so that a
/// daemon that accepts connections and hangs up is not asked again at once.
const LASTING: Duration = Duration::from_secs(5);

/// The attempts of a client to connect.
#[derive(Debug)]
pub(super) struct Reconnection {
    /// The pauses between attempts that fail one after another.
    pauses: ExponentialBackoff,
    /// The time of the first of the attempts without an answer; `None` before the first one.
    begun: Option<Instant>,
    /// The time of the current connection.
    connected: Option<Instant>,
    /// Whether the daemon has said something on it.
    was_heard: bool,
}

impl Reconnection {
    pub(super) fn new() -> Reconnection {
        Reconnection { pauses: pauses(), begun: None, connected: None, was_heard: false }
    }

    /// Begins to connect, at first or again. Returns the pause before the next attempt; `None` if it comes at once.
    pub(super) fn begin(&mut self, now: Instant) -> Option<Duration> {
        let connected = self.connected.take();
        let was_heard = std::mem::replace(&mut self.was_heard, false);
        let has_lasted = connected.is_none_or(|since| now.duration_since(since) >= LASTING);
        if has_lasted || was_heard || self.begun.is_none() {
            self.begun = Some(now);
        }
        if has_lasted {
            self.pauses = pauses();
            return None;
        }
        Some(self.pause())
    }

    /// Returns the pause after a failed attempt.
    pub(super) fn pause(&mut self) -> Duration {
        self.pauses.next().unwrap_or(STEPS.1)
    }

    /// Notes that there is a connection.
    pub(super) fn connected(&mut self, now: Instant) {
        self.connected = Some(now);
    }

    /// Notes that the daemon has said something.
    pub(super) fn heard(&mut self) {
        self.was_heard = true;
    }

    /// Returns for how long no daemon has answered.
    pub(super) fn elapsed(&self, now: Instant) -> Duration {
        self.begun.map_or(Duration::ZERO, |begun| now.duration_since(begun))
    }
}

/// Returns the pauses from the first one on.
fn pauses() -> ExponentialBackoff {
    let (seed, _) = uuid::Uuid::new_v4().as_u64_pair();
    let builder = ExponentialBuilder::new().with_min_delay(STEPS.0).with_max_delay(STEPS.1).without_max_times();
    builder.with_jitter().with_jitter_seed(seed).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the times of the attempts, in milliseconds, if each connection lasts for `lasts`.
    fn attempts(lasts: Duration, until: Duration) -> Vec<u128> {
        let begin = Instant::now();
        let (mut now, mut attempts, mut reconnection) = (begin, Vec::new(), Reconnection::new());
        while now - begin < until {
            now += reconnection.begin(now).unwrap_or_default();
            attempts.push((now - begin).as_millis());
            reconnection.connected(now);
            now += lasts;
        }
        attempts
    }

    #[test]
    fn a_daemon_that_hangs_up_is_asked_less_and_less_often() {
        let minute = Duration::from_secs(60);
        let times = attempts(Duration::ZERO, minute);
        // The steps are 50, 100, 200 … 2,500 ms.
        assert!(times.len() <= 1 + 6 + 60_000 / 2_500, "{times:?}");
        assert!(times.len() >= 1 + 6 + 50_000 / 5_000, "{times:?}");
        let pauses: Vec<u128> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        for (index, pause) in pauses.iter().enumerate() {
            let step = (50_u128 << index.min(16)).min(2_500);
            // The steps are rounded.
            assert!((step - 2..2 * step + 2).contains(pause), "{index}: {pauses:?}");
        }
        assert_ne!(attempts(Duration::ZERO, minute), times, "clients do not come back at the same times");
    }

    #[test]
    fn a_connection_that_lasted_is_replaced_at_once() {
        assert_eq!(attempts(LASTING, 4 * LASTING), [0, 5_000, 10_000, 15_000]);
    }

    #[test]
    fn a_daemon_that_answers_is_waited_for_anew() {
        let begin = Instant::now();
        let mut reconnection = Reconnection::new();
        reconnection.begin(begin);
        reconnection.connected(begin);
        let second = begin + Duration::from_secs(1);
        assert!(reconnection.begin(second).is_some());
        assert_eq!(reconnection.elapsed(second), Duration::from_secs(1));
        reconnection.connected(second);
        reconnection.heard();
        let third = begin + Duration::from_secs(2);
        assert!(reconnection.begin(third).is_some());
        assert_eq!(reconnection.elapsed(third), Duration::ZERO);
    }
}
