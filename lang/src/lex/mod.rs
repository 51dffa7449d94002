//! Source text in, one flat stream of tokens out.
//!
//! Three steps, each over the whole text:
//! - [`scan`] cuts the text into lexemes. It is modal: `"a ${b + "c"} d"` holds code that holds a string, so a stack says
//!   whether the next byte is code or text, and every token keeps its exact place. It also pairs the brackets: what
//!   comes out is balanced, whatever went in, and what was missing has been reported.
//! - [`layout`] decides which line breaks separate and which `{` opens what ([`braces`]), so that the parser never has
//!   to guess.
//! - [`strings`] and [`numbers`] read the literals.
//!
//! The lexer never gives up: a mistake becomes a diagnostic, and the text behind it is read as if it were mended. What
//! the parser would only complain about because of such a mistake lies in [`Lexed::damaged`].

mod braces;
mod codes;
mod layout;
mod messages;
mod numbers;
mod pairs;
mod scan;
mod slips;
pub(crate) mod strings;
mod text;
pub mod token;

pub use codes::LexCode;

use crate::diagnostic::Diagnostic;
use crate::source::{SourceRef, Span};
use token::Token;

/// Maximum nesting of brackets.
pub const MAX_NESTING: usize = 200;

/// A lexed text.
#[derive(Debug, Default)]
pub struct Lexed<'a> {
    /// The tokens, brackets balanced.
    pub tokens: Vec<(Token<'a>, Span)>,
    /// The comments in the order of the text, documentation and a first line that begins with `#!` included. Outside of
    /// tokens and comments a text without mistakes holds only white space.
    pub comments: Vec<Span>,
    /// Diagnostics of the lexer.
    pub diagnostics: Vec<Diagnostic>,
    /// Stretches that were mended by guess: complaints of the parser that begin there are noise.
    pub damaged: Vec<Span>,
    /// The text ends inside a bracket, a string or a comment.
    pub incomplete: bool,
}

/// Returns whether a text is one identifier: a name that a script can bind.
#[must_use]
pub fn is_identifier(text: &str) -> bool {
    let source = crate::source::Source::new("<name>", text);
    let lexed = lex(&source);
    let name = |(token, _): &(Token<'_>, Span)| matches!(token, Token::Ident(name) if *name == text);
    lexed.diagnostics.is_empty() && lexed.tokens.first().is_some_and(name)
}

/// Lexes a text.
#[must_use]
pub fn lex(source: &SourceRef) -> Lexed<'_> {
    let scanned = scan::scan(source);
    layout::lay_out(source, scanned)
}
