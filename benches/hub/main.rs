//! The cost of the hub's broker.
//!
//! `cargo bench --bench hub [-- --only count,publishes,stored,competition,silent,wire --runs 5]`. Each bar is a ratio to a peer that
//! runs in turns with the hub, or a promise that holds on any machine. The bench fails if a bar is missed or anything is
//! lost.
//!
//! - [`count`]: instructions of a publish and of a task. [`publishes`]: publishes per second in memory. [`stored`]:
//!   publishes per second into SQLite, compared with a bare loop of `rusqlite` with the same transactions. [`competition`]: a queue of 100,000 tasks, 50 workers, and one that dies
//!   each second. [`silent`]: a thousand subscribers of which a hundred never read. [`wire`]: delivery over gRPC, compared
//!   with a bare echo.
//! - [`work`]: tasks and clients. [`options`], [`parts`], [`instructions`]: the command line, what it asks for, and
//!   callgrind, shared by the benches.

mod competition;
mod count;
#[path = "../common/instructions.rs"]
mod instructions;
#[path = "../common/options.rs"]
mod options;
#[path = "../common/parts.rs"]
mod parts;
mod publishes;
mod silent;
mod stored;
mod wire;
mod work;

use parts::Part;
use std::process::ExitCode;

/// The parts of the bench.
const PARTS: &[Part] = &[
    ("count", count::run),
    ("publishes", publishes::run),
    ("stored", stored::run),
    ("competition", competition::run),
    ("silent", silent::run),
    ("wire", wire::run),
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some(code) = count::child(&args) {
        return code;
    }
    parts::run(&args, PARTS)
}

/// Prints whether a bar is held.
fn say(held: bool, what: &str) -> bool {
    println!("{}  {what}", if held { "held  " } else { "MISSED" });
    held
}

/// Runs a future on a runtime of one thread.
fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(work)
}

/// Returns the median.
fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
