//! Recovery after a rule that failed: parsing continues after the statement, the element or the head that holds the mistake.
//!
//! Brackets are balanced, so skipping is counting.

use super::failure::{ParseFailure, TokenClass, Wants};
use super::input::{Ex, GrammarRule, In, RuleInput, note_failure};
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
    matches!(token, Token::Comma) || token.closes()
}

/// Ends an arm of a `match`, a field or a variant.
pub(super) fn ends_member(token: Token<'_>) -> bool {
    ends_statement(token) || ends_element(token)
}

/// Ends a parameter of a closure.
pub(super) fn ends_parameter(token: Token<'_>) -> bool {
    ends_member(token) || matches!(token, Token::Arrow)
}

/// Begins the body behind a head.
pub(super) fn begins_body(token: Token<'_>) -> bool {
    matches!(token, Token::LBody | Token::LClosure)
}

/// Looks, without taking it, whether the next token is one of `last`, or the text ends; otherwise `want` was missing.
pub(super) fn before<'a>(
    last: fn(Token<'_>) -> bool,
    want: &'static [TokenClass],
) -> impl Parser<'a, In<'a>, (), Ex> + Copy {
    custom(move |inp: &mut InputRef<'a, '_, In<'a>, Ex>| {
        let Some(token) = inp.peek() else { return Ok(()) };
        if last(token) {
            return Ok(());
        }
        let start = inp.cursor();
        inp.skip();
        let span = inp.span_since(&start);
        Err(ParseFailure { span, wants: Wants::all(want), problem: None })
    })
}

/// Looks, without taking it, whether the next token is one of `last`. A failure counts with those that were noted there.
#[inline]
fn ensure(
    inp: &mut RuleInput<'_, '_>,
    last: fn(Token<'_>) -> bool,
    want: &'static [TokenClass],
) -> Result<(), ParseFailure> {
    if inp.peek().is_none_or(last) { Ok(()) } else { inp.parse(before(last, want)) }
}

/// Skips to the next of `last` at this depth. Returns the span of the skipped tokens, and whether there are any.
fn skip_to(inp: &mut RuleInput<'_, '_>, last: fn(Token<'_>) -> bool) -> (Span, bool) {
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
    (inp.span_since(&start), taken)
}

/// Skips at least one token, to the next of `last` at this depth.
pub(super) fn skip_some<'a>(last: fn(Token<'_>) -> bool) -> impl Parser<'a, In<'a>, Span, Ex> + Clone {
    custom(move |inp: &mut RuleInput<'a, '_>| {
        let (span, taken) = skip_to(inp, last);
        if taken { Ok(span) } else { Err(ParseFailure::wanted(TokenClass::Operator, span)) }
    })
}

/// `rule` up to one of `last`; when it fails, `fallback` stands for everything up to there.
pub(super) fn recovering<'a, T: 'a>(
    rule: GrammarRule<'a, T>,
    last: fn(Token<'_>) -> bool,
    want: &'static [TokenClass],
    fallback: fn(Span) -> T,
) -> GrammarRule<'a, T> {
    custom(move |inp: &mut RuleInput<'a, '_>| recovered(inp, &rule, last, want, fallback)).boxed()
}

/// Reads `rule` up to one of `last`; when it fails, `fallback` stands for everything up to there.
#[inline]
pub(super) fn recovered<'a, T>(
    inp: &mut RuleInput<'a, '_>,
    rule: &GrammarRule<'a, T>,
    last: fn(Token<'_>) -> bool,
    want: &'static [TokenClass],
    fallback: fn(Span) -> T,
) -> Result<T, ParseFailure> {
    let start = inp.save();
    let failure = match inp.parse(rule) {
        Ok(read) => match ensure(inp, last, want) {
            Ok(()) => return Ok(read),
            Err(failure) => failure,
        },
        Err(failure) => failure,
    };
    inp.rewind(start.clone());
    let (span, taken) = skip_to(inp, last);
    if !taken {
        inp.rewind(start);
        return Err(failure);
    }
    inp.emit(failure);
    Ok(fallback(span))
}

/// Adds to a list. Most lists have one element, and need no room for more.
#[inline]
pub(super) fn push<T>(list: &mut Vec<T>, element: T, last: bool) {
    if last && list.is_empty() {
        list.reserve_exact(1);
    }
    list.push(element);
}

/// The head of a body: an expression up to the body's `{`.
pub(super) fn head<'a>(expr: GrammarRule<'a, Expr>) -> GrammarRule<'a, Expr> {
    fn other(token: Token<'_>) -> bool {
        !begins_body(token)
    }
    fn stops(token: Token<'_>) -> bool {
        begins_body(token) || ends_member(token)
    }
    custom(move |inp: &mut RuleInput<'a, '_>| {
        let start = inp.save();
        let read = ensure(inp, other, &[TokenClass::Expr])
            .and_then(|()| inp.parse(&expr))
            .and_then(|expr| ensure(inp, begins_body, &[TokenClass::Body]).map(|()| expr));
        read.or_else(|failure| {
            inp.rewind(start.clone());
            let (span, _) = skip_to(inp, stops);
            if !inp.peek().is_none_or(begins_body) {
                inp.rewind(start);
                return Err(failure);
            }
            inp.emit(failure);
            Ok(error_expr(span))
        })
    })
    .boxed()
}

/// Stands for an expression that could not be parsed.
pub(super) fn error_expr(span: Span) -> Expr {
    Expr::new(ExprKind::Error, span, NodeId::NONE)
}

/// Elements between commas, a last comma allowed, each recovering for itself.
pub(super) fn elements<'a, T: 'a>(
    element: GrammarRule<'a, T>,
    closer: &'static [TokenClass],
    fallback: fn(Span) -> T,
) -> GrammarRule<'a, Vec<T>> {
    custom(move |inp: &mut RuleInput<'a, '_>| {
        let mut elements = Vec::new();
        while inp.peek().is_some_and(|token| !token.closes()) {
            let element = match recovered(inp, &element, ends_element, closer, fallback) {
                Ok(element) => element,
                Err(failure) => {
                    note_failure(inp, failure);
                    break;
                }
            };
            let last = !matches!(inp.peek(), Some(Token::Comma));
            push(&mut elements, element, last);
            if last {
                break;
            }
            inp.skip();
        }
        Ok(elements)
    })
    .boxed()
}
