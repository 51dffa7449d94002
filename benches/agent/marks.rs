//! [`Marks`]: the moments of the tool calls. The time between two of them is a turn: everything
//! that the loop does, and a tool that does almost nothing.

use serde_json::{Value, json};
use std::time::Instant;

/// The time of each tool call, and the memory of the process.
pub(crate) struct Marks {
    start: Instant,
    /// Nanoseconds of each call.
    pub(crate) at_ns: Vec<u64>,
    /// Resident memory before the loop began, in KiB.
    pub(crate) before_kib: u64,
    /// The most resident memory of the process, in KiB.
    pub(crate) peak_kib: u64,
}

impl Marks {
    /// None yet.
    pub(crate) fn new() -> Marks {
        Marks { start: Instant::now(), at_ns: Vec::with_capacity(1 << 14), before_kib: 0, peak_kib: 0 }
    }

    /// The warm-up is over.
    pub(crate) fn begin(&mut self) {
        self.at_ns.clear();
        self.before_kib = status_kib("VmRSS");
    }

    /// A tool call.
    pub(crate) fn mark(&mut self) {
        self.at_ns.push(u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX));
    }

    /// Prints the marks for the parent process.
    pub(crate) fn print(&self) {
        println!("{}", json!({"marks_ns": self.at_ns, "before_kib": self.before_kib, "peak_kib": status_kib("VmHWM")}));
    }

    /// Reads what a process printed.
    pub(crate) fn read(text: &str) -> Option<Marks> {
        let told: Value = serde_json::from_str(text).ok()?;
        let at_ns = told.get("marks_ns")?.as_array()?.iter().filter_map(Value::as_u64).collect();
        let kib = |field: &str| told.get(field).and_then(Value::as_u64);
        Some(Marks { at_ns, before_kib: kib("before_kib")?, peak_kib: kib("peak_kib")?, ..Marks::new() })
    }

    /// Microseconds of a turn, over all.
    pub(crate) fn mean_us(&self) -> f64 {
        let (first, last) = (self.at_ns.first().copied().unwrap_or(0), self.at_ns.last().copied().unwrap_or(0));
        (last - first) as f64 / 1e3 / (self.at_ns.len().max(2) - 1) as f64
    }

    /// Microseconds of the turns around one, each.
    pub(crate) fn around_us(&self, turn: usize) -> impl Iterator<Item = f64> {
        let from = turn.saturating_sub(WINDOW + 1);
        let marks = self.at_ns.get(from..(turn + WINDOW).min(self.at_ns.len())).unwrap_or_default();
        marks.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e3)
    }
}

/// The number of turns before and after a point that are looked at.
const WINDOW: usize = 5;

fn status_kib(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
