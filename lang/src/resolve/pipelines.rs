//! `extends` and `override`: which pipeline is the base of which, and which function takes the place of which.
//!
//! The body of a base is compiled once more for each pipeline that extends it, with other functions in place of some. So
//! the functions of the base are in scope in what extends it, and an `override` is another body for the same binding.

use super::BindingId;
use super::messages;
use super::resolver::Resolver;
use super::types::signature;
use super::yields::BodyOf;
use crate::ast::*;
use crate::declaration::Signature;
use crate::diagnostic::nearest;
use smol_str::SmolStr;

/// Maximum length of a chain of pipelines that extend one another: each holds the bodies of all below it.
const DEEPEST: usize = 32;

/// Members that a pipeline offers to the pipelines that extend it.
#[derive(Clone)]
pub(super) struct Base {
    /// Its functions and those of its own base.
    members: Vec<PipelineMember>,
    /// Pipelines below it.
    below: usize,
}

#[derive(Clone)]
struct PipelineMember {
    name: SmolStr,
    id: BindingId,
    /// The block that binds it.
    block: NodeId,
    signature: Signature,
}

impl Resolver<'_> {
    /// The pipelines of a block, each after the one that it extends.
    pub(super) fn pipelines(&mut self, stmts: &[Stmt]) {
        let all: Vec<(&FnDecl, Option<&Name>)> = stmts.iter().filter_map(pipeline).collect();
        for (decl, _) in &all {
            let (span, at) = (decl.name.span, decl.name.at());
            let first = *self.scope().pipelines.entry(decl.name.text.clone()).or_insert(at);
            // The other names are bindings, which are refused where they are bound.
            if first.id != at.id && decl.name.text == "default" {
                self.found.push(messages::duplicate_default(self.source, span, first.span));
            }
        }
        let mut done = vec![false; all.len()];
        for at in 0..all.len() {
            // Down to one whose base is known, then back up.
            let mut chain = vec![at];
            let mut next = Some(at);
            while let Some(from) = next.take() {
                let base = all[from].1.and_then(|name| all.iter().position(|(decl, _)| decl.name.text == name.text));
                match base {
                    Some(base) if chain.contains(&base) => self.cycle(&all, &chain, base, &mut done),
                    Some(base) if !done[base] => {
                        chain.push(base);
                        next = Some(base);
                    }
                    _ => {}
                }
            }
            for at in chain.into_iter().rev() {
                if !std::mem::replace(&mut done[at], true) {
                    let (decl, extends) = all[at];
                    self.pipeline(decl, extends);
                }
            }
        }
    }

    fn cycle(&mut self, all: &[(&FnDecl, Option<&Name>)], chain: &[usize], base: usize, done: &mut [bool]) {
        let start = chain.iter().position(|at| *at == base).unwrap_or(0);
        let cycle = &chain[start..];
        let names: Vec<String> =
            cycle.iter().chain(std::iter::once(&base)).map(|at| format!("`{}`", all[*at].0.name.text)).collect();
        let Some(extends) = cycle.last().and_then(|last| all[*last].1) else { return };
        self.found.push(messages::extends_cycle(self.source, &names, extends.span));
        for at in cycle {
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
        let mut members: Vec<PipelineMember> =
            decl.body.stmts.iter().filter_map(|s| self.member(s, decl.body.id)).collect();
        members.extend(inherited.into_iter().filter(|i| !decl.body.stmts.iter().any(|s| declares(s, &i.name))));
        self.bases.insert(decl.name.id, Base { members, below: base.map_or(0, |b| b.below + 1) });
    }

    fn pipeline_body(&mut self, decl: &FnDecl, inherited: &[PipelineMember]) {
        let own = self.out.made(decl.name.id);
        self.in_function(own, |resolver| {
            decl.returns.iter().for_each(|ty| resolver.type_names(ty));
            resolver.params(&decl.params);
            resolver.begin_body(BodyOf::Pipeline, &decl.body);
            resolver.open(NodeId::NONE);
            for member in inherited {
                resolver.scope().names.insert(member.name.clone(), member.id);
            }
            resolver.in_pipeline = true;
            resolver.block(&decl.body);
            resolver.close(false);
        });
    }

    fn member(&self, stmt: &Stmt, block: NodeId) -> Option<PipelineMember> {
        let Some(ItemKind::Fn(decl)) = stmt.item() else { return None };
        let id = self.out.made(decl.name.id)?;
        Some(PipelineMember { name: decl.name.text.clone(), id, block, signature: signature(decl) })
    }

    /// Returns the contents of the pipeline whose name follows `extends`.
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
            self.found.push(messages::extended_too_early(self.source, name, at.span));
            return None;
        };
        if base.below + 1 >= DEEPEST {
            self.found.push(messages::extends_too_deep(self.source, name, DEEPEST));
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
                messages::not_a_pipeline(self.source, name, binding.kind, binding.span)
            }
            None => messages::unknown_base(self.source, name),
        };
        let pipelines = self.scopes.iter().flat_map(|s| s.pipelines.keys().map(SmolStr::as_str));
        if let Some(near) = nearest(&name.text, pipelines) {
            d = messages::did_you_mean(d, name, near);
        }
        self.found.push(d);
    }

    fn override_of(&mut self, decl: &FnDecl, base: &Base, base_name: &Name) {
        let name = &decl.name;
        let Some(member) = base.members.iter().find(|m| m.name == name.text) else {
            let names = || base.members.iter().map(|m| m.name.as_str());
            let near = nearest(&name.text, names());
            let d = messages::no_such_function(self.source, name, base_name, near, names());
            return self.found.push(d);
        };
        if self.out.overrides.values().any(|id| *id == member.id)
            && let Some(first) =
                self.overridden.iter().find(|(id, base, _)| *id == member.id && *base == base_name.span)
        {
            self.found.push(messages::overridden_twice(self.source, name, first.2));
            return;
        }
        self.overridden.push((member.id, base_name.span, name.span));
        self.out.overrides.insert(name.id, member.id);
        let own = signature(decl);
        let wanted = &member.signature;
        let too_many = own.max.is_some_and(|max| max < wanted.min);
        let too_few = wanted.max.is_some_and(|max| own.min > max);
        if too_many || too_few {
            self.found.push(messages::other_parameters(self.source, name, &own, wanted));
        }
    }

    /// A function of the base's name that does not say that it overrides.
    fn hidden(&mut self, decl: &FnDecl, base: &Base, base_name: &Name) {
        for stmt in &decl.body.stmts {
            let Some(ItemKind::Fn(decl)) = stmt.item() else { continue };
            if let Some(member) = base.members.iter().find(|m| m.name == decl.name.text) {
                self.found.push(messages::hides_function(self.source, &decl.name, base_name, member.signature.span));
            }
        }
    }

    fn nothing_to_override(&mut self, decl: &FnDecl, why: &str) {
        self.found.push(messages::nothing_to_override(self.source, &decl.name, why));
    }

    /// The body of an `override`.
    pub(super) fn override_body(&mut self, decl: &FnDecl, direct: bool) {
        if !direct {
            self.nothing_to_override(decl, "this is not the body of a pipeline");
        }
        let own = self.out.overrides.get(&decl.name.id).copied();
        self.with_generics(&decl.generics, |resolver| {
            resolver.in_function(own, |resolver| {
                decl.returns.iter().for_each(|ty| resolver.type_names(ty));
                resolver.params(&decl.params);
                resolver.begin_body(if decl.generator { BodyOf::Stream } else { BodyOf::Function }, &decl.body);
                resolver.block(&decl.body);
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
