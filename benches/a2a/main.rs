//! What it takes to serve other agents, over loopback.
//!
//! `cargo bench --bench a2a [-- --only injections,streams,silent,idle --runs 5]`. It drives the built `harn serve a2a` as agents
//! do: requests over connections that stay, and streams. Beside the injections stands, in a process of its own and in turns with
//! harn, a bare handler of axum that parses the same body and answers. It fails where a bar is missed or anything is lost.
//!
//! - [`server`]: a process that listens. [`bare`]: the one that only parses and answers. [`client`]: requests and streams.
//! - [`injections`]: how many a second. [`streams`]: a thousand at once, told of reminders. [`silent`]: a thousand that never
//!   read. [`idle`]: what a task takes that waits for its caller.
//! - [`options`], [`parts`]: the command line and what it asks for, shared by the benches.

mod bare;
mod client;
mod idle;
mod injections;
#[path = "../common/options.rs"]
mod options;
#[path = "../common/parts.rs"]
mod parts;
mod server;
mod silent;
mod streams;

use parts::Part;
use std::process::ExitCode;

/// What is measured.
const PARTS: &[Part] =
    &[("injections", injections::run), ("streams", streams::run), ("silent", silent::run), ("idle", idle::run)];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.first().is_some_and(|word| word == bare::WORD) {
        bare::serve();
        return ExitCode::SUCCESS;
    }
    parts::run(&args, PARTS)
}

/// Says whether a bar is held.
fn say(held: bool, what: &str) -> bool {
    println!("{}  {what}", if held { "held  " } else { "MISSED" });
    held
}

/// Runs what asks.
fn asking<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(work)
}
