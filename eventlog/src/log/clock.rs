//! [`LeaseClock`]: the time by which leases end.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// A clock that all processes that share a log read alike, and that never goes back while the machine runs.
///
/// The wall clock would let leases end early or late whenever somebody sets it, so it is the time since the machine was
/// started, sleep included. A lease of an earlier start has ended.
#[derive(Clone)]
pub struct LeaseClock {
    now: Arc<dyn Fn() -> Duration + Send + Sync>,
    start: Arc<str>,
}

impl LeaseClock {
    /// Creates a clock. `start` names the start of the machine that `now` counts from.
    pub fn new(start: impl Into<Arc<str>>, now: impl Fn() -> Duration + Send + Sync + 'static) -> LeaseClock {
        LeaseClock { now: Arc::new(now), start: start.into() }
    }

    /// Returns the time since the start, in milliseconds.
    #[must_use]
    pub fn now_ms(&self) -> u64 {
        u64::try_from((self.now)().as_millis()).unwrap_or(u64::MAX)
    }

    /// Returns the name of the start.
    #[must_use]
    pub fn start(&self) -> &Arc<str> {
        &self.start
    }
}

impl Default for LeaseClock {
    fn default() -> LeaseClock {
        match std::fs::read_to_string("/proc/sys/kernel/random/boot_id") {
            Ok(start) => LeaseClock::new(start.trim(), since_start),
            // Without a name of the start, only the wall clock means the same to all processes.
            Err(_) => LeaseClock::new("", || SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default()),
        }
    }
}

#[cfg(target_os = "linux")]
fn since_start() -> Duration {
    use nix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::CLOCK_BOOTTIME).map_or_else(|_| Duration::ZERO, Duration::from)
}

#[cfg(not(target_os = "linux"))]
fn since_start() -> Duration {
    SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_clocks_of_a_machine_agree_and_do_not_go_back() {
        let (first, second) = (LeaseClock::default(), LeaseClock::default());
        assert_eq!(first.start(), second.start());
        let (before, after) = (first.now_ms(), second.now_ms());
        assert!(before <= after && before > 0, "{before} {after}");
    }
}
