//! Subscriptions: history from the file, then new records, also from other processes.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

use base::call::{Answer, BlockingPool, LocalFuture, Outcome, call_error, run_blocking};

use crate::{LogError, Record, RecordFilter, Subscription};

use super::{LogFile, SqliteInner};

/// Number of records read at a time.
const PAGE: usize = 256;

/// Reads the file page by page. Cursors follow the order of commits, so no record can appear after its page was read.
pub(super) struct Follower {
    reading: FollowerState,
    page: VecDeque<Arc<Record>>,
    /// Pool that reads the pages; without it the waiting thread reads them.
    pool: Option<Rc<dyn BlockingPool>>,
    waiter: u64,
}

/// The read position of a subscription. Moves to the reading thread and back.
#[derive(Clone)]
struct FollowerState {
    log: Arc<SqliteInner>,
    filter: RecordFilter,
    /// Cursor of the last visited record; `None` until the oldest one could be queried.
    position: Option<u64>,
    /// Version of the file when it had no more records.
    exhausted_at: Option<i64>,
}

impl FollowerState {
    /// Reads the next page. It is empty if the file has no more records.
    fn page(&mut self, flushes: bool) -> Result<Vec<Arc<Record>>, LogError> {
        if flushes {
            self.log.shared.flush()?;
        }
        // Queried first: a commit between this and the read causes another read instead of a gap.
        let version = self.log.read_page(LogFile::version)?;
        if self.exhausted_at == Some(version) {
            return Ok(Vec::new());
        }
        let position = match self.position {
            Some(position) => position,
            None => self.log.read_page(LogFile::oldest)?,
        };
        let filter = RecordFilter { after: position, ..self.filter.clone() };
        match self.log.read_page(|file| file.page(&filter, PAGE, true)) {
            Ok(page) => {
                self.exhausted_at = (page.records.len() < PAGE).then_some(version);
                self.position = Some(page.upto);
                Ok(page.records)
            }
            Err(error) => {
                self.position = match &error {
                    LogError::Lagged { resume_from, .. } => Some(*resume_from),
                    _ => Some(position),
                };
                Err(error)
            }
        }
    }
}

impl Follower {
    /// Creates a follower that reads on the threads of its callers.
    pub(super) fn new(log: Arc<SqliteInner>, filter: RecordFilter) -> Follower {
        let position = if filter.after > 0 { Some(filter.after) } else { oldest(&log) };
        Follower::at(position, log, filter, None)
    }

    /// Creates a follower that reads on a pool.
    pub(super) async fn on(pool: Rc<dyn BlockingPool>, log: Arc<SqliteInner>, filter: RecordFilter) -> Follower {
        let queried = log.clone();
        let position = match filter.after {
            0 => run_blocking(pool.as_ref(), move || oldest(&queried)).await.unwrap_or_default(),
            after => Some(after),
        };
        Follower::at(position, log, filter, Some(pool))
    }

    fn at(
        position: Option<u64>,
        log: Arc<SqliteInner>,
        filter: RecordFilter,
        pool: Option<Rc<dyn BlockingPool>>,
    ) -> Follower {
        let waiter = log.shared.waiter();
        let reading = FollowerState { log, filter, position, exhausted_at: None };
        Follower { reading, page: VecDeque::new(), pool, waiter }
    }

    fn take(&mut self, page: Result<Vec<Arc<Record>>, LogError>) -> Outcome<Option<Arc<Record>>> {
        self.page = page.map_err(call_error)?.into();
        Ok(self.page.pop_front())
    }

    /// Reads the next page and returns its first record.
    async fn turn_page(&mut self, flushes: bool) -> Outcome<Option<Arc<Record>>> {
        let Some(pool) = self.pool.clone() else {
            let page = self.reading.page(flushes);
            return self.take(page);
        };
        // A copy, so that after a cancelled wait the next one reads the same page again.
        let mut reading = self.reading.clone();
        let read = move || {
            let page = reading.page(flushes);
            (reading, page)
        };
        let (reading, page) = run_blocking(pool.as_ref(), read).await.map_err(|error| self.no_thread(&error))?;
        self.reading = reading;
        let bytes = page.iter().flatten().map(|record| record.weight()).sum();
        pool.keep(bytes);
        self.take(page)
    }

    fn no_thread(&self, error: &std::io::Error) -> Rc<dyn base::call::CallError> {
        let why = format!("could not start a thread to read it ({error})");
        call_error(LogError::CannotOpen { path: self.reading.log.path.clone(), why })
    }
}

/// Returns the cursor before the oldest record. If the file cannot be read now, it is queried later, and then the
/// failure is reported.
fn oldest(log: &SqliteInner) -> Option<u64> {
    log.read_page(LogFile::oldest).ok()
}

impl Subscription for Follower {
    fn waits_for_disk(&self) -> bool {
        self.page.is_empty() && self.pool.is_some()
    }

    fn try_next(&mut self) -> Answer<'_, Outcome<Option<Arc<Record>>>> {
        match (self.page.pop_front(), &self.pool) {
            (Some(record), _) => Answer::Now(Ok(Some(record))),
            (None, None) => {
                let page = self.reading.page(true);
                Answer::Now(self.take(page))
            }
            (None, Some(_)) => Answer::later(self.turn_page(true)),
        }
    }

    fn next(&mut self) -> LocalFuture<'_, Outcome<Option<Arc<Record>>>> {
        Box::pin(async move {
            if let Some(record) = self.page.pop_front() {
                return Ok(Some(record));
            }
            loop {
                let (log, waiter) = (self.reading.log.clone(), self.waiter);
                // Registered first, so that no commit falls between the check and the wait.
                poll_fn(|cx| {
                    log.shared.watch(waiter, cx.waker());
                    Poll::Ready(())
                })
                .await;
                let record = self.turn_page(false).await;
                if !matches!(record, Ok(None)) {
                    log.shared.unwatch(waiter);
                    return record;
                }
                poll_fn(|cx| match log.shared.watches_still(waiter, cx.waker()) {
                    true => Poll::Pending,
                    false => Poll::Ready(()),
                })
                .await;
            }
        })
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.reading.log.shared.unwatch(self.waiter);
    }
}
