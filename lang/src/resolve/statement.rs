//! Statements, declarations and patterns.

use super::scope::{BindingId, BindingKind};
use super::walk::Walk;
use super::yields::{Body, BodyOf};
use crate::ast::*;

impl Walk<'_> {
    pub(super) fn statements(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            if let StmtKind::Item(item) = &stmt.kind {
                self.public = item.public;
                self.declare(item);
                self.public = false;
            }
        }
        for stmt in stmts {
            self.statement(stmt);
        }
        let depth = self.scopes.len() - 1;
        for stmt in stmts {
            if let StmtKind::Item(item) = &stmt.kind {
                self.hoisted.push(depth);
                self.item_body(item);
                self.hoisted.pop();
            }
        }
    }

    pub(super) fn declare(&mut self, item: &Item) {
        let (name, kind) = match &item.kind {
            ItemKind::Fn(d) | ItemKind::Tool { decl: d, .. } => (&d.name, BindingKind::Function),
            ItemKind::Pipeline { decl, .. } => (&decl.name, BindingKind::Pipeline),
            ItemKind::Struct { name, .. }
            | ItemKind::Enum { name, .. }
            | ItemKind::Interface { name, .. }
            | ItemKind::TypeAlias { name, .. } => (name, BindingKind::Type),
            ItemKind::Import { names, path, path_span } => return self.import(names.as_deref(), path, *path_span),
            ItemKind::Override(_) | ItemKind::Impl { .. } => return,
        };
        // `default` is how a pipeline is chosen, not a name that could be used.
        if kind == BindingKind::Pipeline && name.text == "default" {
            return;
        }
        self.bind(&name.text, name.span, kind);
    }

    pub(super) fn item_body(&mut self, item: &Item) {
        match &item.kind {
            ItemKind::Fn(decl) | ItemKind::Override(decl) => self.function(decl),
            ItemKind::Pipeline { decl, .. } => self.function_of(decl, BodyOf::Pipeline),
            ItemKind::Tool { decl, description } => {
                if let Some(d) = description {
                    self.expr(d);
                }
                self.function_of(decl, BodyOf::Tool);
            }
            ItemKind::Impl { methods, .. } => {
                for method in methods {
                    if let ItemKind::Fn(decl) = &method.kind {
                        self.function(decl);
                    }
                }
            }
            _ => {}
        }
    }

    pub(super) fn function(&mut self, decl: &FnDecl) {
        self.function_of(decl, if decl.generator { BodyOf::Stream } else { BodyOf::Function });
    }

    pub(super) fn function_of(&mut self, decl: &FnDecl, of: BodyOf) {
        let own = self.out.made_at(decl.name.span);
        self.in_function(own, |walk| {
            walk.params(&decl.params);
            walk.begin_body(of, &decl.body);
            walk.block(&decl.body);
        });
    }

    pub(super) fn in_function(&mut self, own: Option<BindingId>, body: impl FnOnce(&mut Self)) {
        self.functions += 1;
        let outer = (std::mem::replace(&mut self.function, self.functions), std::mem::take(&mut self.loops));
        let outer_body = std::mem::replace(&mut self.body, Body { of: BodyOf::Parameter, ..Body::default() });
        self.own.push(own);
        self.open(u32::MAX);
        body(self);
        self.close(false);
        self.own.pop();
        (self.function, self.loops) = outer;
        self.body = outer_body;
    }

    pub(super) fn params(&mut self, params: &[Param]) {
        for param in params {
            if let Some(default) = &param.default {
                self.expr(default);
            }
            self.pattern(&param.pattern, BindingKind::Parameter);
        }
    }

    pub(super) fn block(&mut self, block: &Block) {
        self.open(block.span.start);
        self.statements(&block.stmts);
        self.close(false);
    }

    pub(super) fn statement(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Let { kind, pattern, value, public, .. } => {
                if let Some(value) = value {
                    self.expr(value);
                }
                let kind = if *kind == LetKind::Var { BindingKind::Var } else { BindingKind::Let };
                self.public = *public;
                self.pattern(pattern, kind);
                self.public = false;
            }
            StmtKind::Assign { target, op, value } => {
                self.expr(value);
                self.target(target, op.is_some());
            }
            StmtKind::Expr(e) => self.expr(e),
            StmtKind::While { cond, body } => {
                self.expr(cond);
                self.in_loop(|walk| walk.block(body));
            }
            StmtKind::For { pattern, iter, body } => {
                self.expr(iter);
                self.open(u32::MAX);
                self.pattern(pattern, BindingKind::Loop);
                self.in_loop(|walk| walk.block(body));
                self.close(false);
            }
            StmtKind::Guard { cond, otherwise } => {
                self.expr(cond);
                self.block(otherwise);
            }
            StmtKind::Require { cond, message } => {
                self.expr(cond);
                if let Some(m) = message {
                    self.expr(m);
                }
            }
            StmtKind::Defer(body) => self.guard_block(body),
            // Declared before the first statement; bodies come after the last.
            StmtKind::Item(_) | StmtKind::Error => {}
        }
    }

    pub(super) fn in_loop(&mut self, body: impl FnOnce(&mut Self)) {
        self.loops += 1;
        body(self);
        self.loops -= 1;
    }

    /// What is assigned to: a name, or a path that starts at one.
    pub(super) fn target(&mut self, target: &Expr, also_read: bool) {
        match &target.kind {
            ExprKind::Name(name) => {
                self.assign(name, target.span);
                if also_read && let Some((id, _)) = self.lookup(name) {
                    self.out.bindings[id as usize].read = true;
                }
            }
            ExprKind::Field { object, .. } => self.target(object, true),
            ExprKind::Index { object, index, .. } => {
                self.target(object, true);
                self.expr(index);
            }
            _ => self.expr(target),
        }
    }

    pub(super) fn pattern(&mut self, pattern: &Pattern, kind: BindingKind) {
        match &pattern.kind {
            PatternKind::Wildcard | PatternKind::Error => {}
            PatternKind::Bind(name) => self.bind(name, pattern.span, kind),
            PatternKind::Literal(e) => self.expr(e),
            PatternKind::Dict { fields, rest, .. } => {
                for field in fields {
                    if let Some(default) = &field.default {
                        self.expr(default);
                    }
                    self.pattern(&field.pattern, kind);
                }
                self.rest(rest.as_ref(), kind);
            }
            PatternKind::List { items, rest } => {
                for (item, default) in items {
                    if let Some(default) = default {
                        self.expr(default);
                    }
                    self.pattern(item, kind);
                }
                self.rest(rest.as_ref(), kind);
            }
            PatternKind::Pair(a, b) => {
                self.pattern(a, kind);
                self.pattern(b, kind);
            }
            PatternKind::Variant { args, .. } => {
                for arg in args {
                    self.pattern(arg, kind);
                }
            }
            PatternKind::Or(alternatives) => {
                for alternative in alternatives {
                    self.pattern(alternative, kind);
                }
            }
        }
    }

    pub(super) fn rest(&mut self, rest: Option<&Option<Name>>, kind: BindingKind) {
        if let Some(Some(name)) = rest {
            self.bind(&name.text, name.span, kind);
        }
    }
}
