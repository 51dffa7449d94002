//! Operators between operands.

use super::Writer;
use super::comments::Sep;
use super::expression::ExprContext;
use crate::document::Style;
use lang::ast::{BinaryOp, Expr, ExprKind, LogicOp};

/// The precedence of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Power,
    Product,
    Coalesce,
    Sum,
    Comparison,
    Equality,
    And,
    Or,
    Pipe,
}

/// Returns the level of an operator and its operands.
fn parts(e: &Expr) -> Option<(Level, &Expr, &Expr)> {
    let (level, a, b) = match &e.kind {
        ExprKind::Binary(op, _, a, b) => {
            let level = match op {
                BinaryOp::Pow => Level::Power,
                BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => Level::Product,
                BinaryOp::Add | BinaryOp::Sub => Level::Sum,
                BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge | BinaryOp::In | BinaryOp::NotIn => {
                    Level::Comparison
                }
                BinaryOp::Eq | BinaryOp::Ne => Level::Equality,
            };
            (level, a, b)
        }
        ExprKind::Logic(op, a, b) => {
            let level = match op {
                LogicOp::And => Level::And,
                LogicOp::Or => Level::Or,
                LogicOp::Coalesce => Level::Coalesce,
            };
            (level, a, b)
        }
        ExprKind::Pipe(a, b) => (Level::Pipe, a, b),
        _ => return None,
    };
    Some((level, a, b))
}

/// Returns whether a line that begins with the operator would be a statement of its own.
fn ends_line(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Binary(BinaryOp::Sub | BinaryOp::In | BinaryOp::NotIn, ..))
}

impl Writer<'_> {
    /// Prints operands between operators of one level, which break together.
    pub(super) fn operators(&mut self, e: &Expr) {
        let Some((level, mut first, right)) = parts(e) else { return };
        let mut operands = vec![right];
        let mut trailing = ends_line(e);
        while level != Level::Power
            && first.parens == 0
            && let Some((same, a, b)) = parts(first)
            && same == level
        {
            trailing |= ends_line(first);
            operands.push(b);
            first = a;
        }
        self.doc.open(Style::Chain);
        self.expr(first, ExprContext::Operand);
        self.doc.indent();
        for operand in operands.into_iter().rev() {
            let line = Sep::Line { blank: false };
            self.written_break(level == Level::Pipe);
            self.sep(if trailing { Sep::Space } else { line });
            self.tok();
            self.written_break(level == Level::Pipe);
            self.sep(if trailing { line } else { Sep::Space });
            self.expr(operand, ExprContext::Operand);
        }
        self.doc.dedent();
        self.doc.close();
    }

    /// Notes a line break beside an operator, if there is one. Where it is not kept, the group breaks there only if it does not
    /// fit on a line.
    pub(super) fn written_break(&mut self, kept: bool) {
        if !self.cursor.on_new_line() {
            return;
        }
        if kept {
            self.doc.ask();
        } else {
            self.doc.wish();
        }
    }

    /// Prints `cond ? then : otherwise`.
    pub(super) fn ternary(&mut self, cond: &Expr, then: &Expr, otherwise: &Expr) {
        self.doc.open(Style::Chain);
        self.expr(cond, ExprContext::Operand);
        self.doc.indent();
        for branch in [then, otherwise] {
            self.written_break(false);
            self.sep(Sep::Line { blank: false });
            self.tok();
            self.written_break(false);
            self.space();
            self.expr(branch, ExprContext::Operand);
        }
        self.doc.dedent();
        self.doc.close();
    }
}
