//! Serves a script to channels.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use eventlog::{LogError, Record};
use runtime::event_log::Topic;
use stdlib::{Agent, Capability, Diagnostic, from_core};

use super::core::ChannelCore;
use super::daemon::ChannelDaemon;
use super::http::ChannelHttp;
use super::in_process::{InProcessChannels, is_own};
use super::incoming_tasks::{IncomingTasks, LinkingJournal};
use super::peer::ChannelPeer;
use super::peer_agents::PeerAgents;
use super::peer_polls::poll_peers;
use super::{ChannelCode, DisconnectReason, OrphanPolicy, WindowLimits};
use crate::a2a::card::about;
use crate::a2a::store::TaskStore;
use crate::a2a::tasks::{InputModes, TaskSettings};
use crate::a2a::{A2aLimits, A2aService, CardUrl, TaskManager};
use crate::count_limit::CountLimit;
use crate::drain::{StopSignal, drain};
use crate::gateway::LogTail;
use crate::host::{Host, Mode, Served};
use crate::http::{HttpPort, HttpServer, ListenError, ListenerNames, RequestGuard, ServerTls, is_local};
use crate::spawn::{on_this_thread, spawn};
use crate::store::StoreError;

/// The names that configure the address.
pub const NAMES: ListenerNames = ListenerNames { option: "--listen", token: "", port: 41_300 };

/// The time after which an idle session is closed by default.
const SESSION_IDLE: Duration = Duration::from_secs(30 * 60);

/// The settings of a server.
#[derive(Debug, Clone)]
pub struct ChannelSettings {
    /// The address to listen on; port 0 selects a free one.
    pub listen: SocketAddr,
    /// Whether the address may be one that other machines reach although nothing is encrypted.
    pub insecure: bool,
    /// The certificate; without one, connections are not encrypted.
    pub tls: Option<ServerTls>,
    /// Allowed origins of web pages, such as `https://example.com`; `*` allows all.
    pub origins: Vec<String>,
    /// The mode of new sessions; the default is `ask`.
    pub mode: Option<Arc<str>>,
    /// The time for which turns may continue after shutdown begins.
    pub drain: Duration,
    /// The fate of a turn whose channels have left.
    pub orphan: OrphanPolicy,
    /// The limits.
    pub limits: ChannelLimits,
    /// A2A on the same port; `None` does not serve it.
    pub peer_agents: Option<PeerAgentSettings>,
}

/// The settings of A2A on the port of channels.
#[derive(Debug, Clone)]
pub struct PeerAgentSettings {
    /// The description of the agent for the card.
    pub agent: Agent,
    /// The limits of tasks and streams.
    pub limits: A2aLimits,
}

/// The limits of a server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChannelLimits {
    /// The maximum size of a body in bytes.
    pub body: usize,
    /// The maximum number of connections.
    pub connections: u32,
    /// The events that a connection may have to read.
    pub window: WindowLimits,
    /// The time within which a channel must be heard; after three of them it is stale.
    pub heartbeat: Duration,
    /// The time after which a permission question without an answer is refused.
    pub permission_timeout: Option<Duration>,
    /// The number of requests and frames of a channel in a second, after a burst.
    pub requests_per_second: u32,
    /// The number of requests and frames of a channel at once.
    pub requests_burst: u32,
    /// The time after which a session without work and without a connection is closed.
    pub session_idle: Duration,
}

impl Default for ChannelLimits {
    fn default() -> ChannelLimits {
        ChannelLimits {
            body: 1 << 20,
            connections: 4_096,
            window: WindowLimits::default(),
            heartbeat: Duration::from_millis(stdlib::ChannelsProject::HEARTBEAT_MS),
            permission_timeout: None,
            requests_per_second: 50,
            requests_burst: 200,
            session_idle: SESSION_IDLE,
        }
    }
}

/// Serves a script to channels until `stop` is ready, and returns its result. Calls `ready` with the URL once the server
/// accepts connections. Creates a runtime on the current thread: with several threads, an event reaches the last of many
/// connections later.
///
/// # Errors
/// The script, the log or the address is invalid, before any connection is accepted; or the system refuses a resource.
pub fn serve<'a>(
    served: Served,
    settings: ChannelSettings,
    ready: &dyn Fn(&str),
    stop: &'a dyn Fn() -> StopSignal<'a>,
) -> Result<i32, Vec<Diagnostic>> {
    on_this_thread(ChannelCode::Internal, run(served, settings, ready, stop))
}

async fn run<'a>(
    served: Served,
    settings: ChannelSettings,
    ready: &dyn Fn(&str),
    stop: &'a dyn Fn() -> StopSignal<'a>,
) -> Result<i32, Vec<Diagnostic>> {
    let Some(log) = served.log.clone() else {
        let message = "channels need an event log in a file, but the log is in memory";
        return Err(vec![Diagnostic::new(ChannelCode::NoLog, message).help("use `--event-log sqlite:PATH`")]);
    };
    let ChannelSettings { listen, insecure, tls, origins, mode, drain: grace, orphan, limits, peer_agents } = settings;
    // Two daemons of one log would execute an action twice.
    log.own().map_err(|error| vec![invalid_log(&error)])?;
    let port = HttpPort::open(listen, insecure || tls.is_some(), tls).map_err(|error| vec![cannot_listen(&error)])?;
    // Channels of an earlier version may have been enrolled.
    log.keep_grants().map_err(|error| vec![invalid_log(&error)])?;
    let read = ChannelCore::read(Arc::new(log), &limits, orphan).await;
    let (core, head) = read.map_err(|error| vec![invalid_log(&error)])?;
    let about = peer_agents.as_ref().map(|it| about::complete(&it.agent, served.source.name(), served.source.text()));
    let may_ask = !(served.run)().denied.contains(&Capability::Net);
    let tasks = peer_agents.is_some().then(|| IncomingTasks::new(core.clone()));
    let in_process = InProcessChannels::new(limits.connections);
    let peer = ChannelPeer { core: core.clone(), in_process: in_process.clone(), tasks: tasks.clone() };
    let host = Host::start(served, Arc::new(peer))?;
    if let Err(error) = host.end_interrupted().await {
        tracing::error!("cannot end the turns that an earlier process has left: {error}");
    }
    let tail = LogTail::start(core.gateway.clone(), observer(&core), head)
        .map_err(|error| internal("the thread that reads the log", &error))?;
    let mode = mode.unwrap_or_else(|| Mode::Ask.as_str().into());
    let daemon = ChannelDaemon::new(host.clone(), core.clone(), limits, mode.clone());
    // Before a session can be opened.
    in_process.attach(&daemon);
    let agents = match (peer_agents, about, tasks) {
        (Some(settings), Some(about), Some(tasks)) => {
            let url = CardUrl::of(&about, &port);
            let manager = task_manager(&host, &tasks, &about, &mode, settings.limits)?;
            tasks.reconcile(&manager).await;
            Some(PeerAgents::new(A2aService::shared(manager, about, url, settings.limits.streams), tasks))
        }
        _ => None,
    };
    let manager = agents.as_ref().map(|agents| agents.service.manager.clone());
    let guard = RequestGuard { is_local: is_local(&listen), public: None, origins };
    let url = port.url();
    let protocol =
        ChannelHttp { daemon: daemon.clone(), websockets: CountLimit::new(limits.connections), peer_agents: agents };
    let server = HttpServer::new(port, limits.connections, guard, Arc::new(protocol));
    daemon.gateway.recover(|id| is_own(id) || core.channel(id).is_some()).await;
    ready(&url);
    let stopped = async {
        let code = stop().await;
        match &manager {
            Some(manager) => {
                manager.begin_drain();
                drain(grace, &|| manager.waits(), pin!(manager.idle())).await;
            }
            None => {
                host.begin_drain();
                drain(grace, &|| host.waits(), pin!(host.idle())).await;
            }
        }
        code
    };
    let fan_out = core.gateway.fan_out.clone();
    let waking = spawn(async move { fan_out.wake_readers().await });
    let code = tokio::select! {
        biased;
        code = stopped => code,
        () = daemon.sweep() => 0,
        never = host.close_idle(limits.session_idle) => match never {},
        never = poll_peers(&daemon, may_ask) => match never {},
        never = server.forever() => match never {},
    };
    let ending = server.close();
    match &manager {
        Some(manager) => manager.stop().await,
        None => host.stop().await,
    }
    core.settle(true);
    core.presence.close_all(DisconnectReason::Stopping);
    ending.last_answers().await;
    waking.abort();
    drop(tail);
    Ok(code)
}

/// Returns what sees the records of channels, which change more than the gateway's state.
fn observer(core: &Arc<ChannelCore>) -> Box<dyn Fn(&Record) + Send> {
    let core = core.clone();
    Box::new(move |record| {
        if *record.topic == *Topic::Channel.as_str() {
            core.take(record);
        }
    })
}

/// Creates the manager of the tasks of peer agents. Tasks that an earlier process left run again if the script allows it.
fn task_manager(
    host: &Host,
    tasks: &Arc<IncomingTasks>,
    about: &Agent,
    mode: &Arc<str>,
    limits: A2aLimits,
) -> Result<TaskManager, Vec<Diagnostic>> {
    // Channels are served from a log in a file.
    let store = host.store().ok_or(StoreError::NotKept);
    let store = store.map_err(|error| vec![Diagnostic::new(error.code(), error.to_string()).help(error.help())])?;
    let store = TaskStore::new(store.clone());
    let settings = TaskSettings {
        open: limits.tasks,
        finished: limits.finished,
        mode: mode.clone(),
        agent_id: about.name.as_deref().unwrap_or("agent").into(),
        input_modes: InputModes::of(about),
        replies: about.replies,
        shares_sessions: true,
        ..TaskSettings::default()
    };
    let journal = Arc::new(LinkingJournal { store, tasks: tasks.clone() });
    TaskManager::on_host(host.clone(), tasks.sessions.clone(), settings, journal)
}

fn invalid_log(error: &LogError) -> Diagnostic {
    Diagnostic::new(from_core(error.code()), error.to_string()).help(error.help())
}

fn internal(what: &str, error: &std::io::Error) -> Vec<Diagnostic> {
    vec![Diagnostic::new(ChannelCode::Internal, format!("could not start {what}: {error}"))]
}

/// Returns the diagnostic for an address that the server cannot listen on.
#[must_use]
pub fn cannot_listen(error: &ListenError) -> Diagnostic {
    match error {
        ListenError::Exposed(address) => Diagnostic::new(
            ChannelCode::Exposed,
            format!("`{address}` can be reached from other machines, and nothing is encrypted"),
        )
        .help("set `--tls-cert` and `--tls-key`, listen on 127.0.0.1 behind a proxy with TLS, or pass `--insecure`"),
        error => Diagnostic::new(ChannelCode::Address, error.to_string()).help(NAMES.help(error)),
    }
}
