//! What those who follow a task are told of it. Each has a bounded buffer of its own: who does not take what is told is cut off,
//! and the task never waits.

use std::sync::Arc;

use stdlib::a2a::Frame;

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

/// All who follow one task.
#[derive(Default)]
pub struct Feed {}

impl Feed {
    /// One more follows; it is told `first` before anything else, and where that is the last nothing more.
    pub fn follow(&self, _first: Frame, _is_last: bool) -> Subscription {
        todo!()
    }

    /// Tells all. Never waits. After the last all subscriptions that there are end; who follows later is told what comes then
    /// (a task that waits for its caller ends the streams, and goes on).
    pub fn tell(&self, _told: &Told, _is_last: bool) {
        todo!()
    }
}

/// One who follows a task. Dropping it ends that, and nothing else.
pub struct Subscription {}

impl Subscription {
    /// What comes next; nothing after the last.
    pub async fn next(&mut self) -> Option<Next> {
        todo!()
    }
}
