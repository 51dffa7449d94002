//! The cost of injecting reminders into a session that is served to an editor, over the pipes that
//! an editor has.
//!
//! `cargo bench --bench acp [-- --only trips,stream,flood --runs 11]`. It drives the built `harn
//! serve acp` as an editor does: lines of JSON to its standard input, lines from its standard
//! output. In the same run and over the same pipes it drives a process that only parses a line as
//! JSON and answers it, which no agent can outrun. The bench fails if a limit is missed or anything
//! is lost.
//!
//! - [`agent`]: a process and the lines between. [`echo`]: the one that only answers.
//! - [`trips`]: one inject after another, at rest and with a loop at work. [`stream`]: a thousand a second for ten seconds, and
//!   what the model saw. [`flood`]: a hundred thousand at once.
//! - [`times`]: medians and the like. [`options`], [`parts`]: the command line and what it asks for, shared by the benches.

mod agent;
mod echo;
mod flood;
#[path = "../common/options.rs"]
mod options;
#[path = "../common/parts.rs"]
mod parts;
mod stream;
mod times;
mod trips;

use parts::Part;
use std::process::ExitCode;

/// The parts of the bench.
const PARTS: &[Part] = &[("trips", trips::run), ("stream", stream::run), ("flood", flood::run)];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.first().is_some_and(|word| word == echo::WORD) {
        echo::serve();
        return ExitCode::SUCCESS;
    }
    parts::run(&args, PARTS)
}

/// Says whether a bar is held.
fn say(held: bool, what: &str) -> bool {
    println!("{}  {what}", if held { "held  " } else { "MISSED" });
    held
}
