//! What those who follow a task are told of it, with bounds: who does not take what is told is cut off, and the task never
//! waits.
//!
//! - [`Feed`]: all who follow one task; what they have yet to take lies in one `window`, shared by them.
//! - [`Subscription`]: one who follows.

mod chunks;
mod subscription;
mod window;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use a2a::Frame;
use tokio::sync::Notify;

use super::reminder::Reminded;

pub use subscription::Subscription;
use window::Window;
pub use window::{MAX_CONTENT, MAX_THINGS};

/// What is told of a task.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    /// A frame of the protocol.
    Frame(Frame),
    /// A reminder of its session has come or gone.
    Reminder(Arc<Reminded>),
}

/// What one who follows gets.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Something is told; whether it is the last.
    Told(Arc<Told>, bool),
    /// What came was not taken fast enough, and nothing more is told.
    Lagged,
    /// The server stops while the task is not over, and nothing more is told here.
    Left,
}

/// All who follow one task. Dropping it ends what they are told.
#[derive(Default)]
pub struct Feed(Arc<Shared>);

#[derive(Default)]
struct Shared {
    window: Mutex<Window>,
    /// How many follow; read without the lock, so that telling nobody costs nothing.
    followers: AtomicUsize,
    news: Notify,
}

impl Shared {
    /// A poisoned lock is taken all the same: no operation leaves the window half changed.
    fn window(&self) -> MutexGuard<'_, Window> {
        self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Feed {
    /// One more follows; it is told `first` before anything else, and where that is the last nothing more. Nothing may be told
    /// between looking up what `first` says and this call, so a caller holds a lock over both.
    #[must_use]
    pub fn follow(&self, first: Frame, is_last: bool) -> Subscription {
        Subscription::new(self.0.clone(), first, is_last)
    }

    /// Tells all. Never waits, whatever they do. After the last all subscriptions that there are end; who follows later is told
    /// what comes then (a task that waits for its caller ends the streams, and goes on).
    pub fn tell(&self, told: &Told, is_last: bool) {
        if !self.is_followed() {
            return;
        }
        let told = Arc::new(told.clone());
        self.0.window().push(told, is_last);
        self.0.news.notify_waiters();
    }

    /// The task is left to the next process: after what was told already, all who follow are told that, and nothing more.
    pub fn leave(&self) {
        self.0.window().abandon();
        self.0.news.notify_waiters();
    }

    /// Whether anybody follows. What is told when nobody does is told to nobody, so it need not be made.
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
