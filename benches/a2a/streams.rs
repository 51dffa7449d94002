//! A thousand concurrent streams, each with the reminder events of a task of its own.

use crate::client::{Client, message};
use crate::options::Options;
use crate::server::Server;
use crate::{asking, say};
use std::time::Instant;

/// Streams at once.
const STREAMS: usize = 1_000;
/// Reminders that each task emits, as its program has it.
const REMINDERS: usize = 5;

/// Measures and judges.
pub(crate) fn run(_: &Options) -> bool {
    println!("\n{STREAMS} streams at once, each on a task of its own with {REMINDERS} reminders\n");
    let server = Server::harn("reminds.harn", &["--max-tasks", "2000"]);
    let before = server.memory_kib();
    let began = Instant::now();
    let (finished, whole) = asking(async {
        let all: Vec<_> = (0..STREAMS).map(|_| tokio::spawn(one(server.at))).collect();
        let (mut finished, mut whole) = (0, 0);
        for stream in all {
            let (ended, told) = stream.await.expect("a stream");
            finished += usize::from(ended);
            let expected: Vec<String> = (1..=REMINDERS).map(|n| format!("reminder {n}")).collect();
            whole += usize::from(told == expected);
        }
        (finished, whole)
    });
    let took = began.elapsed().as_secs_f64();
    let grown = server.peak_kib().saturating_sub(before);
    println!(
        "{took:.2} s, {:.0} tasks a second; {:.1} MiB more at most\n",
        STREAMS as f64 / took,
        grown as f64 / 1024.0
    );
    let ended = say(finished == STREAMS, &format!("{finished} streams ended with their tasks' completion"));
    let ordered = say(whole == STREAMS, &format!("{whole} were told each reminder once, in order"));
    ended && ordered
}

/// Follows one stream; returns whether it ended with the task's completion, and the reminders that
/// it reported as emitted.
async fn one(at: std::net::SocketAddr) -> (bool, Vec<String>) {
    let mut events = Client::connect(at).await.follow("SendStreamingMessage", &message("go", None)).await;
    let (mut completed, mut told) = (false, Vec::new());
    while let Some(event) = events.next().await {
        if event["method"] == "tasks/reminderEmitted" {
            told.push(event["params"]["reminder"]["body"].as_str().unwrap_or_default().to_owned());
        }
        completed = event["result"]["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED";
    }
    (completed, told)
}
