//! Tokens in, a syntax tree out.
//!
//! The grammar is built from chumsky combinators, one file per part of the language: [`expr`], [`control`], [`stmt`],
//! [`item`], [`pattern`], [`types`]; `rules` ties the knot between them. It recovers per statement, per element of a
//! bracketed list and per head of a body ([`recover`]), so that one run finds every mistake. What chumsky has to say
//! about a mistake is turned into a diagnostic in [`error`] and nowhere else; [`ParseCode`] is the catalogue.

mod codes;
mod control;
mod error;
mod expr;
mod failure;
mod fixes;
mod forms;
mod input;
mod item;
mod literal;
mod pattern;
mod recover;
mod rules;
mod signature;
mod slips;
mod stmt;
mod types;

pub use codes::ParseCode;
pub(crate) use item::doc_text;

pub use signature::signature;

use crate::ast::Module;
use crate::diagnostic::{Diagnostic, Severity};
use crate::lex::token::Token;
use crate::lex::{self, Lexed};
use crate::source::{SourceRef, Span};
use chumsky::Parser;
use input::{In, ParseState};

/// A parsed text.
#[derive(Debug, Default)]
pub struct Parsed {
    /// The tree; what could not be parsed is an error node in it.
    pub module: Module,
    /// The comments, as [`Lexed::comments`] has them.
    pub comments: Vec<Span>,
    /// Every mistake in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// The text fails only because it ends too early, so a REPL asks for another line.
    pub incomplete: bool,
}

impl Parsed {
    /// Nothing in it forbids to run it.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.diagnostics.iter().all(|d| d.severity != Severity::Error)
    }
}

/// Past this many findings a text is no script; more would help nobody.
const MAX_FINDINGS: usize = 200;

/// Parses a text. Never panics; whatever is wrong is in [`Parsed::diagnostics`].
#[must_use]
pub fn parse(source: &SourceRef) -> Parsed {
    parse_with_tokens(source).0
}

/// Parses a text and returns the tokens that its tree was made of too. A formatter prints them in their order.
#[must_use]
pub fn parse_with_tokens(source: &SourceRef) -> (Parsed, Vec<(Token<'_>, Span)>) {
    let Lexed { tokens, comments, mut diagnostics, damaged, incomplete } = lex::lex(source);
    let end = u32::try_from(source.text().len()).unwrap_or(u32::MAX);
    let cx = ParseState::default();
    let (body, failures) = rules::module(&cx).parse(In::new(&tokens, end)).into_output_errors();
    let lexed_well = diagnostics.is_empty();
    let at_end = failures.iter().all(|f| f.is_at_end(&tokens, end));
    let failed = !failures.is_empty();
    let noise = |at: u32| damaged.iter().any(|d| d.start <= at && at <= d.end);
    for failure in &failures {
        if diagnostics.len() >= MAX_FINDINGS {
            break;
        }
        if noise(failure.span.start) {
            continue;
        }
        let diagnostic = error::explain(failure, source, &tokens);
        diagnostics.push(diagnostic);
    }
    if let Some(span) = cx.too_deep.get() {
        diagnostics.push(error::too_deep(source, span));
    }
    diagnostics.sort_by_key(Diagnostic::position);
    diagnostics.dedup_by(|b, a| a.code == b.code && (a.position() == b.position() || same_call(a, b)));
    let incomplete = (incomplete && diagnostics.len() == 1) || (lexed_well && failed && at_end);
    (Parsed { module: Module { body: body.unwrap_or_default() }, comments, diagnostics, incomplete }, tokens)
}

/// Whether two mistakes about the arguments of a call are about the same call, so that one says it all.
fn same_call(a: &Diagnostic, b: &Diagnostic) -> bool {
    let (Some(first), Some(second)) = (a.labels.get(1), b.labels.get(1)) else { return false };
    a.code == ParseCode::ForeignSyntax && a.message == b.message && first.span == second.span
}
