//! `harn serve channels` and `harn attach`: editors, browsers and other clients share the sessions of one daemon.

use crate::harn::{environment, harn_with_input, scratch};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(60);

const SCRIPT: &str = r#"
let tools = tool_define(tool_registry(), "deploy", "Deploys.", {
  parameters: {to: "string"}, annotations: {permission: true}, handler: { args -> "deployed" }
})

pipeline default(task, context) {
  if task != "deploy" {
    return "You said ${task}."
  }
  return agent_loop(task, nil, {tools: tools, reminders: false, llm_caller: { asked ->
    if asked.messages.last().role == "user" {
      return {text: "I deploy.", tool_calls: [{name: "deploy", arguments: {to: "prod"}}]}
    }
    return "It is done."
  }}).text
}
"#;

/// A daemon, and the folder of its log.
struct Daemon {
    folder: PathBuf,
    child: Child,
    address: String,
}

impl Daemon {
    fn start(name: &str) -> Daemon {
        let folder = scratch(&format!("channels-acp-{name}"));
        fs::write(folder.join("agent.harn"), SCRIPT).unwrap();
        let (child, address) = Daemon::spawn(&folder, "127.0.0.1:0");
        Daemon { folder, child, address }
    }

    fn spawn(folder: &std::path::Path, listen: &str) -> (Child, String) {
        let log = format!("sqlite:{}", folder.join("events.db").display());
        let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
        command.args(["serve", "channels", "agent.harn", "--event-log", &log, "--listen", listen]);
        command.current_dir(folder).env_clear().envs(environment()).env("HARN_LLM_PROVIDER", "mock");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let address = loop {
            let mut line = String::new();
            assert!(said.read_line(&mut line).unwrap() > 0, "the daemon ended");
            if let Some((_, rest)) = line.split_once("http://") {
                break rest.trim().split(|c: char| c.is_whitespace() || c == '"').next().unwrap().to_owned();
            }
        };
        thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        (child, address)
    }

    /// Kills the daemon, and starts it again at the same address.
    fn restart(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        (self.child, self.address) = Daemon::spawn(&self.folder, &self.address);
    }

    /// Enrols a channel and returns its secret.
    fn enrol(&self, name: &str, can: &str) -> String {
        let log = format!("sqlite:{}", self.folder.join("events.db").display());
        let added = harn_with_input(&["channel", "add", name, "--can", can, "--event-log", &log], b"", &[]);
        assert_eq!(added.code, Some(0), "{}", added.err);
        added.out.trim().to_owned()
    }

    fn attach(&self, secret: &str) -> Editor {
        Editor::start(&self.address, secret)
    }

    /// Sends a request over HTTP and returns the connection.
    fn http(&self, request: &str, secret: &str, more: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        let head =
            format!("{request} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {secret}\r\n{more}\r\n", self.address);
        stream.write_all(head.as_bytes()).unwrap();
        stream
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An editor that joins a daemon through `harn attach`.
struct Editor {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    reported: Arc<Mutex<String>>,
    seen: Vec<Value>,
    last: u64,
}

impl Editor {
    fn start(address: &str, secret: &str) -> Editor {
        let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
        command.args(["attach", address, "--wait", "20s"]);
        command.env_clear().envs(environment()).env("HARN_CHANNEL_SECRET", secret);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (sender, lines) = channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| sender.send(line).map_err(drop)));
        let reported = Arc::new(Mutex::new(String::new()));
        let (mut err, into) = (BufReader::new(child.stderr.take().unwrap()), reported.clone());
        thread::spawn(move || {
            let mut line = String::new();
            while err.read_line(&mut line).is_ok_and(|read| read > 0) {
                into.lock().unwrap().push_str(&line);
                line.clear();
            }
        });
        let input = child.stdin.take();
        let mut editor = Editor { child, input, lines, reported, seen: Vec::new(), last: 0 };
        let meta = json!({"harn": {"channelEvents": true}});
        editor.call("initialize", json!({"protocolVersion": 1, "clientCapabilities": {"_meta": meta}}));
        editor
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Sends a request, and returns its id.
    fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.last += 1;
        let id = self.last;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Waits for a message, from those that came already.
    fn wait(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + LIMIT;
        let mut looked = 0;
        loop {
            if let Some(found) = self.seen[looked..].iter().find(|message| wanted(message)) {
                return found.clone();
            }
            looked = self.seen.len();
            let left = until.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left);
            let line =
                line.unwrap_or_else(|_| panic!("no {what}; {}; {:#?}", self.reported.lock().unwrap(), self.seen));
            self.seen.push(serde_json::from_str(&line).unwrap());
        }
    }

    fn answer(&mut self, id: u64) -> Value {
        self.wait(&format!("answer to {id}"), |message| message["id"] == id && message.get("method").is_none())
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        let answer = self.answer(id);
        assert!(answer.get("error").is_none(), "{method}: {answer:#}");
        answer["result"].clone()
    }

    fn open(&mut self) -> String {
        let opened = self.call("session/new", json!({"cwd": "/", "mcpServers": []}));
        opened["sessionId"].as_str().unwrap().to_owned()
    }

    fn load(&mut self, session: &str) {
        self.call("session/load", json!({"sessionId": session, "cwd": "/", "mcpServers": []}));
    }

    fn prompt(&mut self, session: &str, text: &str) -> u64 {
        self.ask("session/prompt", json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]}))
    }

    /// Returns the cursors of all events of a session, in the order in which they came.
    fn sequences(&self) -> Vec<u64> {
        let events = self.seen.iter().filter(|message| message.get("id").is_none());
        events
            .filter_map(|it| it.pointer("/params/_meta/harn/sequence").or(it.pointer("/params/sequence"))?.as_u64())
            .collect()
    }

    /// Returns the texts of the agent.
    fn said(&self) -> String {
        let updates = self.seen.iter().filter(|it| it["params"]["update"]["sessionUpdate"] == "agent_message_chunk");
        updates.map(|it| it["params"]["update"]["content"]["text"].as_str().unwrap().to_owned()).collect()
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A browser that reads the events of a session.
struct Browser {
    events: Receiver<Value>,
    seen: Vec<Value>,
}

impl Browser {
    fn start(daemon: &Daemon, secret: &str, session: &str) -> Browser {
        let stream = daemon.http(&format!("GET /events?session={session}&after=0"), secret, "");
        let (sender, events) = channel();
        thread::spawn(move || {
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                if let Some(data) = line.strip_prefix("data: ") {
                    let _ = sender.send(serde_json::from_str(data).unwrap());
                }
            }
        });
        Browser { events, seen: Vec::new() }
    }

    fn wait(&mut self, r#type: &str) -> Value {
        loop {
            let event = self.events.recv_timeout(LIMIT).unwrap_or_else(|_| panic!("no {type}: {:#?}", self.seen));
            self.seen.push(event.clone());
            if event["type"] == r#type {
                return event;
            }
        }
    }

    fn sequences(&self) -> Vec<u64> {
        self.seen.iter().filter_map(|event| event["sequence"].as_u64()).collect()
    }
}

#[test]
fn an_editor_joins_a_daemon_and_another_one_sees_the_same() {
    let daemon = Daemon::start("join");
    let secret = daemon.enrol("editor", "view,prompt");
    let mut first = daemon.attach(&secret);
    let session = first.open();
    let id = first.prompt(&session, "hello");
    assert_eq!(first.answer(id)["result"]["stopReason"], "end_turn");
    assert_eq!(first.said(), "You said hello.");
    let sequences = first.sequences();
    assert!(sequences.is_sorted_by(|a, b| a <= b), "{sequences:?}");
    // The answer comes after all updates of its turn.
    let place = |wanted: &dyn Fn(&Value) -> bool| first.seen.iter().position(wanted).unwrap();
    let update = place(&|it| it["params"]["update"]["sessionUpdate"] == "agent_message_chunk");
    assert!(update < place(&|it| it["id"] == id && it.get("result").is_some()));

    let mut second = daemon.attach(&secret);
    second.load(&session);
    assert_eq!(second.said(), "You said hello.");
    let id = second.prompt(&session, "again");
    second.answer(id);
    first.wait("end of the other's turn", |it| {
        it["params"]["type"] == "turn.completed" && it["params"]["sequence"].as_u64() > sequences.last().copied()
    });
    assert_eq!(
        (first.said(), second.said()),
        ("You said hello.You said again.".into(), "You said hello.You said again.".into())
    );
}

#[test]
fn one_answers_a_permission_and_the_others_learn_who_did() {
    let daemon = Daemon::start("permission");
    let (one, two) = (daemon.enrol("one", "view,prompt,permit"), daemon.enrol("two", "view,permit"));
    let browser_secret = daemon.enrol("browser", "view");
    let (mut first, mut second) = (daemon.attach(&one), daemon.attach(&two));
    let session = first.open();
    second.load(&session);
    let mut browser = Browser::start(&daemon, &browser_secret, &session);
    let id = first.prompt(&session, "deploy");
    let is_question = |it: &Value| it["method"] == "session/request_permission";
    let (asked, other) = (second.wait("question", is_question), first.wait("question", is_question));
    assert_eq!(asked["params"]["_meta"]["harn"]["request"], other["params"]["_meta"]["harn"]["request"]);
    assert_eq!(asked["params"]["toolCall"]["title"], "deploy");
    let outcome = json!({"outcome": {"outcome": "selected", "optionId": "allow_once"}});
    second.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": outcome}));
    let cancelled = first.wait("withdrawal", |it| it["method"] == "$/cancel_request");
    assert_eq!(cancelled["params"]["requestId"], other["id"]);
    let returned = browser.wait("channel.permission_returned");
    assert_eq!(
        (&returned["payload"]["verdict"], &returned["payload"]["side"]),
        (&json!("allow_once"), &json!("remote"))
    );
    let who = returned["payload"]["decidedBy"].clone();
    let told = first.wait("decision", |it| it["params"]["type"] == "channel.permission_returned");
    assert_eq!(told["params"]["payload"]["decidedBy"], who);
    assert_eq!(first.answer(id)["result"]["stopReason"], "end_turn");
    assert!(first.said().contains("It is done."), "{}", first.said());

    // All saw the same events in the same order. The editor gets several updates for some of them.
    browser.wait("turn.completed");
    let end = browser.sequences().last().copied().unwrap();
    let upto = |sequences: Vec<u64>| {
        let mut sequences: Vec<u64> = sequences.into_iter().filter(|it| *it <= end).collect();
        sequences.dedup();
        sequences
    };
    second.wait("end of the turn", |it| it["params"]["sequence"].as_u64() >= Some(end));
    let (of_browser, of_second) = (upto(browser.sequences()), upto(second.sequences()));
    assert!(of_browser.is_sorted_by(|a, b| a < b) && of_second.is_sorted_by(|a, b| a < b));
    assert_eq!(of_browser, of_second);
    let of_first = upto(first.sequences());
    assert_eq!(of_first[..], of_browser[of_browser.len() - of_first.len()..]);
}

#[test]
fn an_editor_survives_the_death_of_the_daemon_without_a_gap_or_a_repeat() {
    let mut daemon = Daemon::start("killed");
    let secret = daemon.enrol("editor", "view,prompt");
    let mut editor = daemon.attach(&secret);
    let session = editor.open();
    let id = editor.prompt(&session, "one");
    editor.answer(id);
    daemon.restart();
    let id = editor.prompt(&session, "two");
    assert_eq!(editor.answer(id)["result"]["stopReason"], "end_turn");
    assert_eq!(editor.said(), "You said one.You said two.");
    let sequences = editor.sequences();
    assert!(sequences.is_sorted_by(|a, b| a <= b), "{sequences:?}");
    let reported = editor.reported.lock().unwrap().clone();
    assert!(reported.contains("disconnected from the daemon at") && reported.contains("again"), "{reported}");
}

#[test]
fn a_refused_or_missing_daemon_is_named_clearly() {
    let daemon = Daemon::start("refused");
    let (secret, blind) = (daemon.enrol("editor", "view"), daemon.enrol("blind", "prompt"));
    let run = |address: &str, secret: &str| {
        let outcome = harn_with_input(&["attach", address, "--wait", "0s"], b"", &[("HARN_CHANNEL_SECRET", secret)]);
        assert_eq!((outcome.code, outcome.out.as_str()), (Some(1), ""), "{}", outcome.err);
        outcome.err
    };
    let wrong = run(&daemon.address, &secret[..secret.len() - 4]);
    assert!(wrong.contains("refused the connection (401)") && wrong.contains("harn channel list"), "{wrong}");
    assert!(run(&daemon.address, &blind).contains("refused the connection (403)"));
    assert!(run("127.0.0.1:1", &secret).contains("no daemon answers at 127.0.0.1:1"));
    assert!(run("nowhere", &secret).contains("`nowhere` is not the address of a daemon"));
}

#[test]
fn a_web_page_of_another_origin_and_a_plain_request_get_no_websocket() {
    let daemon = Daemon::start("upgrade");
    let secret = daemon.enrol("editor", "view");
    const UPGRADE: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                           Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let status = |request: &str, more: &str| {
        let mut stream = daemon.http(request, &secret, more);
        let mut head = [0; 12];
        stream.read_exact(&mut head).unwrap();
        String::from_utf8_lossy(&head).into_owned()
    };
    assert_eq!(status("GET /acp", UPGRADE), "HTTP/1.1 101");
    assert_eq!(status("GET /acp", &format!("{UPGRADE}Origin: https://evil.example\r\n")), "HTTP/1.1 403");
    assert_eq!(status("GET /acp", ""), "HTTP/1.1 426");
    // A browser sends its secret as a subprotocol.
    let mut stream = TcpStream::connect(&daemon.address).unwrap();
    let head = format!(
        "GET /acp HTTP/1.1\r\nHost: {}\r\n{UPGRADE}Sec-WebSocket-Protocol: acp, harn.bearer.{secret}\r\n\r\n",
        daemon.address
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let head: Vec<String> =
        lines.by_ref().take_while(|line| !line.is_empty()).map(|line| line.to_lowercase()).collect();
    assert!(head[0].starts_with("http/1.1 101"), "{head:?}");
    assert!(head.contains(&"sec-websocket-protocol: acp".to_owned()), "{head:?}");
    assert!(head.iter().any(|line| line.starts_with("acp-connection-id: ")), "{head:?}");
}
