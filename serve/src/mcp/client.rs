//! [`McpClient`]: what is known about the client of a request. [`NotificationSender`]: notifications to it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp::{EVENTS, Era, REMINDERS};
use runtime::data::Data;
use tokio::sync::mpsc;

/// The extension of tasks.
pub(super) const TASKS: &str = "io.modelcontextprotocol/tasks";
/// The key of the level from which on a request wants the messages of the log.
pub(super) const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// The number of notifications that wait for a client.
pub(super) const WAITING: usize = 256;
/// The number of notifications that wait for the next response of a session.
const KEPT: usize = 64;

/// The levels of messages, from the least severe.
const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
/// The level of the builtin `log`.
pub(super) const SCRIPT_LEVEL: &str = "info";

/// Notifications to a client. They are dropped once the client is gone.
#[derive(Clone, Default)]
pub(super) struct NotificationSender(Option<mpsc::Sender<String>>);

impl NotificationSender {
    pub(super) fn new(sender: mpsc::Sender<String>) -> NotificationSender {
        NotificationSender(Some(sender))
    }

    /// Sends a notification, or returns it if there is no room or no client. [`NotificationSender::room`] waits for room.
    pub(super) fn notify(&self, method: &str, params: Data) -> Result<(), String> {
        let text = notification(method, params);
        match &self.0 {
            Some(sender) => sender.try_send(text).map_err(mpsc::error::TrySendError::into_inner),
            None => Err(text),
        }
    }

    /// Sends a notification once there is room. Returns false if the client is gone.
    pub(super) async fn send(&self, method: &str, params: Data) -> bool {
        match &self.0 {
            Some(sender) => sender.send(notification(method, params)).await.is_ok(),
            None => false,
        }
    }

    /// Waits until there is room for a notification, or the client is gone.
    pub(super) async fn room(&self) {
        if let Some(sender) = &self.0 {
            let _ = sender.reserve().await;
        }
    }
}

fn notification(method: &str, params: Data) -> String {
    Data::dict([("jsonrpc", Data::from("2.0")), ("method", method.into()), ("params", params)]).to_json()
}

/// A session of the form with sessions.
pub(super) struct ClientSession {
    pub(super) id: Arc<str>,
    pub(super) capabilities: Data,
    state: Mutex<SessionState>,
}

#[derive(Default)]
struct SessionState {
    /// The level from which on messages of the log are wanted.
    level: Option<usize>,
    /// Notifications that had no stream to go to.
    kept: VecDeque<String>,
}

impl ClientSession {
    pub(super) fn new(capabilities: Data) -> ClientSession {
        let id = uuid::Uuid::new_v4().simple().to_string().into();
        ClientSession { id, capabilities, state: Mutex::default() }
    }

    /// Locks the state. Code that holds this lock does not panic.
    fn lock(&self) -> MutexGuard<'_, SessionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the level of the log; returns false for an unknown one.
    pub(super) fn set_level(&self, level: &str) -> bool {
        let level = level_of(level);
        if level.is_some() {
            self.lock().level = level;
        }
        level.is_some()
    }

    /// Keeps a notification for the next response with a stream.
    pub(super) fn keep(&self, notification: String) {
        let mut state = self.lock();
        if state.kept.len() >= KEPT {
            state.kept.pop_front();
        }
        state.kept.push_back(notification);
    }

    /// Takes the notifications that were kept.
    pub(super) fn take_kept(&self) -> Vec<String> {
        self.lock().kept.drain(..).collect()
    }
}

fn level_of(level: &str) -> Option<usize> {
    LEVELS.iter().position(|known| *known == level)
}

/// The client of a request.
#[derive(Clone)]
pub(super) struct McpClient {
    pub(super) era: Era,
    /// The capabilities that it declares.
    pub(super) capabilities: Data,
    /// The id of the request as JSON.
    pub(super) request_id: Data,
    /// The token of its reports of progress; nil if it wants none.
    pub(super) progress_token: Data,
    pub(super) outbox: NotificationSender,
    pub(super) session: Option<Arc<ClientSession>>,
    /// The level that a request without a session wants.
    level: Option<usize>,
}

impl McpClient {
    /// Creates the client of a request in a session.
    pub(super) fn of_session(
        session: Arc<ClientSession>,
        id: Data,
        params: &Data,
        outbox: NotificationSender,
    ) -> McpClient {
        McpClient {
            era: Era::Sessions,
            capabilities: session.capabilities.clone(),
            request_id: id,
            progress_token: params.get("_meta").get("progressToken").clone(),
            outbox,
            session: Some(session),
            level: None,
        }
    }

    /// Creates the client of a request without a session, which describes itself in `_meta`.
    pub(super) fn stateless(id: Data, params: &Data, outbox: NotificationSender) -> McpClient {
        let meta = params.get("_meta");
        McpClient {
            era: Era::Stateless,
            capabilities: meta.get("io.modelcontextprotocol/clientCapabilities").clone(),
            request_id: id,
            progress_token: meta.get("progressToken").clone(),
            outbox,
            session: None,
            level: meta.get(LOG_LEVEL).as_str().and_then(level_of),
        }
    }

    /// Returns whether the client can follow calls as tasks (the form without sessions).
    pub(super) fn takes_tasks(&self) -> bool {
        !self.capabilities.get("extensions").get(TASKS).is_nil()
    }

    /// Returns whether the client wants reminders as notifications.
    pub(super) fn takes_reminders(&self) -> bool {
        !self.capabilities.get("experimental").get(REMINDERS).is_nil()
    }

    /// Returns whether messages of the log are wanted.
    pub(super) fn wants_log(&self) -> bool {
        let wanted = match &self.session {
            Some(session) => session.lock().level,
            None => self.level,
        };
        wanted.is_some_and(|wanted| level_of(SCRIPT_LEVEL).is_some_and(|level| level >= wanted))
    }
}

/// Returns the capabilities that the server declares under `extensions`.
pub(super) fn extensions() -> Data {
    Data::dict([(EVENTS, Data::empty_dict()), (TASKS, Data::empty_dict()), (REMINDERS, Data::empty_dict())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_the_log_are_wanted_from_a_level_on() {
        let session = Arc::new(ClientSession::new(Data::Nil));
        let client = McpClient::of_session(session.clone(), 1.into(), &Data::Nil, NotificationSender::default());
        assert!(!client.wants_log(), "unless the client asks");
        for (level, wanted) in [("debug", true), ("info", true), ("notice", false)] {
            assert!(session.set_level(level));
            assert_eq!(client.wants_log(), wanted, "{level}");
        }
        assert!(!session.set_level("loud"));
    }

    #[test]
    fn kept_notifications_are_limited() {
        let session = ClientSession::new(Data::Nil);
        (0..KEPT + 3).for_each(|n| session.keep(n.to_string()));
        let kept = session.take_kept();
        assert_eq!((kept.len(), kept[0].as_str()), (KEPT, "3"));
        assert!(session.take_kept().is_empty());
    }
}
