//! The messages that have arrived and are not handled yet.
//!
//! A thread reads them. Before each is handled, those that have arrived are taken from the thread, so that a request can be found
//! to be cancelled or outdated.

use super::cut_texts::LostEdit;
use super::received;
use crate::error::LspError;
use crate::frame;
use jsonrpc::{Id, Message, Request};
use serde_json::Value;
use std::collections::VecDeque;
use std::io::{self, BufRead};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, sync_channel};
use std::thread;
use std::time::Instant;

/// The messages that the thread reads ahead.
const AHEAD: usize = 16;
/// The messages that wait in the queue.
const WAITING: usize = 1024;

/// Something that arrived.
pub(super) enum Received {
    /// A message.
    Message(Message<Value>),
    /// Something else, with the id to answer to.
    Invalid { id: Option<Id>, error: LspError, edit: Option<LostEdit> },
    /// The end of the stream.
    End,
    /// The stream cannot be read.
    Failed(io::Error),
}

/// The messages that have arrived.
pub(super) struct Inbox {
    arriving: Receiver<Received>,
    waiting: VecDeque<Received>,
    /// Requests that were cancelled before they were handled.
    cancelled: Vec<Id>,
}

impl Inbox {
    /// Starts the thread that reads.
    pub(super) fn start(mut input: impl BufRead + Send + 'static) -> Self {
        let (sender, arriving) = sync_channel(AHEAD);
        let read = move || {
            loop {
                let next = match frame::read(&mut input) {
                    Ok(frame) => received(frame),
                    Err(error) => Received::Failed(error),
                };
                let last = matches!(next, Received::End | Received::Failed(_));
                if sender.send(next).is_err() || last {
                    return;
                }
            }
        };
        // Without a thread the channel is closed, which is the end of the stream.
        let _ = thread::Builder::new().name("lsp-read".to_owned()).spawn(read);
        Self { arriving, waiting: VecDeque::new(), cancelled: Vec::new() }
    }

    /// Returns the next message. `None` if there is none until `due`.
    pub(super) fn next(&mut self, due: Option<Instant>) -> Option<Received> {
        self.take_arrived();
        if let Some(next) = self.waiting.pop_front() {
            return Some(next);
        }
        let arrived = match due {
            None => self.arriving.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(due) => self.arriving.recv_timeout(due.saturating_duration_since(Instant::now())),
        };
        match arrived {
            Ok(arrived) => self.wait(arrived),
            Err(RecvTimeoutError::Timeout) => return None,
            Err(RecvTimeoutError::Disconnected) => return Some(Received::End),
        }
        self.take_arrived();
        self.waiting.pop_front()
    }

    /// Moves what has arrived to the queue.
    pub(super) fn take_arrived(&mut self) {
        while self.waiting.len() < WAITING {
            match self.arriving.try_recv() {
                Ok(arrived) => self.wait(arrived),
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return,
            }
        }
    }

    fn wait(&mut self, arrived: Received) {
        match cancelled_id(&arrived) {
            Some(id) => {
                let is_it = |waiting: &Received| matches!(waiting, Received::Message(Message::Request(Request { id: Some(known), .. })) if *known == id);
                // A request that is not waiting has been answered.
                if let Some(at) = self.waiting.iter().position(is_it) {
                    self.waiting.remove(at);
                    self.cancelled.push(id);
                }
            }
            None => self.waiting.push_back(arrived),
        }
    }

    /// Returns the requests that were cancelled since the last call.
    pub(super) fn take_cancelled(&mut self) -> Vec<Id> {
        std::mem::take(&mut self.cancelled)
    }

    pub(super) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Returns whether a change of a document waits.
    pub(super) fn changes(&self, uri: &str) -> bool {
        self.waiting.iter().any(|waiting| match waiting {
            Received::Message(Message::Request(Request { id: None, method, params: Some(params) })) => {
                method == "textDocument/didChange"
                    && params.pointer("/textDocument/uri").and_then(Value::as_str) == Some(uri)
            }
            _ => false,
        })
    }
}

/// Returns the request that a message cancels.
fn cancelled_id(arrived: &Received) -> Option<Id> {
    match arrived {
        Received::Message(Message::Request(Request { id: None, method, params: Some(params) }))
            if method == "$/cancelRequest" =>
        {
            Id::of_json(params.get("id")?)
        }
        _ => None,
    }
}
