//! `harn serve channels FILE`: a script whose sessions several clients share.

use super::signals::signalled;
use super::{ServedScript, TlsArgs, raise_limit_of_files};
use crate::otel::Exporting;
use serve::a2a::A2aLimits;
use serve::channels::{self, ChannelCode, ChannelLimits, ChannelSettings, PeerAgentSettings};
use std::time::Duration;
use stdlib::limits::{parse_size, parse_time};
use stdlib::{Diagnostic, Project};

/// The default address; only this machine can reach it.
const USUAL: &str = "127.0.0.1:41300";

#[derive(clap::Args)]
pub(crate) struct ServeChannelsArgs {
    #[command(flatten)]
    pub(super) script: ServedScript,
    /// Address to listen on: HOST:PORT, or only a port for 127.0.0.1; port 0 selects a free port
    #[arg(long, value_name = "ADDR", default_value = USUAL)]
    listen: String,
    /// Listen on an address that other machines can reach, although nothing is encrypted
    #[arg(long)]
    insecure: bool,
    #[command(flatten)]
    tls: TlsArgs,
    /// Origin whose web pages can send requests, for example https://example.com, or `*`; can be repeated
    #[arg(long = "allow-origin", value_name = "ORIGIN")]
    origins: Vec<String>,
    /// Serve the Agent2Agent protocol on the same port too: peer agents are channels
    #[arg(long)]
    a2a: bool,
    /// Maximum size of a request body [default: 1m]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    max_body: Option<u64>,
    /// Maximum number of open connections [default: 4096]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_connections: Option<u32>,
    /// Maximum number of requests and frames of a channel in a second, after a burst of four times as many [default: 50]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_rate: Option<u32>,
    /// Maximum number of open sessions of one account [default: half of --max-sessions]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_account_sessions: Option<u32>,
    /// Close a session that had no turn, no background task and no connection for this time; the next action that needs it
    /// loads it again [default: 30m]
    #[arg(long, value_name = "DURATION", value_parser = parse_time)]
    session_idle: Option<Duration>,
}

/// Serves until a signal asks for the end.
pub(super) fn serve(args: ServeChannelsArgs, exporting: Option<&Exporting>) -> Result<i32, Vec<Diagnostic>> {
    let listen = channels::NAMES.resolve(&args.listen).map_err(|error| vec![channels::cannot_listen(&error)])?;
    let tls = args.tls.read(ChannelCode::Tls)?;
    let mode = args.script.mode.as_str().into();
    let drain = Duration::from_secs(args.script.drain);
    let project = Project::of(&args.script.file)?.channels;
    let (mut served, agent) = args.script.served("channels", exporting)?;
    served.settings.account_sessions = args.max_account_sessions.map(|most| most as usize);
    let usual = ChannelLimits::default();
    let rate = args.max_rate.unwrap_or(usual.requests_per_second);
    let limits = ChannelLimits {
        body: args.max_body.map_or(usual.body, |most| usize::try_from(most).unwrap_or(usize::MAX)),
        connections: args.max_connections.unwrap_or(usual.connections),
        heartbeat: project.heartbeat.unwrap_or(usual.heartbeat),
        permission_timeout: project.permission_timeout,
        requests_per_second: rate,
        requests_burst: rate.saturating_mul(4),
        session_idle: args.session_idle.unwrap_or(usual.session_idle),
        ..usual
    };
    let settings = ChannelSettings {
        listen,
        insecure: args.insecure,
        tls,
        origins: args.origins,
        mode: Some(mode),
        drain,
        orphan: project.orphan,
        limits,
        peer_agents: args.a2a.then(|| PeerAgentSettings { agent, limits: A2aLimits::default() }),
    };
    raise_limit_of_files();
    let ready = |url: &str| tracing::info!("serving channels at {url}");
    channels::serve(served, settings, &ready, &signalled)
}
