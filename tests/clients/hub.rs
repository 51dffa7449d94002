//! `harn serve hub`, driven by agents in Python whose protos are written after the documentation of the wire and compiled by
//! `grpcio-tools`.
//!
//! - [`http`]: the HTTP port. [`traced`]: one trace over the hub.
//! - [`failing`]: failures of the hub itself, as log lines and as metrics.
//! - [`recovery`]: lost responses, leases and answers, and limits.
//! - [`chaos`]: workers and hubs that are killed. [`wire`]: slow subscribers, TLS, dead letters and the limit of connections.

mod chaos;
mod failing;
mod http;
mod recovery;
mod traced;
mod wire;

use crate::harn::{root, scratch};
use crate::packages::python;
use eventlog::SqliteOptions;
use hub::Hub;
use hub::broker::BrokerOptions;
use hub::store::SqliteStore;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};

/// The folder of the agents, below the root.
const AGENTS: &str = "tests/hub/python";

/// A running hub.
struct RunningHub {
    child: Child,
    grpc: String,
    http: String,
    /// Kept open: a hub that cannot write its log lines would notice.
    _log: BufReader<ChildStderr>,
}

impl RunningHub {
    fn start(folder: &Path, args: &[&str]) -> RunningHub {
        RunningHub::start_at(folder, "0", args)
    }

    /// Starts it at an address.
    fn start_at(folder: &Path, listen: &str, args: &[&str]) -> RunningHub {
        let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
        command.args(["serve", "hub", "--listen", listen, "--http", "0"]).args(args).current_dir(folder);
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        log.read_line(&mut line).unwrap();
        let mut addresses = line.split_whitespace().filter(|word| word.starts_with("http"));
        let (Some(grpc), Some(http)) = (addresses.next(), addresses.next()) else {
            log.read_to_string(&mut line).unwrap();
            panic!("the hub does not serve: {line}");
        };
        let grpc = grpc.trim_end_matches(',').trim_start_matches("http://").trim_start_matches("https://").to_owned();
        RunningHub { child, grpc, http: http.to_owned(), _log: log }
    }

    /// Returns the body of a response of the HTTP port.
    fn get(&self, path: &str, headers: &str) -> String {
        let address = self.http.trim_start_matches("http://").trim_end_matches('/');
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(crate::wait::LIMIT)).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    /// Ends it with SIGKILL.
    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Stops it by a signal, and returns its exit code.
    fn stop(mut self) -> Option<i32> {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

/// Agents in Python, with the code that is generated from their protos.
struct PythonAgents {
    python: PathBuf,
    folder: PathBuf,
}

impl PythonAgents {
    fn new(test: &str) -> PythonAgents {
        PythonAgents::with_protos(test, AGENTS)
    }

    /// Generates the code from the protos of a folder below the root.
    fn with_protos(test: &str, protos: &str) -> PythonAgents {
        let python = python("hub", &format!("{AGENTS}/requirements.txt"));
        let folder = scratch(&format!("hub-{test}"));
        let generated = folder.join("generated");
        fs::create_dir_all(&generated).unwrap();
        let mut compile = Command::new(&python);
        compile.args(["-m", "grpc_tools.protoc", "-I"]).arg(root().join(protos));
        for kind in ["--python_out", "--grpc_python_out"] {
            compile.arg(format!("{kind}={}", generated.display()));
        }
        let compiled = compile.args(["a2a.proto", "agenthub.proto"]).output().unwrap();
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        PythonAgents { python, folder }
    }

    /// Runs a script against a hub; it must report these parts as passed.
    fn run(&self, script: &str, hub: &RunningHub, parts: &[&str]) {
        let script = root().join(AGENTS).join(script);
        let mut command = Command::new(&self.python);
        command.arg("-B").arg(script).args([&hub.grpc, &hub.http]);
        command.env("PYTHONPATH", self.folder.join("generated"));
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let expected: String = parts.iter().map(|part| format!("ok {part}\n")).collect();
        assert_eq!(said, expected, "{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success());
    }
}

#[test]
fn agents_in_python_run_every_pattern_and_a_hub_keeps_their_tasks() {
    let agents = PythonAgents::new("patterns");
    let store = ["--store", "sqlite:hub.db"];
    let hub = RunningHub::start(&agents.folder, &store);
    let parts = ["request-response", "broadcast", "pipeline", "hierarchical", "competitive", "refusals", "over HTTP"];
    agents.run("patterns.py", &hub, &parts);
    let completed = |hub: &RunningHub| {
        let metrics = hub.get("/metrics", "");
        let line = metrics.lines().find(|line| line.starts_with("harn_hub_tasks{state=\"completed\"}"));
        line.map(ToOwned::to_owned).unwrap_or(metrics)
    };
    let before = completed(&hub);
    assert_eq!(before, "harn_hub_tasks{state=\"completed\"} 11");
    assert!(hub.get("/readyz", "").ends_with("ready\n"));
    assert_eq!(hub.stop(), Some(143));
    let again = RunningHub::start(&agents.folder, &store);
    assert_eq!(completed(&again), before);
    assert_eq!(again.stop(), Some(143));
}

#[test]
fn every_field_and_enum_has_the_number_of_the_published_wire() {
    let agents = PythonAgents::new("wire");
    let hub = RunningHub::start(&agents.folder, &["--store", "memory"]);
    agents.run("wire.py", &hub, &["numbers", "by hand", "every field"]);
    assert_eq!(hub.stop(), Some(143));
}

/// Writes a file that only its owner can read.
fn private(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

#[test]
fn a_token_says_who_calls_and_a_claim_has_one_winner() {
    let agents = PythonAgents::new("tokens");
    let tokens: String =
        ["anna", "ben", "cleo"].iter().map(|name| format!("{name} {name}-0123456789abcdef\n")).collect();
    private(&agents.folder.join("tokens"), &tokens);
    let hub = RunningHub::start(&agents.folder, &["--store", "memory", "--token-file", "tokens"]);
    agents.run("tokens.py", &hub, &["identities", "claims"]);
    assert!(hub.get("/metrics", "").starts_with("HTTP/1.1 401 "));
    let token = "Authorization: Bearer anna-0123456789abcdef\r\n";
    assert!(hub.get("/metrics", token).contains("\nharn_hub_agents 3\n"));
    assert!(hub.get("/healthz", "").ends_with("ok\n"));
    assert_eq!(hub.stop(), Some(143));
}

#[test]
fn a_hub_that_cannot_start_says_why() {
    let folder = scratch("hub-refused");
    private(&folder.join("bad"), "anna short\n");
    let open = folder.join("open");
    fs::write(&open, "anna anna-0123456789abcdef\n").unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o640)).unwrap();
    fs::write(folder.join("pem"), "no certificate\n").unwrap();
    for (args, code) in [
        (&["--listen", "localhost:http"][..], "HARN-HUB-001"),
        (&["--listen", "0.0.0.0:0", "--http", "0", "--store", "memory"], "HARN-HUB-002"),
        (&["--listen", "0", "--http", "0.0.0.0:0", "--store", "memory"], "HARN-HUB-002"),
        (&["--token-file", "bad"], "the token is shorter than 16 characters"),
        (&["--token-file", "open"], "other users can read or change it"),
        (&["--token-file", "missing"], "HARN-HUB-003"),
        (
            &["--listen", "0", "--http", "0", "--store", "memory", "--tls-cert", "pem", "--tls-key", "pem"],
            "HARN-HUB-004",
        ),
        (&["--listen", "0", "--http", "0", "--store", "sqlite:pem"], "HARN-HUB-005"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
        let output = command.args(["serve", "hub"]).args(args).current_dir(&folder).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
        assert!(said.contains(code), "{args:?}: {said}");
    }
}

/// The examples of scripts at a hub.
const EXAMPLES: &str = "examples/hub";

/// Runs each example of a folder and compares what it prints with the file beside it. `count` is the number of them.
fn examples_print_what_they_say(folder: &str, hub_url: Option<&str>, count: usize) {
    let mut found = 0;
    for entry in fs::read_dir(root().join(folder)).unwrap() {
        let path = entry.unwrap().path();
        let is_script = path.extension().is_some_and(|extension| extension == "harn" || extension == "rhai");
        if !is_script || path.to_str().unwrap().ends_with("_test.harn") {
            continue;
        }
        found += 1;
        let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
        command.arg("run").arg(&path).stdin(Stdio::null()).env_remove("HUB_URL");
        command.envs(hub_url.map(|url| ("HUB_URL", url)));
        let output = command.output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{}: {out}{err}", path.display());
        assert_eq!(out, fs::read_to_string(path.with_extension("out")).unwrap(), "{}", path.display());
    }
    assert_eq!(found, count, "{folder}");
}

#[test]
fn scripts_run_the_patterns_at_the_hub_of_their_run() {
    examples_print_what_they_say(EXAMPLES, None, 10);
}

#[test]
fn scripts_run_the_patterns_at_a_served_hub() {
    let folder = scratch("hub_scripts");
    let hub = RunningHub::start(&folder, &["--store", "sqlite:hub.db"]);
    examples_print_what_they_say(EXAMPLES, Some(&format!("http://{}", hub.grpc)), 10);
    assert_eq!(hub.stop(), Some(143));
}

#[test]
fn scripts_ask_an_agent_in_python() {
    // As the README of the example has it.
    let folder = format!("{EXAMPLES}/python");
    let versions = |folder: &str| fs::read_to_string(root().join(folder).join("requirements.txt")).unwrap();
    assert_eq!(versions(&folder), versions(AGENTS));
    let agents = PythonAgents::with_protos("python-example", "hub/proto");
    let hub = RunningHub::start(&agents.folder, &["--store", "memory"]);
    let mut command = Command::new(&agents.python);
    command.arg("-B").arg(root().join(&folder).join("counter.py")).arg(&hub.grpc);
    command.env("PYTHONPATH", agents.folder.join("generated")).stdout(Stdio::piped());
    let mut counter = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(counter.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "counter waits for tasks\n");
    examples_print_what_they_say(&folder, Some(&format!("http://{}", hub.grpc)), 2);
    counter.kill().unwrap();
    counter.wait().unwrap();
    assert_eq!(hub.stop(), Some(143));
}

/// Returns what `harn trace` prints of a hub's store.
fn traced(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
    let output =
        command.args(["trace", "hub.db"]).args(args).current_dir(folder).env("COLUMNS", "200").output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && err.is_empty(), "{out}{err}");
    out.into_owned()
}

#[test]
fn a_trace_shows_the_tasks_of_a_hub() {
    let folder = scratch("hub-trace");
    let hub = RunningHub::start(&folder, &["--store", "sqlite:hub.db"]);
    let script = "let url = env(\"HUB_URL\")\n\
        let connect = { name -> hub.connect(url, {agent: name}) }\n\
        let client = connect(\"client\")\n\
        let first = connect(\"first\").register({name: \"first\"}, {subscriptions: [\"builds\"]})\n\
        let second = connect(\"second\").register({name: \"second\"}, {subscriptions: [\"builds\"]})\n\
        client.publish(\"a\", {queue: \"builds\", task_id: \"resumed\", type: \"build\", priority: \"high\", \
        deadline: \"2999-01-01T00:00:00Z\"})\n\
        first.claim(\"builds\", {lease_ms: 300}).progress({portion: 0.5, resume_token: \"half\"})\n\
        let task = second.claim(\"builds\", {lease_ms: 60000})\n\
        task.renew(90000)\n\
        task.complete(\"linked\")\n\
        client.publish(\"b\", {to: \"first\", task_id: \"refused\"})\n\
        first.claim().reject(\"CAPACITY_EXCEEDED\", \"busy\")\n\
        client.publish(\"c\", {to: \"second\", task_id: \"broken\"})\n\
        second.claim().fail(\"no disk\")\n\
        client.publish(\"d\", {queue: \"builds\", task_id: \"held\", max_attempts: 5, deadline: \"2999-01-01T00:00:00Z\"})\n\
        second.claim(\"builds\", {lease_ms: 600000})\n\
        client.publish(\"e\", {queue: \"builds\", task_id: \"waiting\"})\n\
        client.publish(\"f\", {queue: \"builds\", task_id: \"gone\"})\n\
        client.cancel(\"gone\", \"not needed\")\n";
    fs::write(folder.join("tasks.harn"), script).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
    command.arg("run").arg(folder.join("tasks.harn")).env("HUB_URL", format!("http://{}", hub.grpc));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metrics = hub.get("/metrics", "");
    for line in [
        "harn_hub_tasks{state=\"completed\"} 1",
        "harn_hub_tasks{state=\"submitted\"} 2",
        "harn_hub_queued_tasks{priority=\"medium\"} 1",
        "harn_hub_held_tasks 1",
        "harn_hub_leases 1",
        "harn_hub_deadlines 1",
        "harn_hub_attempts_total 5",
        "harn_hub_checkpoints_total 0",
        "harn_hub_removed_records_total 0",
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line}\n{metrics}");
    }
    assert_eq!(hub.stop(), Some(143));

    let document: serde_json::Value = serde_json::from_str(&traced(&folder, &["--json"])).unwrap();
    assert_eq!(document["notes"], serde_json::json!([]));
    let tasks = document["tasks"].as_array().unwrap();
    let task = |id: &str| tasks.iter().find(|task| task["task_id"] == id).unwrap_or_else(|| panic!("{id}: {tasks:?}"));
    let states: Vec<_> =
        ["resumed", "refused", "broken", "held", "waiting", "gone"].map(|id| &task(id)["state"]).into();
    assert_eq!(states, ["completed", "rejected", "failed", "submitted", "submitted", "cancelled"]);
    let resumed = task("resumed");
    let facts = ["queue", "type", "priority", "from", "deadline_ms", "max_attempts", "resume_token"];
    let facts: Vec<_> = facts.map(|key| resumed[key].clone()).into();
    let expected = serde_json::json!(["builds", "build", "high", "client", 32_472_144_000_000_u64, 3, "half"]);
    assert_eq!(serde_json::Value::from(facts), expected);
    let attempt = |task: &serde_json::Value, place: usize| {
        let attempt = &task["attempts"][place];
        let end = &attempt["end"];
        serde_json::json!([
            attempt["attempt"],
            attempt["worker"],
            attempt["lease_ms"],
            attempt["renewals"],
            end["how"],
            end["by"]
        ])
    };
    assert_eq!(attempt(resumed, 0), serde_json::json!([1, "first", 300, 1, "requeued", "hub"]));
    assert_eq!(
        attempt(resumed, 1).as_array().unwrap()[..3],
        serde_json::json!([2, "second", 90_000]).as_array().unwrap()[..]
    );
    assert_eq!(attempt(resumed, 1)[4], "completed");
    assert_eq!(attempt(task("refused"), 0)[4], "rejected");
    assert_eq!(attempt(task("broken"), 0)[4], "failed");
    assert_eq!(task("held")["attempts"][0]["end"], serde_json::Value::Null);
    assert_eq!(task("waiting")["attempts"], serde_json::json!([]));

    let text = traced(&folder, &[]);
    for part in [
        "hub · 6 tasks · 5 attempts\n",
        "  queue builds: 1 waiting, 1 held by workers\n  open: 1 lease, 1 deadline\n",
        "task resumed · completed · queue builds\n",
        " · priority high · type build · at most 3 attempts · deadline 2999-01-01T00:00:00.000Z\n",
        "  attempt 1 by first, lease 0.300 s, 1 renewal: requeued after 0.",
        "s: worker `first` lost: ",
        "  attempt 2 by second, lease 90.000 s, ",
        "task refused · rejected · inbox of first\n",
        "task broken · failed · inbox of second\n",
        ": no disk\n",
        "  attempt 1 by second, lease 600.000 s: in progress, lease ends at 2",
        "cancelled: not needed\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let last = document["last_cursor"].to_string();
    let open = traced(&folder, &["--at", &last]);
    assert!(open.contains("\n2 of 6 tasks unfinished\n\ntask held · submitted · queue builds\n"), "{open}");
    assert!(!open.contains("task resumed"), "{open}");
    assert!(traced(&folder, &["--html", "page.html"]).starts_with("0 reminders of 0 sessions and 6 tasks in "));
    let page = fs::read_to_string(folder.join("page.html")).unwrap();
    assert!(
        page.contains("<th scope=\"row\"><code>resumed</code></th><td>completed</td><td>queue builds</td>"),
        "{page}"
    );

    // Lines of JSON have the same tasks, and a damaged record is reported.
    let mut lines = traced(&folder, &["--records"]);
    lines.push_str("{\"topic\":\"hub.change\",\"kind\":\"hub.change.task_claimed\",\"payload\":{\"batch\":\"?\"},\"occurred_at_ms\":1}\n");
    fs::write(folder.join("copy.jsonl"), lines).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
    let output = command.args(["trace", "copy.jsonl", "--json"]).current_dir(&folder).output().unwrap();
    let copy: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(copy["tasks"], document["tasks"]);
    assert_eq!(copy["notes"][0]["message"], "the record is not a batch of a hub's changes");

    // A compacted store has the same tasks, and counts their earlier attempts.
    let store = SqliteStore::open(folder.join("hub.db"), &SqliteOptions::default()).unwrap();
    let broker = Hub::open(Box::new(store), BrokerOptions::default()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        broker.compact().await.unwrap();
        broker.compact().await.unwrap();
    });
    assert!(broker.store_stats().unwrap().removed > 15);
    drop(broker);
    let compacted: serde_json::Value = serde_json::from_str(&traced(&folder, &["--json"])).unwrap();
    assert_eq!(compacted["notes"], serde_json::json!([]));
    let kept = compacted["tasks"].as_array().unwrap();
    assert_eq!(kept.len(), 6);
    for (before, after) in tasks.iter().zip(kept) {
        let keys =
            ["task_id", "state", "status_text", "queue", "priority", "submitted_ms", "finished_ms", "rejections"];
        keys.iter().for_each(|key| assert_eq!(before[key], after[key], "{key} of {}", before["task_id"]));
    }
    let removed: Vec<_> = kept.iter().map(|task| task["removed_attempts"].clone()).collect();
    assert_eq!(serde_json::Value::from(removed), serde_json::json!([2, 1, 1, 0, 0, 0]));
    assert_eq!(kept[3]["attempts"], task("held")["attempts"]);
    let text = traced(&folder, &[]);
    for part in ["  compacted: records before the checkpoint of 2", "\n  2 attempts before the checkpoint\n"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn a_script_acts_as_the_agent_of_its_token() {
    let folder = scratch("hub_script_token");
    private(&folder.join("tokens"), "worker 0123456789abcdef0123456789abcdef\n");
    let hub = RunningHub::start(&folder, &["--store", "memory", "--token-file", "tokens"]);
    let script = "let url = env(\"HUB_URL\")\n\
        let worker = hub.connect(url, {token: \"0123456789abcdef0123456789abcdef\"}).register({name: \"any\"})\n\
        println(worker.agent)\n\
        try { hub.connect(url, {agent: \"x\", token: \"wrong\"}).agents() } catch (e) { println(e.code) }\n\
        try { hub.connect(\"http://127.0.0.1:1\", {agent: \"x\", timeout_ms: 100}).agents() } catch (e) { println(e.code) }\n";
    fs::write(folder.join("token.harn"), script).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
    command.arg("run").arg(folder.join("token.harn")).env("HUB_URL", format!("http://{}", hub.grpc));
    let output = command.output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "worker\nHARN-HUB-104\nHARN-HUB-101\n", "{err}");
    assert_eq!(hub.stop(), Some(143));
}
