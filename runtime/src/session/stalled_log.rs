//! Sessions on a log whose disk does not respond: the writer waits for a file that another process holds.
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use base::clock::ManualClock;
use base::data::Data;
use eventlog::{EventLog, LogReservation, SharedLog, SqliteLog, SqliteOptions};

use crate::reminder::ReminderSpec;
use crate::reminder::bridge::{DeliveryMode, QueueError, RemindPayload};
use crate::scope::Scope;
use crate::session::{Inbox, Sessions};
use crate::wait::{LIMIT, block_on, thread_cpu_time, thread_waits};

/// A folder with a log, removed at the end.
struct LogFolder(PathBuf);

impl LogFolder {
    fn new(name: &str) -> LogFolder {
        let folder = std::env::temp_dir().join(format!("harn-stalled-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        LogFolder(folder)
    }

    /// Opens a log with a timeout longer than any of these tests, so that the writer waits and does not fail.
    fn log(&self) -> SqliteLog {
        let options = SqliteOptions { lock_timeout: 2 * LIMIT, ..SqliteOptions::default() };
        SqliteLog::open(self.0.join("events.db"), &options).unwrap()
    }

    /// Locks the file as another process would.
    fn hold(&self) -> rusqlite::Connection {
        let other = rusqlite::Connection::open(self.0.join("events.db")).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        other
    }
}

impl Drop for LogFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn payload() -> RemindPayload {
    RemindPayload { spec: ReminderSpec::new("b"), mode: DeliveryMode::FinishStep, meta: Data::Nil }
}

/// A session on a full log accepts reminders on its own thread, and blocks neither that thread nor those of hosts.
#[test]
fn a_session_on_a_full_log_waits_for_nothing() {
    let folder = LogFolder::new("room");
    let log = folder.log();
    let held = folder.hold();
    let full = log.reserve_now(SqliteLog::QUEUE_RECORDS, 0);
    assert!(log.room().is_some());
    let scope = Scope::new(Rc::new(ManualClock::new(5)), log.here());
    let sessions = Sessions::new(7);
    let all = ["full", "other"].map(|id| sessions.open(Some(id), 5));
    let open: Vec<Inbox> = all.iter().map(|session| session.inbox(Arc::new(log.clone()), || 5)).collect();
    all[0].accept_reminder(&scope, payload()).unwrap();
    for inbox in &open {
        for _ in 0..100 {
            inbox.accept_reminder(payload()).unwrap();
        }
    }
    drop((held, full));
    open.iter().for_each(|inbox| block_on(inbox.durable()).unwrap());
    assert_eq!(log.latest("session.injection").unwrap(), Some(201));
}

#[test]
fn a_host_is_refused_once_its_margin_is_full_and_heard_again_later() {
    let folder = LogFolder::new("margin");
    let log = folder.log();
    let held = folder.hold();
    let session = Sessions::new(7).open(Some("s"), 5);
    let inbox = session.inbox(Arc::new(log.clone()), || 5);
    let margin: Vec<LogReservation> = std::iter::from_fn(|| log.reserve_now(1, 0)).collect();
    assert_eq!(inbox.accept_reminder(payload()), Err(QueueError::LogBehind));
    assert_eq!(inbox.pending().len(), 0);
    drop(margin);
    let accepted = inbox.accept_reminder(payload()).unwrap();
    assert_eq!(inbox.pending().len(), 1);
    drop(held);
    block_on(log.durable(accepted.ticket)).unwrap();
}

/// Sessions served by one wire, all with records on their way to a disk that does not respond.
#[test]
fn a_thousand_sessions_take_reminders_while_the_disk_does_not_answer() {
    const SESSIONS: usize = 1_000;
    const ROUNDS: usize = 5;
    let folder = LogFolder::new("thousand");
    let log = folder.log();
    let sessions = Sessions::new(7);
    let open: Vec<_> = (0..SESSIONS).map(|n| sessions.open(Some(&format!("s{n}")), 5)).collect();
    let inboxes: Vec<Inbox> = open.iter().map(|session| session.inbox(Arc::new(log.clone()), || 5)).collect();
    let held = folder.hold();
    // The sessions' share of the queue is full.
    let full = log.reserve_now(SqliteLog::QUEUE_RECORDS, 0);
    let (time, waits) = (thread_cpu_time(), thread_waits());
    for _ in 0..ROUNDS {
        for inbox in &inboxes {
            inbox.accept_reminder(payload()).unwrap();
        }
    }
    let count = u32::try_from(SESSIONS * ROUNDS).unwrap();
    let (time, waits) = ((thread_cpu_time() - time) / count, thread_waits() - waits);
    assert!(
        waits * 100 < u64::from(count) && time < Duration::from_millis(1),
        "{waits} of {count} waited, {time:?} each"
    );
    assert!(inboxes.iter().all(|inbox| inbox.pending().len() == ROUNDS));
    drop((held, full));
    for inbox in &inboxes {
        block_on(inbox.durable()).unwrap();
    }
    assert_eq!(log.latest("session.injection").unwrap(), Some((SESSIONS * ROUNDS) as u64));
}
