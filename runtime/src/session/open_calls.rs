//! Tool calls without an answer when their process ended.

use std::sync::Arc;

use crate::message::{Message, ToolCall};

use super::Session;

/// Answer to a call whose process ended before it was answered.
pub const NOT_RUN: &str =
    "not run: the process ended before this call was answered; the tool may have completed a part of its work";

/// Returns the unanswered calls, in order. An answer belongs to the first open call of its id: ids may occur again in
/// later replies.
pub fn open_calls<'a>(messages: impl IntoIterator<Item = &'a Arc<Message>>) -> Vec<ToolCall> {
    let mut open: Vec<&ToolCall> = Vec::new();
    for message in messages {
        if let Some(answered) = message.tool_call_id.as_deref()
            && let Some(at) = open.iter().position(|call| *call.id == *answered)
        {
            open.remove(at);
        }
        open.extend(&message.tool_calls);
    }
    open.into_iter().cloned().collect()
}

/// Returns the answers to the open calls, so that every wire format accepts the conversation: the result of a call if
/// `end_of` returns one (its text, and whether it succeeded), else [`NOT_RUN`].
pub fn close_open_calls<'a>(
    messages: impl IntoIterator<Item = &'a Arc<Message>>,
    end_of: impl Fn(&ToolCall) -> Option<(Arc<str>, bool)>,
) -> Vec<Arc<Message>> {
    let answer = |call: ToolCall| match end_of(&call) {
        Some((text, ok)) => Message::tool_result(&call, text, ok),
        None => Message::tool_result(&call, NOT_RUN, false),
    };
    open_calls(messages).into_iter().map(answer).map(Arc::new).collect()
}

impl Session {
    /// Answers the calls that a process left open when it ended. Returns their number.
    pub fn close_open_calls(&self) -> usize {
        self.with(|state| {
            let answers = close_open_calls(state.transcript.messages().iter(), |_| None);
            let count = answers.len();
            answers.into_iter().for_each(|answer| state.transcript.push_message(answer));
            count
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::data::Data;

    fn call(id: &str, name: &str) -> ToolCall {
        ToolCall { id: id.into(), name: name.into(), arguments: Data::Nil }
    }

    #[test]
    fn a_call_whose_id_came_before_is_open_until_its_own_answer() {
        let (first, second) = (call("c1", "first"), call("c1", "second"));
        let other = call("c2", "other");
        let messages = [
            Message::assistant("", vec![first.clone()]),
            Message::tool_result(&first, "done", true),
            Message::assistant("", vec![second.clone(), other.clone()]),
            Message::tool_result(&other, "done", true),
        ]
        .map(Arc::new);
        assert_eq!(open_calls(&messages), std::slice::from_ref(&second));
        let known = close_open_calls(&messages, |call| (*call.name == *"second").then(|| ("shown".into(), true)));
        assert_eq!(known, [Arc::new(Message::tool_result(&second, "shown", true))]);
        let answered: Vec<_> = messages.iter().cloned().chain(close_open_calls(&messages, |_| None)).collect();
        assert!(open_calls(&answered).is_empty());
        assert_eq!(answered.last().unwrap().content.to_text(), NOT_RUN.into());
    }
}
