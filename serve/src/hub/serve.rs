//! Serves a hub.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use eventlog::SqliteOptions;
use hub::broker::BrokerOptions;
use hub::grpc::{self, Authenticate, ConnectionLimits, GrpcSettings, NoAuthentication, RequestObserver, TlsFiles};
use hub::store::SqliteStore;
use hub::{ChangeObserver, Hub};
use stdlib::Diagnostic;

use super::HubCode;
use super::health::{HealthCounts, HealthSettings, check_agents};
use super::http::HubHttp;
use super::tokens::AgentTokens;
use crate::a2a::{FrameCache, StreamContext};
use crate::count_limit::CountLimit;
use crate::drain::StopSignal;
use crate::http::{HttpPort, HttpServer, ListenError, ListenerNames, RequestGuard, ServerTls, bind, is_local};
use crate::spawn::{on_this_thread, spawn};

/// The names that configure the gRPC address.
pub const NAMES: ListenerNames = ListenerNames { option: "--listen", token: "--token-file", port: 50_051 };

/// The names that configure the HTTP address.
pub const HTTP_NAMES: ListenerNames = ListenerNames { option: "--http", token: "--token-file", port: 8_641 };

/// The timeout for answering open requests after the hub is closed.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// The storage of a hub's tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreLocation {
    /// In memory: tasks end with the process.
    Memory,
    /// In an SQLite file.
    Sqlite(PathBuf),
}

/// The settings of a hub.
pub struct HubSettings {
    /// The address of the gRPC port; port 0 selects a free one.
    pub listen: SocketAddr,
    /// The address of the HTTP port; port 0 selects a free one.
    pub http: SocketAddr,
    /// The storage of the tasks.
    pub store: StoreLocation,
    /// The tokens of the agents; without them, only loopback addresses are allowed.
    pub tokens: Option<AgentTokens>,
    /// The certificate of both ports; without one, connections are not encrypted.
    pub tls: Option<ServerTls>,
    /// Times and limits of the broker.
    pub options: BrokerOptions,
    /// The limits of the ports.
    pub limits: HubLimits,
    /// The time for which leased tasks may continue after shutdown begins.
    pub drain: Duration,
    /// The health checks of agents.
    pub health: HealthSettings,
    /// Gets what the hub does, for traces.
    pub observer: Option<HubObserver>,
}

/// Functions that get what a hub does. They must not wait.
pub struct HubObserver {
    /// Gets the changes of its state.
    pub changes: ChangeObserver,
    /// Gets the answered requests.
    pub requests: RequestObserver,
}

/// The limits of the ports of a hub.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HubLimits {
    /// The maximum size of a message in bytes.
    pub message: usize,
    /// The maximum number of connections of each port.
    pub connections: u32,
    /// The maximum number of gRPC connections of one IP address.
    pub peer_connections: u32,
    /// The maximum number of open requests of a gRPC connection, and of open streams of the HTTP port.
    pub streams: u32,
}

impl Default for HubLimits {
    fn default() -> HubLimits {
        HubLimits { message: 4 * 1024 * 1024, connections: 4096, peer_connections: 2048, streams: 1024 }
    }
}

/// The addresses of a running hub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HubAddresses {
    /// The URL of the gRPC port.
    pub grpc: String,
    /// The URL of the HTTP port.
    pub http: String,
}

/// Serves a hub until `stop` is ready, and returns its result. Calls `ready` once both ports accept connections.
/// Creates a runtime on the current thread.
///
/// # Errors
/// A setting is invalid, before any connection is accepted; or the system refuses a resource.
pub fn serve<'a>(
    settings: HubSettings,
    ready: &dyn Fn(&HubAddresses),
    stop: &'a dyn Fn() -> StopSignal<'a>,
) -> Result<i32, Vec<Diagnostic>> {
    let hub = open(&settings.store, settings.options.clone())?;
    on_this_thread(HubCode::Internal, talk(hub, settings, ready, stop))
}

fn open(location: &StoreLocation, options: BrokerOptions) -> Result<Hub, Vec<Diagnostic>> {
    let StoreLocation::Sqlite(path) = location else { return Ok(Hub::memory(options)) };
    let opened =
        SqliteStore::open(path, &SqliteOptions::default()).and_then(|store| Hub::open(Box::new(store), options));
    opened.map_err(|error| {
        let message = format!("cannot open `{}`: {error}", path.display());
        let help = "use another file, or `--store memory`";
        vec![Diagnostic::new(HubCode::Store, message).help(help)]
    })
}

async fn talk<'a>(
    hub: Hub,
    settings: HubSettings,
    ready: &dyn Fn(&HubAddresses),
    stop: &'a dyn Fn() -> StopSignal<'a>,
) -> Result<i32, Vec<Diagnostic>> {
    let HubSettings { listen, http, tokens, tls, limits, drain, observer, health, .. } = settings;
    let requests = observer.map(|observer| {
        hub.observe(observer.changes);
        observer.requests
    });
    let has_tokens = tokens.is_some();
    let (grpc_listener, grpc_address) =
        bind(listen, has_tokens).map_err(|error| vec![cannot_listen(&NAMES, &error)])?;
    let port =
        HttpPort::open(http, has_tokens, tls.clone()).map_err(|error| vec![cannot_listen(&HTTP_NAMES, &error)])?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let addresses = HubAddresses { grpc: format!("{scheme}://{grpc_address}"), http: format!("{}/", port.url()) };
    let tls = tls.map(|tls| {
        let (certificate, key) = tls.pem();
        TlsFiles { certificate: certificate.to_vec(), key: key.to_vec() }
    });
    let authenticate: Arc<dyn Authenticate> = match &tokens {
        Some(tokens) => Arc::new(tokens.clone()),
        None => Arc::new(NoAuthentication),
    };
    let grpc = GrpcSettings {
        authenticate,
        url: addresses.grpc.clone(),
        max_message: limits.message,
        connections: ConnectionLimits { all: limits.connections, peer: limits.peer_connections },
        max_streams: limits.streams,
        tls,
        observer: requests.clone(),
    };
    let is_draining = Arc::new(AtomicBool::new(false));
    let health_counts = Arc::new(HealthCounts::default());
    let protocol = Arc::new(HubHttp {
        hub: hub.clone(),
        tokens,
        url: addresses.http.clone(),
        max_body: limits.message,
        is_draining: is_draining.clone(),
        streams: StreamContext { permits: CountLimit::new(limits.streams), written: FrameCache::default() },
        observer: requests,
        health: health_counts.clone(),
    });
    let guard = RequestGuard { is_local: is_local(&http), ..RequestGuard::default() };
    let server = HttpServer::new(port, limits.connections, guard, protocol);
    let closing = tokio::sync::Notify::new();
    let served = grpc::serve(hub.clone(), grpc, grpc_listener, closing.notified());
    tokio::pin!(served);
    // The first step checks the certificate, before the addresses are reported.
    if let Poll::Ready(ended) = poll_fn(|cx| Poll::Ready(served.as_mut().poll(cx))).await {
        return Err(vec![broken(ended.err())]);
    }
    let timers = spawn(hub.drive());
    let is_local = is_local(&listen) && is_local(&http);
    let health = HealthSettings { allows_private: health.allows_private || is_local, ..health };
    let checks = spawn(check_agents(hub.clone(), health, health_counts));
    ready(&addresses);
    // While it drains, the hub goes on responding, and workers can finish the tasks that they hold.
    let stopped = async {
        let code = stop().await;
        is_draining.store(true, Ordering::Relaxed);
        hub.drain();
        let _ = tokio::time::timeout(drain, hub.drained()).await;
        code
    };
    let code = tokio::select! {
        biased;
        code = stopped => code,
        ended = &mut served => return Err(vec![broken(ended.err())]),
        never = server.forever() => match never {},
    };
    hub.close();
    closing.notify_one();
    let ending = server.close();
    let last = async {
        let _ = served.await;
        ending.all_written().await;
    };
    let _ = tokio::time::timeout(LAST_ANSWERS, last).await;
    timers.abort();
    checks.abort();
    Ok(code)
}

/// Returns the diagnostic of a gRPC server that ended by itself.
fn broken(error: Option<tonic::transport::Error>) -> Diagnostic {
    use std::error::Error as _;
    let Some(error) = error else { return Diagnostic::new(HubCode::Internal, "the gRPC server ended") };
    // The error itself only says that it is one of the transport.
    let cause = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    Diagnostic::new(HubCode::Tls, format!("cannot serve gRPC: {cause}"))
}

/// Returns the diagnostic for an address that the hub cannot listen on.
#[must_use]
pub fn cannot_listen(names: &ListenerNames, error: &ListenError) -> Diagnostic {
    match error {
        ListenError::Exposed(_) => Diagnostic::new(HubCode::Exposed, error.to_string()).help(
            "name a file with a token for each agent (`--token-file`), or listen on 127.0.0.1, which only this machine \
             can reach",
        ),
        _ => Diagnostic::new(HubCode::Address, error.to_string()).help(names.help(error)),
    }
}
