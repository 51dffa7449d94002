//! A thousand streams that never read once they have begun, on a task that says much.

use crate::client::{Client, Events, message, task_id};
use crate::options::Options;
use crate::server::Server;
use crate::{asking, say};
use serde_json::json;
use std::time::{Duration, Instant};

/// Streams that never read.
const STREAMS: usize = 1_000;
/// The maximum time of the task, as a multiple of its time without subscribers.
const SLOWER: f64 = 3.0;
/// The maximum memory of the process for each subscriber, in KiB.
const EACH_KIB: u64 = 128;

/// Measures and judges.
pub(crate) fn run(_: &Options) -> bool {
    println!("\n{STREAMS} streams that never read, on a task that says 16 MiB\n");
    let server = Server::harn("says.harn", &[]);
    let (alone, followed, grown) = asking(async {
        let mut client = Client::connect(server.at).await;
        // The first warms it.
        task(&mut client, &server, 0).await;
        let (alone, streams) = task(&mut client, &server, 0).await;
        drop(streams);
        let before = server.memory_kib();
        let (followed, streams) = task(&mut client, &server, STREAMS).await;
        let grown = server.peak_kib().saturating_sub(before);
        drop(streams);
        (alone, followed, grown)
    });
    println!(
        "{:.0} ms with nobody, {:.0} ms with them; {:.1} MiB more at most\n",
        ms(alone),
        ms(followed),
        grown as f64 / 1024.0
    );
    let times = followed.as_secs_f64() / alone.as_secs_f64();
    let quick = say(times <= SLOWER, &format!("{times:.1} times as long, at most {SLOWER:.1}"));
    let most = EACH_KIB * STREAMS as u64;
    let small = say(grown <= most, &format!("{grown} KiB of memory, at most {most}"));
    quick && small
}

/// Measures a task with `silent` subscribers that read only its first frame.
async fn task(client: &mut Client, server: &Server, silent: usize) -> (Duration, Vec<Events>) {
    let id = task_id(&client.ask("SendMessage", &message("begin", None)).await);
    let mut streams = Vec::with_capacity(silent);
    for _ in 0..silent {
        streams.push(Client::connect(server.at).await.follow("SubscribeToTask", &json!({"id": id})).await);
    }
    // What it takes to begin them is not what they cost while they follow.
    for stream in &mut streams {
        let first = stream.next().await.expect("the task as it is");
        assert_eq!(first["result"]["task"]["id"], id.as_str(), "{first}");
    }
    let began = Instant::now();
    let answer = client.ask("SendMessage", &message("go on", Some(&id))).await;
    assert_eq!(answer["result"]["task"]["status"]["state"], "TASK_STATE_COMPLETED", "{answer}");
    (began.elapsed(), streams)
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
