//! `harn attach`: joins a running daemon over standard input and output, as an agent of ACP.
//!
//! Lines of the editor become frames of a WebSocket, and back. When the connection breaks, the proxy connects again,
//! repeats `initialize`, continues each session after the last event that the editor got, and sends the requests again
//! that have no answer yet. Each request has an id of its own as an action, so none is executed twice.

use std::collections::{HashMap, HashSet};
use std::io;
use std::time::Duration;

use axum::http::{HeaderValue, header};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::protocol::Message;
use tokio_tungstenite::tungstenite::{self};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use super::reconnection::Reconnection;
use super::websocket::{MAX_MESSAGE, SUBPROTOCOL, config};
use crate::acp::error::ErrorResponse;
use crate::acp::transport::request_id;

/// The timeout for a connection.
const CONNECT: Duration = Duration::from_secs(5);
/// The type of the event after which the daemon's cursors count, whatever the editor has seen.
const REPAIRED: &str = "snapshot.repaired";
/// The longest line of an editor, in bytes: the proxy adds the id of an action.
const MAX_LINE: usize = MAX_MESSAGE - 1_024;
/// The id of requests of the proxy itself.
const OWN: &str = "harn-attach-";

/// The settings of a proxy.
#[derive(Debug, Clone)]
pub struct AttachSettings {
    /// The address of the daemon: `HOST:PORT`, or a URL with the scheme `http` or `ws`.
    pub address: String,
    /// The secret of the channel.
    pub secret: String,
    /// The time for which the proxy tries to connect, at the beginning and again.
    pub wait: Duration,
}

/// The reason why a proxy ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AttachError {
    /// The address is not one.
    #[error("`{0}` is not the address of a daemon")]
    Address(String),
    /// The daemon refuses the channel.
    #[error("the daemon at {address} refused the connection ({status}): {reason}")]
    Refused {
        /// The address.
        address: String,
        /// The status of HTTP.
        status: u16,
        /// The answer.
        reason: String,
    },
    /// No daemon answers.
    #[error("no daemon answers at {address}: {reason}")]
    Away {
        /// The address.
        address: String,
        /// The last error.
        reason: String,
    },
    /// The daemon ended the connection for good.
    #[error("the daemon ended the connection: {0}")]
    Ended(String),
}

impl AttachError {
    /// Returns the help text.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            AttachError::Address(_) => {
                "write it as `127.0.0.1:41300`; TLS is not supported, so use a tunnel or a proxy"
            }
            AttachError::Refused { .. } => "check the secret: `harn channel list` shows channels and when they expire",
            AttachError::Away { .. } => "start it with `harn serve channels`, or check the address",
            AttachError::Ended(_) => "`harn channel list` shows whether the channel was revoked or has expired",
        }
    }
}

type DaemonSocket = WebSocketStream<TcpStream>;

/// Returns the host with its port, and the URL of the endpoint.
fn endpoint(address: &str) -> Result<(String, String), AttachError> {
    let rest = ["http://", "ws://"].iter().find_map(|scheme| address.strip_prefix(scheme)).unwrap_or(address);
    let rest = rest.trim_end_matches('/').trim_end_matches("/acp");
    let is_address = rest.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
    match is_address && !rest.contains(['/', '@', ' ']) {
        true => Ok((rest.to_owned(), format!("ws://{rest}/acp"))),
        false => Err(AttachError::Address(address.to_owned())),
    }
}

/// The last event of a session that the editor got.
#[derive(Debug, Default)]
struct EditorCursor {
    sequence: u64,
    /// The number of messages about this event: one event can make several updates.
    seen: usize,
    /// After a new connection, the number of messages about this event that come again.
    repeated: usize,
}

impl EditorCursor {
    /// Takes a message about an event. Returns false if the editor has it.
    fn take(&mut self, sequence: u64) -> bool {
        // Events come in the order of the log.
        if sequence < self.sequence {
            return false;
        }
        if sequence == self.sequence && self.repeated > 0 {
            self.repeated -= 1;
            return false;
        }
        if sequence > self.sequence {
            *self = EditorCursor { sequence, ..EditorCursor::default() };
        }
        self.seen += 1;
        true
    }
}

/// A message to the daemon.
struct OutgoingMessage {
    text: String,
    /// Whether it is sent again on a new connection, as a request without an answer.
    is_kept: bool,
}

/// The state of a proxy.
struct AttachProxy {
    settings: AttachSettings,
    host: String,
    url: String,
    /// The parameters of the editor's `initialize`.
    initialize: Option<Value>,
    /// The requests that have no answer yet, in their order.
    open: Vec<(Value, Value)>,
    /// The last events that the editor got, by sessions.
    cursors: HashMap<String, EditorCursor>,
    /// The ids of the daemon's requests that the editor has not answered. The daemon repeats them with the same ids.
    asked: HashSet<String>,
    /// Reports for the user.
    notes: Vec<String>,
    /// An id that no other proxy has.
    name: String,
    last_action: u64,
    /// The attempts to connect.
    attempts: Reconnection,
}

/// Carries messages between an editor and a daemon until the editor closes its end.
///
/// # Errors
/// The address is invalid, the daemon refuses the channel, or it does not answer in time.
pub async fn attach(
    settings: AttachSettings,
    mut lines: mpsc::Receiver<String>,
    mut write: impl FnMut(&str) -> io::Result<()>,
    mut report: impl FnMut(&str),
) -> Result<(), AttachError> {
    let (host, url) = endpoint(&settings.address)?;
    let name = uuid::Uuid::new_v4().simple().to_string()[..12].to_owned();
    let mut proxy = AttachProxy {
        settings,
        host,
        url,
        initialize: None,
        open: Vec::new(),
        cursors: HashMap::new(),
        asked: HashSet::new(),
        notes: Vec::new(),
        name,
        last_action: 0,
        attempts: Reconnection::new(),
    };
    let mut socket = proxy.connect("", &lines, &mut report).await?;
    loop {
        tokio::select! {
            line = lines.recv() => {
                let Some(line) = line else {
                    let _ = timeout(CONNECT, socket.close(None)).await;
                    return Ok(());
                };
                if line.len() > MAX_LINE {
                    // The daemon would end the connection, and the next one too.
                    report(&format!("a message of the editor has {} bytes and was not sent; the limit is {MAX_LINE}", line.len()));
                    if let Some(refused) = too_long(&line) && write(&refused).is_err() {
                        return Ok(());
                    }
                    continue;
                }
                let Some(message) = proxy.for_daemon(&line) else { continue };
                while socket.send(Message::Text(message.text.as_str().into())).await.is_err() {
                    socket = proxy.again("the connection broke", &lines, &mut report).await?;
                    if message.is_kept {
                        break;
                    }
                }
            }
            message = socket.next() => match message {
                Some(Ok(Message::Text(text))) => {
                    proxy.attempts.heard();
                    let line = proxy.for_editor(&text);
                    proxy.notes.drain(..).for_each(|note| report(&note));
                    if let Some(line) = line {
                        // The editor is gone.
                        if write(&line).is_err() {
                            return Ok(());
                        }
                    }
                }
                Some(Ok(Message::Close(frame))) => {
                    let reason = frame.as_ref().map_or_else(String::new, |frame| frame.reason.to_string());
                    if ["revoked", "expired"].contains(&reason.as_str()) {
                        return Err(AttachError::Ended(reason));
                    }
                    let why = if reason.is_empty() { "the connection was closed" } else { &reason };
                    socket = proxy.again(why, &lines, &mut report).await?;
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => socket = proxy.again(&error.to_string(), &lines, &mut report).await?,
                None => socket = proxy.again("the connection was closed", &lines, &mut report).await?,
            }
        }
    }
}

/// Returns the response to a line that is too long for the daemon; `None` if the editor waits for none.
fn too_long(line: &str) -> Option<String> {
    let id = request_id(line.as_bytes())?;
    Some(jsonrpc::error(&id, &ErrorResponse::line_too_long(line.len(), MAX_LINE).into_json()))
}

impl AttachProxy {
    /// Converts a line of the editor to a frame.
    fn for_daemon(&mut self, line: &str) -> Option<OutgoingMessage> {
        if line.trim().is_empty() {
            return None;
        }
        let Ok(mut message) = json::from_str::<Value>(line) else {
            // The daemon answers invalid JSON.
            return Some(OutgoingMessage { text: line.to_owned(), is_kept: false });
        };
        let method = message["method"].as_str().map(str::to_owned);
        let id = message.get("id").cloned();
        let is_kept = method.is_some() && id.is_some();
        match (method, id) {
            (Some(method), Some(id)) => {
                if method == "initialize" {
                    self.initialize = Some(message["params"].clone());
                } else if message["params"].is_object() && message.pointer("/params/_meta/harn/actionId").is_none() {
                    self.last_action += 1;
                    message["params"]["_meta"]["harn"]["actionId"] =
                        format!("{}-{}", self.name, self.last_action).into();
                }
                if method == "session/load"
                    && let Some(session) = message.pointer("/params/sessionId").and_then(Value::as_str)
                {
                    // The editor wants everything again.
                    self.cursors.insert(session.to_owned(), EditorCursor::default());
                }
                self.open.push((id, message.clone()));
            }
            (None, Some(id)) => drop(self.asked.remove(&id.to_string())),
            _ => {}
        }
        Some(OutgoingMessage { text: message.to_string(), is_kept })
    }

    /// Converts a frame to a line for the editor. Returns `None` for answers to requests of the proxy, and for what the
    /// editor has already.
    fn for_editor(&mut self, text: &str) -> Option<String> {
        let Ok(message) = json::from_str::<Value>(text) else { return None };
        let id = message.get("id").filter(|id| !id.is_null());
        match (message["method"].as_str(), id) {
            (Some(_), Some(id)) => {
                if !self.asked.insert(id.to_string()) {
                    return None;
                }
            }
            (Some(method), None) => {
                // A question that the editor does not have, or has answered, needs no withdrawal.
                if method == "$/cancel_request" && !self.asked.remove(&message["params"]["requestId"].to_string()) {
                    return None;
                }
                let sequence =
                    message.pointer("/params/_meta/harn/sequence").or_else(|| message.pointer("/params/sequence"));
                let session = message.pointer("/params/sessionId").and_then(Value::as_str);
                if message.pointer("/params/type").and_then(Value::as_str) == Some(REPAIRED)
                    && let Some(session) = session
                {
                    // The cursor of the editor may be one of another log, which later events never reach.
                    self.cursors.insert(session.to_owned(), EditorCursor::default());
                }
                if let Some((session, sequence)) = session.zip(sequence.and_then(Value::as_u64))
                    && !self.cursors.entry(session.to_owned()).or_default().take(sequence)
                {
                    return None;
                }
            }
            (None, _) => {
                let id = id.cloned().unwrap_or_default();
                if let Some(own) = id.as_str().and_then(|id| id.strip_prefix(OWN)) {
                    if let Some(error) = message.pointer("/error/message").and_then(Value::as_str) {
                        self.notes.push(format!("the daemon cannot continue `{own}`: {error}"));
                    }
                    return None;
                }
                self.answered(&id, &message);
            }
        }
        // A message has one line.
        Some(message.to_string())
    }

    fn answered(&mut self, id: &Value, message: &Value) {
        let Some(place) = self.open.iter().position(|(open, _)| open == id) else { return };
        let (_, request) = self.open.remove(place);
        let of_result = message.pointer("/result/sessionId").and_then(Value::as_str);
        let of_request = request.pointer("/params/sessionId").and_then(Value::as_str);
        let is_over = request["method"] == "session/close";
        match of_result.or(of_request) {
            Some(session) if is_over => drop(self.cursors.remove(session)),
            Some(session) if message.get("result").is_some() => {
                self.cursors.entry(session.to_owned()).or_default();
            }
            _ => {}
        }
    }

    /// Connects again, and continues where the connection broke.
    async fn again(
        &mut self,
        why: &str,
        lines: &mpsc::Receiver<String>,
        report: &mut impl FnMut(&str),
    ) -> Result<DaemonSocket, AttachError> {
        report(&format!("disconnected from the daemon at {} ({why}); connecting again", self.host));
        let socket = self.connect(why, lines, report).await?;
        report(&format!("connected to the daemon at {} again", self.host));
        Ok(socket)
    }

    /// Connects, trying for a while. Without an editor that waits for something, it does not try again. `why` is the end of
    /// the connection before.
    async fn connect(
        &mut self,
        why: &str,
        lines: &mpsc::Receiver<String>,
        report: &mut impl FnMut(&str),
    ) -> Result<DaemonSocket, AttachError> {
        let (mut reason, mut told) = (why.to_owned(), false);
        let mut pause = self.attempts.begin(Instant::now());
        loop {
            if let Some(pause) = pause {
                let is_alone = lines.is_closed() && lines.is_empty() && self.open.is_empty();
                if is_alone || self.attempts.elapsed(Instant::now()) + pause > self.settings.wait {
                    return Err(AttachError::Away { address: self.host.clone(), reason });
                }
                if !std::mem::replace(&mut told, true) {
                    report(&format!("no daemon answers at {} ({reason}); trying again", self.host));
                }
                tokio::time::sleep(pause).await;
            }
            reason = match timeout(CONNECT, self.try_connect()).await {
                Ok(Ok(socket)) => {
                    self.attempts.connected(Instant::now());
                    return Ok(socket);
                }
                Ok(Err(ConnectError::Fatal(error))) => return Err(error),
                Ok(Err(ConnectError::Away(reason))) => reason,
                Err(_) => "it does not answer".to_owned(),
            };
            pause = Some(self.attempts.pause());
        }
    }

    async fn try_connect(&mut self) -> Result<DaemonSocket, ConnectError> {
        let away = |error: &dyn std::fmt::Display| ConnectError::Away(error.to_string());
        let mut request = self.url.as_str().into_client_request().map_err(|error| away(&error))?;
        let secret =
            HeaderValue::from_str(&format!("Bearer {}", self.settings.secret)).map_err(|error| away(&error))?;
        request.headers_mut().insert(header::AUTHORIZATION, secret);
        request.headers_mut().insert(header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(SUBPROTOCOL));
        let stream = TcpStream::connect(&self.host).await.map_err(|error| away(&error))?;
        let _ = stream.set_nodelay(true);
        let connected = client_async_with_config(request, stream, Some(config())).await;
        let (mut socket, _) = connected.map_err(|error| match error {
            tungstenite::Error::Http(response) => {
                let status = response.status().as_u16();
                let body = response.body().as_deref().map(String::from_utf8_lossy).unwrap_or_default();
                let read: Value = serde_json::from_str(&body).unwrap_or_default();
                let reason = read.pointer("/error/message").and_then(Value::as_str).unwrap_or("no reason was given");
                // A server that is full or stopping may accept later.
                match status {
                    429 | 502..=504 => ConnectError::Away(format!("{status}: {reason}")),
                    _ => ConnectError::Fatal(AttachError::Refused {
                        address: self.host.clone(),
                        status,
                        reason: reason.chars().take(200).collect(),
                    }),
                }
            }
            error => away(&error),
        })?;
        for message in self.repeated() {
            socket.send(Message::Text(message.into())).await.map_err(|error| away(&error))?;
        }
        Ok(socket)
    }

    /// Returns the messages with which a new connection continues.
    fn repeated(&mut self) -> Vec<String> {
        let Some(initialize) = &self.initialize else { return Vec::new() };
        let own = |name: &str, method: &str, params: Value| {
            json!({"jsonrpc": "2.0", "id": format!("{OWN}{name}"), "method": method, "params": params}).to_string()
        };
        // The editor's own `initialize` must be the first request.
        let (first, rest): (Vec<_>, Vec<_>) = self.open.iter().partition(|(_, it)| it["method"] == "initialize");
        let mut messages: Vec<String> = first.iter().map(|(_, request)| request.to_string()).collect();
        if messages.is_empty() {
            messages.push(own("initialize", "initialize", initialize.clone()));
        }
        for (session, cursor) in &mut self.cursors {
            cursor.repeated = cursor.seen;
            // The request that loads a session brings all events again.
            let loads = |(_, request): &&(Value, Value)| {
                request["method"] == "session/load" && request["params"]["sessionId"] == session.as_str()
            };
            if !rest.iter().any(loads) {
                // Not all messages about the last event may have come.
                let after = cursor.sequence.saturating_sub(1);
                messages.push(own(session, "_channel/resume", json!({"sessionId": session, "after": after})));
            }
        }
        messages.extend(rest.iter().map(|(_, request)| request.to_string()));
        messages
    }
}

enum ConnectError {
    /// It may work later.
    Away(String),
    /// It will not work.
    Fatal(AttachError),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxy() -> AttachProxy {
        AttachProxy {
            settings: AttachSettings { address: String::new(), secret: String::new(), wait: Duration::ZERO },
            host: "h:1".to_owned(),
            url: String::new(),
            initialize: None,
            open: Vec::new(),
            cursors: HashMap::new(),
            asked: HashSet::new(),
            notes: Vec::new(),
            name: "n".to_owned(),
            last_action: 0,
            attempts: Reconnection::new(),
        }
    }

    #[test]
    fn addresses_are_hosts_with_ports() {
        for address in ["127.0.0.1:41300", "http://127.0.0.1:41300", "ws://127.0.0.1:41300/acp"] {
            let expected = ("127.0.0.1:41300".to_owned(), "ws://127.0.0.1:41300/acp".to_owned());
            assert_eq!(endpoint(address).unwrap(), expected, "{address}");
        }
        for wrong in ["", "41300", "https://h:1", "h:port", "h:1/x", "u@h:1"] {
            assert_eq!(endpoint(wrong), Err(AttachError::Address(wrong.to_owned())));
        }
    }

    fn initialized() -> AttachProxy {
        let mut proxy = proxy();
        let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#;
        proxy.for_daemon(initialize).unwrap();
        proxy.for_editor(r#"{"jsonrpc":"2.0","id":0,"result":{}}"#).unwrap();
        proxy
    }

    fn update(sequence: u64, text: &str) -> String {
        let params = json!({"sessionId": "s", "text": text, "_meta": {"harn": {"sequence": sequence}}});
        json!({"jsonrpc": "2.0", "method": "session/update", "params": params}).to_string()
    }

    #[test]
    fn what_has_no_answer_is_sent_again_with_the_same_action_id() {
        let mut proxy = initialized();
        let prompt = r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}"#;
        let sent = proxy.for_daemon(prompt).unwrap();
        assert!(sent.is_kept && sent.text.contains(r#""actionId":"n-1""#), "{}", sent.text);
        assert!(proxy.for_editor(&update(7, "a")).is_some());
        let repeated = proxy.repeated();
        assert_eq!(repeated.len(), 3, "{repeated:#?}");
        assert!(repeated[0].contains("harn-attach-initialize") && repeated[1].contains(r#""after":6"#));
        assert_eq!(repeated[2], sent.text);
        assert_eq!(proxy.for_editor(r#"{"jsonrpc":"2.0","id":"harn-attach-s","result":{}}"#), None);
        proxy.for_editor(r#"{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}"#).unwrap();
        assert_eq!(proxy.repeated().len(), 2);
        proxy.for_editor(r#"{"jsonrpc":"2.0","id":"harn-attach-s","error":{"message":"unknown session"}}"#);
        assert_eq!(proxy.notes, ["the daemon cannot continue `s`: unknown session"]);
    }

    #[test]
    fn the_editor_gets_each_update_once_although_a_connection_broke_between_two_of_an_event() {
        let mut proxy = initialized();
        for (sequence, text) in [(6, "a"), (7, "b"), (7, "c")] {
            assert!(proxy.for_editor(&update(sequence, text)).is_some());
        }
        proxy.repeated();
        let again = [(6, "a"), (7, "b"), (7, "c"), (7, "d"), (8, "e")];
        let passed: Vec<bool> = again.iter().map(|(n, text)| proxy.for_editor(&update(*n, text)).is_some()).collect();
        assert_eq!(passed, [false, false, false, true, true]);
        assert!(proxy.for_editor(&update(7, "b")).is_none(), "events come in their order");
        // An editor that loads the session again gets everything again.
        let load = r#"{"jsonrpc":"2.0","id":2,"method":"session/load","params":{"sessionId":"s","cwd":"/"}}"#;
        proxy.for_daemon(load).unwrap();
        assert!(proxy.for_editor(&update(6, "a")).is_some());
        let repeated = proxy.repeated();
        assert!(!repeated.iter().any(|message| message.contains("_channel/resume")), "{repeated:#?}");
    }

    #[test]
    fn an_editor_whose_cursor_is_not_one_of_the_log_gets_what_follows() {
        let mut proxy = initialized();
        assert!(proxy.for_editor(&update(70, "a")).is_some());
        let event = |kind: &str, sequence: u64| {
            let params = json!({"type": kind, "sessionId": "s", "sequence": sequence});
            json!({"jsonrpc": "2.0", "method": "_channel/event", "params": params}).to_string()
        };
        assert!(proxy.for_editor(&event("channel.message", 4)).is_none());
        assert!(proxy.for_editor(&event("snapshot.repaired", 3)).is_some());
        assert!(proxy.for_editor(&update(4, "b")).is_some());
    }

    #[test]
    fn a_line_that_the_daemon_would_not_take_is_answered() {
        let long = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"a","params":{{"a":"{}"}}}}"#, "x".repeat(MAX_LINE));
        let answer: Value = serde_json::from_str(&too_long(&long).unwrap()).unwrap();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(-32600)));
        assert_eq!(answer["error"]["data"]["limit"], MAX_LINE);
        assert_eq!(too_long(&long.replace(r#""id":7,"#, "")), None, "nothing waits for a notification");
    }

    #[test]
    fn a_question_is_shown_once_until_it_is_answered_or_withdrawn() {
        let mut proxy = initialized();
        let question = r#"{"jsonrpc":"2.0","id":77,"method":"session/request_permission","params":{"sessionId":"s"}}"#;
        assert!(proxy.for_editor(question).is_some());
        proxy.repeated();
        assert!(proxy.for_editor(question).is_none(), "the editor has it");
        proxy.for_daemon(r#"{"jsonrpc":"2.0","id":77,"result":{}}"#).unwrap();
        assert!(proxy.for_editor(question).is_some(), "the answer did not arrive");
        let withdrawn = r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":77}}"#;
        assert!(proxy.for_editor(withdrawn).is_some());
        assert!(proxy.for_editor(withdrawn).is_none(), "the editor does not have it");
        assert!(proxy.for_editor(question).is_some());
    }
}
