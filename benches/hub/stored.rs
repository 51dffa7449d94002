//! Publishes per second into SQLite, compared with a bare loop of `rusqlite`. The loop writes the same number of
//! transactions as the hub did, and into each its share of as many rows with as many bytes, with the same tables,
//! indexes, counters and settings of durability. It does nothing else: it has no broker, no clients and no waiting.

use std::path::Path;
use std::time::Instant;

use eventlog::{SqliteLog, SqliteOptions};
use hub::Hub;
use hub::broker::{BrokerOptions, Command};
use hub::store::SqliteStore;
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use crate::options::Options;
use crate::work::{must, queued};

/// Number of publishes of a run.
const COUNT: usize = 20_000;
/// Number of clients that publish at the same time, each of which waits until its task is stored.
const CLIENTS: usize = 64;
/// Least ratio to the bare loop.
const LEAST: f64 = 0.5;

/// A run of the hub.
struct HubRun {
    rate: f64,
    /// Number of transactions in which the hub wrote the publishes.
    commits: usize,
    /// Size of a record's payload, in bytes.
    payload: usize,
}

/// Measures the hub and the bare loop in turns.
pub(crate) fn run(options: &Options) -> bool {
    let folder = std::env::temp_dir().join(format!("harn-bench-hub-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (mut rates, mut batches, mut payload) = ((Vec::new(), Vec::new()), Vec::new(), 0);
    for run in 0..options.runs {
        let hub = through_hub(&folder.join(format!("hub{run}.db")));
        rates.1.push(bare(&folder.join(format!("bare{run}.db")), hub.commits, hub.payload));
        rates.0.push(hub.rate);
        batches.push(COUNT as f64 / hub.commits as f64);
        payload = hub.payload;
    }
    std::fs::remove_dir_all(&folder).expect("the folder is removed");
    let (hub, bare) = (crate::median(rates.0), crate::median(rates.1));
    let ratio = hub / bare;
    let batch = crate::median(batches);
    println!("        {batch:.1} records in a transaction, {payload} bytes in a record");
    let what = format!("{hub:.0} stored publishes per second, {ratio:.2} of a bare loop ({bare:.0}), at least {LEAST}");
    crate::say(ratio >= LEAST, &what)
}

fn open(path: &Path) -> (Hub, SqliteLog) {
    let store = SqliteStore::open(path, &SqliteOptions::default()).expect("a store");
    let log = store.log().clone();
    (Hub::open(Box::new(store), BrokerOptions::default()).expect("a hub"), log)
}

fn through_hub(path: &Path) -> HubRun {
    let (hub, log) = open(path);
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
    let commits = usize::try_from(log.commits()).expect("a number of commits");
    drop((hub, log));
    let (hub, log) = open(path);
    let tasks: usize = hub.stats().tasks.iter().sum();
    assert_eq!(tasks, COUNT, "an acknowledged publish is lost");
    drop((hub, log));
    let lengths = "SELECT avg(length(payload)) FROM records";
    let length: f64 =
        Connection::open(path).expect("a file").query_row(lengths, [], |row| row.get(0)).expect("a length");
    HubRun { rate, commits, payload: length as usize }
}

/// The tables of an event log.
const TABLES: &str = "
    PRAGMA synchronous = NORMAL;
    PRAGMA wal_autocheckpoint = 4096;
    CREATE TABLE head (last_cursor INTEGER NOT NULL) STRICT;
    INSERT INTO head VALUES (0);
    CREATE TABLE topics (key INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, last_id INTEGER NOT NULL) STRICT;
    INSERT INTO topics VALUES (1, 'hub.change', 0);
    CREATE TABLE records (
        cursor INTEGER PRIMARY KEY,
        topic INTEGER NOT NULL REFERENCES topics (key),
        id INTEGER NOT NULL,
        kind TEXT NOT NULL,
        payload TEXT NOT NULL,
        headers TEXT,
        occurred_at_ms INTEGER NOT NULL,
        run_id TEXT
    ) STRICT;
    CREATE INDEX records_by_topic ON records (topic);
    CREATE INDEX records_by_run ON records (run_id, topic) WHERE run_id IS NOT NULL;
";

fn bare(path: &Path, commits: usize, payload: usize) -> f64 {
    let connection = Connection::open(path).expect("a database");
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).expect("a write-ahead log");
    connection.execute_batch(TABLES).expect("tables");
    let body = "x".repeat(payload);
    let start = Instant::now();
    let mut written = 0;
    for commit in 1..=commits {
        let transaction =
            Transaction::new_unchecked(&connection, TransactionBehavior::Immediate).expect("a transaction");
        let sql = "INSERT INTO records (cursor, topic, id, kind, payload, headers, occurred_at_ms, run_id) \
                   VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
        let mut insert = transaction.prepare_cached(sql).expect("a statement");
        // The transactions have the same size, but for one record.
        while written < COUNT * commit / commits {
            written += 1;
            let id = number(written);
            let row = params![id, 1, id, "hub.change.task_submitted", body, None::<&str>, 0, None::<&str>];
            insert.execute(row).expect("a row");
        }
        drop(insert);
        let update = |sql: &str| {
            transaction.prepare_cached(sql).expect("a statement").execute([number(written)]).expect("a counter");
        };
        update("UPDATE topics SET last_id = ? WHERE key = 1");
        update("UPDATE head SET last_cursor = ?");
        transaction.commit().expect("a commit");
    }
    COUNT as f64 / start.elapsed().as_secs_f64()
}

fn number(count: usize) -> i64 {
    i64::try_from(count).expect("a number of the file")
}
