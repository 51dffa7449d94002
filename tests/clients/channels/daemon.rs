//! A running daemon, its channels, and clients that read events.

use crate::harn::{environment, root, scratch};
pub(super) use crate::wait::LIMIT;
use crate::wait::find;
use eventlog::{LogFile, Record, RecordFilter};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A folder with an event log, for daemons one after the other.
pub(super) struct DaemonFolder {
    folder: PathBuf,
    args: Vec<String>,
    /// The script in `tests/channels`.
    agent: &'static str,
}

impl DaemonFolder {
    pub(super) fn new(name: &str) -> DaemonFolder {
        DaemonFolder { folder: scratch(&format!("channels-{name}")), args: Vec::new(), agent: "agent.harn" }
    }

    /// Serves another script of `tests/channels`.
    pub(super) fn running(mut self, agent: &'static str) -> DaemonFolder {
        self.agent = agent;
        self
    }

    /// Adds options of the command.
    pub(super) fn with(mut self, args: &[&str]) -> DaemonFolder {
        self.args.extend(args.iter().map(ToString::to_string));
        self
    }

    /// Writes the `[channels]` of a `harn.toml`, beside a copy of the agent.
    pub(super) fn saying(self, settings: &str) -> DaemonFolder {
        fs::write(self.folder.join("harn.toml"), format!("[channels]\n{settings}\n")).unwrap();
        self
    }

    /// Returns the value of `--event-log`.
    pub(super) fn log_option(&self) -> String {
        format!("sqlite:{}", self.log_path().display())
    }

    pub(super) fn log_path(&self) -> PathBuf {
        self.folder.join("events.db")
    }

    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
        command.env_clear().envs(environment()).env("HARN_MEMORY_ROOT", self.folder.join("memory"));
        command.current_dir(&self.folder).stdin(Stdio::null());
        command
    }

    /// Enrols a channel, and returns its secret.
    pub(super) fn channel(&self, name: &str, can: &str, more: &[&str]) -> String {
        let mut command = self.command();
        command.args(["channel", "add", name, "--can", can, "--event-log", &self.log_option()]).args(more);
        let added = command.output().unwrap();
        assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
        String::from_utf8(added.stdout).unwrap().trim().to_owned()
    }

    pub(super) fn revoke(&self, name: &str) {
        let revoked =
            self.command().args(["channel", "revoke", name, "--event-log", &self.log_option()]).output().unwrap();
        assert!(revoked.status.success(), "{}", String::from_utf8_lossy(&revoked.stderr));
    }

    /// Starts a daemon, and waits until it listens.
    pub(super) fn start(&self) -> RunningDaemon {
        self.start_at("0")
    }

    /// Starts a daemon at an address.
    pub(super) fn start_at(&self, listen: &str) -> RunningDaemon {
        let script = self.folder.join(self.agent);
        fs::copy(root().join("tests/channels").join(self.agent), &script).unwrap();
        let mut command = self.command();
        command.args(["serve", "channels"]).arg(&script).args(["--listen", listen, "--workers", "2"]);
        command.args(["--event-log", &self.log_option()]).args(&self.args);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        log.read_line(&mut line).unwrap();
        let Some((_, address)) = line.trim().rsplit_once("http://") else {
            log.read_to_string(&mut line).unwrap();
            panic!("the daemon does not serve: {line}");
        };
        // Kept open: a daemon that cannot write its log lines would notice.
        std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        RunningDaemon { child, address: address.to_owned() }
    }

    /// Returns the records of a kind.
    pub(super) fn records(&self, kind: &str) -> Vec<Arc<Record>> {
        self.records_after(kind, 0)
    }

    /// Returns the records of a kind after a cursor.
    pub(super) fn records_after(&self, kind: &str, after: u64) -> Vec<Arc<Record>> {
        // The topic of these kinds is everything before the last word.
        let topic: Arc<str> = kind.rsplit_once('.').unwrap().0.into();
        let filter = RecordFilter { topic: Some(topic), kind_prefix: Some(kind.into()), after };
        LogFile::open(self.log_path()).unwrap().read(&filter, usize::MAX).unwrap()
    }

    /// Waits until there are at least `count` records of a kind, and returns all of them. A refusal is recorded after its
    /// response.
    pub(super) fn wait_for_records(&self, kind: &str, count: usize) -> Vec<Arc<Record>> {
        find(&format!("{count} records `{kind}`"), || {
            let found = self.records(kind);
            if found.len() >= count { Ok(found) } else { Err(format!("{} are there", found.len())) }
        })
    }

    /// Waits until there is such a record.
    pub(super) fn wait_for(&self, kind: &str, is_meant: impl Fn(&Record) -> bool) -> Arc<Record> {
        find(&format!("a record `{kind}`"), || {
            let records = self.records(kind);
            let found = records.iter().find(|record| is_meant(record)).cloned();
            found.ok_or_else(|| format!("none of {} is meant", records.len()))
        })
    }
}

/// A running daemon.
pub(super) struct RunningDaemon {
    child: Child,
    pub(super) address: String,
}

impl RunningDaemon {
    /// Returns a client with a secret.
    pub(super) fn client(&self, secret: &str) -> ChannelClient {
        ChannelClient { address: self.address.clone(), secret: secret.to_owned() }
    }

    /// Returns the id of its process.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends it with SIGKILL.
    pub(super) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Stops it by a signal, and returns its exit code.
    pub(super) fn stop(mut self) -> Option<i32> {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for RunningDaemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client of the daemon.
#[derive(Clone)]
pub(super) struct ChannelClient {
    pub(super) address: String,
    pub(super) secret: String,
}

impl ChannelClient {
    /// Sends a request. Returns the status and the body, or `None` if the connection broke.
    pub(super) fn request(&self, method: &str, path: &str, headers: &str, body: &str) -> Option<(u16, String)> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        let secret = match self.secret.is_empty() {
            true => String::new(),
            false => format!("Authorization: Bearer {}\r\n", self.secret),
        };
        let host = if headers.contains("Host:") { "" } else { "Host: localhost\r\n" };
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\n{host}{secret}Connection: close\r\nContent-Length: {length}\r\n{headers}\r\n"
        );
        stream.write_all(format!("{head}{body}").as_bytes()).ok()?;
        let mut text = String::new();
        stream.read_to_string(&mut text).ok()?;
        let (head, body) = text.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some((status, body.to_owned()))
    }

    /// Sends an action. Returns the status and the body, or `None` if the connection broke.
    pub(super) fn try_act(&self, action: &Value) -> Option<(u16, Value)> {
        let headers = "Content-Type: application/json\r\n";
        let (status, body) = self.request("POST", "/actions", headers, &action.to_string())?;
        Some((status, serde_json::from_str(&body).ok()?))
    }

    /// Sends an action with a fresh id.
    pub(super) fn act(&self, session: &str, kind: &str, params: Value) -> (u16, Value) {
        self.act_as(&fresh_id(), session, kind, params)
    }

    pub(super) fn act_as(&self, id: &str, session: &str, kind: &str, params: Value) -> (u16, Value) {
        self.try_act(&action(id, session, kind, params)).unwrap()
    }

    /// Opens a session.
    pub(super) fn open(&self) -> String {
        let (status, opened) = self.act("", "open", json!({}));
        assert_eq!(status, 200, "{opened}");
        opened["result"]["sessionId"].as_str().unwrap().to_owned()
    }

    /// Prompts a session.
    pub(super) fn prompt(&self, session: &str, text: &str) {
        let (status, accepted) = self.act(session, "prompt", json!({"text": text}));
        assert_eq!((status, &accepted["status"]), (202, &json!("accepted")), "{accepted}");
    }

    /// Reads the events of a session, after a cursor or from a snapshot.
    pub(super) fn events(&self, session: &str, after: Option<u64>) -> EventClient {
        self.try_events(session, after).unwrap()
    }

    pub(super) fn try_events(&self, session: &str, after: Option<u64>) -> Option<EventClient> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        let last = after.map_or_else(String::new, |after| format!("Last-Event-ID: {after}\r\n"));
        let head = format!(
            "GET /events?session={session} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n{last}\r\n",
            self.secret
        );
        stream.write_all(head.as_bytes()).ok()?;
        let mut lines = BufReader::new(stream);
        let mut status = String::new();
        lines.read_line(&mut status).ok()?;
        if !status.contains(" 200 ") {
            return None;
        }
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            if lines.read_line(&mut line).ok()? == 0 {
                return None;
            }
        }
        let mut events = EventClient { lines, body: String::new(), last: after, snapshot: Value::Null };
        if after.is_none() {
            events.snapshot = events.next()?;
            assert_eq!(events.snapshot["payload"]["change"], "snapshot");
        }
        Some(events)
    }
}

/// A client that reads events.
pub(super) struct EventClient {
    lines: BufReader<TcpStream>,
    body: String,
    /// The id of the last event.
    pub(super) last: Option<u64>,
    /// The snapshot with which it began, unless it continues after a cursor.
    pub(super) snapshot: Value,
}

impl EventClient {
    /// Sets the timeout of a wait for the next bytes.
    fn wait_at_most(&self, timeout: Duration) {
        self.lines.get_ref().set_read_timeout(Some(timeout)).unwrap();
    }

    /// Returns the next event; `None` at the end of the stream, and if nothing comes in time.
    pub(super) fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(event) = self.next_read() {
                return Some(event);
            }
            self.read_chunk()?;
        }
    }

    /// Returns the next event if it has arrived.
    pub(super) fn next_arrived(&mut self) -> Option<Value> {
        loop {
            if let Some(event) = self.next_read() {
                return Some(event);
            }
            self.wait_at_most(Duration::from_millis(50));
            let has_more = self.lines.fill_buf().is_ok_and(|bytes| !bytes.is_empty());
            self.wait_at_most(LIMIT);
            if !has_more {
                return None;
            }
            self.read_chunk()?;
        }
    }

    /// Returns the next event of what was read.
    fn next_read(&mut self) -> Option<Value> {
        loop {
            let end = self.body.find("\n\n")?;
            let event: String = self.body.drain(..end + 2).collect();
            let data = event.lines().find_map(|line| line.strip_prefix("data: "));
            if let Some(id) = event.lines().find_map(|line| line.strip_prefix("id: ")) {
                self.last = Some(id.parse().unwrap());
            }
            if let Some(data) = data {
                return Some(serde_json::from_str(data).unwrap());
            }
        }
    }

    /// Reads a chunk: its size, its bytes, and a line break.
    fn read_chunk(&mut self) -> Option<()> {
        let mut size = String::new();
        self.lines.read_line(&mut size).ok()?;
        let size = usize::from_str_radix(size.trim(), 16).ok().filter(|size| *size > 0)?;
        let mut chunk = vec![0; size + 2];
        self.lines.read_exact(&mut chunk).ok()?;
        self.body.push_str(std::str::from_utf8(&chunk[..size]).unwrap());
        Some(())
    }

    /// Returns the next event of a type, and skips others.
    pub(super) fn next_of(&mut self, kind: &str) -> Value {
        loop {
            let event = self.next().unwrap_or_else(|| panic!("the stream ended before `{kind}`"));
            if event["type"] == kind {
                return event;
            }
        }
    }

    /// Reads up to an event of a type, and returns all with a sequence.
    pub(super) fn until(&mut self, kind: &str) -> Vec<Value> {
        let mut events = Vec::new();
        loop {
            let event = self.next().unwrap_or_else(|| panic!("the stream ended before `{kind}`"));
            let is_last = event["type"] == kind;
            if event["sequence"].is_u64() {
                events.push(event);
            }
            if is_last {
                return events;
            }
        }
    }
}

/// Returns an action.
pub(super) fn action(id: &str, session: &str, kind: &str, params: Value) -> Value {
    let mut action = json!({"actionId": id, "kind": kind});
    action["params"] = params;
    if !session.is_empty() {
        action["sessionId"] = session.into();
    }
    action
}

/// Returns an id that no other action has.
pub(super) fn fresh_id() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Removes the records of a log up to a cursor.
pub(super) fn trim(log: &Path, upto: u64) {
    let connection = rusqlite::Connection::open(log).unwrap();
    connection.busy_timeout(LIMIT).unwrap();
    connection.execute("DELETE FROM records WHERE cursor <= ?", [i64::try_from(upto).unwrap()]).unwrap();
}
