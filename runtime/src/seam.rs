//! The seams between the core and everything that has behaviour: the context of a call ([`Turn`]), and the traits that
//! the loop calls ([`Tool`], [`Model`], [`Compactor`], [`Permissions`], [`Approver`]; hooks and reminder providers have
//! their traits next to their registries).
//!
//! Data is `Send`, behaviour is not: these traits live behind `Rc` on the worker that owns the session. No borrow of a
//! session is alive while one of them runs, so any of them may call back into the same session.
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use base::call::{Answer, CallError, Outcome, call_error};
use base::data::Data;

use crate::budget::Quote;
use crate::lifecycle::archive::Summary;
use crate::message::{Message, ToolCall, ToolSpec};
use crate::model::{Delta, Destination, ModelReply, Request};
use crate::reminder::Reminder;
use crate::scope::Scope;
use crate::session::Session;
use crate::timeout::TimedOut;

mod permission;

pub use permission::{ApprovalDemand, Approver, PermissionOutcome, PermissionRuling, Permissions};

/// The context of a call: the session, its turn, and the scope.
#[derive(Clone, Copy)]
pub struct Turn<'a> {
    /// The session.
    pub session: &'a Rc<Session>,
    /// The turn, from 1 over the whole life of the session; 0 before the first.
    pub number: u32,
    /// Scope of the call.
    pub scope: &'a Scope,
}

impl fmt::Debug for Turn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Turn({}, {})", self.session.id(), self.number)
    }
}

/// The output of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// Text that the model sees.
    pub text: Arc<str>,
    /// The value that the tool returned, for hooks and results.
    pub value: Data,
    /// Whether the tool succeeded.
    pub ok: bool,
    /// Whether the tool itself cut its output short.
    pub truncated: bool,
}

impl Output {
    /// Creates a successful output: text unchanged, anything else as JSON.
    #[must_use]
    pub fn of(value: Data) -> Output {
        Output { text: value.to_text(), value, ok: true, truncated: false }
    }

    /// Creates a failed output with an error message for the model.
    pub fn error(message: impl Into<Arc<str>>) -> Output {
        let text = message.into();
        Output { value: Data::Str(text.clone()), text, ok: false, truncated: false }
    }
}

/// The content that a call is about to replace, as it was when its permission was requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// The current text; `None` if there is none.
    pub old_text: Option<Arc<str>>,
}

/// Something the model can call.
pub trait Tool {
    /// Returns the tool's description for the model.
    fn spec(&self) -> &ToolSpec;
    /// Reads the content that the call is about to replace, before its permission is requested. With an error, the call
    /// is refused for that reason and no question is asked.
    fn preview(&self, _call: &ToolCall) -> Result<Option<Preview>, String> {
        Ok(None)
    }
    /// Runs a call that was allowed for the result of [`Tool::preview`]; fails if the content has changed since.
    fn call_previewed<'a>(
        &'a self,
        turn: Turn<'a>,
        call: &'a ToolCall,
        _preview: &'a Preview,
    ) -> Answer<'a, Outcome<Output>> {
        self.call(turn, call)
    }
    /// Runs it. A fault becomes an error result for the model, unless it is a cancellation or a deadline.
    fn call<'a>(&'a self, turn: Turn<'a>, call: &'a ToolCall) -> Answer<'a, Outcome<Output>>;
}

/// A model: a route, the mock, or a script's own caller. Each model handles retries itself.
pub trait Model {
    /// Fails if the request could not even be sent (unknown route, missing key). Called before reminders count as
    /// fired.
    fn ready(&self, _request: &Request) -> Outcome<()> {
        Ok(())
    }

    /// Returns the destination of a request, for the log.
    fn destination(&self, request: &Request) -> Destination {
        Destination { provider: request.provider.clone(), model: request.model.clone() }
    }

    /// Returns the most that a request can use. Asked only if a budget applies.
    ///
    /// # Errors
    /// The request cannot be sent, for the reason that [`Model::call`] would return.
    fn quote(&self, request: &Request) -> Outcome<Quote> {
        Ok(Quote::unknown(self.destination(request), request))
    }

    /// Returns the time that an abandoned call has to clean up, in milliseconds; calls that only wait for a server are
    /// dropped.
    fn grace_ms(&self) -> u64 {
        0
    }

    /// Sends one request. Pieces of the answer may be shown to `live` as they arrive.
    fn call<'a>(
        &'a self,
        turn: Turn<'a>,
        request: &'a Request,
        live: &'a dyn Fn(Delta<'_>),
    ) -> Answer<'a, Outcome<ModelReply>>;
}

/// A compactor that shortens a transcript.
pub trait Compactor {
    /// Returns the diagnostic for a compactor that took longer than `ms` milliseconds, a handler's limit.
    fn late(&self, ms: u64) -> Rc<dyn CallError> {
        call_error(TimedOut { ms })
    }
    /// Receives the messages to archive and the reminders that survived TTL and dedupe.
    fn compact<'a>(
        &'a self,
        turn: Turn<'a>,
        messages: &'a [Arc<Message>],
        pending: &'a [Arc<Reminder>],
    ) -> Answer<'a, Outcome<Summary>>;
}
