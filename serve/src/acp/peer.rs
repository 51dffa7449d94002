//! [`AcpPeer`]: the editor, as sessions see it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use agent_client_protocol::{Client, ConnectionTo, UntypedMessage};
use runtime::model::Usage;

use super::transport::Gauge;
use super::update::{Frame, Outbox, Wants};
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

    fn permit(&self, _question: PermissionQuestion) -> Waiting<Verdict> {
        Box::pin(std::future::ready(Verdict::Cancelled))
    }
}
