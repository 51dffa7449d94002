//! The types of expressions, and what is certain to fail because of them.
//!
//! One visit in the order of evaluation. It knows of every expression what it is certain to be, and of every variable
//! what tests and assignments before have told ([`flow`]). What fails is reported once: the expression is then of
//! unknown type, and nothing is said about what is done with it.
//!
//! - [`statement`], [`function`], [`assign`], [`pattern`]: what binds names.
//! - [`expression`], [`branch`], [`operator`], [`member`], [`index`], [`call`], [`method`]: what has a value.
//! - [`decode`]: types as values. [`event`]: what a handler gets. [`condition`]: what a test tells.
//! - [`want`], [`fit`]: what a place demands and whether a value fits; [`report`]: the words.

mod assign;
mod branch;
mod call;
mod condition;
mod decode;
mod event;
mod expression;
mod fit;
mod flow;
mod function;
mod index;
mod member;
mod method;
mod operator;
mod pattern;
mod report;
mod statement;
mod want;

pub(super) use function::yields;

use super::calls::Call;
use super::imported::ImportedTypes;
use super::items::Declared;
use super::table::TypeTable;
use super::types::Type;
use crate::ast::{Expr, Module};
use crate::declaration::Registry;
use crate::diagnostic::{Diagnostic, Severity};
use crate::hash::Keyed;
use crate::resolve::{BindingId, Resolution};
use crate::source::{SourceRef, Span};
use flow::Flow;
use function::FunctionFrame;
use std::collections::HashMap;

/// State of the checker while it infers types.
pub(super) struct Checker<'a> {
    source: &'a SourceRef,
    world: Declared<'a>,
    /// Types that bindings have everywhere.
    bases: Vec<Type>,
    flow: Flow,
    frame: FunctionFrame,
    /// Flows at the `break`s of the surrounding loops, innermost last.
    loops: Vec<Vec<Flow>>,
    /// Types of `_`, innermost pipe last.
    piped: Vec<Type>,
    /// Around this, somebody catches what is raised.
    caught: usize,
    /// Types that were loosened by tests that are not understood, for the surrounding `if`.
    loosened: Vec<(BindingId, Type)>,
    /// Tests that a `let` has given a name.
    tests: HashMap<BindingId, &'a Expr, Keyed>,
    in_named_test: bool,
    /// Calls of methods of builtin types whose rows have a lint.
    linted: Vec<Call<'a>>,
    /// The last call that returned a stream of known items, and their type.
    streamed: Option<(Span, Type)>,
    /// The types of all expressions, if they are kept.
    types: Option<TypeTable>,
    found: Vec<Diagnostic>,
}

/// Checks a resolved module. Returns the type of its last expression, and the calls of methods whose rows have a lint.
pub(super) fn check<'a>(
    source: &'a SourceRef,
    module: &'a Module,
    names: &'a Resolution,
    registry: Registry,
    found: &mut Vec<Diagnostic>,
) -> (Type, Vec<Call<'a>>) {
    let mut checker = Checker::new(source, Declared::new(names, registry));
    let last = checker.module(module);
    found.append(&mut checker.found);
    (last, checker.linted)
}

/// Returns the types of a resolved module.
pub(super) fn types(
    source: &SourceRef,
    module: &Module,
    names: &Resolution,
    registry: Registry,
    imported: &ImportedTypes,
) -> TypeTable {
    let mut checker = Checker::new(source, Declared::of_editor(names, registry, imported));
    for (id, ty) in &imported.functions {
        if let Some(base) = checker.bases.get_mut(*id as usize) {
            *base = ty.clone();
        }
    }
    checker.types = Some(TypeTable::default());
    checker.module(module);
    let mut types = checker.types.take().unwrap_or_default();
    types.set_bindings(checker.bases);
    types
}

impl<'a> Checker<'a> {
    fn new(source: &'a SourceRef, world: Declared<'a>) -> Self {
        Self {
            source,
            bases: vec![Type::Any; world.names.bindings.len()],
            world,
            flow: Flow::default(),
            frame: FunctionFrame::default(),
            loops: Vec::new(),
            piped: Vec::new(),
            caught: 0,
            loosened: Vec::new(),
            tests: HashMap::default(),
            in_named_test: false,
            linted: Vec::new(),
            streamed: None,
            types: None,
            found: Vec::new(),
        }
    }
}

impl Checker<'_> {
    fn say(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }

    /// Something that raises when it is run. Where somebody catches that, the script may want it.
    fn raises(&mut self, mut diagnostic: Diagnostic) {
        if self.caught > 0 {
            diagnostic.severity = Severity::Warning;
        }
        self.found.push(diagnostic);
    }
}
