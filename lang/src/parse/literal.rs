//! Numbers, strings, lists, dicts, struct literals.

use super::failure::{Failure, Problem, Want};
use super::input::{Cx, Ex, In, Rule, tok, when};
use super::recover::{elements, ends_element, error_expr, recovering};
use crate::ast::{DictItem, Expr, ExprKind, ListItem, Name, StrPart};
use crate::lex::strings::{dedent, unescape};
use crate::lex::token::{Kw, Quote, Token};
use crate::source::Span;
use chumsky::prelude::*;

/// `nil`, `true`, `42`, `3.14`, `name`, `_`, `r"…"`, `break`, `continue`.
pub(super) fn simple<'a>(cx: &'a Cx) -> impl Parser<'a, In<'a>, Expr, Ex> + Clone {
    select! {
        Token::Ident(text) = e => cx.node(ExprKind::Name(text.into()), e.span()),
        Token::Int(value) = e => cx.node(ExprKind::Int(value), e.span()),
        Token::Float(value) = e => cx.node(ExprKind::Float(value), e.span()),
        Token::Raw(text) = e => cx.node(ExprKind::Str(text_parts(text)), e.span()),
        Token::Underscore = e => cx.node(ExprKind::Placeholder, e.span()),
        Token::Damaged = e => error_expr(e.span()),
        Token::Kw(Kw::Nil) = e => cx.node(ExprKind::Nil, e.span()),
        Token::Kw(Kw::True) = e => cx.node(ExprKind::Bool(true), e.span()),
        Token::Kw(Kw::False) = e => cx.node(ExprKind::Bool(false), e.span()),
        Token::Kw(Kw::Break) = e => cx.node(ExprKind::Break, e.span()),
        Token::Kw(Kw::Continue) = e => cx.node(ExprKind::Continue, e.span()),
    }
}

fn text_parts(text: &str) -> Vec<StrPart> {
    if text.is_empty() { Vec::new() } else { vec![StrPart::Text(text.to_owned())] }
}

/// A piece of a string as the lexer cut it.
enum Piece<'a> {
    Text(&'a str),
    Interp(Expr),
}

/// `"…${…}…"`.
pub(super) fn string<'a>(cx: &'a Cx, expr: Rule<'a, Expr>) -> Rule<'a, Expr> {
    let text = select! { Token::StrText(text) => Piece::Text(text) };
    let interp = recovering(expr, ends_element, &[Want::RBrace], error_expr)
        .delimited_by(tok(Token::InterpStart), tok(Token::InterpEnd))
        .map(Piece::Interp);
    let rule = select! { Token::StrStart(quote) => quote }
        .then(choice((text, interp)).repeated().collect::<Vec<_>>())
        .then_ignore(tok(Token::StrEnd))
        .map_with(|(quote, pieces), e| cx.node(ExprKind::Str(assemble(quote, pieces)), e.span()));
    when(|t| matches!(t, Token::StrStart(_)), rule.boxed())
}

fn assemble(quote: Quote, pieces: Vec<Piece<'_>>) -> Vec<StrPart> {
    let mut texts = vec![""];
    let mut interps = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Text(text) => {
                if let Some(last) = texts.last_mut() {
                    *last = text;
                }
            }
            Piece::Interp(expr) => {
                interps.push(expr);
                texts.push("");
            }
        }
    }
    let texts: Vec<String> = match quote {
        Quote::Plain => texts.into_iter().map(unescape).collect(),
        Quote::Triple => dedent(&texts).iter().map(|t| unescape(t)).collect(),
    };
    let mut interps = interps.into_iter();
    let mut parts = Vec::with_capacity(texts.len() * 2);
    for text in texts {
        if !text.is_empty() {
            parts.push(StrPart::Text(text));
        }
        parts.extend(interps.next().map(StrPart::Interp));
    }
    parts
}

/// A string without interpolation, where a constant is needed.
pub(super) fn plain_string<'a>(cx: &'a Cx) -> impl Parser<'a, In<'a>, Name, Ex> + Clone {
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
                emitter.emit(Failure::problem(Problem::NotConstant, span));
            }
            let text = text.unwrap_or("");
            let text = match quote {
                Quote::Plain => unescape(text),
                Quote::Triple => dedent(&[text]).iter().map(|t| unescape(t)).collect(),
            };
            cx.name(&text, span)
        });
    choice((raw, quoted)).labelled(Want::Str)
}

fn error_item(span: Span) -> ListItem {
    ListItem { value: error_expr(span), spread: false }
}

fn item<'a>(expr: Rule<'a, Expr>) -> Rule<'a, ListItem> {
    tok(Token::Ellipsis).or_not().then(expr).map(|(dots, value)| ListItem { value, spread: dots.is_some() }).boxed()
}

/// Arguments of a call such as `f(a, ...b)`, with the parentheses.
pub(super) fn arguments<'a>(expr: Rule<'a, Expr>) -> Rule<'a, Vec<ListItem>> {
    elements(item(expr), &[Want::Comma, Want::RParen], error_item)
        .delimited_by(tok(Token::LParen), tok(Token::RParen))
        .boxed()
}

/// `[a, ...b]`.
pub(super) fn list<'a>(cx: &'a Cx, expr: Rule<'a, Expr>) -> Rule<'a, Expr> {
    let rule = elements(item(expr), &[Want::Comma, Want::RBracket], error_item)
        .delimited_by(tok(Token::LBracket), tok(Token::RBracket))
        .map_with(|items, e| cx.node(ExprKind::List(items), e.span()));
    when(|t| t == Token::LBracket, rule.boxed())
}

/// `{a: 1, "b c": 2, [k]: 3, ...d, name}`, with its braces.
fn entries<'a>(cx: &'a Cx, expr: &Rule<'a, Expr>) -> Rule<'a, Vec<DictItem>> {
    let value = || tok(Token::Colon).ignore_then(expr.clone());
    let name = select! { Token::Ident(text) = e => cx.name(text, e.span()) };
    let short = name.then(value().or_not()).map(|(key, value)| match value {
        Some(value) => DictItem::Entry { key, value },
        None => {
            let value = cx.node(ExprKind::Name(key.text.clone()), key.span);
            DictItem::Entry { key, value }
        }
    });
    let quoted = plain_string(cx).then(value()).map(|(key, value)| DictItem::Entry { key, value });
    let computed = expr
        .clone()
        .delimited_by(tok(Token::LBracket), tok(Token::RBracket))
        .then(value())
        .map(|(key, value)| DictItem::Computed { key, value });
    let spread = tok(Token::Ellipsis).ignore_then(expr.clone()).map(DictItem::Spread);
    let entry = choice((short, quoted, computed, spread)).labelled(Want::Name).boxed();
    elements(entry, &[Want::Comma, Want::RBrace], |span| DictItem::Spread(error_expr(span)))
        .delimited_by(tok(Token::LDict), tok(Token::RBrace))
        .boxed()
}

/// `{a: 1}` and `P {x: 1}`.
pub(super) fn dict<'a>(cx: &'a Cx, expr: &Rule<'a, Expr>) -> Rule<'a, Expr> {
    let entries = entries(cx, expr);
    let plain = entries.clone().map_with(|items, e| cx.node(ExprKind::Dict(items), e.span()));
    when(|t| t == Token::LDict, plain.boxed())
}

/// `P {x: 1}`, or the name alone.
pub(super) fn structure<'a>(cx: &'a Cx, expr: &Rule<'a, Expr>) -> Rule<'a, Expr> {
    let named = select! { Token::Ident(text) = e => cx.name(text, e.span()) };
    let rule = named.then(entries(cx, expr).or_not()).map_with(|(name, items), e| {
        let kind = match items {
            Some(items) => ExprKind::Struct { name, items },
            None => ExprKind::Name(name.text),
        };
        cx.node(kind, e.span())
    });
    when(|t| matches!(t, Token::Ident(text) if text.starts_with(|c: char| c.is_ascii_uppercase())), rule.boxed())
}

/// `(a)` and `(a, b)`.
pub(super) fn group<'a>(cx: &'a Cx, expr: Rule<'a, Expr>) -> Rule<'a, Expr> {
    let rule = recovering(expr, ends_element, &[Want::Comma, Want::RParen], error_expr)
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
                    emitter.emit(Failure::problem(Problem::NoTriple, span));
                    error_expr(span)
                }
            }
        });
    when(|t| t == Token::LParen, rule.boxed())
}
