//! A disk that does not respond: the writer waits for a file that another process holds.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use super::super::queue::MOST_RECORDS;
use super::*;
use crate::wait::{LIMIT, until};

/// Opens a log with a timeout longer than any of these tests, so that the writer waits and does not fail.
pub(super) fn waiting(folder: &TestFolder) -> SqliteLog {
    let options = SqliteOptions { lock_timeout: 2 * LIMIT, ..SqliteOptions::default() };
    SqliteLog::open(folder.file(), &options).unwrap()
}

/// Appends until the queue is full while the file is locked, and returns the number of records.
fn fill(log: &SqliteLog) -> u64 {
    log.append(record("a", "x"));
    // The writer takes it and waits for the file.
    until("the writer takes the record", || log.0.shared.would_take(MOST_RECORDS, 0));
    let mut count = 1;
    while log.0.shared.would_take(1, 0) {
        log.append(record("a", "x"));
        count += 1;
    }
    count
}

#[test]
fn who_appends_into_room_that_was_set_aside_never_waits() {
    let folder = TestFolder::new();
    let log = waiting(&folder);
    let held = hold(&folder);
    let count = fill(&log);
    let mut room = log.0.shared.reserve_now(2, 200).unwrap();
    log.append_in(&mut room, record("b", "set aside"));
    log.append_in(&mut room, record("b", "set aside"));
    log.append_in(&mut room, record("b", "beyond"));
    drop(room);
    drop(held);
    assert_eq!(log.latest("a").unwrap(), Some(count));
    assert_eq!(log.latest("b").unwrap(), Some(3));
}

#[test]
fn room_that_was_not_used_is_free_again() {
    let folder = TestFolder::new();
    let log = waiting(&folder);
    let held = hold(&folder);
    let room = log.reserve(MOST_RECORDS, 0);
    assert!(!log.0.shared.would_take(1, 0));
    let (begins, begun) = mpsc::channel();
    let (told, hears) = mpsc::channel();
    let (other, is_free) = (log.clone(), Arc::new(AtomicBool::new(false)));
    let frees = is_free.clone();
    let blocked = std::thread::spawn(move || {
        begins.send(()).unwrap();
        drop(other.reserve(1, 0));
        told.send(is_free.load(Ordering::SeqCst)).unwrap();
    });
    begun.recv_timeout(LIMIT).unwrap();
    frees.store(true, Ordering::SeqCst);
    drop(room);
    assert!(hears.recv_timeout(LIMIT).unwrap(), "it should wait for room");
    blocked.join().unwrap();
    drop(held);
}
