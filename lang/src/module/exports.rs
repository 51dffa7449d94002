//! What a file offers to those that import it.

use super::FileId;
use crate::builtins::Builtin;
use crate::resolve::{BindingId, BindingKind, Resolution};
use crate::source::{SourceRef, Span};
use crate::value::TypeDef;
use smol_str::SmolStr;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Where an imported name was first bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The file that binds it.
    pub file: FileId,
    /// Its number there.
    pub binding: BindingId,
}

/// How many arguments a function of another file takes, and where that is written.
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
}

/// A name that can be imported.
#[derive(Clone)]
pub struct Export {
    /// Where it was first bound, however many files passed it on.
    pub origin: Origin,
    /// What made it there.
    pub kind: BindingKind,
    /// The builtin that it is another name for.
    pub builtin: Option<&'static Builtin>,
    /// What it stands for, if it is a type.
    pub def: Option<TypeDef>,
    /// What it takes, if it is a function.
    pub takes: Option<Rc<Takes>>,
}

/// A name that a file has and keeps to itself.
#[derive(Clone, Copy, Debug)]
pub struct Private {
    /// Where it is bound.
    pub span: Span,
    /// What made it.
    pub kind: BindingKind,
}

/// The names of a file, seen from outside.
pub struct Exports {
    /// The file's text.
    pub source: SourceRef,
    /// What can be imported.
    pub names: BTreeMap<SmolStr, Export>,
    /// What cannot, for messages.
    pub private: BTreeMap<SmolStr, Private>,
    /// Errors in the file may hide more names.
    pub incomplete: bool,
}

impl Exports {
    /// What a resolved file offers: its `pub` names, or all that it binds itself where none is `pub`.
    #[must_use]
    pub(crate) fn of(file: FileId, source: &SourceRef, names: &Resolution, incomplete: bool) -> Self {
        let top = || (0_u32..).zip(&names.bindings).filter(|(_, b)| b.top && b.slot.is_none());
        let chosen = top().any(|(_, b)| b.public);
        let (offered, private) = (BTreeMap::new(), BTreeMap::new());
        let mut exports = Self { source: source.clone(), names: offered, private, incomplete };
        for (id, binding) in top() {
            let name = binding.name.clone();
            if if chosen { binding.public } else { !binding.imported() } {
                let origin = binding.origin.unwrap_or(Origin { file, binding: id });
                let (kind, builtin, def) = (binding.kind, binding.builtin, binding.def.clone());
                let takes = binding.takes.clone();
                exports.names.insert(name, Export { origin, kind, builtin, def, takes });
            } else {
                exports.private.insert(name, Private { span: binding.span, kind: binding.kind });
            }
        }
        exports
    }
}
