//! Interruption of long statements. An untrusted file can make one long by millions of objects in its schema, or of
//! records in a topic. While a statement runs, SQLite asks after a fixed number of steps whether to go on.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use rusqlite::Connection;

/// Number of steps of SQLite's machine between two checks: less than a millisecond.
const STEPS: i32 = 10_000;

/// Number of rows that are skipped between two checks.
pub(super) const ROWS: u64 = 1_000;

thread_local! {
    /// Deadline for reads of this thread.
    static UNTIL: Cell<Option<Instant>> = const { Cell::new(None) };
    /// Set once no caller waits for what this thread reads.
    static GIVEN_UP: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Function that returns whether the work of this thread must stop.
static ASK: OnceLock<fn() -> bool> = OnceLock::new();

/// Sets the function that returns, on a reading thread, whether its run must stop. The first call wins.
pub fn ask_while_reading(must_stop: fn() -> bool) {
    let _ = ASK.set(must_stop);
}

/// Runs work whose statements on this thread are ended after a time.
pub fn within<T>(time: Duration, work: impl FnOnce() -> T) -> T {
    struct RestoreDeadline(Option<Instant>);
    impl Drop for RestoreDeadline {
        fn drop(&mut self) {
            UNTIL.set(self.0);
        }
    }
    let new = Instant::now().checked_add(time);
    let old = UNTIL.get();
    let _restore = RestoreDeadline(UNTIL.replace(old.into_iter().chain(new).min()));
    work()
}

/// Runs work whose statements on this thread are ended once `given_up` is set.
pub fn while_wanted<T>(given_up: Arc<AtomicBool>, work: impl FnOnce() -> T) -> T {
    struct RestoreGivenUp(Option<Arc<AtomicBool>>);
    impl Drop for RestoreGivenUp {
        fn drop(&mut self) {
            GIVEN_UP.set(self.0.take());
        }
    }
    let _restore = RestoreGivenUp(GIVEN_UP.replace(Some(given_up)));
    work()
}

/// Returns whether statements of this thread must stop.
pub(super) fn must_stop() -> bool {
    if GIVEN_UP.with_borrow(|given_up| given_up.as_ref().is_some_and(|it| it.load(Ordering::Relaxed))) {
        return true;
    }
    UNTIL.get().is_some_and(|until| Instant::now() >= until) || ASK.get().is_some_and(|ask| ask())
}

/// Installs the check in a connection.
pub(super) fn watch(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.progress_handler(STEPS, Some(must_stop))
}

/// Returns the error of an interrupted statement.
pub(super) fn ended() -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_INTERRUPT), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDLESS: &str = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c";

    #[test]
    fn a_statement_that_nobody_waits_for_is_ended() {
        let mut connection = Connection::open_in_memory().unwrap();
        watch(&mut connection).unwrap();
        let given_up = Arc::new(AtomicBool::new(false));
        let (begins, begun) = std::sync::mpsc::channel();
        let read = std::thread::spawn({
            let given_up = given_up.clone();
            move || {
                begins.send(()).unwrap();
                while_wanted(given_up, || connection.query_row(ENDLESS, [], |row| row.get::<_, i64>(0)).unwrap_err())
            }
        });
        begun.recv().unwrap();
        given_up.store(true, Ordering::Relaxed);
        let error = read.join().unwrap();
        assert_eq!(error.sqlite_error_code(), Some(rusqlite::ErrorCode::OperationInterrupted));
    }

    #[test]
    fn a_statement_without_an_end_is_ended_after_its_time() {
        let mut connection = Connection::open_in_memory().unwrap();
        watch(&mut connection).unwrap();
        let count = |connection: &Connection| connection.query_row(ENDLESS, [], |row| row.get::<_, i64>(0));
        let error = within(Duration::from_millis(50), || {
            // A longer limit inside of a shorter one has no effect.
            within(Duration::from_secs(3600), || count(&connection)).unwrap_err()
        });
        assert_eq!(error.sqlite_error_code(), Some(rusqlite::ErrorCode::OperationInterrupted));
        // The limit ends with the work.
        assert!(UNTIL.get().is_none());
        assert_eq!(connection.query_row("SELECT 1", [], |row| row.get(0)), Ok(1));
    }
}
