//! The cost of a reminder with 10, 1,000 and 100,000 pending reminders, and its limits.
//!
//! `cargo bench --bench reminders [-- --only lifecycle --rows inject --runs 11 --no-count]`. Times
//! are medians of runs in turn, printed beside instructions, which `valgrind --tool=callgrind`
//! counts if it is installed. The bench fails if a limit is missed.
//!
//! - [`lifecycle`]: what is measured; [`pending`]: the transcripts it is done to; [`bars`]: what is promised.
//! - [`turns`]: a turn of a loop with 20 pending reminders, with and without rules. [`scripted`]: an injection by a script.
//! - [`appends`]: the event log in a file beside a bare loop.
//! - [`measure`]: runs in turn; [`count`]: instructions of the rows; [`options`], [`parts`], [`instructions`]: the command
//!   line, what it asks for, and callgrind, shared by the benches; [`table`]: prints.

mod appends;
mod bars;
mod count;
#[path = "../common/instructions.rs"]
mod instructions;
mod lifecycle;
mod measure;
#[path = "../common/options.rs"]
mod options;
#[path = "../common/parts.rs"]
mod parts;
mod pending;
mod scripted;
mod table;
mod turns;

use parts::Part;
use std::process::ExitCode;

/// The parts of the bench.
const PARTS: &[Part] =
    &[("lifecycle", measure::run), ("turns", turns::run), ("scripted", scripted::run), ("appends", appends::run)];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some(code) = count::child(&args).or_else(|| turns::child(&args)) {
        return code;
    }
    parts::run(&args, PARTS)
}
