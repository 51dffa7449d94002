//! [`McpClient`]: what is known about the client of a request. [`MessageSender`]: notifications and questions to it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::data::Data;
use jsonrpc::Answer;
use mcp::{EVENTS, Era, REMINDERS};
use tokio::sync::{mpsc, oneshot};

use super::question::{self, CannotAsk};

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

/// Notifications and requests to a client. They are dropped once the client is gone.
#[derive(Clone, Default)]
pub(super) struct MessageSender(Option<mpsc::Sender<String>>);

impl MessageSender {
    pub(super) fn new(sender: mpsc::Sender<String>) -> MessageSender {
        MessageSender(Some(sender))
    }

    /// Sends a notification. Returns it if the queue is full or the client is gone; [`MessageSender::room`] waits for a place.
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

    /// Sends a request once there is room. Returns false if the client is gone.
    async fn request(&self, id: i64, method: &str, params: Data) -> bool {
        match &self.0 {
            Some(sender) => sender.send(request(id, method, params)).await.is_ok(),
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

fn request(id: i64, method: &str, params: Data) -> String {
    let request = [("jsonrpc", Data::from("2.0")), ("id", id.into()), ("method", method.into()), ("params", params)];
    Data::dict(request).to_json()
}

/// A session of the form with sessions.
pub(super) struct ClientSession {
    pub(super) id: Arc<str>,
    pub(super) capabilities: Data,
    state: Mutex<SessionState>,
    /// Shared by the requests and tasks of the session that run.
    work: Arc<()>,
}

/// A request or task of a session, which does not end meanwhile because it is idle. Dropping it ends the work.
pub(super) struct SessionWork {
    _shared: Arc<()>,
}

#[derive(Default)]
struct SessionState {
    /// The level from which on messages of the log are wanted.
    level: Option<usize>,
    /// Notifications that had no stream to go to.
    kept: VecDeque<String>,
    /// The receivers of the results of requests to the client, by their ids.
    asked: HashMap<i64, oneshot::Sender<Data>>,
    /// The id of the last request to the client.
    last_id: i64,
}

impl ClientSession {
    pub(super) fn new(capabilities: Data) -> ClientSession {
        let id = uuid::Uuid::new_v4().simple().to_string().into();
        ClientSession { id, capabilities, state: Mutex::default(), work: Arc::default() }
    }

    /// Begins a request or task of the session.
    pub(super) fn begin_work(&self) -> SessionWork {
        SessionWork { _shared: self.work.clone() }
    }

    /// Returns whether requests or tasks of the session run.
    pub(super) fn is_at_work(&self) -> bool {
        Arc::strong_count(&self.work) > 1
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

    /// Opens a request to the client, and returns the receiver of its result.
    fn open_request(&self) -> (i64, oneshot::Receiver<Data>) {
        let (sender, result) = oneshot::channel();
        let mut state = self.lock();
        state.last_id += 1;
        let id = state.last_id;
        state.asked.insert(id, sender);
        (id, result)
    }

    /// Takes the client's response to a request. An unknown response, such as a late one, is ignored.
    pub(super) fn replied(&self, answer: &Answer<Data>) {
        let id = answer.id.as_ref().and_then(|id| Data::from_json(id.as_json()).ok());
        let Some(waiting) = id.and_then(|id| id.as_int()).and_then(|id| self.lock().asked.remove(&id)) else { return };
        if let Some(error) = &answer.error {
            tracing::warn!("the MCP client cannot answer a question: {}", error.get("message").to_text());
        }
        // A response without a result ends the wait too.
        if let Some(result) = &answer.result {
            let _ = waiting.send(result.clone());
        }
    }

    /// Ends the session: its questions get no answer.
    pub(super) fn end(&self) {
        self.lock().asked.clear();
    }
}

/// A request to a client that has no response yet. Dropping it tells the client that no response is needed.
struct OpenRequest<'a> {
    session: &'a ClientSession,
    outbox: &'a MessageSender,
    id: i64,
}

impl Drop for OpenRequest<'_> {
    fn drop(&mut self) {
        let is_open = self.session.lock().asked.remove(&self.id).is_some();
        if is_open {
            let _ = self.outbox.notify("notifications/cancelled", Data::dict([("requestId", self.id.into())]));
        }
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
    pub(super) outbox: MessageSender,
    pub(super) session: Option<Arc<ClientSession>>,
    /// The level that a request without a session wants.
    level: Option<usize>,
}

impl McpClient {
    /// Creates the client of a request in a session.
    pub(super) fn of_session(session: Arc<ClientSession>, id: Data, params: &Data, outbox: MessageSender) -> McpClient {
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
    pub(super) fn stateless(id: Data, params: &Data, outbox: MessageSender) -> McpClient {
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

    /// Returns whether the client asks its user by forms. Clients that declare no mode know only forms.
    pub(super) fn takes_forms(&self) -> bool {
        let elicitation = self.capabilities.get("elicitation");
        elicitation.as_dict().is_some() && (!elicitation.get("form").is_nil() || elicitation.get("url").is_nil())
    }

    /// Asks the user of the client, in the form with sessions; `None` if the user does not answer. `meta` is nil, or
    /// the `_meta` of the question.
    pub(super) async fn ask(&self, text: &str, meta: Data) -> Result<Option<String>, CannotAsk> {
        let session = self.session.as_ref().filter(|_| self.takes_forms()).ok_or(CannotAsk)?;
        let (id, result) = session.open_request();
        let _open = OpenRequest { session, outbox: &self.outbox, id };
        let mut params = question::params(text);
        if !meta.is_nil() {
            params.set("_meta", meta);
        }
        if !self.outbox.request(id, question::METHOD, params).await {
            return Err(CannotAsk);
        }
        result.await.map(|reply| question::answer_of(&reply)).map_err(|_| CannotAsk)
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
        let client = McpClient::of_session(session.clone(), 1.into(), &Data::Nil, MessageSender::default());
        assert!(!client.wants_log(), "unless the client asks");
        for (level, wanted) in [("debug", true), ("info", true), ("notice", false)] {
            assert!(session.set_level(level));
            assert_eq!(client.wants_log(), wanted, "{level}");
        }
        assert!(!session.set_level("loud"));
    }

    #[tokio::test]
    async fn a_question_waits_for_its_own_response() {
        let session = Arc::new(ClientSession::new(Data::from_json(r#"{"elicitation": {}}"#).unwrap()));
        let (sender, mut sent) = mpsc::channel(4);
        let client = McpClient::of_session(session.clone(), 1.into(), &Data::Nil, MessageSender::new(sender));
        let reply = |id: i64, result: Option<&str>| Answer {
            id: jsonrpc::Id::of_json(&id.into()),
            result: result.map(|text| Data::from_json(text).unwrap()),
            error: None,
        };
        let asked = client.clone();
        let asked = tokio::spawn(async move { asked.ask("Sure?", Data::Nil).await });
        let request = Data::from_json(&sent.recv().await.unwrap()).unwrap();
        assert_eq!(request.get("params").get("message").as_str(), Some("Sure?"));
        session.replied(&reply(7, Some(r#"{"action": "decline"}"#)));
        session.replied(&reply(1, Some(r#"{"action": "accept", "content": {"answer": "yes"}}"#)));
        assert_eq!(asked.await.unwrap(), Ok(Some("yes".to_owned())));
        // The client refuses the request, and then the session ends.
        let asked = client.clone();
        let asked = tokio::spawn(async move { (asked.ask("A?", Data::Nil).await, asked.ask("B?", Data::Nil).await) });
        sent.recv().await.unwrap();
        session.replied(&reply(2, None));
        sent.recv().await.unwrap();
        session.end();
        assert_eq!(asked.await.unwrap(), (Err(CannotAsk), Err(CannotAsk)));
        // A question that is given up is withdrawn.
        let asked = tokio::spawn(async move { client.ask("C?", Data::Nil).await });
        sent.recv().await.unwrap();
        asked.abort();
        let withdrawn = Data::from_json(&sent.recv().await.unwrap()).unwrap();
        assert_eq!(withdrawn.get("method").as_str(), Some("notifications/cancelled"));
        assert_eq!(withdrawn.get("params").get("requestId").as_int(), Some(4));
        assert!(session.lock().asked.is_empty());
    }

    #[test]
    fn forms_are_taken_as_declared() {
        for (declared, taken) in [
            ("{}", false),
            (r#"{"elicitation": {}}"#, true),
            (r#"{"elicitation": {"form": {}}}"#, true),
            (r#"{"elicitation": {"form": {}, "url": {}}}"#, true),
            (r#"{"elicitation": {"url": {}}}"#, false),
        ] {
            let session = Arc::new(ClientSession::new(Data::from_json(declared).unwrap()));
            let client = McpClient::of_session(session, 1.into(), &Data::Nil, MessageSender::default());
            assert_eq!(client.takes_forms(), taken, "{declared}");
        }
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
