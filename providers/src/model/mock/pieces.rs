//! A streamed answer of the mock, so that readers of streams can be tested without a server.

use runtime::model::{Delta, ModelReply};
use runtime::scope::Scope;

use crate::yielding::yield_once;

/// Streams an answer: its thinking and text split between words, then each call with its arguments.
/// `delay_ms` is spread over the pieces, and concurrent tasks run before each.
pub(super) async fn tell_in_pieces(scope: &Scope, delay_ms: u64, reply: &ModelReply, live: &dyn Fn(Delta<'_>)) {
    let reasoning = reply.reasoning.as_deref().unwrap_or_default();
    let count = words(reasoning).count() + words(&reply.text).count();
    let count = u64::try_from(count + 2 * reply.tool_calls.len()).unwrap_or(u64::MAX).max(1);
    let began = scope.clock.now_ms();
    let mut told = 0_u64;
    let mut pause = async || {
        told += 1;
        if delay_ms == 0 {
            return yield_once().await;
        }
        let share = delay_ms.saturating_mul(told) / count;
        scope.clock.sleep_until(began.saturating_add(share)).await;
    };
    for piece in words(reasoning) {
        pause().await;
        live(Delta::Reasoning(piece));
    }
    for piece in words(&reply.text) {
        pause().await;
        live(Delta::Text(piece));
    }
    for (index, call) in reply.tool_calls.iter().enumerate() {
        pause().await;
        live(Delta::ToolCallStart { index, id: &call.id, name: &call.name });
        pause().await;
        live(Delta::ToolCallArguments { index, json: &call.arguments.to_json() });
    }
    yield_once().await;
}

/// A word with the blanks behind it, again and again.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let word = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let end = rest[word..].find(|c: char| !c.is_whitespace()).map_or(rest.len(), |blanks| word + blanks);
        let (piece, left) = rest.split_at(end);
        rest = left;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_end_at_words_and_make_the_text() {
        for text in ["", "one", "one two\n three ", "  led by blanks", "ein Wört\u{2003}mehr"] {
            assert_eq!(words(text).collect::<String>(), text);
        }
        assert_eq!(words("one two\n three ").collect::<Vec<_>>(), ["one ", "two\n ", "three "]);
    }
}
