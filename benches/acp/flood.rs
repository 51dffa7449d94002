//! A hundred thousand injects at once, into a session at rest.

use crate::agent::Agent;
use crate::options::Options;
use crate::say;
use serde_json::json;
use std::io::Write;
use std::time::Instant;

/// Injects in all.
const INJECTS: usize = 100_000;
/// The capacity of an injection queue.
const CAPACITY: usize = 256;
/// The maximum growth of the process's memory, in KiB.
const MEMORY_KIB: u64 = 64 << 10;

/// Measures and judges.
pub(crate) fn run(_: &Options) -> bool {
    println!("\n{INJECTS} injects at once, into a session at rest\n");
    let mut agent = Agent::harn("turns.harn", &[]);
    let session = agent.session();
    let before = agent.peak_kib();
    let params = json!({"sessionId": session, "body": "The workspace changed."});
    let lines: String = (0..INJECTS).map(|_| agent.line("session/inject_reminder", &params).1).collect();
    let mut stdin = agent.take_stdin();
    let began = Instant::now();
    let writer = std::thread::spawn(move || {
        stdin.write_all(lines.as_bytes()).and_then(|()| stdin.flush()).expect("the process reads");
        stdin
    });
    let (mut accepted, mut full, mut others) = (0, 0, 0);
    for _ in 0..INJECTS {
        let frame = agent.answer().frame;
        match (frame.get("result"), frame["error"]["data"]["reason"].as_str()) {
            (Some(_), _) => accepted += 1,
            (None, Some("queue_full")) if frame["error"]["code"] == -32000 => full += 1,
            _ => others += 1,
        }
    }
    let took = began.elapsed();
    let _stdin = writer.join().expect("the writer");
    let grown = agent.peak_kib().saturating_sub(before);
    let rate = INJECTS as f64 / took.as_secs_f64();
    println!("answered in {:.2} s, {rate:.0} a second; {:.1} MiB more\n", took.as_secs_f64(), grown as f64 / 1024.0);
    let answered =
        say(others == 0, &format!("{accepted} accepted, {full} refused as `queue_full`, {others} otherwise"));
    let bounded = say(accepted == CAPACITY, &format!("the queue holds {CAPACITY}"));
    let small = say(grown <= MEMORY_KIB, &format!("{grown} KiB of memory, at most {MEMORY_KIB}"));
    answered && bounded && small
}
