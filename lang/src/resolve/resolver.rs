//! Visit of a module: scopes, bindings, and the functions that capture a binding.

use super::pipelines::Base;
use super::scope::{Binding, Resolution, ScopeNames};
use super::yields::FunctionBody;
use super::{BindingId, BindingKind, Role, Surroundings, messages};
use crate::ast::{Module, NodeAt, NodeId, NodeMap};
use crate::declaration::Registry;
use crate::diagnostic::Diagnostic;
use crate::hash::KeyedMap;
use crate::source::{SourceRef, Span};
use smol_str::SmolStr;
use std::collections::HashSet;

/// The statement that runs a body as a task.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TaskForm {
    /// `spawn { … }`
    Spawn,
    /// `parallel … { … }`
    Parallel,
}

pub(super) struct Scope {
    pub(super) names: ScopeNames,
    /// The names of its pipelines, `default` included.
    pub(super) pipelines: KeyedMap<SmolStr, NodeAt>,
    /// The block, for cells that must exist from its start.
    pub(super) block: NodeId,
    pub(super) function: u32,
}

pub(super) struct Resolver<'a> {
    pub(super) source: &'a SourceRef,
    pub(super) registry: Registry,
    pub(super) out: Resolution,
    pub(super) found: Vec<Diagnostic>,
    pub(super) scopes: Vec<Scope>,
    pub(super) function: u32,
    pub(super) functions: u32,
    /// The binding of the function whose body is being walked: its own name needs no capture.
    pub(super) own: Vec<Option<BindingId>>,
    /// Loops around, in the running function.
    pub(super) loops: u32,
    /// The function around.
    pub(super) body: FunctionBody,
    /// Body of a hoisted function of this scope depth is being walked.
    pub(super) hoisted: Vec<usize>,
    pub(super) around: &'a Surroundings<'a>,
    /// Number of scopes at the start of each function of a type: it does not see the blocks around it.
    pub(super) barriers: Vec<usize>,
    /// Names that an earlier alternative of the same pattern bound.
    pub(super) shared: Vec<(SmolStr, BindingId)>,
    /// Members that pipelines offer to the pipelines that extend them, by name.
    pub(super) bases: NodeMap<Base>,
    /// Overridden functions: the function, the name after `extends`, the overriding name.
    pub(super) overridden: Vec<(BindingId, Span, Span)>,
    /// The block that follows is the body of a pipeline.
    pub(super) in_pipeline: bool,
    /// Number of scopes at the start of each task around, with the words that start it.
    pub(super) tasks: Vec<(usize, TaskForm)>,
    /// The tools whose bodies are visited: in its body, the name of a tool is what it is outside.
    pub(super) tools: Vec<BindingId>,
    /// Type parameters.
    pub(super) generics: Vec<SmolStr>,
    pub(super) undefined: HashSet<SmolStr>,
    /// `pub` stands before the statement at hand.
    pub(super) public: bool,
    /// Type parameters of the types declared so far, for their `impl`s.
    pub(super) type_generics: KeyedMap<BindingId, Vec<SmolStr>>,
    /// Names that two files bring, with the path of the second import.
    pub(super) ambiguous: KeyedMap<BindingId, Span>,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(source: &'a SourceRef, registry: Registry, around: &'a Surroundings<'a>) -> Self {
        let mut resolver = Self {
            source,
            registry,
            out: Resolution::default(),
            found: Vec::new(),
            scopes: Vec::new(),
            function: 0,
            functions: 0,
            own: vec![None],
            loops: 0,
            body: FunctionBody::default(),
            hoisted: Vec::new(),
            around,
            barriers: Vec::new(),
            shared: Vec::new(),
            bases: NodeMap::default(),
            overridden: Vec::new(),
            in_pipeline: false,
            tasks: Vec::new(),
            tools: Vec::new(),
            generics: Vec::new(),
            undefined: HashSet::new(),
            public: false,
            type_generics: KeyedMap::default(),
            ambiguous: KeyedMap::default(),
        };
        resolver.open(NodeId::NONE);
        for o in around.outer {
            let id = resolver.push(Binding {
                name: o.name.clone(),
                span: Span::default(),
                kind: match &o.def {
                    Some(_) => BindingKind::Type,
                    None if o.variable => BindingKind::Var,
                    None => BindingKind::Outer,
                },
                top: true,
                global: true,
                slot: Some(o.slot),
                public: false,
                origin: o.origin,
                builtin: o.builtin,
                takes: None,
                captured: false,
                assigned: false,
                early: false,
                read: true,
                def: o.def.clone(),
                function: 0,
            });
            resolver.scope().names.insert(o.name.clone(), id);
        }
        resolver
    }

    pub(super) fn module(&mut self, module: &Module) {
        self.open(NodeId::NONE);
        self.statements(&module.body);
        self.offer();
        self.close(true);
    }

    /// Makes exported bindings live where other files can see them.
    fn offer(&mut self) {
        if self.around.role != Role::Imported {
            return;
        }
        let chosen = self.out.bindings.iter().any(|b| b.top && b.public);
        for binding in self.out.bindings.iter_mut().filter(|b| b.top && (b.public || !chosen)) {
            binding.global = true;
            // Who imports it may read it.
            binding.read = true;
        }
    }

    pub(super) fn finish(mut self) -> (Resolution, Vec<Diagnostic>) {
        self.found.sort_by_key(Diagnostic::position);
        (self.out, self.found)
    }

    pub(super) fn scope(&mut self) -> &mut Scope {
        if self.scopes.is_empty() {
            self.open(NodeId::NONE);
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    pub(super) fn open(&mut self, block: NodeId) {
        let function = self.function;
        self.scopes.push(Scope { names: ScopeNames::default(), pipelines: KeyedMap::default(), block, function });
    }

    pub(super) fn close(&mut self, top: bool) {
        let Some(scope) = self.scopes.pop() else { return };
        for (_, id) in scope.names.iter() {
            let binding = &self.out.bindings[id as usize];
            if binding.read || binding.name.starts_with('_') {
                continue;
            }
            let (name, span) = (binding.name.clone(), binding.span);
            let offered = binding.public || self.around.role == Role::Piece;
            if top && !offered && (binding.imported() || binding.builtin.is_some()) {
                self.found.push(messages::unused_import(self.source, &name, span));
                continue;
            }
            // What stands at the top may be imported by another file.
            let what = match binding.kind {
                _ if top => continue,
                BindingKind::Let | BindingKind::Var => "bound and never read",
                BindingKind::Function => "declared and never used",
                _ => continue,
            };
            self.found.push(messages::unused(self.source, &name, span, what));
        }
    }

    pub(super) fn push(&mut self, binding: Binding) -> BindingId {
        let id = u32::try_from(self.out.bindings.len()).unwrap_or(u32::MAX);
        self.out.bindings.push(binding);
        id
    }

    /// The module's own scope is the second: the first holds what came before.
    pub(super) fn at_top(&self) -> bool {
        self.scopes.len() == 2
    }

    pub(super) fn bind(&mut self, name: &SmolStr, at: NodeAt, kind: BindingKind) {
        self.bind_new(name, at, kind);
    }

    /// The binding, unless the name is `_` or taken.
    pub(super) fn bind_new(&mut self, name: &SmolStr, at: NodeAt, kind: BindingKind) -> Option<BindingId> {
        let span = at.span;
        if name == "_" {
            return None;
        }
        if let Some(first) = self.scope().names.get(name) {
            let first = self.out.binding(first).span;
            self.found.push(messages::bound_twice(self.source, name, span, first));
            return None;
        }
        let top = self.at_top();
        let function = self.function;
        let id = self.push(Binding {
            name: name.clone(),
            span,
            kind,
            top,
            global: top && self.around.role == Role::Piece,
            slot: None,
            public: top && self.public,
            origin: None,
            builtin: None,
            takes: None,
            captured: false,
            assigned: false,
            early: false,
            read: false,
            def: None,
            function,
        });
        self.scope().names.insert(name.clone(), id);
        self.out.set_made(at.id, id);
        Some(id)
    }
}
