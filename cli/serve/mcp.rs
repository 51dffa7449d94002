//! `harn serve mcp FILE`: the public functions of a script for MCP clients.

use super::a2a::token;
use super::acp::wait_for_end_of_input;
use super::signals::signalled;
use super::{ServedScript, TlsArgs, raise_limit_of_files};
use crate::otel::Exporting;
use serve::acp::LineStreams;
use serve::mcp::{self, McpLimits, McpListen, McpServerCode, McpSettings};
use std::io::{IsTerminal, stdin, stdout};
use std::time::Duration;
use stdlib::limits::{parse_size, parse_time};
use stdlib::{Diagnostic, MCP_PROTOCOL};

#[derive(clap::Args)]
pub(crate) struct ServeMcpArgs {
    #[command(flatten)]
    pub(super) script: ServedScript,
    /// Serve HTTP at this address instead of standard input and output: HOST:PORT, or only a port for 127.0.0.1; port 0 selects a
    /// free port
    #[arg(long, value_name = "ADDR")]
    http: Option<String>,
    /// Token that clients must send over HTTP as `Authorization: Bearer TOKEN`. Other users of this machine can see it in the
    /// process list, so prefer the variable [env: HARN_MCP_TOKEN]
    #[arg(long, value_name = "TOKEN", requires = "http")]
    token: Option<String>,
    #[command(flatten)]
    tls: TlsArgs,
    /// Origin whose web pages can send requests, for example https://example.com, or `*`; can be repeated
    #[arg(long = "allow-origin", value_name = "ORIGIN", requires = "http")]
    origins: Vec<String>,
    /// Seconds after which a call becomes a task, for clients of version 2026-07-28 that take tasks
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(0..=86_400), default_value_t = 1)]
    task_after: u64,
    /// Maximum number of running calls [default: 256]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_calls: Option<u32>,
    /// Maximum size of a message [default: 4m]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    max_body: Option<u64>,
    /// Maximum number of open connections [default: 1024]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000), requires = "http")]
    max_connections: Option<u32>,
    /// Maximum number of open sessions over HTTP of one IP address [default: 5000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), requires = "http")]
    max_peer_sessions: Option<u32>,
    /// End a session over HTTP that had no request for this time [default: 30m]
    #[arg(long, value_name = "DURATION", value_parser = parse_time, requires = "http")]
    session_idle: Option<Duration>,
}

/// Serves until the client closes its end, or a signal asks for the end.
pub(super) fn serve(args: ServeMcpArgs, exporting: Option<&Exporting>) -> Result<i32, Vec<Diagnostic>> {
    let usual = McpLimits::default();
    let bounds = McpLimits {
        body: args.max_body.map_or(usual.body, |most| usize::try_from(most).unwrap_or(usize::MAX)),
        calls: args.max_calls.unwrap_or(usual.calls),
        connections: args.max_connections.unwrap_or(usual.connections),
        peer_sessions: args.max_peer_sessions.map(|most| most as usize),
        session_idle: args.session_idle.unwrap_or(usual.session_idle),
        ..usual
    };
    let tls = args.tls.read(McpServerCode::Tls)?;
    if tls.is_some() && args.http.is_none() {
        let message = "`--tls-cert` and `--tls-key` need `--http`";
        return Err(vec![Diagnostic::new(McpServerCode::Tls, message)]);
    }
    let listen = match &args.http {
        Some(written) => {
            let address = mcp::NAMES.resolve(written).map_err(|error| vec![mcp::cannot_listen(&error)])?;
            let token = token(args.token, mcp::NAMES.token, McpServerCode::Token)?;
            Some(McpListen { address, token, tls, origins: args.origins })
        }
        None => None,
    };
    let mode = Some(args.script.mode.as_str().into());
    let drain = Duration::from_secs(args.script.drain);
    let (served, agent) = args.script.served(MCP_PROTOCOL, exporting)?;
    let task_after = Duration::from_secs(args.task_after);
    let settings = McpSettings { mode, agent, drain, task_after, bounds };
    raise_limit_of_files();
    match listen {
        Some(listen) => {
            let ready = |url: &str| tracing::info!("listening on {url}");
            mcp::serve_http(served, listen, &settings, &ready, &signalled)
        }
        None => {
            if stdin().is_terminal() {
                tracing::info!(
                    "waiting for a client on standard input, one JSON-RPC message per line; press Ctrl-C to stop"
                );
            }
            let streams = LineStreams {
                input: Box::new(stdin()),
                output: Box::new(stdout()),
                ended: Some(Box::new(wait_for_end_of_input)),
            };
            mcp::serve_stdio(served, streams, &settings, &signalled)
        }
    }
}
