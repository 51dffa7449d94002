//! The limits of the bench, and whether they are met.

use crate::instructions;
use crate::measure::{Line, POINTS};
use crate::ways::Way;

/// Microseconds of a turn, at most.
const TURN_US: f64 = 20.0;
/// The maximum cost of turn 1,000, as a multiple of turn 10.
const TIMES: f64 = 1.2;
/// The most instructions of turn 10 by a script, and from Rust.
const SCRIPT: u64 = 95_500;
const CORE: u64 = 61_500;
/// The most instructions of turn 1,000, as a multiple of turn 10: lists that double their room around it have a share in it.
const MORE_INSTRUCTIONS: f64 = 1.1;

/// Judges what was measured: whether all bars are held.
pub(crate) fn judge(lines: &[Line]) -> bool {
    println!();
    let mut all = true;
    for line in lines {
        let most = match &line.way {
            Way::Script => SCRIPT,
            Way::Core => CORE,
            Way::Peer(_) => continue,
        };
        let title = line.way.title();
        all &= say(line.us <= TURN_US, &format!("{title}: {:.1} µs a turn, at most {TURN_US}", line.us));
        let grown = |times: f64, most: f64, what: &str| {
            let (early, late) = (POINTS[0], POINTS[1]);
            say(times <= most, &format!("{title}: turn {late} is {times:.2} x turn {early}{what}, at most {most}"))
        };
        if let Some(times) = line.times {
            all &= grown(times, TIMES, "");
        }
        if let [Some(early), Some(late), ..] = line.instructions[..] {
            all &= instructions::judge(&format!("{title}: turn {}", POINTS[0]), early, most);
            all &= grown(late as f64 / early as f64, MORE_INSTRUCTIONS, " in instructions");
        }
    }
    all
}

/// Says whether a bar is held.
pub(crate) fn say(held: bool, what: &str) -> bool {
    println!("{}  {what}", if held { "held  " } else { "MISSED" });
    held
}
