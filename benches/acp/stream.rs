//! A thousand injects a second for ten seconds into a loop whose turns take 50 ms, and what the model saw of them.

use crate::agent::Agent;
use crate::options::Options;
use crate::say;
use crate::times::Times;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::Write;
use std::time::{Duration, Instant};

/// Injects in all.
const INJECTS: u64 = 10_000;
/// The time from one to the next.
const EACH: Duration = Duration::from_millis(1);
/// Turns of the loop: some more than the injects last.
const TURNS: &str = "230";

/// Measures and judges.
pub(crate) fn run(_: &Options) -> bool {
    println!("\n{INJECTS} injects, 1,000 a second, into a loop of 50 ms turns (a mocked model)\n");
    let mut agent = Agent::harn("turns.harn", &[]);
    let session = agent.session();
    let prompt = agent.prompt(&session, TURNS);
    let lines: Vec<(u64, String)> = (0..INJECTS)
        .map(|n| {
            let params = json!({"sessionId": session, "body": format!("<{n}>"), "ttlTurns": 1});
            agent.line("session/inject_reminder", &params)
        })
        .collect();
    let first = lines[0].0;
    let mut stdin = agent.take_stdin();
    let writer = std::thread::spawn(move || {
        let began = Instant::now();
        let mut sent = Vec::with_capacity(lines.len());
        for ((_, line), n) in lines.iter().zip(0..) {
            std::thread::sleep((began + EACH * n).saturating_duration_since(Instant::now()));
            sent.push(Instant::now());
            stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush()).expect("the process reads");
        }
        // Its end would end the session.
        (sent, stdin)
    });
    let (mut at, mut refused, mut ended) = (HashMap::new(), 0, None);
    while at.len() + refused < INJECTS as usize || ended.is_none() {
        let answer = agent.answer();
        if answer.id == prompt {
            ended = Some(answer.frame);
        } else if answer.frame.get("result").is_some() {
            at.insert(answer.id - first, answer.at);
        } else {
            refused += 1;
        }
    }
    let (sent, _stdin) = writer.join().expect("the writer");
    let took = sent[sent.len() - 1] - sent[0];
    let times = Times::of(at.iter().map(|(n, at)| *at - sent[*n as usize]).collect());
    println!(
        "sent in {:.2} s; answered after p50 {:.0} µs, p99 {:.0} µs, longest {:.0} µs; {refused} refused",
        took.as_secs_f64(),
        times.percentile(50),
        times.percentile(99),
        times.longest()
    );
    judge(&agent, &ended.unwrap_or_default(), at.len() as u64)
}

/// Compares the injections that the model saw with those that were accepted.
fn judge(agent: &Agent, ended: &Value, accepted: u64) -> bool {
    let text = std::fs::read_to_string(agent.folder().join("seen.txt")).unwrap_or_default();
    let seen: Vec<u64> = text.split('<').filter_map(|part| part.split_once('>')?.0.parse().ok()).collect();
    let turns = text.matches("== turn").count();
    println!(
        "the model saw {} in {turns} turns; the prompt ended with {}\n",
        seen.len(),
        ended["result"]["stopReason"]
    );
    let all = say(accepted == INJECTS, &format!("{accepted} of {INJECTS} accepted"));
    let none_lost = say(seen.len() as u64 == accepted, &format!("{} of {accepted} seen, each once", seen.len()));
    let in_order = seen.is_sorted_by(|a, b| a < b);
    let in_order = say(in_order, "seen in the order in which they were sent");
    all && none_lost && in_order
}
