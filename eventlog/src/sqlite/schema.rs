//! The layout of the file, its migrations, and the detection of logs.

use std::path::Path;
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};
use rusqlite_migration::{M, Migrations};

use crate::LogError;

use super::file::PayloadIndex;
use super::open::failed;

/// `PRAGMA application_id` of our files: "hrnL".
pub(super) const APPLICATION: i64 = 0x6872_6e4c;
/// `PRAGMA user_version`: the latest layout.
pub(super) const LAYOUT: i64 = 3;

/// Layout 1. Counters are in separate tables, so that no id or cursor is reused, whatever is deleted.
const TABLES: &str = "
    PRAGMA application_id = 0x68726e4c;
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

/// Indexes that files of layout 1 may also contain.
const INDEXES_OF_LAYOUT_1: &str = "
    CREATE INDEX IF NOT EXISTS records_of_session ON records (headers, topic)
        WHERE headers >= '{\"run_id\":\"sess_' AND headers < '{\"run_id\":\"sess`';
    CREATE INDEX IF NOT EXISTS records_of_task ON records (headers, topic)
        WHERE headers >= '{\"run_id\":\"task_' AND headers < '{\"run_id\":\"task`';
";

/// Layout 2: the run of a record is a column with an index.
const RUN_ID_COLUMN: &str = "
    DROP INDEX IF EXISTS records_of_session;
    DROP INDEX IF EXISTS records_of_task;
    ALTER TABLE records ADD COLUMN run_id TEXT;
    UPDATE records SET run_id = CASE WHEN json_type(headers, '$.run_id') = 'text' THEN headers ->> '$.run_id' END
        WHERE json_valid(headers);
    CREATE INDEX records_by_run ON records (run_id, topic) WHERE run_id IS NOT NULL;
    DROP VIEW log;
    CREATE VIEW log AS
        SELECT cursor, topics.name AS topic, id, kind, payload, headers, occurred_at_ms, run_id
        FROM records JOIN topics ON topics.key = records.topic;
";

/// Layout 3: what is known of each subject, which is the run of its records. The first number of a file that is migrated is
/// that of the records that it still has.
const SUBJECTS: &str = "
    CREATE TABLE subjects (
        name TEXT PRIMARY KEY,
        sequence INTEGER NOT NULL,
        last_cursor INTEGER NOT NULL,
        state TEXT,
        epoch INTEGER NOT NULL DEFAULT 0,
        owner TEXT,
        machine_start TEXT,
        until_ms INTEGER NOT NULL DEFAULT 0,
        trimmed_before INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX subjects_by_cursor ON subjects (last_cursor);
    CREATE INDEX subjects_by_state ON subjects (state, last_cursor) WHERE state IS NOT NULL;
    CREATE TABLE requests (
        subject TEXT NOT NULL,
        request_id TEXT NOT NULL,
        first_cursor INTEGER NOT NULL,
        last_cursor INTEGER NOT NULL,
        sequence INTEGER NOT NULL,
        PRIMARY KEY (subject, request_id)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO subjects (name, sequence, last_cursor)
        SELECT run_id, count(*), max(cursor) FROM records WHERE run_id IS NOT NULL GROUP BY run_id;
    ALTER TABLE head ADD COLUMN trimmed_before INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE head ADD COLUMN swept_before INTEGER NOT NULL DEFAULT 0;
";

/// An object that files of layout 2 and later may contain: in a log with channels, it keeps the records that say who may do
/// what when people delete old ones. Such a record is an enrolment, a revocation, or the opening of a session for an
/// account. Connections of ours run no triggers.
const KEEP_GRANTS: &str = "
    CREATE TRIGGER IF NOT EXISTS keep_grants BEFORE DELETE ON records
        WHEN OLD.kind IN ('channel.enrolled', 'channel.revoked')
            OR OLD.kind = 'channel.action' AND instr(OLD.payload, '\"account_ref\"') > 0
        BEGIN SELECT RAISE(IGNORE); END;
";

/// The kinds of records that [`keep_grants`] keeps, as a list of SQL.
pub(super) const GRANTS: &str = "'channel.enrolled', 'channel.revoked', 'channel.action'";

/// Lets a file keep the records that say who may do what.
pub(super) fn keep_grants(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(KEEP_GRANTS)
}

/// The statements that lead from each layout to the next.
const LAYOUTS: [&str; LAYOUT as usize] = [TABLES, RUN_ID_COLUMN, SUBJECTS];

/// Migrations from each layout to the next.
static MIGRATIONS: LazyLock<Migrations<'static>> =
    LazyLock::new(|| Migrations::new(LAYOUTS.iter().copied().map(M::up).collect()));

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FoundLayout {
    /// A database without tables.
    Empty,
    /// A log of an earlier layout.
    Earlier,
    /// A log of the latest layout.
    Latest,
}

/// Inspects a file without changing it.
///
/// # Errors
/// Fails if it is not an event log or has a later version.
pub(super) fn look(connection: &Connection, path: &Arc<Path>, timeout: Duration) -> Result<FoundLayout, LogError> {
    // One statement sees one state of the file; another process may be creating the tables at this moment.
    let sql = "SELECT (SELECT count(*) FROM sqlite_master), (SELECT application_id FROM pragma_application_id), \
               (SELECT user_version FROM pragma_user_version)";
    let columns = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?));
    let (tables, application, layout) =
        connection.query_row(sql, [], columns).map_err(|error| failed(path, &error, timeout))?;
    let foreign = |what: String| Err(LogError::Foreign { path: path.clone(), what });
    match (application, layout) {
        (APPLICATION, 1..=LAYOUT) if tables > 0 => {
            match stranger(connection, layout).map_err(|error| failed(path, &error, timeout))? {
                None if layout == LAYOUT => Ok(FoundLayout::Latest),
                None => Ok(FoundLayout::Earlier),
                Some(what) => foreign(what),
            }
        }
        (APPLICATION, found) if found > LAYOUT => Err(LogError::Newer { path: path.clone(), found, known: LAYOUT }),
        (0, 0) if tables == 0 => Ok(FoundLayout::Empty),
        (0, _) => foreign("it is a SQLite database with other tables".to_owned()),
        (APPLICATION, found) => foreign(format!("it has the unknown layout {found}")),
        (other, _) => foreign(format!("it is the SQLite database of another application ({other:#x})")),
    }
}

/// Finds an object in the file that no log of its layout has. A trigger, a view or an index over an expression would
/// run for every written record, so a file is used only if its schema matches ours exactly.
fn stranger(connection: &Connection, layout: i64) -> rusqlite::Result<Option<String>> {
    static OURS: [OnceLock<Vec<String>>; LAYOUT as usize] = [const { OnceLock::new() }; LAYOUT as usize];
    let earlier = usize::try_from(layout - 1).unwrap_or(0).min(OURS.len() - 1);
    let known = &OURS[earlier];
    let ours = match known.get() {
        Some(ours) => ours,
        None => {
            let model = Connection::open_in_memory()?;
            for (index, step) in LAYOUTS.iter().take(earlier + 1).enumerate() {
                model.execute_batch(step)?;
                if index == 0 {
                    model.execute_batch(INDEXES_OF_LAYOUT_1)?;
                }
            }
            if earlier > 0 {
                keep_grants(&model)?;
                PayloadIndex::create_all(&model)?;
            }
            let found = objects(&model)?.into_iter().map(|(_, text)| text).collect();
            known.get_or_init(|| found)
        }
    };
    let strange = objects(connection)?.into_iter().find(|(_, text)| !ours.contains(text));
    Ok(strange.map(|(name, _)| format!("it contains {name}, which is not part of an event log")))
}

/// Returns at most 64 objects of a schema, more than ours has: a name to show, and all that SQLite knows of each.
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

/// Migrates a file to the latest layout, unless another process does so first. A file is migrated as a whole or not at
/// all.
pub(super) fn migrate(connection: &mut Connection, path: &Arc<Path>, timeout: Duration) -> Result<(), LogError> {
    // Locked at once, so that two processes wait for each other and neither fails half way.
    connection.set_transaction_behavior(TransactionBehavior::Immediate);
    let Err(error) = MIGRATIONS.to_latest(connection) else { return Ok(()) };
    match look(connection, path, timeout)? {
        FoundLayout::Latest => Ok(()),
        FoundLayout::Empty | FoundLayout::Earlier => Err(match error {
            rusqlite_migration::Error::RusqliteError { err, .. } => failed(path, &err, timeout),
            other => LogError::CannotOpen { path: path.clone(), why: other.to_string() },
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_migrations_lead_to_the_latest_layout() {
        let mut connection = Connection::open_in_memory().unwrap();
        MIGRATIONS.to_latest(&mut connection).unwrap();
        let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!((number("user_version"), number("application_id")), (LAYOUT, APPLICATION));
        assert_eq!(look(&connection, &Path::new("log").into(), Duration::ZERO), Ok(FoundLayout::Latest));
    }

    #[test]
    fn the_run_of_a_record_becomes_a_column() {
        let mut connection = Connection::open_in_memory().unwrap();
        MIGRATIONS.to_version(&mut connection, 1).unwrap();
        connection.execute_batch(INDEXES_OF_LAYOUT_1).unwrap();
        connection.execute_batch("INSERT INTO topics VALUES (1, 't', 6)").unwrap();
        let headers = [
            Some(r#"{"run_id":"sess_1"}"#),
            Some(r#"{"trace":1,"run_id":"another"}"#),
            Some(r#"{"run_id":7}"#),
            Some("[1]"),
            Some("not JSON"),
            None,
        ];
        for (cursor, headers) in (1..).zip(headers) {
            let sql = "INSERT INTO records VALUES (?1, 1, ?1, 'k', '{}', ?2, 0)";
            connection.execute(sql, rusqlite::params![cursor, headers]).unwrap();
        }
        assert_eq!(look(&connection, &Path::new("log").into(), Duration::ZERO), Ok(FoundLayout::Earlier));
        MIGRATIONS.to_version(&mut connection, 2).unwrap();
        assert_eq!(look(&connection, &Path::new("log").into(), Duration::ZERO), Ok(FoundLayout::Earlier));
        MIGRATIONS.to_latest(&mut connection).unwrap();
        let subjects = "SELECT name, sequence, last_cursor FROM subjects ORDER BY name";
        let mut select = connection.prepare(subjects).unwrap();
        let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        let rows: Vec<(String, i64, i64)> = rows.map(Result::unwrap).collect();
        assert_eq!(rows, [("another".to_owned(), 1, 2), ("sess_1".to_owned(), 1, 1)]);
        let mut select = connection.prepare("SELECT run_id FROM records ORDER BY cursor").unwrap();
        let runs = select.query_map([], |row| row.get::<_, Option<String>>(0)).unwrap();
        let runs: Vec<Option<String>> = runs.map(Result::unwrap).collect();
        assert_eq!(runs, [Some("sess_1".to_owned()), Some("another".to_owned()), None, None, None, None]);
        assert_eq!(look(&connection, &Path::new("log").into(), Duration::ZERO), Ok(FoundLayout::Latest));
    }
}
