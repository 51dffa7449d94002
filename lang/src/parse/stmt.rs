//! Statements.

use super::expr::is_place;
use super::failure::{Failure, Problem};
use super::input::{Ex, In, Rule, kw, tok, when};
use super::item::{begins_item, item};
use super::recover::head;
use super::rules::Rules;
use crate::ast::{BinaryOp, ExprKind, LetKind, Stmt, StmtKind};
use crate::lex::token::{Kw, Token};
use chumsky::prelude::*;

/// Any statement.
pub(super) fn stmt<'a>(rules: &Rules<'a>) -> Rule<'a, Stmt> {
    let worded = choice((
        binding(rules),
        walking(rules),
        looping(rules),
        guarding(rules),
        requiring(rules),
        kw(Kw::Defer).ignore_then(rules.block.clone()).map(StmtKind::Defer).boxed(),
        item(rules),
    ))
    .boxed();
    let worded = when(
        |t| match t {
            Token::Kw(kw) => matches!(
                kw,
                Kw::Let | Kw::Const | Kw::Var | Kw::For | Kw::While | Kw::Guard | Kw::Require | Kw::Defer
            ),
            _ => false,
        } || begins_item(t),
        worded,
    );
    choice((worded, expression(rules))).map_with(|kind, e| Stmt { kind, span: e.span() }).boxed()
}

/// `let p: T = v`.
fn binding<'a>(rules: &Rules<'a>) -> Rule<'a, StmtKind> {
    let kind = select! {
        Token::Kw(Kw::Let) => LetKind::Let,
        Token::Kw(Kw::Const) => LetKind::Const,
        Token::Kw(Kw::Var) => LetKind::Var,
    };
    let ty = tok(Token::Colon).ignore_then(rules.ty.clone()).map(Box::new).or_not();
    let value = tok(Token::Assign).ignore_then(rules.expr.clone()).or_not();
    kw(Kw::Pub)
        .or_not()
        .then(kind)
        .then(rules.pattern.clone())
        .then(ty)
        .then(value)
        .map(|((((public, kind), pattern), ty), value)| StmtKind::Let {
            kind,
            pattern,
            ty,
            value,
            public: public.is_some(),
        })
        .boxed()
}

fn walking<'a>(rules: &Rules<'a>) -> Rule<'a, StmtKind> {
    kw(Kw::For)
        .ignore_then(rules.pattern.clone())
        .then_ignore(kw(Kw::In))
        .then(head(rules.expr.clone()))
        .then(rules.block.clone())
        .map(|((pattern, iter), body)| StmtKind::For { pattern, iter, body })
        .boxed()
}

fn looping<'a>(rules: &Rules<'a>) -> Rule<'a, StmtKind> {
    kw(Kw::While)
        .ignore_then(head(rules.expr.clone()))
        .then(rules.block.clone())
        .map(|(cond, body)| StmtKind::While { cond, body })
        .boxed()
}

fn guarding<'a>(rules: &Rules<'a>) -> Rule<'a, StmtKind> {
    kw(Kw::Guard)
        .ignore_then(rules.expr.clone())
        .then_ignore(kw(Kw::Else))
        .then(rules.block.clone())
        .map(|(cond, otherwise)| StmtKind::Guard { cond, otherwise })
        .boxed()
}

fn requiring<'a>(rules: &Rules<'a>) -> Rule<'a, StmtKind> {
    kw(Kw::Require)
        .ignore_then(rules.expr.clone())
        .then(tok(Token::Comma).ignore_then(rules.expr.clone()).or_not())
        .map(|(cond, message)| StmtKind::Require { cond, message })
        .boxed()
}

fn assign_op<'a>() -> impl Parser<'a, In<'a>, Option<BinaryOp>, Ex> + Clone {
    select! {
        Token::Assign => None,
        Token::PlusAssign => Some(BinaryOp::Add),
        Token::MinusAssign => Some(BinaryOp::Sub),
        Token::StarAssign => Some(BinaryOp::Mul),
        Token::SlashAssign => Some(BinaryOp::Div),
        Token::PercentAssign => Some(BinaryOp::Rem),
    }
}

/// An expression, or an assignment to what it names.
fn expression<'a>(rules: &Rules<'a>) -> Rule<'a, StmtKind> {
    rules
        .expr
        .clone()
        .then(assign_op().then(rules.expr.clone()).or_not())
        .validate(|(target, assigned), _, emitter| match assigned {
            None => StmtKind::Expr(target),
            Some((op, value)) => {
                if !is_place(&target) && !matches!(target.kind, ExprKind::Placeholder) {
                    emitter.emit(Failure::problem(Problem::AssignTarget, target.span));
                }
                StmtKind::Assign { target, op, value }
            }
        })
        .boxed()
}
