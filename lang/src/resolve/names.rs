//! What a name means: looking it up, and saying so where it means nothing.

use super::codes;
use super::scope::{BindingId, BindingKind, Target};
use super::walk::Walk;
use crate::diagnostic::{Diagnostic, nearest};
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

    pub(super) fn read(&mut self, name: &SmolStr, span: Span) {
        if let Some((id, depth)) = self.lookup(name) {
            if let Some(row) = self.out.binding(id).builtin {
                self.out.bindings[id as usize].read = true;
                self.out.uses.insert(span.start, Target::Builtin(row));
                return;
            }
            self.clear(id, name, span);
            let binding = &mut self.out.bindings[id as usize];
            binding.read = true;
            if let Some(def) = binding.def.clone() {
                return self.no_value(name, span, &def);
            }
            self.reach(id, depth, span);
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

    pub(super) fn undefined(&mut self, name: &SmolStr, span: Span) {
        // A name that is missing in ten places is one mistake; the first place tells it.
        if self.undefined.contains(name) {
            return;
        }
        self.undefined.push(name.clone());
        if self.out.blind {
            return;
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

    pub(super) fn assign(&mut self, name: &SmolStr, span: Span) {
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
        self.reach(id, depth, span);
        self.out.uses.insert(span.start, Target::Binding(id));
        self.clear(id, name, span);
        self.out.assigned.push((span.start, id));
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
        } else if binding.imported() {
            d = d
                .label(self.source, first, "imported here")
                .help(format!("only the file that binds `{name}` can assign to it: call a function of that file"));
        } else if binding.kind != BindingKind::Outer {
            d = d
                .label(self.source, first, "bound here")
                .help(format!("copy it into a variable: `var my_{name} = {name}`"));
        }
        self.found.push(d);
    }
}

pub(super) fn describe(kind: BindingKind) -> &'static str {
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
