//! Characters that turn the direction of the text: what a reader sees is not what runs.

use super::messages;
use crate::diagnostic::{Diagnostic, turns_text};
use crate::source::{SourceRef, Span};

/// Reports each run of such characters in a text.
pub(super) fn check(source: &SourceRef, found: &mut Vec<Diagnostic>) {
    let text = source.text();
    if text.is_ascii() {
        return;
    }
    let mut at = 0;
    while let Some(i) = text[at..].find(turns_text) {
        let start = at + i;
        let run = &text[start..];
        let len = run.find(|c| !turns_text(c)).unwrap_or(run.len());
        at = start + len;
        let offset = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        found.push(messages::hidden(source, Span::new(offset(start), offset(at))));
    }
}
