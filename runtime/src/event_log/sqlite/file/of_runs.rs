//! The records of a run, found by an index. They have a column of their own since layout 2; a file of layout 1 is
//! migrated when it is opened for writing.

use std::ops::ControlFlow;

use rusqlite::params;

use crate::event_log::{LogError, Record};

use super::{FileReadError, LogFile, stored, topic_key};

const COLUMNS: &str = "SELECT cursor, topic, id, kind, payload, headers, occurred_at_ms FROM records";

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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Data;
    use crate::event_log::sqlite::testing::TestFolder;
    use crate::event_log::{LogFile, NewRecord, RunTaggedLog, SqliteLog, SqliteOptions};

    fn write(log: &SqliteLog, run: &str, topic: &str, n: i64) {
        let payload = Data::dict([("n", Data::from(n))]).into();
        let (topic, kind) = (topic.into(), "k".into());
        RunTaggedLog::new(log.clone(), run).append(NewRecord {
            topic,
            kind,
            payload,
            headers: Data::Nil,
            occurred_at_ms: 1,
        });
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
        let last = plan("SELECT max(cursor) FROM records WHERE run_id = 'run-1' AND topic = 1");
        assert!(last.contains("records_by_run (run_id=? AND topic=?)"), "{last}");
        let mut found = Vec::new();
        file.of_run("run-1", |record| found.push(record.payload.get("n").as_int().unwrap())).unwrap();
        assert_eq!(found, [1, 3]);
    }
}
