//! The end of a task: written down first, told then.

use runtime::event_log::Ticket;
use stdlib::a2a::Frame;

use super::super::life::How;
use super::Cell;
use crate::a2a::clock::now_ms;

impl Cell {
    /// It is over. Nobody knows before that would survive the end of the process; a log that cannot be written holds nobody up.
    pub(in crate::a2a::desk) async fn end(&self, how: How, agent_id: &str) {
        let (frames, last) = self.begin_end(how, agent_id);
        let _ = self.journal.settled(last).await;
        self.finish_end(&frames);
    }

    /// As [`Cell::end`], where nobody can wait.
    pub(in crate::a2a::desk) fn end_now(&self, how: How, agent_id: &str) {
        let (frames, _) = self.begin_end(how, agent_id);
        self.finish_end(&frames);
    }

    fn begin_end(&self, how: How, agent_id: &str) -> (Vec<Frame>, Ticket) {
        let mut state = self.lock();
        if !state.life.is_over() {
            state.before_end = Some(state.life.task());
        }
        state.handle = None;
        let now = now_ms();
        let out = state.life.end(how, agent_id, now);
        let frames = self.put(&mut state, out, now);
        (frames, state.last)
    }

    fn finish_end(&self, frames: &[Frame]) {
        let mut state = self.lock();
        state.before_end = None;
        frames.iter().for_each(|frame| self.tell(frame));
        drop(state);
        self.changed.notify_waiters();
    }
}
