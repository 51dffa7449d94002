//! `harn serve hub`: a broker for tasks between agents.

use super::signals::signalled;
use super::{TlsArgs, raise_limit_of_files};
use crate::log::LogFormat;
use crate::otel::{self, Exporting, Otel};
use crate::report::Format;
use hub::broker::BrokerOptions;
use serve::hub::{
    self as server, AgentTokens, HealthSettings, HubAddresses, HubCode, HubLimits, HubSettings, StoreLocation,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use stdlib::Diagnostic;
use stdlib::limits::{parse_size, parse_time};

#[derive(clap::Args)]
pub(crate) struct ServeHubArgs {
    /// Address of the gRPC port: HOST:PORT, or only a port for 127.0.0.1; port 0 selects a free port
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:50051")]
    listen: String,
    /// Address of the HTTP port, with the agent card, JSON-RPC, /healthz, /readyz and /metrics
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8641")]
    http: String,
    /// Where tasks are stored: `memory`, or `sqlite:FILE`
    #[arg(long, value_name = "STORE", value_parser = store, default_value = "sqlite:hub.db")]
    store: StoreLocation,
    /// File with a line `AGENT TOKEN` for each agent; agents send their token as `Authorization: Bearer TOKEN`. Required if other
    /// machines can reach the hub
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    #[command(flatten)]
    tls: TlsArgs,
    /// Time after which a claimed task returns to its queue unless its worker renews the lease [default: 30s]
    #[arg(long, value_name = "DURATION", value_parser = parse_time)]
    lease: Option<Duration>,
    /// Number of attempts after which a task becomes a dead letter [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    max_attempts: Option<u32>,
    /// Time for which a repeated message id is answered with the first result [default: 24h]
    #[arg(long, value_name = "DURATION", value_parser = parse_time)]
    dedupe: Option<Duration>,
    /// Time for which finished tasks are kept [default: 7d]
    #[arg(long, value_name = "DURATION", value_parser = parse_time)]
    retention: Option<Duration>,
    /// Maximum number of finished tasks that are kept; the oldest are dropped first [default: 100000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    max_finished: Option<u32>,
    /// Approximate memory of finished tasks and of the results of messages, two thirds and a third of it; the oldest are
    /// dropped first [default: 24m]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    max_kept: Option<u64>,
    /// Number of past events from which subscriptions can resume, in at most 64 MiB of memory [default: 8192]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1024..=10_000_000))]
    max_events: Option<u32>,
    /// Amount by which the store's file can grow before it is compacted, in addition to twice the size of the last
    /// checkpoint [default: 64m]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    compact_after: Option<u64>,
    /// Maximum size of a message [default: 4m]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    max_message: Option<u64>,
    /// Maximum number of open connections of each port [default: 4096]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_connections: Option<u32>,
    /// Maximum number of open gRPC connections of one IP address [default: half of
    /// --max-connections, or 64 if that is more]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_peer_connections: Option<u32>,
    /// Maximum number of open requests and subscriptions of a gRPC connection, and of open streams of the HTTP port
    /// [default: 1024]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_streams: Option<u32>,
    /// Seconds that workers can go on with leased tasks after the first SIGTERM or SIGINT
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(0..=86_400), default_value_t = 0)]
    drain: u64,
    /// Time between two health checks of an agent that registered a URL for them [default: 30s]
    #[arg(long, value_name = "DURATION", value_parser = parse_time)]
    health_interval: Option<Duration>,
    /// Check URLs on loopback and private addresses although other machines can reach the hub
    #[arg(long)]
    health_private: bool,
    #[command(flatten)]
    otel: Otel,
    /// Format of the diagnostics on standard error
    #[arg(long, value_enum, default_value = "text")]
    pub(super) format: Format,
    /// Format of log lines on standard error; HARN_LOG filters them
    #[arg(long, value_enum, value_name = "FORM", default_value = "text")]
    pub(super) log_format: LogFormat,
}

/// Serves until a signal asks for the end.
pub(super) fn serve(args: ServeHubArgs) -> Result<i32, Vec<Diagnostic>> {
    let address = |names: &serve::http::ListenerNames, written: &str| {
        names.resolve(written).map_err(|error| vec![server::cannot_listen(names, &error)])
    };
    let listen = address(&server::NAMES, &args.listen)?;
    let http = address(&server::HTTP_NAMES, &args.http)?;
    let tokens = args.token_file.as_deref().map(tokens).transpose()?;
    let tls = args.tls.read(HubCode::Tls)?;
    let milliseconds = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let usual = BrokerOptions::default();
    let lease_ms = args.lease.map_or(usual.lease_ms, milliseconds);
    let options = BrokerOptions {
        lease_ms,
        max_lease_ms: usual.max_lease_ms.max(lease_ms),
        max_attempts: args.max_attempts.unwrap_or(usual.max_attempts),
        retention_ms: args.retention.map_or(usual.retention_ms, milliseconds),
        max_finished: args.max_finished.map_or(usual.max_finished, |most| most as usize),
        dedupe_ms: args.dedupe.map_or(usual.dedupe_ms, milliseconds),
        compact_bytes: args.compact_after.unwrap_or(usual.compact_bytes),
        kept_events: args.max_events.map_or(usual.kept_events, |most| most as usize),
        ..usual
    };
    let options = match args.max_kept {
        Some(bytes) => options.keeping(usize::try_from(bytes).unwrap_or(usize::MAX)),
        None => options,
    };
    let usual = HubLimits::default();
    let connections = args.max_connections.unwrap_or(usual.connections);
    let limits = HubLimits {
        message: args.max_message.map_or(usual.message, |most| usize::try_from(most).unwrap_or(usize::MAX)),
        connections,
        peer_connections: args.max_peer_connections.unwrap_or((connections / 2).max(connections.min(64))),
        streams: args.max_streams.unwrap_or(usual.streams),
    };
    let drain = Duration::from_secs(args.drain);
    raise_limit_of_files();
    let ready = |at: &HubAddresses| tracing::info!("gRPC at {}, the agent card and JSON-RPC at {}", at.grpc, at.http);
    let exporting = match args.otel.start() {
        Ok(exporting) => exporting,
        Err(error) => return Ok(otel::refuse(&error)),
    };
    let usual = HealthSettings::default();
    let health = HealthSettings {
        interval: args.health_interval.unwrap_or(usual.interval).max(Duration::from_millis(100)),
        allows_private: args.health_private,
    };
    let observer = exporting.as_ref().map(Exporting::hub);
    let settings =
        HubSettings { listen, http, store: args.store, tokens, tls, options, limits, drain, health, observer };
    let ended = server::serve(settings, &ready, &signalled);
    if let Some(exporting) = exporting {
        exporting.end();
    }
    ended
}

/// Reads the tokens of the agents.
fn tokens(path: &Path) -> Result<AgentTokens, Vec<Diagnostic>> {
    let invalid = |why: &dyn std::fmt::Display| {
        let message = format!("invalid token file `{}`: {why}", path.display());
        let help =
            "write a line `AGENT TOKEN` for each agent, with tokens such as the output of `openssl rand -hex 32`";
        vec![Diagnostic::new(HubCode::TokenFile, message).help(help)]
    };
    let text = fs::read_to_string(path).map_err(|error| invalid(&error))?;
    if is_readable_by_others(path) {
        let message = format!("invalid token file `{}`: other users can read or change it", path.display());
        return Err(vec![Diagnostic::new(HubCode::TokenFile, message).help("run `chmod 600` on it")]);
    }
    AgentTokens::parse(&text).map_err(|error| invalid(&error))
}

/// Returns whether users other than the owner have access to a file, which `ssh` refuses for keys too.
#[cfg(unix)]
fn is_readable_by_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    // A pipe, as of `<(...)`, belongs to its shell alone.
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_readable_by_others(_path: &Path) -> bool {
    false
}

fn store(written: &str) -> Result<StoreLocation, String> {
    match written.split_once(':') {
        None if written == "memory" => Ok(StoreLocation::Memory),
        Some(("sqlite", file)) if !file.is_empty() => Ok(StoreLocation::Sqlite(file.into())),
        _ => Err("use `memory` or `sqlite:FILE`".to_owned()),
    }
}
