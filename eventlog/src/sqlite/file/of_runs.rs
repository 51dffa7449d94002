//! The records of a run, found by an index. They have a column of their own since layout 2; a file of layout 1 is
//! migrated when it is opened for writing.

use std::ops::ControlFlow;

use rusqlite::{Connection, params};

use crate::{LogError, Record};

use super::super::progress;
use super::{FileReadError, LogFile, kept_behind, last, number, stored, topic_key};

const COLUMNS: &str = "SELECT cursor, topic, id, kind, payload, headers, occurred_at_ms FROM records";

/// The cursors of a run's records, and the state of the log when they were read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunCursors {
    /// The cursors, in order.
    pub cursors: Vec<u64>,
    /// The cursor that was assigned last in the whole log.
    pub head: u64,
    /// The cursor before the oldest record that is kept.
    pub kept_after: u64,
}

impl LogFile {
    /// Reads all records of a run, oldest first, from one consistent snapshot.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn of_run(&self, run_id: &str, mut take: impl FnMut(Record)) -> Result<(), LogError> {
        let mut read = || -> Result<(), FileReadError> {
            let snapshot = self.connection.unchecked_transaction()?;
            let mut select = snapshot.prepare_cached(&format!("{COLUMNS} WHERE run_id = ? ORDER BY cursor"))?;
            let mut rows = select.query([run_id])?;
            while let Some(row) = rows.next()? {
                take(self.record(&snapshot, row)?);
            }
            Ok(())
        };
        read().map_err(|error| self.failed(error))
    }

    /// Returns the cursors of a run's records after a cursor, with what is known of the whole log at that time. Reads
    /// only an index.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn cursors_of_run(&self, run_id: &str, after: u64) -> Result<RunCursors, LogError> {
        self.run_cursors(|snapshot, cursors| {
            let of_run = "SELECT cursor FROM records WHERE run_id = ? AND cursor > ? ORDER BY cursor";
            let mut select = snapshot.prepare_cached(of_run)?;
            for cursor in select.query_map(params![run_id, stored(after)], |row| number(row, 0))? {
                cursors.push(cursor?);
            }
            Ok(())
        })
    }

    /// Returns the cursors of a run's records in some topics, like [`Self::cursors_of_run`].
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn cursors_of_run_in(&self, run_id: &str, topics: &[&str]) -> Result<RunCursors, LogError> {
        self.run_cursors(|snapshot, cursors| {
            let mut select = snapshot.prepare_cached("SELECT cursor FROM records WHERE run_id = ? AND topic = ?")?;
            for topic in topics {
                let Some(key) = topic_key(snapshot, topic)? else { continue };
                for cursor in select.query_map(params![run_id, key], |row| number(row, 0))? {
                    cursors.push(cursor?);
                }
            }
            cursors.sort_unstable();
            Ok(())
        })
    }

    fn run_cursors(
        &self,
        find: impl FnOnce(&Connection, &mut Vec<u64>) -> rusqlite::Result<()>,
    ) -> Result<RunCursors, LogError> {
        let read = || -> Result<RunCursors, FileReadError> {
            let snapshot = self.connection.unchecked_transaction()?;
            let (head, kept_after) = (last(&snapshot)?, kept_behind(&snapshot)?);
            let mut cursors = Vec::new();
            find(&snapshot, &mut cursors)?;
            Ok(RunCursors { cursors, head, kept_after })
        };
        read().map_err(|error| self.failed(error))
    }

    /// Reads the records with these cursors. Removed ones are omitted.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn records_at(&self, cursors: &[u64]) -> Result<Vec<Record>, LogError> {
        let read = || -> Result<Vec<Record>, FileReadError> {
            let snapshot = self.connection.unchecked_transaction()?;
            let mut select = snapshot.prepare_cached(&format!("{COLUMNS} WHERE cursor = ?"))?;
            let mut records = Vec::with_capacity(cursors.len());
            for cursor in cursors {
                let mut rows = select.query([stored(*cursor)])?;
                if let Some(row) = rows.next()? {
                    records.push(self.record(&snapshot, row)?);
                }
            }
            Ok(records)
        };
        read().map_err(|error| self.failed(error))
    }

    /// Reads the last record of each run in a topic, if its cursor is below `before`: newest first, until `take`
    /// breaks.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn last_of_runs(
        &self,
        topic: &str,
        before: u64,
        mut take: impl FnMut(Record) -> ControlFlow<()>,
    ) -> Result<(), LogError> {
        let mut read = || -> Result<(), FileReadError> {
            let snapshot = self.connection.unchecked_transaction()?;
            let Some(key) = topic_key(&snapshot, topic)? else { return Ok(()) };
            // A run whose last record is not below `before` is excluded, so that pages do not overlap.
            let sql = format!(
                "{COLUMNS} AS this WHERE topic = ?1 AND cursor < ?2 AND run_id IS NOT NULL AND cursor = \
                 (SELECT max(cursor) FROM records WHERE run_id = this.run_id AND topic = ?1) ORDER BY cursor DESC"
            );
            let mut select = snapshot.prepare_cached(&sql)?;
            let mut rows = select.query(params![key, stored(before)])?;
            while let Some(row) = rows.next()? {
                if take(self.record(&snapshot, row)?).is_break() {
                    break;
                }
            }
            Ok(())
        };
        read().map_err(|error| self.failed(error))
    }

    /// Reads, of each run whose name has a prefix, the last record in a topic that has one of some kinds. Reads those after
    /// it by an index, and no others.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn last_of_kinds(
        &self,
        prefix: &str,
        topic: &str,
        kinds: &[&str],
        mut take: impl FnMut(Record),
    ) -> Result<(), LogError> {
        self.in_snapshot(|snapshot| {
            let Some(key) = topic_key(snapshot, topic)? else { return Ok(()) };
            let mut names = snapshot.prepare_cached("SELECT name FROM subjects WHERE name >= ?1 AND name < ?2")?;
            let sql = format!("{COLUMNS} WHERE run_id = ? AND topic = ? ORDER BY cursor DESC");
            let mut select = snapshot.prepare_cached(&sql)?;
            let mut names = names.query([prefix, &format!("{prefix}{}", char::MAX)])?;
            let mut passed = 0_u64;
            while let Some(name) = names.next()? {
                let mut rows = select.query(params![name.get_ref(0)?.as_str().unwrap_or_default(), key])?;
                while let Some(row) = rows.next()? {
                    passed += 1;
                    if passed.is_multiple_of(progress::ROWS) && progress::must_stop() {
                        return Err(progress::ended().into());
                    }
                    if kinds.contains(&row.get_ref(3)?.as_str().unwrap_or_default()) {
                        take(self.record(snapshot, row)?);
                        break;
                    }
                }
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::testing::TestFolder;
    use crate::{EventLog, LogFile, NewRecord, RUN_ID, SqliteLog, SqliteOptions};
    use base::data::Data;

    fn write(log: &SqliteLog, run: &str, topic: &str, n: i64) {
        let payload = Data::dict([("n", Data::from(n))]).into();
        let headers = if topic == "mine" { Data::Nil } else { Data::dict([(RUN_ID, Data::from(run))]) };
        log.append(NewRecord { topic: topic.into(), kind: "k".into(), payload, headers, occurred_at_ms: 1 });
    }

    #[test]
    fn a_run_is_found_among_the_records_of_others() {
        let folder = TestFolder::new();
        let log = SqliteLog::open(folder.file(), &SqliteOptions::default()).unwrap();
        for n in 0..30 {
            write(&log, &format!("run-{}", n % 3), "session.life", n);
            write(&log, "another run", "mine", n);
            write(&log, &format!("run-{}", n % 3), "session.message", n);
        }
        let mut found = Vec::new();
        log.look(|file| file.of_run("run-1", |record| found.push(record.payload.get("n").as_int().unwrap()))).unwrap();
        assert_eq!(found, (0..30).filter(|n| n % 3 == 1).flat_map(|n| [n, n]).collect::<Vec<_>>());
        let after = log.look(|file| file.cursors_of_run("run-1", 75)).unwrap();
        assert_eq!(after, RunCursors { cursors: vec![76, 78, 85, 87], head: 90, kept_after: 0 });
        let of = |topics: &[&str]| log.look(|file| file.cursors_of_run_in("run-1", topics)).unwrap();
        assert_eq!(of(&["session.message", "session.life", "unknown"]).cursors[16..], [76, 78, 85, 87]);
        assert_eq!(of(&["session.message"]).cursors[8..], [78, 87]);
        let read = log.look(|file| file.records_at(&[84, 91, 87])).unwrap();
        assert_eq!(read.iter().map(|record| record.cursor).collect::<Vec<_>>(), [84, 87]);
        let last = |before| {
            let mut found = Vec::new();
            let take = |record: Record| {
                found.push((record.cursor, record.payload.get("n").as_int().unwrap()));
                ControlFlow::Continue(())
            };
            log.look(|file| file.last_of_runs("session.life", before, take)).unwrap();
            found
        };
        assert_eq!(last(u64::MAX), [(88, 29), (85, 28), (82, 27)]);
        assert_eq!(last(85), [(82, 27)], "the second page begins after the first");
    }

    #[test]
    fn runs_are_found_by_their_index() {
        let folder = TestFolder::new();
        let log = SqliteLog::open(folder.file(), &SqliteOptions::default()).unwrap();
        for n in 0..4 {
            write(&log, &format!("run-{}", n % 2), "a2a.task", n);
        }
        drop(log);
        let file = LogFile::open(folder.file()).unwrap();
        let plan = |sql: &str| -> String {
            let mut select = file.connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let rows = select.query_map([], |row| row.get::<_, String>(3)).unwrap();
            rows.map(Result::unwrap).collect::<Vec<_>>().join("\n")
        };
        let of_run = plan(&format!("{COLUMNS} WHERE run_id = 'run-1' ORDER BY cursor"));
        assert!(of_run.contains("records_by_run"), "{of_run}");
        let cursors = plan("SELECT cursor FROM records WHERE run_id = 'run-1' AND cursor > 7 ORDER BY cursor");
        assert!(cursors.contains("USING COVERING INDEX records_by_run"), "{cursors}");
        let in_topic = plan("SELECT cursor FROM records WHERE run_id = 'run-1' AND topic = 1");
        assert!(in_topic.contains("USING COVERING INDEX records_by_run (run_id=? AND topic=?)"), "{in_topic}");
        let last = plan("SELECT max(cursor) FROM records WHERE run_id = 'run-1' AND topic = 1");
        assert!(last.contains("records_by_run (run_id=? AND topic=?)"), "{last}");
        let mut found = Vec::new();
        file.of_run("run-1", |record| found.push(record.payload.get("n").as_int().unwrap())).unwrap();
        assert_eq!(found, [1, 3]);
    }

    #[test]
    fn the_last_record_of_some_kinds_is_found_for_each_run_with_a_prefix() {
        let folder = TestFolder::new();
        let log = SqliteLog::open(folder.file(), &SqliteOptions::default()).unwrap();
        let write = |run: &str, topic: &str, kind: &str| {
            let headers = Data::dict([(RUN_ID, Data::from(run))]);
            let (topic, kind, payload) = (topic.into(), kind.into(), Data::Nil.into());
            log.append(NewRecord { topic, kind, payload, headers, occurred_at_ms: 1 });
        };
        for (run, topic, kind) in [
            ("s_1", "t", "begun"),
            ("s_2", "t", "begun"),
            ("s_1", "t", "ended"),
            ("s_1", "t", "named"),
            ("s_1", "other", "begun"),
            ("s_3", "t", "named"),
            ("x_1", "t", "begun"),
        ] {
            write(run, topic, kind);
        }
        let mut found = Vec::new();
        let take = |record: Record| found.push((record.cursor, record.kind.to_string()));
        log.look(|file| file.last_of_kinds("s_", "t", &["begun", "ended"], take)).unwrap();
        assert_eq!(found, [(3, "ended".to_owned()), (2, "begun".to_owned())]);
        log.look(|file| file.last_of_kinds("s_", "unknown", &["begun"], |_| panic!("no such topic"))).unwrap();
    }
}
