//! Statements, declarations and patterns.

use super::resolver::Resolver;
use super::yields::{BodyOf, FunctionBody};
use super::{BindingId, BindingKind};
use crate::ast::*;
use crate::declaration::TypeDecl;
use crate::module::Takes;
use smol_str::SmolStr;
use std::rc::Rc;

impl Resolver<'_> {
    pub(super) fn statements(&mut self, stmts: &[Stmt]) {
        let in_pipeline = std::mem::take(&mut self.in_pipeline);
        for stmt in stmts {
            if let StmtKind::Item(item) = &stmt.kind {
                self.public = item.public;
                self.declare(item);
                self.public = false;
            }
        }
        self.link_types(stmts);
        for stmt in stmts {
            self.statement(stmt);
        }
        let depth = self.scopes.len() - 1;
        self.hoisted.push(depth);
        self.pipelines(stmts);
        for stmt in stmts {
            if let StmtKind::Item(item) = &stmt.kind {
                match &item.kind {
                    ItemKind::Override(decl) => self.override_body(decl, in_pipeline),
                    _ => self.item_body(item),
                }
            }
        }
        self.hoisted.pop();
    }

    pub(super) fn declare(&mut self, item: &Item) {
        let (name, kind) = match &item.kind {
            ItemKind::Fn(d) | ItemKind::Tool { decl: d, .. } => (&d.name, BindingKind::Function),
            ItemKind::Pipeline { decl, .. } => (&decl.name, BindingKind::Pipeline),
            ItemKind::Struct { .. }
            | ItemKind::Enum { .. }
            | ItemKind::Interface { .. }
            | ItemKind::TypeAlias { .. } => return self.declare_type(item),
            ItemKind::Import { names, path } => return self.import(names.as_deref(), path),
            ItemKind::Test(_) | ItemKind::Override(_) | ItemKind::Impl { .. } => return,
        };
        // `default` is how a pipeline is chosen, not a name that could be used.
        if kind == BindingKind::Pipeline && name.text == "default" {
            return;
        }
        let id = self.bind_new(&name.text, name.at(), kind);
        if let (Some(id), true, ItemKind::Fn(decl) | ItemKind::Tool { decl, .. }) = (id, self.at_top(), &item.kind) {
            let positional = decl.params.iter().take_while(|p| !p.rest);
            let (min, max) = (positional.clone().take_while(|p| p.default.is_none()).count(), positional.count());
            let max = (!decl.params.iter().any(|p| p.rest)).then_some(max);
            let params = decl.params.iter().filter(|p| !p.rest);
            let params = params.map(|p| p.ty.as_ref().map_or(p.span, |ty| ty.span)).collect();
            let takes = Takes { source: self.source.clone(), span: name.span, min, max, params };
            self.out.bindings[id as usize].takes = Some(Rc::new(takes));
        }
    }

    pub(super) fn item_body(&mut self, item: &Item) {
        for arg in item.attribute(TEST).iter().flat_map(|attribute| &attribute.args) {
            self.apart(|resolver| resolver.in_function(None, |resolver| resolver.expr(&arg.value)));
        }
        match &item.kind {
            ItemKind::Fn(decl) => self.function(decl),
            ItemKind::Test(decl) => self.function_of(decl, BodyOf::Task),
            ItemKind::Pipeline { .. } | ItemKind::Override(_) | ItemKind::Import { .. } => {}
            ItemKind::Tool { decl, description } => {
                if let Some(d) = description {
                    self.expr(d);
                }
                let own = self.out.made(decl.name.id);
                self.tools.extend(own);
                self.function_of(decl, BodyOf::Tool);
                self.tools.truncate(self.tools.len() - usize::from(own.is_some()));
            }
            ItemKind::Impl { target, methods, .. } => {
                // The type parameters of the type are known in its functions.
                let before = self.generics.len();
                let id = self.lookup(&target.text).map(|(id, _)| id);
                self.generics.extend(id.and_then(|id| self.type_generics.get(&id)).into_iter().flatten().cloned());
                for method in methods {
                    if let ItemKind::Fn(decl) = &method.kind {
                        self.apart(|resolver| resolver.function(decl));
                    }
                }
                self.generics.truncate(before);
            }
            ItemKind::Struct { generics, fields, .. } => self.with_generics(generics, |resolver| {
                for field in fields {
                    field.ty.iter().for_each(|ty| resolver.type_names(ty));
                    if let Some(default) = &field.default {
                        resolver.apart(|resolver| resolver.in_function(None, |resolver| resolver.expr(default)));
                    }
                }
            }),
            ItemKind::Enum { generics, variants, .. } => self.with_generics(generics, |resolver| {
                variants.iter().flat_map(|v| &v.fields).for_each(|ty| resolver.type_names(ty));
            }),
            ItemKind::Interface { generics, methods, .. } => self.with_generics(generics, |resolver| {
                methods.iter().for_each(|method| resolver.head(method));
            }),
            ItemKind::TypeAlias { generics, ty, .. } => {
                self.with_generics(generics, |resolver| resolver.type_names(ty));
            }
        }
    }

    pub(super) fn with_generics(&mut self, generics: &[Name], body: impl FnOnce(&mut Self)) {
        let before = self.generics.len();
        self.generics.extend(generics.iter().map(|g| g.text.clone()));
        body(self);
        self.generics.truncate(before);
    }

    /// The types in a function's head.
    fn head(&mut self, decl: &FnDecl) {
        self.with_generics(&decl.generics, |resolver| {
            decl.params
                .iter()
                .filter_map(|p| p.ty.as_deref())
                .chain(&decl.returns)
                .for_each(|ty| resolver.type_names(ty));
        });
    }

    pub(super) fn function(&mut self, decl: &FnDecl) {
        self.function_of(decl, if decl.generator { BodyOf::Stream } else { BodyOf::Function });
    }

    pub(super) fn function_of(&mut self, decl: &FnDecl, of: BodyOf) {
        let own = self.out.made(decl.name.id);
        self.with_generics(&decl.generics, |resolver| {
            resolver.in_function(own, |resolver| {
                decl.returns.iter().for_each(|ty| resolver.type_names(ty));
                resolver.params(&decl.params);
                resolver.begin_body(of, &decl.body);
                resolver.body.name = (of == BodyOf::Function).then_some(decl.name.span);
                resolver.block(&decl.body);
            });
        });
    }

    pub(super) fn in_function(&mut self, own: Option<BindingId>, body: impl FnOnce(&mut Self)) {
        self.functions += 1;
        let outer = (std::mem::replace(&mut self.function, self.functions), std::mem::take(&mut self.loops));
        let outer_body =
            std::mem::replace(&mut self.body, FunctionBody { of: BodyOf::Parameter, ..FunctionBody::default() });
        self.own.push(own);
        self.open(NodeId::NONE);
        body(self);
        self.close(false);
        self.own.pop();
        (self.function, self.loops) = outer;
        self.body = outer_body;
    }

    pub(super) fn params(&mut self, params: &[Param]) {
        for param in params {
            param.ty.iter().for_each(|ty| self.type_names(ty));
            if let Some(default) = &param.default {
                self.expr(default);
            }
            self.pattern(&param.pattern, BindingKind::Parameter);
        }
    }

    pub(super) fn block(&mut self, block: &Block) {
        self.noting_assigned(block.id, |resolver| {
            resolver.open(block.id);
            resolver.statements(&block.stmts);
            resolver.close(false);
        });
    }

    /// Notes the bindings that `part` assigns to as those of a block.
    fn noting_assigned(&mut self, block: NodeId, part: impl FnOnce(&mut Self)) {
        let start = self.out.assigned.len();
        part(self);
        let end = self.out.assigned.len();
        if start < end {
            // Each assignment takes more than a byte of a text, and texts end at 4 GiB.
            self.out.assigned_in.insert(block, start as u32..end as u32);
        }
    }

    pub(super) fn statement(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Let { kind, pattern, ty, value, public } => {
                ty.iter().for_each(|ty| self.type_names(ty));
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
                self.note_replacement(target, *op, value);
            }
            StmtKind::Expr(e) => self.expr(e),
            StmtKind::While { cond, body } => self.noting_assigned(body.id, |resolver| {
                resolver.expr(cond);
                resolver.in_loop(|resolver| resolver.block(body));
            }),
            StmtKind::For { pattern, iter, body } => self.noting_assigned(body.id, |resolver| {
                resolver.expr(iter);
                resolver.open(NodeId::NONE);
                resolver.pattern(pattern, BindingKind::Loop);
                resolver.in_loop(|resolver| resolver.block(body));
                resolver.close(false);
            }),
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

    /// Resolves an assignment target: a name, or a path that starts at one.
    pub(super) fn target(&mut self, target: &Expr, also_read: bool) {
        match &target.kind {
            ExprKind::Name(name) => {
                self.assign(name, target.at());
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
            PatternKind::Bind(name) => self.bind_part(name, pattern.at(), kind),
            PatternKind::Literal(e) => self.expr(e),
            PatternKind::Dict { name, fields, rest } => {
                if let Some(name) = name {
                    self.read_type(name, "a struct", |def| matches!(def, TypeDecl::Struct(_)));
                }
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
            PatternKind::Variant { enum_name, args, .. } => {
                if let Some(name) = enum_name {
                    self.read_type(name, "an enum", |def| matches!(def, TypeDecl::Enum(_)));
                }
                for arg in args {
                    self.pattern(arg, kind);
                }
            }
            PatternKind::Or(alternatives) => self.alternatives(alternatives, kind),
        }
    }

    pub(super) fn rest(&mut self, rest: Option<&Option<Box<Name>>>, kind: BindingKind) {
        if let Some(Some(name)) = rest {
            self.bind_part(&name.text, name.at(), kind);
        }
    }

    /// The alternatives of a pattern bind the same names: what the first one binds, the others bind as well.
    fn alternatives(&mut self, alternatives: &[Pattern], kind: BindingKind) {
        let Some((first, others)) = alternatives.split_first() else { return };
        self.pattern(first, kind);
        let mut shared = Vec::new();
        first.names(&mut |name, at| shared.extend(self.out.made(at.id).map(|id| (name.clone(), id))));
        let outer = self.shared.len();
        self.shared.extend(shared);
        others.iter().for_each(|other| self.pattern(other, kind));
        self.shared.truncate(outer);
    }

    /// A name in a pattern.
    fn bind_part(&mut self, name: &SmolStr, at: NodeAt, kind: BindingKind) {
        match self.shared.iter().find(|(known, _)| known == name) {
            Some((_, id)) => {
                self.out.set_made(at.id, *id);
            }
            None => self.bind(name, at, kind),
        }
    }
}
