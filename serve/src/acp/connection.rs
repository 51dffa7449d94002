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
        let open = AwaitedRequest { connection: self.clone(), number };
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

/// The prefix of the ids of requests to the editor. Editors number their own requests, so a string is never one of their ids.
const SENT: &str = "harn-";

fn sent_id(number: u64) -> String {
    format!("{SENT}{number}")
}

/// A request to the editor whose answer is awaited.
struct AwaitedRequest {
    connection: EditorConnection,
    number: u64,
}

impl Drop for AwaitedRequest {
    fn drop(&mut self) {
        // An answered request is not in the map any more.
        if self.connection.requests().sent.remove(&self.number).is_some() {
            self.connection.notify("$/cancel_request", &json!({"requestId": sent_id(self.number)}));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Result as Io, Write};

    use super::super::transport::OutputLimits;
    use super::*;

    /// Collects the output.
    #[derive(Clone, Default)]
    struct Received(Arc<Mutex<Vec<u8>>>);

    impl Write for Received {
        fn write(&mut self, bytes: &[u8]) -> Io<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> Io<()> {
            Ok(())
        }
    }

    /// A connection whose output can be read.
    struct Desk {
        connection: EditorConnection,
        received: Received,
    }

    impl Desk {
        fn new() -> Desk {
            let received = Received::default();
            let gauge = Arc::new(OutputGauge::new(OutputLimits::default()));
            let writer = Writer::new(Box::new(received.clone()), gauge.clone());
            Desk { connection: EditorConnection::new(writer, gauge), received }
        }

        /// Returns all messages so far.
        async fn messages(&self) -> Vec<Value> {
            self.connection.gauge.all_taken().await;
            let text = String::from_utf8(self.received.0.lock().unwrap().clone()).unwrap();
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        }

        fn answers(&self, id: &str, result: Option<Value>, error: Option<Value>) {
            self.connection.answered(Answer { id: Some(Id::text(id)), result, error });
        }
    }

    #[tokio::test]
    async fn each_request_gets_the_answer_with_its_id() {
        let desk = Desk::new();
        let (one, other) = (desk.connection.request("a", &json!({})), desk.connection.request("b", &json!({"n": 1})));
        let sent = desk.messages().await;
        assert_eq!(sent[0], json!({"jsonrpc": "2.0", "id": "harn-1", "method": "a", "params": {}}));
        assert_eq!(sent[1], json!({"jsonrpc": "2.0", "id": "harn-2", "method": "b", "params": {"n": 1}}));
        desk.answers("harn-2", None, Some(json!({"code": -32601, "message": "no"})));
        for id in ["harn-3", "harn-", "2", "harn-2"] {
            desk.answers(id, Some(json!("unexpected")), None);
        }
        desk.answers("harn-1", Some(json!(7)), None);
        assert_eq!(one.await, Ok(json!(7)));
        assert_eq!(other.await, Err(RequestFailure::Error { code: -32601, message: "no".to_owned() }));
        // Nothing is cancelled that has its answer.
        assert_eq!(desk.messages().await.len(), 2);
    }

    #[tokio::test]
    async fn an_abandoned_request_is_cancelled_once() {
        let desk = Desk::new();
        drop(desk.connection.request("a", &json!({})));
        let sent = desk.messages().await;
        let withdrawal = json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": "harn-1"}});
        assert_eq!((sent.len(), &sent[1]), (2, &withdrawal));
        desk.answers("harn-1", Some(json!(7)), None);
        assert_eq!(desk.messages().await.len(), 2);
    }

    #[tokio::test]
    async fn requests_fail_once_the_editor_has_closed_its_output() {
        let desk = Desk::new();
        let before = desk.connection.request("a", &json!({}));
        desk.connection.close();
        let after = desk.connection.request("b", &json!({}));
        assert_eq!(before.await, Err(RequestFailure::Closed));
        assert_eq!(after.await, Err(RequestFailure::Closed));
        assert_eq!(desk.messages().await.len(), 2);
    }

    #[tokio::test]
    async fn the_editor_cancels_a_request_until_it_is_answered() {
        let desk = Desk::new();
        let id = Id::of_json(&json!(4)).unwrap();
        let cancellation = desk.connection.receive(&id);
        desk.connection.cancel(&json!({"requestId": 5}));
        desk.connection.cancel(&json!({"requestId": "4"}));
        desk.connection.cancel(&json!(null));
        assert!(!is_ready(&cancellation));
        desk.connection.cancel(&json!({"requestId": 4}));
        assert!(is_ready(&cancellation));
        desk.connection.respond(&id, Ok(json!({})));
        desk.connection.cancel(&json!({"requestId": 4}));
        assert!(!is_ready(&cancellation));
        assert_eq!(desk.messages().await, [json!({"jsonrpc": "2.0", "id": 4, "result": {}})]);
    }

    fn is_ready(cancellation: &RequestCancellation) -> bool {
        let mut waits = std::pin::pin!(cancellation.cancelled());
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        waits.as_mut().poll(&mut context).is_ready()
    }
}
