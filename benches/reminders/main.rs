//! What a reminder costs, with 10, 1,000 and 100,000 of them pending, and the bars that this is held to.
//!
//! `cargo bench --bench reminders [-- --only lifecycle --rows inject --runs 11 --no-count]`. Times are medians of runs in
//! turn; beside them stand instructions, counted by `valgrind --tool=callgrind` where it is installed. It fails where a bar is
//! missed.
//!
//! - [`lifecycle`]: what is measured; [`pending`]: the transcripts it is done to; [`bars`]: what is promised.
//! - [`appends`]: the event log in a file beside a bare loop.
//! - [`measure`]: runs in turn; [`count`]: instructions; [`options`], [`parts`]: the command line and what it asks for, shared by the benches; [`table`]: prints.

mod appends;
mod bars;
mod count;
mod lifecycle;
mod measure;
#[path = "../common/options.rs"]
mod options;
#[path = "../common/parts.rs"]
mod parts;
mod pending;
mod table;

use parts::Part;
use std::process::ExitCode;

/// What is measured.
const PARTS: &[Part] = &[("lifecycle", measure::run), ("appends", appends::run)];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some(code) = count::child(&args) {
        return code;
    }
    parts::run(&args, PARTS)
}
