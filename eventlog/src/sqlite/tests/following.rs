use super::*;

fn next(reader: &mut Box<dyn Subscription>) -> u64 {
    block_on(reader.next()).unwrap().unwrap().cursor
}

#[test]
fn a_subscriber_gets_history_and_then_what_comes_each_once_and_in_order() {
    let folder = TestFolder::new();
    let log = folder.log();
    append(&log, 600);
    let mut reader = log.subscribe(RecordFilter::topic("a"));
    let writer = {
        let log = log.clone();
        std::thread::spawn(move || {
            for _ in 0..300 {
                log.append(record("a", "x"));
                log.append(record("b", "x"));
            }
        })
    };
    let ids: Vec<u64> = (0..900).map(|_| block_on(reader.next()).unwrap().unwrap().id).collect();
    writer.join().unwrap();
    assert_eq!(ids, (1..=900).collect::<Vec<_>>());
    assert!(reader.try_next().now().unwrap().unwrap().is_none());
}

#[test]
fn a_subscriber_sees_its_own_appends_without_a_wait() {
    let folder = TestFolder::new();
    let log = folder.log();
    let mut reader = log.subscribe(RecordFilter { kind_prefix: Some("y".into()), ..RecordFilter::default() });
    assert!(reader.try_next().now().unwrap().unwrap().is_none());
    log.append(record("a", "x"));
    assert!(reader.try_next().now().unwrap().unwrap().is_none());
    log.append(record("a", "y"));
    assert_eq!(reader.try_next().now().unwrap().unwrap().unwrap().cursor, 2);
}

#[test]
fn a_subscriber_hears_of_what_another_process_writes() {
    let folder = TestFolder::new();
    let (log, other) = (folder.log(), folder.log());
    let mut reader = log.subscribe(RecordFilter { after: 1, ..RecordFilter::default() });
    emit(&other, "a");
    let mut next = reader.next();
    assert!(next.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    emit(&other, "a");
    assert_eq!(block_on(next).unwrap().unwrap().cursor, 2);
}

fn forget_up_to(folder: &TestFolder, cursor: i64) {
    let other = rusqlite::Connection::open(folder.file()).unwrap();
    other.execute("DELETE FROM records WHERE cursor <= ?", [cursor]).unwrap();
}

#[test]
fn records_that_say_who_may_do_what_stay_and_the_gap_after_them_is_known() {
    let folder = TestFolder::new();
    let log = folder.log();
    let put = |kind: &str, payload: Data| {
        log.append(NewRecord {
            topic: "channel".into(),
            kind: kind.into(),
            payload: payload.into(),
            headers: Data::Nil,
            occurred_at_ms: 0,
        });
    };
    log.keep_grants().unwrap();
    log.keep_grants().unwrap();
    put("channel.enrolled", Data::Nil);
    put("channel.action", Data::dict([("account_ref", Data::from("acme"))]));
    put("channel.action", Data::dict([("kind", Data::from("prompt"))]));
    put("channel.revoked", Data::Nil);
    append(&log, 4);
    let cursors = || log.look(|file| file.read(&RecordFilter::default(), 99)).unwrap();
    let kept = || cursors().iter().map(|record| record.cursor).collect::<Vec<_>>();
    let oldest = || log.look(LogFile::oldest).unwrap();
    assert_eq!((kept(), oldest()), ((1..=8).collect(), 0));
    forget_up_to(&folder, 6);
    assert_eq!((kept(), oldest()), (vec![1, 2, 4, 7, 8], 6));
    forget_up_to(&folder, 8);
    assert_eq!((kept(), oldest()), (vec![1, 2, 4], 8));
    append(&log, 1);
    assert_eq!(oldest(), 8);
    // Another process opens the file as a log.
    drop(folder.log());
    LogFile::open(folder.file()).unwrap();
}

#[test]
fn a_log_of_grants_only_lacks_nothing() {
    let folder = TestFolder::new();
    let log = folder.log();
    assert_eq!(log.look(LogFile::oldest).unwrap(), 0);
    for kind in ["channel.enrolled", "channel.revoked"] {
        log.append(NewRecord {
            topic: "channel".into(),
            kind: kind.into(),
            payload: Data::Nil.into(),
            headers: Data::Nil,
            occurred_at_ms: 0,
        });
    }
    assert_eq!(log.look(LogFile::oldest).unwrap(), 0);
}

#[test]
fn a_subscriber_whose_records_were_deleted_hears_of_it_and_goes_on_behind_the_gap() {
    let folder = TestFolder::new();
    let log = folder.log();
    append(&log, 5);
    block_on(log.durable(Ticket::ALL)).unwrap();
    let mut early = log.subscribe(RecordFilter::topic("a"));
    forget_up_to(&folder, 3);
    assert_eq!(error(early.try_next().now().unwrap()), LogError::Lagged { lost: 3, resume_from: 3 });
    assert_eq!(next(&mut early), 4);
    assert_eq!(next(&mut log.subscribe(RecordFilter::topic("a"))), 4);
    assert_eq!(
        error(log.read(&RecordFilter { after: 1, ..RecordFilter::default() }, 9)),
        LogError::Lagged { lost: 2, resume_from: 3 }
    );
    assert_eq!(all(&log).len(), 2);
}

#[test]
fn cursors_are_not_given_again_after_everything_was_deleted() {
    let folder = TestFolder::new();
    let log = folder.log();
    append(&log, 5);
    block_on(log.durable(Ticket::ALL)).unwrap();
    let mut early = log.subscribe(RecordFilter { after: 2, ..RecordFilter::default() });
    forget_up_to(&folder, 5);
    assert_eq!(error(early.try_next().now().unwrap()), LogError::Lagged { lost: 3, resume_from: 5 });
    assert_eq!(emit(&log, "a"), RecordPosition { id: 6, cursor: 6 });
    assert_eq!(next(&mut early), 6);
}

#[test]
fn a_subscriber_that_asks_for_the_future_waits_for_it() {
    let folder = TestFolder::new();
    let log = folder.log();
    let mut reader = log.subscribe(RecordFilter { after: 2, ..RecordFilter::default() });
    emit(&log, "a");
    emit(&log, "a");
    assert!(reader.try_next().now().unwrap().unwrap().is_none());
    emit(&log, "a");
    assert_eq!(reader.try_next().now().unwrap().unwrap().unwrap().cursor, 3);
}
