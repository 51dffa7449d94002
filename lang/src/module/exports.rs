//! Exports of a file.

use super::FileId;
use crate::declaration::{BindingId, BindingKind, Builtin, TypeDecl};
use crate::source::{SourceRef, Span};
use smol_str::SmolStr;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Place where an imported name was first bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The file that binds it.
    pub file: FileId,
    /// Its number there.
    pub binding: BindingId,
}

/// Number of arguments of a function of another file, and its location.
#[derive(Clone)]
pub struct Takes {
    /// The file's text.
    pub source: SourceRef,
    /// The function's name in it.
    pub span: Span,
    /// At least so many.
    pub min: usize,
    /// At most so many; nothing where a rest parameter takes the others.
    pub max: Option<usize>,
    /// The types of its parameters in the text, or the parameters without one.
    pub params: Vec<Span>,
}

/// A name that can be imported.
#[derive(Clone)]
pub struct Export {
    /// Place where it was first bound, even if several files passed it on.
    pub origin: Origin,
    /// Kind of the declaration in that file.
    pub kind: BindingKind,
    /// The builtin that it is another name for.
    pub builtin: Option<&'static Builtin>,
    /// Declaration, if it is a type.
    pub def: Option<TypeDecl>,
    /// Signature, if it is a function.
    pub takes: Option<Rc<Takes>>,
}

/// A name that a file has and keeps to itself.
#[derive(Clone, Copy, Debug)]
pub struct Private {
    /// Span of the binding.
    pub span: Span,
    /// Kind of the declaration that made it.
    pub kind: BindingKind,
}

/// The names of a file, seen from outside.
pub struct Exports {
    /// The file's text.
    pub source: SourceRef,
    /// Names that can be imported.
    pub names: BTreeMap<SmolStr, Export>,
    /// Names that cannot be imported, for messages.
    pub private: BTreeMap<SmolStr, Private>,
    /// Errors in the file may hide more names.
    pub incomplete: bool,
}
