//! What is promised, and whether it is held.

use crate::measure::{Line, POINTS};
use crate::ways::Way;

/// Microseconds of a turn, at most.
const TURN_US: f64 = 20.0;
/// What turn 1,000 may cost, as a multiple of turn 10.
const TIMES: f64 = 1.2;

/// Judges what was measured: whether all bars are held.
pub(crate) fn judge(lines: &[Line]) -> bool {
    println!();
    let mut all = true;
    for line in lines.iter().filter(|line| line.way.is_harn()) {
        let title = line.way.title();
        all &= say(line.us <= TURN_US, &format!("{title}: {:.1} µs a turn, at most {TURN_US}", line.us));
        if let Some((times, of)) = growth(line) {
            let (early, late) = (POINTS[0], POINTS[1]);
            let said = format!("{title}: turn {late} is {times:.2} x turn {early} in {of}, at most {TIMES}");
            all &= say(times <= TIMES, &said);
        }
    }
    all
}

/// What a late turn costs beside an early one. The job is a script's, and judged by time. The core alone is so quick that the first
/// touch of each new page of memory is a quarter of its time, and the first hundred turns have none; it is judged by instructions.
fn growth(line: &Line) -> Option<(f64, &'static str)> {
    match (&line.way, &line.at_us[..], &line.instructions[..]) {
        (Way::Core, _, [early, late, ..]) => Some(((*late)? as f64 / (*early)? as f64, "instructions")),
        (_, [early, late, ..], _) => Some(((*late)? / (*early)?, "time")),
        _ => None,
    }
}

/// Says whether a bar is held.
pub(crate) fn say(held: bool, what: &str) -> bool {
    println!("{}  {what}", if held { "held  " } else { "MISSED" });
    held
}
