//! [`Subscription`]: one subscriber of a task.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use a2a::Frame;

use super::update_window::WindowRead;
use super::{FeedItem, FeedState, FeedUpdate};
use crate::window::WindowReader;

/// A subscriber of a task. Dropping it ends the subscription and nothing else.
pub struct Subscription {
    shared: Arc<FeedState>,
    /// The frame that comes before anything else.
    first: Option<Frame>,
    /// The read position: `None` after the last item.
    reader: Option<WindowReader>,
}

impl Subscription {
    pub(super) fn new(shared: Arc<FeedState>, first: Frame, is_last: bool) -> Subscription {
        let reader = (!is_last).then(|| {
            shared.followers.fetch_add(1, Ordering::AcqRel);
            shared.window().enter()
        });
        Subscription { shared, first: Some(first), reader }
    }

    /// Returns whether updates were dropped that it has not read.
    #[must_use]
    pub fn has_lagged(&self) -> bool {
        self.reader.as_ref().is_some_and(|reader| self.shared.window().has_lagged(reader))
    }

    /// Returns the next item: `None` after the last one, [`FeedItem::Lagged`] or [`FeedItem::Left`]. Dropping the
    /// future loses nothing.
    pub async fn next(&mut self) -> Option<FeedItem> {
        if let Some(first) = self.first.take() {
            return Some(FeedItem::Update(Arc::new(FeedUpdate::Frame(first)), self.reader.is_none()));
        }
        let shared = self.shared.clone();
        loop {
            if let Some(next) = self.now() {
                return next;
            }
            let mut news = pin!(shared.news.notified());
            news.as_mut().enable();
            // Updates from before it listened sent no notification.
            if let Some(next) = self.now() {
                return next;
            }
            news.await;
        }
    }

    /// Returns the item that is already there, or `None` if the caller must wait for one.
    fn now(&mut self) -> Option<Option<FeedItem>> {
        let Some(reader) = &mut self.reader else { return Some(None) };
        let found = self.shared.window().read(reader);
        match found {
            WindowRead::Nothing => None,
            WindowRead::End => {
                self.leave();
                Some(None)
            }
            WindowRead::Next(next) => {
                if matches!(next, FeedItem::Lagged | FeedItem::Left | FeedItem::Update(_, true)) {
                    self.leave();
                }
                Some(Some(next))
            }
        }
    }

    fn leave(&mut self) {
        if let Some(reader) = self.reader.take() {
            self.shared.window().leave(reader);
            self.shared.followers.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.leave();
    }
}
