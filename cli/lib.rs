//! The `harn` command: one file per command, each thin, and `report`, the one place that prints diagnostics.
//!
//! [`main`] is the command of a process. [`capture`] runs a script in a process that has other work too, such as tests.
//!
//! The features `lsp`, `otel`, `repl` and `serve` select the commands and options that need heavy dependencies.
//!
//! Exit codes: 0 when all went well, 1 when there were errors, 2 for wrong usage, 3 when a run used up its fuel, memory or
//! time; an int that a pipeline returns is the exit code of `harn run`.

#[cfg(feature = "serve")]
mod attach;
#[cfg(feature = "serve")]
mod channel;
mod check;
mod completions;
mod console;
mod difference;
mod dis;
mod doc;
mod eval;
#[cfg(feature = "serve")]
mod event_log;
mod explain;
mod fmt;
mod interrupt;
mod lazy;
mod limits;
mod live;
mod llms;
mod log;
#[cfg(feature = "lsp")]
mod lsp;
mod man;
mod markup;
mod mcp;
mod new;
#[cfg_attr(not(feature = "otel"), path = "without_otel.rs")]
mod otel;
mod pager;
mod parallel;
mod preview;
mod progress;
mod project;
#[cfg(feature = "repl")]
mod repl;
mod report;
mod run;
mod script;
#[cfg(feature = "serve")]
mod serve;
mod stdout;
mod test;
#[cfg(feature = "serve")]
mod trace;
mod trust;
mod usage;
mod watch;
mod whole_file;

use clap::{CommandFactory, Parser, Subcommand};
use console::Console;
use lazy::Lazy;
use std::ffi::OsString;
use std::process::ExitCode;
use std::rc::Rc;
use stdlib::Captured;

/// Runs, checks and explains harn scripts.
#[derive(Parser)]
#[command(name = "harn", version, about = "A scripting language and runtime for pipelines that drive LLM agents")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a script
    Run(Lazy<run::RunArgs>),
    /// Check scripts without running them
    Check(Lazy<check::CheckArgs>),
    /// Run the tests of scripts
    Test(Lazy<test::TestArgs>),
    /// Compare variants of a script's reminders over a set of tasks
    Eval(Lazy<eval::EvalArgs>),
    /// Format scripts
    Fmt(Lazy<fmt::FmtArgs>),
    /// Make a new project
    New(Lazy<new::NewArgs>),
    /// Show the requests that a script would send to a model
    Preview(Lazy<preview::PreviewArgs>),
    /// Explain a diagnostic code, with a failing and a fixed script
    Explain(Lazy<explain::ExplainArgs>),
    /// Print the bytecode of a script
    Dis(Lazy<dis::DisArgs>),
    /// Document scripts or builtins, or write Rhai definition files for editors
    Doc(Lazy<doc::DocArgs>),
    /// Print the language and its builtins in one text, for coding agents
    Llms(Lazy<llms::LlmsArgs>),
    /// Show the life of every reminder in an event log
    #[cfg(feature = "serve")]
    Trace(Lazy<trace::TraceArgs>),
    /// Trust the harn.toml of a folder, list the trusted folders, or revoke trust
    Trust(Lazy<trust::TrustArgs>),
    /// Store the tools of MCP servers
    #[command(subcommand)]
    Mcp(Lazy<mcp::McpCommand>),
    /// Enrol, list and revoke the channels of an event log
    #[command(subcommand)]
    #[cfg(feature = "serve")]
    Channel(Lazy<channel::ChannelCommand>),
    /// Maintain an event log: remove old records, count, export and verify them
    #[command(subcommand)]
    #[cfg(feature = "serve")]
    Log(Lazy<event_log::LogCommand>),
    /// Join a running daemon as an agent on standard input and output, for an editor
    #[cfg(feature = "serve")]
    Attach(attach::AttachArgs),
    /// Start an interactive session
    #[cfg(feature = "repl")]
    Repl(Lazy<repl::ReplArgs>),
    /// Print a script that completes commands in a shell
    Completions(Lazy<completions::CompletionsArgs>),
    /// Print or write manual pages
    Man(Lazy<man::ManArgs>),
    /// Start the language server for an editor, over standard input and output
    #[cfg(feature = "lsp")]
    Lsp(Lazy<lsp::LspArgs>),
    /// Serve a script to an editor or to other agents, or run a hub
    #[command(subcommand)]
    #[cfg(feature = "serve")]
    Serve(Lazy<serve::Wire>),
}

/// The command line of `harn run` alone.
#[derive(Parser)]
#[command(name = "harn")]
struct RunCli {
    #[command(subcommand)]
    command: RunOnly,
}

#[derive(Subcommand)]
enum RunOnly {
    /// Run a script
    Run(Lazy<run::RunArgs>),
}

/// Parses a command line. Scripts are started often, so `run` is parsed without a description of the other commands; errors and
/// help come from the whole description.
fn parse(line: &[OsString]) -> Result<Command, clap::Error> {
    if line.get(1).is_some_and(|command| command == "run")
        && let Ok(RunCli { command: RunOnly::Run(args) }) = RunCli::try_parse_from(line)
    {
        return Ok(Command::Run(args));
    }
    Cli::try_parse_from(line).map(|cli| cli.command)
}

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
    let line = script::expand_shebang(std::env::args_os().collect());
    let command = match parse(&line) {
        Ok(command) => command,
        Err(error) => usage::refuse(error, Cli::command(), &line),
    };
    let console = Console::of_process();
    ExitCode::from(exit_code(match command {
        Command::Run(Lazy(args)) => run::run(args, &console),
        Command::Check(Lazy(args)) => check::run(args, &console),
        Command::Test(Lazy(args)) => test::run(args, &console),
        Command::Eval(Lazy(args)) => eval::run(&args, &console),
        Command::Fmt(Lazy(args)) => fmt::run(args, &console),
        Command::New(Lazy(args)) => new::run(&args),
        Command::Preview(Lazy(args)) => preview::run(args, &console),
        Command::Explain(Lazy(args)) => explain::run(&args),
        Command::Dis(Lazy(args)) => dis::run(args, &console),
        Command::Doc(Lazy(args)) => doc::run(&args),
        Command::Llms(Lazy(args)) => llms::run(&args),
        #[cfg(feature = "serve")]
        Command::Trace(Lazy(args)) => trace::run(&args),
        Command::Trust(Lazy(args)) => trust::run(&args),
        Command::Mcp(Lazy(command)) => mcp::run(command),
        #[cfg(feature = "serve")]
        Command::Channel(Lazy(command)) => channel::run(command),
        #[cfg(feature = "serve")]
        Command::Log(Lazy(command)) => event_log::run(command),
        #[cfg(feature = "serve")]
        Command::Attach(args) => attach::run(args),
        #[cfg(feature = "repl")]
        Command::Repl(Lazy(args)) => repl::run(args),
        Command::Completions(Lazy(args)) => completions::run(&args, Cli::command()),
        Command::Man(Lazy(args)) => man::run(&args, Cli::command()),
        #[cfg(feature = "lsp")]
        Command::Lsp(Lazy(args)) => lsp::run(&args),
        #[cfg(feature = "serve")]
        Command::Serve(Lazy(wire)) => serve::run(wire),
    }))
}

/// Returns the exit code of a process. A number that does not fit must not wrap round to success.
fn exit_code(code: i32) -> u8 {
    u8::try_from(code).unwrap_or(u8::MAX)
}

/// The result of a command that did not have a process of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureResult {
    /// The exit code.
    pub code: u8,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

/// Runs `harn run …`, `harn check …`, `harn test …`, `harn fmt …` or `harn dis …` on this thread and returns what it prints.
///
/// The script sees the environment variables, the working directory and the standard input of the process. Signals are not
/// handled, and loops are not shown at work. A limit of memory needs [`stdlib::Counted`] as the allocator.
///
/// # Errors
/// Another command or wrong usage.
pub fn capture(line: impl IntoIterator<Item = OsString>) -> Result<CaptureResult, String> {
    let output = Rc::new(Captured::default());
    let console = Console::captured(output.clone());
    let code = match Cli::try_parse_from(line).map_err(|error| error.to_string())?.command {
        Command::Run(Lazy(args)) => run::run(args, &console),
        Command::Check(Lazy(args)) => check::run(args, &console),
        Command::Test(Lazy(args)) => test::run(args, &console),
        Command::Fmt(Lazy(args)) => fmt::run(args, &console),
        Command::Dis(Lazy(args)) => dis::run(args, &console),
        _ => return Err("only `run`, `check`, `test`, `fmt` and `dis` can be captured".to_owned()),
    };
    Ok(CaptureResult { code: exit_code(code), out: output.stdout(), err: output.stderr() })
}
