//! [`Front`]: what comes in is handed over and answered later. It runs on the thread that serves all sessions, so nothing here
//! waits.

use std::collections::HashSet;
use std::pin::Pin;
use std::task::Poll;

use agent_client_protocol::{
    Client as Editor, ConnectionTo, Dispatch, Error, HandleDispatchFrom, Handled, Responder, UntypedMessage,
};
use runtime::data::Data;
use serde_json::Value;

use super::error::Refusal;
use super::initialize;
use super::injection;
use super::session::Sessions;
use super::update::{ReminderUpdates, Wants};
use crate::bridge::{self, Method};

/// The requests that are answered.
const REQUESTS: [&str; 9] = [
    "initialize",
    "authenticate",
    "session/new",
    "session/load",
    "session/resume",
    "session/list",
    "session/prompt",
    "session/set_mode",
    "session/close",
];

/// Requests of the protocol, or of its next version, that are not answered. Their names are near to those that are.
const NOT_OFFERED: [&str; 6] =
    ["session/set_model", "session/set_config_option", "session/delete", "session/fork", "session/set_title", "logout"];

/// How many names of unknown notifications are told of.
const NAMES_TOLD: usize = 64;

/// What comes later: the answer, and what is to happen once it is out.
type Later = Pin<Box<dyn Future<Output = (Result<Value, Refusal>, Option<After>)> + Send>>;

/// What is to happen once an answer is out.
type After = Box<dyn FnOnce() + Send>;

/// What a request comes to.
enum Answer {
    Now(Result<Value, Refusal>),
    Later(Later),
}

impl Answer {
    fn later(work: impl Future<Output = Result<Value, Refusal>> + Send + 'static) -> Answer {
        Answer::Later(Box::pin(async move { (work.await, None) }))
    }
}

/// The methods of a connection.
pub(crate) struct Front {
    sessions: Sessions,
    reminders: ReminderUpdates,
    /// The editor has said what it can do.
    initialized: bool,
    told: HashSet<String>,
}

impl Front {
    pub(crate) fn new(reminders: ReminderUpdates, sessions: Sessions) -> Front {
        Front { sessions, reminders, initialized: false, told: HashSet::new() }
    }

    fn request(&mut self, message: UntypedMessage, responder: &Responder<Value>) -> Answer {
        let (method, params) = message.into_parts();
        if !self.initialized && method != "initialize" {
            return Answer::Now(Err(Refusal::not_initialized(&method)));
        }
        let sessions = self.sessions.clone();
        match &*method {
            "initialize" => Answer::Now(self.initialize(&params)),
            "authenticate" => Answer::Now(Err(Refusal::params(
                "methodId",
                "unknown `methodId`: this agent needs no authentication, so `authMethods` is empty",
            ))),
            "session/new" => Answer::Later(Box::pin(open(sessions, params))),
            "session/prompt" => Answer::later(sessions.prompt(params, responder.cancellation())),
            "session/set_mode" => Answer::Now(sessions.set_mode(&params)),
            "session/list" => Answer::later(sessions.list(params)),
            "session/load" => Answer::later(sessions.again(params, true)),
            "session/resume" => Answer::later(sessions.again(params, false)),
            "session/close" => Answer::later(sessions.close(params)),
            it if NOT_OFFERED.contains(&it) => Answer::Now(Err(Refusal::not_offered(it))),
            _ => match Method::of(&method) {
                Some(known) => Answer::later(injection::settled(injection::accept(&sessions.host, known, params))),
                None => {
                    Answer::Now(Err(Refusal::unknown_method(&method, REQUESTS.into_iter().chain(injection::names()))))
                }
            },
        }
    }

    fn initialize(&mut self, params: &Value) -> Result<Value, Refusal> {
        let client = initialize::read(params)?;
        self.sessions.peer.want(Wants::of(&client, self.reminders));
        self.initialized = true;
        initialize::answer(self.sessions.host.keeps_sessions(), &injection::capability())
            .map_err(|error| Refusal::broken(error.to_string()))
    }

    /// A notification is never answered; what is wrong with one is told to whoever started the process.
    fn notification(&mut self, message: UntypedMessage) {
        let (method, params) = message.into_parts();
        let outcome = match &*method {
            "session/cancel" => self.sessions.cancel(&params),
            // Before `initialize` nothing is open that could take it.
            _ if Method::of(&method).is_some() => return self.put_in(&method, params),
            // Of the protocol itself, and optional: `$/cancel_request` is known to the connection.
            _ if method.starts_with("$/") => Ok(()),
            _ if self.told.len() >= NAMES_TOLD || !self.told.insert(method.clone()) => Ok(()),
            _ => Err(Refusal::unknown_method(&method, ["session/cancel"].into_iter().chain(injection::names()))),
        };
        if let Err(refusal) = outcome {
            tracing::warn!(code = refusal.code(), "the notification `{method}` was ignored: {}", refusal.message());
        }
    }
}

impl Front {
    /// What is put in by a notification.
    fn put_in(&self, name: &str, params: Value) {
        let Some(method) = Method::of(name) else { return };
        if let Err(why) = bridge::notify(method, &Data::from(params), &self.sessions.host) {
            if method.injects() {
                self.sessions.host.metrics().injections.refused.add();
            }
            tracing::warn!("the notification `{name}` had no effect: {why}");
        }
    }
}

impl HandleDispatchFrom<Editor> for Front {
    async fn handle_dispatch_from(
        &mut self,
        message: Dispatch,
        _connection: ConnectionTo<Editor>,
    ) -> Result<Handled<Dispatch>, Error> {
        match message {
            Dispatch::Request(message, responder) => match self.request(message, &responder) {
                Answer::Now(answer) => respond(responder, answer),
                Answer::Later(mut work) => {
                    // Once at once, so that what is asked in a row is handed over in that order.
                    match std::future::poll_fn(|cx| Poll::Ready(work.as_mut().poll(cx))).await {
                        Poll::Ready(done) => finish(responder, done),
                        Poll::Pending => {
                            tokio::spawn(async move { finish(responder, work.await) });
                        }
                    }
                }
            },
            Dispatch::Notification(message) => self.notification(message),
            message @ Dispatch::Response(..) => return Ok(Handled::No { message, retry: false }),
        }
        Ok(Handled::Yes)
    }

    fn describe_chain(&self) -> impl std::fmt::Debug {
        "Front"
    }
}

/// `session/new`: what the session has shown so far follows its answer.
async fn open(sessions: Sessions, params: Value) -> (Result<Value, Refusal>, Option<After>) {
    let peer = sessions.peer.clone();
    match sessions.open(params).await {
        Ok((answer, handle)) => {
            let cwd = handle.cwd().map(Into::into).unwrap_or_default();
            (Ok(answer), Some(Box::new(move || peer.announce(handle.id(), cwd))))
        }
        Err(refusal) => (Err(refusal), None),
    }
}

fn finish(responder: Responder<Value>, (answer, after): (Result<Value, Refusal>, Option<After>)) {
    respond(responder, answer);
    if let Some(after) = after {
        after();
    }
}

fn respond(responder: Responder<Value>, answer: Result<Value, Refusal>) {
    // It fails only where the connection has ended, and then nobody waits for it.
    let _ = responder.respond_with_result(answer.map_err(Error::from));
}
