//! [`RateLimiter`]: a token bucket. [`RefusalCounter`]: records of wrong secrets that cannot fill the log.

use std::time::Instant;

/// Limits how often something may happen: `burst` times at once, and `per_second` times a second after that.
#[derive(Debug, Clone)]
pub(super) struct RateLimiter {
    per_second: f64,
    burst: f64,
    tokens: f64,
    last: Instant,
}

impl RateLimiter {
    pub(super) fn new(per_second: u32, burst: u32, now: Instant) -> RateLimiter {
        let burst = f64::from(burst.max(1));
        RateLimiter { per_second: f64::from(per_second), burst, tokens: burst, last: now }
    }

    /// Takes a token. Returns false if there is none.
    pub(super) fn take(&mut self, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.last).as_secs_f64();
        self.tokens = (self.tokens + passed * self.per_second).min(self.burst);
        self.last = now;
        if self.tokens < 1.0 {
            return false;
        }
        self.tokens -= 1.0;
        true
    }
}

/// Counts refusals, so that the log has a record with a number for many of them.
#[derive(Debug)]
pub(super) struct RefusalCounter {
    limit: RateLimiter,
    /// The number of refusals without a record.
    unrecorded: u64,
}

/// The answer to a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RefusalRate {
    /// Refuse, and record it.
    Record,
    /// Refuse as too many requests; it is counted.
    Count,
}

impl RefusalCounter {
    pub(super) fn new(now: Instant) -> RefusalCounter {
        RefusalCounter { limit: RateLimiter::new(1, 20, now), unrecorded: 0 }
    }

    /// Takes a refusal.
    pub(super) fn take(&mut self, now: Instant) -> RefusalRate {
        if self.limit.take(now) {
            return RefusalRate::Record;
        }
        self.unrecorded += 1;
        RefusalRate::Count
    }

    /// Returns the number of refusals without a record, and forgets it: the caller records it.
    pub(super) fn settle(&mut self) -> u64 {
        std::mem::take(&mut self.unrecorded)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_burst_passes_and_then_the_rate_counts() {
        let start = Instant::now();
        let mut limit = RateLimiter::new(2, 3, start);
        let taken = |limit: &mut RateLimiter, after: u64| {
            (0..5).filter(|_| limit.take(start + Duration::from_millis(after))).count()
        };
        assert_eq!([0, 0, 500, 10_000].map(|after| taken(&mut limit, after)), [3, 0, 1, 3]);
    }

    #[test]
    fn each_refusal_is_recorded_or_counted() {
        let start = Instant::now();
        let mut counter = RefusalCounter::new(start);
        let recorded = (0..10_000).filter(|_| counter.take(start) == RefusalRate::Record).count();
        assert_eq!((recorded, counter.settle(), counter.settle()), (20, 9_980, 0));
    }
}
