//! A served process whose disk does not answer, under many sessions.

use super::start::AgentCommand;
use crate::harn::root;
use serde_json::{Value, json};
use std::fs;
use std::time::{Duration, Instant};

const SESSIONS: usize = 1_000;

/// The maximum median of answers that need no disk, also on a busy machine.
const MEDIAN: Duration = Duration::from_millis(5);
/// The machine may be busy with other tests. A thread that waited for the disk would answer after the stall, which is over once
/// every session was asked.
const P99: Duration = Duration::from_millis(250);

#[test]
fn a_thousand_sessions_take_injections_while_the_disk_does_not_answer() {
    let script = fs::read_to_string(root().join("tests/acp/agents/seams.harn")).unwrap();
    let start = AgentCommand::script(&script, "stalled").logged().with(&["--max-sessions", "1100"]);
    fs::write(start.folder().join("harn.toml"), "[event_log]\nlock_timeout = \"100s\"\n").unwrap();
    let mut client = start.initialized();
    let sessions: Vec<String> = (0..SESSIONS).map(|_| client.session()).collect();
    // Held, as a disk that does not answer holds up whoever commits.
    let disk = rusqlite::Connection::open(start.folder().join("log.db")).unwrap();
    disk.busy_timeout(Duration::from_secs(100)).unwrap();
    disk.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut injections = Vec::with_capacity(SESSIONS);
    let mut times = Vec::with_capacity(SESSIONS);
    for session in &sessions {
        let began = Instant::now();
        injections
            .push(client.request("session/inject_reminder", json!({"sessionId": session, "body": "Mind the gap."})));
        let pending = client.ask("session/pending_injections", json!({"sessionId": session}));
        times.push(began.elapsed());
        assert_eq!(pending["pendingCount"], 1, "{pending}");
    }
    times.sort_unstable();
    let (median, p99) = (times[SESSIONS / 2], times[SESSIONS * 99 / 100]);
    assert!(median < MEDIAN && p99 < P99, "median {median:?}, p99 {p99:?}");
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
