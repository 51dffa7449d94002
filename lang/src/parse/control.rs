//! Expressions that begin with a word: `if`, `match`, `try`, `retry`, `parallel`, `return` …

use super::expr::{begins_expr, closure};
use super::failure::{ParseFailure, Problem, TokenClass, Wants};
use super::input::{
    Ex, GrammarRule, In, RuleInput, by_token, kw, member_separators, name_or_blank, note, take, tok, when, word,
};
use super::pattern::error_pattern;
use super::recover::{before, begins_body, ends_member, error_expr, head};
use super::rules::Rules;
use crate::ast::{Arm, Block, Catch, Expr, ExprKind, ParallelKind, SelectArm, TryBlock};
use crate::lex::token::{Kw, Token};
use crate::source::Span;
use chumsky::prelude::*;

/// Does such an expression begin with `kw`?
pub(super) fn begins(kw: Kw) -> bool {
    matches!(
        kw,
        Kw::If
            | Kw::Match
            | Kw::Try
            | Kw::Retry
            | Kw::Parallel
            | Kw::Spawn
            | Kw::Deadline
            | Kw::Mutex
            | Kw::Select
            | Kw::Return
            | Kw::Throw
            | Kw::Yield
            | Kw::Emit
    )
}

/// All of them.
pub(super) fn control<'a>(rules: &Rules<'a>) -> GrammarRule<'a, Expr> {
    let cx = rules.cx;
    let bodies = choice((
        matching(rules),
        trying(rules),
        with_body(rules, Kw::Retry, |times, body| ExprKind::Retry { times: Box::new(times), body }),
        with_body(rules, Kw::Deadline, |limit, body| ExprKind::Deadline { limit: Box::new(limit), body }),
        parallel(rules),
        kw(Kw::Spawn).ignore_then(rules.block.clone()).map(ExprKind::Spawn).boxed(),
        kw(Kw::Mutex).ignore_then(rules.block.clone()).map(ExprKind::Mutex).boxed(),
        select(rules),
    ));
    let bodies = bodies.map_with(|kind, e| cx.node(kind, e.span())).boxed();
    by_token(
        [branching(rules), leaving(rules), bodies],
        |token| match token {
            Token::Kw(Kw::If) => Some(0),
            Token::Kw(Kw::Return | Kw::Throw | Kw::Yield | Kw::Emit) => Some(1),
            Token::Kw(kw) if begins(kw) => Some(2),
            _ => None,
        },
        TokenClass::Expr,
    )
}

/// `if c {…} else if d {…} else {…}`. A chain is a loop here, so its length is no depth of the parser.
fn branching<'a>(rules: &Rules<'a>) -> GrammarRule<'a, Expr> {
    let cx = rules.cx;
    let (head, block) = (head(rules.expr.clone()), rules.block.clone());
    custom(move |inp: &mut RuleInput<'a, '_>| {
        let mut chain = Vec::new();
        let last = loop {
            let start = inp.cursor();
            take(inp, |token| token == Token::Kw(Kw::If), TokenClass::Operator)?;
            let cond = inp.parse(&head)?;
            let then = inp.parse(&block)?;
            chain.push((inp.span_since(&start), cond, then));
            if inp.peek() != Some(Token::Kw(Kw::Else)) {
                note(inp, Wants::of(TokenClass::Else));
                break None;
            }
            inp.skip();
            if inp.peek() != Some(Token::Kw(Kw::If)) {
                let block = inp.parse(&block)?;
                let span = block.span;
                break Some(cx.node(ExprKind::Block(block), span));
            }
        };
        let built = chain.into_iter().rev().fold(last, |otherwise, (span, cond, then)| {
            let span = otherwise.as_ref().map_or(span, |o: &Expr| span.to(o.span));
            let kind = ExprKind::If { cond: Box::new(cond), then, otherwise: otherwise.map(Box::new) };
            Some(cx.node(kind, span))
        });
        Ok(built.unwrap_or_else(|| error_expr(Span::default())))
    })
    .boxed()
}

/// `return e`, `yield e`, `throw e`, `emit e`.
fn leaving<'a>(rules: &Rules<'a>) -> GrammarRule<'a, Expr> {
    let cx = rules.cx;
    let maybe = when(begins_expr, rules.expr.clone()).or_not().map(|e| e.map(Box::new));
    let value = rules.expr.clone().map(Box::new);
    choice((
        kw(Kw::Return).ignore_then(maybe.clone()).map(ExprKind::Return).boxed(),
        kw(Kw::Yield).ignore_then(maybe).map(ExprKind::Yield).boxed(),
        kw(Kw::Throw).ignore_then(value.clone()).map(ExprKind::Throw).boxed(),
        kw(Kw::Emit).ignore_then(value).map(ExprKind::Emit).boxed(),
    ))
    .map_with(|kind, e| cx.node(kind, e.span()))
    .boxed()
}

/// `retry n {…}` and others of that form.
fn with_body<'a>(rules: &Rules<'a>, word: Kw, make: fn(Expr, Block) -> ExprKind) -> GrammarRule<'a, ExprKind> {
    kw(word)
        .ignore_then(head(rules.expr.clone()))
        .then(rules.block.clone())
        .map(move |(value, body)| make(value, body))
        .boxed()
}

/// `match v { pattern if guard -> body … }`.
fn matching<'a>(rules: &Rules<'a>) -> GrammarRule<'a, ExprKind> {
    let arms =
        member_separators().ignore_then(arm(rules).then_ignore(member_separators()).repeated().collect::<Vec<_>>());
    kw(Kw::Match)
        .ignore_then(head(rules.expr.clone()))
        .then(arms.delimited_by(tok(Token::LBody), tok(Token::RBrace)))
        .map(|(value, arms)| ExprKind::Match { value: Box::new(value), arms })
        .boxed()
}

/// A block ends its arm, also where no line ends; an expression needs a separator.
fn arm<'a>(rules: &Rules<'a>) -> GrammarRule<'a, Arm> {
    let cx = rules.cx;
    let guard = kw(Kw::If).ignore_then(rules.expr.clone()).or_not();
    let block = rules.block.clone().map_with(|block, e| cx.node(ExprKind::Block(block), e.span()));
    let value = rules.expr.clone().then_ignore(before(ends_member, &[TokenClass::Separator]));
    let body = choice((when(|t| t == Token::LBody, block.boxed()), value.boxed()));
    rules
        .pattern
        .clone()
        .then(guard)
        .then_ignore(tok(Token::Arrow))
        .then(body)
        .map_with(|((pattern, guard), body), e| Arm { pattern, guard, body, span: e.span() })
        .recover_with(via_parser(skip_arm()))
        .boxed()
}

fn skip_arm<'a>() -> impl Parser<'a, In<'a>, Arm, Ex> + Clone {
    super::recover::skip_some(ends_member).map(|span| Arm {
        pattern: error_pattern(span),
        guard: None,
        body: error_expr(span),
        span,
    })
}

/// `try {…} catch (e: T) {…} finally {…}`.
fn trying<'a>(rules: &Rules<'a>) -> GrammarRule<'a, ExprKind> {
    let ty = tok(Token::Colon).ignore_then(rules.ty.clone()).or_not();
    let bound = name_or_blank(rules.cx).then(ty);
    let bound = choice((bound.clone().delimited_by(tok(Token::LParen), tok(Token::RParen)), bound)).or_not();
    let catch = kw(Kw::Catch).ignore_then(bound).then(rules.block.clone()).map(|(bound, body)| {
        let (name, ty) = bound.map_or((None, None), |(name, ty)| (Some(name), ty));
        Catch { name: name.filter(|n| n.text != "_"), ty, body }
    });
    let catches =
        catch.map_with(|catch, e| (catch, e.span())).repeated().collect::<Vec<_>>().validate(|catches, _, emitter| {
            let mut catches = catches.into_iter();
            let first = catches.next().map(|(catch, _)| catch);
            for (_, span) in catches {
                emitter.emit(ParseFailure::problem(Problem::SecondCatch, span));
            }
            first
        });
    let finally = kw(Kw::Finally).ignore_then(rules.block.clone()).or_not();
    kw(Kw::Try)
        .ignore_then(rules.block.clone())
        .then(catches)
        .then(finally)
        .map(|((body, catch), finally)| ExprKind::TryBlock(Box::new(TryBlock { body, catch, finally })))
        .boxed()
}

/// `parallel n {…}`, `parallel each xs with {…} {…}`, `parallel settle xs {…}`.
fn parallel<'a>(rules: &Rules<'a>) -> GrammarRule<'a, ExprKind> {
    let settle = kw(Kw::Settle).then(kw(Kw::Each).or_not()).map(|_| ParallelKind::Settle);
    let each = kw(Kw::Each).map(|()| ParallelKind::Each);
    let kind = choice((settle, each)).or_not().map(|kind| kind.unwrap_or(ParallelKind::Count));
    let options = word("with").ignore_then(rules.expr.clone()).map(Box::new).or_not();
    kw(Kw::Parallel)
        .ignore_then(kind)
        .then(before(|t| !begins_body(t), &[TokenClass::Expr]).ignore_then(rules.expr.clone()))
        .then(options)
        .then_ignore(before(begins_body, &[TokenClass::Closure]))
        .then(closure(rules))
        .map(|(((kind, over), options), body)| ExprKind::Parallel {
            kind,
            over: Box::new(over),
            options,
            body: Box::new(body),
        })
        .boxed()
}

/// `select { m from ch {…} timeout 5s {…} default {…} }`.
fn select<'a>(rules: &Rules<'a>) -> GrammarRule<'a, ExprKind> {
    let receive = name_or_blank(rules.cx)
        .then_ignore(kw(Kw::From))
        .then(head(rules.expr.clone()))
        .then(rules.block.clone())
        .map(|((name, channel), body)| SelectArm::Receive { name, channel, body });
    let timeout = word("timeout")
        .ignore_then(head(rules.expr.clone()))
        .then(rules.block.clone())
        .map(|(limit, body)| SelectArm::Timeout { limit, body });
    let default = word("default").ignore_then(rules.block.clone()).map(SelectArm::Default);
    let from = any().then(kw(Kw::From)).rewind();
    let arm = choice((from.ignore_then(receive).boxed(), timeout.boxed(), default.boxed()))
        .map(Some)
        .recover_with(via_parser(super::recover::skip_some(ends_member).map(|_| None)));
    kw(Kw::Select)
        .ignore_then(
            member_separators()
                .ignore_then(arm.then_ignore(member_separators()).repeated().collect::<Vec<_>>())
                .delimited_by(tok(Token::LBody), tok(Token::RBrace)),
        )
        .map(|arms| ExprKind::Select(arms.into_iter().flatten().collect()))
        .boxed()
}
