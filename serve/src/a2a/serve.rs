//! Serves a script to other agents.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use a2a::Version;
use stdlib::{Agent, Diagnostic};
use tokio::net::{TcpListener, TcpSocket};

use super::A2aCode;
use super::address::is_local;
use super::card::{AgentCard, CardUrl, about};
use super::count_limit::CountLimit;
use super::http::{A2aState, HttpListener, RequestGuard, RequestService, name_of};
use super::rpc::{FrameCache, StreamContext};
use super::tasks::{self, TaskManager};
use super::token::Token;
use crate::drain::drain;
use crate::host::{Mode, Served};

/// The timeout for writing the last responses after all tasks are over.
const LAST_ANSWERS: Duration = Duration::from_millis(500);

/// The settings of a server.
#[derive(Debug, Clone)]
pub struct A2aSettings {
    /// The address to listen on; port 0 selects a free one.
    pub listen: SocketAddr,
    /// The token that callers must send; without one, only a loopback address is allowed.
    pub token: Option<Token>,
    /// The limits.
    pub bounds: A2aLimits,
    /// The mode of sessions; the default is `ask`.
    pub mode: Option<Arc<str>>,
    /// The agent's description for the card.
    pub agent: Agent,
    /// Allowed origins of web pages, such as `https://example.com`; `*` allows all.
    pub origins: Vec<String>,
    /// Whether the card declares reminders also in the place that only their draft defines.
    pub rfc_card: bool,
    /// Whether clients that name no version get a card of version 1.0 only.
    pub strict_card: bool,
    /// The time for which tasks may continue after shutdown begins.
    pub drain: Duration,
}

/// The limits of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct A2aLimits {
    /// The maximum size of a request body in bytes.
    pub body: usize,
    /// The maximum number of connections.
    pub connections: u32,
    /// The maximum number of streams.
    pub streams: u32,
    /// The maximum number of tasks that are not over.
    pub tasks: usize,
    /// The maximum number of ended tasks in memory.
    pub finished: usize,
}

impl Default for A2aLimits {
    fn default() -> A2aLimits {
        A2aLimits { body: 1024 * 1024, connections: 4096, streams: 2048, tasks: 1000, finished: 1000 }
    }
}

/// The addresses of a running server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListenAddresses {
    /// The URL for requests.
    pub url: String,
    /// The URL of the card.
    pub card: String,
}

/// Serves a script until `stop` is ready, and returns its result. Open tasks are then cancelled with a grace period of
/// two seconds, and their streams are notified. Calls `told` once the server accepts connections. Creates a runtime on
/// the current thread.
///
/// # Errors
/// The script or the address is invalid, before any connection is accepted; or the system refuses a resource.
pub fn serve<S: Future<Output = i32>>(
    served: Served,
    settings: A2aSettings,
    told: impl FnOnce(&ListenAddresses),
    stop: impl FnOnce() -> S,
) -> Result<i32, Vec<Diagnostic>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| {
        vec![Diagnostic::new(A2aCode::Internal, format!("could not start the async runtime: {error}"))]
    })?;
    let ended = runtime.block_on(async { talk(served, settings, told, stop()).await });
    // Do not wait for connections whose clients do not read.
    runtime.shutdown_background();
    ended
}

async fn talk(
    served: Served,
    settings: A2aSettings,
    told: impl FnOnce(&ListenAddresses),
    stop: impl Future<Output = i32>,
) -> Result<i32, Vec<Diagnostic>> {
    let is_local = is_local(&settings.listen);
    if !is_local && settings.token.is_none() {
        return Err(vec![without_token(&settings.listen, "HARN_A2A_TOKEN")]);
    }
    let listener = listen(settings.listen).map_err(|error| not_free(&settings.listen, &error))?;
    let address = listener.local_addr().map_err(|error| not_free(&settings.listen, &error))?;
    let about = about::complete(&settings.agent, served.source.name(), served.source.text());
    let bounds = settings.bounds;
    let mode = settings.mode.unwrap_or_else(|| Mode::Ask.as_str().into());
    let agent_id = about.name.as_deref().unwrap_or("agent").into();
    let input_modes = tasks::InputModes::of(&about);
    let (open, finished) = (bounds.tasks, bounds.finished);
    let manager = tasks::TaskSettings {
        open,
        finished,
        mode,
        agent_id,
        input_modes,
        replies: about.replies,
        ..Default::default()
    };
    let manager = TaskManager::open(served, manager)?;
    let own = format!("http://{address}/");
    let url = match &about.url {
        Some(url) => CardUrl::Fixed(url.clone()),
        None if address.ip().is_unspecified() => CardUrl::Asked(own.clone()),
        None => CardUrl::Fixed(own.clone()),
    };
    let public = about.url.as_deref().and_then(host_of);
    let state = A2aState {
        manager: manager.clone(),
        card: AgentCard {
            about,
            url,
            has_token: settings.token.is_some(),
            reminders: super::extension::capability(),
            always_rfc: settings.rfc_card,
            usual: settings.strict_card.then_some(Version::V1_0),
            since: SystemTime::now(),
        },
        guard: RequestGuard { is_local, public, origins: settings.origins },
        token: settings.token,
        body: bounds.body,
        streams: StreamContext { permits: CountLimit::new(bounds.streams), written: FrameCache::default() },
    };
    let listener = HttpListener::new(listener, bounds.connections);
    let answerer = RequestService::new(state);
    told(&ListenAddresses { card: format!("{own}.well-known/agent-card.json"), url: own });
    // While it drains, the server goes on responding: tasks can be followed and answered, and `/readyz` reports the
    // drain.
    let stopped = async {
        let code = stop.await;
        manager.begin_drain();
        drain(settings.drain, || manager.waits(), manager.idle()).await;
        code
    };
    let answer = move |request| answerer.clone().answer(request);
    let code = tokio::select! {
        biased;
        code = stopped => code,
        never = listener.take_all(answer) => match never {},
    };
    let ending = listener.close();
    manager.stop().await;
    let _ = tokio::time::timeout(LAST_ANSWERS, ending.all_written()).await;
    Ok(code)
}

/// The size of the system's send buffer for each connection in bytes; the system doubles it for its own use.
const UNREAD: u32 = 128 * 1024;

/// The size of the data that the system buffers but has not begun to send, in bytes. It limits the cost of a client
/// that does not read, beside the client's own receive buffer. It does not slow clients that read, even with a high
/// latency.
#[cfg(target_os = "linux")]
const UNSENT: u32 = 16 * 1024;

/// The maximum number of connections that wait to be accepted.
const WAITING: u32 = 1024;

/// Listens at an address. Connections inherit the socket options.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // Without this, the address cannot be reused for a minute after a shutdown.
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(UNREAD)?;
    #[cfg(target_os = "linux")]
    // If the system lacks this option, clients that do not read cost more memory, and all are still served.
    let _ = socket2::SockRef::from(&socket).set_tcp_notsent_lowat(UNSENT);
    socket.bind(address)?;
    socket.listen(WAITING)
}

/// Returns the host name in a URL.
fn host_of(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    name_of(rest.split(['/', '?', '#']).next()?)
}

pub(crate) fn without_token(address: &SocketAddr, variable: &str) -> Diagnostic {
    Diagnostic::new(A2aCode::Exposed, format!("`{address}` can be reached from other machines, but no token is set"))
        .help(format!(
            "set {variable} to a value that is hard to guess, or listen on 127.0.0.1, which only this machine can reach"
        ))
}

pub(crate) fn not_free(address: &SocketAddr, error: &io::Error) -> Vec<Diagnostic> {
    let help = match error.kind() {
        io::ErrorKind::AddrInUse => "another process uses this address; `--listen 127.0.0.1:0` selects a free port",
        io::ErrorKind::AddrNotAvailable => "this machine does not have such an address",
        io::ErrorKind::PermissionDenied => "ports below 1024 need special permissions; use a higher port",
        _ => "use another address",
    };
    vec![Diagnostic::new(A2aCode::Address, format!("cannot listen on `{address}`: {error}")).help(help)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn little_is_taken_of_what_a_client_does_not_read() {
        let listener = listen("127.0.0.1:0".parse().unwrap()).unwrap();
        let silent = TcpSocket::new_v4().unwrap();
        silent.set_recv_buffer_size(4096).unwrap();
        let silent = silent.connect(listener.local_addr().unwrap()).await.unwrap();
        let (ours, _) = listener.accept().await.unwrap();
        ours.writable().await.unwrap();
        let piece = [0; 4096];
        let taken: usize = std::iter::from_fn(|| ours.try_write(&piece).ok()).sum();
        // Without the limit it is the whole buffer, which is twice the configured size.
        assert!((1..UNREAD as usize).contains(&taken), "{taken} bytes");
        drop(silent);
    }
}
