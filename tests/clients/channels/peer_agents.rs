//! Peer agents: A2A on the port of the daemon.

use super::daemon::{ChannelClient, DaemonFolder, EventClient};
use a2a::TaskState;
use a2a::peer_task::{PeerTaskDirection, PeerTaskLink, PeerTaskState};
use eventlog::{EventLog as _, SqliteLog, SqliteOptions};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

const HEADERS: &str = "Content-Type: application/json\r\nA2A-Version: 1.0\r\n";

/// A peer agent.
pub(super) struct PeerAgent(pub(super) ChannelClient);

impl PeerAgent {
    /// Calls a method, and returns the status and the response.
    fn try_call(&self, method: &str, params: Value) -> (u16, Value) {
        let mut body = json!({"jsonrpc": "2.0", "id": 1, "method": method});
        body["params"] = params;
        let (status, text) = self.0.request("POST", "/", HEADERS, &body.to_string()).unwrap();
        (status, serde_json::from_str(&text).unwrap_or_else(|_| panic!("{status}: {text}")))
    }

    pub(super) fn call(&self, method: &str, params: Value) -> Value {
        let (status, answer) = self.try_call(method, params);
        assert!(status == 200 && answer.get("error").is_none(), "{method}: {status} {answer:#}");
        answer["result"].clone()
    }

    /// Calls a method that is refused, and returns the code and the reason.
    fn refused(&self, method: &str, params: Value) -> (i64, String) {
        let (_, answer) = self.try_call(method, params);
        let error = &answer["error"];
        let reason = error.pointer("/data/0/reason").and_then(Value::as_str).unwrap_or_default().to_lowercase();
        (error["code"].as_i64().unwrap_or_else(|| panic!("{answer:#}")), reason)
    }

    /// Sends a message, and waits until its task is over or waits.
    pub(super) fn send(&self, id: &str, text: &str, more: Value) -> Value {
        self.call("SendMessage", message(id, text, more))["task"].clone()
    }

    /// Sends a message, and does not wait.
    pub(super) fn begin(&self, id: &str, text: &str, more: Value) -> Value {
        let mut params = message(id, text, more);
        params["configuration"] = json!({"returnImmediately": true});
        self.call("SendMessage", params)["task"].clone()
    }

    /// Follows the updates of a task.
    pub(super) fn stream(&self, method: &str, params: Value) -> impl Iterator<Item = Value> + use<> {
        let mut body = json!({"jsonrpc": "2.0", "id": 1, "method": method});
        body["params"] = params;
        let body = body.to_string();
        let mut stream = TcpStream::connect(&self.0.address).unwrap();
        stream.set_read_timeout(Some(super::daemon::LIMIT)).unwrap();
        let head = format!(
            "POST / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n{HEADERS}Content-Length: {}\r\n\r\n",
            self.0.secret,
            body.len()
        );
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        let lines = BufReader::new(stream).lines().map_while(Result::ok);
        lines.filter_map(|line| {
            Some(serde_json::from_str::<Value>(line.strip_prefix("data: ")?).unwrap()["result"].clone())
        })
    }
}

/// Returns the parameters of a message.
pub(super) fn message(id: &str, text: &str, more: Value) -> Value {
    let mut message = json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": text}]});
    if let Value::Object(more) = more {
        message.as_object_mut().unwrap().extend(more);
    }
    json!({"message": message})
}

/// Returns the state of a task.
pub(super) fn state(task: &Value) -> &str {
    task["status"]["state"].as_str().unwrap()
}

/// Returns the session of a task.
fn session_of(folder: &DaemonFolder, task: &Value) -> String {
    let is_its = |it: &eventlog::Record| it.payload.get("remote_task_id").as_str() == task["id"].as_str();
    let link = folder.wait_for("channel.link", is_its);
    link.payload.get("session_id").as_str().unwrap().to_owned()
}

/// Reads the links of a task, up to its end.
fn links(events: &mut EventClient) -> Vec<Value> {
    let mut links = Vec::new();
    loop {
        let event = events.next().expect("the stream ended before the end of the task");
        if event["type"].as_str().is_some_and(|kind| kind.starts_with("channel.peer_task.")) {
            let is_over = ["completed", "failed", "cancelled"].contains(&event["payload"]["state"].as_str().unwrap());
            links.push(event);
            if is_over {
                return links;
            }
        }
    }
}

#[test]
fn the_card_is_public_and_requests_need_the_secret_of_a_channel() {
    let folder = DaemonFolder::new("a2a-card").with(&["--a2a"]);
    let daemon = folder.start();
    let secret = folder.channel("planner", "view,prompt", &["--role", "peer_agent"]);
    let nobody = daemon.client("");
    let (status, card) = nobody.request("GET", "/.well-known/agent-card.json", "A2A-Version: 1.0\r\n", "").unwrap();
    let card: Value = serde_json::from_str(&card).unwrap();
    let url = card["supportedInterfaces"][0]["url"].as_str().unwrap();
    assert_eq!((status, url), (200, format!("http://{}/", daemon.address).as_str()));
    assert!(card["securitySchemes"].is_object(), "{card}");
    assert_eq!(PeerAgent(nobody).try_call("GetTask", json!({"id": "t"})).0, 401);
    let peer = PeerAgent(daemon.client(&secret));
    assert_eq!(state(&peer.send("m-1", "hello", json!({}))), "TASK_STATE_COMPLETED");
    // Without the option, the daemon has neither.
    drop(daemon);
    let folder = DaemonFolder::new("a2a-off");
    let secret = folder.channel("planner", "view,prompt", &[]);
    let daemon = folder.start();
    assert_eq!(daemon.client(&secret).request("GET", "/.well-known/agent-card.json", "", "").unwrap().0, 404);
    assert_eq!(daemon.client(&secret).request("POST", "/", HEADERS, "{}").unwrap().0, 404);
}

/// Anti-pattern: treating the task id of A2A as the local one.
#[test]
fn a_task_of_a_peer_keeps_both_identities() {
    let folder = DaemonFolder::new("a2a-linked").with(&["--a2a"]);
    let peer_secret = folder.channel("planner", "view,prompt", &["--role", "peer_agent"]);
    let secret = folder.channel("phone", "view", &[]);
    let daemon = folder.start();
    let peer = PeerAgent(daemon.client(&peer_secret));
    let task = peer.send("m-1", "artifacts 2 10", json!({}));
    assert_eq!(state(&task), "TASK_STATE_COMPLETED");
    let session = session_of(&folder, &task);
    let links = links(&mut daemon.client(&secret).events(&session, Some(0)));
    let kinds: Vec<&str> = links.iter().map(|it| it["type"].as_str().unwrap()).collect();
    assert_eq!(kinds[0], "channel.peer_task.linked");
    assert!(kinds[1..].iter().all(|kind| *kind == "channel.peer_task.updated") && kinds.len() > 1, "{kinds:?}");
    for link in &links {
        let payload = &link["payload"];
        assert_eq!(payload["remoteTaskId"], task["id"]);
        assert_eq!(payload["remoteContextId"], task["contextId"]);
        assert_eq!(payload["direction"], "incoming");
        assert!(peer_secret.contains(payload["channelId"].as_str().unwrap()));
        assert!(link["taskId"].as_str().unwrap().starts_with("ptask_"), "{link}");
        assert_ne!(link["taskId"], task["id"], "the id of the peer is not the local one");
    }
    let last = &links.last().unwrap()["payload"];
    assert_eq!(
        (&last["state"], &last["status"], &last["nativeStatus"]),
        (&json!("completed"), &json!("completed"), &json!("completed"))
    );
    // The artifacts are on the log before the end of the task, as references.
    let refs = last["artifactRefs"].as_array().unwrap();
    assert!(refs.len() >= 2 && refs.iter().all(|it| it.as_str().unwrap().starts_with("artifact:ptask_")), "{refs:?}");
    let identity = folder.wait_for("channel.identity", |it| it.payload.get("native_protocol").as_str() == Some("a2a"));
    assert_eq!(identity.payload.get("transport").as_str(), Some("json_rpc"));
    assert_eq!(identity.payload.get("peer_role").as_str(), Some("peer_agent"));
    // A repeated message begins no second task.
    assert_eq!(peer.send("m-1", "artifacts 2 10", json!({}))["id"], task["id"]);
    assert_eq!(folder.records("session.life.prompted").len(), 1);
}

#[test]
fn the_scopes_of_a_peer_agent_are_enforced() {
    let folder = DaemonFolder::new("a2a-scopes").with(&["--a2a"]);
    let secrets = [folder.channel("reader", "view", &[]), folder.channel("writer", "prompt", &[])];
    let daemon = folder.start();
    let [reader, writer] = secrets.each_ref().map(|secret| PeerAgent(daemon.client(secret)));
    let task = writer.send("m-1", "hello", json!({}));
    let id = json!({"id": task["id"]});
    assert_eq!(reader.call("GetTask", id.clone())["id"], task["id"]);
    let refused = (-32000, "scope".to_owned());
    assert_eq!(reader.refused("SendMessage", message("m-2", "hello", json!({}))), refused);
    assert_eq!(reader.refused("CancelTask", id.clone()), refused);
    assert_eq!(writer.refused("GetTask", id.clone()), refused);
    assert_eq!(writer.refused("ListTasks", json!({})), refused);
    assert_eq!(writer.refused("tasks/inject_reminder", json!({"taskId": task["id"], "body": "x"})), refused);
    assert_eq!(folder.wait_for_records("channel.refused", 5).len(), 5);
    assert_eq!(folder.records("session.life.prompted").len(), 1);
}

#[test]
fn a_peer_agent_reaches_the_tasks_and_sessions_of_its_account_only() {
    let folder = DaemonFolder::new("a2a-accounts").with(&["--a2a"]);
    let secrets = [
        folder.channel("ours", "view,prompt", &["--account", "one"]),
        folder.channel("theirs", "view,prompt", &["--account", "two"]),
    ];
    let daemon = folder.start();
    let [ours, theirs] = secrets.each_ref().map(|secret| PeerAgent(daemon.client(secret)));
    let task = ours.send("m-1", "hello", json!({"contextId": "ctx"}));
    let session = session_of(&folder, &task);
    let check = |theirs: &PeerAgent| {
        assert_eq!(theirs.refused("GetTask", json!({"id": task["id"]})).0, -32001);
        assert_eq!(theirs.refused("CancelTask", json!({"id": task["id"]})).0, -32001);
        assert_eq!(theirs.call("ListTasks", json!({}))["tasks"], json!([]));
        // The context of another account is as unknown as one that does not exist.
        let [of_ours, of_none] = [&*session, "sess_00000000000000000000000000000000"].map(|context| {
            let (code, message) =
                theirs.refused("SendMessage", message(context, "hello", json!({"contextId": context})));
            (code, message.replace(context, "CONTEXT"))
        });
        assert_eq!((of_ours.0, &of_ours), (-32602, &of_none));
        let more = json!({"taskId": task["id"]});
        assert_eq!(theirs.refused("SendMessage", message("m-3", "hello", more)).0, -32001);
        // The ids of another account's messages are unknown as well.
        let own = theirs.send("m-1", "hello", json!({}));
        assert_ne!(own["id"], task["id"]);
        assert_eq!(theirs.send("m-1", "hello", json!({}))["id"], own["id"]);
    };
    check(&theirs);
    assert_eq!(ours.call("ListTasks", json!({}))["tasks"].as_array().unwrap().len(), 1);
    // Contexts of two accounts with the same name are two contexts.
    for context in ["ctx", "other"] {
        let listed = theirs.call("ListTasks", json!({"contextId": context, "pageSize": 1}));
        assert_eq!((&listed["tasks"], &listed["totalSize"]), (&json!([]), &json!(0)), "{listed}");
        assert_eq!(listed["nextPageToken"], json!(""), "{listed}");
        let own = theirs.send(&format!("in-{context}"), "hello", json!({"contextId": context}));
        assert_eq!((&own["contextId"], state(&own)), (&json!(context), "TASK_STATE_COMPLETED"), "{own}");
        assert_ne!(session_of(&folder, &own), session);
    }
    let again = ours.send("m-4", "again", json!({"contextId": "ctx"}));
    assert_eq!(session_of(&folder, &again), session);
    assert_eq!(ours.call("ListTasks", json!({"contextId": "ctx"}))["totalSize"], 2);
    // The log says whose they are, so it is the same after a restart.
    daemon.kill();
    let daemon = folder.start();
    let [ours, theirs] = secrets.each_ref().map(|secret| PeerAgent(daemon.client(secret)));
    assert_eq!(theirs.refused("GetTask", json!({"id": task["id"]})).0, -32001);
    assert_eq!(ours.call("GetTask", json!({"id": task["id"]}))["id"], task["id"]);
}

#[test]
fn a_peer_agent_joins_the_session_of_another_channel_and_waits_for_its_turn() {
    let folder = DaemonFolder::new("a2a-joins").with(&["--a2a"]);
    let secrets = [folder.channel("planner", "view,prompt", &[]), folder.channel("phone", "view,prompt", &[])];
    let daemon = folder.start();
    let (peer, phone) = (PeerAgent(daemon.client(&secrets[0])), daemon.client(&secrets[1]));
    let session = phone.open();
    let mut events = phone.events(&session, None);
    phone.prompt(&session, "sleep 600");
    let task = peer.send("m-1", "from the peer", json!({"contextId": session}));
    assert_eq!(state(&task), "TASK_STATE_COMPLETED");
    let artifact = &task["artifacts"][0]["parts"][0]["text"];
    assert_eq!(artifact, "did from the peer", "the text of the other turn does not belong to the task");
    events.next_of("turn.completed");
    assert_eq!(events.next_of("harn.message")["payload"]["content"], "from the peer");
    events.next_of("turn.completed");
    assert_eq!(folder.records("session.life.opened").len(), 1);
}

#[test]
fn in_task_authorization_is_answered_by_the_peer_or_by_another_channel() {
    let folder = DaemonFolder::new("a2a-permit").with(&["--a2a"]);
    let secrets = [
        folder.channel("planner", "view,prompt,permit", &["--role", "peer_agent"]),
        folder.channel("desk", "view,permit", &[]),
        folder.channel("weak", "view,prompt", &[]),
    ];
    let daemon = folder.start();
    let [peer, desk, weak] = secrets.each_ref().map(|secret| daemon.client(secret));
    let (peer, weak) = (PeerAgent(peer), PeerAgent(weak));
    let task = peer.send("m-1", "pay", json!({}));
    assert_eq!(state(&task), "TASK_STATE_INPUT_REQUIRED", "{task:#}");
    let session = session_of(&folder, &task);
    let forwarded =
        folder.wait_for("channel.event", |it| it.payload.get("event").as_str() == Some("channel.permission_forwarded"));
    assert_eq!(forwarded.payload.at("payload.applies_to.tool").as_str(), Some("pay"));
    let waiting = folder.wait_for("channel.link", |it| it.payload.get("state").as_str() == Some("waiting"));
    assert_eq!(waiting.payload.get("status").as_str(), Some("waiting_input"));
    // A channel without the scope cannot answer in the name of the task.
    assert_eq!(weak.refused("SendMessage", message("m-2", "allow", json!({"taskId": task["id"]}))).1, "scope");
    let ended = peer.send("m-3", "allow", json!({"taskId": task["id"]}));
    assert_eq!(state(&ended), "TASK_STATE_COMPLETED", "{ended:#}");
    let decision = folder.records("channel.permission").remove(0);
    for fact in ["requested_by", "decided_by"] {
        assert!(secrets[0].contains(decision.payload.get(fact).as_str().unwrap()), "{fact}");
    }
    assert_eq!(
        (decision.payload.get("source").as_str(), decision.payload.get("side").as_str()),
        (Some("user"), Some("remote"))
    );

    // Another channel answers, and the task of the peer goes on.
    let task = peer.send("m-4", "pay", json!({"contextId": task["contextId"]}));
    assert_eq!(state(&task), "TASK_STATE_INPUT_REQUIRED");
    let snapshot = desk.events(&session, None).snapshot;
    let request = &snapshot["payload"]["pendingPermissions"][0]["request"];
    let (_, answer) = desk.act(&session, "permit", json!({"request": request, "verdict": "reject_once"}));
    assert_eq!(answer["result"]["decided"], true, "{answer}");
    let is_over = |it: &eventlog::Record| it.payload.get("state").as_str() == Some("completed");
    let is_its = |it: &eventlog::Record| it.payload.get("remote_task_id").as_str() == task["id"].as_str();
    folder.wait_for("channel.link", |it| is_over(it) && is_its(it));
    let decisions = folder.records("channel.permission");
    assert!(decisions.len() == 2 && secrets[1].contains(decisions[1].payload.get("decided_by").as_str().unwrap()));
}

/// Anti-pattern: marking a running peer task as completed because the channel disconnected.
#[test]
fn a_revoked_peer_is_cut_off_within_a_second_and_its_task_goes_on() {
    let folder = DaemonFolder::new("a2a-revoked").with(&["--a2a"]);
    let secret = folder.channel("planner", "view,prompt", &[]);
    let daemon = folder.start();
    let peer = PeerAgent(daemon.client(&secret));
    let mut frames = peer.stream("SendStreamingMessage", message("m-1", "sleep 2500", json!({})));
    assert!(frames.next().unwrap()["task"]["id"].is_string());
    folder.revoke("planner");
    assert!(frames.all(|frame| frame["statusUpdate"]["status"]["state"] != "TASK_STATE_COMPLETED"));
    let ended = folder.wait_for("channel.event", |it| it.payload.at("payload.reason").as_str() == Some("revoked"));
    let revoked = folder.records("channel.revoked").remove(0);
    assert!(ended.occurred_at_ms.saturating_sub(revoked.occurred_at_ms) <= 1_000);
    let completed = folder.wait_for("channel.link", |it| it.payload.get("state").as_str() == Some("completed"));
    let answered = folder.wait_for("session.life.answered", |_| true);
    assert!(completed.cursor > ended.cursor && completed.occurred_at_ms + 1_000 > answered.occurred_at_ms);
}

#[test]
fn a_task_that_a_killed_daemon_left_is_reconciled_at_the_next_start() {
    let folder = DaemonFolder::new("a2a-killed").with(&["--a2a"]);
    let secret = folder.channel("planner", "view,prompt", &[]);
    let daemon = folder.start();
    let task = PeerAgent(daemon.client(&secret)).begin("m-1", "sleep 60000", json!({}));
    folder.wait_for("channel.link", |it| it.payload.get("state").as_str() == Some("running"));
    daemon.kill();
    let daemon = folder.start();
    let peer = PeerAgent(daemon.client(&secret));
    let now = peer.call("GetTask", json!({"id": task["id"]}));
    let link = folder.records("channel.link").pop().unwrap();
    assert_eq!(link.payload.get("remote_task_id").as_str(), task["id"].as_str());
    let native = link.payload.get("native_status").as_str().unwrap().to_uppercase();
    assert_eq!(state(&now), format!("TASK_STATE_{native}"), "the link has the state of the task");
    assert_eq!(link.payload.get("state").as_str(), Some("failed"));
}

/// A process that a test starts.
struct EndedAtDrop(Child);

impl Drop for EndedAtDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the link of a task at a peer that was running when the process ended.
fn left(name: &str, address: &str, remote_task_id: &str) -> PeerTaskLink {
    PeerTaskLink {
        task_id: name.into(),
        parent_task_id: None,
        direction: PeerTaskDirection::Outgoing,
        session_id: Some("sess_0123456789abcdef0123456789abcdef".into()),
        channel_id: None,
        remote_task_id: remote_task_id.into(),
        remote_context_id: None,
        agent_card_ref: Some(address.into()),
        native_status: TaskState::Working,
        artifact_refs: Vec::new(),
        state: PeerTaskState::Running,
        cause: None,
    }
}

#[test]
fn tasks_at_peers_that_an_ended_process_left_are_reconciled_at_the_start() {
    let folder = DaemonFolder::new("a2a-left").with(&["--a2a"]);
    // The peer: another process, without a token.
    let daemon = folder.start();
    let script = folder.log_path().with_file_name("agent.harn");
    let mut command = folder.command();
    command.args(["serve", "a2a"]).arg(&script).args(["--listen", "0"]).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut server = EndedAtDrop(command.spawn().unwrap());
    let mut line = String::new();
    let mut log = BufReader::new(server.0.stderr.take().unwrap());
    log.read_line(&mut line).unwrap();
    let address = line.split_once("http://").unwrap().1.split('/').next().unwrap().to_owned();
    let peer = PeerAgent(ChannelClient { address: address.clone(), secret: String::new() });
    let made = peer.send("m-1", "artifacts 1 5", json!({}));
    let asks = peer.send("m-2", "question", json!({}));
    assert_eq!((state(&made), state(&asks)), ("TASK_STATE_COMPLETED", "TASK_STATE_INPUT_REQUIRED"));
    // What a script of an ended process had recorded.
    let own = format!("http://{}/", daemon.address);
    daemon.kill();
    let url = format!("http://{address}/");
    let id = |task: &Value| task["id"].as_str().unwrap().to_owned();
    let log_of_run = SqliteLog::open(folder.log_path(), &SqliteOptions::default()).unwrap();
    for link in [
        left("made", &url, &id(&made)),
        left("asks", &url, &id(&asks)),
        left("gone", &url, "task_none"),
        left("dark", "http://127.0.0.1:1/", "task_1"),
        left("locked", &own, "task_2"),
    ] {
        log_of_run.append(link.to_record(true, 1));
    }
    drop(log_of_run);
    let _daemon = folder.start_at(own.trim_start_matches("http://").trim_end_matches('/'));
    let reconciled = |name: &str| {
        folder.wait_for("channel.link", |it| {
            it.payload.get("task_id").as_str() == Some(name)
                && it.payload.get("state").as_str() != Some("running")
                && it.payload.get("state").as_str() != Some("completed_unreconciled")
        })
    };
    for (name, state, cause) in [
        ("made", "completed", None),
        ("asks", "waiting", None),
        ("gone", "missing", None),
        ("dark", "unavailable", Some("network")),
        ("locked", "unavailable", Some("auth")),
    ] {
        let link = reconciled(name);
        assert_eq!(link.payload.get("state").as_str(), Some(state), "{name}");
        assert_eq!(link.payload.get("cause").as_str(), cause, "{name}");
    }
    // Its artifacts were stored before it was completed.
    let artifacts: Vec<_> = folder.records("channel.artifact");
    assert!(!artifacts.is_empty() && artifacts.iter().all(|it| it.cursor < reconciled("made").cursor));
    assert_eq!(folder.records("session.life.prompted").len(), 0, "no task began again");
}
