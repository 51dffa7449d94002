//! [`AcpPeer`]: the editor, as sessions see it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use runtime::usage::Usage;

use super::connection::EditorConnection;
use super::permission::{self, AlwaysHolds};
use super::transport::OutputGauge;
use super::update::{Outbox, UpdateConverter, UpdateNotification, WantedUpdates};
use crate::host::{Peer, PermissionQuestion, SessionEvent, Verdict, Waiting};

/// The editor, as sessions see it.
pub(crate) struct AcpPeer {
    connection: EditorConnection,
    gauge: Arc<OutputGauge>,
    outbox: Arc<Outbox>,
    /// The tokens of each session since its last response to a prompt.
    used: Mutex<HashMap<Arc<str>, Usage>>,
}

impl AcpPeer {
    pub(crate) fn new(connection: EditorConnection, gauge: Arc<OutputGauge>) -> AcpPeer {
        let outbox = Arc::new(Outbox::new(WantedUpdates::default()));
        AcpPeer { connection, gauge, outbox, used: Mutex::default() }
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
        self.outbox.send_all(session_id, |frame| self.send(&frame));
    }

    /// Sends the events of all sessions, as fast as the editor reads. Never returns.
    pub(crate) async fn tell_all(&self) {
        loop {
            self.gauge.room().await;
            self.outbox.due().await;
            self.outbox.send_next(|frame| self.send(&frame));
            // Let incoming messages have their turn.
            tokio::task::yield_now().await;
        }
    }

    /// Sends the remaining events, once all sessions are over.
    pub(crate) fn tell_rest(&self) {
        while self.outbox.send_next(|frame| self.send(&frame)) {}
    }

    /// Returns the tokens that a session has used since the last call.
    pub(crate) fn take_usage(&self, session_id: &str) -> Usage {
        self.used().remove(session_id).unwrap_or_default()
    }

    /// Locks the state. Code that holds this lock does not panic.
    fn used(&self) -> MutexGuard<'_, HashMap<Arc<str>, Usage>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, frame: &UpdateNotification) {
        self.connection.notify(frame.method, &frame.params);
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
        // The call itself must be sent first.
        self.tell(&question.session_id);
        let shown = |updates: &UpdateConverter| updates.tool_call(&question.call, &question.annotations);
        let Some(shown) = self.outbox.with(&question.session_id, shown) else {
            return told("the client does not know the session yet, so it cannot answer");
        };
        let Ok(params) = permission::params(&question, shown, AlwaysHolds::Session) else {
            return told("the question cannot be written as JSON");
        };
        // If the future is dropped, the request to the editor is cancelled.
        let answer = self.connection.request(permission::METHOD, &params);
        Box::pin(async move { permission::verdict(answer.await) })
    }
}
