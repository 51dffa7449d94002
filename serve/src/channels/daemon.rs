//! [`ChannelDaemon`]: the sessions of a script, shared by channels.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use base::data::Data;
use eventlog::Query;
use runtime::event_log::Topic;
use tokio::sync::watch;

use super::core::ChannelCore;
use super::events::EventReader;
use super::feed::FeedLag;
use super::{
    ActionError, ChannelEvent, ChannelLimits, ChannelScope, ChannelTransport, DisconnectReason, DisconnectedChannel,
    EnrolledChannel, OrphanPolicy,
};
use crate::a2a::now_ms;
use crate::host::{Host, HostError, SessionHandle};
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
    pub(super) host: Host,
    core: Arc<ChannelCore>,
    pub(super) limits: ChannelLimits,
    /// The mode of new sessions.
    pub(super) mode: Arc<str>,
    /// The connections, by their numbers.
    watched: Mutex<HashMap<u64, WatchedConnection>>,
}

impl ChannelDaemon {
    pub(super) fn new(host: Host, core: Arc<ChannelCore>, limits: ChannelLimits, mode: Arc<str>) -> Arc<ChannelDaemon> {
        Arc::new(ChannelDaemon { host, core, limits, mode, watched: Mutex::default() })
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

    /// Begins to read the events of a session, after a cursor or from a snapshot.
    pub(crate) fn events(self: &Arc<ChannelDaemon>, session_id: &Arc<str>, after: Option<u64>) -> EventReader {
        let reader = self.core.fan_out.enter(session_id);
        EventReader::new(self.clone(), session_id.clone(), reader, after)
    }

    /// Checks whether a channel reaches a session, open or stored.
    ///
    /// # Errors
    /// It does not, or the session is unknown. A channel does not learn which of both.
    pub(crate) async fn reaches(&self, channel: &EnrolledChannel, session_id: &str) -> Result<(), ActionError> {
        let unknown = || ActionError::Host(HostError::UnknownSession(session_id.into()));
        if !self.core.owns(&channel.account, session_id).await? {
            return Err(unknown());
        }
        if self.host.session(session_id).is_ok() {
            return Ok(());
        }
        match self.core.log.read(Query::subject(session_id), 1).await?.records.is_empty() {
            true => Err(unknown()),
            false => Ok(()),
        }
    }

    /// Takes a request as a sign of life. A channel that was stale is connected again.
    pub(super) fn seen(&self, channel: &Arc<EnrolledChannel>, transport: ChannelTransport) {
        for session_id in self.core.presence.alive(channel) {
            let identity = super::connection::identity(channel, transport, None);
            self.core.event(&channel.id, Some(&session_id), ChannelEvent::Connected(identity));
        }
    }

    /// Returns a page of the sessions that a channel reaches, after a cursor.
    ///
    /// # Errors
    /// The channel may not see sessions, or they cannot be listed.
    pub(super) async fn sessions(&self, channel: &EnrolledChannel, cursor: Option<&str>) -> Result<Data, ActionError> {
        if !channel.scopes.has(ChannelScope::View) {
            return Err(ActionError::Scope(ChannelScope::View));
        }
        let page = self.host.list(None, cursor).await.map_err(|error| match error {
            HostError::Store(StoreError::Cursor(_)) => {
                ActionError::invalid("cursor", "`cursor` must be the `nextCursor` of the page before")
            }
            error => ActionError::Host(error),
        })?;
        let own = page.rows.iter().filter(|row| self.core.accounts.owns_listed(&channel.account, row));
        let rows = own.map(|row| {
            let is_open = self.host.session(&row.id).is_ok();
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

    /// Returns whether the log still has a session from its opening on.
    pub(super) async fn is_whole(&self, session_id: &Arc<str>) -> Result<bool, ActionError> {
        let of_life = Query { subject: Some(session_id.clone()), ..Query::topic(Topic::Life) };
        let first = self.core.log.read(of_life, 1).await?.records;
        Ok(first.iter().any(|record| Topic::Life.word_of(&record.kind) == Some("opened")))
    }

    /// Returns the open session of an account, and loads a stored one.
    ///
    /// # Errors
    /// It belongs to another account, or it cannot be loaded.
    pub(super) async fn session(
        &self,
        account: &Arc<str>,
        session_id: &Arc<str>,
    ) -> Result<SessionHandle, ActionError> {
        if !self.core.owns(account, session_id).await? {
            return Err(HostError::UnknownSession(session_id.clone()).into());
        }
        let handle = match self.host.awake(session_id).await {
            Ok(handle) => handle,
            Err(_) => {
                self.host.accepts()?;
                match self.host.resume(session_id, None, Data::Nil).await {
                    // Another action opens it.
                    Err(HostError::Exists(_)) => self.host.opened(session_id).await?,
                    other => other?,
                }
            }
        };
        self.core.fan_out.open(session_id);
        Ok(handle)
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
            if daemon.core.fan_out.readers(&session_id) == 0
                && let Ok(handle) = daemon.host.session(&session_id)
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
                    self.core.event(&channel_id, Some(&session_id), ChannelEvent::Disconnected(event));
                }
            }
        }
    }
}
