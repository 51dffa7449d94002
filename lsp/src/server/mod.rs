//! The loop that reads messages, orders and answers them.
//!
//! - [`inbox`]: the messages that have arrived. [`outbox`]: those that are sent.
//! - [`lifecycle`]: `initialize`, `shutdown`, and the capabilities. [`documents`]: the notifications about documents and files.
//! - [`publish`]: the diagnostics that the server sends without being asked.

mod cut_texts;
mod documents;
mod inbox;
mod lifecycle;
mod outbox;
mod publish;

use crate::error::LspError;
use crate::features::{Feature, IfOutdated, feature};
use crate::frame;
use crate::workspace::{ClientSupport, Snapshot, Workspace};
use inbox::{Inbox, Received};
use jsonrpc::{Id, Message, Request};
use lifecycle::Phase;
use outbox::Outbox;
use publish::Publisher;
use serde_json::Value;
use std::io::{self, BufReader, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

/// The stack of the thread that answers. A tree may be a thousand levels deep.
const STACK: usize = 64 << 20;

/// The exit code of a client that ended the session as the protocol says.
const ENDED: i32 = 0;
/// The exit code of a client that went away without `shutdown`, or a stream that cannot be read or written.
const BROKEN: i32 = 1;

/// Serves a client until it sends `exit` or closes its end. Returns the exit code of the process.
pub fn serve(input: impl Read + Send + 'static, output: impl Write + Send + 'static) -> i32 {
    let run = || Server::new(Inbox::start(BufReader::new(input)), Outbox::start(output)).run();
    let thread = thread::Builder::new().name("lsp".to_owned()).stack_size(STACK).spawn(run);
    thread
        .map_err(|error| error.to_string())
        .and_then(|thread| thread.join().map_err(|_| "it panicked".to_owned()))
        .unwrap_or_else(|error| {
            tracing::error!(%error, "the language server has failed");
            BROKEN
        })
}

/// A server and its client.
struct Server {
    inbox: Inbox,
    outbox: Outbox,
    phase: Phase,
    client: ClientSupport,
    workspace: Workspace,
    publisher: Publisher,
}

/// Whether the loop goes on.
enum Next {
    Continue,
    Exit(i32),
}

impl Server {
    fn new(inbox: Inbox, outbox: Outbox) -> Self {
        Self {
            inbox,
            outbox,
            phase: Phase::Started,
            client: ClientSupport::default(),
            workspace: Workspace::default(),
            publisher: Publisher::default(),
        }
    }

    fn run(mut self) -> i32 {
        let code = loop {
            match self.step() {
                Ok(Next::Continue) => {}
                Ok(Next::Exit(code)) => break code,
                Err(error) => {
                    tracing::error!(%error, "the connection has failed");
                    break BROKEN;
                }
            }
        };
        self.outbox.end();
        code
    }

    /// Handles the next message, or sends what is due if there is none.
    fn step(&mut self) -> io::Result<Next> {
        for id in self.inbox.take_cancelled() {
            self.outbox.error(&id, &LspError::cancelled())?;
        }
        let due = self.publisher.due();
        match self.inbox.next(due) {
            None => {
                self.publish()?;
                Ok(Next::Continue)
            }
            Some(Received::Message(message)) => self.handle(message),
            Some(Received::Invalid { id, error, edit }) => {
                tracing::warn!(problem = error.message(), "invalid message");
                if let Some(edit) = edit {
                    self.lose(edit.uri.as_deref())?;
                }
                if let Some(id) = id {
                    self.outbox.error(&id, &error)?;
                }
                Ok(Next::Continue)
            }
            Some(Received::End) => Ok(Next::Exit(if self.phase == Phase::ShutDown { ENDED } else { BROKEN })),
            Some(Received::Failed(error)) => Err(error),
        }
    }

    fn handle(&mut self, message: Message<Value>) -> io::Result<Next> {
        match message {
            Message::Request(Request { id: Some(id), method, params }) => {
                let result = self.respond(&method, params.unwrap_or_default());
                match result {
                    Ok(result) => self.outbox.result(&id, &result)?,
                    Err(error) => {
                        tracing::debug!(method, problem = error.message(), "request failed");
                        self.outbox.error(&id, &error)?;
                    }
                }
            }
            Message::Request(Request { id: None, method, .. }) if method == "exit" => {
                return Ok(Next::Exit(if self.phase == Phase::ShutDown { ENDED } else { BROKEN }));
            }
            Message::Request(Request { id: None, method, params }) => {
                if self.phase == Phase::Running {
                    self.notified(&method, params.unwrap_or_default())?;
                } else {
                    tracing::warn!(method, "ignored a notification outside of a session");
                }
            }
            // The server only registers watchers; a client that refuses them reports no changes.
            Message::Answer(answer) => {
                if let Some(error) = answer.error {
                    tracing::warn!(%error, "the client refused a request");
                }
            }
        }
        Ok(Next::Continue)
    }

    fn respond(&mut self, method: &str, params: Value) -> Result<Value, LspError> {
        match (self.phase, method) {
            (Phase::Started, "initialize") => self.initialize(params),
            (Phase::Started, _) => Err(LspError::not_initialized()),
            (Phase::ShutDown, _) => Err(LspError::shut_down()),
            (Phase::Running, "initialize") => Err(LspError::initialized_twice()),
            (Phase::Running, "shutdown") => {
                self.phase = Phase::ShutDown;
                Ok(Value::Null)
            }
            (Phase::Running, method) => self.answer(method, params),
        }
    }

    fn answer(&self, method: &str, params: Value) -> Result<Value, LspError> {
        let feature = feature(method).ok_or_else(|| LspError::unknown_method(method))?;
        if is_outdated(feature, &params, &self.inbox) {
            return Err(LspError::content_modified());
        }
        let uri = params.pointer("/textDocument/uri").and_then(Value::as_str);
        // A rename edits any document.
        if uri.is_some() && self.workspace.concerns_lost(uri.filter(|_| method != "textDocument/rename")) {
            return Err(LspError::lost());
        }
        let snapshot = Snapshot::new(&self.workspace, &self.client);
        // A mistake in one feature must not end the session.
        let answered = catch_unwind(AssertUnwindSafe(|| (feature.answer)(&snapshot, params)));
        self.workspace.trim();
        answered.unwrap_or_else(|_| {
            tracing::error!(method, "a request has panicked");
            Err(LspError::internal())
        })
    }
}

/// Returns whether the document of a request has changed again, and the client asks for the result of the new text anyway.
fn is_outdated(feature: &Feature, params: &Value, inbox: &Inbox) -> bool {
    let uri = params.pointer("/textDocument/uri").and_then(Value::as_str);
    feature.if_outdated == IfOutdated::Refuse && uri.is_some_and(|uri| inbox.changes(uri))
}

/// Returns the message for bytes that arrived.
fn received(frame: frame::Frame) -> Received {
    const RULES: jsonrpc::Rules =
        jsonrpc::Rules { ids: jsonrpc::IdRule::Integers, max_id_len: 1024, positional_params: true, answers: true };
    let null = || Some(Id::null());
    match frame {
        frame::Frame::End => Received::End,
        frame::Frame::TooLarge { bytes } => {
            Received::Invalid { id: null(), error: LspError::too_large(bytes, frame::LARGEST), edit: None }
        }
        frame::Frame::Body(body) => match jsonrpc::read::<Value>(&body, &RULES) {
            Ok(mut message) => {
                if let Message::Request(Request { id: None, params: Some(params), .. }) = &mut message {
                    cut_texts::keep(params, &body);
                }
                Received::Message(message)
            }
            Err(problem) => {
                let error = LspError::envelope(&problem.problem);
                // Two peers that answer invalid responses would never stop.
                let id = if problem.is_answer { None } else { Some(problem.id) };
                Received::Invalid { id, error, edit: cut_texts::LostEdit::of(&body) }
            }
        },
    }
}
