//! `extends` and `override`: which pipeline is the base of which, and which function takes the place of which.
//!
//! The body of a base is compiled once more for each pipeline that extends it, with other functions in place of some. So
//! the functions of the base are in scope in what extends it, and an `override` is another body for the same binding.

use super::ResolveCode;
use super::types::signature;
use super::walk::Walk;
use super::yields::BodyOf;
use super::{BindingId, BindingKind};
use crate::ast::*;
use crate::declaration::Signature;
use crate::diagnostic::{Diagnostic, nearest};
use smol_str::SmolStr;

/// How many pipelines may extend one another in a row: each holds the bodies of all below it.
const DEEPEST: usize = 32;

/// Members that a pipeline offers to the pipelines that extend it.
#[derive(Clone)]
pub(super) struct Base {
    /// Its functions and those of its own base.
    members: Vec<Member>,
    /// Pipelines below it.
    below: usize,
}

#[derive(Clone)]
struct Member {
    name: SmolStr,
    id: BindingId,
    /// The block that binds it.
    block: NodeId,
    signature: Signature,
}

impl Walk<'_> {
    /// The pipelines of a block, each after the one that it extends.
    pub(super) fn pipelines(&mut self, stmts: &[Stmt]) {
        let all: Vec<(&FnDecl, Option<&Name>)> = stmts.iter().filter_map(pipeline).collect();
        for (decl, _) in &all {
            let (span, at) = (decl.name.span, decl.name.at());
            let first = *self.scope().pipelines.entry(decl.name.text.clone()).or_insert(at);
            // The other names are bindings, which are refused where they are bound.
            if first.id != at.id && decl.name.text == "default" {
                self.found.push(
                    Diagnostic::new(ResolveCode::Twice, "duplicate pipeline `default`")
                        .label(self.source, span, "declared again here")
                        .label(self.source, first.span, "first declared here")
                        .help("rename or remove one of them"),
                );
            }
        }
        let mut done = vec![false; all.len()];
        for at in 0..all.len() {
            // Down to one whose base is known, then back up.
            let mut road = vec![at];
            let mut next = Some(at);
            while let Some(from) = next.take() {
                let base = all[from].1.and_then(|name| all.iter().position(|(decl, _)| decl.name.text == name.text));
                match base {
                    Some(base) if road.contains(&base) => self.circle(&all, &road, base, &mut done),
                    Some(base) if !done[base] => {
                        road.push(base);
                        next = Some(base);
                    }
                    _ => {}
                }
            }
            for at in road.into_iter().rev() {
                if !std::mem::replace(&mut done[at], true) {
                    let (decl, extends) = all[at];
                    self.pipeline(decl, extends);
                }
            }
        }
    }

    fn circle(&mut self, all: &[(&FnDecl, Option<&Name>)], road: &[usize], base: usize, done: &mut [bool]) {
        let start = road.iter().position(|at| *at == base).unwrap_or(0);
        let circle = &road[start..];
        let names: Vec<String> =
            circle.iter().chain(std::iter::once(&base)).map(|at| format!("`{}`", all[*at].0.name.text)).collect();
        let Some(extends) = circle.last().and_then(|last| all[*last].1) else { return };
        self.found.push(
            Diagnostic::new(
                ResolveCode::Inheritance,
                format!("pipelines extend one another in a cycle: {}", names.join(" → ")),
            )
            .label(self.source, extends.span, "this closes the cycle")
            .help("remove the `extends` of one of them"),
        );
        for at in circle {
            done[*at] = true;
            // Its body is looked at all the same.
            self.pipeline_body(all[*at].0, &[]);
        }
    }

    fn pipeline(&mut self, decl: &FnDecl, extends: Option<&Name>) {
        let base = extends.and_then(|name| self.base(name));
        let overrides = decl.body.stmts.iter().filter_map(|stmt| match stmt.item() {
            Some(ItemKind::Override(decl)) => Some(decl),
            _ => None,
        });
        match (&base, extends) {
            (Some(base), Some(name)) => {
                for over in overrides {
                    self.override_of(over, base, name);
                }
                self.hidden(decl, base, name);
            }
            (None, None) => {
                for over in overrides {
                    self.nothing_to_override(over, "this pipeline extends no pipeline");
                }
            }
            _ => {}
        }
        let inherited = base.as_ref().map(|b| b.members.clone()).unwrap_or_default();
        self.pipeline_body(decl, &inherited);
        let mut members: Vec<Member> = decl.body.stmts.iter().filter_map(|s| self.member(s, decl.body.id)).collect();
        members.extend(inherited.into_iter().filter(|i| !decl.body.stmts.iter().any(|s| declares(s, &i.name))));
        self.bases.insert(decl.name.id, Base { members, below: base.map_or(0, |b| b.below + 1) });
    }

    fn pipeline_body(&mut self, decl: &FnDecl, inherited: &[Member]) {
        let own = self.out.made(decl.name.id);
        self.in_function(own, |walk| {
            decl.returns.iter().for_each(|ty| walk.type_names(ty));
            walk.params(&decl.params);
            walk.begin_body(BodyOf::Pipeline, &decl.body);
            walk.open(NodeId::NONE);
            for member in inherited {
                walk.scope().names.insert(member.name.clone(), member.id);
            }
            walk.in_pipeline = true;
            walk.block(&decl.body);
            walk.close(false);
        });
    }

    fn member(&self, stmt: &Stmt, block: NodeId) -> Option<Member> {
        let Some(ItemKind::Fn(decl)) = stmt.item() else { return None };
        let id = self.out.made(decl.name.id)?;
        Some(Member { name: decl.name.text.clone(), id, block, signature: signature(decl) })
    }

    /// What the pipeline offers whose name stands behind `extends`.
    fn base(&mut self, name: &Name) -> Option<Base> {
        let known = self.scopes.iter().rev().find_map(|s| s.pipelines.get(&name.text).copied());
        let Some(at) = known else {
            self.no_base(name);
            return None;
        };
        if let Some((id, _)) = self.lookup(&name.text) {
            self.out.bindings[id as usize].read = true;
        }
        let Some(base) = self.bases.get(&at.id).cloned() else {
            self.found.push(
                Diagnostic::new(
                    ResolveCode::Inheritance,
                    format!("`{}` is declared after the block that extends it", name.text),
                )
                .label(self.source, name.span, "extended here")
                .label(self.source, at.span, "declared here")
                .help("move the declaration before the block"),
            );
            return None;
        };
        if base.below + 1 >= DEEPEST {
            let message = format!("chain of more than {DEEPEST} pipelines that extend one another");
            self.found.push(
                Diagnostic::new(ResolveCode::Inheritance, message)
                    .label(self.source, name.span, "this one exceeds the limit")
                    .help("move the shared code into functions of the file"),
            );
            return None;
        }
        for member in &base.members {
            // Other bodies may capture it before its own block has made it.
            let binding = &mut self.out.bindings[member.id as usize];
            binding.captured = true;
            if !std::mem::replace(&mut binding.early, true) {
                self.out.early.entry(member.block).or_default().push(member.id);
            }
        }
        self.out.bases.insert(name.id, at.id);
        Some(base)
    }

    fn no_base(&mut self, name: &Name) {
        let mut d = match self.lookup(&name.text) {
            Some((id, _)) => {
                let binding = &mut self.out.bindings[id as usize];
                binding.read = true;
                let (kind, first) = (binding.kind, binding.span);
                let message = match kind {
                    BindingKind::Import | BindingKind::Outer => {
                        format!("cannot extend `{}`: it is not declared in this file", name.text)
                    }
                    _ => format!("`{}` is {}, not a pipeline", name.text, super::names::describe(kind)),
                };
                let d =
                    Diagnostic::new(ResolveCode::Inheritance, message).label(self.source, name.span, "extended here");
                if kind == BindingKind::Outer { d } else { d.label(self.source, first, "bound here") }
            }
            None => Diagnostic::new(ResolveCode::Inheritance, format!("unknown pipeline `{}`", name.text)).label(
                self.source,
                name.span,
                "not found",
            ),
        };
        let pipelines = self.scopes.iter().flat_map(|s| s.pipelines.keys().map(SmolStr::as_str));
        if let Some(near) = nearest(&name.text, pipelines) {
            d = d.help(format!("did you mean `{near}`?")).fix(name.span, near);
        }
        self.found.push(d);
    }

    fn override_of(&mut self, decl: &FnDecl, base: &Base, base_name: &Name) {
        let name = &decl.name;
        let Some(member) = base.members.iter().find(|m| m.name == name.text) else {
            let message = format!("`{}` has no function `{}` to override", base_name.text, name.text);
            let mut d = Diagnostic::new(ResolveCode::Inheritance, message)
                .label(self.source, name.span, "not found")
                .label(self.source, base_name.span, "extended here");
            let names = || base.members.iter().map(|m| m.name.as_str());
            d = match nearest(&name.text, names()) {
                Some(near) => d.help(format!("did you mean `{near}`?")).fix(name.span, near),
                None if base.members.is_empty() => d.note("it has no functions"),
                None => d.note(format!(
                    "the functions are {}",
                    names().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
                )),
            };
            return self.found.push(d);
        };
        if self.out.overrides.values().any(|id| *id == member.id)
            && let Some(first) =
                self.overridden.iter().find(|(id, base, _)| *id == member.id && *base == base_name.span)
        {
            self.found.push(
                Diagnostic::new(ResolveCode::MemberTwice, format!("`{}` is overridden twice", name.text))
                    .label(self.source, name.span, "overridden again here")
                    .label(self.source, first.2, "first overridden here")
                    .help("remove one of them"),
            );
            return;
        }
        self.overridden.push((member.id, base_name.span, name.span));
        self.out.overrides.insert(name.id, member.id);
        let own = signature(decl);
        let wanted = &member.signature;
        let too_many = own.max.is_some_and(|max| max < wanted.min);
        let too_few = wanted.max.is_some_and(|max| own.min > max);
        if too_many || too_few {
            let message = format!("override of `{}` has different parameters", name.text);
            self.found.push(
                Diagnostic::new(ResolveCode::Override, message)
                    .label(self.source, name.span, own.parameters())
                    .label(self.source, wanted.span, wanted.parameters())
                    .help("declare the same parameters: the extended pipeline calls it with its own arguments"),
            );
        }
    }

    /// A function of the base's name that does not say that it overrides.
    fn hidden(&mut self, decl: &FnDecl, base: &Base, base_name: &Name) {
        for stmt in &decl.body.stmts {
            let Some(ItemKind::Fn(decl)) = stmt.item() else { continue };
            if let Some(member) = base.members.iter().find(|m| m.name == decl.name.text) {
                let message = format!("`{}` already has a function `{}`", base_name.text, decl.name.text);
                self.found.push(
                    Diagnostic::new(ResolveCode::Inheritance, message)
                        .label(self.source, decl.name.span, "declared again here")
                        .label(self.source, member.signature.span, "declared here")
                        .help(format!("write `override fn {}` to replace it, or choose another name", decl.name.text)),
                );
            }
        }
    }

    fn nothing_to_override(&mut self, decl: &FnDecl, why: &str) {
        self.found.push(
            Diagnostic::new(ResolveCode::Inheritance, format!("`{}` overrides no function", decl.name.text))
                .label(self.source, decl.name.span, why)
                .help("use `override fn` only in the body of a pipeline that `extends` another one"),
        );
    }

    /// The body of an `override`.
    pub(super) fn override_body(&mut self, decl: &FnDecl, direct: bool) {
        if !direct {
            self.nothing_to_override(decl, "this is not the body of a pipeline");
        }
        let own = self.out.overrides.get(&decl.name.id).copied();
        self.with_generics(&decl.generics, |walk| {
            walk.in_function(own, |walk| {
                decl.returns.iter().for_each(|ty| walk.type_names(ty));
                walk.params(&decl.params);
                walk.begin_body(if decl.generator { BodyOf::Stream } else { BodyOf::Function }, &decl.body);
                walk.block(&decl.body);
            });
        });
    }
}

fn pipeline(stmt: &Stmt) -> Option<(&FnDecl, Option<&Name>)> {
    match stmt.item() {
        Some(ItemKind::Pipeline { decl, extends }) => Some((decl, extends.as_ref())),
        _ => None,
    }
}

fn declares(stmt: &Stmt, name: &str) -> bool {
    matches!(stmt.item(), Some(ItemKind::Fn(decl)) if decl.name.text == name)
}
