//! Bounded delivery of task updates to subscribers: a slow subscriber is cut off, and the task never waits.
//!
//! - [`Feed`]: all subscribers of one task. They share one `Window` of pending updates.
//! - [`Subscription`]: one subscriber.

mod chunks;
mod subscription;
mod update_window;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use a2a::Frame;
use tokio::sync::Notify;

use super::reminder::PeerReminderEvent;

pub use subscription::Subscription;
use update_window::UpdateWindow;
pub use update_window::{MAX_CONTENT, MAX_THINGS};

/// An update of a task.
#[derive(Debug, Clone, PartialEq)]
pub enum FeedUpdate {
    /// A frame of the protocol.
    Frame(Frame),
    /// A reminder of its session was queued, delivered or dropped.
    Reminder(Arc<PeerReminderEvent>),
}

/// The next item of a subscription.
#[derive(Debug, Clone, PartialEq)]
pub enum FeedItem {
    /// An update, and whether it is the last.
    Update(Arc<FeedUpdate>, bool),
    /// The subscriber was too slow; nothing more follows.
    Lagged,
    /// The server stops while the task is not over; nothing more follows here.
    Left,
}

/// All subscribers of one task. Dropping it ends their subscriptions.
#[derive(Default)]
pub struct Feed(Arc<FeedState>);

#[derive(Default)]
struct FeedState {
    window: Mutex<UpdateWindow>,
    /// The number of subscribers. It is read without the lock, so that an update without subscribers costs nothing.
    followers: AtomicUsize,
    news: Notify,
}

impl FeedState {
    /// Takes a poisoned lock all the same: every operation leaves the window consistent.
    fn window(&self) -> MutexGuard<'_, UpdateWindow> {
        self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Feed {
    /// Adds a subscriber. It gets `first` before anything else; if that is the last item, nothing follows. No update
    /// may come between the read of `first` and this call, so the caller must hold a lock over both.
    #[must_use]
    pub fn follow(&self, first: Frame, is_last: bool) -> Subscription {
        Subscription::new(self.0.clone(), first, is_last)
    }

    /// Sends an update to all subscribers, without waiting. The last update ends the current subscriptions. Later
    /// subscribers get the updates that follow: a task that waits for its caller ends the streams, and goes on.
    pub fn tell(&self, feed_update: &FeedUpdate, is_last: bool) {
        if !self.is_followed() {
            return;
        }
        let feed_update = Arc::new(feed_update.clone());
        self.0.window().push(feed_update, is_last);
        self.0.news.notify_waiters();
    }

    /// Ends all subscriptions with [`FeedItem::Left`], after the pending updates: the task is left to the next process.
    pub fn leave(&self) {
        self.0.window().abandon();
        self.0.news.notify_waiters();
    }

    /// Returns whether there are subscribers. Without any, updates need not be built.
    #[must_use]
    pub fn is_followed(&self) -> bool {
        self.0.followers.load(Ordering::Acquire) > 0
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.0.window().end();
        self.0.news.notify_waiters();
    }
}

#[cfg(test)]
mod tests;
