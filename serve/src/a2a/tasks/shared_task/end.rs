//! The end of a task: recorded first, then reported. A task left to the next process does not end here.

use std::sync::Arc;

use a2a::Frame;
use eventlog::Ticket;

use super::super::state_machine::TaskEnd;
use super::SharedTask;
use crate::a2a::feed::FeedUpdate;
use crate::a2a::reminder::PeerReminderEvent;
use crate::clock::now_ms;
use crate::host::ReminderEvent;

impl SharedTask {
    /// Ends the task. The end is reported only once it is durable; a log that cannot be written does not delay it.
    pub(in crate::a2a::tasks) async fn end(&self, how: TaskEnd, agent_id: &str) {
        let Some((frames, last)) = self.begin_end(how, agent_id) else { return };
        let _ = self.journal.settled(last).await;
        self.finish_end(&frames);
    }

    /// Ends the task like [`SharedTask::end`], without waiting.
    pub(in crate::a2a::tasks) fn end_now(&self, how: TaskEnd, agent_id: &str) {
        if let Some((frames, _)) = self.begin_end(how, agent_id) {
            self.finish_end(&frames);
        }
    }

    /// Begins the end. Returns `None` if the next process continues the task: it would have to revoke the end.
    fn begin_end(&self, how: TaskEnd, agent_id: &str) -> Option<(Vec<Frame>, Ticket)> {
        let mut state = self.lock();
        if state.is_left || state.machine.is_stopped(&how) && self.journal.leave(&self.id, state.machine.asks()) {
            state.is_left = true;
            state.handle = None;
            self.feed.leave();
            drop(state);
            self.changed.notify_waiters();
            return None;
        }
        let handle = state.handle.take();
        if !state.machine.is_over() {
            state.before_end = Some(state.machine.task());
            // What was injected for this task must not reach the next task of its session, so what is still queued
            // ends with the task.
            let inbox = handle.as_ref().and_then(|handle| handle.inbox().ok());
            state.machine.has_undelivered(self.injections.withdraw_messages(inbox));
            for reminder_id in self.injections.withdraw(inbox) {
                if self.feed.is_followed() {
                    let reminded = PeerReminderEvent::of(ReminderEvent::cleared(reminder_id), &self.injections);
                    self.feed.tell(&FeedUpdate::Reminder(Arc::new(reminded)), false);
                }
            }
        }
        let now = now_ms();
        let out = state.machine.end(how, agent_id, now);
        let frames = self.put(&mut state, out, now);
        Some((frames, state.last))
    }

    fn finish_end(&self, frames: &[Frame]) {
        let mut state = self.lock();
        state.before_end = None;
        frames.iter().for_each(|frame| self.tell(frame));
        drop(state);
        self.changed.notify_waiters();
    }
}
