//! Statements, declarations and patterns.

use super::codes;
use super::scope::{BindingId, BindingKind};
use super::walk::Walk;
use super::yields::{Around, BodyOf};
use crate::ast::*;
use crate::diagnostic::{Diagnostic, nearest};
use crate::source::Span;

impl Walk<'_> {
    pub(super) fn statements(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            if let StmtKind::Item(item) = &stmt.kind {
                self.declare(item);
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
            ItemKind::Override(_) | ItemKind::Impl { .. } | ItemKind::Import { .. } => return,
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
        let around = std::mem::replace(&mut self.around, Around { of: BodyOf::Parameter, ..Around::default() });
        self.own.push(own);
        self.open(u32::MAX);
        body(self);
        self.close(false);
        self.own.pop();
        (self.function, self.loops) = outer;
        self.around = around;
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
            StmtKind::Let { kind, pattern, value, .. } => {
                if let Some(value) = value {
                    self.expr(value);
                }
                let kind = if *kind == LetKind::Var { BindingKind::Var } else { BindingKind::Let };
                self.pattern(pattern, kind);
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
            StmtKind::Item(item) => {
                if let ItemKind::Import { names, path, path_span } = &item.kind {
                    self.import(names.as_deref().unwrap_or_default(), path, *path_span);
                }
            }
            StmtKind::Error => {}
        }
    }

    /// What the standard modules offer is global: importing it must only be right.
    pub(super) fn import(&mut self, names: &[(Name, Option<Name>)], path: &str, path_span: Span) {
        if !path.starts_with("std/") {
            for (name, alias) in names {
                let name = alias.as_ref().unwrap_or(name);
                self.bind(&name.text, name.span, BindingKind::Import);
            }
            return;
        }
        if !self.registry.modules().contains(&path) {
            let mut d = Diagnostic::error(codes::UNDEFINED, format!("there is no standard module `{path}`")).label(
                self.source,
                path_span,
                "not found",
            );
            if let Some(near) = nearest(path, self.registry.modules().iter().copied()) {
                d = d.help(format!("did you mean `{near}`?"));
            }
            self.found.push(d);
            return;
        }
        for (name, alias) in names {
            if self.registry.find("", &name.text).is_none() {
                self.undefined(&name.text, name.span);
            } else if let Some(alias) = alias {
                self.found.push(
                    Diagnostic::error(
                        crate::compile::NOT_YET,
                        "renaming what a standard module offers is not supported yet",
                    )
                    .label(self.source, alias.span, "not here yet")
                    .help(format!("bind it: `let {} = {}`", alias.text, name.text)),
                );
            }
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
