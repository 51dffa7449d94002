//! [`Metrics`]: the counters of a served script. [`Exposition`]: their Prometheus text format.
//!
//! Labels have fixed values, so the number of series does not depend on clients and scripts.

use std::fmt::{Display, Write as _};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use eventlog::{DurableFuture, EventLog, LogReservation, NewRecord, SharedLog, Ticket};
use runtime::event_log::Topic;

/// The counters of sessions, shared by threads.
#[derive(Debug, Default)]
pub struct Metrics {
    /// The number of sessions opened, including those restored.
    pub(crate) sessions: Counter,
    /// The number of turns of agent loops.
    pub(crate) turns: Counter,
    /// The number of model calls of agent loops, by whether they succeeded.
    pub(crate) model_calls: [Counter; 2],
    /// The duration of these model calls.
    pub(crate) model_time: Histogram,
    /// The number of tool calls, by whether they succeeded.
    pub(crate) tool_calls: [Counter; 2],
    pub(crate) injections: InjectionCounts,
    /// The number of decisions whether a turn followed a reminder, by their results.
    pub(crate) reminder_verdicts: [Counter; 2],
}

/// The number of injections, by outcome.
#[derive(Debug, Default)]
pub(crate) struct InjectionCounts {
    accepted: Counter,
    pub(crate) refused: Counter,
    pub(crate) delivered: Counter,
    replaced: Counter,
    revoked: Counter,
    expired: Counter,
}

/// Returns the index of an outcome in a pair of counters.
pub(crate) const fn outcome(ok: bool) -> usize {
    if ok { 0 } else { 1 }
}

/// Returns the index of a verdict in a pair of counters.
pub(crate) const fn verdict(heeded: bool) -> usize {
    if heeded { 0 } else { 1 }
}

/// The labels of a pair of counters.
const OUTCOMES: [&str; 2] = ["ok", "error"];

impl Metrics {
    /// Writes the counters.
    pub(crate) fn expose(&self, to: &mut Exposition) {
        to.value("harn_sessions_opened_total", "counter", "Sessions opened.", self.sessions.get());
        to.value("harn_turns_total", "counter", "Agent loop turns started.", self.turns.get());
        let by_outcome = |counters: &[Counter; 2]| [(OUTCOMES[0], counters[0].get()), (OUTCOMES[1], counters[1].get())];
        let calls = by_outcome(&self.model_calls);
        to.labelled("harn_model_calls_total", "counter", "Model calls completed in agent loops.", "outcome", calls);
        let help = "Duration of model calls in agent loops, in seconds.";
        to.histogram("harn_model_call_duration_seconds", help, &self.model_time);
        let calls = by_outcome(&self.tool_calls);
        to.labelled("harn_tool_calls_total", "counter", "Tool calls completed in agent loops.", "outcome", calls);
        let InjectionCounts { accepted, refused, delivered, replaced, revoked, expired } = &self.injections;
        let rows = [
            ("accepted", accepted.get()),
            ("refused", refused.get()),
            ("delivered", delivered.get()),
            ("replaced", replaced.get()),
            ("revoked", revoked.get()),
            ("expired", expired.get()),
        ];
        to.labelled("harn_injections_total", "counter", "Host injections, by outcome.", "outcome", rows);
        let [heeded, ignored] = &self.reminder_verdicts;
        let rows = [("heeded", heeded.get()), ("ignored", ignored.get())];
        let help = "Decisions whether a turn followed a reminder.";
        to.labelled("harn_reminder_verdicts_total", "counter", help, "verdict", rows);
    }
}

/// A number that only grows.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The usual upper bounds of the buckets, in milliseconds: models answer within tens of milliseconds to minutes.
static BOUNDS_MS: [u64; 12] = [10, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000];

/// A histogram of durations.
#[derive(Debug)]
pub(crate) struct Histogram {
    /// The upper bounds of the buckets, in milliseconds.
    bounds_ms: &'static [u64],
    /// The number of durations in each bucket, by the first bound that is not exceeded; the last bucket has no bound.
    buckets: Box<[Counter]>,
    sum_us: AtomicU64,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram::new(&BOUNDS_MS)
    }
}

impl Histogram {
    /// Creates a histogram with these upper bounds of its buckets, in milliseconds.
    pub(crate) fn new(bounds_ms: &'static [u64]) -> Histogram {
        let buckets = (0..=bounds_ms.len()).map(|_| Counter::default()).collect();
        Histogram { bounds_ms, buckets, sum_us: AtomicU64::new(0) }
    }

    pub(crate) fn observe(&self, took: Duration) {
        let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        // A call that took 10.5 ms is not within 10 ms.
        let exceeds = |bound: u64| ms > bound || ms == bound && !took.subsec_nanos().is_multiple_of(1_000_000);
        self.buckets[self.bounds_ms.partition_point(|bound| exceeds(*bound))].add();
        self.sum_us.fetch_add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

/// Metrics in Prometheus' text format, version 0.0.4.
#[derive(Debug, Default)]
pub(crate) struct Exposition(String);

impl Exposition {
    /// The media type of the format.
    pub(crate) const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

    pub(crate) fn into_text(self) -> String {
        self.0
    }

    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    /// Writes a metric without labels.
    pub(crate) fn value(&mut self, name: &str, kind: &str, help: &str, value: impl Display) {
        self.head(name, kind, help);
        let _ = writeln!(self.0, "{name} {value}");
    }

    /// Writes a metric with one label. Its values need no escaping.
    pub(crate) fn labelled<'a>(
        &mut self,
        name: &str,
        kind: &str,
        help: &str,
        label: &str,
        rows: impl IntoIterator<Item = (&'a str, u64)>,
    ) {
        self.head(name, kind, help);
        for (value, count) in rows {
            let _ = writeln!(self.0, "{name}{{{label}=\"{value}\"}} {count}");
        }
    }

    fn histogram(&mut self, name: &str, help: &str, histogram: &Histogram) {
        self.histograms(name, help, &[(String::new(), histogram)]);
    }

    /// Writes a metric whose rows have these labels, such as `route="/",status="200"`. Their values need no escaping.
    #[allow(clippy::cast_precision_loss, reason = "exact for centuries")]
    pub(crate) fn histograms(&mut self, name: &str, help: &str, rows: &[(String, &Histogram)]) {
        self.head(name, "histogram", help);
        for (labels, histogram) in rows {
            let mut count = 0;
            let comma = if labels.is_empty() { "" } else { "," };
            let bounds = histogram.bounds_ms.iter().map(|ms| (*ms as f64 / 1000.0).to_string());
            for (bound, bucket) in bounds.chain(["+Inf".to_owned()]).zip(&histogram.buckets) {
                count += bucket.get();
                let _ = writeln!(self.0, "{name}_bucket{{{labels}{comma}le=\"{bound}\"}} {count}");
            }
            let sum = histogram.sum_us.load(Ordering::Relaxed) as f64 / 1e6;
            let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
            let _ = write!(self.0, "{name}_sum{labels} {sum}\n{name}_count{labels} {count}\n");
        }
    }
}

/// A log that counts the injections that hosts write to it. Records written by a session's own thread are counted
/// where they are written.
pub(crate) struct CountedLog {
    log: Arc<dyn SharedLog>,
    metrics: Arc<Metrics>,
}

impl CountedLog {
    pub(crate) fn new(log: Arc<dyn SharedLog>, metrics: Arc<Metrics>) -> CountedLog {
        CountedLog { log, metrics }
    }

    fn count(&self, record: &NewRecord) {
        let counts = &self.metrics.injections;
        match Topic::Injection.word_of(&record.kind) {
            Some("queued") => counts.accepted.add(),
            Some("replaced") => counts.replaced.add(),
            Some("revoked") => counts.revoked.add(),
            Some("expired") => counts.expired.add(),
            _ => {}
        }
    }
}

impl SharedLog for CountedLog {
    fn put(&self, record: NewRecord) -> Ticket {
        self.count(&record);
        self.log.put(record)
    }

    fn reserve_now(&self, records: usize, bytes: usize) -> Option<LogReservation> {
        self.log.reserve_now(records, bytes)
    }

    fn put_in(&self, room: &mut LogReservation, record: NewRecord) -> Ticket {
        self.count(&record);
        self.log.put_in(room, record)
    }

    fn settled(&self, upto: Ticket) -> DurableFuture {
        self.log.settled(upto)
    }

    fn here(&self) -> Rc<dyn EventLog> {
        self.log.here()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_counts_each_bound_with_those_below_it() {
        let histogram = Histogram::default();
        for took in [Duration::ZERO, Duration::from_millis(10), Duration::from_micros(10_001), Duration::from_secs(900)]
        {
            histogram.observe(took);
        }
        let mut text = Exposition::default();
        text.histogram("h", "Help.", &histogram);
        let text = text.into_text();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[..4],
            ["# HELP h Help.", "# TYPE h histogram", "h_bucket{le=\"0.01\"} 2", "h_bucket{le=\"0.05\"} 3"]
        );
        assert_eq!(lines[13..], ["h_bucket{le=\"300\"} 3", "h_bucket{le=\"+Inf\"} 4", "h_sum 900.020001", "h_count 4"]);
    }

    #[test]
    fn each_metric_has_its_help_its_type_and_its_values() {
        let metrics = Metrics::default();
        metrics.tool_calls[outcome(false)].add();
        let mut text = Exposition::default();
        metrics.expose(&mut text);
        let text = text.into_text();
        assert!(text.contains("# TYPE harn_tool_calls_total counter\nharn_tool_calls_total{outcome=\"ok\"} 0\nharn_tool_calls_total{outcome=\"error\"} 1\n"), "{text}");
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let name = line.split(['{', ' ']).next().unwrap();
            let name = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
            assert!(text.contains(&format!("# HELP {name} ")) && text.contains(&format!("# TYPE {name} ")), "{line}");
        }
    }
}
