use super::*;

fn refused(path: impl Into<PathBuf>) -> (&'static str, String) {
    let Err(error) = SqliteLog::open(path, &SqliteOptions::default()) else { panic!("this should fail") };
    (error.code().as_str(), error.to_string())
}

#[test]
fn a_path_that_is_a_folder_or_in_none_is_refused() {
    let folder = TestFolder::new();
    let (code, message) = refused(&folder.0);
    assert!(code == "HARN-LOG-002" && message.contains("it is a folder"), "{message}");
    let (code, message) = refused(folder.0.join("no/events.db"));
    assert!(code == "HARN-LOG-002" && message.contains("does not exist"), "{message}");
}

#[test]
fn a_file_that_is_no_database_is_refused_and_stays_as_it_is() {
    let folder = TestFolder::new();
    let text = "To whom it may concern: this is a letter.\n".repeat(50);
    std::fs::write(folder.file(), &text).unwrap();
    let (code, message) = refused(folder.file());
    assert!(code == "HARN-LOG-003" && message.contains("not a SQLite database"), "{message}");
    assert_eq!(std::fs::read_to_string(folder.file()).unwrap(), text);
    assert_eq!(LogFile::open(folder.file()).map(|_| ()).unwrap_err().code().as_str(), "HARN-LOG-003");
}

#[test]
fn a_database_of_another_application_is_refused_and_stays_as_it_is() {
    for setup in ["CREATE TABLE t (x)", "PRAGMA application_id = 99; CREATE TABLE t (x)", "PRAGMA user_version = 9"] {
        let folder = TestFolder::new();
        rusqlite::Connection::open(folder.file()).unwrap().execute_batch(setup).unwrap();
        let before = std::fs::read(folder.file()).unwrap();
        assert_eq!(refused(folder.file()).0, "HARN-LOG-003", "{setup}");
        assert_eq!(std::fs::read(folder.file()).unwrap(), before, "{setup}");
    }
}

#[test]
fn a_log_of_a_later_version_is_refused() {
    let folder = TestFolder::new();
    drop(folder.log());
    rusqlite::Connection::open(folder.file()).unwrap().execute_batch("PRAGMA user_version = 9").unwrap();
    assert_eq!(refused(folder.file()).0, "HARN-LOG-004");
    assert_eq!(LogFile::open(folder.file()).map(|_| ()).unwrap_err().code().as_str(), "HARN-LOG-004");
}

#[test]
fn a_reader_is_told_of_a_file_that_is_missing_or_empty_and_makes_none() {
    let folder = TestFolder::new();
    assert_eq!(LogFile::open(folder.file()).map(|_| ()).unwrap_err().code().as_str(), "HARN-LOG-002");
    assert!(!folder.file().exists());
    std::fs::write(folder.file(), "").unwrap();
    assert_eq!(LogFile::open(folder.file()).map(|_| ()).unwrap_err().code().as_str(), "HARN-LOG-003");
}

#[test]
fn a_file_that_may_only_be_read_is_refused() {
    // Not even an administrator may create a file there.
    let (code, _) = refused("/proc/events.db");
    assert_eq!(code, "HARN-LOG-002");
}

#[test]
fn a_locked_file_fails_those_who_wait_and_what_was_appended_is_written_later() {
    let folder = TestFolder::new();
    let log = folder.impatient();
    emit(&log, "a");
    let other = hold(&folder);
    let ticket = log.append(record("a", "kept"));
    assert_eq!(error(block_on(log.durable(ticket))).code().as_str(), "HARN-LOG-005");
    assert_eq!(error(block_on(log.emit(record("a", "told")).get())).code().as_str(), "HARN-LOG-005");
    assert_eq!(error(log.read(&RecordFilter::default(), 9)).code().as_str(), "HARN-LOG-005");
    other.execute_batch("ROLLBACK").unwrap();
    block_on(log.durable(Ticket::ALL)).unwrap();
    let kinds: Vec<String> = all(&log).iter().map(|record| record.kind.to_string()).collect();
    assert_eq!(kinds, ["x", "kept"], "what a script was told is not written does not turn up later");
}

#[test]
fn a_full_disk_fails_those_who_wait_and_what_was_durable_stays() {
    let folder = TestFolder::new();
    let options = SqliteOptions { most_bytes: Some(40 * 4096), ..SqliteOptions::default() };
    let log = SqliteLog::open(folder.file(), &options).unwrap();
    let mut written = 0;
    let full = loop {
        match block_on(log.emit(record("a", "x")).get()) {
            Ok(place) => written = place.id,
            Err(fault) => break fault,
        }
    };
    assert_eq!(full.code().map(base::codes::CodeRef::as_str), Some("HARN-LOG-006"));
    assert!(full.to_string().contains("the disk is full"), "{full}");
    let ticket = log.append(record("a", "x"));
    assert_eq!(error(block_on(log.durable(ticket))).code().as_str(), "HARN-LOG-006");
    drop(log);
    let there = all(&folder.log());
    assert_eq!(there.len() as u64, written);
    assert!(written > 100);
}

#[test]
fn memory_stays_bounded_while_nothing_can_be_written_and_what_is_lost_is_reported_once() {
    let folder = TestFolder::new();
    let log = folder.impatient();
    let other = hold(&folder);
    let first = log.append(record("a", "x"));
    assert!(block_on(log.durable(first)).is_err());
    let kept = (queue::MOST_RECORDS + queue::BATCH) as u64;
    let most = 3 * kept;
    append(&log, most - 2);
    let last = log.append(record("a", "x"));
    assert!(log.0.shared.waiting() <= queue::MOST_RECORDS);
    other.execute_batch("ROLLBACK").unwrap();
    block_on(log.durable(first)).unwrap();
    let LogError::Lost { count, why } = error(block_on(log.durable(last))) else { panic!("it is lost for ever") };
    assert!(matches!(*why, LogError::Locked { .. }));
    let reported = error(block_on(log.durable(Ticket::ALL)));
    assert_eq!(reported, LogError::Lost { count, why });
    // The log works again, and a loss that was reported is not reported again.
    assert_eq!(emit(&log, "b").id, 1);
    block_on(log.durable(Ticket::ALL)).unwrap();
    drop(log);
    let there = all(&folder.log());
    assert!(there.len() as u64 <= kept + 1, "{} are kept", there.len());
    assert_eq!(there.len() as u64 - 1 + count, most);
}

#[test]
fn a_file_that_is_deleted_or_replaced_while_it_is_written_ends_the_log() {
    for replaced in [false, true] {
        let folder = TestFolder::new();
        let log = folder.log();
        emit(&log, "a");
        std::fs::remove_file(folder.file()).unwrap();
        if replaced {
            std::fs::write(folder.file(), "").unwrap();
        }
        assert_eq!(error(block_on(log.emit(record("a", "x")).get())).code().as_str(), "HARN-LOG-007");
        log.append(record("a", "x"));
        let lost = error(block_on(log.durable(Ticket::ALL)));
        assert_eq!((lost.code().as_str(), matches!(lost, LogError::Lost { count: 1, .. })), ("HARN-LOG-007", true));
        assert!(error(block_on(log.emit(record("a", "x")).get())).to_string().contains("deleted"));
    }
}

#[test]
fn a_write_ahead_log_that_is_deleted_while_it_is_written_ends_the_log() {
    let folder = TestFolder::new();
    let log = folder.log();
    emit(&log, "a");
    std::fs::remove_file(folder.0.join("events.db-wal")).unwrap();
    assert_eq!(error(block_on(log.emit(record("a", "x")).get())).code().as_str(), "HARN-LOG-007");
}

#[test]
fn a_damaged_file_is_said_to_be_damaged() {
    let folder = TestFolder::new();
    let log = folder.log();
    emit(&log, "a");
    let other = rusqlite::Connection::open(folder.file()).unwrap();
    other.execute("UPDATE records SET payload = '{\"body\": '", []).unwrap();
    assert_eq!(error(log.read(&RecordFilter::default(), 9)).code().as_str(), "HARN-LOG-009");
    let deep = "[".repeat(100_000);
    other.execute("UPDATE records SET payload = ?", [deep]).unwrap();
    assert_eq!(error(log.read(&RecordFilter::default(), 9)).code().as_str(), "HARN-LOG-009");
}

#[test]
fn a_record_that_is_too_large_is_refused_and_the_log_goes_on() {
    let folder = TestFolder::new();
    let log = folder.log();
    let huge = NewRecord { payload: Data::str("x".repeat(NewRecord::MOST)).into(), ..record("a", "x") };
    assert_eq!(error(block_on(log.emit(huge).get())).code().as_str(), "HARN-LOG-010");
    assert_eq!(emit(&log, "a").id, 1);
}

/// Returns the log of a server in a file of at most 40 pages, which are full.
fn served_and_full(folder: &TestFolder) -> SqliteLog {
    let options = SqliteOptions { most_bytes: Some(40 * 4096), ..SqliteOptions::default() };
    let log = SqliteLog::open(folder.file(), &options).unwrap();
    log.serve();
    while block_on(log.emit(record("a", "x")).get()).is_ok() {}
    log
}

/// Removes the records, as an operator does who makes room.
fn make_room(folder: &TestFolder) {
    rusqlite::Connection::open(folder.file()).unwrap().execute("DELETE FROM records", []).unwrap();
}

/// Waits until a log can be written again.
fn wait_until_available(log: &SqliteLog) {
    until("the log is available", || log.availability().is_ok());
}

#[test]
fn a_log_of_a_server_reports_a_full_disk_until_there_is_room_again() {
    let folder = TestFolder::new();
    let log = served_and_full(&folder);
    assert_eq!(log.availability().unwrap_err().code().as_str(), "HARN-LOG-006");
    let kept = log.append(record("a", "kept"));
    assert_eq!(error(block_on(log.durable(kept))).code().as_str(), "HARN-LOG-006");
    make_room(&folder);
    wait_until_available(&log);
    block_on(log.durable(kept)).unwrap();
    emit(&log, "a");
    let kinds: Vec<String> = all(&log).iter().map(|record| record.kind.to_string()).collect();
    assert_eq!(kinds, ["kept", "x"]);
}

#[test]
fn a_full_queue_does_not_end_the_log_of_a_server() {
    let folder = TestFolder::new();
    let log = folder.impatient();
    log.serve();
    emit(&log, "a");
    let other = hold(&folder);
    let first = log.append(record("a", "first"));
    assert!(block_on(log.durable(first)).is_err());
    append(&log, 3 * queue::MOST_RECORDS as u64);
    let lost = log.append(record("a", "lost"));
    other.execute_batch("ROLLBACK").unwrap();
    wait_until_available(&log);
    block_on(log.durable(first)).unwrap();
    assert!(matches!(error(block_on(log.durable(lost))), LogError::Lost { .. }));
    // Readers and later records are not affected, nor those that wait for all.
    assert!(all(&log).iter().all(|record| &*record.kind != "lost"));
    block_on(log.durable(Ticket::ALL)).unwrap();
    let place = emit(&log, "a");
    assert_eq!(all(&log).last().unwrap().cursor, place.cursor);
    assert_eq!(log.backlog().0, 0);
}

#[test]
fn a_record_that_is_too_large_does_not_end_the_log_of_a_server() {
    let folder = TestFolder::new();
    let log = folder.log();
    log.serve();
    let huge = NewRecord { payload: Data::str("x".repeat(NewRecord::MOST)).into(), ..record("a", "x") };
    let ticket = log.append(huge);
    assert_eq!(error(block_on(log.durable(ticket))).code().as_str(), "HARN-LOG-010");
    assert_eq!(emit(&log, "a").id, 1);
    block_on(log.durable(Ticket::ALL)).unwrap();
}

#[test]
fn the_log_of_a_server_waits_for_a_file_that_was_moved_away() {
    let folder = TestFolder::new();
    let log = folder.log();
    log.serve();
    emit(&log, "a");
    let away = folder.0.join("away.db");
    std::fs::rename(folder.file(), &away).unwrap();
    assert_eq!(error(block_on(log.emit(record("a", "told")).get())).code().as_str(), "HARN-LOG-007");
    let kept = log.append(record("a", "kept"));
    assert_eq!(error(block_on(log.durable(kept))).code().as_str(), "HARN-LOG-007");
    // Another file in its place is not written.
    std::fs::write(folder.file(), "").unwrap();
    assert!(block_on(log.durable(kept)).is_err());
    assert_eq!(log.availability().unwrap_err().code().as_str(), "HARN-LOG-007");
    std::fs::rename(&away, folder.file()).unwrap();
    wait_until_available(&log);
    block_on(log.durable(kept)).unwrap();
    let kinds: Vec<String> = all(&log).iter().map(|record| record.kind.to_string()).collect();
    assert_eq!(kinds, ["x", "kept"]);
}
