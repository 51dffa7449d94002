//! The cost of MCP servers.
//!
//! `cargo bench --bench mcp [-- --only calls,many --runs 11]`. The server is this executable itself: it only parses a line as
//! JSON and answers it. The bench fails if a limit is missed.
//!
//! - [`calls`]: calls of a tool through the client, and over bare pipes to the same server in the same run.
//! - [`many`]: the instructions of a turn of a loop whose server has 1,000 tools, and of one whose server has one.
//! - [`server`]: the server. [`instructions`], [`options`], [`parts`]: shared by the benches.

mod calls;
#[path = "../common/instructions.rs"]
mod instructions;
mod many;
#[path = "../common/options.rs"]
mod options;
#[path = "../common/parts.rs"]
mod parts;
mod server;

use parts::Part;
use std::process::ExitCode;

/// The parts of the bench.
const PARTS: &[Part] = &[("calls", calls::run), ("many", many::run)];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.first().is_some_and(|word| word == server::WORD) {
        server::serve(args.get(1).and_then(|count| count.parse().ok()).unwrap_or(1));
        return ExitCode::SUCCESS;
    }
    parts::run(&args, PARTS)
}
