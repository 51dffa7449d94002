//! Clients of ACP: an editor that joins through `harn attach`, and a program with a WebSocket.

use super::daemon::{DaemonFolder, LIMIT, RunningDaemon};
use crate::wait::ended;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{self, Message, WebSocket};

/// A WebSocket to the daemon.
pub(super) type Socket = WebSocket<TcpStream>;

/// Connects a WebSocket.
pub(super) fn connect(address: &str, secret: &str) -> Socket {
    let mut request = format!("ws://{address}/acp").into_client_request().unwrap();
    request.headers_mut().insert("authorization", format!("Bearer {secret}").parse().unwrap());
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    tungstenite::client(request, stream).unwrap().0
}

/// A client of ACP.
pub(super) struct AcpClient {
    input: Option<Sender<String>>,
    lines: Receiver<String>,
    /// The process of an editor, and what it wrote to standard error.
    child: Option<Child>,
    pub(super) reported: Arc<Mutex<String>>,
    reporting: Option<JoinHandle<()>>,
    /// All messages, in the order in which they came.
    pub(super) seen: Vec<Value>,
    last: u64,
}

impl AcpClient {
    /// Starts an editor, which joins through `harn attach`.
    pub(super) fn editor(folder: &DaemonFolder, daemon: &RunningDaemon, secret: &str) -> AcpClient {
        AcpClient::editor_waiting(folder, daemon, secret, "100s")
    }

    /// Starts an editor whose proxy waits so long for a daemon that is away.
    pub(super) fn editor_waiting(folder: &DaemonFolder, daemon: &RunningDaemon, secret: &str, wait: &str) -> AcpClient {
        let mut command = folder.command();
        command.args(["attach", &daemon.address, "--wait", wait]).env("HARN_CHANNEL_SECRET", secret);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (received, lines) = channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| received.send(line)));
        let reported = Arc::new(Mutex::new(String::new()));
        let (mut err, into) = (BufReader::new(child.stderr.take().unwrap()), reported.clone());
        let reporting = Some(thread::spawn(move || {
            let mut line = String::new();
            while err.read_line(&mut line).is_ok_and(|read| read > 0) {
                into.lock().unwrap().push_str(&line);
                line.clear();
            }
        }));
        let (input, messages) = channel::<String>();
        let mut stdin = child.stdin.take().unwrap();
        thread::spawn(move || messages.iter().try_for_each(|message| writeln!(stdin, "{message}")));
        AcpClient::begin(AcpClient {
            input: Some(input),
            lines,
            child: Some(child),
            reported,
            reporting,
            seen: Vec::new(),
            last: 0,
        })
    }

    /// Starts a client with a WebSocket.
    pub(super) fn websocket(daemon: &RunningDaemon, secret: &str) -> AcpClient {
        let mut socket = connect(&daemon.address, secret);
        socket.get_ref().set_read_timeout(Some(Duration::from_millis(10))).unwrap();
        let (received, lines) = channel();
        let (input, messages) = channel::<String>();
        thread::spawn(move || {
            loop {
                match messages.try_recv() {
                    Ok(message) => socket.send(message.into()).unwrap(),
                    Err(std::sync::mpsc::TryRecvError::Disconnected) => return,
                    Err(std::sync::mpsc::TryRecvError::Empty) => {}
                }
                match socket.read() {
                    Ok(Message::Text(text)) => drop(received.send(text.to_string())),
                    Ok(_) => {}
                    Err(tungstenite::Error::Io(error))
                        if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                    Err(_) => return,
                }
            }
        });
        let reported = Arc::default();
        AcpClient::begin(AcpClient {
            input: Some(input),
            lines,
            child: None,
            reported,
            reporting: None,
            seen: Vec::new(),
            last: 0,
        })
    }

    fn begin(mut self) -> AcpClient {
        self.call("initialize", initialize_params());
        self
    }

    pub(super) fn send(&mut self, message: &Value) {
        self.input.as_ref().unwrap().send(message.to_string()).unwrap();
    }

    /// Sends a request, and returns its id.
    pub(super) fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.last += 1;
        let mut message = json!({"jsonrpc": "2.0", "id": self.last, "method": method});
        message["params"] = params;
        self.send(&message);
        self.last
    }

    /// Waits for a message, also one that came already.
    pub(super) fn wait(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + LIMIT;
        let mut looked = 0;
        loop {
            if let Some(found) = self.seen[looked..].iter().find(|message| wanted(message)) {
                return found.clone();
            }
            looked = self.seen.len();
            let line = self.lines.recv_timeout(until.saturating_duration_since(Instant::now()));
            let line =
                line.unwrap_or_else(|_| panic!("no {what}; {}; {:#?}", self.reported.lock().unwrap(), self.seen));
            self.seen.push(serde_json::from_str(&line).unwrap());
        }
    }

    /// Waits for an event that ACP has no update for.
    pub(super) fn event(&mut self, kind: &str, is_meant: impl Fn(&Value) -> bool) -> Value {
        self.wait(kind, |it| it["params"]["type"] == kind && is_meant(&it["params"]))["params"].clone()
    }

    pub(super) fn answer(&mut self, id: u64) -> Value {
        self.wait(&format!("answer to {id}"), |message| message["id"] == id && message.get("method").is_none())
    }

    pub(super) fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        let answer = self.answer(id);
        assert!(answer.get("error").is_none(), "{method}: {answer:#}");
        answer["result"].clone()
    }

    /// Closes the input of an editor's process.
    pub(super) fn close(&mut self) {
        self.input = None;
    }

    /// Waits until an editor's process ends, and returns its exit code and what it wrote to standard error.
    pub(super) fn ended(&mut self) -> (Option<i32>, String) {
        let code = ended(self.child.as_mut().unwrap(), |_| ());
        self.reporting.take().unwrap().join().unwrap();
        (code, self.reported.lock().unwrap().clone())
    }

    /// Waits for a permission question.
    pub(super) fn question(&mut self) -> Value {
        self.wait("question", |it| it["method"] == "session/request_permission")
    }

    /// Answers a permission question.
    pub(super) fn decide(&mut self, question: &Value, option: &str) {
        let outcome = json!({"outcome": {"outcome": "selected", "optionId": option}});
        self.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": outcome}));
    }

    pub(super) fn open(&mut self) -> String {
        let opened = self.call("session/new", json!({"cwd": "/", "mcpServers": []}));
        opened["sessionId"].as_str().unwrap().to_owned()
    }

    pub(super) fn load(&mut self, session: &str) {
        self.call("session/load", json!({"sessionId": session, "cwd": "/", "mcpServers": []}));
    }

    pub(super) fn prompt(&mut self, session: &str, text: &str) -> u64 {
        self.ask("session/prompt", json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]}))
    }

    /// Returns the cursors of all events, in the order in which they came. One event can make several updates.
    pub(super) fn sequences(&self) -> Vec<u64> {
        let mut all: Vec<u64> = self.seen.iter().filter_map(sequence).collect();
        all.dedup();
        all
    }

    /// Returns the texts of the agent.
    pub(super) fn said(&self) -> String {
        let updates = self.seen.iter().filter(|it| it["params"]["update"]["sessionUpdate"] == "agent_message_chunk");
        updates.map(|it| it["params"]["update"]["content"]["text"].as_str().unwrap().to_owned()).collect()
    }
}

impl Drop for AcpClient {
    fn drop(&mut self) {
        self.input = None;
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Returns the parameters of a client that wants all events.
pub(super) fn initialize_params() -> Value {
    json!({"protocolVersion": 1, "clientCapabilities": {"_meta": {"harn": {"channelEvents": true}}}})
}

/// Returns the cursor of a notification about an event.
pub(super) fn sequence(message: &Value) -> Option<u64> {
    if message.get("id").is_some() {
        return None;
    }
    message.pointer("/params/_meta/harn/sequence").or_else(|| message.pointer("/params/sequence"))?.as_u64()
}
