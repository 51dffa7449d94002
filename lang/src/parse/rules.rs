//! Ties the rules together: expressions hold statements, patterns and types, and those hold expressions.

use super::failure::Want;
use super::input::{Cx, Ex, In, Rule, separators, tok};
use super::recover::{ends_statement, recovering};
use super::{expr, pattern, stmt, types};
use crate::ast::{Block, Expr, Param, Pattern, Stmt, StmtKind, TypeExpr};
use crate::lex::token::Token;
use crate::source::Span;
use chumsky::prelude::*;

/// The rules that the others are made of.
#[derive(Clone)]
pub(super) struct Rules<'a> {
    pub(super) cx: &'a Cx,
    pub(super) expr: Rule<'a, Expr>,
    pub(super) stmts: Rule<'a, Vec<Stmt>>,
    pub(super) block: Rule<'a, Block>,
    pub(super) pattern: Rule<'a, Pattern>,
    pub(super) ty: Rule<'a, TypeExpr>,
    pub(super) param: Rule<'a, Param>,
}

impl<'a> Rules<'a> {
    fn new(cx: &'a Cx, expr: Rule<'a, Expr>, stmt: Rule<'a, Stmt>, ty: Rule<'a, TypeExpr>) -> Self {
        let stmts = statements(stmt);
        let block = stmts
            .clone()
            .delimited_by(tok(Token::LBody), tok(Token::RBrace))
            .map_with(|stmts, e| cx.block(stmts, e.span()))
            .boxed();
        let pattern = recursive(|pattern| pattern::pattern(cx, &pattern.boxed(), expr.clone())).boxed();
        let param = pattern::param(pattern.clone(), ty.clone(), expr.clone());
        Self { cx, expr, stmts, block, pattern, ty, param }
    }
}

/// A whole file.
pub(super) fn module<'a>(cx: &'a Cx) -> impl Parser<'a, In<'a>, Vec<Stmt>, Ex> {
    let ty = recursive(|ty| types::ty(cx, ty.boxed())).boxed();
    let stmt = recursive(|stmt| {
        let stmt = stmt.boxed();
        let expr = recursive(|expr| expr::expr(&Rules::new(cx, expr.boxed(), stmt.clone(), ty.clone()))).boxed();
        stmt::stmt(&Rules::new(cx, expr, stmt, ty))
    });
    statements(stmt.boxed()).then_ignore(end())
}

/// Statements between separators, each recovering for itself.
fn statements<'a>(stmt: Rule<'a, Stmt>) -> Rule<'a, Vec<Stmt>> {
    separators()
        .or_not()
        .ignore_then(
            recovering(stmt, ends_statement, &[Want::Separator], error_stmt)
                .separated_by(separators())
                .allow_trailing()
                .collect(),
        )
        .boxed()
}

fn error_stmt(span: Span) -> Stmt {
    Stmt { kind: StmtKind::Error, span }
}
