//! Numbers, strings, lists, dicts, struct literals.

use super::failure::{ParseFailure, Problem, TokenClass, Wants};
use super::input::{Ex, GrammarRule, In, ParseState, RuleInput, by_token, missed, note_inside, take, tok, when};
use super::recover::{elements, ends_element, error_expr, recovering};
use crate::ast::{DictItem, Expr, ExprKind, ListItem, Name, StrPart};
use crate::lex::strings::{dedent, unescape};
use crate::lex::token::{Kw, Quote, Token};
use crate::source::Span;
use chumsky::prelude::*;

/// `nil`, `true`, `42`, `3.14`, `name`, `_`, `r"…"`, `break`, `continue`.
pub(super) fn simple<'a>(cx: &'a ParseState) -> impl Parser<'a, In<'a>, Expr, Ex> + Clone {
    custom(|inp: &mut RuleInput<'a, '_>| {
        let start = inp.cursor();
        let Some(kind) = inp.peek().and_then(simple_kind) else { return Err(missed(inp, Wants::default())) };
        inp.skip();
        let span = inp.span_since(&start);
        Ok(if matches!(kind, ExprKind::Error) { error_expr(span) } else { cx.leaf(kind, span) })
    })
}

/// The expression that a single token is.
pub(super) fn simple_kind(token: Token<'_>) -> Option<ExprKind> {
    Some(match token {
        Token::Ident(text) => ExprKind::Name(text.into()),
        Token::Int(value) => ExprKind::Int(value),
        Token::Float(value) => ExprKind::Float(value),
        Token::Raw(text) => ExprKind::Str(text_parts(text)),
        Token::Underscore => ExprKind::Placeholder,
        Token::Damaged => ExprKind::Error,
        Token::Kw(Kw::Nil) => ExprKind::Nil,
        Token::Kw(Kw::True) => ExprKind::Bool(true),
        Token::Kw(Kw::False) => ExprKind::Bool(false),
        Token::Kw(Kw::Break) => ExprKind::Break,
        Token::Kw(Kw::Continue) => ExprKind::Continue,
        _ => return None,
    })
}

fn text_parts(text: &str) -> Vec<StrPart> {
    if text.is_empty() { Vec::new() } else { vec![StrPart::Text(text.to_owned())] }
}

/// `"…${…}…"`.
pub(super) fn string<'a>(cx: &'a ParseState, expr: GrammarRule<'a, Expr>) -> GrammarRule<'a, Expr> {
    let inside = recovering(expr, ends_element, &[TokenClass::RBrace], error_expr);
    custom(move |inp: &mut RuleInput<'a, '_>| {
        let start = inp.cursor();
        let Some(Token::StrStart(quote)) = inp.peek() else { return Err(missed(inp, Wants::of(TokenClass::Str))) };
        inp.skip();
        let parts = match quote {
            Quote::Plain => plain_parts(inp, &inside)?,
            Quote::Triple => triple_parts(inp, &inside)?,
        };
        take(inp, |token| matches!(token, Token::StrEnd), TokenClass::Operator)?;
        Ok(cx.node(ExprKind::Str(parts), inp.span_since(&start)))
    })
    .boxed()
}

/// The `${…}` that comes next.
fn interpolation<'a>(inp: &mut RuleInput<'a, '_>, inside: &GrammarRule<'a, Expr>) -> Result<Expr, ParseFailure> {
    inp.skip();
    let value = inp.parse(inside)?;
    take(inp, |token| matches!(token, Token::InterpEnd), TokenClass::RBrace)?;
    Ok(value)
}

fn plain_parts<'a>(inp: &mut RuleInput<'a, '_>, inside: &GrammarRule<'a, Expr>) -> Result<Vec<StrPart>, ParseFailure> {
    let mut parts = Vec::new();
    loop {
        let part = match inp.peek() {
            Some(Token::StrText(text)) => {
                inp.skip();
                StrPart::Text(unescape(text))
            }
            Some(Token::InterpStart) => StrPart::Interp(interpolation(inp, inside)?),
            _ => return Ok(parts),
        };
        if parts.is_empty() && matches!(inp.peek(), Some(Token::StrEnd)) {
            return Ok(vec![part]);
        }
        parts.push(part);
    }
}

/// The indentation that all lines share, also those behind an interpolation, is left out.
fn triple_parts<'a>(inp: &mut RuleInput<'a, '_>, inside: &GrammarRule<'a, Expr>) -> Result<Vec<StrPart>, ParseFailure> {
    let mut texts = vec![""];
    let mut interps = Vec::new();
    loop {
        match inp.peek() {
            Some(Token::StrText(text)) => {
                inp.skip();
                if let Some(last) = texts.last_mut() {
                    *last = text;
                }
            }
            Some(Token::InterpStart) => {
                interps.push(interpolation(inp, inside)?);
                texts.push("");
            }
            _ => break,
        }
    }
    let mut interps = interps.into_iter();
    let mut parts = Vec::with_capacity(texts.len() * 2);
    for text in dedent(&texts) {
        if !text.is_empty() {
            parts.push(StrPart::Text(unescape(&text)));
        }
        parts.extend(interps.next().map(StrPart::Interp));
    }
    Ok(parts)
}

/// A string without interpolation, where a constant is needed.
pub(super) fn plain_string<'a>(cx: &'a ParseState) -> impl Parser<'a, In<'a>, Name, Ex> + Clone {
    let raw = select! { Token::Raw(text) = e => cx.name(text, e.span()) };
    let text = select! { Token::StrText(text) => text };
    let inside = any().filter(|t: &Token<'_>| *t != Token::StrEnd).repeated();
    let quoted = select! { Token::StrStart(quote) => quote }
        .then(text.or_not())
        .then(inside.count())
        .then_ignore(tok(Token::StrEnd))
        .validate(move |((quote, text), rest), e, emitter| {
            let span = e.span();
            if rest > 0 {
                emitter.emit(ParseFailure::problem(Problem::NotConstant, span));
            }
            let text = text.unwrap_or("");
            let text = match quote {
                Quote::Plain => unescape(text),
                Quote::Triple => dedent(&[text]).iter().map(|t| unescape(t)).collect(),
            };
            cx.name(&text, span)
        });
    choice((raw, quoted)).labelled(TokenClass::Str)
}

fn error_item(span: Span) -> ListItem {
    ListItem { value: error_expr(span), spread: false }
}

fn item<'a>(expr: GrammarRule<'a, Expr>) -> GrammarRule<'a, ListItem> {
    custom(move |inp: &mut RuleInput<'a, '_>| {
        let spread = matches!(inp.peek(), Some(Token::Ellipsis));
        if spread {
            inp.skip();
        }
        Ok(ListItem { value: inp.parse(&expr)?, spread })
    })
    .boxed()
}

/// Arguments of a call such as `f(a, ...b)`, with the parentheses.
pub(super) fn arguments<'a>(expr: GrammarRule<'a, Expr>) -> GrammarRule<'a, Vec<ListItem>> {
    elements(item(expr), &[TokenClass::Comma, TokenClass::RParen], error_item)
        .delimited_by(tok(Token::LParen), tok(Token::RParen))
        .boxed()
}

/// `[a, ...b]`.
pub(super) fn list<'a>(cx: &'a ParseState, expr: GrammarRule<'a, Expr>) -> GrammarRule<'a, Expr> {
    let rule = elements(item(expr), &[TokenClass::Comma, TokenClass::RBracket], error_item)
        .delimited_by(tok(Token::LBracket), tok(Token::RBracket))
        .map_with(|items, e| cx.node(ExprKind::List(items), e.span()));
    when(|t| matches!(t, Token::LBracket), rule.boxed())
}

/// `{a: 1, "b c": 2, [k]: 3, ...d, name}`, with its braces.
fn entries<'a>(cx: &'a ParseState, expr: &GrammarRule<'a, Expr>) -> GrammarRule<'a, Vec<DictItem>> {
    let value = || tok(Token::Colon).ignore_then(expr.clone());
    let quoted = plain_string(cx).then(value()).map(|(key, value)| DictItem::Entry { key, value });
    let computed = expr
        .clone()
        .delimited_by(tok(Token::LBracket), tok(Token::RBracket))
        .then(value())
        .map(|(key, value)| DictItem::Computed { key, value });
    let spread = tok(Token::Ellipsis).ignore_then(expr.clone()).map(DictItem::Spread);
    let entry = by_token(
        [named_entry(cx, expr.clone()), quoted.boxed(), computed.boxed(), spread.boxed()],
        |token| match token {
            Token::Ident(_) => Some(0),
            Token::StrStart(_) | Token::Raw(_) => Some(1),
            Token::LBracket => Some(2),
            Token::Ellipsis => Some(3),
            _ => None,
        },
        TokenClass::Name,
    );
    elements(entry, &[TokenClass::Comma, TokenClass::RBrace], |span| DictItem::Spread(error_expr(span)))
        .delimited_by(tok(Token::LDict), tok(Token::RBrace))
        .boxed()
}

/// `a: 1`, and `a` for `a: a`.
fn named_entry<'a>(cx: &'a ParseState, expr: GrammarRule<'a, Expr>) -> GrammarRule<'a, DictItem> {
    custom(move |inp: &mut RuleInput<'a, '_>| {
        let start = inp.cursor();
        let Some(Token::Ident(text)) = inp.peek() else { return Err(missed(inp, Wants::of(TokenClass::Name))) };
        inp.skip();
        let key = cx.name(text, inp.span_since(&start));
        if matches!(inp.peek(), Some(Token::Colon)) {
            inp.skip();
            return Ok(DictItem::Entry { key, value: inp.parse(&expr)? });
        }
        note_inside(inp, Wants::of(TokenClass::Colon));
        let value = cx.leaf(ExprKind::Name(key.text.clone()), key.span);
        Ok(DictItem::Entry { key, value })
    })
    .boxed()
}

/// `{a: 1}` and `P {x: 1}`.
pub(super) fn dict<'a>(cx: &'a ParseState, expr: &GrammarRule<'a, Expr>) -> GrammarRule<'a, Expr> {
    let entries = entries(cx, expr);
    let plain = entries.clone().map_with(|items, e| cx.node(ExprKind::Dict(items), e.span()));
    when(|t| t == Token::LDict, plain.boxed())
}

/// `P {x: 1}`.
pub(super) fn structure<'a>(cx: &'a ParseState, expr: &GrammarRule<'a, Expr>) -> GrammarRule<'a, Expr> {
    let named = select! { Token::Ident(text) = e => cx.name(text, e.span()) };
    named
        .then(entries(cx, expr))
        .map_with(|(name, items), e| cx.node(ExprKind::Struct { name, items }, e.span()))
        .boxed()
}

/// `(a)` and `(a, b)`.
pub(super) fn group<'a>(cx: &'a ParseState, expr: GrammarRule<'a, Expr>) -> GrammarRule<'a, Expr> {
    let rule = recovering(expr, ends_element, &[TokenClass::Comma, TokenClass::RParen], error_expr)
        .separated_by(just(Token::Comma))
        .at_least(1)
        .allow_trailing()
        .collect::<Vec<_>>()
        .delimited_by(tok(Token::LParen), tok(Token::RParen))
        .validate(|items, e, emitter| {
            let span: Span = e.span();
            let mut items = items.into_iter();
            match (items.next(), items.next(), items.next()) {
                (Some(only), None, _) => Expr { span, parens: only.parens.saturating_add(1), ..only },
                (Some(first), Some(second), None) => cx.node(ExprKind::Pair(Box::new(first), Box::new(second)), span),
                _ => {
                    emitter.emit(ParseFailure::problem(Problem::NoTriple, span));
                    error_expr(span)
                }
            }
        });
    when(|t| t == Token::LParen, rule.boxed())
}
