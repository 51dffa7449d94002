//! Indexes of fields of payloads, so that what many runs have in common is found without reading their records. They hold
//! nothing that the records do not have: without one, the same is read more slowly.

use rusqlite::{Connection, Row, params};

use crate::{LogError, Record};

use super::super::progress;
use super::{LogFile, number, topic_key};

/// An index of fields of payloads, which a file of layout 2 or later may have.
pub(in crate::sqlite) struct PayloadIndex {
    name: &'static str,
    /// The columns before the fields, each with a comma after it.
    columns: &'static str,
    /// The records that it has.
    condition: &'static str,
    fields: &'static [&'static str],
}

impl PayloadIndex {
    /// The states of tasks, by run: the fields `state`, `context_id` and `process`.
    const TASK_STATES: PayloadIndex = PayloadIndex {
        name: "task_states",
        columns: "run_id, cursor, topic, kind, occurred_at_ms, ",
        condition: "kind >= 'a2a.task.' AND kind < 'a2a.task/' AND run_id IS NOT NULL",
        fields: &["state", "context_id", "process"],
    };

    /// The tasks that began with a message: the field `message_id`.
    const TASK_MESSAGES: PayloadIndex = PayloadIndex {
        name: "task_messages",
        columns: "",
        condition: "kind = 'a2a.task.created' AND run_id IS NOT NULL",
        fields: &["message_id"],
    };

    /// All indexes.
    const ALL: [PayloadIndex; 2] = [PayloadIndex::TASK_STATES, PayloadIndex::TASK_MESSAGES];

    /// Creates all indexes that a file does not have.
    pub(in crate::sqlite) fn create_all(connection: &Connection) -> rusqlite::Result<()> {
        PayloadIndex::ALL.iter().try_for_each(|index| connection.execute_batch(&index.definition()))
    }

    fn definition(&self) -> String {
        let PayloadIndex { name, columns, condition, .. } = self;
        format!("CREATE INDEX IF NOT EXISTS {name} ON records ({columns}{}) WHERE {condition}", self.expressions())
    }

    fn expressions(&self) -> String {
        // Text that is not JSON is damage, which the reader of the record reports.
        let of = |field: &&str| format!("CASE WHEN json_valid(payload) THEN payload ->> '$.{field}' END");
        self.fields.iter().map(of).collect::<Vec<_>>().join(", ")
    }

    /// Returns the query for the rows of a topic, by run and cursor.
    fn rows_in_order(&self) -> String {
        // The index is the only one that has all columns in this order.
        let (columns, fields, condition) = (self.columns, self.expressions(), self.condition);
        format!("SELECT {columns}{fields} FROM records WHERE {condition} AND +topic = ?1 ORDER BY run_id, cursor")
    }

    /// Returns the query for the records whose first field has a value.
    fn with_value(&self) -> String {
        let (value, condition) = (self.expressions(), self.condition);
        format!(
            "SELECT cursor, topic, id, kind, payload, headers, occurred_at_ms FROM records \
             WHERE {condition} AND {value} = ?1 ORDER BY cursor"
        )
    }
}

/// A row of an index by run.
pub struct IndexedRow<'a> {
    /// The run of the record.
    pub run_id: &'a str,
    /// The cursor of the record.
    pub cursor: u64,
    /// The kind of the record.
    pub kind: &'a str,
    /// The time of the record, in milliseconds since 1970-01-01 UTC.
    pub occurred_at_ms: u64,
    row: &'a Row<'a>,
}

impl<'a> IndexedRow<'a> {
    /// Number of the columns before the fields.
    const BEFORE: usize = 5;

    fn read(row: &'a Row<'a>) -> rusqlite::Result<IndexedRow<'a>> {
        Ok(IndexedRow {
            run_id: row.get_ref(0)?.as_str().unwrap_or_default(),
            cursor: number(row, 1)?,
            kind: row.get_ref(3)?.as_str().unwrap_or_default(),
            occurred_at_ms: number(row, 4)?,
            row,
        })
    }

    /// Returns the indexed field at a position, if it is a string.
    #[must_use]
    pub fn field(&self, position: usize) -> Option<&'a str> {
        self.row.get_ref(IndexedRow::BEFORE + position).ok()?.as_str().ok()
    }
}

impl LogFile {
    /// Visits the states of tasks in a topic, by run and then by cursor, from one consistent snapshot.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn task_states(&self, topic: &str, mut take: impl FnMut(&IndexedRow<'_>)) -> Result<(), LogError> {
        self.in_snapshot(|snapshot| {
            let Some(key) = topic_key(snapshot, topic)? else { return Ok(()) };
            let mut select = snapshot.prepare_cached(&PayloadIndex::TASK_STATES.rows_in_order())?;
            let mut rows = select.query([key])?;
            let mut passed = 0_u64;
            while let Some(row) = rows.next()? {
                passed += 1;
                if passed.is_multiple_of(progress::ROWS) && progress::must_stop() {
                    return Err(progress::ended().into());
                }
                take(&IndexedRow::read(row)?);
            }
            Ok(())
        })
    }

    /// Reads the records that created tasks for a message, oldest first.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn tasks_of_message(&self, message_id: &str, mut take: impl FnMut(Record)) -> Result<(), LogError> {
        self.in_snapshot(|snapshot| {
            let mut select = snapshot.prepare_cached(&PayloadIndex::TASK_MESSAGES.with_value())?;
            let mut rows = select.query(params![message_id])?;
            while let Some(row) = rows.next()? {
                take(self.record(snapshot, row)?);
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use base::data::Data;

    use super::*;
    use crate::sqlite::testing::TestFolder;
    use crate::{EventLog, NewRecord, RUN_ID, SqliteLog, SqliteOptions};

    fn write(log: &SqliteLog, run: &str, topic: &str, word: &str, message_id: Option<&str>) {
        let fields = [
            ("state", Some(word.into())),
            ("context_id", Some("c".into())),
            ("process", Some("1-1".into())),
            ("message_id", message_id.map(Data::from)),
        ];
        let payload = fields.into_iter().filter_map(|(field, value)| Some((field, value?)));
        log.append(NewRecord {
            topic: topic.into(),
            kind: format!("a2a.task.{word}").into(),
            payload: Data::dict(payload).into(),
            headers: Data::dict([(RUN_ID, Data::from(run))]),
            occurred_at_ms: 7,
        });
    }

    fn states(log: &SqliteLog) -> Vec<String> {
        let mut found = Vec::new();
        let take = |row: &IndexedRow<'_>| {
            let fields = [0, 1, 2].map(|at| row.field(at).unwrap_or("-"));
            found.push(format!("{} {} {} {}", row.run_id, row.cursor, row.occurred_at_ms, fields.join(" ")));
        };
        log.look(|file| file.task_states("a2a.task", take)).unwrap();
        found
    }

    #[test]
    fn rows_are_the_same_with_the_indexes_and_without() {
        let folder = TestFolder::new();
        let log = SqliteLog::open(folder.file(), &SqliteOptions::default()).unwrap();
        for run in ["task_2", "task_1"] {
            write(&log, run, "a2a.task", "created", Some("m"));
            write(&log, "sess_1", "session.life", "status", None);
            write(&log, run, "a2a.task", "status", None);
        }
        write(&log, "task_3", "mine", "created", Some("m"));
        let expected = ["task_1 4 7 created", "task_1 6 7 status", "task_2 1 7 created", "task_2 3 7 status"];
        let expected = expected.map(|row| format!("{row} c 1-1"));
        let of_message = |log: &SqliteLog| {
            let mut found = Vec::new();
            log.look(|file| file.tasks_of_message("m", |record| found.push(record.cursor))).unwrap();
            found
        };
        for _ in 0..2 {
            assert_eq!((states(&log), of_message(&log)), (expected.to_vec(), vec![1, 4, 7]));
            log.index_payloads().unwrap();
        }
        // Damage is left to the reader of the record.
        rusqlite::Connection::open(folder.file())
            .unwrap()
            .execute("UPDATE records SET payload = '{' WHERE cursor = 6", [])
            .unwrap();
        assert_eq!(states(&log)[1], "task_1 6 7 - - -");
        drop(log);
        // A file with them is a log.
        let log = SqliteLog::open(folder.file(), &SqliteOptions::default()).unwrap();
        assert_eq!(of_message(&log), [1, 4, 7]);
    }

    #[test]
    fn rows_are_found_in_the_indexes_alone() {
        let folder = TestFolder::new();
        let log = SqliteLog::open(folder.file(), &SqliteOptions::default()).unwrap();
        log.index_payloads().unwrap();
        drop(log);
        let file = LogFile::open(folder.file()).unwrap();
        let plan = |sql: &str| -> String {
            let mut select = file.connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let rows = select.query_map(["x"], |row| row.get::<_, String>(3)).unwrap();
            rows.map(Result::unwrap).collect::<Vec<_>>().join("\n")
        };
        let states = plan(&PayloadIndex::TASK_STATES.rows_in_order());
        assert_eq!(states, "SEARCH records USING COVERING INDEX task_states (run_id>?)");
        let messages = plan(&PayloadIndex::TASK_MESSAGES.with_value());
        assert_eq!(messages, "SEARCH records USING INDEX task_messages (<expr>=?)");
    }
}
