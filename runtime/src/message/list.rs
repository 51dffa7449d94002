//! [`Messages`]: the messages of a conversation. A clone shares them all, and appending to one of two clones copies
//! nothing either: a chunk has room for further messages, and a list knows how many of them are its own. A request that
//! is kept (by a log of calls or a meter) therefore costs the conversation nothing as it grows.

use std::fmt;
use std::iter::FusedIterator;
use std::ops::{Index, Range};
use std::sync::{Arc, OnceLock};

use imbl::Vector;

use crate::message::quote::{holds_marker, quoted_message};

use super::Message;

/// Number of messages in a chunk.
const CHUNK: usize = 32;

/// A block of places for messages. A place is filled once and never changes.
#[derive(Default)]
struct MessageChunk([OnceLock<Arc<Message>>; CHUNK]);

impl MessageChunk {
    /// Returns a chunk of its own with the same first messages.
    fn with_first_of(other: &MessageChunk, count: usize) -> MessageChunk {
        let chunk = MessageChunk::default();
        for (place, message) in chunk.0.iter().zip(other.0.iter().take(count).filter_map(OnceLock::get)) {
            // No other list shares this chunk, so its places are free.
            let _ = place.set(message.clone());
        }
        chunk
    }
}

/// A list of messages, shared in chunks.
///
/// A chunk is preceded by the same chunks in every list that shares it, because lists are built only by appending. If
/// two lists share a chunk, everything before it is the same.
#[derive(Clone, Default)]
pub struct Messages {
    /// Full chunks. Stored lists share them until one of them has filled another.
    full: Arc<Vector<Arc<MessageChunk>>>,
    /// The chunk that is being filled, possibly by another list beyond this list's own messages.
    open: Option<Arc<MessageChunk>>,
    len: usize,
    /// Whether a message may look like a reminder. Each is checked once, when it is appended.
    has_markers: bool,
}

impl Messages {
    /// Creates an empty list.
    #[must_use]
    pub fn new() -> Messages {
        Messages::default()
    }

    /// Creates a list of one message.
    #[must_use]
    pub fn unit(message: Arc<Message>) -> Messages {
        std::iter::once(message).collect()
    }

    /// Returns the number of messages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends a message.
    pub fn push_back(&mut self, message: Arc<Message>) {
        self.has_markers = self.has_markers || holds_marker(&message);
        self.append(message);
    }

    /// Returns the messages as a wire may send them: text that looks like a reminder is quoted. Lists without such text
    /// are shared.
    #[must_use]
    pub fn quoted(&self) -> Messages {
        if !self.has_markers {
            return self.clone();
        }
        let mut list = Messages::new();
        for message in self {
            let own = holds_marker(message).then(|| Arc::new(quoted_message(message)));
            list.append(own.unwrap_or_else(|| message.clone()));
        }
        list
    }

    /// Appends a message that was checked already.
    pub(crate) fn append(&mut self, message: Arc<Message>) {
        let mut place = self.len - self.full.len() * CHUNK;
        if place == CHUNK {
            Arc::make_mut(&mut self.full).extend(self.open.take());
            place = 0;
        }
        let open = self.open.get_or_insert_default();
        if let Err(message) = open.0[place].set(message) {
            // A list that shares the chunk has continued differently.
            let own = MessageChunk::with_first_of(open, place);
            let _ = own.0[place].set(message);
            *open = Arc::new(own);
        }
        self.len += 1;
    }

    /// Returns the message at an index, from 0.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&Arc<Message>> {
        if index >= self.len {
            return None;
        }
        self.chunk(index / CHUNK)?.0[index % CHUNK].get()
    }

    /// Returns the first message.
    #[must_use]
    pub fn front(&self) -> Option<&Arc<Message>> {
        self.get(0)
    }

    /// Returns the last message.
    #[must_use]
    pub fn last(&self) -> Option<&Arc<Message>> {
        self.get(self.len.checked_sub(1)?)
    }

    /// Returns the messages, oldest first. Skipping some of them costs nothing.
    #[must_use]
    pub fn iter(&self) -> MessagesIter<'_> {
        MessagesIter { messages: self, left: 0..self.len }
    }

    /// Returns the first `count` messages, shared.
    #[must_use]
    pub fn take(&self, count: usize) -> Messages {
        let len = count.min(self.len);
        let full = len.saturating_sub(1) / CHUNK;
        let open = if len == 0 { None } else { self.chunk(full).cloned() };
        Messages { full: Arc::new(self.full.take(full)), open, len, has_markers: self.has_markers }
    }

    /// Returns all but the first `count` messages, in chunks of their own.
    #[must_use]
    pub fn skip(&self, count: usize) -> Messages {
        let mut list = Messages { has_markers: self.has_markers, ..Messages::new() };
        self.iter().skip(count).for_each(|message| list.append(message.clone()));
        list
    }

    /// Returns the number of messages that two lists share from the first. Messages in shared chunks are not compared.
    #[must_use]
    pub fn shared_with(&self, other: &Messages) -> usize {
        let most = self.len.min(other.len);
        let same = |index: usize| match (self.chunk(index), other.chunk(index)) {
            (Some(one), Some(another)) => Arc::ptr_eq(one, another),
            _ => false,
        };
        let (mut low, mut high) = (0, most.div_ceil(CHUNK));
        // Usually one list is the other one extended.
        if high > 0 && same(high - 1) {
            return most;
        }
        while low < high {
            let middle = usize::midpoint(low, high);
            (low, high) = if same(middle) { (middle + 1, high) } else { (low, middle) };
        }
        let known = low * CHUNK;
        let alike = |(one, another): &(&Arc<Message>, &Arc<Message>)| Arc::ptr_eq(one, another) || one == another;
        known + self.iter().skip(known).zip(other.iter().skip(known)).take_while(alike).count()
    }

    fn chunk(&self, index: usize) -> Option<&Arc<MessageChunk>> {
        if index == self.full.len() { self.open.as_ref() } else { self.full.get(index) }
    }
}

impl Index<usize> for Messages {
    type Output = Arc<Message>;

    /// # Panics
    /// Panics if `index` is out of range.
    fn index(&self, index: usize) -> &Arc<Message> {
        match self.get(index) {
            Some(message) => message,
            None => panic!("the index is {index}, but there are {} messages", self.len),
        }
    }
}

/// The messages of a list, oldest first.
#[derive(Clone)]
pub struct MessagesIter<'a> {
    messages: &'a Messages,
    left: Range<usize>,
}

impl<'a> Iterator for MessagesIter<'a> {
    type Item = &'a Arc<Message>;

    fn next(&mut self) -> Option<&'a Arc<Message>> {
        self.messages.get(self.left.next()?)
    }

    fn nth(&mut self, n: usize) -> Option<&'a Arc<Message>> {
        self.messages.get(self.left.nth(n)?)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }
}

impl DoubleEndedIterator for MessagesIter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.messages.get(self.left.next_back()?)
    }
}

impl ExactSizeIterator for MessagesIter<'_> {}
impl FusedIterator for MessagesIter<'_> {}

impl<'a> IntoIterator for &'a Messages {
    type Item = &'a Arc<Message>;
    type IntoIter = MessagesIter<'a>;

    fn into_iter(self) -> MessagesIter<'a> {
        self.iter()
    }
}

impl FromIterator<Arc<Message>> for Messages {
    fn from_iter<I: IntoIterator<Item = Arc<Message>>>(messages: I) -> Messages {
        let mut list = Messages::new();
        list.extend(messages);
        list
    }
}

impl Extend<Arc<Message>> for Messages {
    fn extend<I: IntoIterator<Item = Arc<Message>>>(&mut self, messages: I) {
        messages.into_iter().for_each(|message| self.push_back(message));
    }
}

impl fmt::Debug for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(text: usize) -> Arc<Message> {
        Arc::new(Message::user(text.to_string()))
    }

    proptest! {
        #[test]
        fn lists_that_share_chunks_are_as_independent_as_vectors(
            steps in prop::collection::vec((0..4_usize, 0..4_usize, 0..100_usize), 1..60)
        ) {
            let mut lists: Vec<(Messages, Vec<Arc<Message>>)> = vec![Default::default(); 4];
            for (number, (one, other, count)) in steps.into_iter().enumerate() {
                match count % 4 {
                    0 => lists[one] = lists[other].clone(),
                    1 => {
                        let shorter = (lists[other].0.take(count), lists[other].1.iter().take(count).cloned().collect());
                        lists[one] = shorter;
                    }
                    _ => {
                        for _ in 0..count {
                            let message = message(number);
                            lists[one].0.push_back(message.clone());
                            lists[one].1.push(message);
                        }
                    }
                }
                for (list, plain) in &lists {
                    prop_assert!(list.iter().eq(plain), "{list:?} is not {plain:?}");
                    prop_assert!(list.iter().rev().eq(plain.iter().rev()));
                    prop_assert!(list.skip(count).iter().eq(plain.iter().skip(count)));
                    let (first, plain_first) = &lists[other];
                    let common = plain.iter().zip(plain_first).take_while(|(one, other)| one == other).count();
                    prop_assert_eq!(list.shared_with(first), common);
                }
            }
        }
    }

    #[test]
    fn appending_to_one_of_two_clones_copies_no_chunk() {
        let mut list: Messages = (0..100).map(message).collect();
        let kept = list.clone();
        list.push_back(message(100));
        assert!(Arc::ptr_eq(list.chunk(3).unwrap(), kept.chunk(3).unwrap()));
        assert_eq!((kept.len(), list.len(), kept.shared_with(&list)), (100, 101, 100));
        assert!(kept.get(100).is_none(), "what came later is not its own");
    }
}
