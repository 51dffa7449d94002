//! The cost of remote channels.
//!
//! `cargo bench --bench channels [-- --only fan-out,resume --runs 5]`. It starts `harn serve channels` as a process and
//! connects to it on loopback. The bench fails if a bar is missed or an event is lost.
//!
//! - [`fan_out`]: a thousand connections to one session: the time until all have an event, and the memory of each.
//! - [`resume`]: a connection that reads 100,000 events from the log.
//! - [`daemon`]: the daemon and its clients. [`options`], [`parts`]: the command line, shared by the benches.

mod daemon;
mod fan_out;
#[path = "../common/options.rs"]
mod options;
#[path = "../common/parts.rs"]
mod parts;
mod resume;

use parts::Part;
use std::process::ExitCode;

/// The parts of the bench.
const PARTS: &[Part] = &[("fan-out", fan_out::run), ("resume", resume::run)];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    parts::run(&args, PARTS)
}

/// Prints whether a bar is held.
fn say(held: bool, what: &str) -> bool {
    println!("{}  {what}", if held { "held  " } else { "MISSED" });
    held
}

/// Returns the median.
fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
