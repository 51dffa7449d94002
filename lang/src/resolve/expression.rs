//! Expressions.

use super::BindingKind;
use super::messages;
use super::resolver::{Resolver, TaskForm};
use super::scope::{Binding, Target};
use super::yields::BodyOf;
use crate::ast::*;
use crate::declaration::TypeDecl;
use crate::diagnostic::{Diagnostic, nearest};
use smol_str::SmolStr;

/// Name that the piped value is bound to; no pattern binds it.
const PIPED: SmolStr = SmolStr::new_inline("_");

impl Resolver<'_> {
    pub(super) fn exprs<'e>(&mut self, items: impl IntoIterator<Item = &'e Expr>) {
        for e in items {
            self.expr(e);
        }
    }

    pub(super) fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Nil
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Error
            | ExprKind::TooDeep => {}
            ExprKind::Placeholder => self.placeholder(e),
            ExprKind::Break | ExprKind::Continue => self.leaves_loop(e),
            ExprKind::Name(name) => self.read(name, e.at()),
            ExprKind::Type(ty) => self.type_names(ty),
            ExprKind::Str(parts) => {
                for part in parts {
                    if let StrPart::Interp(e) = part {
                        self.expr(e);
                    }
                }
            }
            ExprKind::List(items) => self.exprs(items.iter().map(|i| &i.value)),
            ExprKind::Dict(items) | ExprKind::Struct { items, .. } => {
                if let ExprKind::Struct { name, .. } = &e.kind {
                    self.read_type(name, "a struct", |def| matches!(def, TypeDecl::Struct(_)));
                }
                self.entries(items);
            }
            ExprKind::Unary(_, a) | ExprKind::Try(a) | ExprKind::TryStar(a) | ExprKind::Throw(a) => {
                self.expr(a);
            }
            ExprKind::Yield(_) | ExprKind::Emit(_) => {
                self.yields(e);
                e.children(|value| self.expr(value));
            }
            ExprKind::Pair(a, b)
            | ExprKind::Binary(_, _, a, b)
            | ExprKind::Logic(_, a, b)
            | ExprKind::Range { from: a, to: b, .. }
            | ExprKind::Index { object: a, index: b, .. } => self.exprs([&**a, &**b]),
            ExprKind::Pipe(value, into) => self.pipe(value, into),
            ExprKind::Ternary(a, b, c) => self.exprs([&**a, &**b, &**c]),
            ExprKind::Field { object, name, .. } => self.field(object, name),
            ExprKind::Slice { object, from, to } => {
                self.expr(object);
                self.exprs(from.iter().chain(to).map(|e| &**e));
            }
            ExprKind::Call { callee, args } => self.call(callee, args),
            ExprKind::Closure(closure) => self.closure(closure, BodyOf::Function),
            ExprKind::TryBlock(t) => self.try_block(t),
            ExprKind::If { cond, then, otherwise } => {
                self.expr(cond);
                self.block(then);
                self.exprs(otherwise.iter().map(|e| &**e));
            }
            ExprKind::Match { value, arms } => self.arms(value, arms),
            ExprKind::Block(b) | ExprKind::Mutex(b) => self.block(b),
            ExprKind::Spawn(b) => self.in_task(TaskForm::Spawn, |resolver| {
                resolver.in_function(None, |resolver| {
                    resolver.begin_body(BodyOf::Task, b);
                    resolver.block(b);
                });
            }),
            ExprKind::Return(value) => self.exprs(value.iter().map(|e| &**e)),
            ExprKind::Retry { times: a, body } | ExprKind::Deadline { limit: a, body } => {
                self.expr(a);
                self.block(body);
            }
            ExprKind::Parallel { over, options, body, .. } => {
                self.expr(over);
                self.exprs(options.iter().map(|e| &**e));
                self.in_task(TaskForm::Parallel, |resolver| resolver.closure(body, BodyOf::Task));
            }
            ExprKind::Select(arms) => self.select(arms),
        }
    }

    /// Visits a body that has copies of the variables around it.
    fn in_task(&mut self, form: TaskForm, body: impl FnOnce(&mut Self)) {
        self.tasks.push((self.scopes.len(), form));
        body(self);
        self.tasks.pop();
    }

    /// The piped value is bound to `_` around the right side, closures in it included.
    fn pipe(&mut self, value: &Expr, into: &Expr) {
        self.expr(value);
        self.open(NodeId::NONE);
        let id = self.push(Binding {
            name: PIPED,
            span: value.span,
            kind: BindingKind::Pattern,
            top: false,
            global: false,
            slot: None,
            public: false,
            origin: None,
            builtin: None,
            captured: false,
            assigned: false,
            early: false,
            read: false,
            def: None,
            takes: None,
            function: self.function,
        });
        self.scope().names.insert(PIPED, id);
        self.out.set_made(into.id, id);
        self.expr(into);
        self.close(false);
    }

    fn placeholder(&mut self, e: &Expr) {
        let Some((id, depth)) = self.lookup(&PIPED) else {
            self.found.push(messages::placeholder_outside(self.source, e.span));
            return;
        };
        self.out.bindings[id as usize].read = true;
        self.reach(id, depth, e.span);
        self.out.set_used(e.id, Target::Binding(id));
    }

    pub(super) fn leaves_loop(&mut self, e: &Expr) {
        if self.loops > 0 {
            return;
        }
        let word = if matches!(e.kind, ExprKind::Break) { "break" } else { "continue" };
        self.found.push(messages::outside_loop(self.source, e.span, word, self.body.of));
    }

    pub(super) fn entries(&mut self, items: &[DictItem]) {
        for item in items {
            match item {
                DictItem::Entry { value, .. } | DictItem::Spread(value) => self.expr(value),
                DictItem::Computed { key, value } => self.exprs([key, value]),
            }
        }
    }

    pub(super) fn closure(&mut self, closure: &ClosureExpr, of: BodyOf) {
        self.in_function(None, |resolver| {
            closure.returns.iter().for_each(|ty| resolver.type_names(ty));
            resolver.params(&closure.params);
            resolver.begin_body(of, &closure.body);
            resolver.block(&closure.body);
        });
    }

    pub(super) fn try_block(&mut self, t: &TryBlock) {
        self.block(&t.body);
        if let Some(catch) = &t.catch {
            self.open(NodeId::NONE);
            // An error may be of a type that only the runtime knows.
            catch.ty.iter().for_each(|ty| self.some_type_names(ty));
            if let Some(name) = &catch.name {
                self.bind(&name.text, name.at(), BindingKind::Pattern);
            }
            self.block(&catch.body);
            self.close(false);
        }
        if let Some(finally) = &t.finally {
            self.guard_block(finally);
        }
    }

    pub(super) fn arms(&mut self, value: &Expr, arms: &[Arm]) {
        self.expr(value);
        for arm in arms {
            self.open(NodeId::NONE);
            self.pattern(&arm.pattern, BindingKind::Pattern);
            self.exprs(&arm.guard);
            self.expr(&arm.body);
            self.close(false);
        }
    }

    pub(super) fn select(&mut self, arms: &[SelectArm]) {
        for arm in arms {
            match arm {
                SelectArm::Receive { name, channel, body } => {
                    self.expr(channel);
                    self.open(NodeId::NONE);
                    self.bind(&name.text, name.at(), BindingKind::Pattern);
                    self.block(body);
                    self.close(false);
                }
                SelectArm::Timeout { limit, body } => {
                    self.expr(limit);
                    self.block(body);
                }
                SelectArm::Default(body) => self.block(body),
            }
        }
    }

    pub(super) fn field(&mut self, object: &Expr, name: &Name) {
        if let ExprKind::Name(of) = &object.kind {
            match self.lookup(of) {
                Some((id, _)) if self.out.binding(id).kind == BindingKind::Type => {
                    return self.type_member((id, of), object, name);
                }
                Some(_) => {}
                None => return self.unbound_member(object, of, name),
            }
        }
        self.expr(object);
    }

    /// A member of a name that nothing binds: of the type `Result`, of a namespace, or of a module of another language.
    fn unbound_member(&mut self, object: &Expr, namespace: &SmolStr, name: &Name) {
        // `Result` is there without a declaration.
        if namespace == "Result" {
            self.out.results.insert(name.id);
            return;
        }
        if self.registry.find("", namespace).is_none() && self.registry.module(namespace).next().is_some() {
            let d = if self.registry.find(namespace, &name.text).is_some() {
                messages::builtin_value(self.source, namespace, name)
            } else {
                let d = messages::unknown_builtin(self.source, namespace, name, "here");
                self.with_nearest_of(d, namespace, name)
            };
            self.found.push(d);
            return;
        }
        if !self.foreign_member(object, namespace, name) {
            self.expr(object);
        }
    }

    pub(super) fn with_nearest_of(&self, d: Diagnostic, namespace: &str, name: &Name) -> Diagnostic {
        match nearest(&name.text, self.registry.module(namespace).map(|row| row.name)) {
            Some(near) => messages::did_you_mean_in(d, name.span, namespace, near),
            None => d,
        }
    }

    pub(super) fn call(&mut self, callee: &Expr, args: &[ListItem]) {
        if let ExprKind::Field { object, name, .. } = &callee.kind
            && let ExprKind::Name(namespace) = &object.kind
        {
            if let Some(row) = self.registry.find(namespace, &name.text) {
                self.out.namespaced.insert(name.id, row);
                if let Some((id, _)) = self.lookup(namespace) {
                    self.out.hidden_receivers.insert(name.id, id);
                }
                return self.exprs(args.iter().map(|a| &a.value));
            }
            if self.lookup(namespace).is_none() && self.registry.module(namespace).next().is_some() {
                let d = messages::unknown_builtin(self.source, namespace, name, "not found");
                let d = self.with_nearest_of(d, namespace, name);
                self.found.push(d);
                return self.exprs(args.iter().map(|a| &a.value));
            }
        }
        if let ExprKind::Name(name) = &callee.kind
            && let Some(def) = self.lookup(name).and_then(|(id, _)| self.out.binding(id).def.clone())
        {
            if let Some((id, _)) = self.lookup(name) {
                self.clear(id, name, callee.span);
                self.out.bindings[id as usize].read = true;
            }
            self.no_value(name, callee.span, &def);
        } else {
            self.expr(callee);
        }
        self.exprs(args.iter().map(|a| &a.value));
    }
}
