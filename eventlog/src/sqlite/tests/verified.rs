//! The check of a whole file.

use crate::{Batch, LogDefect, RUN_ID};

use super::*;

fn run(id: &str) -> Data {
    Data::dict([(RUN_ID, Data::from(id))])
}

/// Writes records of two topics, of a run, and of a subject.
fn written() -> TestFolder {
    let folder = TestFolder::new();
    let log = folder.log();
    for _ in 0..3 {
        emit(&log, "a");
        emit(&log, "b");
        log.append(NewRecord { headers: run("r"), ..record("a", "x") });
    }
    block_on(crate::Log::append(&log, Batch::new("s", vec![record("c", "x"), record("c", "x")]))).unwrap();
    // Removed records leave no defect.
    block_on(SqliteLog::trim(&log, "b".into(), 4)).unwrap();
    block_on(log.trim_subject("s")).unwrap();
    folder
}

impl SqliteLog {
    async fn trim_subject(&self, name: &str) -> Result<u64, LogError> {
        crate::Log::trim(self, name.into(), 11).await
    }
}

fn verify(folder: &TestFolder) -> (u64, Vec<String>) {
    let mut defects = Vec::new();
    let mut found = |defect: LogDefect| defects.push(defect.to_string());
    let records = LogFile::open(folder.file()).unwrap().verify(&mut found).unwrap();
    (records, defects)
}

#[test]
fn a_log_as_it_is_written_has_no_defect_and_is_not_changed() {
    let folder = written();
    let before = std::fs::read(folder.file()).unwrap();
    assert_eq!(verify(&folder), (9, Vec::new()));
    assert_eq!(std::fs::read(folder.file()).unwrap(), before);
    let empty = TestFolder::new();
    drop(empty.log());
    assert_eq!(verify(&empty), (0, Vec::new()));
    // Beside a process that writes.
    let log = folder.log();
    emit(&log, "a");
    assert_eq!(verify(&folder), (10, Vec::new()));
}

#[test]
fn each_defect_is_reported_with_its_place_and_the_rest_is_read() {
    for (sql, expected) in [
        ("UPDATE records SET payload = '{\"body\": ' WHERE cursor = 4", "record 4: "),
        ("UPDATE records SET headers = 'x' WHERE cursor = 3", "record 3: "),
        ("UPDATE records SET run_id = 'other' WHERE cursor = 3", "record 3: its run is not the one in its headers"),
        ("UPDATE records SET id = 1 WHERE cursor = 4", "record 4: its id 1 in the topic is not above 2"),
        ("UPDATE head SET last_cursor = 5", "the last cursor of the log is 5, but the records need at least 11"),
        (
            "UPDATE topics SET last_id = 1 WHERE name = 'a'",
            "the last id of the topic `a` is 1, but the records need at least 6",
        ),
        ("UPDATE subjects SET sequence = 2 WHERE name = 'r'", "the number of records of the run `r` is 2"),
        ("DELETE FROM subjects WHERE name = 'r'", "the number of records of the run `r` is 0"),
        (
            "UPDATE subjects SET trimmed_before = 99",
            "the last cursor of the log is 12, but the records need at least 99",
        ),
        ("PRAGMA writable_schema = on; DELETE FROM sqlite_schema WHERE name = 'records_by_topic'", "database: "),
    ] {
        let folder = written();
        rusqlite::Connection::open(folder.file()).unwrap().execute_batch(sql).unwrap();
        let (records, defects) = verify(&folder);
        assert_eq!(records, 9, "{sql}");
        assert!(defects.iter().any(|defect| defect.starts_with(expected)), "{sql}: {defects:?}");
    }
}

#[test]
fn a_file_with_a_broken_page_has_a_defect_and_causes_no_panic() {
    let folder = written();
    let whole = std::fs::read(folder.file()).unwrap();
    for page in 1..whole.len() / 4096 {
        let mut bytes = whole.clone();
        bytes[page * 4096..(page + 1) * 4096].fill(0xa5);
        std::fs::write(folder.file(), bytes).unwrap();
        let mut defects = 0;
        let result = LogFile::open(folder.file()).and_then(|file| file.verify(&mut |_| defects += 1));
        assert!(result.is_err() || defects > 0, "page {page}");
    }
}
