//! Memory of tasks that wait for their caller.

use crate::client::{Client, message, task_id};
use crate::options::Options;
use crate::server::Server;
use crate::{asking, say};

/// Tasks that wait.
const TASKS: usize = 10_000;
/// Connections that begin the tasks; they are open before anything is measured.
const CONNECTIONS: usize = 8;
/// The maximum memory of each task, in KiB.
const BAR_KIB: f64 = 64.0;

/// Measures and judges.
pub(crate) fn run(_: &Options) -> bool {
    println!("\n{TASKS} tasks that wait for their callers\n");
    let server = Server::harn("waits.harn", &["--max-tasks", "20000", "--max-sessions", "20000"]);
    let (before, after) = asking(async {
        let mut clients = Vec::new();
        for _ in 0..CONNECTIONS {
            let mut client = Client::connect(server.at).await;
            for _ in 0..10 {
                begin(&mut client).await;
            }
            clients.push(client);
        }
        let before = server.memory_kib();
        let each = clients.into_iter().map(|mut client| {
            tokio::spawn(async move {
                for _ in 0..TASKS / CONNECTIONS {
                    begin(&mut client).await;
                }
                client
            })
        });
        let mut clients = Vec::new();
        for connection in each.collect::<Vec<_>>() {
            clients.push(connection.await.expect("all wait"));
        }
        (before, server.memory_kib())
    });
    let each = (after.saturating_sub(before)) as f64 / TASKS as f64;
    println!("{:.1} MiB before, {:.1} MiB after\n", before as f64 / 1024.0, after as f64 / 1024.0);
    say(each <= BAR_KIB, &format!("{each:.1} KiB for each, at most {BAR_KIB:.0}"))
}

/// Begins a task, and waits until it waits.
async fn begin(client: &mut Client) {
    let answer = client.ask("SendMessage", &message("wait", None)).await;
    task_id(&answer);
    assert_eq!(answer["result"]["task"]["status"]["state"], "TASK_STATE_INPUT_REQUIRED", "{answer}");
}
