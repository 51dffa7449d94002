//! A client that sends lines as it likes and keeps every frame. When it ends, whatever the process wrote must have been
//! protocol: a line that is none, a frame that the schemas refuse or a panic on standard error fails the test.

use super::schema::protocol;
use crate::wait::{LIMIT, ended, find};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Lines as they come, until there are no more, and the folder of their thread in `/proc`.
fn lines(stdout: ChildStdout) -> (Receiver<Vec<u8>>, PathBuf) {
    let (sender, receiver) = channel();
    let (names, named) = channel();
    thread::spawn(move || {
        names.send(this_thread()).unwrap();
        let mut stdout = BufReader::new(stdout);
        loop {
            let mut line = Vec::new();
            if stdout.read_until(b'\n', &mut line).unwrap_or(0) == 0 || sender.send(line).is_err() {
                return;
            }
        }
    });
    (receiver, named.recv().unwrap())
}

fn this_thread() -> PathBuf {
    Path::new("/proc").join(fs::read_link("/proc/thread-self").unwrap())
}

/// Returns how long a thread was ready and had no processor, according to its folder in `/proc`.
fn unscheduled(thread: &Path) -> Duration {
    let text = fs::read_to_string(thread.join("schedstat")).unwrap_or_default();
    Duration::from_nanos(text.split(' ').nth(1).and_then(|ns| ns.parse().ok()).unwrap_or(0))
}

fn kept(mut stderr: impl Read + Send + 'static) -> (Arc<Mutex<String>>, JoinHandle<()>) {
    let kept = Arc::new(Mutex::new(String::new()));
    let into = kept.clone();
    let reader = thread::spawn(move || {
        let mut piece = [0; 4096];
        while let Ok(read @ 1..) = stderr.read(&mut piece) {
            into.lock().unwrap().push_str(&String::from_utf8_lossy(&piece[..read]));
        }
    });
    (kept, reader)
}

/// A running agent and what it has sent.
pub(super) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Option<Receiver<Vec<u8>>>,
    /// The folder of the thread that reads them in `/proc`.
    reader: Option<PathBuf>,
    unread: Option<ChildStdout>,
    err: Arc<Mutex<String>>,
    errors: Option<JoinHandle<()>>,
    folder: PathBuf,
    /// Every frame so far, in order.
    pub(super) frames: Vec<Value>,
    /// Whether a test has consumed the frame.
    taken: Vec<bool>,
    /// The first frame that no test has consumed.
    first: usize,
    /// The methods of the requests, by the text of the id.
    asked: HashMap<String, String>,
    next: u64,
    /// Errors that were right, without their ids.
    checked: HashSet<String>,
    over: bool,
}

/// The result of an ended process.
pub(super) struct AgentExit {
    /// The exit code; nothing where a signal ended it.
    pub(super) code: Option<i32>,
    /// Every frame.
    pub(super) frames: Vec<Value>,
    /// Standard error.
    pub(super) err: String,
}

impl Client {
    /// A client of this process, in this folder; it `reads` from the beginning, or not until it listens.
    pub(super) fn of(mut child: Child, folder: &Path, reads: bool) -> Client {
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().unwrap();
        let (err, errors) = kept(child.stderr.take().unwrap());
        let (lines, unread) = if reads { (Some(lines(stdout)), None) } else { (None, Some(stdout)) };
        let (lines, reader) = lines.unzip();
        Client {
            child,
            stdin,
            lines,
            reader,
            unread,
            err,
            errors: Some(errors),
            folder: folder.to_owned(),
            frames: Vec::new(),
            taken: Vec::new(),
            first: 0,
            asked: HashMap::new(),
            next: 0,
            checked: HashSet::new(),
            over: false,
        }
    }

    /// Sends `initialize`; returns the agent's capabilities.
    pub(super) fn initialize(&mut self, capabilities: Value) -> Value {
        self.ask("initialize", json!({"protocolVersion": 1, "clientCapabilities": capabilities}))
    }

    /// A new session in the folder of the test.
    pub(super) fn session(&mut self) -> String {
        self.session_in("")
    }

    /// A new session in a folder below that of the test.
    pub(super) fn session_in(&mut self, below: &str) -> String {
        let cwd = self.folder.join(below);
        fs::create_dir_all(&cwd).unwrap();
        let opened = self.ask("session/new", json!({"cwd": cwd, "mcpServers": []}));
        opened["sessionId"].as_str().unwrap_or_else(|| panic!("no session: {opened}")).to_owned()
    }

    /// Sends a prompt, and returns the id of the request.
    pub(super) fn prompt(&mut self, session: &str, text: &str) -> u64 {
        self.request("session/prompt", json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]}))
    }

    /// A prompt and its answer.
    pub(super) fn prompted(&mut self, session: &str, text: &str) -> Value {
        let id = self.prompt(session, text);
        self.result(id)
    }

    /// Sends a request, and returns its id.
    pub(super) fn request(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        self.asked.insert(json!(id).to_string(), method.to_owned());
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Sends a notification.
    pub(super) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a frame.
    pub(super) fn send(&mut self, frame: &Value) {
        self.send_line(frame.to_string().as_bytes());
    }

    /// Sends a line of any bytes.
    pub(super) fn send_line(&mut self, line: &[u8]) {
        let mut bytes = line.to_vec();
        bytes.push(b'\n');
        self.send_bytes(&bytes);
    }

    /// Sends bytes, which need be no line.
    pub(super) fn send_bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        let sent = stdin.write_all(bytes).and_then(|()| stdin.flush());
        sent.unwrap_or_else(|error| panic!("{error}; {}", self.told()));
    }

    /// Remembers that an id of the caller's own was used for a method.
    pub(super) fn expects(&mut self, id: &Value, method: &str) {
        self.asked.insert(id.to_string(), method.to_owned());
    }

    /// Sends a request and returns its result.
    pub(super) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.result(id)
    }

    /// The error that a request is answered with.
    pub(super) fn refused(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        let answer = self.answer(&json!(id));
        answer.get("error").unwrap_or_else(|| panic!("`{method}` was not refused: {answer}\n{}", self.told())).clone()
    }

    /// Returns the result of the request with this id.
    pub(super) fn result(&mut self, id: u64) -> Value {
        let answer = self.answer(&json!(id));
        answer.get("result").unwrap_or_else(|| panic!("{answer}\n{}", self.told())).clone()
    }

    /// The answer to the request with this id.
    pub(super) fn answer(&mut self, id: &Value) -> Value {
        let wanted = id.clone();
        self.until(&format!("an answer to {id}"), move |frame| {
            frame.get("method").is_none() && frame.get("id") == Some(&wanted)
        })
    }

    /// The next question of the agent.
    pub(super) fn question(&mut self) -> Value {
        self.until("a question", |frame| frame.get("method").is_some() && frame.get("id").is_some())
    }

    /// The next update of this kind.
    pub(super) fn update(&mut self, session: &str, kind: &str) -> Value {
        let (session, kind) = (session.to_owned(), kind.to_owned());
        self.until(&format!("the update {kind}"), move |frame| {
            frame["params"]["sessionId"] == *session && frame["params"]["update"]["sessionUpdate"] == *kind
        })
    }

    /// Returns the first frame that fits and was not consumed yet; waits for it if needed.
    pub(super) fn until(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let start = Instant::now();
        while self.taken.get(self.first).is_some_and(|taken| *taken) {
            self.first += 1;
        }
        let mut at = self.first;
        loop {
            while at < self.frames.len() {
                if !self.taken[at] && fits(&self.frames[at]) {
                    self.taken[at] = true;
                    return self.frames[at].clone();
                }
                at += 1;
            }
            let left = LIMIT.saturating_sub(start.elapsed());
            let line = match self.lines.as_ref().unwrap().recv_timeout(left) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => panic!("{what} did not come; {}", self.told()),
                Err(RecvTimeoutError::Disconnected) => panic!("the process ended before {what}; {}", self.told()),
            };
            self.take(&line);
        }
    }

    /// Keeps a line, which must be a frame.
    fn take(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(line).into_owned();
        assert!(line.ends_with(b"\n"), "half a line on standard output: {text:?}\n{}", self.told());
        let frame: Value = serde_json::from_slice(line)
            .unwrap_or_else(|error| panic!("{error} on standard output: {text:?}\n{}", self.told()));
        self.check(&frame);
        self.frames.push(frame);
        self.taken.push(false);
    }

    /// Holds a frame against the schemas. In a flood the same error comes again and again, with other ids.
    fn check(&mut self, frame: &Value) {
        let mut alike = frame.clone();
        let id = alike.get("error").is_some().then(|| std::mem::replace(&mut alike["id"], Value::Null));
        if id.is_some_and(|id| id.is_string() || id.is_u64()) && !self.checked.insert(alike.to_string()) {
            return;
        }
        let method = frame.get("id").and_then(|id| self.asked.get(&id.to_string()));
        if let Some(problem) = protocol().problem(frame, method.map(String::as_str)) {
            panic!("{problem}\n{}", self.told());
        }
    }

    /// Whether a file of this name has come into the folder; waits for it.
    pub(super) fn arrived(&self, gate: &str) {
        let path = self.folder.join(format!("{gate}.here"));
        find(gate, || if path.exists() { Ok(()) } else { Err(self.told()) });
    }

    /// Lets the script go on from there.
    pub(super) fn open(&self, gate: &str) {
        fs::write(self.folder.join(format!("{gate}.go")), "").unwrap();
    }

    /// The resident memory of the process, in bytes.
    pub(super) fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0 kB");
        line.trim().trim_end_matches(" kB").trim().parse::<u64>().unwrap() * 1024
    }

    /// Returns how long the threads that a message passes were ready and had no processor so far: this one, the one that
    /// reads answers, and those of the agent that read, answer and write. Sessions and the log have threads of other names.
    pub(super) fn unscheduled(&self) -> Duration {
        let agent = Path::new("/proc").join(self.child.id().to_string());
        let name = fs::read_to_string(agent.join("comm")).unwrap();
        let threads = fs::read_dir(agent.join("task")).unwrap().map(|entry| entry.unwrap().path());
        let on_the_way = threads.filter(|thread| fs::read_to_string(thread.join("comm")).is_ok_and(|it| it == name));
        on_the_way.chain(self.reader.clone()).chain([this_thread()]).map(|thread| unscheduled(&thread)).sum()
    }

    /// Checks whether no thread of the process runs or is ready to run.
    pub(super) fn is_asleep(&self) -> bool {
        let threads = fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        let stats = threads.filter_map(|thread| fs::read_to_string(thread.unwrap().path().join("stat")).ok());
        stats.into_iter().all(|stat| stat.contains(") S "))
    }

    /// Waits until a line on standard error has this text, and returns the rest of the line after it.
    pub(super) fn said(&self, text: &str) -> String {
        find(text, || {
            let err = self.err.lock().unwrap().clone();
            let found = err.split_once(text).and_then(|(_, rest)| rest.split_once('\n'));
            found.map(|(rest, _)| rest.to_owned()).ok_or(err)
        })
    }

    /// Sends the process a signal.
    pub(super) fn signal(&self, name: &str) {
        let sent = Command::new("sh").args(["-c", &format!("kill -{name} {}", self.child.id())]).status().unwrap();
        assert!(sent.success());
    }

    /// The folder of the test.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Takes standard input away, to be written to from elsewhere.
    pub(super) fn take_stdin(&mut self) -> ChildStdin {
        self.stdin.take().unwrap()
    }

    /// Puts the process's standard input back.
    pub(super) fn give_stdin(&mut self, stdin: ChildStdin) {
        self.stdin = Some(stdin);
    }

    /// Reads from now on, where it did not.
    pub(super) fn listen(&mut self) {
        (self.lines, self.reader) = self.unread.take().map(lines).unzip();
    }

    /// Reads so many frames and no more.
    pub(super) fn read_lines(&mut self, count: usize) -> Vec<Value> {
        for _ in 0..count {
            let (mut line, mut byte) = (Vec::new(), [0]);
            while line.last() != Some(&b'\n') {
                self.unread.as_mut().unwrap().read_exact(&mut byte).unwrap();
                line.push(byte[0]);
            }
            self.take(&line);
        }
        self.frames[self.frames.len() - count..].to_vec()
    }

    /// So many answers, as they come; now and then the caller looks at the process.
    pub(super) fn answers(&mut self, count: usize, mut look: impl FnMut(&Client)) -> Vec<Value> {
        let mut answers = Vec::with_capacity(count);
        while answers.len() < count {
            let next = self.until("an answer", |frame| frame.get("method").is_none());
            answers.push(next);
            if answers.len() % 1000 == 0 {
                look(self);
            }
        }
        answers
    }

    /// Closes standard input and waits for the end.
    pub(super) fn end(mut self) -> AgentExit {
        drop(self.stdin.take());
        self.ended()
    }

    /// Goes away altogether: neither writes nor reads any more.
    pub(super) fn disconnect(mut self) -> AgentExit {
        drop(self.stdin.take());
        drop(self.unread.take());
        // The thread that reads ends with its receiver, and closes its end when the next line comes.
        drop(self.lines.take());
        self.ended()
    }

    /// Waits for the end.
    pub(super) fn ended(&mut self) -> AgentExit {
        let start = Instant::now();
        while let Some(lines) = &self.lines {
            match lines.recv_timeout(LIMIT.saturating_sub(start.elapsed())) {
                Ok(line) => self.take(&line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("the process did not end; {}", self.told()),
            }
        }
        let code = ended(&mut self.child, |_| ());
        self.over = true;
        if let Some(errors) = self.errors.take() {
            errors.join().unwrap();
        }
        let err = self.err.lock().unwrap().clone();
        assert!(!err.contains("panicked"), "{err}");
        AgentExit { code, frames: self.frames.clone(), err }
    }

    /// Returns the last frames and standard error, for a failure message.
    fn told(&self) -> String {
        let last: Vec<String> =
            self.frames.iter().rev().take(12).rev().map(|frame| format!("{:.700}", frame.to_string())).collect();
        format!("the last frames:\n{}\nstandard error:\n{}", last.join("\n"), self.err.lock().unwrap())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if !self.over && !thread::panicking() {
            drop(self.stdin.take());
            self.ended();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
