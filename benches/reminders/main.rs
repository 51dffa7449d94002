//! What a reminder costs, with 10, 1,000 and 100,000 of them pending, and the bars that this is held to.
//!
//! `cargo bench --bench reminders [-- --only lifecycle --rows inject --runs 11 --no-count]`. Times are medians of runs in
//! turn; beside them stand instructions, counted by `valgrind --tool=callgrind` where it is installed. It fails where a bar is
//! missed.
//!
//! - [`lifecycle`]: what is measured; [`pending`]: the transcripts it is done to; [`bars`]: what is promised.
//! - [`appends`]: the event log in a file beside a bare loop.
//! - [`measure`]: runs in turn; [`count`]: instructions; [`options`]: the command line, shared by the benches; [`table`]: prints.

mod appends;
mod bars;
mod count;
mod lifecycle;
mod measure;
#[path = "../common/options.rs"]
mod options;
mod pending;
mod table;

use options::Options;
use std::process::ExitCode;

/// A part of the bench: whether it holds its bars.
type Part = fn(&Options) -> bool;

/// The parts, by the name that `--only` takes.
const PARTS: &[(&str, Part)] = &[("lifecycle", measure::run), ("appends", appends::run)];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some(code) = count::child(&args) {
        return code;
    }
    let options = match Options::read(&args) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let asked = PARTS.iter().filter(|(name, _)| options.wants(name));
    let held = asked.fold(true, |held, (_, part)| part(&options) && held);
    if held { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
