//! The records of served sessions and of tasks, found by an index. Each is a run of its own: the id of a session's begins with
//! `sess_`, that of a task's with `task_`.

use std::ops::ControlFlow;

use rusqlite::params;

use crate::data::Data;
use crate::event_log::{LogError, RUN_ID, Record};

use super::super::row::encode;
use super::super::schema::{OF_SESSIONS, OF_TASKS};
use super::{Failed, LogFile, stored, topic_key};

const COLUMNS: &str = "SELECT cursor, topic, id, kind, payload, headers, occurred_at_ms FROM records";

impl LogFile {
    /// Everything that the run of a served session has written, oldest first; as of one moment.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn of_session(&self, id: &str, take: impl FnMut(Record)) -> Result<(), LogError> {
        self.of_run(OF_SESSIONS, id, take)
    }

    /// Everything that the run of a task has written, oldest first; as of one moment.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn of_task(&self, run_id: &str, take: impl FnMut(Record)) -> Result<(), LogError> {
        self.of_run(OF_TASKS, run_id, take)
    }

    fn of_run(&self, condition: &str, run_id: &str, mut take: impl FnMut(Record)) -> Result<(), LogError> {
        let mut read = || -> Result<(), Failed> {
            let snapshot = self.connection.unchecked_transaction()?;
            let sql = format!("{COLUMNS} WHERE {condition} AND headers = ? ORDER BY cursor");
            let mut select = snapshot.prepare_cached(&sql)?;
            let mut rows = select.query([headers(run_id)])?;
            while let Some(row) = rows.next()? {
                take(self.record(&snapshot, row)?);
            }
            Ok(())
        };
        read().map_err(|error| self.failed(error))
    }

    /// Of each served session the last record of a topic, where its cursor is below `before`: newest first, until `take` has
    /// enough.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn last_of_sessions(
        &self,
        topic: &str,
        before: u64,
        mut take: impl FnMut(Record) -> ControlFlow<()>,
    ) -> Result<(), LogError> {
        let mut read = || -> Result<(), Failed> {
            let snapshot = self.connection.unchecked_transaction()?;
            let Some(key) = topic_key(&snapshot, topic)? else { return Ok(()) };
            // One whose last record is not below `before` is not given, so that pages do not overlap.
            let sql = format!(
                "{COLUMNS} AS this WHERE topic = ?1 AND cursor < ?2 AND {OF_SESSIONS} AND cursor = \
                 (SELECT max(cursor) FROM records WHERE {OF_SESSIONS} AND headers = this.headers AND topic = ?1) \
                 ORDER BY cursor DESC"
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

/// The headers of a run, as they stand in the file.
fn headers(run_id: &str) -> String {
    encode(&Data::dict([(RUN_ID, Data::from(run_id))]), &mut Vec::new()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event_log::sqlite::testing::Folder;
    use crate::event_log::{LogFile, NewRecord, OfRun, SqliteLog, SqliteOptions};

    fn write(log: &SqliteLog, run: &str, topic: &str, n: i64) {
        let payload = Data::dict([("n", Data::from(n))]).into();
        let (topic, kind) = (topic.into(), "k".into());
        OfRun::new(log.clone(), run).append(NewRecord { topic, kind, payload, headers: Data::Nil, occurred_at_ms: 1 });
    }

    #[test]
    fn sessions_are_found_among_the_records_of_others() {
        let folder = Folder::new();
        let log = SqliteLog::open(folder.file(), &SqliteOptions::default()).unwrap();
        for n in 0..30 {
            write(&log, &format!("sess_{}", n % 3), "session.life", n);
            write(&log, "another run", "session.life", n);
            write(&log, &format!("sess_{}", n % 3), "session.message", n);
        }
        let mut found = Vec::new();
        log.look(|file| file.of_session("sess_1", |record| found.push(record.payload.get("n").as_int().unwrap())))
            .unwrap();
        assert_eq!(found, (0..30).filter(|n| n % 3 == 1).flat_map(|n| [n, n]).collect::<Vec<_>>());
        let last = |before| {
            let mut found = Vec::new();
            let take = |record: Record| {
                found.push((record.cursor, record.payload.get("n").as_int().unwrap()));
                ControlFlow::Continue(())
            };
            log.look(|file| file.last_of_sessions("session.life", before, take)).unwrap();
            found
        };
        assert_eq!(last(u64::MAX), [(88, 29), (85, 28), (82, 27)]);
        assert_eq!(last(85), [(82, 27)], "the second page begins behind the first");
    }

    #[test]
    fn sessions_and_tasks_are_found_by_their_indexes() {
        let folder = Folder::new();
        let log = SqliteLog::open(folder.file(), &SqliteOptions::default()).unwrap();
        write(&log, "sess_1", "session.life", 1);
        for n in 0..4 {
            write(&log, &format!("task_{}", n % 2), "a2a.task", n);
        }
        drop(log);
        // As a version without the indexes would have left it.
        let connection = rusqlite::Connection::open(folder.file()).unwrap();
        connection.execute_batch("DROP INDEX records_of_session; DROP INDEX records_of_task").unwrap();
        drop(connection);
        drop(SqliteLog::open(folder.file(), &SqliteOptions::default()).unwrap());
        let file = LogFile::open(folder.file()).unwrap();
        for (condition, run, index) in
            [(OF_SESSIONS, "sess_1", "records_of_session"), (OF_TASKS, "task_1", "records_of_task")]
        {
            let sql = format!("EXPLAIN QUERY PLAN {COLUMNS} WHERE {condition} AND headers = ? ORDER BY cursor");
            let plan: String = file.connection.query_row(&sql, [headers(run)], |row| row.get(3)).unwrap();
            assert!(plan.contains(index), "{plan}");
        }
        let mut found = Vec::new();
        file.of_task("task_1", |record| found.push(record.payload.get("n").as_int().unwrap())).unwrap();
        assert_eq!(found, [1, 3]);
    }
}
