//! [`AnswerEnd`]: why an answer ended, in one set of words for all vendors.

use base::words::words;

use super::ModelReply;

words! {
    /// The reason an answer ended.
    pub enum AnswerEnd {
        /// The model was done.
        End = "end",
        /// The model calls tools.
        ToolCalls = "tool_calls",
        /// The limit of output tokens was reached.
        MaxTokens = "max_tokens",
        /// The context window was full.
        ContextWindow = "context_window",
        /// The model refused.
        Refusal = "refusal",
        /// A filter of the vendor withheld the answer.
        ContentFilter = "content_filter",
        /// The vendor paused the turn; the same content, sent back, continues it.
        Pause = "pause",
        /// The model wrote a call that cannot be read.
        MalformedCall = "malformed_call",
        /// The vendor used a word that is not known.
        Other = "other",
    }
}

/// The words of the vendors. Sources: the pages on stop reasons of Anthropic, on the `finish_reason` and the
/// `incomplete_details` of OpenAI, on `FinishReason` and `BlockReason` of Gemini, and on `done_reason` of Ollama.
const WORDS: &[(AnswerEnd, &[&str])] = &[
    (AnswerEnd::End, &["end_turn", "stop_sequence", "stop", "completed", "STOP", "eos"]),
    (AnswerEnd::ToolCalls, &["tool_use", "tool_calls", "function_call"]),
    (AnswerEnd::MaxTokens, &["max_tokens", "length", "MAX_TOKENS", "max_output_tokens", "incomplete"]),
    (AnswerEnd::ContextWindow, &["model_context_window_exceeded", "context_length_exceeded"]),
    (AnswerEnd::Refusal, &["refusal"]),
    (
        AnswerEnd::ContentFilter,
        &[
            "content_filter",
            "SAFETY",
            "RECITATION",
            "BLOCKLIST",
            "PROHIBITED_CONTENT",
            "SPII",
            "LANGUAGE",
            "IMAGE_SAFETY",
            "IMAGE_PROHIBITED_CONTENT",
            "IMAGE_RECITATION",
            "guardrail_intervened",
            "content_filtered",
        ],
    ),
    (AnswerEnd::Pause, &["pause_turn"]),
    (
        AnswerEnd::MalformedCall,
        &["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "malformed_tool_use"],
    ),
];

impl AnswerEnd {
    /// Returns the reason that a vendor's word means.
    #[must_use]
    pub fn of_word(word: &str) -> AnswerEnd {
        let row = WORDS.iter().find(|(_, words)| words.contains(&word));
        row.map_or(AnswerEnd::Other, |(end, _)| *end)
    }

    /// Returns whether a limit cut the answer off.
    #[must_use]
    pub fn is_cut_off(self) -> bool {
        matches!(self, AnswerEnd::MaxTokens | AnswerEnd::ContextWindow)
    }

    /// Returns whether the model or its vendor withheld the answer.
    #[must_use]
    pub fn is_refused(self) -> bool {
        matches!(self, AnswerEnd::Refusal | AnswerEnd::ContentFilter)
    }
}

impl ModelReply {
    /// Returns why the answer ended. An answer without a word ended as it should.
    #[must_use]
    pub fn end(&self) -> AnswerEnd {
        let end = self.stop_reason.as_deref().map_or(AnswerEnd::End, AnswerEnd::of_word);
        match end {
            // Some servers have one word for both.
            AnswerEnd::End if !self.tool_calls.is_empty() => AnswerEnd::ToolCalls,
            // Chat Completions and Responses put a refusal beside an ordinary end.
            AnswerEnd::End if self.refusal().is_some() => AnswerEnd::Refusal,
            end => end,
        }
    }

    /// Returns the words of a refusal that the vendor tells apart from the text.
    #[must_use]
    pub fn refusal(&self) -> Option<&str> {
        self.extra.get("refusal").and_then(base::data::Data::as_str).filter(|text| !text.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::message::ToolCall;
    use base::data::Data;

    #[test]
    fn each_word_means_one_reason() {
        let mut all: Vec<&str> = WORDS.iter().flat_map(|(_, words)| words.iter().copied()).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
        assert_eq!(AnswerEnd::of_word("something new"), AnswerEnd::Other);
    }

    #[test]
    fn calls_and_refusals_count_where_the_word_does_not_say_so() {
        let reply = |word: Option<&str>| ModelReply { stop_reason: word.map(Arc::from), ..ModelReply::default() };
        assert_eq!(reply(None).end(), AnswerEnd::End);
        let call = ToolCall::new("a", "look", Data::empty_dict());
        let calls = |word| ModelReply { tool_calls: vec![call.clone()], ..reply(word) };
        assert_eq!(calls(Some("stop")).end(), AnswerEnd::ToolCalls);
        assert_eq!(calls(Some("length")).end(), AnswerEnd::MaxTokens);
        let refused =
            ModelReply { extra: [("refusal".into(), "No.".into())].into_iter().collect(), ..reply(Some("stop")) };
        assert_eq!((refused.end(), refused.refusal()), (AnswerEnd::Refusal, Some("No.")));
    }
}
