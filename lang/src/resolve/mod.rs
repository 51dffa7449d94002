//! Which binding every name means.
//!
//! One walk over the tree finds undefined names, double definitions and forbidden assignments, and tells the compiler
//! what it must know before the first instruction: which bindings are captured, which of them must live in a cell, and
//! which are globals.
//!
//! Bodies of functions are looked at when their block is done, for they see all of it.

mod codes;
mod expression;
mod names;
mod scope;
mod statement;
mod walk;
mod yields;

pub use codes::CODES;
pub use scope::{Binding, BindingId, BindingKind, Positions, Resolution, Target};

use crate::ast::Module;
use crate::builtins::Registry;
use crate::diagnostic::Diagnostic;
use crate::source::SourceRef;
use smol_str::SmolStr;

/// A binding of an earlier piece of the same session (the REPL), or of the run (`task`).
#[derive(Clone, Debug)]
pub struct Outer {
    /// Its name.
    pub name: SmolStr,
    /// Whether it may be assigned to.
    pub variable: bool,
    /// The global it lives in.
    pub slot: u32,
}

/// Resolves a module. With `keep`, every binding at the top becomes a global, so that a later piece can see it.
#[must_use]
pub fn resolve(
    source: &SourceRef,
    module: &Module,
    registry: Registry,
    outer: &[Outer],
    keep: bool,
) -> (Resolution, Vec<Diagnostic>) {
    let mut walk = walk::Walk::new(source, registry, outer, keep);
    walk.module(module);
    walk.finish()
}
