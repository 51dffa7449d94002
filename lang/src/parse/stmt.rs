//! Statements.

use super::expr::{begins_expr, is_place};
use super::failure::{ParseFailure, Problem, TokenClass, Wants};
use super::input::{GrammarRule, RuleInput, kw, missed, note_inside, tok};
use super::item::{begins_item, item};
use super::pattern::{annotation, assigned};
use super::recover::head;
use super::rules::Rules;
use crate::ast::{BinaryOp, ExprKind, LetKind, Stmt, StmtKind};
use crate::lex::token::{Kw, Token};
use chumsky::prelude::*;

/// Any statement.
pub(super) fn stmt<'a>(rules: &Rules<'a>) -> GrammarRule<'a, Stmt> {
    let (looping, iterating) = (looping(rules), iterating(rules));
    let (guarding, requiring) = (guarding(rules), requiring(rules));
    let deferring = kw(Kw::Defer).ignore_then(rules.block.clone()).map(StmtKind::Defer).boxed();
    let item = item(rules);
    let rules = rules.clone();
    custom(move |inp: &mut RuleInput<'a, '_>| {
        let start = inp.cursor();
        let kind = match inp.peek() {
            Some(Token::Kw(Kw::Let | Kw::Const | Kw::Var)) => binding(inp, &rules),
            Some(Token::Kw(Kw::For)) => inp.parse(&iterating),
            Some(Token::Kw(Kw::While)) => inp.parse(&looping),
            Some(Token::Kw(Kw::Guard)) => inp.parse(&guarding),
            Some(Token::Kw(Kw::Require)) => inp.parse(&requiring),
            Some(Token::Kw(Kw::Defer)) => inp.parse(&deferring),
            Some(Token::Kw(Kw::Pub)) if binding_kind(second(inp)).is_some() => binding(inp, &rules),
            Some(Token::Ident("gen")) if second(inp) != Some(Token::Kw(Kw::Fn)) => expression(inp, &rules),
            Some(Token::Ident("test")) if matches!(second(inp), Some(Token::StrStart(_) | Token::Raw(_))) => {
                inp.parse(&item)
            }
            Some(token) if begins_item(token) => inp.parse(&item),
            Some(token) if begins_expr(token) => expression(inp, &rules),
            _ => Err(missed(inp, Wants::of(TokenClass::Expr).and(Wants::of(TokenClass::Separator)))),
        }?;
        Ok(Stmt { kind, span: inp.span_since(&start) })
    })
    .boxed()
}

/// The token after the next one.
fn second<'a>(inp: &mut RuleInput<'a, '_>) -> Option<Token<'a>> {
    let start = inp.save();
    inp.skip();
    let second = inp.peek();
    inp.rewind(start);
    second
}

/// The kind of binding that a word begins.
fn binding_kind(token: Option<Token<'_>>) -> Option<LetKind> {
    match token {
        Some(Token::Kw(Kw::Let)) => Some(LetKind::Let),
        Some(Token::Kw(Kw::Const)) => Some(LetKind::Const),
        Some(Token::Kw(Kw::Var)) => Some(LetKind::Var),
        _ => None,
    }
}

/// `let p: T = v`.
fn binding<'a>(inp: &mut RuleInput<'a, '_>, rules: &Rules<'a>) -> Result<StmtKind, ParseFailure> {
    let public = matches!(inp.peek(), Some(Token::Kw(Kw::Pub)));
    if public {
        inp.skip();
    }
    let Some(kind) = binding_kind(inp.peek()) else { return Err(missed(inp, Wants::default())) };
    inp.skip();
    let pattern = inp.parse(&rules.pattern)?;
    let ty = annotation(inp, &rules.ty)?;
    let value = assigned(inp, &rules.expr)?;
    if value.is_none() {
        let wants = Wants::of(TokenClass::Assign);
        note_inside(inp, if ty.is_none() { wants.and(Wants::of(TokenClass::Colon)) } else { wants });
    }
    Ok(StmtKind::Let { kind, pattern, ty, value, public })
}

fn iterating<'a>(rules: &Rules<'a>) -> GrammarRule<'a, StmtKind> {
    kw(Kw::For)
        .ignore_then(rules.pattern.clone())
        .then_ignore(kw(Kw::In))
        .then(head(rules.expr.clone()))
        .then(rules.block.clone())
        .map(|((pattern, iter), body)| StmtKind::For { pattern, iter, body })
        .boxed()
}

fn looping<'a>(rules: &Rules<'a>) -> GrammarRule<'a, StmtKind> {
    kw(Kw::While)
        .ignore_then(head(rules.expr.clone()))
        .then(rules.block.clone())
        .map(|(cond, body)| StmtKind::While { cond, body })
        .boxed()
}

fn guarding<'a>(rules: &Rules<'a>) -> GrammarRule<'a, StmtKind> {
    kw(Kw::Guard)
        .ignore_then(rules.expr.clone())
        .then_ignore(kw(Kw::Else))
        .then(rules.block.clone())
        .map(|(cond, otherwise)| StmtKind::Guard { cond, otherwise })
        .boxed()
}

fn requiring<'a>(rules: &Rules<'a>) -> GrammarRule<'a, StmtKind> {
    kw(Kw::Require)
        .ignore_then(rules.expr.clone())
        .then(tok(Token::Comma).ignore_then(rules.expr.clone()).or_not())
        .map(|(cond, message)| StmtKind::Require { cond, message })
        .boxed()
}

/// The operator of a compound assignment, or none for `=`.
fn assign_op(token: Token<'_>) -> Option<Option<BinaryOp>> {
    Some(match token {
        Token::Assign => None,
        Token::PlusAssign => Some(BinaryOp::Add),
        Token::MinusAssign => Some(BinaryOp::Sub),
        Token::StarAssign => Some(BinaryOp::Mul),
        Token::SlashAssign => Some(BinaryOp::Div),
        Token::PercentAssign => Some(BinaryOp::Rem),
        _ => return None,
    })
}

/// An expression, or an assignment to what it names.
fn expression<'a>(inp: &mut RuleInput<'a, '_>, rules: &Rules<'a>) -> Result<StmtKind, ParseFailure> {
    let target = inp.parse(&rules.expr)?;
    let Some(op) = inp.peek().and_then(assign_op) else { return Ok(StmtKind::Expr(target)) };
    inp.skip();
    let value = inp.parse(&rules.expr)?;
    if !is_place(&target) && !matches!(target.kind, ExprKind::Placeholder) {
        inp.emit(ParseFailure::problem(Problem::AssignTarget, target.span));
    }
    Ok(StmtKind::Assign { target, op, value })
}
