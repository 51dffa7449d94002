//! The place of a mistake in its text, and the tokens around it.

use super::tokens::{TokenKind, Tokens};
use lang::diagnostic::Diagnostic;
use lang::diagnostic::code::CodeRef;
use lang::source::{SourceRef, Span};
use rhai::Position;

/// The place that Rhai points at.
pub(in crate::rhai_front_end) struct SourcePlace<'a> {
    pub(in crate::rhai_front_end) source: &'a SourceRef,
    pub(in crate::rhai_front_end) tokens: Tokens<'a>,
    /// The index of the token there; the number of tokens at the end of the text.
    pub(in crate::rhai_front_end) at: usize,
    /// The span; `None` if Rhai does not name one.
    span: Option<Span>,
}

impl<'a> SourcePlace<'a> {
    pub(in crate::rhai_front_end) fn new(source: &'a SourceRef, position: Position) -> Self {
        let tokens = Tokens::of(source);
        let offset = tokens.offset(position);
        let at = offset.and_then(|offset| tokens.index(offset)).unwrap_or(tokens.len());
        let span = offset.map(|_| tokens.get(at).map_or_else(|| tokens.end(), |token| token.span));
        Self { source, tokens, at, span }
    }

    /// The token there.
    pub(in crate::rhai_front_end) fn text(&self) -> &'a str {
        self.tokens.text(self.at)
    }

    /// The token so many before it.
    pub(in crate::rhai_front_end) fn before(&self, n: usize) -> &'a str {
        self.at.checked_sub(n).map_or("", |i| self.tokens.text(i))
    }

    pub(in crate::rhai_front_end) fn is_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    /// Returns a description of the token, for sentences.
    pub(in crate::rhai_front_end) fn found(&self) -> String {
        if self.is_end() {
            return "the end of the file".to_owned();
        }
        match self.text().lines().next().unwrap_or("") {
            text if text.chars().count() > 24 => format!("`{}…`", text.chars().take(24).collect::<String>()),
            text => format!("`{text}`"),
        }
    }

    /// An error there.
    pub(in crate::rhai_front_end) fn error(
        &self,
        code: impl Into<CodeRef>,
        message: impl Into<String>,
        label: &str,
    ) -> Diagnostic {
        self.error_at(self.span, code, message, label)
    }

    /// An error at another place of the text.
    pub(in crate::rhai_front_end) fn error_at(
        &self,
        span: Option<Span>,
        code: impl Into<CodeRef>,
        message: impl Into<String>,
        label: &str,
    ) -> Diagnostic {
        let error = Diagnostic::new(code, message);
        match span {
            Some(span) => error.label(self.source, span, label),
            None => error,
        }
    }

    pub(in crate::rhai_front_end) fn span(&self) -> Option<Span> {
        self.span
    }

    /// The span of a token.
    pub(in crate::rhai_front_end) fn span_of(&self, i: usize) -> Option<Span> {
        self.tokens.get(i).map(|token| token.span)
    }

    /// Returns the end of the token before it.
    pub(in crate::rhai_front_end) fn end_before(&self) -> Option<Span> {
        let end = self.span_of(self.at.checked_sub(1)?)?.end;
        Some(Span::new(end, end))
    }

    /// The innermost bracket around it that is open there: its index.
    pub(in crate::rhai_front_end) fn bracket(&self) -> Option<usize> {
        let mut closed = 0_usize;
        for i in (0..self.at.min(self.tokens.len())).rev() {
            match self.tokens.get(i)?.kind {
                TokenKind::Close => closed += 1,
                TokenKind::Open if closed == 0 => return Some(i),
                TokenKind::Open => closed -= 1,
                _ => {}
            }
        }
        None
    }

    /// Returns whether it is on the line of the token before it.
    pub(in crate::rhai_front_end) fn on_the_same_line(&self) -> bool {
        let (Some(before), Some(here)) = (self.at.checked_sub(1).and_then(|i| self.span_of(i)), self.span_of(self.at))
        else {
            return false;
        };
        !self.source.slice(Span::new(before.end, here.start)).contains('\n')
    }
}
