//! The walk.

use super::Outer;
use super::codes;
use super::scope::{Binding, BindingId, BindingKind, Resolution, Target};
use crate::ast::*;
use crate::builtins::Registry;
use crate::diagnostic::{Diagnostic, nearest};
use crate::source::{SourceRef, Span};
use smol_str::SmolStr;
use std::collections::HashMap;

struct Scope {
    names: HashMap<SmolStr, BindingId>,
    /// Offset of the block, for cells that must be there from its start.
    block: u32,
    function: u32,
}

pub(super) struct Walk<'a> {
    source: &'a SourceRef,
    registry: Registry,
    out: Resolution,
    found: Vec<Diagnostic>,
    scopes: Vec<Scope>,
    function: u32,
    functions: u32,
    /// The binding of the function whose body is being walked: its own name needs no capture.
    own: Vec<Option<BindingId>>,
    /// Loops around, in the running function.
    loops: u32,
    /// Body of a hoisted function of this scope depth is being walked.
    hoisted: Vec<usize>,
    keep: bool,
    undefined: Vec<SmolStr>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(source: &'a SourceRef, registry: Registry, outer: &[Outer], keep: bool) -> Self {
        let mut walk = Self {
            source,
            registry,
            out: Resolution::default(),
            found: Vec::new(),
            scopes: Vec::new(),
            function: 0,
            functions: 0,
            own: vec![None],
            loops: 0,
            hoisted: Vec::new(),
            keep,
            undefined: Vec::new(),
        };
        walk.open(u32::MAX);
        for o in outer {
            let id = walk.push(Binding {
                name: o.name.clone(),
                span: Span::default(),
                kind: if o.variable { BindingKind::Var } else { BindingKind::Outer },
                top: true,
                global: true,
                slot: Some(o.slot),
                captured: false,
                assigned: false,
                early: false,
                read: true,
                function: 0,
            });
            walk.scope().names.insert(o.name.clone(), id);
        }
        walk
    }

    pub(super) fn module(&mut self, module: &Module) {
        self.open(0);
        self.statements(&module.body);
        self.close(true);
    }

    pub(super) fn finish(mut self) -> (Resolution, Vec<Diagnostic>) {
        self.found.sort_by_key(Diagnostic::position);
        (self.out, self.found)
    }

    fn scope(&mut self) -> &mut Scope {
        if self.scopes.is_empty() {
            self.open(u32::MAX);
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    fn open(&mut self, block: u32) {
        let function = self.function;
        self.scopes.push(Scope { names: HashMap::new(), block, function });
    }

    fn close(&mut self, top: bool) {
        let Some(scope) = self.scopes.pop() else { return };
        for id in scope.names.into_values() {
            let binding = &self.out.bindings[id as usize];
            let counts = matches!(binding.kind, BindingKind::Let | BindingKind::Var);
            if !top && counts && !binding.read && !binding.name.starts_with('_') {
                let (name, span) = (binding.name.clone(), binding.span);
                self.found.push(
                    Diagnostic::warning(codes::UNUSED, format!("`{name}` is bound and never read"))
                        .label(self.source, span, "never read")
                        .help(format!("remove it, or call it `_{name}`"))
                        .fix(span, format!("_{name}")),
                );
            }
        }
    }

    fn push(&mut self, binding: Binding) -> BindingId {
        let id = u32::try_from(self.out.bindings.len()).unwrap_or(u32::MAX);
        self.out.bindings.push(binding);
        id
    }

    /// The module's own scope is the second: the first holds what came before.
    fn at_top(&self) -> bool {
        self.scopes.len() == 2
    }

    fn bind(&mut self, name: &SmolStr, span: Span, kind: BindingKind) {
        if name == "_" {
            return;
        }
        if let Some(&first) = self.scope().names.get(name) {
            let first = self.out.binding(first).span;
            self.found.push(
                Diagnostic::error(codes::TWICE, format!("`{name}` is bound twice in one scope"))
                    .label(self.source, span, "bound again here")
                    .label(self.source, first, "first bound here")
                    .help("assign to a `var`, or choose another name"),
            );
            return;
        }
        let top = self.at_top();
        let function = self.function;
        let id = self.push(Binding {
            name: name.clone(),
            span,
            kind,
            top,
            global: top && self.keep,
            slot: None,
            captured: false,
            assigned: false,
            early: false,
            read: false,
            function,
        });
        self.scope().names.insert(name.clone(), id);
        self.out.made.insert(span.start, id);
    }

    fn lookup(&self, name: &str) -> Option<(BindingId, usize)> {
        self.scopes.iter().enumerate().rev().find_map(|(depth, s)| s.names.get(name).map(|id| (*id, depth)))
    }

    fn reach(&mut self, id: BindingId, depth: usize) {
        let own = self.own.last().copied().flatten() == Some(id);
        let same = self.scopes[depth].function == self.function;
        // The body of a function that is visible in the whole block may run before what it captures is bound.
        let early = self.hoisted.contains(&depth);
        let block = self.scopes[depth].block;
        let binding = &mut self.out.bindings[id as usize];
        if same || own {
            return;
        }
        if binding.top {
            binding.global = true;
            return;
        }
        binding.captured = true;
        if early && !binding.early {
            binding.early = true;
            self.out.early.entry(block).or_default().push(id);
        }
    }

    fn read(&mut self, name: &SmolStr, span: Span) {
        if let Some((id, depth)) = self.lookup(name) {
            self.reach(id, depth);
            self.out.bindings[id as usize].read = true;
            self.out.uses.insert(span.start, Target::Binding(id));
        } else if let Some(row) = self.registry.find("", name) {
            self.out.uses.insert(span.start, Target::Builtin(row));
        } else if self.registry.module(name).next().is_some() {
            self.found.push(
                Diagnostic::error(codes::NAMESPACE, format!("`{name}` is a namespace, not a value"))
                    .label(self.source, span, "used as a value")
                    .help(format!("call one of its builtins: `{name}.…(…)`")),
            );
        } else {
            self.undefined(name, span);
        }
    }

    fn undefined(&mut self, name: &SmolStr, span: Span) {
        // A name that is missing in ten places is one mistake; the first place tells it.
        if self.undefined.contains(name) {
            return;
        }
        self.undefined.push(name.clone());
        if self.registry.comes_later(name) {
            return self.later(name, span);
        }
        let mut d = Diagnostic::error(codes::UNDEFINED, format!("nothing called `{name}` is in scope")).label(
            self.source,
            span,
            "not found",
        );
        let bound = self.scopes.iter().flat_map(|s| s.names.keys().map(SmolStr::as_str));
        let builtins = self.registry.all().filter(|row| row.module.is_empty()).map(|row| row.name);
        if let Some(near) = slip(name).or_else(|| nearest(name, bound.chain(builtins))) {
            d = d.help(format!("did you mean `{near}`?")).fix(span, near);
        }
        self.found.push(d);
    }

    /// The language has it, this version does not.
    fn later(&mut self, name: &str, span: Span) {
        self.found.push(Diagnostic::error(crate::compile::NOT_YET, format!("`{name}` is not supported yet")).label(
            self.source,
            span,
            "not here yet",
        ));
    }

    fn assign(&mut self, name: &SmolStr, span: Span) {
        let Some((id, depth)) = self.lookup(name) else {
            if self.registry.find("", name).is_some() {
                self.found.push(
                    Diagnostic::error(codes::FORBIDDEN, format!("`{name}` is a builtin and cannot be assigned to"))
                        .label(self.source, span, "assigned here")
                        .help(format!("bind a variable of another name: `var {name}_2 = …`")),
                );
            } else {
                self.undefined(name, span);
            }
            return;
        };
        self.reach(id, depth);
        self.out.uses.insert(span.start, Target::Binding(id));
        let binding = &mut self.out.bindings[id as usize];
        binding.assigned = true;
        if binding.kind == BindingKind::Var {
            return;
        }
        let (what, first) = (describe(binding.kind), binding.span);
        let mut d = Diagnostic::error(codes::FORBIDDEN, format!("`{name}` is {what} and cannot be assigned to")).label(
            self.source,
            span,
            "assigned here",
        );
        if binding.kind == BindingKind::Let {
            d = d.label(self.source, first, "bound once here").help(format!("bind it with `var {name} = …`"));
        } else if binding.kind != BindingKind::Outer {
            d = d
                .label(self.source, first, "bound here")
                .help(format!("copy it into a variable: `var my_{name} = {name}`"));
        }
        self.found.push(d);
    }

    // Statements

    fn statements(&mut self, stmts: &[Stmt]) {
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

    fn declare(&mut self, item: &Item) {
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

    fn item_body(&mut self, item: &Item) {
        match &item.kind {
            ItemKind::Fn(decl) | ItemKind::Override(decl) | ItemKind::Pipeline { decl, .. } => self.function(decl),
            ItemKind::Tool { decl, description } => {
                if let Some(d) = description {
                    self.expr(d);
                }
                self.function(decl);
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

    fn function(&mut self, decl: &FnDecl) {
        let own = self.out.made_at(decl.name.span);
        self.in_function(own, |walk| {
            walk.params(&decl.params);
            walk.block(&decl.body);
        });
    }

    fn in_function(&mut self, own: Option<BindingId>, body: impl FnOnce(&mut Self)) {
        self.functions += 1;
        let outer = (std::mem::replace(&mut self.function, self.functions), std::mem::take(&mut self.loops));
        self.own.push(own);
        self.open(u32::MAX);
        body(self);
        self.close(false);
        self.own.pop();
        (self.function, self.loops) = outer;
    }

    fn params(&mut self, params: &[Param]) {
        for param in params {
            if let Some(default) = &param.default {
                self.expr(default);
            }
            self.pattern(&param.pattern, BindingKind::Parameter);
        }
    }

    fn block(&mut self, block: &Block) {
        self.open(block.span.start);
        self.statements(&block.stmts);
        self.close(false);
    }

    fn statement(&mut self, stmt: &Stmt) {
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
            StmtKind::Defer(body) => self.block(body),
            StmtKind::Item(item) => {
                if let ItemKind::Import { names, path, path_span } = &item.kind {
                    self.import(names.as_deref().unwrap_or_default(), path, *path_span);
                }
            }
            StmtKind::Error => {}
        }
    }

    /// What the standard modules offer is global: importing it must only be right.
    fn import(&mut self, names: &[(Name, Option<Name>)], path: &str, path_span: Span) {
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

    fn in_loop(&mut self, body: impl FnOnce(&mut Self)) {
        self.loops += 1;
        body(self);
        self.loops -= 1;
    }

    /// What is assigned to: a name, or a path that starts at one.
    fn target(&mut self, target: &Expr, also_read: bool) {
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

    // Patterns

    fn pattern(&mut self, pattern: &Pattern, kind: BindingKind) {
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

    fn rest(&mut self, rest: Option<&Option<Name>>, kind: BindingKind) {
        if let Some(Some(name)) = rest {
            self.bind(&name.text, name.span, kind);
        }
    }

    // Expressions

    fn exprs<'e>(&mut self, items: impl IntoIterator<Item = &'e Expr>) {
        for e in items {
            self.expr(e);
        }
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Nil
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Placeholder
            | ExprKind::Error
            | ExprKind::TooDeep => {}
            ExprKind::Break | ExprKind::Continue => self.leaves_loop(e),
            ExprKind::Name(name) => self.read(name, e.span),
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
                    self.read(&name.text, name.span);
                }
                self.entries(items);
            }
            ExprKind::Unary(_, a)
            | ExprKind::Try(a)
            | ExprKind::TryStar(a)
            | ExprKind::Throw(a)
            | ExprKind::Emit(a) => {
                self.expr(a);
            }
            ExprKind::Pair(a, b)
            | ExprKind::Binary(_, _, a, b)
            | ExprKind::Logic(_, a, b)
            | ExprKind::Pipe(a, b)
            | ExprKind::Range { from: a, to: b, .. }
            | ExprKind::Index { object: a, index: b, .. } => self.exprs([&**a, &**b]),
            ExprKind::Ternary(a, b, c) => self.exprs([&**a, &**b, &**c]),
            ExprKind::Field { object, name, .. } => self.field(object, name),
            ExprKind::Slice { object, from, to } => {
                self.expr(object);
                self.exprs(from.iter().chain(to).map(|e| &**e));
            }
            ExprKind::Call { callee, args } => self.call(callee, args),
            ExprKind::Closure(closure) => self.closure(closure),
            ExprKind::TryBlock(t) => self.try_block(t),
            ExprKind::If { cond, then, otherwise } => {
                self.expr(cond);
                self.block(then);
                self.exprs(otherwise.iter().map(|e| &**e));
            }
            ExprKind::Match { value, arms } => self.arms(value, arms),
            ExprKind::Block(b) | ExprKind::Mutex(b) => self.block(b),
            ExprKind::Spawn(b) => self.in_function(None, |walk| walk.block(b)),
            ExprKind::Return(value) | ExprKind::Yield(value) => self.exprs(value.iter().map(|e| &**e)),
            ExprKind::Retry { times: a, body } | ExprKind::Deadline { limit: a, body } => {
                self.expr(a);
                self.block(body);
            }
            ExprKind::Parallel { over, options, body, .. } => {
                self.expr(over);
                self.exprs(options.iter().map(|e| &**e));
                self.closure(body);
            }
            ExprKind::Select(arms) => self.select(arms),
        }
    }

    fn leaves_loop(&mut self, e: &Expr) {
        if self.loops > 0 {
            return;
        }
        let word = if matches!(e.kind, ExprKind::Break) { "break" } else { "continue" };
        self.found.push(
            Diagnostic::error(codes::MISPLACED, format!("`{word}` stands outside any loop"))
                .label(self.source, e.span, "no loop around this")
                .help("a closure inside a loop is a function of its own: `return` leaves it"),
        );
    }

    fn entries(&mut self, items: &[DictItem]) {
        for item in items {
            match item {
                DictItem::Entry { value, .. } | DictItem::Spread(value) => self.expr(value),
                DictItem::Computed { key, value } => self.exprs([key, value]),
            }
        }
    }

    fn closure(&mut self, closure: &Closure) {
        self.in_function(None, |walk| {
            walk.params(&closure.params);
            walk.block(&closure.body);
        });
    }

    fn try_block(&mut self, t: &TryBlock) {
        self.block(&t.body);
        if let Some(catch) = &t.catch {
            self.open(u32::MAX);
            if let Some(name) = &catch.name {
                self.bind(&name.text, name.span, BindingKind::Pattern);
            }
            self.block(&catch.body);
            self.close(false);
        }
        if let Some(finally) = &t.finally {
            self.block(finally);
        }
    }

    fn arms(&mut self, value: &Expr, arms: &[Arm]) {
        self.expr(value);
        for arm in arms {
            self.open(u32::MAX);
            self.pattern(&arm.pattern, BindingKind::Pattern);
            self.exprs(&arm.guard);
            self.expr(&arm.body);
            self.close(false);
        }
    }

    fn select(&mut self, arms: &[SelectArm]) {
        for arm in arms {
            match arm {
                SelectArm::Receive { name, channel, body } => {
                    self.expr(channel);
                    self.open(u32::MAX);
                    self.bind(&name.text, name.span, BindingKind::Pattern);
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

    fn field(&mut self, object: &Expr, name: &Name) {
        if let ExprKind::Name(namespace) = &object.kind
            && self.lookup(namespace).is_none()
            && self.registry.find("", namespace).is_none()
            && self.registry.module(namespace).next().is_some()
        {
            let known = self.registry.find(namespace, &name.text).is_some();
            let message = if known {
                format!("`{namespace}.{}` is a builtin and can only be called", name.text)
            } else {
                format!("the namespace `{namespace}` has no builtin `{}`", name.text)
            };
            let d = Diagnostic::error(codes::NAMESPACE, message).label(self.source, name.span, "here");
            let d = if known {
                d.help(format!("call it, or wrap it in a closure: `{{ x -> {namespace}.{}(x) }}`", name.text))
            } else {
                self.with_nearest_of(d, namespace, name)
            };
            self.found.push(d);
            return;
        }
        self.expr(object);
    }

    fn with_nearest_of(&self, d: Diagnostic, namespace: &str, name: &Name) -> Diagnostic {
        match nearest(&name.text, self.registry.module(namespace).map(|row| row.name)) {
            Some(near) => d.help(format!("did you mean `{namespace}.{near}`?")).fix(name.span, near),
            None => d,
        }
    }

    fn call(&mut self, callee: &Expr, args: &[ListItem]) {
        if let ExprKind::Field { object, name, .. } = &callee.kind
            && let ExprKind::Name(namespace) = &object.kind
        {
            if let Some(row) = self.registry.find(namespace, &name.text) {
                self.out.namespaced.insert(name.span.start, row);
                return self.exprs(args.iter().map(|a| &a.value));
            }
            let full_name = format!("{namespace}.{}", name.text);
            if self.lookup(namespace).is_none() && self.registry.comes_later(&full_name) {
                self.later(&full_name, callee.span);
                return self.exprs(args.iter().map(|a| &a.value));
            }
            if self.lookup(namespace).is_none() && self.registry.module(namespace).next().is_some() {
                let message = format!("the namespace `{namespace}` has no builtin `{}`", name.text);
                let d = Diagnostic::error(codes::NAMESPACE, message).label(self.source, name.span, "not found");
                let d = self.with_nearest_of(d, namespace, name);
                self.found.push(d);
                return self.exprs(args.iter().map(|a| &a.value));
            }
        }
        self.expr(callee);
        self.exprs(args.iter().map(|a| &a.value));
    }
}

fn describe(kind: BindingKind) -> &'static str {
    match kind {
        BindingKind::Let => "bound once",
        BindingKind::Var => "a variable",
        BindingKind::Parameter => "a parameter",
        BindingKind::Loop => "a loop variable",
        BindingKind::Pattern => "bound by a pattern",
        BindingKind::Function => "a function",
        BindingKind::Pipeline => "a pipeline",
        BindingKind::Type => "a type",
        BindingKind::Import => "imported",
        BindingKind::Outer => "bound earlier",
    }
}

/// Words of other languages.
fn slip(name: &str) -> Option<&'static str> {
    Some(match name {
        "null" | "None" | "undefined" => "nil",
        "True" => "true",
        "False" => "false",
        "console" | "puts" | "echo" => "println",
        _ => return None,
    })
}
