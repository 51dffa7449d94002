//! Serves the public functions of a script.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use base::data::Data;
use stdlib::{Agent, Diagnostic};

use super::calls::Calls;
use super::catalog::Catalog;
use super::codes::McpServerCode;
use super::http::McpHttp;
use super::peer::McpPeer;
use super::server::McpServer;
use super::stdio;
use super::suspended::SuspendedCalls;
use super::tasks::McpTasks;
use crate::a2a::card::about;
use crate::acp::{LineStreams, TransportLimits};
use crate::count_limit::CountLimit;
use crate::drain::{PendingWork, StopSignal, drain};
use crate::host::{Host, Mode, Served};
use crate::http::{HttpPort, HttpServer, ListenError, ListenerNames, RequestGuard, ServerTls, Token, is_local};
use crate::spawn::on_this_thread;

/// The names that configure the address and the token.
pub const NAMES: ListenerNames = ListenerNames { option: "--http", token: "HARN_MCP_TOKEN", port: 41_242 };

/// The settings of a server, on both transports.
#[derive(Debug, Clone)]
pub struct McpSettings {
    /// The mode of calls; the default is `ask`, in which tools that need a permission are refused.
    pub mode: Option<Arc<str>>,
    /// The description of the project.
    pub agent: Agent,
    /// The time for which calls may continue after shutdown begins.
    pub drain: Duration,
    /// The time after which a call becomes a task, for clients that take tasks.
    pub task_after: Duration,
    /// The limits.
    pub bounds: McpLimits,
}

/// The limits of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct McpLimits {
    /// The maximum size of a message in bytes.
    pub body: usize,
    /// The maximum number of connections over HTTP.
    pub connections: u32,
    /// The maximum number of running calls.
    pub calls: u32,
    /// The maximum number of sessions over HTTP.
    pub sessions: usize,
    /// The maximum number of sessions over HTTP of one IP address; by default half of all.
    pub peer_sessions: Option<usize>,
    /// The time after which a session over HTTP without requests ends.
    pub session_idle: Duration,
    /// The maximum number of tasks that are kept.
    pub tasks: usize,
}

impl Default for McpLimits {
    fn default() -> McpLimits {
        McpLimits {
            body: 4 * 1024 * 1024,
            connections: 1024,
            calls: 256,
            sessions: 10_000,
            peer_sessions: None,
            session_idle: Duration::from_secs(30 * 60),
            tasks: 1000,
        }
    }
}

/// The address of a server over HTTP.
#[derive(Debug, Clone)]
pub struct McpListen {
    /// The address to listen on; port 0 selects a free one.
    pub address: SocketAddr,
    /// The token that callers must send; without one, only a loopback address is allowed.
    pub token: Option<Token>,
    /// The certificate; without one, connections are not encrypted.
    pub tls: Option<ServerTls>,
    /// Allowed origins of web pages, such as `https://example.com`; `*` allows all.
    pub origins: Vec<String>,
}

fn start(served: Served, settings: &McpSettings, is_public: bool) -> Result<Arc<McpServer>, Vec<Diagnostic>> {
    let entries = stdlib::check_entries(&served.source, (served.run)())?;
    let catalog = Catalog::new(entries)?;
    let about = about::complete(&settings.agent, served.source.name(), served.source.text());
    let described = settings.agent.description.is_some() || about::has_comment(served.source.text());
    let peer = Arc::new(McpPeer::new());
    let host = Host::start(served, peer.clone())?;
    let mode = settings.mode.clone().unwrap_or_else(|| Mode::Ask.as_str().into());
    let info = Data::dict([
        ("name", Data::from(about.name.unwrap_or_else(|| "harn".to_owned()))),
        ("version", about.version.unwrap_or_else(|| env!("CARGO_PKG_VERSION").to_owned()).into()),
    ]);
    Ok(Arc::new(McpServer {
        calls: Calls { host, peer, mode, limit: CountLimit::new(settings.bounds.calls) },
        catalog,
        tasks: McpTasks::new(settings.bounds.tasks),
        suspended: SuspendedCalls::new(settings.bounds.calls as usize / 2),
        info,
        instructions: about.description.filter(|_| described).map(Into::into),
        task_after: settings.task_after,
        is_public,
    }))
}

/// Waits for the signal to stop, and then for running calls.
async fn drained(server: &McpServer, stop: StopSignal<'_>, grace: Duration) -> i32 {
    let code = stop.await;
    let host = &server.calls.host;
    host.begin_drain();
    let calls = || server.calls.limit.taken();
    let waits = || PendingWork { tasks: calls(), ..host.waits() };
    let idle = async {
        // A call is counted before it has a session.
        server.calls.limit.all_free().await;
        host.idle().await;
    };
    drain(grace, &waits, pin!(idle)).await;
    code
}

/// Serves one client over lines until it closes its end, and returns 0, or until `stop` is ready, and returns its result.
/// Creates a runtime on the current thread.
///
/// # Errors
/// The script is invalid or has no public functions, before anything is read; or the system refuses a resource.
pub fn serve_stdio<'a>(
    served: Served,
    streams: LineStreams,
    settings: &McpSettings,
    stop: &'a dyn Fn() -> StopSignal<'a>,
) -> Result<i32, Vec<Diagnostic>> {
    on_this_thread(McpServerCode::Internal, async {
        let server = start(served, settings, false)?;
        let limits = TransportLimits { line: settings.bounds.body, ..TransportLimits::default() };
        let code = tokio::select! {
            biased;
            code = drained(&server, stop(), settings.drain) => code,
            () = stdio::carry(server.clone(), streams, limits) => 0,
        };
        server.calls.host.stop().await;
        Ok(code)
    })
}

/// Serves clients over HTTP until `stop` is ready, and returns its result. Calls `ready` with the URL once the server
/// accepts connections. Creates a runtime on the current thread.
///
/// # Errors
/// The script or the address is invalid, before any connection is accepted; or the system refuses a resource.
pub fn serve_http<'a>(
    served: Served,
    listen: McpListen,
    settings: &McpSettings,
    ready: &dyn Fn(&str),
    stop: &'a dyn Fn() -> StopSignal<'a>,
) -> Result<i32, Vec<Diagnostic>> {
    on_this_thread(McpServerCode::Internal, async {
        let McpListen { address, token, tls, origins } = listen;
        let port = HttpPort::open(address, token.is_some(), tls).map_err(|error| vec![cannot_listen(&error)])?;
        let server = start(served, settings, token.is_none())?;
        let guard = RequestGuard { is_local: is_local(&address), public: None, origins };
        let protocol = Arc::new(McpHttp::new(server.clone(), token, settings.bounds));
        let url = format!("{}/mcp", port.url());
        let http = HttpServer::new(port, settings.bounds.connections, guard, protocol.clone());
        ready(&url);
        let code = tokio::select! {
            biased;
            code = drained(&server, stop(), settings.drain) => code,
            never = protocol.end_idle_sessions() => match never {},
            never = http.forever() => match never {},
        };
        let ending = http.close();
        server.calls.host.stop().await;
        ending.last_answers().await;
        Ok(code)
    })
}

/// Returns the diagnostic for an address that the server cannot listen on.
#[must_use]
pub fn cannot_listen(error: &ListenError) -> Diagnostic {
    let code = if matches!(error, ListenError::Exposed(_)) { McpServerCode::Exposed } else { McpServerCode::Address };
    Diagnostic::new(code, error.to_string()).help(NAMES.help(error))
}
