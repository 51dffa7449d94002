//! The messages that are sent, by a thread of their own: a client that does not read for a moment keeps nothing waiting.

use crate::error::LspError;
use crate::frame;
use jsonrpc::Id;
use serde::Serialize;
use serde_json::json;
use std::io::{self, BufWriter, Write};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// The messages that wait to be written.
const WAITING: usize = 1024;

/// The messages that are sent.
pub(super) struct Outbox {
    sender: SyncSender<String>,
    thread: Option<JoinHandle<()>>,
    /// The number of requests that were sent.
    requests: i64,
}

impl Outbox {
    /// Starts the thread that writes.
    pub(super) fn start(output: impl Write + Send + 'static) -> Self {
        let (sender, receiver) = sync_channel::<String>(WAITING);
        let write = move || {
            let mut output = BufWriter::new(output);
            for message in receiver {
                if let Err(error) = frame::write(&mut output, &message) {
                    tracing::error!(%error, "cannot write to the client");
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name("lsp-write".to_owned()).spawn(write).ok();
        Self { sender, thread, requests: 0 }
    }

    fn send(&self, message: String) -> io::Result<()> {
        self.sender.send(message).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    pub(super) fn result(&self, id: &Id, result: &impl Serialize) -> io::Result<()> {
        self.send(jsonrpc::result(id, result))
    }

    pub(super) fn error(&self, id: &Id, error: &LspError) -> io::Result<()> {
        self.send(jsonrpc::error(id, error))
    }

    pub(super) fn notify<N: lsp_types::notification::Notification>(&self, params: &N::Params) -> io::Result<()> {
        self.send(json!({"jsonrpc": "2.0", "method": N::METHOD, "params": params}).to_string())
    }

    pub(super) fn request<R: lsp_types::request::Request>(&mut self, params: &R::Params) -> io::Result<()> {
        self.requests += 1;
        self.send(json!({"jsonrpc": "2.0", "id": self.requests, "method": R::METHOD, "params": params}).to_string())
    }

    /// Waits until everything is written.
    pub(super) fn end(self) {
        let Self { sender, thread, .. } = self;
        drop(sender);
        // A thread that has panicked has nothing left to write.
        let _ = thread.map(JoinHandle::join);
    }
}
