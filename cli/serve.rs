//! `harn serve WIRE FILE`: a script as an agent for others. `harn serve hub`: a broker between agents.

mod a2a;
mod acp;
mod channels;
mod hub;
mod mcp;
mod signals;

use crate::limits::{Limits, pack};
use crate::log::{self, LogFormat};
use crate::otel::{self, Exporting, Otel};
use crate::report::{Format, show};
use clap::builder::{PathBufValueParser, PossibleValuesParser, TypedValueParser as _};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serve::host::{HostSettings, Mode, Served};
use serve::http::ServerTls;
use std::path::PathBuf;
use std::sync::Arc;
use stdlib::output::Terminal;
use stdlib::{Agent, CodeRef, Diagnostic, PackSpec, RunOptions, read_source};
use tracing::level_filters::LevelFilter;

/// The protocol to serve, with its options.
#[derive(clap::Subcommand)]
pub(crate) enum Wire {
    /// Serve an editor with the Agent Client Protocol over standard input and output
    Acp(acp::ServeAcpArgs),
    /// Serve other agents with the Agent2Agent protocol over HTTP
    A2a(a2a::ServeA2aArgs),
    /// Serve public functions as tools, resources and prompts with the Model Context Protocol
    Mcp(mcp::ServeMcpArgs),
    /// Serve remote channels, which share the sessions of one process, over HTTP
    Channels(channels::ServeChannelsArgs),
    /// Run a hub: a broker of tasks between agents, over gRPC
    Hub(hub::ServeHubArgs),
}

/// The script that is served, on any wire.
#[derive(clap::Args)]
struct ServedScript {
    /// Script to serve
    file: PathBuf,
    /// Rhai file with reminder providers, run in a sandbox; can be repeated
    #[arg(long = "pack", visible_alias = "provider", value_name = "FILE", value_parser = PathBufValueParser::new().try_map(pack))]
    packs: Vec<PathBuf>,
    #[command(flatten)]
    limits: Limits,
    /// Number of threads that run sessions [default: one for each core, at most 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    workers: Option<u16>,
    /// Maximum number of open sessions [default: 10000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_sessions: Option<u32>,
    /// Permission mode of new sessions
    #[arg(long, value_name = "MODE", value_parser = PossibleValuesParser::new(Mode::WORDS), default_value = Mode::Ask.as_str())]
    mode: String,
    /// Format of the diagnostics on standard error
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Seconds that running work can continue after the first SIGTERM or SIGINT before it is cancelled
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(0..=86_400), default_value_t = 0)]
    drain: u64,
    /// Format of log lines on standard error; HARN_LOG filters them
    #[arg(long, value_enum, value_name = "FORM", default_value = "text")]
    log_format: LogFormat,
    #[command(flatten)]
    otel: Otel,
}

/// The certificate of a server.
#[derive(clap::Args)]
struct TlsArgs {
    /// Certificate chain in PEM, for connections with TLS
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Private key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
}

impl TlsArgs {
    /// Reads the certificate and its key. The diagnostic of invalid ones has this code.
    fn read(&self, code: impl Into<CodeRef>) -> Result<Option<ServerTls>, Vec<Diagnostic>> {
        let (Some(certificate), Some(key)) = (&self.tls_cert, &self.tls_key) else { return Ok(None) };
        let read = ServerTls::read(certificate, key);
        read.map(Some).map_err(|error| vec![Diagnostic::new(code, error.to_string())])
    }
}

impl ServedScript {
    /// Returns the setup for a host, and the project's description of the agent.
    ///
    /// # Errors
    /// A script or a project that cannot be read, and an event log that cannot be opened.
    fn served(self, protocol: &'static str, exporting: Option<&Exporting>) -> Result<(Served, Agent), Vec<Diagnostic>> {
        let source = read_source(&self.file).map_err(|diagnostic| vec![diagnostic])?;
        let (mut setup, log) = self.limits.read(&self.file, &Terminal, self.format)?;
        setup.project.packs.extend(self.packs.into_iter().map(PackSpec::plain));
        let usual = HostSettings::default();
        let settings = HostSettings {
            workers: self.workers.map_or(usual.workers, usize::from),
            sessions: self.max_sessions.map_or(usual.sessions, |most| most as usize),
            retention: log.retention,
            ..usual
        };
        let agent = setup.project.agent.clone();
        let taps = exporting.map(Exporting::taps);
        let activity = (setup.activity || taps.is_some()).then(otel::activity);
        let run = Arc::new(move || RunOptions { activity, ..setup.options() });
        let metrics = Arc::default();
        Ok((Served { source, log: log.open_file()?, run, protocol, settings, metrics, taps }, agent))
    }
}

pub(crate) fn run(mut wire: Wire) -> i32 {
    let log_format = match &wire {
        Wire::Acp(args) => args.script.log_format,
        Wire::A2a(args) => args.script.log_format,
        Wire::Mcp(args) => args.script.log_format,
        Wire::Channels(args) => args.script.log_format,
        Wire::Hub(args) => args.log_format,
    };
    let _log = match log::start(Some(log_format), Some(LevelFilter::INFO)) {
        Ok(guard) => guard,
        Err(why) => return log::refuse(&why),
    };
    let (format, otel) = match &mut wire {
        Wire::Acp(args) => (args.script.format, std::mem::take(&mut args.script.otel)),
        Wire::A2a(args) => (args.script.format, std::mem::take(&mut args.script.otel)),
        Wire::Mcp(args) => (args.script.format, std::mem::take(&mut args.script.otel)),
        Wire::Channels(args) => (args.script.format, std::mem::take(&mut args.script.otel)),
        Wire::Hub(args) => (args.format, Otel::default()),
    };
    let exporting = match otel.start() {
        Ok(exporting) => exporting,
        Err(error) => return otel::refuse(&error),
    };
    let ended = match wire {
        Wire::Acp(args) => acp::serve(args, exporting.as_ref()),
        Wire::A2a(args) => a2a::serve(args, exporting.as_ref()),
        Wire::Mcp(args) => mcp::serve(args, exporting.as_ref()),
        Wire::Channels(args) => channels::serve(args, exporting.as_ref()),
        Wire::Hub(args) => hub::serve(args),
    };
    if let Some(exporting) = exporting {
        exporting.end();
    }
    ended.unwrap_or_else(|found| {
        show(&Terminal, &found, format);
        1
    })
}

/// The limit of open files. Programs that tools start inherit it, and some of them close every
/// number below it.
const FILES: u64 = 65_536;

/// Each session may hold a connection of its own, and the usual limit is a thousand. Where the system refuses more, as many
/// sessions work as there are connections.
fn raise_limit_of_files() {
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, soft.max(hard.min(FILES)), hard);
    }
}
