//! The end of a task: written down first, told then. One that is left to the next process has none here.

use std::sync::Arc;

use a2a::Frame;
use runtime::event_log::Ticket;

use super::super::life::How;
use super::Cell;
use crate::a2a::clock::now_ms;
use crate::a2a::feed::Told;
use crate::a2a::reminder::Reminded;
use crate::host::ReminderEvent;

impl Cell {
    /// It is over. Nobody knows before that would survive the end of the process; a log that cannot be written holds nobody up.
    pub(in crate::a2a::desk) async fn end(&self, how: How, agent_id: &str) {
        let Some((frames, last)) = self.begin_end(how, agent_id) else { return };
        let _ = self.journal.settled(last).await;
        self.finish_end(&frames);
    }

    /// As [`Cell::end`], where nobody can wait.
    pub(in crate::a2a::desk) fn end_now(&self, how: How, agent_id: &str) {
        if let Some((frames, _)) = self.begin_end(how, agent_id) {
            self.finish_end(&frames);
        }
    }

    /// Nothing where the next process goes on with it: an end that is told would be taken back there.
    fn begin_end(&self, how: How, agent_id: &str) -> Option<(Vec<Frame>, Ticket)> {
        let mut state = self.lock();
        if state.is_left || state.life.is_stopped(&how) && self.journal.leave(&self.id, state.life.asks()) {
            state.is_left = true;
            state.handle = None;
            self.feed.leave();
            drop(state);
            self.changed.notify_waiters();
            return None;
        }
        let handle = state.handle.take();
        if !state.life.is_over() {
            state.before_end = Some(state.life.task());
            // A reminder for this task is none for the next one of its session: what no loop has taken is over with it.
            for reminder_id in self.injections.withdraw(handle.as_ref().and_then(|handle| handle.inbox().ok())) {
                if self.feed.is_followed() {
                    let reminded = Reminded::of(ReminderEvent::cleared(reminder_id), &self.injections);
                    self.feed.tell(&Told::Reminder(Arc::new(reminded)), false);
                }
            }
        }
        let now = now_ms();
        let out = state.life.end(how, agent_id, now);
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
