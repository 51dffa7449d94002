//! [`MessageFacts`]: the records of a conversation that later ones supersede.

use base::data::Data;
use runtime::event_log::Topic;

use crate::store::INTERRUPTED;

/// The records of a session's conversation that later ones supersede.
#[derive(Debug, Default)]
pub(super) struct MessageFacts {
    /// The records that hold the present messages, one for each.
    messages: Vec<u64>,
    /// The records that replaced messages and still matter, each with the number of messages that it kept.
    replacements: Vec<(u64, usize)>,
    /// The superseded records about messages, in no order.
    superseded: Vec<u64>,
    /// The last record that ends a streamed text.
    text_ended: u64,
    described: u64,
    remembered: u64,
}

impl MessageFacts {
    /// Takes the next record of the session's own topics.
    pub(super) fn take(&mut self, topic: Topic, word: &str, payload: &Data, cursor: u64) {
        match (topic, word) {
            (Topic::Message, "appended") => {
                self.messages.push(cursor);
                self.text_ended = cursor;
            }
            (Topic::Message, "replaced") => {
                self.replace(payload, cursor);
                self.text_ended = cursor;
            }
            // The text of an interrupted turn is in no message yet.
            (Topic::Life, "answered") if payload.get("reason").as_str() != Some(INTERRUPTED) => {
                self.text_ended = cursor;
            }
            (Topic::State, "described") => self.described = cursor,
            (Topic::State, "remembered") => self.remembered = cursor,
            _ => {}
        }
    }

    /// Takes the replacement of the messages after the first ones.
    fn replace(&mut self, payload: &Data, cursor: u64) {
        let keep = payload.get("keep").as_int().and_then(|keep| usize::try_from(keep).ok());
        let Some(keep) = keep.filter(|keep| *keep <= self.messages.len()) else { return };
        let is_kept = |replaced: &(u64, usize)| replaced.1 < keep;
        let replacements = std::mem::take(&mut self.replacements);
        let (kept, over): (Vec<_>, Vec<_>) = replacements.into_iter().partition(is_kept);
        // A replacement whose first messages remain is needed as a whole.
        let holds = |cursor: &u64| !kept.iter().chain(&over).any(|replaced| replaced.0 == *cursor);
        self.superseded.extend(self.messages.drain(keep..).filter(holds));
        self.superseded.extend(over.iter().map(|replaced| replaced.0));
        self.replacements = kept;
        self.replacements.push((cursor, keep));
        let new = payload.get("messages").as_list().map_or(0, <[Data]>::len);
        self.messages.extend(std::iter::repeat_n(cursor, new));
    }

    /// Returns the superseded records about messages before a cursor.
    pub(super) fn superseded(&self, before: u64) -> impl Iterator<Item = u64> {
        self.superseded.iter().copied().filter(move |cursor| *cursor < before)
    }

    /// Returns whether a record that is not about whole messages is superseded: a piece of a text that a message holds, or an
    /// earlier state.
    pub(super) fn has_later(&self, topic: Topic, word: &str, cursor: u64) -> bool {
        match (topic, word) {
            (Topic::Message, "streamed") => cursor < self.text_ended,
            (Topic::State, "described") => cursor < self.described,
            (Topic::State, "remembered") => cursor < self.remembered,
            _ => false,
        }
    }
}
