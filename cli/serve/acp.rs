//! `harn serve acp FILE`: a script as an agent for editors.

use super::a2a::token;
use super::signals::signalled;
use super::{ServedScript, raise_limit_of_files};
use crate::otel::Exporting;
use clap::builder::PossibleValuesParser;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serve::acp::update::ReminderUpdates;
use serve::acp::{self, AcpCode, LineStreams, ProbeSettings, TransportLimits};
use std::io::{IsTerminal, stdin, stdout};
use std::os::fd::AsFd;
use std::time::Duration;
use stdlib::Diagnostic;
use stdlib::limits::parse_size;

#[derive(clap::Args)]
pub(crate) struct ServeAcpArgs {
    #[command(flatten)]
    pub(super) script: ServedScript,
    /// Maximum length of an input line [default: 16m]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    max_line: Option<u64>,
    /// Clients that receive reminder updates, an extension of the protocol: those that request them, all, or none
    #[arg(long, value_name = "WHEN", value_parser = PossibleValuesParser::new(ReminderUpdates::WORDS), default_value = "auto")]
    reminder_updates: String,
    /// Address that serves /healthz, /readyz and /metrics: HOST:PORT, or only a port for 127.0.0.1; other machines have
    /// access only if HARN_METRICS_TOKEN is set
    #[arg(long, value_name = "ADDR")]
    metrics: Option<String>,
}

/// Serves until the editor closes its end, or a signal asks for the end.
pub(super) fn serve(args: ServeAcpArgs, exporting: Option<&Exporting>) -> Result<i32, Vec<Diagnostic>> {
    let mode = args.script.mode.as_str().into();
    let drain = Duration::from_secs(args.script.drain);
    let probe = match &args.metrics {
        Some(written) => {
            let names = acp::PROBE_NAMES;
            let listen = names.resolve(written).map_err(|error| vec![acp::cannot_listen(&error)])?;
            Some(ProbeSettings { listen, token: token(None, names.token, AcpCode::ProbeToken)? })
        }
        None => None,
    };
    let (served, _) = args.script.served("acp", exporting)?;
    let usual = TransportLimits::default();
    let line = args.max_line.map_or(usual.line, |most| usize::try_from(most).unwrap_or(usize::MAX));
    let settings = acp::AcpSettings {
        bounds: TransportLimits { line, ..usual },
        mode: Some(mode),
        // Clap has let only these words pass.
        reminders: args.reminder_updates.parse().unwrap_or_default(),
        drain,
        probe,
    };
    raise_limit_of_files();
    if stdin().is_terminal() {
        tracing::info!("waiting for a client on standard input, one JSON-RPC message per line; press Ctrl-C to stop");
    }
    let streams = LineStreams {
        input: Box::new(stdin()),
        output: Box::new(stdout()),
        ended: Some(Box::new(wait_for_end_of_input)),
    };
    acp::serve(served, streams, settings, &signalled)
}

/// Returns when the other end of standard input has hung up. A file never hangs up, so the function
/// does not return.
pub(super) fn wait_for_end_of_input() {
    let input = stdin();
    // A hang-up is always reported.
    let mut asked = [PollFd::new(input.as_fd(), PollFlags::empty())];
    while poll(&mut asked, PollTimeout::NONE) == Err(Errno::EINTR) {}
}
