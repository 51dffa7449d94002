//! Characters that turn the direction of the text: what a reader sees is not what runs.

use super::messages;
use crate::diagnostic::{Diagnostic, turns_text};
use crate::lex::lex;
use crate::lex::token::Token;
use crate::source::{SourceRef, Span};

/// Reports each run of such characters in a text.
pub(super) fn check(source: &SourceRef, found: &mut Vec<Diagnostic>) {
    let text = source.text();
    if text.is_ascii() {
        return;
    }
    if !text.contains(turns_text) {
        return;
    }
    let lexed = lex(source);
    let is_raw = |at: Span| {
        lexed
            .tokens
            .iter()
            .any(|(token, span)| matches!(token, Token::Raw(_)) && span.start <= at.start && at.end <= span.end)
    };
    let mut at = 0;
    while let Some(i) = text[at..].find(turns_text) {
        let start = at + i;
        let run = &text[start..];
        let len = run.find(|c| !turns_text(c)).unwrap_or(run.len());
        at = start + len;
        let offset = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let span = Span::new(offset(start), offset(at));
        found.push(messages::hidden(source, span, is_raw(span)));
    }
}
