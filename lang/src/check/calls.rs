//! Every call of a builtin in a file, and what names are bound to.

use crate::ast::*;
use crate::builtins::Builtin;
use crate::resolve::{BindingId, Resolution, Target};
use crate::source::Span;
use std::collections::HashMap;

/// A call of a builtin.
pub(crate) struct Call<'a> {
    pub(crate) row: &'static Builtin,
    pub(crate) args: &'a [ListItem],
    pub(crate) span: Span,
}

/// All of them.
pub(crate) struct Calls<'a> {
    pub(crate) all: Vec<Call<'a>>,
    names: &'a Resolution,
    /// What `let`s bind, for following names to literals.
    lets: HashMap<BindingId, &'a Expr>,
}

impl<'a> Calls<'a> {
    /// The expression itself, or what the `let` bound that it names.
    pub(crate) fn follow(&self, e: &'a Expr) -> &'a Expr {
        let mut e = e;
        // A chain of names is short; a cycle cannot be written.
        for _ in 0..8 {
            let ExprKind::Name(_) = &e.kind else { return e };
            let Some(Target::Binding(id)) = self.names.uses.get(&e.span.start) else { return e };
            let Some(value) = self.lets.get(id) else { return e };
            e = value;
        }
        e
    }
}

pub(crate) fn collect<'a>(module: &'a Module, names: &'a Resolution) -> Calls<'a> {
    let mut calls = Calls { all: Vec::new(), names, lets: HashMap::new() };
    calls.statements(&module.body);
    calls
}

impl<'a> Calls<'a> {
    fn statements(&mut self, stmts: &'a [Stmt]) {
        for stmt in stmts {
            self.statement(stmt);
        }
    }

    fn block(&mut self, block: &'a Block) {
        self.statements(&block.stmts);
    }

    fn statement(&mut self, stmt: &'a Stmt) {
        match &stmt.kind {
            StmtKind::Let { kind, pattern, value, .. } => {
                if let Some(value) = value {
                    self.expr(value);
                    if *kind != LetKind::Var
                        && let PatternKind::Bind(_) = &pattern.kind
                        && let Some(id) = self.names.made_at(pattern.span)
                    {
                        self.lets.insert(id, value);
                    }
                }
            }
            StmtKind::Assign { target, value, .. } => {
                self.expr(target);
                self.expr(value);
            }
            StmtKind::Expr(e) => self.expr(e),
            StmtKind::While { cond, body } => {
                self.expr(cond);
                self.block(body);
            }
            StmtKind::For { iter, body, .. } => {
                self.expr(iter);
                self.block(body);
            }
            StmtKind::Guard { cond, otherwise } => {
                self.expr(cond);
                self.block(otherwise);
            }
            StmtKind::Require { cond, message } => {
                self.expr(cond);
                message.iter().for_each(|m| self.expr(m));
            }
            StmtKind::Defer(body) => self.block(body),
            StmtKind::Item(item) => self.item(item),
            StmtKind::Error => {}
        }
    }

    fn item(&mut self, item: &'a Item) {
        match &item.kind {
            ItemKind::Fn(decl)
            | ItemKind::Override(decl)
            | ItemKind::Pipeline { decl, .. }
            | ItemKind::Tool { decl, .. } => {
                self.params(&decl.params);
                self.block(&decl.body);
            }
            ItemKind::Impl { methods, .. } => methods.iter().for_each(|m| self.item(m)),
            _ => {}
        }
    }

    fn params(&mut self, params: &'a [Param]) {
        for param in params {
            param.default.iter().for_each(|d| self.expr(d));
        }
    }

    fn expr(&mut self, e: &'a Expr) {
        if let ExprKind::Call { callee, args } = &e.kind {
            self.call(callee, args, e.span);
        }
        e.children(&mut |child| self.expr(child));
        match &e.kind {
            ExprKind::Closure(closure) => {
                self.params(&closure.params);
                self.block(&closure.body);
            }
            ExprKind::If { then, otherwise, .. } => {
                self.block(then);
                otherwise.iter().for_each(|o| self.expr(o));
            }
            ExprKind::Match { arms, .. } => {
                for arm in arms {
                    arm.guard.iter().for_each(|g| self.expr(g));
                    self.expr(&arm.body);
                }
            }
            ExprKind::TryBlock(t) => {
                self.block(&t.body);
                t.catch.iter().for_each(|c| self.block(&c.body));
                t.finally.iter().for_each(|f| self.block(f));
            }
            ExprKind::Block(b) | ExprKind::Spawn(b) | ExprKind::Mutex(b) => self.block(b),
            ExprKind::Retry { body, .. } | ExprKind::Deadline { body, .. } => self.block(body),
            ExprKind::Parallel { options, body, .. } => {
                options.iter().for_each(|o| self.expr(o));
                self.block(&body.body);
            }
            ExprKind::Select(arms) => {
                for arm in arms {
                    match arm {
                        SelectArm::Receive { channel: head, body, .. } | SelectArm::Timeout { limit: head, body } => {
                            self.expr(head);
                            self.block(body);
                        }
                        SelectArm::Default(body) => self.block(body),
                    }
                }
            }
            _ => {}
        }
    }

    fn call(&mut self, callee: &'a Expr, args: &'a [ListItem], span: Span) {
        let row = match &callee.kind {
            ExprKind::Field { name, .. } => self.names.namespaced.get(&name.span.start).copied(),
            ExprKind::Name(_) => match self.names.uses.get(&callee.span.start) {
                Some(Target::Builtin(row)) => Some(*row),
                _ => None,
            },
            _ => None,
        };
        if let Some(row) = row {
            self.all.push(Call { row, args, span });
        }
    }
}
