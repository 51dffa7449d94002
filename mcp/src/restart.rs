//! [`Restart`]: when a server that ended may be started again.

use std::time::Duration;

use tokio::time::Instant;

/// The first delay after a failure that follows another one, and the longest.
const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(30);
/// A call waits this long for the next start; if it takes longer, the call fails at once.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// The failures in a row, and the time before which the server is not started again.
#[derive(Debug, Default)]
pub(crate) struct Restart {
    failures: u32,
    not_before: Option<Instant>,
}

impl Restart {
    /// The server failed to start, or ended without having answered anything. The first failure costs no delay: the next
    /// call starts it at once.
    pub(crate) fn failed(&mut self, now: Instant) {
        self.failures += 1;
        if self.failures > 1 {
            let delay = FIRST.saturating_mul(1 << (self.failures - 2).min(10)).min(LONGEST);
            self.not_before = Some(now + delay);
        }
    }

    /// The server answered a request.
    pub(crate) fn worked(&mut self) {
        *self = Restart::default();
    }

    /// Returns the time until the next start.
    pub(crate) fn delay(&self, now: Instant) -> Duration {
        self.not_before.map_or(Duration::ZERO, |at| at.saturating_duration_since(now))
    }

    /// Returns the number of failures in a row.
    pub(crate) fn failures(&self) -> u32 {
        self.failures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_a_limit_and_end_with_success() {
        let now = Instant::now();
        let mut restart = Restart::default();
        let mut delays = Vec::new();
        for _ in 0..10 {
            restart.failed(now);
            delays.push(restart.delay(now).as_millis());
        }
        assert_eq!(delays, [0, 500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000]);
        restart.worked();
        assert_eq!((restart.delay(now), restart.failures()), (Duration::ZERO, 0));
    }
}
