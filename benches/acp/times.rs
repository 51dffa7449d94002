//! Percentiles of measured times.

use std::time::Duration;

/// Times in order.
pub(crate) struct Times(Vec<Duration>);

impl Times {
    /// Puts them in order.
    pub(crate) fn of(mut times: Vec<Duration>) -> Times {
        times.sort_unstable();
        Times(times)
    }

    /// The time that so many of a hundred do not exceed, in microseconds.
    pub(crate) fn percentile(&self, percent: usize) -> f64 {
        let at = (self.0.len() * percent).div_ceil(100).saturating_sub(1);
        self.0.get(at).map_or(f64::NAN, |time| time.as_secs_f64() * 1e6)
    }

    /// The longest, in microseconds.
    pub(crate) fn longest(&self) -> f64 {
        self.0.last().map_or(f64::NAN, |time| time.as_secs_f64() * 1e6)
    }
}
