//! The `harn` command; [`cli`] is all of it.

use std::process::ExitCode;

/// Counts what runs hold, for their limit of memory.
#[global_allocator]
static ALLOCATOR: stdlib::Counted = stdlib::Counted;

fn main() -> ExitCode {
    cli::main()
}
