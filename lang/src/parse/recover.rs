//! Where a rule that failed goes on: behind the statement, the element or the head that holds the mistake.
//!
//! Brackets are balanced, so skipping is counting.

use super::failure::{Failure, Want, Wants};
use super::input::{Ex, In, Rule};
use crate::ast::{Expr, ExprKind, NodeId};
use crate::lex::token::Token;
use crate::source::Span;
use chumsky::input::InputRef;
use chumsky::prelude::*;

/// Ends a statement.
pub(super) fn ends_statement(token: Token<'_>) -> bool {
    matches!(token, Token::Newline | Token::Semi) || token.closes()
}

/// Ends an element of a bracketed list.
pub(super) fn ends_element(token: Token<'_>) -> bool {
    token == Token::Comma || token.closes()
}

/// Ends an arm of a `match`, a field or a variant.
pub(super) fn ends_member(token: Token<'_>) -> bool {
    ends_statement(token) || ends_element(token)
}

/// Ends a parameter of a closure.
pub(super) fn ends_parameter(token: Token<'_>) -> bool {
    ends_member(token) || token == Token::Arrow
}

/// Begins the body behind a head.
pub(super) fn begins_body(token: Token<'_>) -> bool {
    matches!(token, Token::LBody | Token::LClosure)
}

/// Looks, without taking it, whether the next token is one of `last`, or the text ends; otherwise `want` was missing.
pub(super) fn before<'a>(last: fn(Token<'_>) -> bool, want: &'static [Want]) -> impl Parser<'a, In<'a>, (), Ex> + Copy {
    custom(move |inp: &mut InputRef<'a, '_, In<'a>, Ex>| {
        let Some(token) = inp.peek() else { return Ok(()) };
        if last(token) {
            return Ok(());
        }
        let start = inp.cursor();
        inp.skip();
        let span = inp.span_since(&start);
        Err(Failure { span, wants: Wants::all(want), problem: None })
    })
}

/// Skips to the next of `last` at this depth; at least one token where `some`.
fn skip<'a>(last: fn(Token<'_>) -> bool, some: bool) -> impl Parser<'a, In<'a>, Span, Ex> + Clone {
    custom(move |inp: &mut InputRef<'a, '_, In<'a>, Ex>| {
        let start = inp.cursor();
        let mut depth = 0usize;
        let mut taken = false;
        while let Some(token) = inp.peek() {
            if depth == 0 && (last(token) || token.closes()) {
                break;
            }
            if token.opens() {
                depth += 1;
            } else if token.closes() {
                depth -= 1;
            }
            inp.skip();
            taken = true;
        }
        let span = inp.span_since(&start);
        if some && !taken { Err(Failure::wanted(Want::Operator, span)) } else { Ok(span) }
    })
}

/// Skips at least one token, to the next of `last` at this depth.
pub(super) fn skip_some<'a>(last: fn(Token<'_>) -> bool) -> impl Parser<'a, In<'a>, Span, Ex> + Clone {
    skip(last, true)
}

/// `rule` up to one of `last`; when it fails, `fallback` stands for everything up to there.
pub(super) fn recovering<'a, T: 'a>(
    rule: Rule<'a, T>,
    last: fn(Token<'_>) -> bool,
    want: &'static [Want],
    fallback: fn(Span) -> T,
) -> Rule<'a, T> {
    rule.then_ignore(before(last, want)).recover_with(via_parser(skip(last, true).map(fallback))).boxed()
}

/// The head of a body: an expression up to the body's `{`.
pub(super) fn head<'a>(expr: Rule<'a, Expr>) -> Rule<'a, Expr> {
    fn other(token: Token<'_>) -> bool {
        !begins_body(token)
    }
    fn stops(token: Token<'_>) -> bool {
        begins_body(token) || ends_member(token)
    }
    before(other, &[Want::Expr])
        .ignore_then(expr)
        .then_ignore(before(begins_body, &[Want::Body]))
        .recover_with(via_parser(skip(stops, false).then_ignore(before(begins_body, &[Want::Body])).map(error_expr)))
        .boxed()
}

/// Stands for an expression that could not be parsed.
pub(super) fn error_expr(span: Span) -> Expr {
    Expr::new(ExprKind::Error, span, NodeId::NONE)
}

/// Elements between commas, a last comma allowed, each recovering for itself.
pub(super) fn elements<'a, T: 'a>(
    element: Rule<'a, T>,
    closer: &'static [Want],
    fallback: fn(Span) -> T,
) -> Rule<'a, Vec<T>> {
    recovering(element, ends_element, closer, fallback)
        .separated_by(just(Token::Comma))
        .allow_trailing()
        .collect()
        .boxed()
}
