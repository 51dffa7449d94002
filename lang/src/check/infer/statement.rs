//! Statements and blocks, and what control never reaches.

use super::Checker;
use super::want::{DemandOrigin, ExpectedType};
use crate::ast::*;
use crate::check::types::Type;
use crate::source::Span;

impl<'a> Checker<'a> {
    /// Returns the type of the last expression.
    pub(super) fn module(&mut self, module: &'a Module) -> Type {
        self.statements(&module.body, ExpectedType::FREE)
    }

    /// The value of a block's last expression.
    pub(super) fn block(&mut self, block: &'a Block, want: ExpectedType<'_>) -> Type {
        self.statements(&block.stmts, want)
    }

    fn statements(&mut self, stmts: &'a [Stmt], want: ExpectedType<'_>) -> Type {
        self.world.items.declare(stmts, self.world.names);
        let mut value = Type::Nil;
        for (i, stmt) in stmts.iter().enumerate() {
            if self.flow.dead {
                self.unreachable(&stmts[i..]);
                break;
            }
            let last = i + 1 == stmts.len();
            value = match &stmt.kind {
                StmtKind::Expr(e) => {
                    let ty = self.expr(e, if last { want } else { ExpectedType::DROPPED });
                    if last { ty } else { Type::Nil }
                }
                _ => {
                    self.statement(stmt);
                    Type::Nil
                }
            };
        }
        let after = self.flow.clone();
        for stmt in stmts {
            if let StmtKind::Item(item) = &stmt.kind {
                self.item(item);
            }
        }
        self.flow = after;
        if self.flow.dead { Type::Never } else { value }
    }

    fn unreachable(&mut self, stmts: &'a [Stmt]) {
        let idle = |stmt: &&Stmt| !matches!(stmt.kind, StmtKind::Item(_) | StmtKind::Error);
        let (Some(first), Some(last)) = (stmts.iter().find(idle), stmts.iter().rfind(idle)) else { return };
        let span = Span::new(first.span.start, last.span.end);
        // A declaration between them counts wherever it is.
        let removable =
            stmts.iter().all(|stmt| idle(&stmt) || stmt.span.end <= span.start || stmt.span.start >= span.end);
        self.dead(span, self.frame.left, removable);
    }

    fn statement(&mut self, stmt: &'a Stmt) {
        match &stmt.kind {
            StmtKind::Let { kind, pattern, ty, value, .. } => {
                self.binding(*kind, pattern, ty.as_deref(), value.as_ref());
            }
            StmtKind::Assign { target, op, value } => self.assignment(target, *op, value, stmt.span),
            StmtKind::Expr(e) => {
                self.expr(e, ExpectedType::DROPPED);
            }
            StmtKind::While { cond, body } => self.while_loop(cond, body, stmt.span),
            StmtKind::For { pattern, iter, body } => self.for_loop(pattern, iter, body),
            StmtKind::Guard { cond, otherwise } => {
                let mark = self.loosened.len();
                let (holds, fails) = self.condition(cond);
                self.keep_loose(mark);
                self.flow = fails;
                self.block(otherwise, ExpectedType::DROPPED);
                // Whether the block leaves is looked at elsewhere.
                self.flow = holds;
            }
            StmtKind::Require { cond, message } => {
                let mark = self.loosened.len();
                let (holds, fails) = self.condition(cond);
                self.keep_loose(mark);
                self.flow = fails;
                if let Some(message) = message {
                    self.expr(message, ExpectedType::FREE);
                }
                self.flow = holds;
            }
            StmtKind::Defer(body) => {
                // It runs later, when variables may hold something else.
                let before = self.flow.clone();
                self.flow = before.at_another_time();
                self.block(body, ExpectedType::DROPPED);
                self.flow = before;
            }
            StmtKind::Item(_) | StmtKind::Error => {}
        }
    }

    fn binding(&mut self, kind: LetKind, pattern: &'a Pattern, ty: Option<&'a TypeExpr>, value: Option<&'a Expr>) {
        let written = ty.map(|ty| self.written(ty));
        let found = match (value, &written) {
            (Some(value), Some(wanted)) => {
                let span = ty.map_or(pattern.span, |t| t.span);
                let found = self.expr(value, ExpectedType::must(wanted, DemandOrigin::Written(span)));
                self.as_written(found, wanted)
            }
            (Some(value), None) => self.expr(value, ExpectedType::FREE),
            (None, _) => Type::Nil,
        };
        if kind == LetKind::Var {
            self.bind_var(pattern, &found, written);
        } else {
            self.bind_pattern(pattern, &found, false);
            if let (Some(value), PatternKind::Bind(_)) = (value, &pattern.kind)
                && let Some(id) = self.world.names.made(pattern.id)
            {
                self.name_test(id, value);
            }
        }
    }

    fn while_loop(&mut self, cond: &'a Expr, body: &'a Block, span: Span) {
        self.forget_assigned(body);
        let mark = self.loosened.len();
        let (holds, fails) = self.condition(cond);
        self.keep_loose(mark);
        self.flow = holds;
        self.loops.push(Vec::new());
        self.block(body, ExpectedType::DROPPED);
        let breaks = self.loops.pop().unwrap_or_default();
        // What the body has told may not hold when it never ran.
        self.flow = fails;
        if matches!(cond.kind, ExprKind::Bool(true)) {
            self.flow.dead = true;
            self.frame.left = Some(Span::new(span.start, cond.span.end));
        }
        for flow in breaks {
            let here = std::mem::take(&mut self.flow);
            self.flow = self.meet(here, flow);
        }
        self.forget_assigned(body);
    }

    fn for_loop(&mut self, pattern: &'a Pattern, iter: &'a Expr, body: &'a Block) {
        let walked = self.expr(iter, ExpectedType::FREE);
        let item = self.element(&walked, iter);
        self.forget_assigned(body);
        let before = self.flow.clone();
        self.bind_pattern(pattern, &item, false);
        self.loops.push(Vec::new());
        self.block(body, ExpectedType::DROPPED);
        self.loops.pop();
        self.flow = before;
    }
}
