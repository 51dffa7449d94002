//! The instructions of a turn after the first, by the number of the server's tools.

use crate::instructions;
use crate::options::Options;
use crate::server::WORD;

/// The script: a loop of as many turns as the first argument says, with the server that the others start.
const SCRIPT: &str = "benches/mcp/programs/turns.harn";
/// The turns of the shorter and the longer loop. Random hash keys move some 300,000 instructions at the start of each run,
/// so there must be so many turns between the two that a turn's share of this is far below [`MOST`].
const TURNS: (u64, u64) = (2, 4002);
/// The tools of the larger server.
const TOOLS: &str = "1000";
/// The share by which a turn may cost more. The counts of two runs differ by less.
const MOST: f64 = 1.01;

/// Counts; whether the tools cost a later turn nothing.
pub(crate) fn run(options: &Options) -> bool {
    if !options.count || !instructions::are_counted() {
        return true;
    }
    let Some((few, many)) = per_turn("1").zip(per_turn(TOOLS)) else {
        println!("MISSED  many: the script failed");
        return false;
    };
    #[allow(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    let ratio = many as f64 / few as f64;
    let held = ratio <= MOST;
    println!(
        "{}  a turn after the first: {few} instructions with one tool, {many} with {TOOLS}: {ratio:.3} x, at most {MOST} x",
        if held { "held  " } else { "MISSED" }
    );
    held
}

/// Returns the instructions of a turn after the second.
fn per_turn(tools: &str) -> Option<u64> {
    let program = std::env::current_exe().ok()?;
    let program = program.to_str()?;
    let count = |turns: u64| {
        let turns = turns.to_string();
        instructions::of_harn(["run", SCRIPT, "--", &turns, program, WORD, tools])
    };
    let (short, long) = (count(TURNS.0)?, count(TURNS.1)?);
    Some(long.saturating_sub(short) / (TURNS.1 - TURNS.0))
}
