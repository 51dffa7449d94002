//! How much of what was said of a task is kept: the same while it lives and where it is read from the log.

use std::sync::Arc;

use stdlib::a2a::{Content, Message, Part};

/// The most messages of a history. Beyond, the oldest are dropped, but for the one that the task began with.
pub(super) const MOST_SAID: usize = 1_000;
/// The most bytes of a history, likewise.
pub(super) const MOST_SAID_BYTES: usize = 16 << 20;

/// Puts one more message into a history of so many bytes, and drops what is too much then.
pub(in crate::a2a) fn push_bounded(history: &mut Vec<Arc<Message>>, bytes: &mut usize, message: Arc<Message>) {
    *bytes += weight_of(&message);
    history.push(message);
    while history.len() > 2 && (history.len() > MOST_SAID || *bytes > MOST_SAID_BYTES) {
        *bytes = bytes.saturating_sub(weight_of(&history.remove(1)));
    }
}

/// What counts for a part beside what it holds.
const PART: usize = 64;

/// Roughly the bytes of a message.
pub(in crate::a2a) fn weight_of(message: &Message) -> usize {
    weight_of_parts(&message.parts) + message.metadata.weight() + 2 * PART
}

/// Roughly the bytes of parts.
pub(super) fn weight_of_parts(parts: &[Part]) -> usize {
    let weight = |part: &Part| {
        let held = match &part.content {
            Content::Text(text) | Content::Raw(text) | Content::Url(text) => text.len(),
            Content::Data(data) => data.weight(),
        };
        PART + held + part.metadata.weight()
    };
    parts.iter().map(weight).sum()
}
