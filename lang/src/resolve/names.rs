//! Looks names up, and reports those that are unknown.

use super::messages::{self, with_instead};
use super::resolver::Resolver;
use super::scope::{NameMark, Replacement, Target};
use super::{BindingId, BindingKind};
use crate::ast::{BinaryOp, Expr, ExprKind, Name, NodeAt};
use crate::declaration::TypeDecl;
use crate::diagnostic::fix::Applicability;
use crate::diagnostic::{Diagnostic, nearest};
use crate::foreign;
use crate::source::Span;
use smol_str::SmolStr;

impl Resolver<'_> {
    pub(super) fn lookup(&self, name: &str) -> Option<(BindingId, usize)> {
        let mark = NameMark::of(name);
        let scopes = self.scopes.iter().enumerate().rev();
        let mut bound = scopes.filter_map(|(depth, s)| s.names.marked(name, mark).map(|id| (id, depth)));
        let first = bound.next()?;
        if !self.tools.contains(&first.0) {
            return Some(first);
        }
        match bound.find(|(id, _)| !self.tools.contains(id)) {
            None if self.registry.find("", name).is_some() => None,
            outer => outer.or(Some(first)),
        }
    }

    pub(super) fn reach(&mut self, id: BindingId, depth: usize, span: Span) {
        let own = self.own.last().copied().flatten() == Some(id);
        let same = self.scopes[depth].function == self.function;
        // The body of a function that is visible in the whole block may run before what it captures is bound.
        let early = self.hoisted.contains(&depth);
        let block = self.scopes[depth].block;
        if own {
            self.out.own_uses.insert(id);
        }
        let binding = &mut self.out.bindings[id as usize];
        if same {
            return;
        }
        // A function at the top is called by its number, so it does not know the value that it is.
        if binding.top {
            binding.global = true;
            return;
        }
        if own {
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
            if let Some(def) = &binding.def {
                if let TypeDecl::Interface(_) = def.resolved() {
                    let def = def.clone();
                    return self.no_value(name, span, &def);
                }
                // A type is a value.
                return self.out.set_used(at.id, Target::Binding(id));
            }
            self.reach(id, depth, span);
            self.out.set_used(at.id, Target::Binding(id));
        } else if let Some(row) = self.registry.find("", name) {
            self.out.set_used(at.id, Target::Builtin(row));
        } else if self.registry.module(name).next().is_some() {
            self.found.push(messages::namespace_value(self.source, name, span));
        } else {
            self.undefined(name, span);
        }
    }

    pub(super) fn undefined(&mut self, name: &SmolStr, span: Span) {
        let Some(d) = self.unbound(name, span) else { return };
        let bound = self.scopes.iter().flat_map(|s| s.names.iter().map(|(name, _)| name.as_str()));
        let builtins = self.registry.all().filter(|row| row.module.is_empty()).map(|row| row.name);
        let d = if let Some(instead) = foreign::global(name) {
            with_instead(d, span, instead)
        } else if foreign::is_module(name) {
            messages::without_module(d, self.registry.listed())
        } else if let Some(near) = self.nearest(name, bound.chain(builtins)) {
            d.did_you_mean(span, near, Applicability::Unsafe)
        } else {
            d
        };
        self.found.push(d);
    }

    /// `JSON.parse`, `process.env`: a member of a module of another language. Returns whether it was one.
    pub(super) fn foreign_member(&mut self, object: &Expr, module: &SmolStr, name: &Name) -> bool {
        if self.registry.find("", module).is_some() {
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
        Some(messages::unknown_name(self.source, name, span))
    }

    /// An assignment to a name that nothing binds: a slip of the pen, or a language in which assigning declares.
    fn assigned_before_declared(&mut self, name: &SmolStr, span: Span) {
        let Some(d) = self.unbound(name, span) else { return };
        let bound = self.scopes.iter().flat_map(|s| s.names.iter().map(|(name, _)| name.as_str()));
        let d = match self.nearest(name, bound) {
            Some(near) => d.did_you_mean(span, near, Applicability::Unsafe),
            None => messages::declare_first(d, name),
        };
        self.found.push(d);
    }

    /// The nearest of `names`. Each look goes through all of them, so only the first misspelt names get one.
    pub(super) fn nearest<'n>(&self, written: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
        const MOST: usize = 200;
        if self.undefined.len() > MOST { None } else { nearest(written, names) }
    }

    /// Notes the value that is assigned to a whole binding. A text that something is added to stays one.
    pub(super) fn note_replacement(&mut self, target: &Expr, op: Option<BinaryOp>, value: &Expr) {
        if let (ExprKind::Name(_), Some(Target::Binding(id))) = (&target.kind, self.out.used(target.id)) {
            let is_text = matches!(value.kind, ExprKind::Str(_)) || op == Some(BinaryOp::Add);
            let new = if is_text { Replacement::Texts } else { Replacement::Values };
            let known = self.out.replaced.entry(id).or_insert(new);
            if new == Replacement::Values {
                *known = new;
            }
        }
    }

    pub(super) fn assign(&mut self, name: &SmolStr, at: NodeAt) {
        let span = at.span;
        let Some((id, depth)) = self.lookup(name) else {
            if self.registry.find("", name).is_some() {
                self.found.push(messages::assigned_builtin(self.source, name, span));
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
            let outermost = self.tasks.iter().find(|(start, _)| depth < *start);
            if let Some((_, form)) = outermost {
                let first = (binding.span != Span::default()).then_some(binding.span);
                self.found.push(messages::lost_update(self.source, name, span, first, *form));
            }
            return;
        }
        self.found.push(messages::assigned_constant(self.source, name, span, binding));
    }
}
