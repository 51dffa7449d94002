//! Tasks of peers are linked to local tasks on the log of the run.
//!
//! A test per row of the table of A2A in the reference of channels, with the peers as processes or sockets of their own.

use super::served::ServerProcess;
use super::{Peer, Reply, agent, error, result, task};
use crate::harn::{harn, harn_with_input, scratch};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A log in a file that several runs share.
struct Log(PathBuf);

impl Log {
    fn new(name: &str) -> Log {
        Log(scratch(&format!("a2a-client-links-{name}")))
    }

    fn file(&self) -> String {
        self.0.join("events.db").to_str().unwrap().to_owned()
    }

    /// Runs a script whose `args()` is the URL, and returns its output.
    fn run(&self, script: &str, url: &str) -> String {
        let path = self.0.join("script.harn");
        fs::write(&path, script).unwrap();
        let log = format!("sqlite:{}", self.file());
        let outcome = harn_with_input(&["run", "--event-log", &log, path.to_str().unwrap(), "--", url], b"", &[]);
        assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{}", outcome.out);
        outcome.out
    }

    /// Returns the links as `harn trace` shows them.
    fn links(&self) -> Vec<Value> {
        let outcome = harn(&["trace", "--json", &self.file()]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.err);
        let document: Value = serde_json::from_str(&outcome.out).unwrap();
        document["peer_tasks"].as_array().unwrap().clone()
    }

    /// Returns the only link.
    fn link(&self) -> Value {
        let links = self.links();
        assert_eq!(links.len(), 1, "{links:#?}");
        links[0].clone()
    }

    /// Returns the payloads of the records of a kind.
    fn records(&self, kind: &str) -> Vec<Value> {
        let outcome = harn(&["trace", "--records", &self.file()]);
        let records = outcome.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        records.filter(|record| record["kind"] == kind).map(|mut record| record["payload"].take()).collect()
    }

    /// Returns the states of the only task, in the order of its records.
    fn course(&self) -> Vec<String> {
        let records = self.records("channel.link");
        let ids: Vec<_> = records.iter().map(|link| &link["task_id"]).collect();
        assert!(ids.iter().all(|id| *id == ids[0]), "one local task: {ids:?}");
        let text = |link: &Value, key: &str| link[key].as_str().unwrap().to_owned();
        records
            .iter()
            .map(|link| format!("{} {} {}", text(link, "change"), text(link, "state"), text(link, "status")))
            .collect()
    }
}

const ARTIFACT: &str =
    r#", "artifacts": [{"artifactId": "report", "name": "report", "parts": [{"text": "All good."}]}]"#;

const STREAMS: &str = r#"{"streaming": true}"#;

fn framed(result: &str) -> String {
    format!(r#"{{"jsonrpc": "2.0", "id": "1", "result": {}}}"#, result.replace('\n', " "))
}

fn status(state: &str) -> String {
    framed(&format!(
        r#"{{"statusUpdate": {{"taskId": "t-1", "contextId": "c-1", "status": {{"state": "TASK_STATE_{state}"}}}}}}"#
    ))
}

fn begun() -> String {
    framed(&format!(r#"{{"task": {}}}"#, task("SUBMITTED", "")))
}

/// A peer whose task has a state, whatever is asked.
fn standing(state: &'static str, more: &'static str) -> Peer {
    agent("{}", move |asked| match asked.method() {
        "SendMessage" => result(&format!(r#"{{"task": {}}}"#, task(state, more))),
        _ => result(&task(state, more)),
    })
}

const SEND: &str = "println(a2a.send(args()[0], \"Look.\", {wait: false}).state)\n";
const GET: &str = "try { println(a2a.get(args()[0], \"t-1\").state) } catch (e) { println(e.category) }\n";

#[test]
fn a2a_agent_card_is_the_reference_of_the_peer() {
    let (log, peer) = (Log::new("card"), standing("WORKING", ""));
    log.run(SEND, &peer.url);
    assert_eq!(log.link()["agent_card_ref"], format!("{}/rpc", peer.url));
}

#[test]
fn a2a_send_message_links_the_task_of_the_peer() {
    let (log, peer) = (Log::new("send"), standing("WORKING", ""));
    assert_eq!(log.run(SEND, &peer.url), "working\n");
    assert_eq!(log.course(), ["linked running running"]);
    let link = log.link();
    assert_eq!((&link["direction"], &link["native_status"]), (&json!("outgoing"), &json!("working")));
}

#[test]
fn a2a_task_and_context_ids_are_kept_beside_the_local_id() {
    let (log, peer) = (Log::new("ids"), standing("WORKING", ""));
    log.run(SEND, &peer.url);
    log.run(SEND, &standing("WORKING", "").url);
    let links = log.links();
    assert_eq!(links.len(), 2, "two peers may use the same id");
    for link in &links {
        assert_eq!((&link["remote_task_id"], &link["remote_context_id"]), (&json!("t-1"), &json!("c-1")));
        assert_ne!(link["task_id"], "t-1");
    }
    assert_ne!(links[0]["task_id"], links[1]["task_id"]);
}

#[test]
fn anti_pattern_2_the_id_of_a_peers_task_is_not_the_local_id() {
    let (log, peer) = (Log::new("anti-2"), standing("COMPLETED", ARTIFACT));
    log.run(SEND, &peer.url);
    for record in log.records("channel.link").iter().chain(&log.records("channel.artifact")) {
        let local = record["task_id"].as_str().unwrap();
        assert!(local.starts_with("ptask_"), "{record}");
    }
    assert_eq!(log.link()["remote_task_id"], "t-1");
}

#[test]
fn a2a_task_state_is_normalized_and_kept() {
    for (native, word, state, status) in [
        ("SUBMITTED", "submitted", "idle", "queued"),
        ("WORKING", "working", "running", "running"),
        ("INPUT_REQUIRED", "input-required", "waiting", "waiting_input"),
        ("FAILED", "failed", "failed", "failed"),
        ("REJECTED", "rejected", "failed", "failed"),
        ("CANCELED", "canceled", "cancelled", "cancelled"),
    ] {
        let (log, peer) = (Log::new(&format!("state-{native}")), standing(native, ""));
        log.run(SEND, &peer.url);
        let link = log.link();
        assert_eq!(
            (&link["native_status"], &link["state"], &link["status"]),
            (&json!(word), &json!(state), &json!(status))
        );
    }
}

#[test]
fn a2a_in_task_authorization_waits_for_a_permission() {
    let (log, peer) = (Log::new("auth"), standing("AUTH_REQUIRED", ""));
    assert_eq!(log.run(SEND, &peer.url), "auth-required\n");
    assert_eq!(log.course(), ["linked waiting waiting_permission"]);
}

#[test]
fn a2a_messages_are_not_durable_outputs() {
    let message = r#"{"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "Done."}]}}"#;
    let (log, peer) = (Log::new("message"), agent("{}", move |_| result(message)));
    log.run(SEND, &peer.url);
    assert_eq!((log.links().len(), log.records("channel.artifact").len()), (0, 0));
}

#[test]
fn anti_pattern_3_the_output_of_a_task_is_its_artifacts_and_not_its_messages() {
    let said = r#", "history": [{"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "The answer is 7."}]}]"#;
    let (log, peer) = (Log::new("anti-3"), standing("COMPLETED", said));
    log.run(SEND, &peer.url);
    let link = log.link();
    assert_eq!((&link["state"], &link["artifact_refs"]), (&json!("completed"), &json!([])));
    let written = harn(&["trace", "--records", &log.file()]).out;
    assert!(!written.contains("The answer is 7."), "{written}");
}

#[test]
fn a2a_artifacts_are_stored_before_the_task_is_completed() {
    let (log, peer) = (Log::new("artifact"), standing("COMPLETED", ARTIFACT));
    log.run(SEND, &peer.url);
    assert_eq!(log.course(), ["linked completed_unreconciled running", "updated completed completed"]);
    let (link, stored) = (log.link(), log.records("channel.artifact"));
    let reference = format!("artifact:{}/report", link["task_id"].as_str().unwrap());
    assert_eq!(link["artifact_refs"], json!([reference]));
    assert_eq!((stored.len(), &stored[0]["reference"]), (1, &json!(reference)));
    assert_eq!(stored[0]["artifact"]["parts"], json!([{"text": "All good."}]));
    let kinds = harn(&["trace", "--records", &log.file()]).out;
    let place = |what: &str| kinds.find(what).unwrap();
    assert!(place("completed_unreconciled") < place("channel.artifact"));
    assert!(place("channel.artifact") < place(r#""state":"completed""#));
}

#[test]
fn a2a_streams_report_progress_until_the_artifacts_are_there() {
    let (log, peer) = (
        Log::new("stream"),
        agent(STREAMS, |_| {
            let chunk = r#"{"artifactUpdate": {"taskId": "t-1", "contextId": "c-1", "append": false, "lastChunk": true,
                "artifact": {"artifactId": "report", "parts": [{"text": "All good."}]}}}"#;
            Reply::events(&[begun(), status("WORKING"), framed(chunk), status("COMPLETED")])
        }),
    );
    log.run("for e in a2a.stream(args()[0], \"Look.\") { print(\"\") }\n", &peer.url);
    let wanted = [
        "linked idle queued",
        "updated running running",
        "updated completed_unreconciled running",
        "updated completed completed",
    ];
    assert_eq!(log.course(), wanted);
    assert_eq!(log.records("channel.artifact").len(), 1);
}

/// Streams, and breaks off while the task is running; a later run reads the task.
fn broken_off(answer: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Peer {
    agent(STREAMS, move |asked| match asked.method() {
        "SendStreamingMessage" => Reply::events(&[begun(), status("WORKING")]),
        method => answer(method),
    })
}

const STREAM: &str = r#"
try { for e in a2a.stream(args()[0], "Look.") { print("") } } catch (e) { println(e.category) }
"#;

#[test]
fn anti_pattern_6_a_task_is_not_completed_because_its_connection_ended() {
    let (log, peer) = (Log::new("anti-6"), broken_off(|_| Reply::nothing()));
    assert_eq!(log.run(STREAM, &peer.url), "broke_off\n");
    assert_eq!(log.course(), ["linked idle queued", "updated running running", "updated unavailable unknown"]);
    let link = log.link();
    assert_eq!((&link["native_status"], &link["cause"]), (&json!("working"), &json!("network")));
}

#[test]
fn recovery_a_later_run_finds_the_task_completed_and_keeps_its_local_id() {
    let (log, peer) = (Log::new("completed"), broken_off(|_| result(&task("COMPLETED", ARTIFACT))));
    log.run(STREAM, &peer.url);
    let before = log.link();
    assert_eq!(log.run(GET, &peer.url), "completed\n");
    let link = log.link();
    assert_eq!((&link["task_id"], &link["state"]), (&before["task_id"], &json!("completed")));
    assert_eq!(log.records("channel.artifact").len(), 1);
    // Once more changes nothing: neither the task nor its artifacts are doubled.
    let course = log.course();
    log.run(GET, &peer.url);
    assert_eq!((log.course(), log.records("channel.artifact").len()), (course, 1));
}

#[test]
fn recovery_a_later_run_finds_the_task_running() {
    let (log, peer) = (Log::new("running"), broken_off(|_| result(&task("WORKING", ""))));
    log.run(STREAM, &peer.url);
    log.run(GET, &peer.url);
    assert_eq!(log.course()[2..], ["updated unavailable unknown", "updated running running"]);
    assert_eq!(log.link()["cause"], Value::Null);
}

#[test]
fn recovery_a_later_run_finds_the_task_waiting() {
    let (log, peer) = (Log::new("waiting"), broken_off(|_| result(&task("INPUT_REQUIRED", ""))));
    log.run(STREAM, &peer.url);
    log.run(GET, &peer.url);
    assert_eq!(log.link()["state"], "waiting");
}

#[test]
fn recovery_a_later_run_finds_the_task_missing() {
    let gone = r#"{"code": -32001, "message": "no such task"}"#;
    let (log, peer) = (Log::new("missing"), broken_off(move |_| error(gone)));
    log.run(STREAM, &peer.url);
    log.run(GET, &peer.url);
    let link = log.link();
    assert_eq!((&link["state"], &link["status"]), (&json!("missing"), &json!("lost")));
}

#[test]
fn recovery_a_refused_token_is_not_a_failure_of_the_task() {
    let (log, peer) = (Log::new("refused"), broken_off(|_| Reply::text(401, "")));
    log.run(STREAM, &peer.url);
    log.run(GET, &peer.url);
    let link = log.link();
    assert_eq!((&link["state"], &link["cause"]), (&json!("unavailable"), &json!("auth")));
}

#[test]
fn recovery_after_several_failures_the_task_is_reconciled() {
    let turn = AtomicUsize::new(0);
    let peer = broken_off(move |_| match turn.fetch_add(1, Ordering::SeqCst) {
        0 => Reply::text(503, "busy"),
        1 => Reply::text(401, ""),
        2 => result(&task("WORKING", "")),
        _ => result(&task("COMPLETED", ARTIFACT)),
    });
    let log = Log::new("several");
    log.run(STREAM, &peer.url);
    (0..4).for_each(|_| drop(log.run(GET, &peer.url)));
    let states: Vec<_> = log.records("channel.link").iter().map(|link| link["state"].clone()).collect();
    let wanted = ["idle", "running", "unavailable", "unavailable", "running", "completed_unreconciled", "completed"];
    assert_eq!(states, wanted);
}

#[test]
fn a_task_of_another_process_is_linked_by_its_real_ids() {
    let log = Log::new("process");
    let agent = log.0.join("agent.harn");
    let served = r#"
pipeline default(task, context) {
  task.artifact({name: "report", parts: ["All good."]})
  return context.task_id
}
"#;
    fs::write(&agent, served).unwrap();
    let (process, url) = ServerProcess::start(&agent);
    let script = r#"
let sent = a2a.send(args()[0], "Look.", {timeout_ms: 60000})
println("${sent.task_id} ${sent.context_id} ${len(sent.artifacts)}")
"#;
    let said = log.run(script, &url);
    let [task_id, context_id, artifacts] = said.split_whitespace().collect::<Vec<_>>()[..] else { panic!("{said}") };
    let link = log.link();
    assert_eq!((&link["remote_task_id"], &link["remote_context_id"]), (&json!(task_id), &json!(context_id)));
    assert_eq!(link["state"], "completed");
    assert_eq!(log.records("channel.artifact").len().to_string(), artifacts);
    drop(process);
    // The peer is gone, and what it has completed stays completed.
    let outcome = log.run(&GET.replace("t-1", task_id), &url);
    assert_eq!((outcome.trim(), &log.link()["state"]), ("connection", &json!("completed")));
}

#[test]
fn a_trace_shows_links_as_text_and_on_the_page() {
    let (log, peer) = (Log::new("trace"), standing("COMPLETED", ARTIFACT));
    log.run(SEND, &peer.url);
    let text = harn(&["trace", &log.file()]).out;
    let id = log.link()["task_id"].as_str().unwrap().to_owned();
    assert!(text.starts_with("peers · 1 linked task\n"), "{text}");
    let line = format!("  {id} · completed · outgoing t-1 · at {}/rpc\n", peer.url);
    assert!(text.contains(&line) && text.contains("peer says completed · context c-1 · 1 artifact\n"), "{text}");
    let page = log.0.join("page.html");
    harn(&["trace", "--html", page.to_str().unwrap(), &log.file()]);
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("Tasks of peers") && page.contains(&id), "{page}");
}
