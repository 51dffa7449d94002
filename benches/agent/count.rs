//! Instructions of a turn: the same job is run under callgrind with some turns more and some less; the difference is those
//! turns.

use crate::instructions;
use crate::measure::POINTS;
use crate::ways::Way;

/// The minimum number of turns that are counted around a point.
const FEWEST: usize = 16;

/// The share of the turns that are counted around a point of a long run: the memory layout of a
/// long run changes the instructions of a turn by about one in a thousand.
const SHARE: usize = 10;

/// Instructions of a turn around each point. Nothing where valgrind is not installed.
pub(crate) fn all(way: &Way) -> Vec<Option<u64>> {
    if !instructions::are_counted() {
        return vec![None; POINTS.len()];
    }
    POINTS.iter().map(|point| around(way, *point)).collect()
}

fn around(way: &Way, turn: usize) -> Option<u64> {
    let turns = (turn / SHARE).max(FEWEST);
    let (less, more) = (instructions(way, turn - turns / 2)?, instructions(way, turn + turns / 2)?);
    Some(more.saturating_sub(less) / turns as u64)
}

/// The fewest instructions of three runs: hash maps with random keys make the start of a run differ by some 50,000.
fn instructions(way: &Way, turns: usize) -> Option<u64> {
    let job = way.command(turns);
    let counts = (0..3).map(|_| instructions::of(job.get_program(), job.get_args()));
    counts.collect::<Option<Vec<u64>>>()?.into_iter().min()
}
