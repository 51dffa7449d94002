//! Files that are full, fail, or whose process is killed.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use base::data::Data;
use eventlog::{
    AppendError, Batch, Log, LogError, NewRecord, Query, SharedLog as _, SqliteLog, SqliteOptions, TailItem,
};

use crate::wait::block_on;

/// A folder for a log, removed at the end.
pub(crate) struct LogFolder(PathBuf);

impl LogFolder {
    pub(crate) fn new() -> LogFolder {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("harn-laws-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        LogFolder(folder)
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.0.join("events.db")
    }

    fn open(&self, options: &SqliteOptions) -> SqliteLog {
        SqliteLog::open(self.file(), options).unwrap()
    }

    /// Locks the file as another process would.
    fn hold(&self) -> rusqlite::Connection {
        let other = rusqlite::Connection::open(self.file()).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        other
    }

    /// Returns a folder with the files as they are at this moment, which is what a process that is killed leaves.
    fn killed(&self) -> LogFolder {
        let left = LogFolder::new();
        for suffix in ["", "-wal"] {
            let name = format!("events.db{suffix}");
            if self.0.join(&name).exists() {
                std::fs::copy(self.0.join(&name), left.0.join(&name)).unwrap();
            }
        }
        left
    }
}

impl Drop for LogFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn record(number: u64, bytes: usize) -> NewRecord {
    let payload = Data::dict([("n", Data::from(number)), ("text", Data::from("x".repeat(bytes)))]);
    NewRecord { topic: "t".into(), kind: "k".into(), payload: payload.into(), headers: Data::Nil, occurred_at_ms: 0 }
}

fn batch(subject: &str, numbers: std::ops::Range<u64>) -> Batch {
    Batch::new(subject, numbers.map(|number| record(number, 0)).collect())
}

fn count(log: &SqliteLog, subject: &str) -> usize {
    block_on(log.read(Query::subject(subject), usize::MAX)).unwrap().records.len()
}

#[test]
fn a_full_queue_is_an_answer_and_no_wait() {
    let folder = LogFolder::new();
    let patient = SqliteOptions { lock_timeout: Duration::from_secs(120), ..SqliteOptions::default() };
    let log = folder.open(&patient);
    let held = folder.hold();
    let mut accepted = Vec::new();
    // More than a writer that waits for the file and a queue can take.
    let refused = loop {
        let append = log.append(Batch::new("s", vec![record(0, 1 << 20)]));
        if append.ticket == eventlog::Ticket::NONE {
            break block_on(append);
        }
        accepted.push(append);
        assert!(accepted.len() < 1000, "a queue without a bound");
    };
    assert_eq!(refused, Err(AppendError::Full));
    drop(held);
    let all = accepted.len();
    for append in accepted {
        block_on(append).unwrap();
    }
    assert_eq!(count(&log, "s"), all, "what was refused is not in the log, and nothing else is missing");
    block_on(log.append(batch("s", 0..1))).unwrap();
}

#[test]
fn a_batch_that_failed_is_never_seen_and_later_ones_are() {
    let folder = LogFolder::new();
    let impatient = SqliteOptions { lock_timeout: Duration::from_millis(20), ..SqliteOptions::default() };
    let log = folder.open(&impatient);
    let held = folder.hold();
    let failed = block_on(log.append(batch("s", 0..3)));
    assert!(matches!(failed, Err(AppendError::Unavailable(LogError::Locked { .. }))), "{failed:?}");
    drop(held);
    assert_eq!(block_on(log.append(batch("s", 3..5))).unwrap().cursors, [1, 2]);
    assert_eq!(count(&log, "s"), 2);
}

#[test]
fn a_batch_is_larger_than_a_transaction_and_one_too_large_is_refused() {
    let folder = LogFolder::new();
    let log = folder.open(&SqliteOptions::default());
    let written = block_on(log.append(batch("s", 0..2000))).unwrap();
    assert_eq!(written.cursors, (1..=2000).collect::<Vec<_>>());
    let huge = block_on(log.append(Batch::new("s", vec![record(0, 0), record(1, 65 << 20)])));
    assert!(matches!(huge, Err(AppendError::Unavailable(LogError::TooLarge { .. }))), "{huge:?}");
    assert_eq!(count(&log, "s"), 2000);
}

/// The files are copied while a thread appends: at any moment a kill leaves whole batches, in order, and all that was
/// acknowledged.
#[test]
fn a_kill_at_any_moment_leaves_whole_batches_and_all_that_was_acknowledged() {
    const SIZE: u64 = 7;
    let folder = LogFolder::new();
    let log = folder.open(&SqliteOptions::default());
    let acknowledged = Arc::new(AtomicU64::new(0));
    let counts = acknowledged.clone();
    let writer = std::thread::spawn(move || {
        for number in 0..60 {
            let numbers = number * SIZE..(number + 1) * SIZE;
            let request_id = Some(format!("r{number}").into());
            block_on(log.append(Batch { request_id, ..batch("s", numbers) })).unwrap();
            counts.fetch_add(1, Ordering::SeqCst);
        }
    });
    let mut copies = 0;
    while !writer.is_finished() || copies == 0 {
        let before = acknowledged.load(Ordering::SeqCst);
        let left = folder.killed();
        let after = acknowledged.load(Ordering::SeqCst);
        // A copy that is not of one moment is not what a kill leaves: the writer may have moved its log into the file.
        if after > before + 1 {
            continue;
        }
        copies += 1;
        let log = left.open(&SqliteOptions::default());
        let records = block_on(log.read(Query::subject("s"), usize::MAX)).unwrap().records;
        assert_eq!(records.len() as u64 % SIZE, 0, "half a batch");
        assert!(records.len() as u64 >= before * SIZE, "{} records, {before} batches acknowledged", records.len());
        let numbers = records.iter().map(|record| record.payload.get("n").as_int().unwrap());
        assert!(numbers.eq(0..records.len() as i64));
        if before > 0 {
            let again = Batch { request_id: Some("r0".into()), ..batch("s", 0..SIZE) };
            let again = block_on(log.append(again)).unwrap();
            assert_eq!((again.cursors, again.repeated), ((1..=SIZE).collect(), true));
        }
    }
    writer.join().unwrap();
}

#[test]
fn a_tail_follows_another_process_and_a_long_read_does_not_stop_it() {
    let folder = LogFolder::new();
    let (ours, theirs) = (folder.open(&SqliteOptions::default()), folder.open(&SqliteOptions::default()));
    for number in 0..40 {
        theirs.put(record(number, 10));
    }
    let mut tail = ours.tail(Query::topic("t"));
    // More reads than there are threads for them, none of which is awaited.
    let reads: Vec<_> = (0..20).map(|_| ours.read(Query::default(), usize::MAX)).collect();
    block_on(theirs.append(batch("s", 40..41))).unwrap();
    for number in 0..41 {
        let TailItem::Record(record) = block_on(tail.next()).unwrap() else { panic!("there is no gap") };
        assert_eq!(record.payload.get("n").as_int(), Some(number));
    }
    drop(reads);
}

/// Fencing is decided where records are written: an owner that does not know of the next one writes nothing.
#[test]
fn an_owner_of_another_process_fences_the_earlier_one() {
    let folder = LogFolder::new();
    let (first, second) = (folder.open(&SqliteOptions::default()), folder.open(&SqliteOptions::default()));
    let lease = block_on(first.claim("s".into(), "first".into(), Duration::from_secs(600))).unwrap();
    let of = |epoch, numbers| Batch { epoch: Some(epoch), ..batch("s", numbers) };
    block_on(first.append(of(lease.epoch, 0..1))).unwrap();
    assert!(block_on(second.claim("s".into(), "second".into(), Duration::from_secs(600))).is_err());
    block_on(first.release(lease.clone())).unwrap();
    let next = block_on(second.claim("s".into(), "second".into(), Duration::from_secs(600))).unwrap();
    assert_eq!(block_on(first.append(of(lease.epoch, 1..2))), Err(AppendError::Fenced { epoch: next.epoch }));
    block_on(second.append(of(next.epoch, 2..3))).unwrap();
    assert_eq!(count(&first, "s"), 2);
}
