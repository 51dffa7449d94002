//! [`ChannelConnection`]: a connection of a channel to the events of a session.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::sync::watch;

use super::daemon::{ChannelDaemon, WatchedConnection};
use super::{
    Caller, ChannelEvent, ChannelIdentity, ChannelScope, ChannelTransport, DisconnectReason, DisconnectedChannel,
    ResumeMethod, ResumedChannel,
};
use crate::a2a::now_ms;
use crate::gateway::FeedLag;
use crate::http::HttpConnection;
use crate::when_woken::WhenWoken;

/// A connection of a channel. Dropping it records the end, if its beginning was recorded.
pub(crate) struct ChannelConnection {
    daemon: Arc<ChannelDaemon>,
    pub(crate) channel: Arc<Caller>,
    session_id: Option<Arc<str>>,
    number: u64,
    /// Whether its beginning and its end are records; otherwise it is part of a sum.
    is_recorded: bool,
    closing: watch::Receiver<Option<DisconnectReason>>,
    /// Ready when the channel must be disconnected. It is kept from event to event: to wait anew for each would be slow.
    closed: WhenWoken<DisconnectReason>,
    /// The reason for which it must be disconnected, once it was returned.
    due: Option<DisconnectReason>,
    /// The reason, if it was closed from outside.
    forced: Arc<OnceLock<DisconnectReason>>,
    /// The reason for its end.
    pub(crate) reason: DisconnectReason,
    /// The cursor of the last event that was sent.
    pub(crate) cursor: Option<u64>,
}

impl ChannelConnection {
    /// Begins a connection, and records it; beyond a rate, the connections of a channel are only counted. `after` is the cursor after which it resumes.
    pub(crate) fn begin(
        daemon: &Arc<ChannelDaemon>,
        channel: &Arc<Caller>,
        session_id: Option<&Arc<str>>,
        transport: ChannelTransport,
        native_protocol: Option<&str>,
        after: Option<u64>,
    ) -> ChannelConnection {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let core = daemon.core();
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        let counted = core.presence.connect(channel, number, session_id, transport.as_str());
        if counted.is_recorded {
            let identity = identity(channel, transport, native_protocol);
            core.gateway.log.put(identity.to_record(now_ms()));
            let event = match after {
                Some(after) => ChannelEvent::Resumed(ResumedChannel { by: ResumeMethod::Cursor, after, gap: None }),
                None => ChannelEvent::Connected(identity),
            };
            core.gateway.event(&channel.id, session_id, event);
        }
        ChannelConnection {
            daemon: daemon.clone(),
            channel: channel.clone(),
            session_id: session_id.cloned(),
            number: counted.number,
            is_recorded: counted.is_recorded,
            closed: WhenWoken::new(closed(counted.closing.clone())),
            due: None,
            closing: counted.closing,
            forced: Arc::default(),
            reason: DisconnectReason::Closed,
            cursor: after,
        }
    }

    /// Lets the daemon close the connection if it does not end by itself, because its client does not read.
    pub(crate) fn watch(&self, http: HttpConnection, lag: Option<FeedLag>) {
        let watched =
            WatchedConnection { http, lag, closing: self.closing.clone(), forced: self.forced.clone(), is_due: false };
        self.daemon.watched().insert(self.number, watched);
    }

    /// Waits until the channel must be disconnected, and returns the reason.
    pub(crate) async fn closed(&mut self) -> DisconnectReason {
        let reason = match self.due {
            Some(reason) => reason,
            None => (&mut self.closed).await,
        };
        self.due = Some(reason);
        self.reason = reason;
        reason
    }
}

/// Waits until a channel must be disconnected, and returns the reason.
async fn closed(mut closing: watch::Receiver<Option<DisconnectReason>>) -> DisconnectReason {
    let closing = closing.wait_for(Option::is_some).await;
    closing.ok().and_then(|reason| *reason).unwrap_or(DisconnectReason::Stopping)
}

/// Returns what is known of a channel that connects.
pub(super) fn identity(
    channel: &Caller,
    transport: ChannelTransport,
    native_protocol: Option<&str>,
) -> ChannelIdentity {
    let mut capabilities: Vec<Arc<str>> = vec!["streaming".into(), "resume".into()];
    if channel.scopes.has(ChannelScope::Permit) {
        capabilities.push("permissions".into());
    }
    if native_protocol == Some("a2a") {
        capabilities.extend(["artifacts".into(), "task_delegation".into()]);
    }
    ChannelIdentity {
        channel_id: channel.id.clone(),
        transport,
        peer_role: channel.role,
        account_ref: Some(channel.account.clone()),
        capabilities,
        last_seen_at: now_ms(),
        // The cursor of the last event is the token: the log has the rest.
        resume_token_ref: Some("cursor".into()),
        native_protocol: native_protocol.map(Into::into),
    }
}

impl Drop for ChannelConnection {
    fn drop(&mut self) {
        let core = self.daemon.core();
        core.presence.disconnect(&self.channel.id, self.number);
        self.daemon.watched().remove(&self.number);
        if self.is_recorded {
            let reason = self.forced.get().copied().unwrap_or(self.reason);
            let event = DisconnectedChannel { reason, cursor: self.cursor };
            core.gateway.event(&self.channel.id, self.session_id.as_ref(), ChannelEvent::Disconnected(event));
        }
        if let Some(session_id) = &self.session_id {
            self.daemon.left(session_id);
        }
    }
}
