//! [`AcpPeer`]: the editor, as sessions see it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use agent_client_protocol::{Client, ConnectionTo, Error, UntypedMessage};
use runtime::model::Usage;

use super::permission;
use super::transport::Gauge;
use super::update::{Frame, Outbox, Updates, Wants};
use crate::host::{Event, Peer, PermissionQuestion, Verdict, Waiting};

/// The editor, as sessions see it.
pub(crate) struct AcpPeer {
    /// There once the connection is.
    connection: OnceLock<ConnectionTo<Client>>,
    gauge: Arc<Gauge>,
    outbox: Arc<Outbox>,
    /// The tokens of each session since its last answer to a prompt.
    used: Mutex<HashMap<Arc<str>, Usage>>,
}

impl AcpPeer {
    pub(crate) fn new(gauge: Arc<Gauge>) -> AcpPeer {
        let outbox = Arc::new(Outbox::new(Wants::default()));
        AcpPeer { connection: OnceLock::new(), gauge, outbox, used: Mutex::default() }
    }

    /// The connection is there.
    pub(crate) fn connect(&self, connection: ConnectionTo<Client>) {
        // There is one for the life of the process.
        let _ = self.connection.set(connection);
    }

    /// The editor has said what it wants to be told of.
    pub(crate) fn want(&self, wants: Wants) {
        self.outbox.want(wants);
    }

    /// The editor knows the session: what was shown while it was opened goes out.
    pub(crate) fn announce(&self, session_id: &Arc<str>, cwd: PathBuf) {
        self.outbox.open(session_id, cwd);
    }

    /// The session is over.
    pub(crate) fn forget(&self, session_id: &Arc<str>) {
        self.outbox.close(session_id);
        self.used().remove(session_id);
    }

    /// Tells all that a session has shown so far: before an answer that must not overtake it.
    pub(crate) fn tell(&self, session_id: &Arc<str>) {
        self.outbox.send_all(session_id, |frame| self.send(frame));
    }

    /// Tells what sessions show, as fast as the editor reads. It never ends.
    pub(crate) async fn tell_all(&self) {
        loop {
            self.gauge.room().await;
            self.outbox.due().await;
            self.outbox.send_next(|frame| self.send(frame));
            // What comes in has its turn too.
            tokio::task::yield_now().await;
        }
    }

    /// Tells what is left, once all sessions are over.
    pub(crate) fn tell_rest(&self) {
        while self.outbox.send_next(|frame| self.send(frame)) {}
    }

    /// The tokens that a session has used since this was last asked.
    pub(crate) fn take_usage(&self, session_id: &str) -> Usage {
        self.used().remove(session_id).unwrap_or_default()
    }

    /// Nothing panics while it holds the lock.
    fn used(&self) -> MutexGuard<'_, HashMap<Arc<str>, Usage>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, frame: Frame) {
        let Some(connection) = self.connection.get() else { return };
        let Ok(message) = UntypedMessage::new(frame.method, frame.params) else { return };
        self.gauge.frame();
        if connection.send_notification(message).is_err() {
            // The connection has ended, so nobody takes this frame.
            self.gauge.taken(1, 0);
        }
    }
}

impl Peer for AcpPeer {
    fn show(&self, session_id: &Arc<str>, event: Event) {
        if let Event::Usage { call, .. } = &event {
            self.used().entry(session_id.clone()).or_default().add(*call);
        }
        self.outbox.show(session_id, event);
    }

    fn room(&self, session_id: &Arc<str>) -> Waiting<()> {
        self.outbox.room(session_id)
    }

    fn over(&self, session_id: &Arc<str>) {
        // What the client knows of is told to the end, and forgotten once the client has been told that it is over.
        if self.outbox.give_up(session_id) {
            self.used().remove(session_id);
        }
    }

    fn permit(&self, question: PermissionQuestion) -> Waiting<Verdict> {
        let told = |why: &str| -> Waiting<Verdict> { Box::pin(std::future::ready(Verdict::Unusable(why.into()))) };
        let Some(connection) = self.connection.get() else { return Box::pin(std::future::ready(Verdict::Cancelled)) };
        // The call itself comes first.
        self.tell(&question.session_id);
        let shown = |updates: &Updates| updates.tool_call(&question.call, &question.annotations);
        let Some(shown) = self.outbox.with(&question.session_id, shown) else {
            return told("the client does not know the session yet, so it cannot answer");
        };
        let params = permission::params(&question, shown);
        let Ok(message) = params.map_err(Error::from).and_then(|it| UntypedMessage::new(permission::METHOD, it)) else {
            return told("the question cannot be written as JSON");
        };
        // Where nobody waits for the answer any more, the editor is told that the question is taken back.
        let answer = connection.send_request(message).block_task();
        Box::pin(async move { permission::verdict(answer.await) })
    }
}
