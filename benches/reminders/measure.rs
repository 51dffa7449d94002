//! One row after the other, again and again, so that a slow moment of the machine hits all of them.

use crate::lifecycle::{PreparedRun, Row};
use crate::options::Options;
use crate::{bars, count, table};
use std::time::Instant;

/// The numbers of pending reminders.
pub(crate) const SIZES: [usize; 3] = [10, 1_000, 100_000];

/// The measurements of one row.
pub(crate) struct Line {
    /// The row.
    pub(crate) row: Row,
    /// Nanoseconds for one operation, by size.
    pub(crate) ns: Vec<f64>,
    /// Instructions for one operation, by size; nothing where they could not be counted.
    pub(crate) instructions: Vec<Option<u64>>,
}

/// Measures all rows that are asked for and judges them: whether the bars are held.
pub(crate) fn run(options: &Options) -> bool {
    let rows: Vec<Row> = Row::ALL.iter().copied().filter(|row| options.wants_row(row.title())).collect();
    let mut times = vec![vec![Vec::with_capacity(options.runs); SIZES.len()]; rows.len()];
    for _ in 0..options.runs {
        for (row, times) in rows.iter().zip(&mut times) {
            for (pending, times) in SIZES.iter().zip(times) {
                times.push(time(*row, *pending));
            }
        }
    }
    let counts = if options.count { count::all(&rows) } else { vec![vec![None; SIZES.len()]; rows.len()] };
    let medians = times.into_iter().map(|times| times.into_iter().map(median).collect());
    let lines = rows.into_iter().zip(medians).zip(counts);
    let lines: Vec<Line> = lines.map(|((row, ns), instructions)| Line { row, ns, instructions }).collect();
    table::print(&lines, options.runs);
    bars::judge(&lines)
}

/// One run: nanoseconds for one operation.
fn time(row: Row, pending: usize) -> f64 {
    let repeats = row.repeats(pending);
    let samples = (0..repeats).map(|_| {
        let mut ready = PreparedRun::new(row, pending);
        let times = row.times(pending);
        let start = Instant::now();
        ready.run(times);
        start.elapsed().as_nanos() as f64 / times as f64
    });
    median(samples.collect())
}

/// The one in the middle.
pub(crate) fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}
