//! The `harn` command: one file per command, each thin, and [`report`], the one place that prints diagnostics.
//!
//! Exit codes: 0 when all went well, 1 when there were errors, 2 for wrong usage, 3 when a run used up its fuel, memory or
//! time; an int that a pipeline returns is the exit code of `harn run`.

mod check;
mod dis;
mod doc;
mod explain;
mod interrupt;
mod limits;
mod live;
mod repl;
mod report;
mod run;
mod script;
mod serve;
mod stdout;
mod trace;
mod trust;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Counts what runs hold, for their limit of memory.
#[global_allocator]
static ALLOCATOR: stdlib::Counted = stdlib::Counted;

/// Runs, checks and explains harn scripts.
#[derive(Parser)]
#[command(name = "harn", version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a script
    Run(run::Args),
    /// Find what is wrong with scripts without running them
    Check(check::Args),
    /// Say what a diagnostic code means, with a failing and a mended script
    Explain(explain::Args),
    /// Show what a script is compiled to, instruction by instruction
    Dis(dis::Args),
    /// Write down all builtins, or the definition files of Rhai for editors
    Doc(doc::Args),
    /// Show what became of every reminder, from an event log
    Trace(trace::Args),
    /// Trust the harn.toml of a folder, list the trusted folders, or revoke trust
    Trust(trust::Args),
    /// Type statements and see what they give
    Repl(repl::Args),
    /// Serve a script to an editor, or to other agents
    #[command(subcommand)]
    Serve(serve::Wire),
}

/// Prints what is wrong with the arguments, or the help that was asked for, and ends. What an argument would make a
/// terminal do is shown as text.
fn refuse(error: &clap::Error) -> ! {
    let hostile = |arg: std::ffi::OsString| arg.to_string_lossy().chars().any(|c| stdlib::shown(c) != Some(c));
    if !error.use_stderr() || !std::env::args_os().any(hostile) {
        error.exit();
    }
    for line in error.render().to_string().lines() {
        eprintln!("{}", report::visible(line));
    }
    std::process::exit(error.exit_code())
}

fn main() -> ExitCode {
    let command = match Cli::try_parse_from(script::expand_shebang(std::env::args_os().collect())) {
        Ok(cli) => cli.command,
        Err(error) => refuse(&error),
    };
    let code = match command {
        Command::Run(args) => run::run(args),
        Command::Check(args) => check::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Dis(args) => dis::run(args),
        Command::Doc(args) => doc::run(&args),
        Command::Trace(args) => trace::run(&args),
        Command::Trust(args) => trust::run(&args),
        Command::Repl(args) => repl::run(args),
        Command::Serve(wire) => serve::run(wire),
    };
    // What does not fit into an exit code must not wrap round to success.
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}
