//! Refused requests change nothing: neither a task, nor its session, nor the log. Each method is called as over HTTP.

// What `json!` makes is given away.
#![allow(clippy::needless_pass_by_value)]

use std::path::Path;

use eventlog::{RecordFilter, SqliteLog, SqliteOptions};
use serde_json::{Value, json};

use super::*;
use crate::a2a::extension::RequestedExtension;
use crate::a2a::rpc::{CallResult, FrameCache, RequestSender, RequestedVersion, StreamContext, call, read};
use crate::a2a::testing::GateFolder;
use crate::count_limit::CountLimit;
use crate::host::testing::block_on_runtime;

/// A pipeline that asks, waits for a gate, or ends.
const PIPELINE: &str = r#"
pipeline default(task) {
  if task == "ask" { return task.ask("Which?") }
  if task == "end" { return "done" }
  write_file(path_join(task, "began"), "")
  while !file_exists(path_join(task, "gate")) { sleep(2) }
}
"#;

/// A server, and a task in each condition.
struct RefusingServer {
    manager: TaskManager,
    streams: StreamContext,
    log: SqliteLog,
    asking: Arc<str>,
    running: Arc<str>,
    over: Arc<str>,
}

impl RefusingServer {
    async fn start(folder: &GateFolder) -> RefusingServer {
        let path = Path::new(&folder.text()).join("events.db");
        let log = SqliteLog::open(path, &SqliteOptions::default()).unwrap();
        let served = served("test.harn", PIPELINE, 2, Some(log.clone()));
        let manager = TaskManager::open(served, TaskSettings::default()).unwrap_or_else(|found| panic!("{found:?}"));
        let asking = say(&manager, message("ask")).await.id.clone();
        let over = say(&manager, message("end")).await.id.clone();
        let (running, _) = manager.send(request(message(&folder.text())), ASKER).await.unwrap();
        folder.has("began").await;
        let streams = StreamContext { permits: CountLimit::new(1), written: FrameCache::default() };
        RefusingServer { manager, streams, log, asking, running, over }
    }

    /// Calls a method, and returns its response.
    async fn call(&self, version: &str, method: &str, params: Value) -> Value {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let request = read(body.as_bytes()).unwrap_or_else(|bad| panic!("{bad:?}"));
        let caller = RequestSender { said: RequestedVersion::of(Some(version)), asked: RequestedExtension::default() };
        match call(&self.manager, &self.streams, request, caller).await {
            CallResult::Text(text) => serde_json::from_str(&text).unwrap(),
            CallResult::Event(event) => serde_json::from_str(event.trim().strip_prefix("data: ").unwrap()).unwrap(),
            CallResult::Stream(_) | CallResult::Nothing => Value::Null,
        }
    }

    /// Returns everything that a request could change.
    async fn state(&self) -> Value {
        let mut tasks = Vec::new();
        for id in [&self.asking, &self.running, &self.over] {
            tasks.push(Value::from(&Version::V1_0.task(&self.manager.task(id).await.unwrap(), None)));
        }
        let queues = [&self.asking, &self.running].map(async |id| {
            let pending = self.manager.inbox(id).await.unwrap().pending();
            pending.iter().map(|item| item.id.to_string()).collect::<Vec<_>>()
        });
        let [asking, running] = queues;
        let records = self.log.look(|file| file.read(&RecordFilter::default(), 100_000)).unwrap();
        let load = self.manager.load();
        json!({
            "tasks": tasks,
            "queues": [asking.await, running.await],
            "records": records.iter().map(|record| record.kind.to_string()).collect::<Vec<_>>(),
            "started": load.started,
            "open": load.open,
            "known": self.manager.0.directory().all().len(),
            "sessions": self.manager.0.host.sessions().len(),
        })
    }
}

fn said(id: &str, more: Value) -> Value {
    let mut message = json!({"messageId": "m-refused", "role": "ROLE_USER", "parts": [{"text": "x"}], "taskId": id});
    message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"message": message})
}

/// Returns the requests that are refused, each with its code.
fn refused(server: &RefusingServer) -> Vec<(&'static str, Value, i64)> {
    let RefusingServer { asking, running, over, .. } = server;
    let reminder = |id: &str, reminder: Value| json!({"taskId": id, "reminder": reminder});
    let bad = json!({"metadata": {"harn.reminder": {"body": 7}}});
    let mut all = Vec::new();
    for method in ["SendMessage", "SendStreamingMessage", "tasks/send", "tasks/sendSubscribe"] {
        let mut pushed = said(asking, json!({}));
        pushed["configuration"] = json!({"taskPushNotificationConfig": {"url": "https://example.org"}});
        all.extend([
            (method, json!({}), -32602),
            (method, said(asking, json!({"role": "user"})), -32602),
            (method, said(asking, json!({"parts": []})), -32602),
            (method, said(asking, json!({"contextId": "another"})), -32602),
            (method, said(running, json!({"contextId": "another"})), -32602),
            (method, said(asking, bad.clone()), -32602),
            (method, said(running, bad.clone()), -32602),
            (method, said("", bad.clone()), -32602),
            (method, said(running, json!({"parts": [{"text": "x"}, {"raw": "aGFybg=="}]})), -32602),
            (method, said(running, json!({"parts": [{"text": "\n"}]})), -32602),
            (method, said(over, json!({})), -32004),
            (method, pushed, -32003),
        ]);
    }
    for method in ["SendMessage", "GetTask", "CancelTask", "SubscribeToTask"] {
        let params = if method == "SendMessage" { said("task_none", json!({})) } else { json!({"id": "task_none"}) };
        all.push((method, params, -32001));
    }
    all.extend([
        ("GetTask", json!({}), -32602),
        ("ListTasks", json!({"pageToken": "x"}), -32602),
        ("ListTasks", json!({"pageSize": 0}), -32602),
        ("CancelTask", json!({"id": over}), -32002),
        ("SubscribeToTask", json!({"id": over}), -32004),
        ("CreateTaskPushNotificationConfig", json!({"taskId": running}), -32003),
        ("GetExtendedAgentCard", json!({}), -32004),
        ("CancelTasks", json!({"id": running}), -32601),
        ("tasks/inject_reminder", reminder("task_none", json!({"body": "b"})), -32004),
        ("tasks/inject_reminder", reminder(over, json!({"body": "b"})), -32004),
        ("tasks/inject_reminder", reminder(running, json!({"body": ""})), -32602),
        ("tasks/inject_reminder", reminder(running, json!({"body": "b", "dedupKey": "k"})), -32602),
        ("tasks/inject_reminder", reminder(running, json!({"id": "mine", "body": "other", "dedupeKey": "k"})), -32602),
        ("tasks/pending_injections", json!({"taskId": "task_none"}), -32004),
        ("tasks/revoke_reminder", json!({"taskId": running}), -32602),
        ("tasks/revoke_reminder", json!({"taskId": running, "reminderId": "none"}), -32602),
        ("tasks/revoke_reminder", json!({"taskId": over, "reminderId": "mine"}), -32004),
        ("tasks/clear_reminders", json!({"taskId": running}), -32602),
        ("tasks/clear_reminders", json!({"taskId": over, "tag": "t"}), -32004),
    ]);
    all
}

#[test]
fn a_refused_request_changes_nothing() {
    let folder = GateFolder::new("unchanged");
    block_on_runtime(async {
        let server = RefusingServer::start(&folder).await;
        let mine = json!({"taskId": server.running, "reminder": {"id": "mine", "body": "b", "dedupeKey": "k"}});
        let given = server.call("1.0", "tasks/inject_reminder", mine).await;
        assert_eq!(given["result"]["reminderId"], "mine", "{given}");
        let before = server.state().await;
        for (method, params, code) in refused(&server) {
            let answer = server.call("1.0", method, params.clone()).await;
            assert_eq!(answer["error"]["code"], code, "{method} {params}: {answer}");
            assert_eq!(server.state().await, before, "{method} {params}");
        }
        let answer = server.call("2.0", "SendMessage", said(&server.asking, json!({}))).await;
        assert_eq!(answer["error"]["code"], -32009, "{answer}");
        // No stream is free, so the question stays unanswered.
        let permit = server.streams.permits.take();
        for id in [&server.asking, &server.running] {
            let answer = server.call("1.0", "SendStreamingMessage", said(id, json!({}))).await;
            assert_eq!(answer["error"]["code"], -32000, "{answer}");
        }
        assert_eq!(server.state().await, before);
        drop(permit);
        // The same messages are taken once nothing is wrong with them.
        let answer = server.call("1.0", "SendMessage", said(&server.asking, json!({}))).await;
        assert_eq!(answer["result"]["task"]["status"]["state"], "TASK_STATE_COMPLETED", "{answer}");
        folder.open();
        server.manager.settled(&server.running).await.unwrap();
        server.manager.stop().await;
    });
}
