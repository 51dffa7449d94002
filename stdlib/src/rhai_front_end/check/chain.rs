//! `x.y.f(1)[2]`: the members after a dot or in brackets. The kind of a member is known when it is
//! read.

use super::build::{around, holding};
use super::visitor::TreeVisitor;
use lang::ast::Expr;
use lang::source::Span;
use rhai::ASTFlags;

impl TreeVisitor<'_> {
    pub(super) fn chain(&mut self, e: &rhai::Expr, span: Span) -> Expr {
        let mut parts = Vec::new();
        match e {
            rhai::Expr::Dot(both, flags, _) => {
                parts.push(self.expr(&both.lhs));
                self.member(&both.rhs, *flags, &mut parts);
            }
            rhai::Expr::Index(both, flags, _) => {
                parts.push(self.expr(&both.lhs));
                self.index(&both.rhs, *flags, &mut parts);
            }
            _ => {}
        }
        let around = around(&parts, span);
        holding(parts, around)
    }

    /// Behind a dot.
    fn member(&mut self, e: &rhai::Expr, flags: ASTFlags, parts: &mut Vec<Expr>) {
        if self.too_deep() {
            return;
        }
        self.depth += 1;
        match e {
            rhai::Expr::Dot(both, next, _) if !flags.intersects(ASTFlags::BREAK) => {
                self.member(&both.lhs, ASTFlags::BREAK, parts);
                self.member(&both.rhs, *next, parts);
            }
            rhai::Expr::Index(both, next, _) if !flags.intersects(ASTFlags::BREAK) => {
                self.member(&both.lhs, ASTFlags::BREAK, parts);
                self.index(&both.rhs, *next, parts);
            }
            rhai::Expr::MethodCall(call, _) | rhai::Expr::FnCall(call, _) => {
                parts.extend(call.args.iter().map(|arg| self.expr(arg)));
            }
            _ => {}
        }
        self.depth -= 1;
    }

    /// Converts an index in brackets.
    fn index(&mut self, e: &rhai::Expr, flags: ASTFlags, parts: &mut Vec<Expr>) {
        if self.too_deep() {
            return;
        }
        self.depth += 1;
        match e {
            rhai::Expr::Dot(both, next, _) if !flags.intersects(ASTFlags::BREAK) => {
                parts.push(self.expr(&both.lhs));
                self.member(&both.rhs, *next, parts);
            }
            rhai::Expr::Index(both, next, _) if !flags.intersects(ASTFlags::BREAK) => {
                parts.push(self.expr(&both.lhs));
                self.index(&both.rhs, *next, parts);
            }
            e => parts.push(self.expr(e)),
        }
        self.depth -= 1;
    }
}
