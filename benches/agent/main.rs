//! The cost of a turn of an agent loop beside other agent libraries, and the memory of a waiting
//! loop.
//!
//! `cargo bench --bench agent [-- --only turns,waiting --runs 11 --peers langgraph --no-count]`. A turn is one answer of a
//! model in the process and one tool call, with the eight canonical providers on and a hook that adds a reminder each turn.
//! Times are medians of runs in turn, each in a process of its own; instructions are counted by `valgrind --tool=callgrind`
//! where it is installed. The peers are installed under the target folder. It fails where a bar is missed.
//!
//! - [`ways`]: who does the job: [`script`] and [`core`] here, [`python`] for the peers.
//! - [`marks`]: when each turn passed; [`measure`]: runs in turn; [`count`]: instructions; [`bars`]: what is promised.
//! - [`waiting`]: ten thousand loops that wait.
//! - [`options`], [`parts`], [`instructions`]: the command line, what it asks for, and callgrind, shared by the benches;
//!   [`table`]: prints.

mod bars;
mod core;
mod count;
#[path = "../common/instructions.rs"]
mod instructions;
mod marks;
mod measure;
#[path = "../common/options.rs"]
mod options;
#[path = "../common/parts.rs"]
mod parts;
mod python;
mod script;
mod table;
mod waiting;
mod ways;

use parts::Part;
use std::process::ExitCode;

/// The allocator of the command.
#[global_allocator]
static ALLOCATOR: stdlib::Counted = stdlib::Counted;

/// The parts of the bench.
const PARTS: &[Part] = &[("turns", measure::run), ("waiting", waiting::run)];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some(code) = ways::child(&args) {
        return code;
    }
    parts::run(&args, PARTS)
}
