//! Tasks over two processes: the first is killed, the second tells what has become of them.

use crate::harn::{root, scratch};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// What takes longer hangs.
const LIMIT: Duration = Duration::from_secs(100);

/// A process that serves `kept.harn`.
struct Served {
    child: Child,
    address: String,
}

impl Served {
    /// Serves it with a log in the folder, where there is one.
    fn start(script: &Path, log: Option<&Path>) -> Served {
        let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
        command.args(["serve", "a2a"]).arg(script).args(["--listen", "127.0.0.1:0"]);
        command.env_clear().env("HARN_LLM_PROVIDER", "mock");
        command.args(log.map(|log| format!("--event-log=sqlite:{}", log.display())));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut said = String::new();
        let mut lines = BufReader::new(child.stderr.take().unwrap().chain(child.stdout.take().unwrap()));
        loop {
            let mut line = String::new();
            assert!(lines.read_line(&mut line).unwrap() > 0, "it does not listen: {said}");
            said.push_str(&line);
            if let Some((_, rest)) = line.split_once("http://") {
                let end = rest.find(|end: char| !end.is_ascii_digit() && end != '.' && end != ':').unwrap();
                // Whatever it says from here on must not fill its pipe.
                std::thread::spawn(move || lines.lines().for_each(drop));
                return Served { child, address: rest[..end].to_owned() };
            }
        }
    }

    fn ask(&self, method: &str, params: &Value) -> Value {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        write!(
            stream,
            "POST / HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nA2A-Version: 1.0\r\nConnection: close\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (_, json) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{answer}"));
        serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {answer}"))
    }

    fn result(&self, method: &str, params: &Value) -> Value {
        let answer = self.ask(method, params);
        answer.get("result").unwrap_or_else(|| panic!("{answer}")).clone()
    }

    /// A message, and the task as it is when it rests; at once with `now`.
    fn send(&self, text: &str, more: &Value, now: bool) -> Value {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = format!("message-{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let mut message = json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": text}]});
        message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let params = json!({"message": message, "configuration": {"returnImmediately": now}});
        self.result("SendMessage", &params)["task"].clone()
    }

    fn task(&self, task: &Value) -> Value {
        self.result("GetTask", &json!({"id": task["id"]}))
    }

    /// A task that has made the half of it, and waits.
    fn hold(&self, more: &Value) -> Value {
        let task = self.send("hold", more, true);
        self.until(&task, |task| task["artifacts"].is_array())
    }

    fn until(&self, task: &Value, wanted: impl Fn(&Value) -> bool) -> Value {
        let began = Instant::now();
        loop {
            let now = self.task(task);
            if wanted(&now) {
                return now;
            }
            assert!(began.elapsed() < LIMIT, "{now}");
            sleep(Duration::from_millis(5));
        }
    }

    fn settled(&self, task: &Value) -> Value {
        self.until(task, |task| !["TASK_STATE_WORKING", "TASK_STATE_SUBMITTED"].contains(&state(task)))
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ends it in good order.
    fn end(mut self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        assert_eq!(self.child.wait().unwrap().code(), Some(143));
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The script in a folder of the test's own, with `@resumable` or without, and the place of the log.
fn files(test: &str, resumable: bool) -> (PathBuf, PathBuf) {
    let folder = scratch(&format!("a2a-kept-{test}-{resumable}"));
    let script = fs::read_to_string(root().join("tests/a2a/agents/kept.harn")).unwrap();
    let script = if resumable { script } else { script.replace("@resumable\n", "") };
    fs::write(folder.join("kept.harn"), script).unwrap();
    (folder.join("kept.harn"), folder.join("log.db"))
}

fn state(task: &Value) -> &str {
    task["status"]["state"].as_str().unwrap_or_else(|| panic!("{task}"))
}

/// The text of an artifact's first part.
fn artifact<'a>(task: &'a Value, id: &str) -> &'a str {
    let artifacts = task["artifacts"].as_array().unwrap_or_else(|| panic!("{task}"));
    let found = artifacts.iter().find(|artifact| artifact["artifactId"] == id);
    found.and_then(|artifact| artifact["parts"][0]["text"].as_str()).unwrap_or_else(|| panic!("{task}"))
}

#[test]
fn what_is_over_is_read_and_what_was_in_the_middle_has_failed() {
    let (script, log) = files("failed", false);
    let first = Served::start(&script, Some(&log));
    let done = first.send("hello", &json!({}), false);
    let held = first.hold(&json!({}));
    let asked = first.send("ask", &json!({}), false);
    assert_eq!(state(&asked), "TASK_STATE_INPUT_REQUIRED");
    first.kill();
    let second = Served::start(&script, Some(&log));
    assert_eq!(second.task(&done), done);
    for (before, says) in [(held, "while the task ran"), (asked, "while the task waited for an answer")] {
        let after = second.task(&before);
        assert_eq!(state(&after), "TASK_STATE_FAILED");
        let said = &after["status"]["message"]["parts"];
        assert!(said[0]["text"].as_str().unwrap().contains(says), "{after}");
        assert_eq!(said[1]["data"]["code"], "HARN-LOG-017");
        assert_eq!((&after["artifacts"], &after["history"]), (&before["artifacts"], &before["history"]));
        let refused = second.ask("CancelTask", &json!({"id": before["id"]}));
        assert_eq!(refused["error"]["code"], -32002, "{refused}");
    }
    let page = second.result("ListTasks", &json!({"pageSize": 2}));
    assert_eq!((&page["totalSize"], page["tasks"].as_array().map(Vec::len)), (&json!(3), Some(2)));
    let rest = second.result("ListTasks", &json!({"pageSize": 2, "pageToken": page["nextPageToken"]}));
    assert_eq!(rest["tasks"][0]["id"], done["id"]);
    assert_eq!(rest["nextPageToken"], "");
    second.end();
}

#[test]
fn what_may_run_again_does_and_asks_again() {
    let (script, log) = files("again", true);
    let first = Served::start(&script, Some(&log));
    let held = first.hold(&json!({}));
    let asked = first.send("ask", &json!({}), false);
    first.kill();
    let second = Served::start(&script, Some(&log));
    let held = second.settled(&held);
    assert_eq!((state(&held), artifact(&held, "answer")), ("TASK_STATE_COMPLETED", "held, resumed: true"));
    let again = second.settled(&asked);
    assert_eq!((state(&again), &again["id"]), ("TASK_STATE_INPUT_REQUIRED", &asked["id"]));
    assert_eq!(again["status"]["message"]["parts"][0]["text"], "Which?");
    let answered = second.send("this", &json!({"taskId": asked["id"]}), false);
    assert_eq!((state(&answered), artifact(&answered, "answer")), ("TASK_STATE_COMPLETED", "this, resumed: true"));
    // Whoever ends in good order leaves what it is at to the next as well.
    let held = second.hold(&json!({}));
    second.end();
    let third = Served::start(&script, Some(&log));
    assert_eq!(artifact(&third.settled(&held), "answer"), "held, resumed: true");
    third.end();
}

#[test]
fn a_reminder_that_was_accepted_reaches_the_conversation_in_the_next_process() {
    for resumable in [false, true] {
        let (script, log) = files("reminded", resumable);
        let first = Served::start(&script, Some(&log));
        let context = json!({"contextId": "conversation"});
        first.send("look", &context, false);
        let held = first.hold(&context);
        let reminder = json!({"id": "r-1", "body": "Mind the gap.", "ttlTurns": 3});
        let inject = json!({"taskId": held["id"], "reminder": reminder});
        let accepted = first.result("tasks/inject_reminder", &inject);
        first.kill();
        let second = Served::start(&script, Some(&log));
        second.settled(&held);
        // The same once more is the same, also for a task that is over by now.
        assert_eq!(second.result("tasks/inject_reminder", &inject), accepted);
        let looked = second.send("look", &context, false);
        let seen = artifact(&looked, "answer");
        assert_eq!(seen.matches("Mind the gap.").count(), 1, "{seen}");
        assert_eq!(seen.matches("I have seen it.").count(), 1, "the conversation goes on: {seen}");
        second.end();
    }
}

#[test]
fn two_processes_on_one_log_have_tasks_of_their_own() {
    let (script, log) = files("two", false);
    let first = Served::start(&script, Some(&log));
    let held = first.hold(&json!({}));
    let second = Served::start(&script, Some(&log));
    assert_eq!(second.task(&held), held, "it is at work there");
    let refused = second.ask("CancelTask", &json!({"id": held["id"]}));
    assert_eq!(refused["error"]["code"], -32004, "{refused}");
    let other = second.send("hello", &json!({}), false);
    assert_eq!(first.task(&other), other);
    for one in [&first, &second] {
        assert_eq!(one.result("ListTasks", &json!({}))["totalSize"], 2);
    }
    assert_eq!(state(&first.result("CancelTask", &json!({"id": held["id"]}))), "TASK_STATE_CANCELED");
    assert_eq!(state(&second.task(&held)), "TASK_STATE_CANCELED");
    let held = first.hold(&json!({}));
    first.kill();
    assert_eq!(state(&second.task(&held)), "TASK_STATE_FAILED", "nobody works on it any more");
    second.end();
}

#[test]
fn without_a_log_tasks_live_as_long_as_their_process() {
    let (script, _) = files("memory", true);
    let first = Served::start(&script, None);
    let done = first.send("hello", &json!({}), false);
    assert_eq!(first.task(&done), done);
    first.end();
    let second = Served::start(&script, None);
    let unknown = second.ask("GetTask", &json!({"id": done["id"]}));
    assert_eq!(unknown["error"]["code"], -32001, "{unknown}");
    second.end();
}
