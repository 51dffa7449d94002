//! [`ServerCommand`] begins `harn serve a2a`; [`Server`] is a running one. When it is over, whatever it has answered must have been
//! protocol, and nothing may have panicked.

use super::http::{Connection, HttpResponse, Request};
use super::wire;
use crate::harn::{root, scratch};
pub(super) use crate::wait::LIMIT;
use crate::wait::find;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// The start options of `harn serve a2a`.
pub(super) struct ServerCommand {
    script: PathBuf,
    args: Vec<String>,
    env: Vec<(String, String)>,
    folder: PathBuf,
}

impl ServerCommand {
    /// Serves a script of `tests/a2a/agents`; the folder is the test's own.
    pub(super) fn agent(script: &str, test: &str) -> ServerCommand {
        ServerCommand::file(root().join("tests/a2a/agents").join(script), test)
    }

    /// Serves a script.
    pub(super) fn file(script: PathBuf, test: &str) -> ServerCommand {
        let folder = scratch(&format!("a2a-{test}"));
        ServerCommand { script, args: Vec::new(), env: Vec::new(), folder }
    }

    /// Adds options of the command.
    pub(super) fn with(mut self, args: &[&str]) -> ServerCommand {
        self.args.extend(args.iter().map(ToString::to_string));
        self
    }

    /// Sets an environment variable.
    pub(super) fn env(mut self, name: &str, value: &str) -> ServerCommand {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds an event log on disk.
    pub(super) fn logged(self) -> ServerCommand {
        let log = format!("--event-log=sqlite:{}", self.folder.join("log.db").display());
        self.with(&[&log])
    }

    /// The folder of the test.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The command, not begun.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
        command.args(["serve", "a2a"]).arg(&self.script).args(&self.args).current_dir(&self.folder);
        if !self.args.iter().any(|arg| arg.starts_with("--listen")) {
            command.args(["--listen", "127.0.0.1:0"]);
        }
        command.env_clear().env("HARN_LLM_PROVIDER", "mock").env("HARN_MEMORY_ROOT", self.folder.join("memory"));
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts it, and waits until it listens.
    pub(super) fn spawn(&self) -> Server {
        let mut child = self.command().spawn().unwrap();
        let said = Arc::new(Mutex::new(String::new()));
        let readers =
            vec![kept(child.stdout.take().unwrap(), said.clone()), kept(child.stderr.take().unwrap(), said.clone())];
        let mut server = Server {
            child,
            said,
            readers,
            address: String::new(),
            next: AtomicU64::new(1),
            exchanges: Mutex::new(Vec::new()),
            over: false,
        };
        server.address = server.announced();
        server
    }
}

fn kept(from: impl Read + Send + 'static, into: Arc<Mutex<String>>) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut from = BufReader::new(from);
        let mut line = Vec::new();
        while from.read_until(b'\n', &mut line).unwrap_or(0) > 0 {
            into.lock().unwrap().push_str(&String::from_utf8_lossy(&line));
            line.clear();
        }
    })
}

/// A running server, and what it has answered.
pub(super) struct Server {
    child: Child,
    said: Arc<Mutex<String>>,
    readers: Vec<JoinHandle<()>>,
    /// The address that it listens on: a host and a port.
    pub(super) address: String,
    next: AtomicU64,
    exchanges: Mutex<Vec<Value>>,
    over: bool,
}

/// The result of an ended process.
pub(super) struct ServerExit {
    /// The exit code; nothing where a signal ended it.
    pub(super) code: Option<i32>,
    /// The text on standard error.
    pub(super) said: String,
}

impl Server {
    /// The address that it says it listens at.
    fn announced(&mut self) -> String {
        find("the address of the server", || {
            let is_over = self.child.try_wait().unwrap().is_some();
            let said = self.said();
            if let Some((_, rest)) = said.split_once("http://")
                && let Some(end) = rest.find(|end: char| !end.is_ascii_digit() && end != '.' && end != ':')
            {
                return Ok(rest[..end].to_owned());
            }
            assert!(!is_over, "it does not listen: {said}");
            Err(said)
        })
    }

    /// Returns the text on standard error.
    pub(super) fn said(&self) -> String {
        self.said.lock().unwrap().clone()
    }

    /// Waits until all that it has said is as `wanted`: what it logs is read on a thread of its own.
    pub(super) fn says(&self, wanted: impl Fn(&str) -> bool) {
        find("a text on standard error", || {
            let said = self.said();
            if wanted(&said) { Ok(()) } else { Err(said) }
        });
    }

    /// The process.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns its resident memory, in bytes.
    pub(super) fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        let kilobytes: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
        kilobytes * 1024
    }

    /// A new connection.
    pub(super) fn connect(&self) -> Connection {
        Connection::open(&self.address)
    }

    /// The answer to a request, over a connection of its own; it is kept for the check.
    pub(super) fn ask(&self, request: &Request) -> HttpResponse {
        let mut connection = self.connect();
        connection.send(request);
        let answer = connection.answer();
        self.keep(request, &answer);
        answer
    }

    /// Keeps what was answered, for the check at the end.
    pub(super) fn keep(&self, request: &Request, answer: &HttpResponse) {
        self.exchanges.lock().unwrap().push(wire::exchange(request, answer));
    }

    /// A JSON-RPC request in this version of the protocol, where one is named.
    pub(super) fn request(&self, version: Option<&str>, method: &str, params: Value) -> Request {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let request = Request::post(&self.address, body.to_string());
        match version {
            Some(version) => request.header("A2A-Version", version),
            None => request,
        }
    }

    /// Returns the answer to a request of version 1.0.
    pub(super) fn rpc(&self, method: &str, params: Value) -> Value {
        self.ask(&self.request(Some("1.0"), method, params)).json()
    }

    /// The result of a request of version 1.0.
    pub(super) fn result(&self, method: &str, params: Value) -> Value {
        let answer = self.rpc(method, params);
        answer.get("result").unwrap_or_else(|| panic!("{answer}\n{}", self.said())).clone()
    }

    /// The error of a request of version 1.0.
    pub(super) fn refused(&self, method: &str, params: Value) -> Value {
        let answer = self.rpc(method, params);
        answer.get("error").unwrap_or_else(|| panic!("it was not refused: {answer}")).clone()
    }

    /// A good request, which must be answered as ever.
    pub(super) fn still_answers(&self) {
        let task = self.result("SendMessage", json!({"message": message("echo Still here.")}));
        assert_eq!(task["task"]["status"]["state"], "TASK_STATE_COMPLETED", "{task}");
        assert_eq!(task["task"]["artifacts"][0]["parts"][0]["text"], "Still here.", "{task}");
    }

    /// Sends a signal.
    pub(super) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([format!("-{name}"), self.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Ends it by a signal.
    pub(super) fn ended_by(self, signal: &str) -> ServerExit {
        self.signal(signal);
        self.ended()
    }

    /// Waits until it has ended.
    pub(super) fn ended(mut self) -> ServerExit {
        let code = find("the end of the server", || {
            self.child.try_wait().unwrap().map(|status| status.code()).ok_or_else(|| self.said())
        });
        for reader in self.readers.drain(..) {
            reader.join().unwrap();
        }
        self.over = true;
        self.check();
        ServerExit { code, said: self.said() }
    }

    /// Ends it; it must do so in good order.
    pub(super) fn end(self) {
        let ended = self.ended_by("TERM");
        assert_eq!(ended.code, Some(143), "{}", ended.said);
    }

    fn check(&self) {
        let said = self.said();
        assert!(!said.contains("panicked"), "{said}");
        for exchange in self.exchanges.lock().unwrap().drain(..) {
            wire::assert_fits(&exchange);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if !self.over {
            let _ = self.child.kill();
            let _ = self.child.wait();
            if !thread::panicking() {
                self.check();
            }
        }
    }
}

/// A message of the user, version 1.0.
pub(super) fn message(text: &str) -> Value {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let id = format!("message-{}", NEXT.fetch_add(1, Ordering::Relaxed));
    json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": text}]})
}
