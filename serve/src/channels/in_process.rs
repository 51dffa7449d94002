//! The transport `in_process`: channels of scripts to the daemon that serves them.
//!
//! A script gets a channel of its own, which reaches the sessions of its session's account and can see, prompt and
//! inject; or it uses an enrolled channel by its secret. A channel of its own can neither answer permission questions nor
//! administer sessions: the person who runs the daemon grants that by an enrolment.
//!
//! Everything runs on the runtime of the daemon, and what a script waits for is only sent to its thread: what it has
//! begun continues after the script has ended.

use std::sync::{Arc, OnceLock, Weak};

use base::data::Data;
use sha2::{Digest, Sha256};
use stdlib::{ChannelEvents, ChannelHost, ChannelRefusal, ChannelReply, ChannelRequest, OpenChannel};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};

use super::connection::ChannelConnection;
use super::daemon::ChannelDaemon;
use super::enrolment::is_name;
use super::event_connection::{EventConnection, NextEvents};
use super::{
    Action, ActionError, ActionKind, AuthenticationError, Caller, ChannelScope, ChannelScopes, ChannelTransport,
    DisconnectReason, PeerRole,
};
use crate::count_limit::{CountLimit, CountPermit};
use crate::gateway::ChannelFrame;
use crate::host::HostError;
use crate::spawn::{spawn, spawn_on};

/// The beginning of the ids of channels that scripts have as their own. The ids of enrolled ones begin otherwise.
const OWN: &str = "script-";

/// The name of a script's own channel by default.
const NAME: &str = "script";

/// The scopes that a script's own channel can have.
const OWN_SCOPES: [ChannelScope; 3] = [ChannelScope::View, ChannelScope::Prompt, ChannelScope::Inject];

/// The number of events that wait for a script outside of the window of its session.
const BUFFER: usize = 16;

/// Returns whether an id is that of a script's own channel.
pub(super) fn is_own(channel_id: &str) -> bool {
    channel_id.starts_with(OWN)
}

/// The daemon, as scripts see it.
pub(super) struct InProcessChannels {
    runtime: Handle,
    daemon: OnceLock<Weak<ChannelDaemon>>,
    /// The limit of open channels and of their streams.
    connections: CountLimit,
}

/// The daemon and its runtime, for requests of scripts.
#[derive(Clone)]
struct DaemonHandle {
    runtime: Handle,
    daemon: Weak<ChannelDaemon>,
    connections: CountLimit,
}

/// An open channel of a script.
struct InProcessChannel {
    handle: DaemonHandle,
    channel: Arc<Caller>,
    /// Whether the script has closed it.
    closing: watch::Sender<bool>,
}

impl InProcessChannels {
    /// Creates the daemon's side, which belongs to the current runtime.
    pub(super) fn new(connections: u32) -> Arc<InProcessChannels> {
        let connections = CountLimit::new(connections);
        Arc::new(InProcessChannels { runtime: Handle::current(), daemon: OnceLock::new(), connections })
    }

    /// Sets the daemon, before any session is opened.
    pub(super) fn attach(&self, daemon: &Arc<ChannelDaemon>) {
        // It is set once.
        let _ = self.daemon.set(Arc::downgrade(daemon));
    }
}

impl ChannelHost for InProcessChannels {
    fn open(&self, request: ChannelRequest) -> ChannelReply<Arc<dyn OpenChannel>> {
        let daemon = self.daemon.get().cloned().unwrap_or_default();
        let handle = DaemonHandle { runtime: self.runtime.clone(), daemon, connections: self.connections.clone() };
        handle.clone().run(async move |daemon| {
            let channel = channel_of(&daemon, &request).await?;
            let permit = handle.permit(&daemon, &channel)?;
            let closing = watch::Sender::new(false);
            let mut connection =
                ChannelConnection::begin(&daemon, &channel, None, ChannelTransport::InProcess, None, None);
            let mut closed = closing.subscribe();
            spawn(async move {
                tokio::select! {
                    _ = connection.closed() => {}
                    // An error means that the script no longer holds the channel.
                    _ = closed.wait_for(|is_closed| *is_closed) => {}
                }
                drop(connection);
                drop(permit);
            });
            let opened: Arc<dyn OpenChannel> = Arc::new(InProcessChannel { handle, channel, closing });
            Ok(opened)
        })
    }
}

impl DaemonHandle {
    /// Runs work on the runtime of the daemon.
    fn run<T, F>(self, work: impl FnOnce(Arc<ChannelDaemon>) -> F) -> ChannelReply<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, ChannelRefusal>> + Send + 'static,
    {
        let stopping = || of_error(&HostError::Stopping.into());
        let Some(daemon) = self.daemon.upgrade() else { return Box::pin(std::future::ready(Err(stopping()))) };
        let running = spawn_on(&self.runtime, work(daemon));
        Box::pin(async move { running.await.unwrap_or_else(|_| Err(stopping())) })
    }

    /// Takes a permit for a connection.
    fn permit(&self, daemon: &ChannelDaemon, channel: &Arc<Caller>) -> Result<CountPermit, ChannelRefusal> {
        self.connections.take().ok_or_else(|| {
            let error = ActionError::TooManyConnections(self.connections.most());
            daemon.gateway.refuse(channel, None, None, &error);
            of_error(&error)
        })
    }
}

impl InProcessChannel {
    /// Runs a request of the channel, if it is still valid.
    fn request<T, F>(&self, work: impl FnOnce(Arc<ChannelDaemon>, Arc<Caller>) -> F + Send + 'static) -> ChannelReply<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, ChannelRefusal>> + Send + 'static,
    {
        let channel = self.channel.clone();
        let is_closed = *self.closing.borrow();
        self.handle.clone().run(async move |daemon| {
            if is_closed {
                let error = ActionError::Disconnected;
                daemon.gateway.refuse(&channel, None, None, &error);
                return Err(of_error(&error));
            }
            if !is_own(&channel.id) {
                daemon.core().check(&channel.id).map_err(|error| {
                    daemon.core().refuse_caller(error.reason());
                    unauthenticated(error)
                })?;
            }
            daemon.seen(&channel, ChannelTransport::InProcess);
            if !daemon.core().presence.may_request(&channel) {
                let error = ActionError::RateLimited;
                daemon.gateway.refuse(&channel, None, None, &error);
                return Err(of_error(&error));
            }
            work(daemon, channel).await
        })
    }
}

impl OpenChannel for InProcessChannel {
    fn identity(&self) -> Data {
        let Caller { id, name, role, account, scopes, .. } = &*self.channel;
        Data::dict([
            ("id", Data::from(id)),
            ("name", name.into()),
            ("role", role.as_str().into()),
            ("scopes", scopes.to_data()),
            ("account", account.into()),
            ("transport", ChannelTransport::InProcess.as_str().into()),
        ])
    }

    fn act(&self, action: Data) -> ChannelReply<Data> {
        self.request(async move |daemon, channel| {
            let action = read_action(&daemon, &action, &channel.id).map_err(|error| {
                daemon.gateway.refuse(&channel, None, None, &error);
                of_error(&error)
            })?;
            let action_id = action.action_id.clone();
            let receipt = daemon.gateway.submit(&channel, action).await.map_err(|error| of_error(&error))?;
            match receipt.outcome.refused_for() {
                // Also one that was refused when it was executed first.
                Some(reason) => Err(of_outcome(reason, &receipt.outcome.result)),
                None => Ok(receipt.to_data(&action_id)),
            }
        })
    }

    fn events(&self, session_id: Arc<str>, after: Option<u64>) -> ChannelReply<ChannelEvents> {
        let (handle, closed) = (self.handle.clone(), self.closing.subscribe());
        self.request(async move |daemon, channel| {
            let permit = handle.permit(&daemon, &channel)?;
            let connected = daemon.connect(&channel, &session_id, ChannelTransport::InProcess, after).await;
            let events = connected.map_err(|error| {
                daemon.gateway.refuse(&channel, None, Some(&session_id), &error);
                of_error(&error)
            })?;
            let (to, receiver) = mpsc::channel(BUFFER);
            spawn(async move {
                send_until_closed(&daemon, events, &to, closed).await;
                drop(permit);
            });
            Ok(receiver)
        })
    }

    fn sessions(&self, cursor: Option<Arc<str>>) -> ChannelReply<Data> {
        self.request(async move |daemon, channel| {
            daemon.sessions(&channel, cursor.as_deref()).await.map_err(|error| {
                daemon.gateway.refuse(&channel, None, None, &error);
                of_error(&error)
            })
        })
    }

    fn close(&self) {
        self.closing.send_replace(true);
    }
}

/// Sends the events of a connection until it ends, or the script closes its channel or its stream.
async fn send_until_closed(
    daemon: &Arc<ChannelDaemon>,
    mut events: EventConnection,
    to: &mpsc::Sender<Arc<str>>,
    mut closed: watch::Receiver<bool>,
) {
    let last = tokio::select! {
        biased;
        () = to.closed() => return,
        // An error cannot occur while the stream holds the channel.
        _ = closed.wait_for(|is_closed| *is_closed) => return,
        last = send(daemon, &mut events, to) => last,
    };
    // The connection ends now, also if the script reads its last event later.
    drop(events);
    if let Some(last) = last {
        // The script may not read any more.
        let _ = to.send(json_of(&last)).await;
    }
}

/// Sends the events of a connection, and returns the last one.
async fn send(
    daemon: &Arc<ChannelDaemon>,
    events: &mut EventConnection,
    to: &mpsc::Sender<Arc<str>>,
) -> Option<Arc<ChannelFrame>> {
    let lag = events.lag();
    loop {
        let frames = match events.next().await? {
            NextEvents::Frames(frames) => frames,
            NextEvents::Last(frame) => return Some(frame),
            NextEvents::Pulse => {
                daemon.seen(&events.connection.channel, ChannelTransport::InProcess);
                continue;
            }
        };
        for frame in frames {
            let place = tokio::select! {
                biased;
                place = to.reserve() => place.ok()?,
                reason = events.connection.closed() => return Some(events.end(reason)),
                () = lag.lagged() => return Some(events.end(DisconnectReason::Slow)),
            };
            place.send(json_of(&frame));
            events.connection.cursor = frame.cursor.or(events.connection.cursor);
        }
    }
}

fn json_of(event: &ChannelFrame) -> Arc<str> {
    crate::gateway::frame::json_of(&event.sse).into()
}

/// Reads an action. One without an id gets a fresh one.
fn read_action(daemon: &ChannelDaemon, action: &Data, channel_id: &str) -> Result<Action, ActionError> {
    let most = daemon.limits.body;
    if action.to_json().len() > most {
        return Err(ActionError::invalid("params", format!("the action is larger than the limit of {most} bytes")));
    }
    let kind = action.get("kind").as_str().and_then(|kind| kind.parse::<ActionKind>().ok());
    if action.get("actionId").is_nil() && kind.is_some_and(ActionKind::is_recorded) {
        let id = uuid::Uuid::new_v4().to_string();
        return Action::from_data(&action.clone().with("actionId", id.into()), channel_id);
    }
    Action::from_data(action, channel_id)
}

/// Returns the channel that a script asks for.
async fn channel_of(daemon: &Arc<ChannelDaemon>, request: &ChannelRequest) -> Result<Arc<Caller>, ChannelRefusal> {
    let core = daemon.core();
    if let Some(secret) = &request.secret {
        return core.authenticate(secret).await.map_err(|error| {
            core.refuse_caller(error.reason());
            unauthenticated(error)
        });
    }
    // A session without an owner has no channels: they would have no account.
    let owner = core.gateway.accounts.of(&request.session_id);
    let owner = owner.ok_or_else(|| HostError::UnknownSession(request.session_id.clone()).into());
    let channel = owner.and_then(|account| own_channel(request, account)).map_err(|error| {
        core.refuse_caller(error.reason());
        of_error(&error)
    })?;
    Ok(Arc::new(channel))
}

/// Returns the own channel of a script. Its id is the same after a restart, so that an action is executed once.
fn own_channel(request: &ChannelRequest, account: Arc<str>) -> Result<Caller, ActionError> {
    let name = request.name.clone().unwrap_or_else(|| NAME.into());
    if !is_name(&name) {
        let message = "`name` must have 1 to 64 letters, digits, `-`, `_` and `.`";
        return Err(ActionError::invalid("name", message));
    }
    let role = match &request.role {
        None => PeerRole::Client,
        Some(word) => word.parse().map_err(|unknown: base::words::UnknownWord| {
            ActionError::invalid("role", format!("unknown role; use one of {}", unknown.expected))
        })?,
    };
    let asked: ChannelScopes = match &request.scopes[..] {
        [] => [ChannelScope::View].into_iter().collect(),
        words => ChannelScopes::parse(&words.join(",")).map_err(|unknown| {
            ActionError::invalid("can", format!("unknown scope; use one of {}", unknown.expected))
        })?,
    };
    if let Some(scope) = ChannelScope::ALL.iter().find(|scope| asked.has(**scope) && !OWN_SCOPES.contains(scope)) {
        return Err(ActionError::NotOwnScope(*scope));
    }
    let digest = Sha256::digest(format!("{}\n{name}", request.session_id).as_bytes());
    let id: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    let id: Arc<str> = format!("{OWN}{id}").into();
    // It has no secret, and is not in the registry.
    Ok(Caller { id, name, role, account, scopes: asked, expires_at_ms: u64::MAX })
}

fn of_error(error: &ActionError) -> ChannelRefusal {
    let field = match error {
        ActionError::Invalid { field, .. } if !field.is_empty() => Some(field.clone()),
        _ => None,
    };
    ChannelRefusal { reason: error.reason().into(), message: error.to_string(), field, is_authentication: false }
}

/// Returns the refusal of an action that was recorded before its session refused it.
fn of_outcome(reason: &str, result: &Data) -> ChannelRefusal {
    let message = result.get("message").as_str().unwrap_or_default().to_owned();
    let field = result.get("field").as_str().map(ToOwned::to_owned);
    ChannelRefusal { reason: reason.into(), message, field, is_authentication: false }
}

fn unauthenticated(error: AuthenticationError) -> ChannelRefusal {
    ChannelRefusal { reason: error.reason().into(), message: error.to_string(), field: None, is_authentication: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(name: &str, scopes: &[&str]) -> ChannelRequest {
        ChannelRequest {
            session_id: "s".into(),
            secret: None,
            name: Some(name.into()),
            role: None,
            scopes: scopes.iter().map(|scope| (*scope).into()).collect(),
        }
    }

    #[test]
    fn an_own_channel_keeps_its_id_and_gets_no_scope_that_a_person_must_grant() {
        let own = |name: &str, scopes: &[&str]| own_channel(&request(name, scopes), "local".into());
        let channel = own("a", &[]).unwrap();
        assert!(is_own(&channel.id) && channel.scopes == ChannelScopes::parse("view").unwrap());
        assert_eq!(channel.id, own("a", &["view", "prompt"]).unwrap().id);
        assert_ne!(channel.id, own("b", &[]).unwrap().id);
        for scope in ["permit", "permit:session", "admin"] {
            let refused = own("a", &["view", scope]).unwrap_err();
            assert_eq!(refused, ActionError::NotOwnScope(scope.parse().unwrap()));
            assert_eq!(refused.reason(), "scope");
        }
        assert_eq!(own("a b", &[]).unwrap_err().reason(), "invalid");
        assert_eq!(own("a", &["fly"]).unwrap_err().reason(), "invalid");
    }
}
