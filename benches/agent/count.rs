//! Instructions, which do not depend on what else the machine does: the same job is run under callgrind with some turns more
//! and some less; the difference is those turns.

use crate::measure::POINTS;
use crate::ways::Way;
use std::process::{Command, Stdio};

/// The minimum number of turns that are counted around a point.
const FEWEST: usize = 16;

/// The share of the turns that are counted around a point of a long run: the memory layout of a
/// long run changes the instructions of a turn by about one in a thousand.
const SHARE: usize = 10;

/// Instructions of a turn around each point. Nothing where valgrind is not installed.
pub(crate) fn all(way: &Way) -> Vec<Option<u64>> {
    let installed = Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !installed.is_ok_and(|status| status.success()) {
        println!("valgrind is not installed: instructions are not counted.");
        return vec![None; POINTS.len()];
    }
    POINTS.iter().map(|point| around(way, *point)).collect()
}

fn around(way: &Way, turn: usize) -> Option<u64> {
    let turns = (turn / SHARE).max(FEWEST);
    let (less, more) = (instructions(way, turn - turns / 2)?, instructions(way, turn + turns / 2)?);
    Some(more.saturating_sub(less) / turns as u64)
}

fn instructions(way: &Way, turns: usize) -> Option<u64> {
    let job = way.command(turns);
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(job.get_program())
        .args(job.get_args())
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let collected = said.lines().find_map(|line| line.split("Collected :").nth(1))?;
    collected.trim().parse().ok()
}
