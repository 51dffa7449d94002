//! [`AcpPeer`]: the editor, as sessions see it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use agent_client_protocol::{Client, ConnectionTo, Error, UntypedMessage};
use runtime::model::Usage;

use super::permission::{self, AlwaysHolds};
use super::transport::OutputGauge;
use super::update::{Outbox, UpdateConverter, UpdateNotification, WantedUpdates};
use crate::host::{Peer, PermissionQuestion, SessionEvent, Verdict, Waiting};

/// The editor, as sessions see it.
pub(crate) struct AcpPeer {
    /// The connection: empty until it is established.
    connection: OnceLock<ConnectionTo<Client>>,
    gauge: Arc<OutputGauge>,
    outbox: Arc<Outbox>,
    /// The tokens of each session since its last response to a prompt.
    used: Mutex<HashMap<Arc<str>, Usage>>,
}

impl AcpPeer {
    pub(crate) fn new(gauge: Arc<OutputGauge>) -> AcpPeer {
        let outbox = Arc::new(Outbox::new(WantedUpdates::default()));
        AcpPeer { connection: OnceLock::new(), gauge, outbox, used: Mutex::default() }
    }

    /// Sets the connection.
    pub(crate) fn connect(&self, connection: ConnectionTo<Client>) {
        // Only one connection exists in the life of the process.
        let _ = self.connection.set(connection);
    }

    /// Sets the updates that the editor accepts.
    pub(crate) fn want(&self, wants: WantedUpdates) {
        self.outbox.want(wants);
    }

    /// Begins to send a session's events, starting with those from its opening: the editor knows the session now.
    pub(crate) fn announce(&self, session_id: &Arc<str>, cwd: PathBuf) {
        self.outbox.open(session_id, cwd);
    }

    /// Drops a closed session.
    pub(crate) fn forget(&self, session_id: &Arc<str>) {
        self.outbox.close(session_id);
        self.used().remove(session_id);
    }

    /// Sends all events of a session so far, before a response that must come after them.
    pub(crate) fn tell(&self, session_id: &Arc<str>) {
        self.outbox.send_all(session_id, |frame| self.send(frame));
    }

    /// Sends the events of all sessions, as fast as the editor reads. Never returns.
    pub(crate) async fn tell_all(&self) {
        loop {
            self.gauge.room().await;
            self.outbox.due().await;
            self.outbox.send_next(|frame| self.send(frame));
            // Let incoming messages have their turn.
            tokio::task::yield_now().await;
        }
    }

    /// Sends the remaining events, once all sessions are over.
    pub(crate) fn tell_rest(&self) {
        while self.outbox.send_next(|frame| self.send(frame)) {}
    }

    /// Returns the tokens that a session has used since the last call.
    pub(crate) fn take_usage(&self, session_id: &str) -> Usage {
        self.used().remove(session_id).unwrap_or_default()
    }

    /// Locks the state. Code that holds this lock does not panic.
    fn used(&self) -> MutexGuard<'_, HashMap<Arc<str>, Usage>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, frame: UpdateNotification) {
        let Some(connection) = self.connection.get() else { return };
        let Ok(message) = UntypedMessage::new(frame.method, frame.params) else { return };
        self.gauge.frame();
        if connection.send_notification(message).is_err() {
            // The connection has ended, so this frame is not sent.
            self.gauge.taken(1, 0);
        }
    }
}

impl Peer for AcpPeer {
    fn show(&self, session_id: &Arc<str>, event: SessionEvent) {
        if let SessionEvent::Usage { call, .. } = &event {
            self.used().entry(session_id.clone()).or_default().add(*call);
        }
        self.outbox.show(session_id, event);
    }

    fn room(&self, session_id: &Arc<str>) -> Waiting<()> {
        self.outbox.room(session_id)
    }

    fn over(&self, session_id: &Arc<str>) {
        // The client gets all events of a session that it knows; the session is dropped once the client knows its
        // end.
        if self.outbox.give_up(session_id) {
            self.used().remove(session_id);
        }
    }

    fn permit(&self, question: PermissionQuestion) -> Waiting<Verdict> {
        let told = |why: &str| -> Waiting<Verdict> { Box::pin(std::future::ready(Verdict::Unusable(why.into()))) };
        let Some(connection) = self.connection.get() else { return Box::pin(std::future::ready(Verdict::Cancelled)) };
        // The call itself must be sent first.
        self.tell(&question.session_id);
        let shown = |updates: &UpdateConverter| updates.tool_call(&question.call, &question.annotations);
        let Some(shown) = self.outbox.with(&question.session_id, shown) else {
            return told("the client does not know the session yet, so it cannot answer");
        };
        let params = permission::params(&question, shown, AlwaysHolds::Session);
        let Ok(message) = params.map_err(Error::from).and_then(|it| UntypedMessage::new(permission::METHOD, it)) else {
            return told("the question cannot be written as JSON");
        };
        // If the future is dropped, the request to the editor is cancelled.
        let answer = connection.send_request(message).block_task();
        Box::pin(async move { permission::verdict(answer.await) })
    }
}
