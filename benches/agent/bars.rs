//! The limits of the bench, and whether they are met.

use crate::measure::{Line, POINTS};

/// Microseconds of a turn, at most.
const TURN_US: f64 = 20.0;
/// The maximum cost of turn 1,000, as a multiple of turn 10.
const TIMES: f64 = 1.2;

/// Judges what was measured: whether all bars are held.
pub(crate) fn judge(lines: &[Line]) -> bool {
    println!();
    let mut all = true;
    for line in lines.iter().filter(|line| line.way.is_harn()) {
        let title = line.way.title();
        all &= say(line.us <= TURN_US, &format!("{title}: {:.1} µs a turn, at most {TURN_US}", line.us));
        if let Some(times) = line.times {
            let said = format!("{title}: turn {} is {times:.2} x turn {}, at most {TIMES}", POINTS[1], POINTS[0]);
            all &= say(times <= TIMES, &said);
        }
    }
    all
}

/// Says whether a bar is held.
pub(crate) fn say(held: bool, what: &str) -> bool {
    println!("{}  {what}", if held { "held  " } else { "MISSED" });
    held
}
