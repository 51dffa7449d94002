//! A disk that does not respond: the writer waits for a file that another process holds.

use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use super::super::queue::{HOST_RECORDS, MOST_RECORDS};
use super::*;
use crate::clock::ManualClock;
use crate::event_log::SharedLog;
use crate::reminder::ReminderSpec;
use crate::reminder::bridge::{DeliveryMode, QueueError, RemindPayload};
use crate::seam::Scope;
use crate::session::{Inbox, Sessions};
use crate::wait::{LIMIT, thread_cpu_time, thread_waits, until};

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

fn payload() -> RemindPayload {
    RemindPayload { spec: ReminderSpec::new("b"), mode: DeliveryMode::FinishStep, meta: Data::Nil }
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

/// A session whose thread waits for room does not block others: hosts add reminders to it and to others from one
/// thread.
#[test]
fn a_thread_that_waits_for_room_does_not_hold_the_queue_of_its_session() {
    let folder = TestFolder::new();
    let log = waiting(&folder);
    let held = hold(&folder);
    fill(&log);
    let (inboxes, from_session) = mpsc::channel();
    let (ended, ends) = mpsc::channel();
    let its = log.clone();
    let session = std::thread::spawn(move || {
        let scope = Scope::new(Rc::new(ManualClock::new(5)), its.here());
        let sessions = Sessions::new(7);
        let all = ["stuck", "other"].map(|id| sessions.open(Some(id), 5));
        let open: Vec<Inbox> = all.iter().map(|session| session.inbox(Arc::new(its.clone()), || 5)).collect();
        inboxes.send(open).unwrap();
        // The queue is full, so it waits here until the disk responds.
        all[0].accept_reminder(&scope, payload()).unwrap();
        ended.send(()).unwrap();
    });
    let open = from_session.recv_timeout(LIMIT).unwrap();
    for inbox in &open {
        for _ in 0..100 {
            inbox.accept_reminder(payload()).unwrap();
        }
    }
    assert!(ends.try_recv().is_err(), "the session should still wait");
    drop(held);
    ends.recv_timeout(LIMIT).unwrap();
    session.join().unwrap();
    open.iter().for_each(|inbox| block_on(inbox.durable()).unwrap());
}

#[test]
fn a_host_is_refused_once_its_margin_is_full_and_heard_again_later() {
    let folder = TestFolder::new();
    let log = waiting(&folder);
    let held = hold(&folder);
    let session = Sessions::new(7).open(Some("s"), 5);
    let inbox = session.inbox(Arc::new(log.clone()), || 5);
    let margin = log.0.shared.reserve_now(MOST_RECORDS + HOST_RECORDS - 1, 0).unwrap();
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
    let folder = TestFolder::new();
    let log = waiting(&folder);
    let sessions = Sessions::new(7);
    let open: Vec<_> = (0..SESSIONS).map(|n| sessions.open(Some(&format!("s{n}")), 5)).collect();
    let inboxes: Vec<Inbox> = open.iter().map(|session| session.inbox(Arc::new(log.clone()), || 5)).collect();
    let held = hold(&folder);
    // The sessions' share of the queue is full.
    fill(&log);
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
    drop(held);
    for inbox in &inboxes {
        block_on(inbox.durable()).unwrap();
    }
    assert_eq!(log.latest("session.injection").unwrap(), Some((SESSIONS * ROUNDS) as u64));
}
