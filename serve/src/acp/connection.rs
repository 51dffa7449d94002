//! [`EditorConnection`]: requests and notifications to the editor, and its answers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jsonrpc::{Answer, Id};
use serde_json::{Value, json};
use tokio::sync::{Notify, oneshot};

use super::error::ErrorResponse;
use super::transport::{OutputGauge, Writer};

/// Why a request to the editor has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RequestFailure {
    /// The editor has closed its output, so no answer can come.
    Closed,
    /// The editor answered with an error.
    Error {
        /// The JSON-RPC code.
        code: i64,
        /// The editor's sentence.
        message: String,
    },
}

/// Tells the work on a request that the editor has cancelled it.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestCancellation(Arc<Notify>);

impl RequestCancellation {
    /// Waits until the editor cancels the request.
    pub(crate) async fn cancelled(&self) {
        self.0.notified().await;
    }
}

/// The connection to one editor. Clones share it. Nothing here waits: the gauge limits what is queued.
#[derive(Clone)]
pub(crate) struct EditorConnection {
    writer: Writer,
    gauge: Arc<OutputGauge>,
    requests: Arc<Mutex<OpenRequests>>,
}

/// The requests of both sides that have no answer yet.
#[derive(Default)]
struct OpenRequests {
    /// The requests to the editor, by number.
    sent: HashMap<u64, oneshot::Sender<Result<Value, RequestFailure>>>,
    last: u64,
    /// Whether the editor has closed its output.
    is_closed: bool,
    /// The editor's requests.
    received: HashMap<Id, RequestCancellation>,
}

impl EditorConnection {
    pub(crate) fn new(writer: Writer, gauge: Arc<OutputGauge>) -> EditorConnection {
        EditorConnection { writer, gauge, requests: Arc::default() }
    }

    /// Sends a notification.
    pub(crate) fn notify(&self, method: &str, params: &Value) {
        self.put(jsonrpc::notification(method, params));
    }

    /// Sends a request, and waits for its answer. If the future is dropped, the request is cancelled.
    pub(crate) fn request(
        &self,
        method: &str,
        params: &Value,
    ) -> impl Future<Output = Result<Value, RequestFailure>> + Send + 'static {
        let (answered, answer) = oneshot::channel();
        let number = {
            let mut requests = self.requests();
            requests.last += 1;
            let number = requests.last;
            // A closed connection drops the sender, which the receiver sees.
            if !requests.is_closed {
                requests.sent.insert(number, answered);
            }
            number
        };
        self.put(jsonrpc::request(&Id::text(&sent_id(number)), method, params));
        let open = OpenRequest { connection: self.clone(), number };
        async move {
            let _open = open;
            answer.await.unwrap_or(Err(RequestFailure::Closed))
        }
    }

    /// Registers a request of the editor, until [`respond`](Self::respond).
    pub(crate) fn receive(&self, id: &Id) -> RequestCancellation {
        let cancellation = RequestCancellation::default();
        self.requests().received.insert(id.clone(), cancellation.clone());
        cancellation
    }

    /// Answers a request of the editor.
    pub(crate) fn respond(&self, id: &Id, answer: Result<Value, ErrorResponse>) {
        self.requests().received.remove(id);
        self.put(match answer {
            Ok(result) => jsonrpc::result(id, &result),
            Err(error) => jsonrpc::error(id, &error.into_json()),
        });
    }

    /// Tells the work on a request that the editor cancels it; `params` are those of `$/cancel_request`. A request that is
    /// answered has nothing to cancel.
    pub(crate) fn cancel(&self, params: &Value) {
        let Some(id) = Id::of_json(&params["requestId"]) else { return };
        if let Some(cancellation) = self.requests().received.get(&id) {
            cancellation.0.notify_one();
        }
    }

    /// Takes the editor's answer to a request. One to no request is ignored: the request may have been cancelled.
    pub(crate) fn answered(&self, answer: Answer<Value>) {
        let number = answer.id.as_ref().and_then(|id| {
            let id: Value = serde_json::from_str(id.as_json()).ok()?;
            id.as_str()?.strip_prefix(SENT)?.parse().ok()
        });
        let waits = number.and_then(|number: u64| self.requests().sent.remove(&number));
        let Some(waits) = waits else {
            return tracing::debug!(id = answer.id.as_ref().map(Id::as_json), "a response to no open request");
        };
        let result = match answer.error {
            Some(error) => Err(RequestFailure::Error {
                code: error["code"].as_i64().unwrap_or(i64::from(jsonrpc::code::INTERNAL_ERROR)),
                message: error["message"].as_str().unwrap_or_default().to_owned(),
            }),
            None => Ok(answer.result.unwrap_or_default()),
        };
        // The work that asked may be over.
        let _ = waits.send(result);
    }

    /// Fails the requests to the editor: its input has ended.
    pub(crate) fn close(&self) {
        let mut requests = self.requests();
        requests.is_closed = true;
        requests.sent.clear();
    }

    /// Queues a line.
    pub(crate) fn put(&self, line: String) {
        self.gauge.frame();
        self.writer.put(line);
    }

    /// Locks the state. Code that holds this lock does not panic.
    fn requests(&self) -> MutexGuard<'_, OpenRequests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How the ids of requests to the editor begin: a text is no id that an editor gives its own requests by counting.
const SENT: &str = "harn-";

fn sent_id(number: u64) -> String {
    format!("{SENT}{number}")
}

/// A request to the editor whose answer is awaited.
struct OpenRequest {
    connection: EditorConnection,
    number: u64,
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        // An answered request is not in the map any more.
        if self.connection.requests().sent.remove(&self.number).is_some() {
            self.connection.notify("$/cancel_request", &json!({"requestId": sent_id(self.number)}));
        }
    }
}
