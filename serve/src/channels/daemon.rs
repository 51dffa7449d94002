//! [`ChannelDaemon`]: the sessions of a script, shared by channels.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use base::data::Data;
use tokio::sync::watch;

use super::core::ChannelCore;
use super::{
    ActionError, ChannelEvent, ChannelLimits, ChannelScope, ChannelTransport, DisconnectReason, DisconnectedChannel,
    OrphanPolicy,
};
use crate::a2a::now_ms;
use crate::gateway::{Caller, FeedLag, Gateway};
use crate::host::{Host, HostError};
use crate::http::HttpConnection;
use crate::spawn::spawn_on;
use crate::store::StoreError;

/// The time after which the turn of a session is cancelled that its last connection has left.
const ORPHAN_GRACE: Duration = Duration::from_secs(5);

/// The longest pause between two looks at the connections.
const SWEEP: Duration = Duration::from_millis(200);

/// A connection that is closed from outside if it does not end by itself: its client may not read.
pub(super) struct WatchedConnection {
    pub(super) http: HttpConnection,
    pub(super) lag: Option<FeedLag>,
    pub(super) closing: watch::Receiver<Option<DisconnectReason>>,
    /// The reason, if it was closed from outside.
    pub(super) forced: Arc<OnceLock<DisconnectReason>>,
    /// Whether it should have ended at the last look.
    pub(super) is_due: bool,
}

impl WatchedConnection {
    /// Returns the reason for which it must end.
    fn reason(&self) -> Option<DisconnectReason> {
        let closing = *self.closing.borrow();
        closing.or_else(|| self.lag.as_ref().is_some_and(FeedLag::is_lagged).then_some(DisconnectReason::Slow))
    }
}

/// The sessions of a script, shared by channels.
pub(crate) struct ChannelDaemon {
    pub(super) gateway: Arc<Gateway>,
    core: Arc<ChannelCore>,
    pub(super) limits: ChannelLimits,
    /// The connections, by their numbers.
    watched: Mutex<HashMap<u64, WatchedConnection>>,
}

impl ChannelDaemon {
    pub(super) fn new(host: Host, core: Arc<ChannelCore>, limits: ChannelLimits, mode: Arc<str>) -> Arc<ChannelDaemon> {
        let gateway = Gateway::new(host, core.gateway.clone(), core.presence.clone(), mode);
        Arc::new(ChannelDaemon { gateway, core, limits, watched: Mutex::default() })
    }

    pub(super) fn core(&self) -> &Arc<ChannelCore> {
        &self.core
    }

    /// Locks the connections. Every operation leaves them consistent.
    pub(super) fn watched(&self) -> MutexGuard<'_, HashMap<u64, WatchedConnection>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes the connections that should have ended at the last look too.
    fn close_due(&self) {
        for connection in self.watched().values_mut() {
            let reason = connection.reason();
            if let Some(reason) = reason
                && std::mem::replace(&mut connection.is_due, true)
            {
                // It is closed once.
                let _ = connection.forced.set(reason);
                connection.http.close();
            } else if reason.is_none() {
                connection.is_due = false;
            }
        }
    }

    /// Takes a request as a sign of life. A channel that was stale is connected again.
    pub(super) fn seen(&self, channel: &Arc<Caller>, transport: ChannelTransport) {
        for session_id in self.core.presence.alive(channel) {
            let identity = super::connection::identity(channel, transport, None);
            self.core.gateway.event(&channel.id, Some(&session_id), ChannelEvent::Connected(identity));
        }
    }

    /// Returns a page of the sessions that a channel reaches, after a cursor.
    ///
    /// # Errors
    /// The channel may not see sessions, or they cannot be listed.
    pub(super) async fn sessions(&self, channel: &Caller, cursor: Option<&str>) -> Result<Data, ActionError> {
        if !channel.scopes.has(ChannelScope::View) {
            return Err(ActionError::Scope(ChannelScope::View));
        }
        let page = self.gateway.host.list(None, cursor).await.map_err(|error| match error {
            HostError::Store(StoreError::Cursor(_)) => {
                ActionError::invalid("cursor", "`cursor` must be the `nextCursor` of the page before")
            }
            error => ActionError::Host(error),
        })?;
        let own = page.rows.iter().filter(|row| self.core.gateway.accounts.owns_listed(&channel.account, row));
        let rows = own.map(|row| {
            let is_open = self.gateway.host.session(&row.id).is_ok();
            Data::dict_of_present([
                ("sessionId", Data::from(&row.id)),
                ("title", row.title.as_ref().into()),
                ("updatedAt", stdlib::rfc3339(row.updated_at_ms).into()),
                ("open", is_open.into()),
            ])
        });
        Ok(Data::dict_of_present([
            ("sessions", Data::list(rows)),
            ("nextCursor", page.next.map_or(Data::Nil, Data::from)),
        ]))
    }

    /// Takes the end of a connection to a session.
    pub(super) fn left(self: &Arc<ChannelDaemon>, session_id: &Arc<str>) {
        if self.core.orphan != OrphanPolicy::Cancel {
            return;
        }
        let (daemon, session_id) = (self.clone(), session_id.clone());
        // Without a runtime the process ends, and its work with it.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        spawn_on(&runtime, async move {
            tokio::time::sleep(ORPHAN_GRACE).await;
            if daemon.core.gateway.fan_out.readers(&session_id) == 0
                && let Ok(handle) = daemon.gateway.host.session(&session_id)
            {
                handle.cancel("the last channel has left");
            }
        });
    }

    /// Closes what must end, marks channels that have missed their heartbeats, and records what was only counted. Never
    /// returns.
    pub(super) async fn sweep(&self) {
        let pause = (self.limits.heartbeat / 4).clamp(Duration::from_millis(10), SWEEP);
        loop {
            tokio::time::sleep(pause).await;
            self.core.presence.close_expired(now_ms());
            self.close_due();
            self.core.settle(false);
            for (channel_id, sessions) in self.core.presence.sweep() {
                for session_id in sessions {
                    let event = DisconnectedChannel { reason: DisconnectReason::Stale, cursor: None };
                    self.core.gateway.event(&channel_id, Some(&session_id), ChannelEvent::Disconnected(event));
                }
            }
        }
    }
}
