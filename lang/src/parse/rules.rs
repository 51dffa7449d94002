//! Ties the rules together: expressions hold statements, patterns and types, and those hold expressions.

use super::failure::TokenClass;
use super::input::{Ex, GrammarRule, In, ParseState, RuleInput, note_failure, skip_separators, take};
use super::recover::{ends_statement, push, recovered};
use super::{expr, pattern, stmt, types};
use crate::ast::{Block, Expr, Param, Pattern, Stmt, StmtKind, TypeExpr};
use crate::lex::token::Token;
use crate::source::Span;
use chumsky::prelude::*;

/// The rules that the others are made of.
#[derive(Clone)]
pub(super) struct Rules<'a> {
    pub(super) cx: &'a ParseState,
    pub(super) expr: GrammarRule<'a, Expr>,
    pub(super) stmts: GrammarRule<'a, Vec<Stmt>>,
    pub(super) block: GrammarRule<'a, Block>,
    pub(super) pattern: GrammarRule<'a, Pattern>,
    pub(super) ty: GrammarRule<'a, TypeExpr>,
    pub(super) param: GrammarRule<'a, Param>,
}

impl<'a> Rules<'a> {
    fn new(
        cx: &'a ParseState,
        expr: GrammarRule<'a, Expr>,
        stmt: GrammarRule<'a, Stmt>,
        ty: GrammarRule<'a, TypeExpr>,
    ) -> Self {
        let stmts = statements(stmt);
        let block = block(cx, stmts.clone());
        let pattern = recursive(|pattern| pattern::pattern(cx, &pattern.boxed(), expr.clone())).boxed();
        let param = pattern::param(pattern.clone(), ty.clone(), expr.clone());
        Self { cx, expr, stmts, block, pattern, ty, param }
    }
}

/// A whole file.
pub(super) fn module<'a>(cx: &'a ParseState) -> impl Parser<'a, In<'a>, Vec<Stmt>, Ex> {
    let ty = recursive(|ty| types::ty(cx, ty.boxed())).boxed();
    let stmt = recursive(|stmt| {
        let stmt = stmt.boxed();
        let expr = recursive(|expr| expr::expr(&Rules::new(cx, expr.boxed(), stmt.clone(), ty.clone()))).boxed();
        stmt::stmt(&Rules::new(cx, expr, stmt, ty))
    });
    statements(stmt.boxed()).then_ignore(end())
}

/// Statements between separators, each recovering for itself.
fn statements<'a>(stmt: GrammarRule<'a, Stmt>) -> GrammarRule<'a, Vec<Stmt>> {
    custom(move |inp: &mut RuleInput<'a, '_>| {
        let mut stmts = Vec::new();
        skip_separators(inp);
        while inp.peek().is_some_and(|token| !token.closes()) {
            let stmt = match recovered(inp, &stmt, ends_statement, &[TokenClass::Separator], error_stmt) {
                Ok(stmt) => stmt,
                Err(failure) => {
                    note_failure(inp, failure);
                    break;
                }
            };
            let more = skip_separators(inp);
            push(&mut stmts, stmt, !more || inp.peek().is_none_or(Token::closes));
            if !more {
                break;
            }
        }
        Ok(stmts)
    })
    .boxed()
}

/// Statements between braces.
fn block<'a>(cx: &'a ParseState, stmts: GrammarRule<'a, Vec<Stmt>>) -> GrammarRule<'a, Block> {
    custom(move |inp: &mut RuleInput<'a, '_>| {
        let start = inp.cursor();
        take(inp, |token| matches!(token, Token::LBody), TokenClass::Body)?;
        let stmts = inp.parse(&stmts)?;
        take(inp, |token| matches!(token, Token::RBrace), TokenClass::RBrace)?;
        Ok(cx.block(stmts, inp.span_since(&start)))
    })
    .boxed()
}

fn error_stmt(span: Span) -> Stmt {
    Stmt { kind: StmtKind::Error, span }
}
