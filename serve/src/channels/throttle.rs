//! [`RateLimiter`]: a token bucket. [`RecordBudget`]: records that cannot fill the log, however often their reason occurs.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The time for which occurrences without a record are summed up in one.
const INTERVAL: Duration = Duration::from_secs(5);

/// The longest pause before the next frame of a channel is read.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

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

    fn refill(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.last).as_secs_f64();
        self.tokens = (self.tokens + passed * self.per_second).min(self.burst);
        self.last = now;
    }

    /// Takes a token. Returns false if there is none.
    pub(super) fn take(&mut self, now: Instant) -> bool {
        self.refill(now);
        if self.tokens < 1.0 {
            return false;
        }
        self.tokens -= 1.0;
        true
    }

    /// Takes a token for what has already happened, also one that is not there yet. Returns the pause until it is.
    pub(super) fn charge(&mut self, now: Instant) -> Duration {
        self.refill(now);
        // At most a pause: what several connections owe is not added up without limit.
        self.tokens = (self.tokens - 1.0).max(-self.per_second.max(1.0));
        if self.tokens >= 0.0 {
            return Duration::ZERO;
        }
        Duration::try_from_secs_f64(-self.tokens / self.per_second).unwrap_or(LONGEST_PAUSE).min(LONGEST_PAUSE)
    }

    /// Returns whether it is as a new one.
    fn is_full(&mut self, now: Instant) -> bool {
        self.refill(now);
        self.tokens >= self.burst
    }
}

/// Limits the records of something that others can cause as often as they like. The log has a record for each of the
/// first ones, and then one record in an interval with the numbers of the others.
#[derive(Debug)]
pub(super) struct RecordBudget {
    limit: RateLimiter,
    /// The numbers of occurrences without a record, by reason.
    unrecorded: BTreeMap<&'static str, u64>,
    /// The time of the last sum.
    settled: Instant,
}

impl RecordBudget {
    /// Creates a budget of `burst` records at once, and of `per_second` a second.
    pub(super) fn new(per_second: u32, burst: u32, now: Instant) -> RecordBudget {
        RecordBudget { limit: RateLimiter::new(per_second, burst, now), unrecorded: BTreeMap::new(), settled: now }
    }

    /// Creates a budget of `burst` records at once, and of one in an interval.
    pub(super) fn sparse(burst: u32, now: Instant) -> RecordBudget {
        let mut budget = RecordBudget::new(0, burst, now);
        budget.limit.per_second = INTERVAL.as_secs_f64().recip();
        budget
    }

    /// Takes an occurrence. Returns whether it gets a record of its own; otherwise it is counted.
    pub(super) fn take(&mut self, reason: &'static str, now: Instant) -> bool {
        let is_recorded = self.limit.take(now);
        if !is_recorded {
            self.count(reason);
        }
        is_recorded
    }

    /// Counts an occurrence, which gets no record of its own.
    pub(super) fn count(&mut self, reason: &'static str) {
        *self.unrecorded.entry(reason).or_default() += 1;
    }

    /// Returns the occurrences without a record and forgets them, once in an interval: the caller records their sum.
    pub(super) fn settle(&mut self, now: Instant) -> Option<UnrecordedSum> {
        if self.unrecorded.is_empty() || now.saturating_duration_since(self.settled) < INTERVAL {
            return None;
        }
        self.settled = now;
        self.settle_all()
    }

    /// Returns the occurrences without a record and forgets them, also within an interval.
    pub(super) fn settle_all(&mut self) -> Option<UnrecordedSum> {
        let by_reason = std::mem::take(&mut self.unrecorded);
        (!by_reason.is_empty()).then_some(UnrecordedSum { by_reason })
    }

    /// Returns whether it is as a new one.
    pub(super) fn is_full(&mut self, now: Instant) -> bool {
        self.unrecorded.is_empty() && self.limit.is_full(now)
    }
}

/// Occurrences without records of their own.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnrecordedSum {
    /// Their numbers by reason. Not empty.
    pub(super) by_reason: BTreeMap<&'static str, u64>,
}

impl UnrecordedSum {
    /// Returns the number of all.
    pub(super) fn count(&self) -> u64 {
        self.by_reason.values().sum()
    }
}

#[cfg(test)]
mod tests {
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
    fn what_has_happened_beyond_the_rate_is_paid_by_a_pause() {
        let start = Instant::now();
        let mut limit = RateLimiter::new(10, 2, start);
        let pauses: Vec<_> = (0..4).map(|_| limit.charge(start).as_millis()).collect();
        assert_eq!(pauses, [0, 0, 100, 200]);
        let longest = (0..1_000).map(|_| limit.charge(start)).max();
        assert_eq!(longest, Some(LONGEST_PAUSE));
        assert_eq!(limit.charge(start + Duration::from_secs(5)), Duration::ZERO);
        let mut never = RateLimiter::new(0, 1, start);
        assert_eq!([never.charge(start), never.charge(start)], [Duration::ZERO, LONGEST_PAUSE]);
    }

    #[test]
    fn each_occurrence_is_recorded_or_counted_and_an_interval_has_one_sum() {
        let start = Instant::now();
        let mut budget = RecordBudget::sparse(20, start);
        let recorded = (0..10_000).filter(|_| budget.take("scope", start)).count();
        budget.count("invalid");
        assert_eq!((recorded, budget.settle(start)), (20, None), "the first interval is not over");
        let later = start + INTERVAL;
        let sum = budget.settle(later).unwrap();
        assert_eq!(sum.by_reason, BTreeMap::from([("invalid", 1), ("scope", 9_980)]));
        assert_eq!((sum.count(), budget.settle(later)), (9_981, None));
        assert_eq!((budget.take("scope", later), budget.take("scope", later)), (true, false), "one in an interval");
        assert_eq!(budget.settle(later), None, "the second interval has its own sum");
        assert_eq!(budget.settle_all().map(|sum| sum.count()), Some(1));
        assert!(!budget.is_full(later));
        assert!(budget.is_full(later + INTERVAL * 20));
    }
}
