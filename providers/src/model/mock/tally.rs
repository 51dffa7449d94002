//! Counting the tokens of a request without going through its whole history each turn.

use std::collections::BTreeMap;
use std::sync::Arc;

use runtime::message::{Message, ToolSpec};
use runtime::model::Request;

/// The count for one session: the messages up to and including `last`.
#[derive(Debug)]
struct TokenCount {
    first: Arc<Message>,
    last: Arc<Message>,
    messages: usize,
    tokens: u64,
}

/// Counts so far, by session. A history that only grew since the last call is counted from there on.
#[derive(Debug, Default)]
pub(super) struct Tally {
    histories: BTreeMap<Arc<str>, TokenCount>,
    /// The tools that were counted last, and their bytes: a loop offers the same in each turn.
    tools: Option<(Arc<Vec<ToolSpec>>, usize)>,
}

impl Tally {
    /// A rough count of the request's tokens: its history, its system text with reminders, its tools.
    pub(super) fn count(&mut self, session: &Arc<str>, request: &Request) -> u64 {
        let rendered = &request.reminders;
        let system = request.system_text().map_or(0, |text| text.len());
        let blocks: usize = rendered.user_blocks.iter().map(|block| block.text.len()).sum();
        let developer: usize = rendered.developer_messages.iter().map(|text| text.len()).sum();
        let tools = self.tools(&request.tools);
        self.history(session, request) + (system + blocks + developer + tools).div_ceil(4) as u64
    }

    fn tools(&mut self, tools: &Arc<Vec<ToolSpec>>) -> usize {
        if let Some((_, bytes)) = self.tools.as_ref().filter(|(known, _)| Arc::ptr_eq(known, tools)) {
            return *bytes;
        }
        let bytes = |tool: &ToolSpec| tool.name.len() + tool.description.len() + tool.parameters.to_json().len();
        let bytes = tools.iter().map(bytes).sum();
        self.tools = Some((tools.clone(), bytes));
        bytes
    }

    fn history(&mut self, session: &Arc<str>, request: &Request) -> u64 {
        let messages = &request.messages;
        let (Some(first), Some(last)) = (messages.front(), messages.last()) else { return 0 };
        // The same message at the same two places: the history before it is the one that was counted. Holding the messages
        // keeps their addresses from being used again.
        let known = self.histories.get(session).filter(|known| {
            Arc::ptr_eq(&known.first, first)
                && messages.get(known.messages - 1).is_some_and(|message| Arc::ptr_eq(message, &known.last))
        });
        let (from, before) = known.map_or((0, 0), |known| (known.messages, known.tokens));
        let new: u64 = messages.iter().skip(from).map(|message| message.estimated_tokens() as u64).sum();
        let tokens = before + new;
        let counted = TokenCount { first: first.clone(), last: last.clone(), messages: messages.len(), tokens };
        self.histories.insert(session.clone(), counted);
        tokens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grown_history_counts_like_a_new_one() {
        let session: Arc<str> = "s".into();
        let mut tally = Tally::default();
        let mut request = Request::default();
        assert_eq!(tally.count(&session, &request), 0);
        for round in 0..50 {
            request.messages.push_back(Arc::new(Message::user(format!("message {round}"))));
            let fresh = Tally::default().count(&session, &request);
            assert_eq!(tally.count(&session, &request), fresh, "{round}");
        }
        // compacted: another first message
        request.messages = request.messages.skip(40);
        assert_eq!(tally.count(&session, &request), Tally::default().count(&session, &request));
        request.messages = request.messages.take(request.messages.len() - 1);
        assert_eq!(tally.count(&session, &request), Tally::default().count(&session, &request));
    }
}
