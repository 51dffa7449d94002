//! Patterns and parameters.

use super::failure::{ParseFailure, Problem, TokenClass, Wants};
use super::input::{Ex, GrammarRule, In, ParseState, RuleInput, by_token, kw, name, note_inside, tok};
use super::literal::plain_string;
use super::recover::{elements, ends_element, recovering};
use crate::ast::{Expr, ExprKind, Name, NodeId, Param, Pattern, PatternField, PatternKind, StrPart, TypeExpr, UnaryOp};
use crate::lex::token::{Kw, Token};
use crate::source::Span;
use chumsky::prelude::*;

/// A pattern, made of patterns and, for defaults, expressions.
pub(super) fn pattern<'a>(
    cx: &'a ParseState,
    pattern: &GrammarRule<'a, Pattern>,
    expr: GrammarRule<'a, Expr>,
) -> GrammarRule<'a, Pattern> {
    let blank = select! {
        Token::Underscore = e => cx.pattern(PatternKind::Wildcard, e.span()),
        Token::Damaged = e => error_pattern(e.span()),
    };
    let primary = by_token(
        [
            named(cx, pattern, &expr),
            blank.boxed(),
            dict(cx, pattern, &expr),
            list(cx, pattern, expr),
            pair(cx, pattern),
            constant(cx),
        ],
        |token| match token {
            Token::Ident(_) => Some(0),
            Token::Underscore | Token::Damaged => Some(1),
            Token::LDict => Some(2),
            Token::LBracket => Some(3),
            Token::LParen => Some(4),
            Token::Int(_)
            | Token::Float(_)
            | Token::Minus
            | Token::StrStart(_)
            | Token::Raw(_)
            | Token::Kw(Kw::Nil | Kw::True | Kw::False) => Some(5),
            _ => None,
        },
        TokenClass::Pattern,
    );
    let another = tok(Token::Bar).ignore_then(primary.clone()).or_not().boxed();
    custom(move |inp: &mut RuleInput<'a, '_>| {
        let start = inp.cursor();
        if matches!(inp.peek(), Some(Token::Bar)) {
            inp.skip();
        }
        let first = inp.parse(&primary)?;
        if !matches!(inp.peek(), Some(Token::Bar)) {
            return Ok(first);
        }
        let mut options = vec![first];
        while let Some(option) = inp.parse(&another)? {
            options.push(option);
        }
        Ok(match options.pop() {
            Some(only) if options.is_empty() => only,
            last => {
                options.extend(last);
                cx.pattern(PatternKind::Or(options), inp.span_since(&start))
            }
        })
    })
    .boxed()
}

pub(super) fn error_pattern(span: Span) -> Pattern {
    Pattern { kind: PatternKind::Error, span, id: NodeId::NONE }
}

/// Part after a name in a pattern.
enum Behind {
    Variant(Name, Vec<Pattern>),
    Args(Vec<Pattern>),
    Fields(Fields),
}

type Fields = (Vec<PatternField>, Option<Option<Box<Name>>>);

/// `x`, `Ok(v)`, `E.A`, `E.B(x)`, `P {x, y}`.
fn named<'a>(
    cx: &'a ParseState,
    pattern: &GrammarRule<'a, Pattern>,
    expr: &GrammarRule<'a, Expr>,
) -> GrammarRule<'a, Pattern> {
    let args = elements(pattern.clone(), &[TokenClass::Comma, TokenClass::RParen], error_pattern)
        .delimited_by(tok(Token::LParen), tok(Token::RParen));
    let variant = tok(Token::Dot)
        .ignore_then(name(cx))
        .then(args.clone().or_not())
        .map(|(variant, args)| Behind::Variant(variant, args.unwrap_or_default()));
    let fields = fields(cx, pattern, expr).map(Behind::Fields);
    let behind = choice((variant, args.map(Behind::Args), fields)).or_not();
    let rule = name(cx).then(behind).map_with(|(name, behind), e| {
        let kind = match behind {
            None => PatternKind::Bind(name.text),
            Some(Behind::Variant(variant, args)) => {
                PatternKind::Variant { enum_name: Some(Box::new(name)), variant: Box::new(variant), args }
            }
            Some(Behind::Args(args)) => PatternKind::Variant { enum_name: None, variant: Box::new(name), args },
            Some(Behind::Fields((fields, rest))) => PatternKind::Dict { name: Some(Box::new(name)), fields, rest },
        };
        cx.pattern(kind, e.span())
    });
    let rule = rule.boxed();
    custom(move |inp: &mut RuleInput<'a, '_>| {
        let (before, start) = (inp.save(), inp.cursor());
        let Some(Token::Ident(name)) = inp.next() else { return inp.parse(&rule) };
        if matches!(inp.peek(), Some(Token::Dot | Token::LParen | Token::LDict)) {
            inp.rewind(before);
            return inp.parse(&rule);
        }
        Ok(cx.pattern(PatternKind::Bind(name.into()), inp.span_since(&start)))
    })
    .boxed()
}

/// An element of a list or dict pattern: one that fits a value, or the rest.
enum PatternPart<T> {
    One(T),
    Rest(Option<Box<Name>>),
    Error,
}

fn rest<'a>(cx: &'a ParseState) -> impl Parser<'a, In<'a>, Option<Box<Name>>, Ex> + Clone {
    let named = select! {
        Token::Ident(text) = e => Some(Box::new(cx.name(text, e.span()))),
        Token::Underscore => None,
    };
    tok(Token::Ellipsis).ignore_then(named.or_not().map(Option::flatten))
}

/// Parts apart from their rest, which must be the last.
fn split<T>(
    parts: Vec<(PatternPart<T>, Span)>,
    emitter: &mut chumsky::input::Emitter<ParseFailure>,
) -> (Vec<T>, Option<Option<Box<Name>>>) {
    let mut ones = Vec::with_capacity(parts.len());
    let mut rest = None;
    let count = parts.len();
    for (index, (part, span)) in parts.into_iter().enumerate() {
        match part {
            PatternPart::One(one) => ones.push(one),
            PatternPart::Rest(name) => {
                rest = Some(name);
                if index + 1 < count {
                    emitter.emit(ParseFailure::problem(Problem::RestNotLast, span));
                }
            }
            PatternPart::Error => {}
        }
    }
    (ones, rest)
}

/// `{a, b: p, c = d, ...rest}`, with its braces.
fn fields<'a>(
    cx: &'a ParseState,
    pattern: &GrammarRule<'a, Pattern>,
    expr: &GrammarRule<'a, Expr>,
) -> GrammarRule<'a, Fields> {
    let value = tok(Token::Colon).ignore_then(pattern.clone()).or_not();
    let default = tok(Token::Assign).ignore_then(expr.clone()).or_not();
    let field = choice((name(cx), plain_string(cx))).then(value).then(default).map(|((key, pattern), default)| {
        let pattern = pattern.unwrap_or_else(|| cx.pattern(PatternKind::Bind(key.text.clone()), key.span));
        PatternPart::One(PatternField { key, pattern, default })
    });
    let part = choice((rest(cx).map(PatternPart::Rest), field)).map_with(|part, e| (part, e.span())).boxed();
    elements(part, &[TokenClass::Comma, TokenClass::RBrace], |span| (PatternPart::Error, span))
        .delimited_by(tok(Token::LDict), tok(Token::RBrace))
        .validate(|parts, _, emitter| split(parts, emitter))
        .boxed()
}

fn dict<'a>(
    cx: &'a ParseState,
    pattern: &GrammarRule<'a, Pattern>,
    expr: &GrammarRule<'a, Expr>,
) -> GrammarRule<'a, Pattern> {
    fields(cx, pattern, expr)
        .map_with(|(fields, rest), e| cx.pattern(PatternKind::Dict { name: None, fields, rest }, e.span()))
        .boxed()
}

/// `[x, _ = 1, ...tail]`.
fn list<'a>(
    cx: &'a ParseState,
    pattern: &GrammarRule<'a, Pattern>,
    expr: GrammarRule<'a, Expr>,
) -> GrammarRule<'a, Pattern> {
    let default = tok(Token::Assign).ignore_then(expr).or_not();
    let one = pattern.clone().then(default).map(PatternPart::One);
    let part = choice((rest(cx).map(PatternPart::Rest), one)).map_with(|part, e| (part, e.span())).boxed();
    elements(part, &[TokenClass::Comma, TokenClass::RBracket], |span| (PatternPart::Error, span))
        .delimited_by(tok(Token::LBracket), tok(Token::RBracket))
        .validate(|parts, e, emitter| {
            let (items, rest) = split(parts, emitter);
            cx.pattern(PatternKind::List { items, rest }, e.span())
        })
        .boxed()
}

/// `(k, v)`, `(p)`.
fn pair<'a>(cx: &'a ParseState, pattern: &GrammarRule<'a, Pattern>) -> GrammarRule<'a, Pattern> {
    recovering(pattern.clone(), ends_element, &[TokenClass::Comma, TokenClass::RParen], error_pattern)
        .separated_by(just(Token::Comma))
        .at_least(1)
        .allow_trailing()
        .collect::<Vec<_>>()
        .delimited_by(tok(Token::LParen), tok(Token::RParen))
        .validate(|parts, e, emitter| {
            let span: Span = e.span();
            let mut parts = parts.into_iter();
            match (parts.next(), parts.next(), parts.next()) {
                (Some(only), None, _) => only,
                (Some(a), Some(b), None) => cx.pattern(PatternKind::Pair(Box::new(a), Box::new(b)), span),
                _ => {
                    emitter.emit(ParseFailure::problem(Problem::NoTriple, span));
                    error_pattern(span)
                }
            }
        })
        .boxed()
}

/// `1`, `-1`, `"a"`, `true`, `nil`, `1 to 5`.
fn constant<'a>(cx: &'a ParseState) -> GrammarRule<'a, Pattern> {
    let number = select! {
        Token::Int(value) = e => cx.node(ExprKind::Int(value), e.span()),
        Token::Float(value) = e => cx.node(ExprKind::Float(value), e.span()),
    };
    let number = tok(Token::Minus).or_not().then(number).map_with(|(minus, number), e| match (minus, &number.kind) {
        (None, _) => number,
        (Some(()), ExprKind::Int(i64::MIN)) => Expr { span: e.span(), ..number },
        (Some(()), _) => cx.node(ExprKind::Unary(UnaryOp::Neg, Box::new(number)), e.span()),
    });
    let text = plain_string(cx).map(|text| {
        let parts = if text.text.is_empty() { Vec::new() } else { vec![StrPart::Text(text.text.to_string())] };
        cx.node(ExprKind::Str(parts), text.span)
    });
    let word = select! {
        Token::Kw(Kw::Nil) = e => cx.node(ExprKind::Nil, e.span()),
        Token::Kw(Kw::True) = e => cx.node(ExprKind::Bool(true), e.span()),
        Token::Kw(Kw::False) = e => cx.node(ExprKind::Bool(false), e.span()),
    };
    let single = choice((number, text, word)).boxed();
    let upto = kw(Kw::To).ignore_then(single.clone()).then(kw(Kw::Exclusive).or_not());
    single
        .then(upto.or_not())
        .map_with(|(from, upto), e| {
            let span = e.span();
            let value = match upto {
                None => from,
                Some((to, exclusive)) => {
                    let exclusive = exclusive.is_some();
                    cx.node(ExprKind::Range { from: Box::new(from), to: Box::new(to), exclusive }, span)
                }
            };
            cx.pattern(PatternKind::Literal(Box::new(value)), span)
        })
        .boxed()
}

/// `name`, `name: T = default`, `{a, b}`, `...rest`.
pub(super) fn param<'a>(
    pattern: GrammarRule<'a, Pattern>,
    ty: GrammarRule<'a, TypeExpr>,
    expr: GrammarRule<'a, Expr>,
) -> GrammarRule<'a, Param> {
    custom(move |inp: &mut RuleInput<'a, '_>| {
        let start = inp.cursor();
        let rest = matches!(inp.peek(), Some(Token::Ellipsis));
        if rest {
            inp.skip();
        }
        let pattern = inp.parse(&pattern)?;
        let ty = annotation(inp, &ty)?;
        let default = assigned(inp, &expr)?;
        if default.is_none() {
            let wants = Wants::of(TokenClass::Assign);
            note_inside(inp, if ty.is_none() { wants.and(Wants::of(TokenClass::Colon)) } else { wants });
        }
        Ok(Param { pattern, ty, default, rest, span: inp.span_since(&start) })
    })
    .boxed()
}

/// `: T`, if it is there.
pub(super) fn annotation<'a>(
    inp: &mut RuleInput<'a, '_>,
    ty: &GrammarRule<'a, TypeExpr>,
) -> Result<Option<Box<TypeExpr>>, ParseFailure> {
    if !matches!(inp.peek(), Some(Token::Colon)) {
        return Ok(None);
    }
    inp.skip();
    inp.parse(ty).map(|ty| Some(Box::new(ty)))
}

/// `= e`, if it is there.
pub(super) fn assigned<'a>(
    inp: &mut RuleInput<'a, '_>,
    expr: &GrammarRule<'a, Expr>,
) -> Result<Option<Expr>, ParseFailure> {
    if !matches!(inp.peek(), Some(Token::Assign)) {
        return Ok(None);
    }
    inp.skip();
    inp.parse(expr).map(Some)
}
