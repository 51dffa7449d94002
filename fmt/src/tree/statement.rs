//! Statements and blocks.

use super::Writer;
use super::comments::Sep;
use super::expression::ExprContext;
use crate::document::Style;
use lang::ast::{Block, Expr, ExprKind, Stmt, StmtKind};
use lang::lex::token::Token;
use lang::source::Span;

impl Writer<'_> {
    pub(super) fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Let { kind: _, pattern, ty, value, public } => {
                if *public {
                    self.tok();
                    self.space();
                }
                self.tok();
                self.space();
                self.pattern(pattern);
                self.annotation(ty.as_deref());
                self.default(value.as_ref(), ExprContext::Free);
            }
            StmtKind::Assign { target, op: _, value } => {
                self.expr(target, ExprContext::Operand);
                self.space_tok();
                self.space();
                self.expr(value, ExprContext::Free);
            }
            StmtKind::Expr(e) => self.expr(e, ExprContext::Operand),
            StmtKind::While { cond, body } => self.with_body(cond, body),
            StmtKind::For { pattern, iter, body } => {
                self.doc.open(Style::All);
                self.tok();
                self.space();
                self.pattern(pattern);
                self.space_tok();
                self.head(iter);
                self.block(body);
                self.doc.close();
            }
            StmtKind::Guard { cond, otherwise } => {
                self.doc.open(Style::All);
                self.tok();
                self.head(cond);
                self.tok();
                self.space();
                self.block(otherwise);
                self.doc.close();
            }
            StmtKind::Require { cond, message } => {
                self.tok();
                self.space();
                self.expr(cond, ExprContext::Free);
                if let Some(message) = message {
                    self.tok();
                    self.space();
                    self.expr(message, ExprContext::Free);
                }
            }
            StmtKind::Defer(body) => self.with_block(body),
            StmtKind::Item(item) => self.item(item),
            StmtKind::Error => {}
        }
    }

    /// Prints ` = value`.
    pub(super) fn default(&mut self, value: Option<&Expr>, context: ExprContext) {
        if let Some(value) = value {
            self.space_tok();
            self.space();
            self.expr(value, context);
        }
    }

    /// Prints a word, an expression and a body.
    pub(super) fn with_body(&mut self, head: &Expr, body: &Block) {
        self.doc.open(Style::All);
        self.tok();
        self.head(head);
        self.block(body);
        self.doc.close();
    }

    /// Prints a word and a body.
    pub(super) fn with_block(&mut self, body: &Block) {
        self.doc.open(Style::All);
        self.tok();
        self.space();
        self.block(body);
        self.doc.close();
    }

    /// Prints the expression before a body, with the spaces around it.
    pub(super) fn head(&mut self, e: &Expr) {
        self.space();
        // A second operand must not look like the first statement.
        let deeper =
            matches!(e.kind, ExprKind::Binary(..) | ExprKind::Logic(..) | ExprKind::Ternary(..) | ExprKind::Pipe(..));
        if deeper {
            self.doc.indent();
        }
        self.expr(e, ExprContext::Head);
        if deeper {
            self.doc.dedent();
        }
        self.space();
    }

    /// Prints a body in the innermost group. It stays on one line if it was written so and has one statement.
    pub(super) fn block(&mut self, block: &Block) {
        if block.stmts.len() > 1 || self.cursor.has_lines(block.span) {
            self.doc.must_break();
        }
        self.tok();
        self.doc.opened();
        self.statements(&block.stmts, true);
        self.close_body(block.stmts.is_empty());
    }

    /// Prints the statements of a body; `first` says whether nothing is before them.
    pub(super) fn statements(&mut self, stmts: &[Stmt], first: bool) {
        self.doc.indent();
        for (number, stmt) in stmts.iter().enumerate() {
            match number {
                0 if !first => {}
                0 => self.sep(Sep::Line { blank: false }),
                _ => self.sep(Sep::Hard { blank: true }),
            }
            self.stmt(stmt);
        }
    }

    /// Prints the comments at the end of a body and its closing bracket.
    pub(super) fn close_body(&mut self, empty: bool) {
        let commented = self.cursor.comment().is_some();
        self.inner_comments();
        self.doc.dedent();
        if !empty || commented {
            self.sep(Sep::Line { blank: false });
        }
        self.tok();
    }

    /// Prints members between braces, which end at `end`: on one line with commas if they were written so, else one on each line.
    pub(super) fn members<T>(&mut self, end: u32, members: &[T], mut print: impl FnMut(&mut Self, &T)) {
        if !members.is_empty() && self.cursor.has_lines(Span::new(self.cursor.start(), end)) {
            self.doc.must_break();
        }
        self.tok();
        self.doc.opened();
        self.doc.indent();
        for (number, member) in members.iter().enumerate() {
            self.sep(Sep::Line { blank: number > 0 });
            print(self, member);
            if number + 1 < members.len() {
                self.doc.if_flat(',');
            }
            while self.peek() == Token::Comma {
                self.skip();
            }
        }
        self.close_body(members.is_empty());
    }
}
