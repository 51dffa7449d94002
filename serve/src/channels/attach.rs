//! `harn attach`: joins a running daemon over standard input and output, as an agent of ACP.
//!
//! Lines of the editor become frames of a WebSocket, and back. When the connection breaks, the proxy connects again,
//! repeats `initialize`, continues each session after the last event that the editor got, and sends the requests again
//! that have no answer yet. Each request has an id of its own as an action, so none is executed twice.

use std::collections::HashMap;
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

use super::websocket::{SUBPROTOCOL, config};

/// The timeout for a connection.
const CONNECT: Duration = Duration::from_secs(5);
/// The first and the longest pause between two attempts to connect.
const PAUSE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));
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

type Socket = WebSocketStream<TcpStream>;

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

/// The state of a proxy.
struct AttachProxy {
    settings: AttachSettings,
    host: String,
    url: String,
    /// The parameters of the editor's `initialize`.
    initialize: Option<Value>,
    /// The requests that have no answer yet, in their order.
    open: Vec<(Value, Value)>,
    /// The cursors of the last events that the editor got, by sessions.
    cursors: HashMap<String, u64>,
    /// An id that no other proxy has.
    name: String,
    last_action: u64,
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
        name,
        last_action: 0,
    };
    let mut socket = proxy.connect(&mut report).await?;
    loop {
        tokio::select! {
            line = lines.recv() => {
                let Some(line) = line else {
                    let _ = timeout(CONNECT, socket.close(None)).await;
                    return Ok(());
                };
                let Some(line) = proxy.to_daemon(&line) else { continue };
                if socket.send(Message::Text(line.into())).await.is_err() {
                    socket = proxy.again("the connection broke", &mut report).await?;
                }
            }
            message = socket.next() => match message {
                Some(Ok(Message::Text(text))) => {
                    if let Some(line) = proxy.to_editor(&text) {
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
                    socket = proxy.again(if reason.is_empty() { "the connection was closed" } else { &reason }, &mut report).await?;
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => socket = proxy.again(&error.to_string(), &mut report).await?,
                None => socket = proxy.again("the connection was closed", &mut report).await?,
            }
        }
    }
}

impl AttachProxy {
    /// Converts a line of the editor to a frame.
    fn to_daemon(&mut self, line: &str) -> Option<String> {
        if line.trim().is_empty() {
            return None;
        }
        // The daemon answers invalid JSON.
        let Ok(mut message) = serde_json::from_str::<Value>(line) else { return Some(line.to_owned()) };
        let method = message["method"].as_str().map(str::to_owned);
        if let (Some(method), Some(id)) = (method, message.get("id").cloned()) {
            if method == "initialize" {
                self.initialize = Some(message["params"].clone());
            } else if message["params"].is_object() && message.pointer("/params/_meta/harn/actionId").is_none() {
                self.last_action += 1;
                message["params"]["_meta"]["harn"]["actionId"] = format!("{}-{}", self.name, self.last_action).into();
            }
            self.open.push((id, message.clone()));
        }
        Some(message.to_string())
    }

    /// Converts a frame to a line for the editor. Answers to requests of the proxy are for the proxy.
    fn to_editor(&mut self, text: &str) -> Option<String> {
        let Ok(message) = serde_json::from_str::<Value>(text) else { return None };
        if let Some(session) = message.pointer("/params/sessionId").and_then(Value::as_str) {
            let sequence =
                message.pointer("/params/_meta/harn/sequence").or_else(|| message.pointer("/params/sequence"));
            if let Some(sequence) = sequence.and_then(Value::as_u64) {
                let last = self.cursors.entry(session.to_owned()).or_insert(0);
                *last = sequence.max(*last);
            }
        }
        if message.get("method").is_none() {
            let id = message.get("id").cloned().unwrap_or_default();
            if id.as_str().is_some_and(|id| id.starts_with(OWN)) {
                return None;
            }
            self.answered(&id, &message);
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
                self.cursors.entry(session.to_owned()).or_insert(0);
            }
            _ => {}
        }
    }

    /// Connects again, and continues where the connection broke.
    async fn again(&mut self, why: &str, report: &mut impl FnMut(&str)) -> Result<Socket, AttachError> {
        report(&format!("disconnected from the daemon at {} ({why}); connecting again", self.host));
        let socket = self.connect(report).await?;
        report(&format!("connected to the daemon at {} again", self.host));
        Ok(socket)
    }

    /// Connects, trying for a while.
    async fn connect(&mut self, report: &mut impl FnMut(&str)) -> Result<Socket, AttachError> {
        let (begun, mut pause, mut told) = (Instant::now(), PAUSE.0, false);
        loop {
            let reason = match timeout(CONNECT, self.try_connect()).await {
                Ok(Ok(socket)) => return Ok(socket),
                Ok(Err(ConnectError::Fatal(error))) => return Err(error),
                Ok(Err(ConnectError::Away(reason))) => reason,
                Err(_) => "it does not answer".to_owned(),
            };
            if begun.elapsed() + pause > self.settings.wait {
                return Err(AttachError::Away { address: self.host.clone(), reason });
            }
            if !std::mem::replace(&mut told, true) {
                report(&format!("no daemon answers at {} ({reason}); trying again", self.host));
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE.1);
        }
    }

    async fn try_connect(&mut self) -> Result<Socket, ConnectError> {
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
    fn repeated(&self) -> Vec<String> {
        let Some(initialize) = &self.initialize else { return Vec::new() };
        let own = |name: &str, method: &str, params: Value| {
            json!({"jsonrpc": "2.0", "id": format!("{OWN}{name}"), "method": method, "params": params}).to_string()
        };
        let is_open = self.open.iter().any(|(_, request)| request["method"] == "initialize");
        let mut messages = Vec::new();
        if !is_open {
            messages.push(own("initialize", "initialize", initialize.clone()));
        }
        let resumed = self
            .cursors
            .iter()
            .map(|(session, after)| own(session, "_channel/resume", json!({"sessionId": session, "after": after})));
        let open = self.open.iter().map(|(_, request)| request.to_string());
        // The editor's own `initialize` must be the first request.
        let (first, rest): (Vec<_>, Vec<_>) = open.partition(|request| request.contains(r#""method":"initialize""#));
        messages.into_iter().chain(first).chain(resumed).chain(rest).collect()
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
            name: "n".to_owned(),
            last_action: 0,
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

    #[test]
    fn what_has_no_answer_is_sent_again_with_the_same_action_id() {
        let mut proxy = proxy();
        proxy.to_daemon(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#).unwrap();
        proxy.to_editor(r#"{"jsonrpc":"2.0","id":0,"result":{}}"#).unwrap();
        let prompt = r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}"#;
        let sent = proxy.to_daemon(prompt).unwrap();
        assert!(sent.contains(r#""actionId":"n-1""#), "{sent}");
        let update =
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","_meta":{"harn":{"sequence":7}}}}"#;
        assert!(proxy.to_editor(update).is_some());
        let repeated = proxy.repeated();
        assert_eq!(repeated.len(), 3, "{repeated:#?}");
        assert!(repeated[0].contains("harn-attach-initialize") && repeated[1].contains(r#""after":7"#));
        assert_eq!(repeated[2], sent);
        assert_eq!(proxy.to_editor(r#"{"jsonrpc":"2.0","id":"harn-attach-s","result":{}}"#), None);
        proxy.to_editor(r#"{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}"#).unwrap();
        assert_eq!(proxy.repeated().len(), 2);
    }
}
