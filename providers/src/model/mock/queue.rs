//! [`Queue`]: scripted replies in the order in which they were given.

use std::collections::VecDeque;
use std::sync::Arc;

use super::MockReply;

/// Replies that wait for a call.
#[derive(Debug, Default)]
pub(super) struct Queue {
    replies: VecDeque<MockReply>,
    /// The number of replies with a `match`. If there is none, only the first reply is looked at.
    matching: usize,
    /// The number of calls that found no reply.
    pub(super) missed: usize,
}

impl Queue {
    pub(super) fn push(&mut self, reply: MockReply) {
        self.matching += usize::from(reply.matches.is_some());
        self.replies.push_back(reply);
    }

    /// The first whose `match` fits the prompt, else the first without one. The prompt is looked for only where it matters.
    pub(super) fn take(&mut self, prompt: impl Fn() -> Arc<str>) -> Option<MockReply> {
        if self.matching == 0 {
            return self.replies.pop_front();
        }
        let prompt = prompt();
        let fits = |reply: &MockReply| reply.matches.as_ref().is_some_and(|glob| glob.is_match(prompt.as_ref()));
        let fitting = self.replies.iter().position(fits);
        let index = fitting.or_else(|| self.replies.iter().position(|reply| reply.matches.is_none()))?;
        self.matching -= usize::from(fitting.is_some());
        self.replies.remove(index)
    }

    /// Returns the unused replies.
    pub(super) fn into_rest(self) -> Vec<MockReply> {
        self.replies.into()
    }
}

impl FromIterator<MockReply> for Queue {
    fn from_iter<I: IntoIterator<Item = MockReply>>(replies: I) -> Queue {
        let mut queue = Queue::default();
        replies.into_iter().for_each(|reply| queue.push(reply));
        queue
    }
}
