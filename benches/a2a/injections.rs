//! Throughput of one task: reminders per second.

use crate::client::{Client, message, task_id};
use crate::options::Options;
use crate::server::Server;
use crate::{asking, say};
use std::net::SocketAddr;
use std::time::Instant;

/// Connections at once.
const CONNECTIONS: usize = 8;
/// Injections of a run, over all connections.
const INJECTIONS: usize = 8_000;
/// The minimum share of the bare handler's throughput that harn must reach.
const BAR: f64 = 0.5;

/// Measures and judges.
pub(crate) fn run(options: &Options) -> bool {
    println!(
        "\nInjections a second: {CONNECTIONS} connections that stay, {INJECTIONS} injections a run, {} runs in turns\n",
        options.runs
    );
    let (harn, bare) = (Server::harn("waits.harn", &[]), Server::bare());
    let task = asking(async {
        let mut client = Client::connect(harn.at).await;
        task_id(&client.ask("SendMessage", &message("wait", None)).await)
    });
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let mut number = 0;
    // The first turn warms both.
    for turn in 0..=options.runs {
        for (at, rates) in [(bare.at, &mut theirs), (harn.at, &mut ours)] {
            number += 1;
            let rate = asking(flood(at, &task, number));
            if turn > 0 {
                rates.push(rate);
            }
        }
    }
    let (ours, theirs) = (median(ours), median(theirs));
    println!("| {:<44} | {:>10} |", "", "a second");
    println!("|{}|{}:|", "-".repeat(46), "-".repeat(11));
    println!("| {:<44} | {theirs:>10.0} |", "bare axum: parses the same body, answers");
    println!("| {:<44} | {ours:>10.0} |\n", "harn: tasks/inject_reminder");
    say(ours >= BAR * theirs, &format!("{:.2} of the bare handler, at least {BAR:.2}", ours / theirs))
}

/// Sends the injections of a run; returns the number per second.
async fn flood(at: SocketAddr, task: &str, number: usize) -> f64 {
    let mut clients = Vec::new();
    for _ in 0..CONNECTIONS {
        clients.push(Client::connect(at).await);
    }
    let began = Instant::now();
    let each = clients.into_iter().enumerate().map(|(connection, mut client)| {
        let bodies: Vec<String> =
            (0..INJECTIONS / CONNECTIONS).map(|n| body(task, &format!("{number}-{connection}-{n}"))).collect();
        tokio::spawn(async move {
            for body in &bodies {
                let answer = client.post(body).await;
                assert!(
                    answer.windows(12).any(|part| part == b"\"reminderId\""),
                    "{}",
                    String::from_utf8_lossy(&answer)
                );
            }
        })
    });
    for connection in each.collect::<Vec<_>>() {
        connection.await.expect("all are accepted");
    }
    INJECTIONS as f64 / began.elapsed().as_secs_f64()
}

/// The draft's example. Each has an id of its own, else it would be the same again; its key is always the same, so the queue
/// never fills.
fn body(task: &str, id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":"req-{id}","method":"tasks/inject_reminder","params":{{"taskId":"{task}","reminder":{{"id":"reminder-{id}","body":"Upstream dependency PR landed; rebase before the next tool call.","tags":["upstream","rebase"],"dedupeKey":"upstream:pr-1234","ttlTurns":2,"preserveOnCompact":true,"propagate":"session","roleHint":"system","source":"coordinator-agent","firedAtTurn":4,"mode":"finish_step"}},"metadata":{{"harn.reminder.origin":"workflow-coordinator"}}}}}}"#
    )
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_unstable_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied().unwrap_or(f64::NAN)
}
