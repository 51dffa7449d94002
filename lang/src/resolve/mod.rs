//! Resolution of names to their bindings.
//!
//! One visit of the tree finds undefined names, double definitions and forbidden assignments, and tells the compiler
//! what it must know before the first instruction: which bindings are captured, which of them must live in a cell, and
//! which are globals.
//!
//! Bodies of functions are looked at when their block is done, for they see all of it.

mod codes;
mod exports;
mod expression;
mod import;
mod messages;
mod names;
mod pipelines;
mod resolver;
mod scope;
mod statement;
mod types;
mod yields;

pub use crate::declaration::{BindingId, BindingKind};
pub use codes::ResolveCode;
pub use scope::{Binding, Replacement, Resolution, Target};
pub(crate) use types::constant;

use crate::ast::{Module, NodeMap};
use crate::declaration::TypeDecl;
use crate::declaration::{Builtin, Registry};
use crate::diagnostic::Diagnostic;
use crate::module::{Link, Origin};
use crate::source::SourceRef;
use smol_str::SmolStr;

/// A binding of an earlier piece of the same session (the REPL), or of the run (`task`).
#[derive(Clone)]
pub struct Outer {
    /// Its name.
    pub name: SmolStr,
    /// Whether it may be assigned to.
    pub variable: bool,
    /// The global it lives in.
    pub slot: u32,
    /// Place where it was first bound, if that was in another file.
    pub origin: Option<Origin>,
    /// The builtin that it is another name for.
    pub builtin: Option<&'static Builtin>,
    /// Declaration, if it is a type.
    pub def: Option<TypeDecl>,
}

/// Surroundings of a text: the code before it and the scopes around it.
pub struct Surroundings<'a> {
    /// Bindings of earlier pieces.
    pub outer: &'a [Outer],
    /// Exports of its imports, by their paths.
    pub links: NodeMap<Link>,
    /// Visibility of its names to others.
    pub role: Role,
}

/// Role of a text in its run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// The script itself: nobody else sees its names.
    #[default]
    Script,
    /// A piece of a session: later pieces see every binding at its top, which become globals.
    Piece,
    /// An imported file: others see what it offers, which become globals.
    Imported,
}

/// Resolves a module.
#[must_use]
pub fn resolve(
    source: &SourceRef,
    module: &Module,
    registry: Registry,
    around: &Surroundings<'_>,
) -> (Resolution, Vec<Diagnostic>) {
    let mut resolver = resolver::Resolver::new(source, registry, around);
    resolver.module(module);
    resolver.finish()
}
