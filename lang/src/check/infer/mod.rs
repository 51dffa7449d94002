//! The types of expressions, and what is certain to fail because of them.
//!
//! One visit in the order of evaluation. It knows of every expression what it is certain to be, and of every variable
//! what tests and assignments before have told ([`flow`]). What fails is reported once: the expression is then of
//! unknown type, and nothing is said about what is done with it.
//!
//! - [`statement`], [`function`], [`assign`], [`pattern`]: what binds names.
//! - [`expression`], [`branch`], [`operator`], [`member`], [`index`], [`call`], [`method`]: what has a value.
//! - [`decode`]: types as values. [`event`]: what a handler gets. [`condition`]: what a test tells.
//! - [`border`]: the places that are checked while running.
//! - [`want`], [`fit`]: what a place demands and whether a value fits; [`report`]: the words.

mod assign;
mod border;
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

pub use border::Borders;
pub(crate) use border::{Border, BorderKind};
pub(super) use call::Taken;
pub(super) use want::{DemandOrigin, ImportedPart};

use super::calls::Call;
use super::items::Declared;
use super::table::ExpressionTypes;
use super::types::Type;
use crate::ast::{Expr, FnDecl, Module};
use crate::diagnostic::{Diagnostic, Severity};
use crate::hash::Keyed;
use crate::resolve::BindingId;
use crate::source::SourceRef;
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
    /// The types of the results of functions that declare none, as far as their bodies were looked at.
    results: HashMap<*const FnDecl, Type, Keyed>,
    /// Number of functions that are being looked at because others call them.
    depth: usize,
    /// The types of all expressions, if they are kept.
    types: Option<ExpressionTypes>,
    /// The places that are checked while running.
    borders: Borders,
    found: Vec<Diagnostic>,
}

/// The inferred types of a module.
pub(super) struct Inference<'a> {
    pub(super) world: Declared<'a>,
    /// The type of its last expression.
    pub(super) last: Type,
    /// The types that bindings have everywhere.
    pub(super) bases: Vec<Type>,
    /// The types of the results of functions that declare none.
    pub(super) results: HashMap<*const FnDecl, Type, Keyed>,
    /// Calls of methods whose rows have a lint.
    pub(super) linted: Vec<Call<'a>>,
    /// The types of all expressions, if they are kept.
    pub(super) expressions: Option<ExpressionTypes>,
    /// The places that are checked while running.
    pub(super) borders: Borders,
}

/// Infers the types of a resolved module, and finds what fails because of them.
pub(super) fn infer<'a>(
    source: &'a SourceRef,
    module: &'a Module,
    world: Declared<'a>,
    keep: bool,
    found: &mut Vec<Diagnostic>,
) -> Inference<'a> {
    let mut checker = Checker::new(source, world);
    checker.types = keep.then(ExpressionTypes::default);
    let last = checker.module(module);
    found.append(&mut checker.found);
    let Checker { world, bases, results, linted, types: expressions, borders, .. } = checker;
    Inference { world, last, bases, results, linted, expressions, borders }
}

impl<'a> Checker<'a> {
    fn new(source: &'a SourceRef, world: Declared<'a>) -> Self {
        let mut bases = vec![Type::Any; world.names.bindings.len()];
        for (id, ty) in &world.imported.values {
            if let Some(base) = bases.get_mut(*id as usize) {
                *base = ty.clone();
            }
        }
        Self {
            source,
            bases,
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
            results: HashMap::default(),
            depth: 0,
            types: None,
            borders: Borders::default(),
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
