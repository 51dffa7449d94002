//! The log in a file as a [`Log`].

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use crate::log::{
    Append, Batch, ClaimError, Lease, LiveFeed, Log, LogFuture, Page, Query, Subject, SubjectQuery, Tail, TailItem,
};
use crate::{LogError, NewRecord, Ticket};

use super::queue::{DurabilityWait, ReplyWait};
use super::{SqliteInner, SqliteLog, subjects};

/// Number of records that a tail reads at a time.
const PAGE: usize = 256;

impl SqliteInner {
    /// Waits until what was appended here can be read.
    async fn visible(&self) -> Result<(), LogError> {
        DurabilityWait::new(self.shared.clone(), self.shared.visible_upto()).await
    }
}

impl Log for SqliteLog {
    fn append(&self, mut batch: Batch) -> Append {
        batch.stamp();
        let too_large = batch.records.iter().map(NewRecord::weight).find(|weight| *weight > NewRecord::MOST);
        if let Some(bytes) = too_large {
            return Append::now(Ticket::NONE, Err(LogError::TooLarge { bytes, most: NewRecord::MOST }.into()));
        }
        match ReplyWait::append(self.0.shared.clone(), batch) {
            Ok((ticket, written)) => Append::later(Ticket(ticket), written),
            Err(refused) => Append::now(Ticket::NONE, Err(refused)),
        }
    }

    fn read(&self, query: Query, limit: usize) -> LogFuture<'static, Result<Page, LogError>> {
        let log = self.0.clone();
        Box::pin(async move {
            log.visible().await?;
            log.readers.read(move |file| file.query(&query, limit)).await
        })
    }

    fn tail(&self, query: Query) -> Box<dyn Tail> {
        let log = self.0.clone();
        let query = Query { before: None, backwards: false, ..query };
        Box::new(SqliteTail {
            waiter: log.shared.waiter(),
            told: query.after + 1,
            items: VecDeque::new(),
            has_begun: false,
            log,
            query,
        })
    }

    fn claim(
        &self,
        subject: Arc<str>,
        owner: Arc<str>,
        ttl: Duration,
    ) -> LogFuture<'static, Result<Lease, ClaimError>> {
        let log = self.0.clone();
        Box::pin(async move {
            let clock = log.clock.clone();
            log.readers.change(move |file| subjects::claim(file, &subject, &owner, ttl, &clock)).await
        })
    }

    fn renew(&self, lease: Lease, ttl: Duration) -> LogFuture<'static, Result<(), ClaimError>> {
        let log = self.0.clone();
        Box::pin(async move {
            let clock = log.clock.clone();
            log.readers.change(move |file| subjects::renew(file, &lease, Some(ttl), &clock)).await
        })
    }

    fn release(&self, lease: Lease) -> LogFuture<'static, Result<(), LogError>> {
        let log = self.0.clone();
        Box::pin(async move {
            let clock = log.clock.clone();
            let release = move |file: &rusqlite::Connection| subjects::renew(file, &lease, None, &clock);
            match log.readers.change(release).await {
                Ok(()) | Err(ClaimError::Ended { .. } | ClaimError::Held { .. }) => Ok(()),
                Err(ClaimError::Unavailable(error)) => Err(error),
            }
        })
    }

    fn owner_of(&self, subject: Arc<str>) -> LogFuture<'static, Result<Option<Lease>, LogError>> {
        let log = self.0.clone();
        Box::pin(async move {
            let clock = log.clock.clone();
            log.readers.read(move |file| file.ask(|rows| subjects::owner_of(rows, &subject, &clock))).await
        })
    }

    fn subjects(&self, query: SubjectQuery) -> LogFuture<'static, Result<Vec<Subject>, LogError>> {
        let log = self.0.clone();
        Box::pin(async move {
            log.visible().await?;
            let clock = log.clock.clone();
            log.readers.read(move |file| file.ask(|rows| subjects::select(rows, &query, &clock))).await
        })
    }

    fn trim(&self, subject: Arc<str>, before: u64) -> LogFuture<'static, Result<u64, LogError>> {
        let log = self.0.clone();
        Box::pin(async move {
            log.visible().await?;
            let mut removed = 0;
            loop {
                let subject = subject.clone();
                // Others change the file between two steps.
                let step =
                    move |file: &rusqlite::Connection| subjects::trim(file, &subject, before).map(Ok::<_, LogError>);
                let (here, may_follow) = log.readers.change(step).await?;
                removed += here;
                if !may_follow {
                    return Ok(removed);
                }
            }
        })
    }

    fn live(&self, subject: &str) -> LiveFeed {
        self.0.live.feed(subject)
    }
}

/// Reads the file page by page. Cursors follow the order of commits, so no record can appear after its page was read.
struct SqliteTail {
    log: Arc<SqliteInner>,
    /// Selects what comes next.
    query: Query,
    items: VecDeque<TailItem>,
    /// Cursor up to which the reader knows of removed records.
    told: u64,
    waiter: u64,
    /// Whether what was appended before the first wait can be read.
    has_begun: bool,
}

impl SqliteTail {
    /// Reads the next page. Nothing is lost if the wait for it is given up.
    async fn turn_page(&mut self) -> Result<(), LogError> {
        let query = self.query.clone();
        let (page, upto) = self.log.readers.page(move |file| file.query_upto(&query, PAGE)).await?;
        if page.trimmed_before > self.told.max(self.query.after + 1) {
            self.told = page.trimmed_before;
            self.items.push_back(TailItem::Gap { before: page.trimmed_before });
        }
        self.items.extend(page.records.into_iter().map(TailItem::Record));
        self.query.after = upto;
        Ok(())
    }
}

impl Tail for SqliteTail {
    fn next(&mut self) -> LogFuture<'_, Result<TailItem, LogError>> {
        Box::pin(async move {
            if !self.has_begun {
                self.log.visible().await?;
                self.has_begun = true;
            }
            loop {
                if let Some(item) = self.items.pop_front() {
                    return Ok(item);
                }
                let (log, waiter) = (self.log.clone(), self.waiter);
                // Registered first, so that no commit falls between the check and the wait.
                poll_fn(|cx| {
                    log.shared.watch(waiter, cx.waker());
                    Poll::Ready(())
                })
                .await;
                let read = self.turn_page().await;
                if read.is_err() || !self.items.is_empty() {
                    log.shared.unwatch(waiter);
                    read?;
                    continue;
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

impl Drop for SqliteTail {
    fn drop(&mut self) {
        self.log.shared.unwatch(self.waiter);
    }
}
