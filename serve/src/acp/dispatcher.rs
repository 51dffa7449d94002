//! [`Dispatcher`]: dispatches incoming messages, which are answered later. It runs on the thread that serves all
//! sessions, so nothing here waits.

use std::collections::HashSet;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use base::data::Data;
use jsonrpc::{Id, Message, Request};
use serde_json::Value;
use tokio::task::JoinSet;

use super::connection::EditorConnection;
use super::error::ErrorResponse;
use super::initialize;
use super::injection;
use super::method::{AcpMethod, AcpTransport, RESUME_EVENTS};
use super::session::AcpSessions;
use super::update::{ReminderUpdates, WantedUpdates};
use crate::bridge::{self, BridgeMethod};
use crate::spawn::spawn_in;

/// The maximum number of unknown notification names to log.
const NAMES_TOLD: usize = 64;

/// A pending response, and an action for after it is sent.
type PendingResponse = Pin<Box<dyn Future<Output = (Result<Value, ErrorResponse>, Option<AfterResponse>)> + Send>>;

/// An action for after a response is sent.
type AfterResponse = Box<dyn FnOnce() + Send>;

/// The result of a request.
enum RequestOutcome {
    Now(Result<Value, ErrorResponse>),
    Later(PendingResponse),
}

impl RequestOutcome {
    fn later(work: impl Future<Output = Result<Value, ErrorResponse>> + Send + 'static) -> RequestOutcome {
        RequestOutcome::Later(Box::pin(async move { (work.await, None) }))
    }
}

/// The methods of a connection.
pub(crate) struct Dispatcher {
    connection: EditorConnection,
    /// The responses that are not sent yet.
    pending: JoinSet<()>,
    sessions: AcpSessions,
    reminders: ReminderUpdates,
    /// Whether the editor has sent its capabilities.
    initialized: bool,
    told: HashSet<String>,
}

impl Dispatcher {
    pub(crate) fn new(connection: EditorConnection, reminders: ReminderUpdates, sessions: AcpSessions) -> Dispatcher {
        let pending = JoinSet::new();
        Dispatcher { connection, pending, sessions, reminders, initialized: false, told: HashSet::new() }
    }

    /// Handles a message.
    pub(crate) fn take(&mut self, message: Message<Value>) {
        // Those that have ended.
        while self.pending.try_join_next().is_some() {}
        match message {
            Message::Request(Request { id: Some(id), method, params }) => {
                self.answer(id, &method, params.unwrap_or_default());
            }
            Message::Request(Request { id: None, method, params }) => {
                self.notification(&method, params.unwrap_or_default());
            }
            Message::Answer(answer) => self.connection.answered(answer),
        }
    }

    /// Waits until all requests are answered.
    pub(crate) async fn all_answered(mut self) {
        while self.pending.join_next().await.is_some() {}
    }

    fn answer(&mut self, id: Id, method: &str, params: Value) {
        let mut work = match self.request(&id, method, params) {
            RequestOutcome::Now(answer) => return self.connection.respond(&id, answer),
            RequestOutcome::Later(work) => work,
        };
        // Poll once immediately, so that consecutive requests reach the host in order.
        let connection = self.connection.clone();
        match work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(done) => finish(&connection, &id, done),
            Poll::Pending => _ = spawn_in(&mut self.pending, async move { finish(&connection, &id, work.await) }),
        }
    }

    fn request(&mut self, id: &Id, method: &str, params: Value) -> RequestOutcome {
        let method = match AcpMethod::of(method, AcpTransport::Lines, self.initialized) {
            Ok(method) => method,
            Err(refusal) => return RequestOutcome::Now(Err(refusal)),
        };
        let sessions = self.sessions.clone();
        match method {
            AcpMethod::Initialize => RequestOutcome::Now(self.initialize(&params)),
            AcpMethod::Authenticate => RequestOutcome::Now(Err(ErrorResponse::no_authentication())),
            // Only the table of a WebSocket has it: an editor reads all that it is sent.
            AcpMethod::ResumeEvents => RequestOutcome::Now(Err(ErrorResponse::not_offered(RESUME_EVENTS))),
            AcpMethod::New => RequestOutcome::Later(Box::pin(open(sessions, params))),
            AcpMethod::Prompt => RequestOutcome::later(sessions.prompt(params, self.connection.receive(id))),
            AcpMethod::SetMode => RequestOutcome::Now(sessions.set_mode(&params)),
            AcpMethod::List => RequestOutcome::later(sessions.list(params)),
            AcpMethod::Load => RequestOutcome::later(sessions.again(params, true)),
            AcpMethod::Resume => RequestOutcome::later(sessions.again(params, false)),
            AcpMethod::Close => RequestOutcome::later(sessions.close(params)),
            AcpMethod::Bridge(known) => {
                RequestOutcome::later(injection::settled(injection::accept(&sessions.host, known, params)))
            }
        }
    }

    fn initialize(&mut self, params: &Value) -> Result<Value, ErrorResponse> {
        let client = initialize::read(params)?;
        self.sessions.peer.want(WantedUpdates::of(&client, self.reminders));
        self.initialized = true;
        initialize::answer(self.sessions.host.keeps_sessions(), &injection::capability())
            .map_err(|error| ErrorResponse::broken(error.to_string()))
    }

    /// Handles a notification. It gets no response; errors are logged.
    fn notification(&mut self, method: &str, params: Value) {
        let outcome = match method {
            "session/cancel" => self.sessions.cancel(&params),
            "$/cancel_request" => return self.connection.cancel(&params),
            // Before `initialize` no session is open that could accept it.
            _ if BridgeMethod::of(method).is_some() => return self.put_in(method, params),
            // Other optional messages of the protocol itself.
            _ if method.starts_with("$/") => Ok(()),
            _ if self.told.len() >= NAMES_TOLD || !self.told.insert(method.to_owned()) => Ok(()),
            _ => Err(ErrorResponse::unknown_method(method, ["session/cancel"].into_iter().chain(injection::names()))),
        };
        if let Err(refusal) = outcome {
            tracing::warn!(code = refusal.code(), "the notification `{method}` was ignored: {}", refusal.message());
        }
    }
}

impl Dispatcher {
    /// Handles an injection by notification.
    fn put_in(&self, name: &str, params: Value) {
        let Some(method) = BridgeMethod::of(name) else { return };
        let noted = injection::of_host(method, params).map_err(|refusal| refusal.message().to_owned());
        let noted = noted.and_then(|params| bridge::notify(method, &Data::from(params), &self.sessions.host));
        if let Err(why) = noted {
            if method.injects() {
                self.sessions.host.metrics().injections.refused.add();
            }
            tracing::warn!("the notification `{name}` had no effect: {why}");
        }
    }
}

/// Handles `session/new`. The session's events so far follow the response.
async fn open(sessions: AcpSessions, params: Value) -> (Result<Value, ErrorResponse>, Option<AfterResponse>) {
    let peer = sessions.peer.clone();
    match sessions.open(params).await {
        Ok((answer, handle)) => {
            let cwd = handle.cwd().map(Into::into).unwrap_or_default();
            (Ok(answer), Some(Box::new(move || peer.announce(handle.id(), cwd))))
        }
        Err(refusal) => (Err(refusal), None),
    }
}

fn finish(
    connection: &EditorConnection,
    id: &Id,
    (answer, after): (Result<Value, ErrorResponse>, Option<AfterResponse>),
) {
    connection.respond(id, answer);
    if let Some(after) = after {
        after();
    }
}
