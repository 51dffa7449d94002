//! The cost of serving other agents, over loopback.
//!
//! `cargo bench --bench a2a [-- --only injections,streams,silent,idle --runs 5]`. It drives the
//! built `harn serve a2a` as agents do: requests over connections that stay open, and streams. The
//! injections are compared with a bare handler of axum that parses the same body and answers; it
//! runs in a process of its own, in turns with harn. The bench fails if a limit is missed or
//! anything is lost.
//!
//! - [`server`]: a process that listens. [`bare`]: the one that only parses and answers. [`client`]: requests and streams.
//! - [`injections`]: injections per second. [`streams`]: a thousand concurrent streams with
//!   reminder events. [`silent`]: a thousand subscribers that never read. [`idle`]: memory of tasks
//!   that wait for their caller.
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

/// The parts of the bench.
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
