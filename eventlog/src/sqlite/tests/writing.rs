use super::*;

#[test]
fn what_was_appended_is_read_at_once_and_again_after_the_file_was_closed() {
    let folder = TestFolder::new();
    let log = folder.log();
    let headers = Data::dict([("trace", Data::from(1))]);
    log.append(NewRecord { headers: headers.clone(), ..record("a", "one") });
    log.append(record("b", "two"));
    let there = all(&log);
    assert_eq!(there.len(), 2);
    assert_eq!((there[0].topic.as_ref(), there[0].kind.as_ref(), there[0].id, there[0].cursor), ("a", "one", 1, 1));
    assert_eq!((&there[0].headers, &there[1].headers), (&headers, &Data::Nil));
    assert_eq!(there[0].payload.get("body").as_str(), Some("Run the narrow test first."));
    assert_eq!(there[1].occurred_at_ms, 7);
    drop(log);
    assert_eq!(all(&folder.log()), there);
}

#[test]
fn an_emit_gives_the_id_in_the_topic_and_the_cursor_in_the_log() {
    let folder = TestFolder::new();
    let log = folder.log();
    assert_eq!(emit(&log, "a"), RecordPosition { id: 1, cursor: 1 });
    assert_eq!(emit(&log, "b"), RecordPosition { id: 1, cursor: 2 });
    assert_eq!(emit(&log, "a"), RecordPosition { id: 2, cursor: 3 });
    assert_eq!(log.latest("a").unwrap(), Some(2));
    assert_eq!(log.latest("c").unwrap(), None);
}

#[test]
fn durable_waits_for_what_was_appended_before() {
    let folder = TestFolder::new();
    let log = folder.log();
    let tickets: Vec<Ticket> = (0..2000).map(|_| log.append(record("a", "x"))).collect();
    block_on(log.durable(tickets[1000])).unwrap();
    let reader = LogFile::open(folder.file()).unwrap();
    assert!(reader.latest("a").unwrap() >= Some(1001));
    block_on(log.durable(Ticket::ALL)).unwrap();
    assert_eq!(reader.latest("a").unwrap(), Some(2000));
}

#[test]
fn records_that_nobody_waited_for_are_written_when_the_log_is_closed() {
    let folder = TestFolder::new();
    let log = folder.log();
    append(&log, 1000);
    drop(log);
    assert_eq!(LogFile::open(folder.file()).unwrap().latest("a").unwrap(), Some(1000));
}

#[test]
fn a_filter_takes_topic_kind_cursor_and_limit() {
    let folder = TestFolder::new();
    let log = folder.log();
    for (topic, kind) in [("a", "x.1"), ("b", "x.1"), ("a", "y"), ("a", "x.2"), ("a", "x.3")] {
        log.append(record(topic, kind));
    }
    let cursors = |filter: RecordFilter, limit: usize| -> Vec<u64> {
        log.read(&filter, limit).unwrap().iter().map(|record| record.cursor).collect()
    };
    let kind_prefix = Some(Arc::from("x."));
    assert_eq!(cursors(RecordFilter { kind_prefix: kind_prefix.clone(), ..RecordFilter::topic("a") }, 9), [1, 4, 5]);
    assert_eq!(
        cursors(RecordFilter { kind_prefix: kind_prefix.clone(), after: 1, ..RecordFilter::topic("a") }, 1),
        [4]
    );
    assert_eq!(cursors(RecordFilter { kind_prefix, ..RecordFilter::default() }, 2), [1, 2]);
    assert!(cursors(RecordFilter::topic("nobody"), 9).is_empty());
    assert!(cursors(RecordFilter { after: 99, ..RecordFilter::default() }, 9).is_empty());
}

#[test]
fn order_is_that_of_the_cursors_also_where_the_clock_jumps_back() {
    let folder = TestFolder::new();
    let log = folder.log();
    for at in [30, u64::MAX, 0, 20] {
        log.append(NewRecord { occurred_at_ms: at, ..record("a", "x") });
    }
    let there = all(&log);
    let times: Vec<u64> = there.iter().map(|record| record.occurred_at_ms).collect();
    // The file holds signed numbers, so larger times are stored as the largest.
    assert_eq!(times, [30, i64::MAX.cast_unsigned(), 0, 20]);
    assert_eq!(there.iter().map(|record| record.id).collect::<Vec<_>>(), [1, 2, 3, 4]);
}

#[test]
fn a_value_as_deep_as_a_script_may_build_it_comes_back() {
    let folder = TestFolder::new();
    let log = folder.log();
    let deep = (0..Data::MAX_DEPTH).fold(Data::Nil, |inner, _| Data::list([inner]));
    log.append(NewRecord { payload: deep.clone().into(), ..record("a", "x") });
    assert_eq!(all(&log)[0].payload, deep);
}

#[test]
fn the_view_of_the_file_shows_the_names_of_topics() {
    let folder = TestFolder::new();
    let log = folder.log();
    emit(&log, "a");
    let other = rusqlite::Connection::open(folder.file()).unwrap();
    let row: (i64, String, String) = other
        .query_row("SELECT id, topic, payload FROM log", [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .unwrap();
    assert_eq!(row, (1, "a".to_owned(), r#"{"body":"Run the narrow test first."}"#.to_owned()));
}

#[test]
fn full_synchronisation_writes_as_well() {
    let folder = TestFolder::new();
    let options = SqliteOptions { synchronous: Synchronous::Full, ..SqliteOptions::default() };
    let log = SqliteLog::open(folder.file(), &options).unwrap();
    assert_eq!(emit(&log, "a").cursor, 1);
}

#[test]
fn many_in_flight_share_commits_and_each_learns_its_own_place() {
    let folder = TestFolder::new();
    let log = folder.log();
    let waits: Vec<_> = (0..512).map(|_| log.emit(record("a", "x"))).collect();
    let places: Vec<u64> = waits.into_iter().map(|wait| block_on(wait.get()).unwrap().id).collect();
    assert_eq!(places, (1..=512).collect::<Vec<_>>());
}

#[test]
fn old_records_of_a_topic_are_removed_and_their_numbers_are_not_used_again() {
    let folder = TestFolder::new();
    let log = folder.log();
    for number in 0..1_300 {
        log.append(record(if number % 13 == 0 { "b" } else { "a" }, "x"));
    }
    let place = block_on(log.place(record("a", "x"))).unwrap();
    assert_eq!((place.id, place.cursor), (1_201, 1_301));
    assert_eq!(block_on(log.trim("a".into(), place.cursor)).unwrap(), 1_200);
    assert_eq!(block_on(log.trim("a".into(), place.cursor)).unwrap(), 0);
    assert_eq!(block_on(log.trim("unknown".into(), u64::MAX)).unwrap(), 0);
    let left = log.read(&RecordFilter::topic("a"), 10).unwrap();
    assert_eq!(left.iter().map(|record| record.cursor).collect::<Vec<_>>(), [1_301]);
    assert_eq!(log.read(&RecordFilter::topic("b"), 1_000).unwrap().len(), 100);
    assert_eq!(block_on(log.trim("a".into(), u64::MAX)).unwrap(), 1);
    assert_eq!(emit(&log, "a"), RecordPosition { id: 1_202, cursor: 1_302 });
    let size = log.size();
    assert!(size > 100_000, "{size}");
    drop(log);
    assert_eq!(emit(&folder.log(), "a"), RecordPosition { id: 1_203, cursor: 1_303 });
}

#[test]
fn removals_and_batches_take_turns_and_commits_are_counted() {
    let folder = TestFolder::new();
    let log = folder.log();
    append(&log, 3_000);
    block_on(log.durable(Ticket::ALL)).unwrap();
    let before = log.commits();
    let removed = log.trim("a".into(), 2_501);
    append(&log, 10);
    block_on(log.durable(Ticket::ALL)).unwrap();
    assert!((1..=10).contains(&(log.commits() - before)), "{}", log.commits() - before);
    assert_eq!(block_on(removed).unwrap(), 2_500);
    assert_eq!(all(&log).len(), 510);
    // A log that is closed does not wait for a removal.
    let abandoned = log.trim("a".into(), u64::MAX);
    drop(log);
    let ended = block_on(abandoned);
    assert!(matches!(ended, Ok(510) | Err(LogError::NotWritten { .. })), "{ended:?}");
}
