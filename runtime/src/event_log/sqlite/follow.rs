//! Subscriptions: history from the file, then what comes, also from other processes.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use crate::event_log::{Filter, LogError, Record, Subscription};
use crate::seam::{Local, Outcome, fault};

use super::{Inner, LogFile};

/// Records that are read at a time.
const PAGE: usize = 256;

/// Reads the file page by page. Cursors are given in the order of the commits, so nothing can turn up behind it.
pub(super) struct Follower {
    log: Arc<Inner>,
    filter: Filter,
    page: VecDeque<Arc<Record>>,
    /// Where it stands; nothing until the file could be asked for the oldest record.
    position: Option<u64>,
    /// The state of the file when nothing more was in it.
    exhausted_at: Option<i64>,
    waiter: u64,
}

impl Follower {
    pub(super) fn new(log: Arc<Inner>, filter: Filter) -> Follower {
        // Where the file cannot be read now, the first record is asked for later, and so is the failure.
        let position = if filter.after > 0 { Some(filter.after) } else { log.read_now(LogFile::oldest).ok() };
        let waiter = log.shared.waiter();
        Follower { log, filter, page: VecDeque::new(), position, exhausted_at: None, waiter }
    }

    /// The next record that is in the file.
    fn take(&mut self) -> Result<Option<Arc<Record>>, LogError> {
        if let Some(record) = self.page.pop_front() {
            return Ok(Some(record));
        }
        // Asked for first: a commit between this and the look makes another look, not a gap.
        let version = self.log.read_now(LogFile::version)?;
        if self.exhausted_at == Some(version) {
            return Ok(None);
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
                self.page = page.records.into();
                Ok(self.page.pop_front())
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

impl Subscription for Follower {
    fn try_next(&mut self) -> Outcome<Option<Arc<Record>>> {
        if self.page.is_empty() {
            self.log.shared.flush().map_err(fault)?;
        }
        self.take().map_err(fault)
    }

    fn next(&mut self) -> Local<'_, Outcome<Option<Arc<Record>>>> {
        Box::pin(poll_fn(|cx| {
            // Watched for first, so that no commit falls between the look and the wait.
            self.log.shared.watch(self.waiter, cx.waker());
            let there = self.take().map_err(fault);
            if let Ok(None) = there {
                return Poll::Pending;
            }
            self.log.shared.unwatch(self.waiter);
            Poll::Ready(there)
        }))
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.log.shared.unwatch(self.waiter);
    }
}
