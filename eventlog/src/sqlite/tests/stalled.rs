//! A disk that does not respond: the writer waits for a file that another process holds.

use super::super::queue::{ALL_RECORDS, MOST_RECORDS};
use super::*;
use crate::wait::{LIMIT, until};

/// Opens a log with a timeout longer than any of these tests, so that the writer waits and does not fail.
fn waiting(folder: &TestFolder) -> SqliteLog {
    let options = SqliteOptions { lock_timeout: 2 * LIMIT, ..SqliteOptions::default() };
    SqliteLog::open(folder.file(), &options).unwrap()
}

/// Appends until runs must wait while the file is locked, and returns the number of records.
fn fill(log: &SqliteLog) -> u64 {
    log.append(record("a", "x"));
    until("the writer takes the record", || log.0.shared.waiting() == 0);
    append(log, MOST_RECORDS as u64);
    1 + MOST_RECORDS as u64
}

#[test]
fn what_is_appended_into_reserved_room_is_written_later() {
    let folder = TestFolder::new();
    let log = waiting(&folder);
    let held = hold(&folder);
    let count = fill(&log);
    let mut room = log.reserve_now(2, 200).unwrap();
    log.put_in(&mut room, record("b", "set aside"));
    log.put_in(&mut room, record("b", "set aside"));
    log.put_in(&mut room, record("b", "beyond"));
    drop(room);
    drop(held);
    assert_eq!(log.latest("a").unwrap(), Some(count));
    assert_eq!(log.latest("b").unwrap(), Some(3));
}

#[test]
fn a_run_waits_for_room_and_is_woken_once_there_is_some() {
    let folder = TestFolder::new();
    let log = waiting(&folder);
    let held = hold(&folder);
    assert!(log.room().is_none(), "there is room");
    let room = log.reserve_now(MOST_RECORDS, 0).unwrap();
    let freed = log.room().expect("reserved room is not free");
    drop(room);
    block_on(freed);
    let count = fill(&log);
    let mut written = log.room().expect("the queue is full");
    let mut cx = Context::from_waker(Waker::noop());
    assert!(written.as_mut().poll(&mut cx).is_pending());
    drop(held);
    block_on(written);
    assert_eq!(log.latest("a").unwrap(), Some(count));
    assert!(log.room().is_none());
}

#[test]
fn a_file_that_cannot_be_written_stops_no_run() {
    let folder = TestFolder::new();
    let log = folder.impatient();
    let _held = hold(&folder);
    append(&log, 2 * MOST_RECORDS as u64);
    assert!(block_on(log.durable(Ticket::ALL)).is_err());
    assert!(log.room().is_none());
}

/// Appending never waits: beyond all limits, records are lost and their waiters are told, while those before them are written.
#[test]
fn records_beyond_all_limits_are_lost_and_the_log_works_again() {
    let folder = TestFolder::new();
    let log = waiting(&folder);
    let held = hold(&folder);
    let kept = fill(&log) + (ALL_RECORDS - MOST_RECORDS) as u64;
    append(&log, kept - 1 - MOST_RECORDS as u64);
    assert_eq!(log.0.shared.waiting(), ALL_RECORDS);
    let lost = log.append(record("a", "lost"));
    let refused = block_on(log.emit(record("a", "refused")).get());
    assert!(matches!(error(refused), LogError::Lost { why, .. } if *why == LogError::Full));
    assert_eq!(log.0.shared.waiting(), ALL_RECORDS);
    drop(held);
    assert_eq!(error(block_on(log.durable(lost))).code().as_str(), "HARN-LOG-020");
    assert!(matches!(error(block_on(log.durable(Ticket::ALL))), LogError::Lost { count: 2, .. }));
    until("what was kept is written", || log.0.shared.waiting() == 0);
    emit(&log, "b");
    block_on(log.durable(Ticket::ALL)).unwrap();
    assert_eq!((log.latest("a").unwrap(), log.latest("b").unwrap()), (Some(kept), Some(1)));
}
