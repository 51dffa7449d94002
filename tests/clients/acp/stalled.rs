//! A served process whose disk does not answer, under many sessions.

use super::start::AgentCommand;
use crate::harn::{config, root, trust};
use crate::wait::LIMIT;
use serde_json::{Value, json};
use std::fs;
use std::time::{Duration, Instant};

const SESSIONS: usize = 1_000;

/// The maximum 99th percentile of answers that need no disk, without the time for which the threads that a message passes were
/// ready and had no processor: on a machine that is busy with other tests, that is the whole tail. A wait for a lock or the
/// disk is not left out, and a thread that waited for the disk would answer after the stall, which is over once every session
/// was asked.
const P99: Duration = Duration::from_millis(5);

#[test]
fn a_thousand_sessions_take_injections_while_the_disk_does_not_answer() {
    let script = fs::read_to_string(root().join("tests/acp/agents/seams.harn")).unwrap();
    let start = AgentCommand::script(&script, "stalled").logged().with(&["--max-sessions", "1100"]);
    let start = start.env("HARN_CONFIG_HOME", config().to_str().unwrap());
    fs::write(start.folder().join("harn.toml"), "[event_log]\nlock_timeout = \"1h\"\n").unwrap();
    // A folder that is not trusted can only lower the timeout.
    trust(start.folder());
    let mut client = start.initialized();
    let sessions: Vec<String> = (0..SESSIONS).map(|_| client.session()).collect();
    // Held, as a disk that does not answer holds up whoever commits.
    let disk = rusqlite::Connection::open(start.folder().join("log.db")).unwrap();
    disk.busy_timeout(LIMIT).unwrap();
    disk.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut injections = Vec::with_capacity(SESSIONS);
    let mut own = Vec::with_capacity(SESSIONS);
    for session in &sessions {
        let unscheduled = client.unscheduled();
        let began = Instant::now();
        injections
            .push(client.request("session/inject_reminder", json!({"sessionId": session, "body": "Mind the gap."})));
        let pending = client.ask("session/pending_injections", json!({"sessionId": session}));
        let took = began.elapsed();
        own.push(took.saturating_sub(client.unscheduled().saturating_sub(unscheduled)));
        assert_eq!(pending["pendingCount"], 1, "{pending}");
    }
    own.sort_unstable();
    let p99 = own[SESSIONS * 99 / 100];
    assert!(p99 < P99, "{p99:?}");
    // Accepted is what is safe: nothing was, so no injection has an answer.
    let answered = |frame: &Value| injections.iter().any(|id| frame["id"] == *id && frame.get("method").is_none());
    assert!(!client.frames.iter().any(answered));
    disk.execute_batch("COMMIT").unwrap();
    for id in injections {
        assert!(client.result(id)["reminderId"].is_string());
    }
    let prompts = client.prompted(&sessions[SESSIONS - 1], "Look.")["_meta"]["harn"]["data"]["prompts"].clone();
    assert!(prompts[0].as_str().unwrap().contains("Mind the gap."), "{prompts}");
    assert_eq!(client.end().code, Some(0));
}
