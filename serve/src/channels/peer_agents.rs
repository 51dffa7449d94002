//! Peer agents: A2A on the port of the daemon. A peer agent is a channel; its requests need the scopes of actions.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::http::{Response, StatusCode};
use futures_util::{StreamExt as _, stream};

use super::connection::{ChannelConnection, identity};
use super::daemon::ChannelDaemon;
use super::incoming_tasks::{IncomingTasks, PeerAgent};
use super::{ActionError, Caller, ChannelEvent, ChannelScope, ChannelTransport};
use crate::a2a::{A2aMethod, A2aService, no_scope, now_ms, read};
use crate::http::{HttpConnection, HttpRefusal, HttpRequest};

/// The protocol of peer agents.
const NATIVE: &str = "a2a";

/// The method that only reads injections.
const PENDING: &str = "tasks/pending_injections";

/// A2A on the port of the daemon.
pub(super) struct PeerAgents {
    pub(super) service: A2aService,
    pub(super) tasks: Arc<IncomingTasks>,
    /// The channels whose identity as a peer agent is on the log.
    known: Mutex<HashSet<Arc<str>>>,
}

/// Returns the scope that a method needs.
fn scope_of(method: A2aMethod) -> ChannelScope {
    match method {
        A2aMethod::Send | A2aMethod::Stream | A2aMethod::Cancel => ChannelScope::Prompt,
        A2aMethod::Reminders(name) if name != PENDING => ChannelScope::Inject,
        A2aMethod::Get
        | A2aMethod::List
        | A2aMethod::Subscribe
        | A2aMethod::Push
        | A2aMethod::ExtendedCard
        | A2aMethod::Reminders(_) => ChannelScope::View,
    }
}

impl PeerAgents {
    pub(super) fn new(service: A2aService, tasks: Arc<IncomingTasks>) -> PeerAgents {
        PeerAgents { service, tasks, known: Mutex::default() }
    }

    /// Responds to a request of a channel. Every refusal is recorded.
    pub(super) async fn answer(
        &self,
        daemon: &Arc<ChannelDaemon>,
        channel: &Arc<Caller>,
        request: &mut HttpRequest,
    ) -> Result<Response<Body>, HttpRefusal> {
        let http = request.connection().cloned();
        let bytes = request.json().await?;
        let head = &request.head;
        let request = read(&bytes);
        let method = request.as_ref().ok().and_then(|request| A2aMethod::of(&request.method).ok());
        if let Some(scope) = method.map(scope_of).filter(|scope| !channel.scopes.has(*scope)) {
            daemon.gateway.refuse(channel, None, None, &ActionError::Scope(scope));
            let id = request.ok().and_then(|request| request.id);
            return Ok(A2aService::refuse(head, id, &no_scope(scope.as_str())));
        }
        if method.is_some() {
            self.introduce(daemon, channel);
        }
        let peer = PeerAgent { daemon: daemon.clone(), channel: channel.clone(), tasks: self.tasks.clone() };
        let manager = self.service.manager.seen_by(Arc::new(peer));
        let response = self.service.respond(&manager, head, request).await;
        let is_stream = method.is_some_and(A2aMethod::is_stream) && response.status() == StatusCode::OK;
        Ok(if is_stream { connected(response, daemon, channel, http) } else { response })
    }

    /// Records the identity of a channel at its first request as a peer agent.
    fn introduce(&self, daemon: &ChannelDaemon, channel: &Arc<Caller>) {
        if !self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(channel.id.clone()) {
            return;
        }
        let identity = identity(channel, ChannelTransport::JsonRpc, Some(NATIVE));
        let core = daemon.core();
        core.gateway.log.put(identity.to_record(now_ms()));
        core.gateway.event(&channel.id, None, ChannelEvent::Connected(identity));
    }
}

/// Returns a stream that ends when its channel must be disconnected.
fn connected(
    response: Response<Body>,
    daemon: &Arc<ChannelDaemon>,
    channel: &Arc<Caller>,
    http: Option<HttpConnection>,
) -> Response<Body> {
    let connection = ChannelConnection::begin(daemon, channel, None, ChannelTransport::JsonRpc, Some(NATIVE), None);
    if let Some(http) = http {
        connection.watch(http, None);
    }
    response.map(|body| {
        let frames = body.into_data_stream();
        Body::from_stream(stream::unfold((frames, connection), async |(mut frames, mut connection)| {
            let frame = tokio::select! {
                biased;
                _ = connection.closed() => None,
                frame = frames.next() => frame,
            };
            frame.map(|frame| (frame, (frames, connection)))
        }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_method_needs_a_scope() {
        for (name, scope) in [
            ("SendMessage", ChannelScope::Prompt),
            ("message/stream", ChannelScope::Prompt),
            ("CancelTask", ChannelScope::Prompt),
            ("GetTask", ChannelScope::View),
            ("ListTasks", ChannelScope::View),
            ("SubscribeToTask", ChannelScope::View),
            ("GetExtendedAgentCard", ChannelScope::View),
            ("tasks/pushNotificationConfig/set", ChannelScope::View),
            ("tasks/inject_reminder", ChannelScope::Inject),
            ("tasks/revoke_reminder", ChannelScope::Inject),
            ("tasks/clear_reminders", ChannelScope::Inject),
            (PENDING, ChannelScope::View),
        ] {
            assert_eq!(scope_of(A2aMethod::of(name).unwrap()), scope, "{name}");
        }
    }
}
