//! The removal of ended sessions in the background.

use std::time::Duration;

use stdlib::LogRetention;

use super::*;
use crate::clock::now_ms;
use crate::trim::{RemovedByAge, retention_pass};

const DAY_MS: u64 = 86_400_000;

fn kept_for(days: u64) -> LogRetention {
    LogRetention { age: Some(Duration::from_millis(days * DAY_MS)), bytes: None }
}

fn id(n: usize) -> String {
    format!("sess_{n:032x}")
}

/// Removes what is old in some days.
fn removed(store: &SessionStore, kept: LogRetention, days: u64) -> RemovedByAge {
    retention_pass(store, kept, now_ms() + days * DAY_MS, &|| false).unwrap()
}

fn listed(store: &SessionStore) -> Vec<String> {
    store.list(None, None, 99).unwrap().rows.into_iter().map(|row| row.id.to_string()).collect()
}

#[test]
fn sessions_that_ended_long_ago_go_and_those_that_are_open_or_waited_for_stay() {
    let folder = StoreFolder::new();
    let (store, other) = (folder.store(), folder.store());
    {
        // A process that was killed.
        let killed = folder.store();
        ServedSession::open(&killed, &id(4)).prompt("look", [says("seen")]);
        block_on(killed.log().settled(eventlog::Ticket::ALL)).unwrap();
    }
    let closed = |n: usize, body: Option<&str>| {
        let served = ServedSession::open(&store, &id(n));
        body.into_iter().for_each(|body| served.remind(body, None));
        served.prompt("look", [says("seen")]);
        served.journal.closed();
    };
    closed(1, None);
    closed(2, Some("remember"));
    let open_here = ServedSession::open(&store, &id(3));
    open_here.prompt("look", [says("seen")]);
    let open_there = ServedSession::open(&other, &id(5));
    open_there.prompt("look", [says("seen")]);
    block_on(open_there.journal.settled()).unwrap();
    assert_eq!(removed(&store, kept_for(30), 29), RemovedByAge::default(), "nothing is old");
    assert_eq!(removed(&store, LogRetention::ALL, 400), RemovedByAge::default());
    let units = removed(&store, kept_for(30), 31).units;
    let mut left = listed(&store);
    left.sort();
    assert_eq!((units, left), (2, vec![id(2), id(3), id(5)]));
    assert!(matches!(store.load(&id(1)), Err(StoreError::Unknown(_))));
    assert_eq!(removed(&store, kept_for(30), 31), RemovedByAge::default());
    // The others go on.
    open_here.prompt("again", [says("done")]);
    open_here.journal.closed();
    assert_eq!(removed(&store, kept_for(30), 31).units, 1);
}

#[test]
fn the_oldest_sessions_go_until_the_log_is_small_enough_and_recent_ones_stay() {
    let folder = StoreFolder::new();
    let store = folder.store();
    for n in 0..8 {
        let served = ServedSession::open(&store, &id(n));
        served.prompt("look", [says(&"x".repeat(200_000))]);
        served.journal.closed();
        block_on(served.journal.settled()).unwrap();
        // The order of their last records is that of time.
        crate::wait::until("the clock goes on", {
            let begun = now_ms();
            move || now_ms() > begun
        });
    }
    let used = || store.log().look(eventlog::LogFile::used_bytes).unwrap();
    let most = used() / 2;
    let kept = LogRetention { age: None, bytes: Some(most) };
    assert_eq!(removed(&store, kept, 0), RemovedByAge::default(), "they were used a moment ago");
    let units = removed(&store, kept, 1).units;
    assert!((3..=6).contains(&units), "{units}");
    assert!(used() <= most, "{} of {most}", used());
    let mut left = listed(&store);
    left.sort();
    assert_eq!(left, (units as usize..8).map(id).collect::<Vec<_>>(), "the oldest go first");
    assert_eq!(removed(&store, kept, 1), RemovedByAge::default());
}

/// A removal that stops in the middle is completed by the next one.
#[test]
fn a_removal_can_be_interrupted() {
    let folder = StoreFolder::new();
    let store = folder.store();
    for n in 0..4 {
        let served = ServedSession::open(&store, &id(n));
        served.prompt("look", [says("seen")]);
        served.journal.closed();
    }
    let asked = std::cell::Cell::new(0);
    let stops = || asked.replace(asked.get() + 1) == 2;
    let now = now_ms() + 31 * DAY_MS;
    assert_eq!(retention_pass(&store, kept_for(30), now, &stops).unwrap().units, 2);
    // One lost its opening only.
    let (mut opening, left) = (None, listed(&store));
    let first = |record: Record| opening = opening.or(Some(record.cursor));
    store.log().look(|file| file.of_run(&left[0], first)).unwrap();
    store.log().remover().unwrap().remove(&[opening.unwrap()]).unwrap();
    assert_eq!(retention_pass(&store, kept_for(30), now, &|| false).unwrap().units, 2);
    assert_eq!(store.log().look(|file| file.read(&RecordFilter::default(), 9)).unwrap().len(), 0);
}
