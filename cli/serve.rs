//! `harn serve acp FILE`: a script as an agent for editors.

use crate::limits::Limits;
use crate::report::{Format, show};
use clap::builder::PossibleValuesParser;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serve::acp::update::ReminderUpdates;
use serve::acp::{self, Bounds, Streams};
use serve::host::{Mode, Served, Settings};
use std::io::{IsTerminal, stdin, stdout};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;
use stdlib::limits::parse_size;
use stdlib::{Diagnostic, PackSpec, read_source};
use tokio::signal::unix::{SignalKind, signal};

/// Whom a script is served to.
#[derive(clap::Subcommand)]
pub(crate) enum Wire {
    /// To an editor, in the Agent Client Protocol over standard input and output
    Acp(Args),
}

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The script; its pipeline runs once for each prompt
    file: PathBuf,
    /// A file in Rhai with reminder providers, run in a sandbox; may be given several times
    #[arg(long = "provider", value_name = "FILE")]
    providers: Vec<PathBuf>,
    #[command(flatten)]
    limits: Limits,
    /// How many threads run sessions [default: one for each core, at most 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    workers: Option<u16>,
    /// How many sessions may be open [default: 10000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_sessions: Option<u32>,
    /// The longest line that is read [default: 16m]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    max_line: Option<u64>,
    /// The mode of new sessions
    #[arg(long, value_name = "MODE", value_parser = PossibleValuesParser::new(Mode::WORDS), default_value = Mode::Ask.as_str())]
    mode: String,
    /// Who gets the updates on reminders, which are no part of the protocol: clients that ask for them, all, or none
    #[arg(long, value_name = "WHEN", value_parser = PossibleValuesParser::new(ReminderUpdates::WORDS), default_value = "auto")]
    reminder_updates: String,
    /// How diagnostics are printed, on standard error
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

pub(crate) fn run(Wire::Acp(args): Wire) -> i32 {
    let format = args.format;
    match serve(args) {
        Ok(code) => code,
        Err(found) => {
            show(&found, format);
            1
        }
    }
}

fn serve(args: Args) -> Result<i32, Vec<Diagnostic>> {
    let source = read_source(&args.file).map_err(|diagnostic| vec![diagnostic])?;
    let (mut setup, log) = args.limits.read(&args.file)?;
    setup.project.packs.extend(args.providers.into_iter().map(PackSpec::plain));
    let usual = Settings::default();
    let settings = Settings {
        workers: args.workers.map_or(usual.workers, usize::from),
        sessions: args.max_sessions.map_or(usual.sessions, |most| most as usize),
    };
    let served =
        Served { source, log: log.open_file()?, run: Arc::new(move || setup.options()), protocol: "acp", settings };
    let usual = Bounds::default();
    let line = args.max_line.map_or(usual.line, |most| usize::try_from(most).unwrap_or(usize::MAX));
    let settings = acp::Settings {
        bounds: Bounds { line, ..usual },
        mode: Some(args.mode.into()),
        // Clap has let only these words pass.
        reminders: args.reminder_updates.parse().unwrap_or_default(),
    };
    raise_limit_of_files();
    if stdin().is_terminal() {
        eprintln!("harn: waiting for an editor, which writes lines of JSON-RPC to standard input; Ctrl-C ends it");
    }
    let streams =
        Streams { input: Box::new(stdin()), output: Box::new(stdout()), ended: Some(Box::new(wait_for_end_of_input)) };
    acp::serve(served, streams, settings, signalled)
}

/// How many files may be open. Programs that tools start get the same limit, and some of them close every number below it.
const FILES: u64 = 65_536;

/// Each session may hold a connection of its own, and the usual limit is a thousand. Where the system refuses more, as many
/// sessions work as there are connections.
fn raise_limit_of_files() {
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, soft.max(hard.min(FILES)), hard);
    }
}

/// Returns once nobody can write to standard input any more. Of a file nobody can tell, and it does not return.
fn wait_for_end_of_input() {
    let input = stdin();
    // That the other side hangs up is always told.
    let mut asked = [PollFd::new(input.as_fd(), PollFlags::empty())];
    while poll(&mut asked, PollTimeout::NONE) == Err(Errno::EINTR) {}
}

/// Ready once a signal asks for the end, with the exit code; a second signal ends the process at once.
async fn signalled() -> i32 {
    let heard = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
    // Where the system refuses a handler, the signal does what it always did.
    let (Ok(mut interrupts), Ok(mut terminations)) = heard else { return std::future::pending().await };
    let code = tokio::select! {
        biased;
        _ = interrupts.recv() => 130,
        _ = terminations.recv() => 143,
    };
    tokio::spawn(async move {
        tokio::select! {
            biased;
            _ = interrupts.recv() => {}
            _ = terminations.recv() => {}
        }
        std::process::exit(code);
    });
    code
}
