//! Subscriptions: history from the file, then what comes, also from other processes.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

use crate::event_log::{Filter, LogError, Record, Subscription};
use crate::seam::{Answer, BlockingPool, Local, Outcome, fault, run_blocking};

use super::{Inner, LogFile};

/// Records that are read at a time.
const PAGE: usize = 256;

/// Reads the file page by page. Cursors follow the order of commits, so no record can appear after its page was read.
pub(super) struct Follower {
    reading: Reading,
    page: VecDeque<Arc<Record>>,
    /// Pool that reads the pages; without it the waiting thread reads them.
    pool: Option<Rc<dyn BlockingPool>>,
    waiter: u64,
}

/// The read position of a subscription. Moves to the reading thread and back.
#[derive(Clone)]
struct Reading {
    log: Arc<Inner>,
    filter: Filter,
    /// The cursor of the last record that was looked at; `None` until the file could be asked for the oldest one.
    position: Option<u64>,
    /// The version of the file when it had nothing more.
    exhausted_at: Option<i64>,
}

impl Reading {
    /// Reads the next page. It is empty if the file has nothing more.
    fn page(&mut self, flushes: bool) -> Result<Vec<Arc<Record>>, LogError> {
        if flushes {
            self.log.shared.flush()?;
        }
        // Asked for first: a commit between this and the look makes another look, not a gap.
        let version = self.log.read_now(LogFile::version)?;
        if self.exhausted_at == Some(version) {
            return Ok(Vec::new());
        }
        let position = match self.position {
            Some(position) => position,
            None => self.log.read_now(LogFile::oldest)?,
        };
        let filter = Filter { after: position, ..self.filter.clone() };
        match self.log.read_now(|file| file.page(&filter, PAGE, true)) {
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
    pub(super) fn new(log: Arc<Inner>, filter: Filter) -> Follower {
        // If the file cannot be read now, the first record is asked for later, and so is the failure.
        let position = if filter.after > 0 { Some(filter.after) } else { log.read_now(LogFile::oldest).ok() };
        let waiter = log.shared.waiter();
        let reading = Reading { log, filter, position, exhausted_at: None };
        Follower { reading, page: VecDeque::new(), pool: None, waiter }
    }

    fn take(&mut self, page: Result<Vec<Arc<Record>>, LogError>) -> Outcome<Option<Arc<Record>>> {
        self.page = page.map_err(fault)?.into();
        Ok(self.page.pop_front())
    }

    /// Reads the next page and takes its first record.
    async fn turn_page(&mut self, flushes: bool) -> Outcome<Option<Arc<Record>>> {
        let Some(pool) = self.pool.clone() else {
            let page = self.reading.page(flushes);
            return self.take(page);
        };
        // A copy: if the wait ends, the next one reads the same page again.
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

    fn no_thread(&self, error: &std::io::Error) -> Rc<dyn crate::seam::Fault> {
        let why = format!("could not start a thread to read it ({error})");
        fault(LogError::CannotOpen { path: self.reading.log.path.clone(), why })
    }
}

impl Subscription for Follower {
    fn read_on(&mut self, pool: Rc<dyn BlockingPool>) {
        self.pool = Some(pool);
    }

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

    fn next(&mut self) -> Local<'_, Outcome<Option<Arc<Record>>>> {
        Box::pin(async move {
            if let Some(record) = self.page.pop_front() {
                return Ok(Some(record));
            }
            loop {
                let (log, waiter) = (self.reading.log.clone(), self.waiter);
                // Watched for first, so that no commit falls between the look and the wait.
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
