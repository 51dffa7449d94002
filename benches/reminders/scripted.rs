//! A reminder that a script injects into a transcript, in instructions of the command.

use crate::instructions;
use crate::options::Options;
use std::path::Path;

/// Reminders of the short and of the long run; their difference is measured.
const COUNTS: (u64, u64) = (200, 1_200);
/// The most instructions of one.
const MOST: u64 = 34_400;

/// Counts the instructions of one injection: whether the limit is met.
pub(crate) fn run(_: &Options) -> bool {
    println!("\nA reminder injected by a script\n");
    if !instructions::are_counted() {
        return true;
    }
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/reminders/programs/injects.harn");
    let of = |count: u64| instructions::of_harn(["run", &program.to_string_lossy(), "--", &count.to_string()]);
    let (Some(short), Some(long)) = (of(COUNTS.0), of(COUNTS.1)) else {
        println!("MISSED  the script did not end");
        return false;
    };
    instructions::judge("one injection", long.saturating_sub(short) / (COUNTS.1 - COUNTS.0), MOST)
}
