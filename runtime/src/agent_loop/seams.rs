//! The seams: what a host has put into the queue is delivered, and handlers are told of the passage.

use std::sync::{Arc, PoisonError};

use crate::event_log::Ticket;
use crate::hooks::HookEvent;
use crate::reminder::Reminder;
use crate::reminder::bridge::{Injection, Payload, Seam};
use crate::reminder::lifecycle::Road;
use crate::seam::Outcome;

use super::{LoopState, Run};

impl Run<'_> {
    /// Passes a seam. Gives how many items were delivered that the model should see.
    pub(super) async fn pass(&self, seam: Seam, state: &mut LoopState) -> Outcome<usize> {
        let delivered = self.drain(seam);
        if delivered > 0 {
            // Nobody is told that an item was delivered while a crash could take the record of it.
            self.scope.log.durable(Ticket::ALL).await?;
        }
        let visible = if seam == Seam::LoopExit { 0 } else { delivered };
        state.unseen += u32::try_from(visible).unwrap_or(u32::MAX);
        let event = HookEvent::LoopCheckpoint {
            session_id: self.session.id(),
            iteration: state.iteration,
            kind: seam.as_str(),
            delivered,
            dispatch_skipped: seam == Seam::PreToolDispatch && delivered > 0,
        };
        self.emit(&event).await?;
        Ok(visible)
    }

    fn drain(&self, seam: Seam) -> usize {
        let items = self.session.queue().lock().unwrap_or_else(PoisonError::into_inner).drain(seam);
        let count = items.len();
        for item in items {
            self.deliver(item, seam == Seam::LoopExit);
        }
        count
    }

    fn deliver(&self, item: Injection, for_the_record: bool) {
        let turn = self.turn().number;
        if for_the_record {
            return self.session.audit(&self.scope, item, turn);
        }
        match item.payload {
            Payload::Reminder(reminder) => {
                let reminder = Arc::new(Reminder { fired_at_turn: turn, ..reminder.as_ref().clone() });
                self.session.admit_reminder(&self.scope, reminder, Road::Injected);
            }
            Payload::Message(message) => self.session.with(|s| s.transcript.push_message(message)),
        }
    }
}
