//! Appends to the event log, each awaited as durable with 512 of them in flight, beside a bare loop over the same rows: same
//! tables, same settings of SQLite, prepared statement, payloads encoded beforehand, 512 rows a commit.

use crate::measure::median;
use crate::options::Options;
use crate::pending::{Scene, recorded};
use base::call::Outcome;
use eventlog::{EventLog, MemoryLog, NewRecord, RecordPosition, SqliteLog, SqliteOptions, Synchronous};
use rusqlite::{Connection, TransactionBehavior, params};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Instant;

/// Appends of one run.
const APPENDS: usize = 100_000;
/// Appends in flight, and rows of a commit of the bare loop.
const IN_FLIGHT: usize = 512;
/// Appends a second that are promised.
const BAR: f64 = 50_000.0;

type Way = fn(&Path, &[NewRecord], &[String]);

/// The measured implementations, the bare loop first.
const WAYS: &[(&str, Way)] = &[
    ("bare loop, 512 rows a commit", bare),
    ("log in a file, 512 in flight", |path, records, _| into_file(path, records, Synchronous::Normal)),
    ("the same, safe from loss of power", |path, records, _| into_file(path, records, Synchronous::Full)),
    ("log in memory", |_, records, _| in_flight(&MemoryLog::new(), records)),
];

/// Measures the ways in turn: whether the bar is held.
pub(crate) fn run(options: &Options) -> bool {
    let (records, payloads) = rows();
    let mut rates = vec![Vec::with_capacity(options.runs); WAYS.len()];
    for _ in 0..options.runs {
        for ((_, way), rates) in WAYS.iter().zip(&mut rates) {
            let folder = Folder::new();
            let start = Instant::now();
            way(&folder.0.join("events.db"), &records, &payloads);
            rates.push(records.len() as f64 / start.elapsed().as_secs_f64());
        }
    }
    let rates: Vec<f64> = rates.into_iter().map(median).collect();
    let size = payloads.iter().map(String::len).sum::<usize>() / payloads.len();
    let runs = options.runs;
    println!("\nAppends of records with {size} bytes of payload, median of {runs} runs of {APPENDS} in turn\n");
    println!("| {:<34} | {:>10} | {:>16} |", "", "a second", "of the bare loop");
    println!("|{}|{}:|{}:|", "-".repeat(36), "-".repeat(11), "-".repeat(17));
    for ((title, _), rate) in WAYS.iter().zip(&rates) {
        println!("| {title:<34} | {rate:>10.0} | {:>16.2} |", rate / rates[0]);
    }
    let held = rates[1] >= BAR;
    println!("\n{}  {}: {:.0} a second, at least {BAR}", if held { "held  " } else { "MISSED" }, WAYS[1].0, rates[1]);
    held
}

/// Records of reminders that were injected, and their payloads as JSON.
fn rows() -> (Vec<NewRecord>, Vec<String>) {
    let scene = Scene::new();
    let at = scene.at(0);
    let records: Vec<NewRecord> = recorded(APPENDS, &scene).1.iter().map(|record| record.to_log(&at)).collect();
    let payloads = records.iter().map(|record| record.payload.to_json()).collect();
    (records, payloads)
}

fn into_file(path: &Path, records: &[NewRecord], synchronous: Synchronous) {
    let options = SqliteOptions { synchronous, ..SqliteOptions::default() };
    in_flight(&SqliteLog::open(path, &options).expect("a log opens in a new folder"), records);
}

/// An append on its way.
type AppendInFlight = Pin<Box<dyn Future<Output = Outcome<RecordPosition>>>>;

/// Appends with so many in flight; each is awaited until it is durable and has its place.
fn in_flight(log: &dyn EventLog, records: &[NewRecord]) {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut in_flight_appends: VecDeque<AppendInFlight> = VecDeque::with_capacity(IN_FLIGHT);
    let mut landed = 0;
    for record in records {
        if in_flight_appends.len() == IN_FLIGHT {
            landed = land(&mut in_flight_appends, &waker);
        }
        in_flight_appends.push_back(Box::pin(log.emit(record.clone()).get()));
    }
    while !in_flight_appends.is_empty() {
        landed = land(&mut in_flight_appends, &waker);
    }
    assert_eq!(landed, records.len() as u64, "all are there, in order");
}

/// Waits for the oldest; its cursor.
fn land(in_flight_appends: &mut VecDeque<AppendInFlight>, waker: &Waker) -> u64 {
    let mut oldest = in_flight_appends.pop_front().expect("some are in flight");
    loop {
        if let Poll::Ready(place) = oldest.as_mut().poll(&mut Context::from_waker(waker)) {
            return place.expect("the record is written").cursor;
        }
        std::thread::park();
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Writes the rows with the fastest plain loop, as a lower bound.
fn bare(path: &Path, records: &[NewRecord], payloads: &[String]) {
    // The log makes the tables, so that both write the same.
    drop(SqliteLog::open(path, &SqliteOptions::default()).expect("a log opens in a new folder"));
    let mut connection = Connection::open(path).expect("it opens again");
    let set = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4096";
    connection.execute_batch(set).expect("settings");
    connection.execute("INSERT INTO topics (key, name, last_id) VALUES (1, ?, 0)", [&records[0].topic]).expect("topic");
    let mut cursor = 0_i64;
    for (records, payloads) in records.chunks(IN_FLIGHT).zip(payloads.chunks(IN_FLIGHT)) {
        let batch = connection.transaction_with_behavior(TransactionBehavior::Immediate).expect("a transaction");
        let columns = "cursor, topic, id, kind, payload, headers, occurred_at_ms";
        let sql = format!("INSERT INTO records ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)");
        let mut insert = batch.prepare_cached(&sql).expect("a statement");
        for (record, payload) in records.iter().zip(payloads) {
            cursor += 1;
            let at = i64::try_from(record.occurred_at_ms).unwrap_or(i64::MAX);
            let row = params![cursor, 1, cursor, record.kind.as_ref(), payload, None::<String>, at];
            insert.execute(row).expect("a row");
        }
        drop(insert);
        batch.commit().expect("a commit");
    }
}

/// A folder that goes with the run.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        let path = std::env::temp_dir().join(format!("harn-appends-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder for the log");
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Failure is harmless: the operating system clears its temporary folder.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
