//! One client over standard input and output: a message per line.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base::data::Data;
use jsonrpc::{Answer, Id, IdRule, Message, Problem, Request, Rules, ScannedId, code};
use mcp::Era;
use tokio::runtime::Handle;
use tokio::sync::{Notify, mpsc};
use tokio::task::AbortHandle;

use super::client::{ClientSession, McpClient, MessageSender, WAITING};
use super::fault::{McpFault, UNAVAILABLE};
use super::server::{McpServer, era_of};
use crate::acp::transport::{InputLine, LineInput, OutputGauge, Writer, read_lines};
use crate::acp::{LineStreams, TransportLimits};
use crate::spawn::spawn;

/// Both sides send requests.
pub(super) const RULES: Rules =
    Rules { ids: IdRule::Numbers, max_id_len: 4 << 10, positional_params: false, answers: true };

/// The maximum number of requests that are being answered.
const MAX_REQUESTS: usize = 1024;
/// The time for which requests are still answered after the input has ended.
const LAST_ANSWERS: Duration = Duration::from_millis(500);

/// The connection to the client.
pub(super) struct StdioConnection {
    server: Arc<McpServer>,
    output: mpsc::Sender<String>,
    session: Mutex<Option<Arc<ClientSession>>>,
    /// The requests that are being answered, by their ids as JSON.
    running: Mutex<HashMap<String, AbortHandle>>,
    /// Notified when one of them was answered.
    ended: Notify,
}

/// Serves the client until it closes its end.
pub(super) async fn carry(server: Arc<McpServer>, streams: LineStreams, limits: TransportLimits) {
    let LineStreams { input, output, ended } = streams;
    let gauge = Arc::new(OutputGauge::new(limits.room));
    let writer = Writer::new(output, gauge.clone());
    let LineInput { mut lines, mut ended } = read_lines(input, ended, limits.line, Handle::current());
    let (messages, mut waiting) = mpsc::channel::<String>(WAITING);
    let written = gauge.clone();
    let writing = spawn(async move {
        while let Some(text) = waiting.recv().await {
            written.frame();
            writer.put(text);
            written.room().await;
        }
    });
    let (session, running, ended_request) = Default::default();
    let connection = StdioConnection { server, output: messages, session, running, ended: ended_request };
    let connection = Arc::new(connection);
    loop {
        let line = tokio::select! {
            biased;
            line = lines.recv() => line,
            () = gauge.gone() => None,
        };
        let Some(arrived) = line else { break };
        connection.take(arrived.line, limits.line).await;
        // Input causes responses: while the client reads none, no more input is taken.
        tokio::select! {
            biased;
            () = gauge.room() => {}
            _ = ended.wait_for(|ended| *ended) => {}
        }
    }
    connection.end().await;
    drop(connection);
    let _ = tokio::time::timeout(LAST_ANSWERS, async {
        let _ = writing.await;
        gauge.all_taken().await;
    })
    .await;
}

impl StdioConnection {
    async fn take(self: &Arc<Self>, line: InputLine, limit: usize) {
        let text = match line {
            InputLine::Text(text) => text,
            InputLine::NoText { byte, id } => {
                return self.unread(id, code::PARSE_ERROR, format!("invalid UTF-8 at byte {byte}")).await;
            }
            InputLine::TooLong { bytes, id } => {
                let message = format!("the message has {bytes} bytes; at most {limit} are allowed");
                return self.unread(id, code::INVALID_REQUEST, message).await;
            }
        };
        match jsonrpc::read_text::<Data>(&text, &RULES) {
            Ok(Message::Request(Request { id: None, method, params })) => {
                self.notified(&method, &params.unwrap_or_default());
            }
            Ok(Message::Request(Request { id: Some(id), method, params })) => {
                self.request(id, method, params.unwrap_or_default()).await;
            }
            Ok(Message::Answer(answer)) => self.replied(&answer),
            Err(error) if error.is_answer => self.replied(&failed(error.id, &error.problem.to_string())),
            // The client waits for a response to its request, also if the rest of the line is invalid.
            Err(error) => self.put(refused(&error.id, &malformed(&error.problem))).await,
        }
    }

    /// Answers a request that cannot be read; a response that cannot be read fails the request which waits for it.
    async fn unread(self: &Arc<Self>, ScannedId { id, is_answer }: ScannedId, code: i32, reason: String) {
        match is_answer {
            true => self.replied(&failed(id, &reason)),
            false => self.put(refused(&id, &McpFault::new(code, reason))).await,
        }
    }

    fn replied(&self, answer: &Answer<Data>) {
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(session) = session {
            session.replied(answer);
        }
    }

    fn notified(&self, method: &str, params: &Data) {
        if method == "notifications/cancelled" {
            let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(request) = running.get(&params.get("requestId").to_json()) {
                request.abort();
            }
        }
    }

    async fn request(self: &Arc<Self>, id: Id, method: String, params: Data) {
        let key = id.as_json().to_owned();
        let refusal = {
            let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            if running.contains_key(&key) {
                Some(McpFault::new(code::INVALID_REQUEST, "another request with this id is being answered"))
            } else if running.len() >= MAX_REQUESTS {
                let message = format!("too many requests: {MAX_REQUESTS} are being answered, which is the limit");
                Some(McpFault::new(UNAVAILABLE, message))
            } else {
                None
            }
        };
        if let Some(fault) = refusal {
            return self.put(refused(&id, &fault)).await;
        }
        // Its session must exist before the next message is read.
        if method == "initialize" {
            let reply = match self.server.initialize(&params) {
                Ok((session, result)) => {
                    *self.session.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(session));
                    jsonrpc::result(&id, &result)
                }
                Err(fault) => refused(&id, &fault),
            };
            return self.put(reply).await;
        }
        let connection = self.clone();
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let guard = RunningRequest { connection: connection.clone(), key: key.clone() };
        let work = spawn(async move {
            let reply = connection.answer(&id, &method, &params).await;
            drop(guard);
            connection.put(reply).await;
        });
        running.insert(key, work.abort_handle());
    }

    async fn answer(&self, id: &Id, method: &str, params: &Data) -> String {
        let request_id = Data::from_json(id.as_json()).unwrap_or_default();
        let outbox = MessageSender::new(self.output.clone());
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let client = match (era_of(method, params), session) {
            (Era::Stateless, _) => McpClient::stateless(request_id, params, outbox),
            (Era::Sessions, Some(session)) => McpClient::of_session(session, request_id, params, outbox),
            (Era::Sessions, None) if method == "ping" => return jsonrpc::result(id, &Data::empty_dict()),
            (Era::Sessions, None) => {
                let message = "the first request must be `initialize` or describe itself in `_meta`";
                return refused(id, &McpFault::new(code::INVALID_REQUEST, message));
            }
        };
        match self.server.answer(method, params, &client).await {
            Ok(result) => jsonrpc::result(id, &result),
            Err(fault) => refused(id, &fault),
        }
    }

    /// Queues a message for the client; without one, it is dropped.
    async fn put(&self, message: String) {
        let _ = self.output.send(message).await;
    }

    /// Waits for the last answers, and cancels the rest.
    async fn end(&self) {
        let is_idle = || self.running.lock().unwrap_or_else(PoisonError::into_inner).is_empty();
        let idle = async {
            loop {
                let mut ended = pin!(self.ended.notified());
                ended.as_mut().enable();
                if is_idle() {
                    return;
                }
                ended.await;
            }
        };
        let _ = tokio::time::timeout(LAST_ANSWERS, idle).await;
        let running = std::mem::take(&mut *self.running.lock().unwrap_or_else(PoisonError::into_inner));
        running.values().for_each(AbortHandle::abort);
    }
}

/// A request that is being answered, until this is dropped: also if it is cancelled, and then gets no response.
struct RunningRequest {
    connection: Arc<StdioConnection>,
    key: String,
}

impl Drop for RunningRequest {
    fn drop(&mut self) {
        self.connection.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
        self.connection.ended.notify_waiters();
    }
}

/// Returns the response that refuses a request.
pub(super) fn refused(id: &Id, fault: &McpFault) -> String {
    jsonrpc::error(id, &fault.to_data())
}

/// Returns the response that fails a request to the client, in place of one that cannot be read.
pub(super) fn failed(id: Id, reason: &str) -> Answer<Data> {
    let error = Data::dict([
        ("code", Data::from(i64::from(code::INVALID_REQUEST))),
        ("message", format!("invalid response: {reason}").into()),
    ]);
    Answer { id: Some(id), result: None, error: Some(error) }
}

/// Returns the error for a text that is not a message.
pub(super) fn malformed(problem: &Problem) -> McpFault {
    if problem.is_syntax() {
        return McpFault::new(code::PARSE_ERROR, problem.to_string());
    }
    let message = match problem {
        Problem::Batch => "lists of messages are not supported".to_owned(),
        Problem::NotObject { found } => format!("a message must be an object, not {found}"),
        Problem::Member { name, problem } => format!("`{name}` {problem}"),
        Problem::Params { found } => format!("`params` must be an object, not {found}"),
        _ => "invalid message".to_owned(),
    };
    McpFault::new(code::INVALID_REQUEST, message)
}
