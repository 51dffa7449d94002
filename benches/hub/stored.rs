//! Publishes per second into SQLite, compared with a bare loop of `rusqlite` that writes as many bytes in the same
//! batches.

use std::path::Path;
use std::time::Instant;

use hub::Hub;
use hub::broker::{BrokerOptions, Command};
use hub::store::SqliteStore;
use runtime::event_log::SqliteOptions;
use rusqlite::Connection;

use crate::options::Options;
use crate::work::{must, queued};

/// Number of publishes of a run.
const COUNT: usize = 20_000;
/// Number of clients that publish at the same time, and so the size of a batch.
const CLIENTS: usize = 64;
/// Least ratio to the bare loop.
const LEAST: f64 = 0.5;

/// Measures the hub and the bare loop in turns.
pub(crate) fn run(options: &Options) -> bool {
    let folder = std::env::temp_dir().join(format!("harn-bench-hub-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut rates = (Vec::new(), Vec::new());
    for run in 0..options.runs {
        rates.0.push(through_hub(&folder.join(format!("hub{run}.db"))));
        rates.1.push(bare(&folder.join(format!("bare{run}.db"))));
    }
    std::fs::remove_dir_all(&folder).expect("the folder is removed");
    let (hub, bare) = (crate::median(rates.0), crate::median(rates.1));
    let ratio = hub / bare;
    let what = format!("{hub:.0} stored publishes per second, {ratio:.2} of a bare loop ({bare:.0}), at least {LEAST}");
    crate::say(ratio >= LEAST, &what)
}

fn through_hub(path: &Path) -> f64 {
    let store = SqliteStore::open(path, &SqliteOptions::default()).expect("a store");
    let hub = Hub::open(Box::new(store), BrokerOptions::default()).expect("a hub");
    let start = Instant::now();
    crate::block_on(async {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let hub = hub.clone();
                tokio::spawn(async move {
                    for number in (client..COUNT).step_by(CLIENTS) {
                        must(&hub, Command::Publish(queued(number, 2))).await;
                    }
                })
            })
            .collect();
        for client in clients {
            client.await.expect("a client");
        }
    });
    let rate = COUNT as f64 / start.elapsed().as_secs_f64();
    drop(hub);
    let store = SqliteStore::open(path, &SqliteOptions::default()).expect("the store again");
    let hub = Hub::open(Box::new(store), BrokerOptions::default()).expect("the hub again");
    let tasks: usize = hub.stats().tasks.iter().sum();
    assert_eq!(tasks, COUNT, "an acknowledged publish is lost");
    rate
}

fn bare(path: &Path) -> f64 {
    let connection = Connection::open(path).expect("a database");
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).expect("a write-ahead log");
    let table = "PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4096; CREATE TABLE records (id INTEGER PRIMARY KEY, body TEXT)";
    connection.execute_batch(table).expect("a table");
    // As long as a record of the hub: its facts, and the batch in base 64.
    let body = "x".repeat(820);
    let start = Instant::now();
    for _ in 0..COUNT.div_ceil(CLIENTS) {
        let transaction = connection.unchecked_transaction().expect("a transaction");
        let mut insert = transaction.prepare_cached("INSERT INTO records (body) VALUES (?)").expect("a statement");
        for _ in 0..CLIENTS {
            insert.execute([&body]).expect("a row");
        }
        drop(insert);
        transaction.commit().expect("a commit");
    }
    COUNT as f64 / start.elapsed().as_secs_f64()
}
