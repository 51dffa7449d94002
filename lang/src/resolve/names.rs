//! Looks names up, and reports those that are unknown.

use super::ResolveCode;
use super::scope::Target;
use super::walk::Walk;
use super::{BindingId, BindingKind};
use crate::ast::{Expr, ExprKind, Name, NodeAt};
use crate::diagnostic::{Diagnostic, nearest};
use crate::foreign::{self, Instead};
use crate::source::Span;
use smol_str::SmolStr;

impl Walk<'_> {
    pub(super) fn lookup(&self, name: &str) -> Option<(BindingId, usize)> {
        self.scopes.iter().enumerate().rev().find_map(|(depth, s)| s.names.get(name).map(|id| (*id, depth)))
    }

    pub(super) fn reach(&mut self, id: BindingId, depth: usize, span: Span) {
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
        if self.barriers.last().is_some_and(|barrier| depth < *barrier) {
            let name = binding.name.clone();
            return self.cannot_reach(&name, id, span);
        }
        binding.captured = true;
        if early && !binding.early {
            binding.early = true;
            self.out.early.entry(block).or_default().push(id);
        }
    }

    pub(super) fn read(&mut self, name: &SmolStr, at: NodeAt) {
        let span = at.span;
        if let Some((id, depth)) = self.lookup(name) {
            if let Some(row) = self.out.binding(id).builtin {
                self.out.bindings[id as usize].read = true;
                self.out.set_used(at.id, Target::Builtin(row));
                return;
            }
            self.clear(id, name, span);
            let binding = &mut self.out.bindings[id as usize];
            binding.read = true;
            if let Some(def) = binding.def.clone() {
                return self.no_value(name, span, &def);
            }
            self.reach(id, depth, span);
            self.out.set_used(at.id, Target::Binding(id));
        } else if let Some(row) = self.registry.find("", name) {
            self.out.set_used(at.id, Target::Builtin(row));
        } else if self.registry.module(name).next().is_some() {
            self.found.push(
                Diagnostic::new(ResolveCode::Namespace, format!("`{name}` is a namespace, not a value"))
                    .label(self.source, span, "used as a value")
                    .help(format!("call one of its builtins: `{name}.…(…)`")),
            );
        } else {
            self.undefined(name, span);
        }
    }

    pub(super) fn undefined(&mut self, name: &SmolStr, span: Span) {
        let Some(d) = self.unbound(name, span) else { return };
        let bound = self.scopes.iter().flat_map(|s| s.names.keys().map(SmolStr::as_str));
        let builtins = self.registry.all().filter(|row| row.module.is_empty()).map(|row| row.name);
        let d = if let Some(instead) = foreign::global(name) {
            with_instead(d, span, instead)
        } else if foreign::is_module(name) {
            {
                let listed = self.registry.listed().map(|where_to| format!(": {where_to}")).unwrap_or_default();
                d.help(format!("call builtins without a module name{listed}"))
            }
        } else if let Some(near) = self.nearest(name, bound.chain(builtins)) {
            d.help(format!("did you mean `{near}`?")).fix(span, near)
        } else {
            d
        };
        self.found.push(d);
    }

    /// `JSON.parse`, `process.env`: a member of a module of another language. Returns whether it was one.
    pub(super) fn foreign_member(&mut self, object: &Expr, name: &Name) -> bool {
        let ExprKind::Name(module) = &object.kind else { return false };
        if self.lookup(module).is_some() || self.registry.find("", module).is_some() {
            return false;
        }
        let Some(instead) = foreign::member(module, &name.text) else { return false };
        let span = object.span.to(name.span);
        if let Some(d) = self.unbound(&format!("{module}.{}", name.text).into(), span) {
            self.found.push(with_instead(d, span, instead));
        }
        true
    }

    /// The error for a name that nothing binds. `None` where it was reported before: a name that is missing in ten places
    /// is one mistake, and the first place shows it.
    fn unbound(&mut self, name: &SmolStr, span: Span) -> Option<Diagnostic> {
        if !self.undefined.insert(name.clone()) {
            return None;
        }
        if self.out.blind {
            return None;
        }
        let message = format!("unknown name `{name}`");
        Some(Diagnostic::new(ResolveCode::Undefined, message).label(self.source, span, "not found"))
    }

    /// An assignment to a name that nothing binds: a slip of the pen, or a language in which assigning declares.
    fn assigned_before_declared(&mut self, name: &SmolStr, span: Span) {
        let Some(d) = self.unbound(name, span) else { return };
        let bound = self.scopes.iter().flat_map(|s| s.names.keys().map(SmolStr::as_str));
        let d = match self.nearest(name, bound) {
            Some(near) => d.help(format!("did you mean `{near}`?")).fix(span, near),
            None => d.help(format!("declare it with `let {name} = …`, or with `var {name} = …` to assign to it later")),
        };
        self.found.push(d);
    }

    /// The nearest of `names`. Each look goes through all of them, so only the first misspelt names get one.
    pub(super) fn nearest<'n>(&self, written: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
        const MOST: usize = 200;
        if self.undefined.len() > MOST { None } else { nearest(written, names) }
    }

    pub(super) fn assign(&mut self, name: &SmolStr, at: NodeAt) {
        let span = at.span;
        let Some((id, depth)) = self.lookup(name) else {
            if self.registry.find("", name).is_some() {
                self.found.push(
                    Diagnostic::new(ResolveCode::Forbidden, format!("cannot assign to `{name}`: it is a builtin"))
                        .label(self.source, span, "assigned here")
                        .help(format!("use a variable with another name: `var {name}_2 = …`")),
                );
            } else {
                self.assigned_before_declared(name, span);
            }
            return;
        };
        self.reach(id, depth, span);
        self.out.set_used(at.id, Target::Binding(id));
        self.clear(id, name, span);
        self.out.assigned.push(id);
        let binding = &mut self.out.bindings[id as usize];
        binding.assigned = true;
        if binding.kind == BindingKind::Var {
            return;
        }
        let (what, first) = (describe(binding.kind), binding.span);
        let mut d = Diagnostic::new(ResolveCode::Forbidden, format!("cannot assign to `{name}`: it is {what}")).label(
            self.source,
            span,
            "assigned here",
        );
        if binding.kind == BindingKind::Let {
            d = d.label(self.source, first, "bound with `let` here").help(format!("use `var {name} = …`"));
        } else if binding.imported() {
            d = d
                .label(self.source, first, "imported here")
                .help(format!("call a function of the file that declares `{name}`; only that file can assign to it"));
        } else if binding.kind != BindingKind::Outer {
            d = d
                .label(self.source, first, "bound here")
                .help(format!("copy it to a variable: `var my_{name} = {name}`"));
        }
        self.found.push(d);
    }
}

pub(super) fn describe(kind: BindingKind) -> &'static str {
    match kind {
        BindingKind::Let => "bound with `let`",
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

/// Adds what Harn writes instead of a foreign word.
fn with_instead(d: Diagnostic, span: Span, instead: Instead) -> Diagnostic {
    let d = d.help(instead.help);
    match instead.fix {
        Some(text) => d.fix(span, text),
        None => d,
    }
}
