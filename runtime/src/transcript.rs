//! [`Transcript`]: messages and events in persistent vectors. A clone shares everything; a fork or an injection copies
//! a few nodes. Events are append-only: a bit marks a removed event, and removed ones are swept out when they outnumber
//! the others. There is one index, by hashed dedupe key; ids rise, so an id is found by binary search; the few ids from
//! elsewhere have an index too.
//!
//! Each part keeps one invariant: `EventSlots` the holes, `PendingIndex` what is found in them, `PromptAccount`
//! when a TTL is over, [`Firings`] which prompts have carried a key.
//!
//! A transcript is a value. Only [`crate::lifecycle`] changes its reminders, through the few methods of
//! `pending.rs` and `account.rs`.

use std::sync::Arc;

use base::data::Data;

use crate::message::{Message, Messages};

mod account;
mod event;
mod firings;
mod index;
mod pending;
mod slots;
mod trim;
mod view;

#[cfg(test)]
mod tests;

pub use event::{EventDetail, PendingReminder, TranscriptEvent};
pub(crate) use firings::WaitMark;
pub use firings::{Firings, FiringsStep, KeyFirings, StoredFirings, body_hash};

use account::PromptAccount;
use index::PendingIndex;
use slots::EventSlots;

/// A conversation with its events.
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    id: Arc<str>,
    messages: Messages,
    /// The number of messages whose tokens were counted, and their tokens. Reset when one of them is removed.
    counted: (usize, usize),
    events: EventSlots,
    /// The pending reminders among the events.
    index: PendingIndex,
    /// The prompts that charge the pending reminders.
    account: PromptAccount,
    /// The firings of the reminders, if any are counted.
    firings: Option<Arc<Firings>>,
    /// Free data of the script: a dict or nil.
    pub metadata: Data,
    /// Summary of the compacted messages.
    pub summary: Option<Arc<str>>,
    /// Attached data: a list, or nil.
    pub assets: Data,
}

impl Transcript {
    /// Version of the shape that scripts and files see.
    pub const VERSION: i64 = 1;

    /// Creates an empty transcript.
    #[must_use]
    pub fn new(id: Arc<str>) -> Transcript {
        Transcript { id, ..Transcript::default() }
    }

    /// Returns the id.
    #[must_use]
    pub fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// Returns the same conversation under another id.
    #[must_use]
    pub fn renamed(mut self, id: Arc<str>) -> Transcript {
        self.id = id;
        self
    }

    /// Returns the durable messages, shared.
    #[must_use]
    pub fn messages(&self) -> &Messages {
        &self.messages
    }

    /// Appends a message.
    pub fn push_message(&mut self, message: Arc<Message>) {
        self.messages.push_back(message);
    }

    /// Replaces all messages.
    pub fn set_messages(&mut self, messages: Messages) {
        self.messages = messages;
        self.counted = (0, 0);
    }

    /// Returns the events, oldest first.
    pub fn events(&self) -> impl DoubleEndedIterator<Item = &Arc<TranscriptEvent>> {
        self.events.iter().map(|(_, event)| event)
    }

    /// Returns the number of events.
    #[must_use]
    pub fn event_count(&self) -> usize {
        self.events.event_count()
    }

    /// Appends an event that is not a reminder.
    pub fn push_event(&mut self, id: Arc<str>, kind: impl Into<Arc<str>>, fields: Data) {
        let event = TranscriptEvent {
            id,
            kind: kind.into(),
            at_message: self.messages.len(),
            detail: EventDetail::Other(fields),
            rising: false,
        };
        self.events.push(event);
    }

    /// Returns a rough count of the tokens of all messages.
    #[must_use]
    pub fn estimated_tokens(&self) -> usize {
        let (counted, tokens) = self.counted;
        // By index, because an iterator would visit all counted messages.
        tokens + (counted..self.messages.len()).map(|index| self.messages[index].estimated_tokens()).sum::<usize>()
    }

    /// Returns the estimated tokens and caches the count, for repeated calls while the conversation grows.
    pub(crate) fn count_tokens(&mut self) -> usize {
        self.counted = (self.messages.len(), self.estimated_tokens());
        self.counted.1
    }
}
