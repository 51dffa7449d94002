//! Serves a script to other agents.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use a2a::Version;
use stdlib::{Agent, Diagnostic};

use super::A2aCode;
use super::card::{AgentCard, CardUrl, about};
use super::http::{A2aHttp, A2aService};
use super::rpc::{FrameCache, StreamContext};
use super::tasks::{self, TaskManager};
use crate::count_limit::CountLimit;
use crate::drain::{StopSignal, drain};
use crate::host::{Mode, Served};
use crate::http::{
    HttpPort, HttpServer, ListenError, ListenerNames, RequestGuard, ServerTls, Token, is_local, name_of,
};
use crate::spawn::on_this_thread;

/// The names that configure the address and the token.
pub const NAMES: ListenerNames = ListenerNames { option: "--listen", token: "HARN_A2A_TOKEN", port: 41_241 };

/// The settings of a server.
#[derive(Debug, Clone)]
pub struct A2aSettings {
    /// The address to listen on; port 0 selects a free one.
    pub listen: SocketAddr,
    /// The token that callers must send; without one, only a loopback address is allowed.
    pub token: Option<Token>,
    /// The certificate; without one, connections are not encrypted.
    pub tls: Option<ServerTls>,
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
/// two seconds, and their streams are notified. Calls `ready` once the server accepts connections. Creates a runtime on
/// the current thread.
///
/// # Errors
/// The script or the address is invalid, before any connection is accepted; or the system refuses a resource.
pub fn serve<'a>(
    served: Served,
    settings: A2aSettings,
    ready: &dyn Fn(&ListenAddresses),
    stop: &'a dyn Fn() -> StopSignal<'a>,
) -> Result<i32, Vec<Diagnostic>> {
    on_this_thread(A2aCode::Internal, talk(served, settings, ready, stop))
}

async fn talk<'a>(
    served: Served,
    settings: A2aSettings,
    ready: &dyn Fn(&ListenAddresses),
    stop: &'a dyn Fn() -> StopSignal<'a>,
) -> Result<i32, Vec<Diagnostic>> {
    let is_local = is_local(&settings.listen);
    let port = HttpPort::open(settings.listen, settings.token.is_some(), settings.tls)
        .map_err(|error| vec![cannot_listen(&error)])?;
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
    let own = format!("{}/", port.url());
    let public = about.url.as_deref().and_then(host_of);
    let card = AgentCard {
        url: CardUrl::of(&about, &port),
        about,
        has_token: settings.token.is_some(),
        reminders: super::extension::capability(),
        streams: true,
        has_rest: false,
        always_rfc: settings.rfc_card,
        usual: settings.strict_card.then_some(Version::V1_0),
        since: SystemTime::now(),
    };
    let streams = StreamContext { permits: CountLimit::new(bounds.streams), written: FrameCache::default() };
    let service = A2aService { manager: manager.clone(), card, streams };
    let protocol = Arc::new(A2aHttp { service, token: settings.token, body: bounds.body });
    let guard = RequestGuard { is_local, public, origins: settings.origins };
    let server = HttpServer::new(port, bounds.connections, guard, protocol);
    ready(&ListenAddresses { card: format!("{own}.well-known/agent-card.json"), url: own });
    // While it drains, the server goes on responding: tasks can be followed and answered, and `/readyz` reports the
    // drain.
    let stopped = async {
        let code = stop().await;
        manager.begin_drain();
        drain(settings.drain, &|| manager.waits(), pin!(manager.idle())).await;
        code
    };
    let code = server.until(stopped).await;
    let ending = server.close();
    manager.stop().await;
    ending.last_answers().await;
    Ok(code)
}

/// Returns the host name in a URL.
fn host_of(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    name_of(rest.split(['/', '?', '#']).next()?)
}

/// Returns the diagnostic for an address that the server cannot listen on.
#[must_use]
pub fn cannot_listen(error: &ListenError) -> Diagnostic {
    let code = if matches!(error, ListenError::Exposed(_)) { A2aCode::Exposed } else { A2aCode::Address };
    Diagnostic::new(code, error.to_string()).help(NAMES.help(error))
}
