//! What those who follow a task are told of it. Each has a bounded buffer of its own: who does not take what is told is cut off,
//! and the task never waits.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stdlib::a2a::Frame;
use tokio::sync::mpsc;

use crate::host::ReminderEvent;

/// What is told of a task.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    /// A frame of the protocol.
    Frame(Frame),
    /// A reminder of its session has come or gone.
    Reminder(Arc<ReminderEvent>),
}

/// What one who follows gets.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Something is told; whether it is the last.
    Told(Told, bool),
    /// What came was not taken fast enough, and nothing more is told.
    Lagged,
}

/// The most things that wait for one who follows.
const MOST: usize = 256;

/// All who follow one task.
#[derive(Default)]
pub struct Feed(Mutex<Vec<Follower>>);

struct Follower {
    told: mpsc::Sender<Next>,
    lagged: Arc<AtomicBool>,
}

impl Feed {
    /// One more follows; it is told `first` before anything else, and where that is the last nothing more.
    pub fn follow(&self, first: Frame, is_last: bool) -> Subscription {
        let (told, found) = mpsc::channel(MOST);
        let lagged = Arc::<AtomicBool>::default();
        // There is room for the first.
        let _ = told.try_send(Next::Told(Told::Frame(first), is_last));
        if !is_last {
            self.lock().push(Follower { told, lagged: lagged.clone() });
        }
        Subscription { found, lagged }
    }

    /// Tells all. Never waits. After the last all subscriptions that there are end; who follows later is told what comes then
    /// (a task that waits for its caller ends the streams, and goes on).
    pub fn tell(&self, told: &Told, is_last: bool) {
        self.lock().retain(|follower| match follower.told.try_send(Next::Told(told.clone(), is_last)) {
            Ok(()) => !is_last,
            Err(mpsc::error::TrySendError::Closed(_)) => false,
            Err(mpsc::error::TrySendError::Full(_)) => {
                follower.lagged.store(true, Ordering::Release);
                false
            }
        });
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Follower>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One who follows a task. Dropping it ends that, and nothing else.
pub struct Subscription {
    found: mpsc::Receiver<Next>,
    lagged: Arc<AtomicBool>,
}

impl Subscription {
    /// What comes next; nothing after the last.
    pub async fn next(&mut self) -> Option<Next> {
        match self.found.recv().await {
            None if self.lagged.swap(false, Ordering::AcqRel) => Some(Next::Lagged),
            next => next,
        }
    }
}
