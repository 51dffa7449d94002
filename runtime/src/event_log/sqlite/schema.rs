//! The layout of the file, and whether a file is one of ours.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::event_log::LogError;

use super::open::failed;

/// `PRAGMA application_id` of our files: "hrnL".
pub(super) const APPLICATION: i64 = 0x6872_6e4c;
/// `PRAGMA user_version`: the layout.
pub(super) const LAYOUT: i64 = 1;

/// Counters stand in tables of their own, so that ids and cursors are never given twice, whatever is deleted.
const TABLES: &str = "
    CREATE TABLE head (last_cursor INTEGER NOT NULL) STRICT;
    INSERT INTO head VALUES (0);
    CREATE TABLE topics (
        key INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        last_id INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE records (
        cursor INTEGER PRIMARY KEY,
        topic INTEGER NOT NULL REFERENCES topics (key),
        id INTEGER NOT NULL,
        kind TEXT NOT NULL,
        payload TEXT NOT NULL,
        headers TEXT,
        occurred_at_ms INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX records_by_topic ON records (topic);
    CREATE VIEW log AS
        SELECT cursor, topics.name AS topic, id, kind, payload, headers, occurred_at_ms
        FROM records JOIN topics ON topics.key = records.topic;
";

/// Served sessions and tasks are runs of their own, and these find their records. Others cost two comparisons. Whoever reads by
/// one names the same condition, [`OF_SESSIONS`] or [`OF_TASKS`].
const INDEXES: &str = "
    CREATE INDEX IF NOT EXISTS records_of_session ON records (headers, topic)
        WHERE headers >= '{\"run_id\":\"sess_' AND headers < '{\"run_id\":\"sess`';
    CREATE INDEX IF NOT EXISTS records_of_task ON records (headers, topic)
        WHERE headers >= '{\"run_id\":\"task_' AND headers < '{\"run_id\":\"task`';
";

/// The condition under which a record belongs to a served session.
pub(super) const OF_SESSIONS: &str = "headers >= '{\"run_id\":\"sess_' AND headers < '{\"run_id\":\"sess`'";

/// The condition under which a record belongs to a task.
pub(super) const OF_TASKS: &str = "headers >= '{\"run_id\":\"task_' AND headers < '{\"run_id\":\"task`'";

/// What a file is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing is in it.
    Empty,
    /// It is a log of this layout.
    Log,
}

/// Looks at a file without changing it.
///
/// # Errors
/// It is something else, or of a later version.
pub(super) fn look(connection: &Connection, path: &Arc<Path>, timeout: Duration) -> Result<Found, LogError> {
    // One statement sees one state of the file; another process may be making the tables at this moment.
    let sql = "SELECT (SELECT count(*) FROM sqlite_master), (SELECT application_id FROM pragma_application_id), \
               (SELECT user_version FROM pragma_user_version)";
    let columns = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?));
    let (tables, application, layout) =
        connection.query_row(sql, [], columns).map_err(|error| failed(path, &error, timeout))?;
    let foreign = |what: String| Err(LogError::Foreign { path: path.clone(), what });
    match (application, layout) {
        (APPLICATION, LAYOUT) if tables > 0 => {
            match stranger(connection).map_err(|error| failed(path, &error, timeout))? {
                None => Ok(Found::Log),
                Some(what) => foreign(what),
            }
        }
        (APPLICATION, found) if found > LAYOUT => Err(LogError::Newer { path: path.clone(), found, known: LAYOUT }),
        (0, 0) if tables == 0 => Ok(Found::Empty),
        (0, _) => foreign("it is a SQLite database with other tables".to_owned()),
        (APPLICATION, found) => foreign(format!("it has the unknown layout {found}")),
        (other, _) => foreign(format!("it is the SQLite database of another application ({other:#x})")),
    }
}

/// Finds an object in the file that no log of ours has. A trigger, a view or an index over an expression would run with every
/// record that is written, so a file is used only if its schema is ours to the letter.
fn stranger(connection: &Connection) -> rusqlite::Result<Option<String>> {
    static OURS: OnceLock<Vec<String>> = OnceLock::new();
    let ours = match OURS.get() {
        Some(ours) => ours,
        None => {
            let model = Connection::open_in_memory()?;
            model.execute_batch(TABLES)?;
            model.execute_batch(INDEXES)?;
            let found = objects(&model)?.into_iter().map(|(_, text)| text).collect();
            OURS.get_or_init(|| found)
        }
    };
    let strange = objects(connection)?.into_iter().find(|(_, text)| !ours.contains(text));
    Ok(strange.map(|(name, _)| format!("it contains {name}, which is not part of an event log")))
}

/// The objects of a schema: a name to show, and everything that SQLite knows of each. One more than ours is enough.
fn objects(connection: &Connection) -> rusqlite::Result<Vec<(String, String)>> {
    let sql = "SELECT type, name, tbl_name, substr(sql, 1, 4096) FROM sqlite_master LIMIT 64";
    let mut select = connection.prepare(sql)?;
    let rows = select.query_map([], |row| {
        let [kind, name, table]: [String; 3] = [row.get(0)?, row.get(1)?, row.get(2)?];
        let text: Option<String> = row.get(3)?;
        let text: Vec<&str> = text.as_deref().unwrap_or_default().split_whitespace().collect();
        let shown: String = name.chars().take(40).filter(|c| !c.is_control()).collect();
        Ok((format!("a {kind} `{shown}`"), format!("{kind} {name} {table} {}", text.join(" "))))
    })?;
    rows.collect()
}

/// Makes the tables in an empty file, unless another process was faster.
pub(super) fn create(connection: &Connection, path: &Arc<Path>, timeout: Duration) -> Result<(), LogError> {
    let broken = |error: &rusqlite::Error| failed(path, error, timeout);
    let transaction =
        Transaction::new_unchecked(connection, TransactionBehavior::Immediate).map_err(|error| broken(&error))?;
    if look(&transaction, path, timeout)? == Found::Empty {
        let marks = format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {LAYOUT};");
        transaction.execute_batch(TABLES).map_err(|error| broken(&error))?;
        transaction.execute_batch(&marks).map_err(|error| broken(&error))?;
    }
    transaction.commit().map_err(|error| broken(&error))
}

/// Makes the indexes where an earlier version made the file. Without them sessions and tasks are found all the same, only slower: a
/// file that cannot take them is used as it is.
pub(super) fn index(connection: &Connection) {
    let _ = connection.execute_batch(INDEXES);
}
