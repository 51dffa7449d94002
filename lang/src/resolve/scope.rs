//! Bindings and what is known of them.

use crate::builtins::Builtin;
use crate::module::{Origin, Takes};
use crate::source::Span;
use crate::value::hash::Keyed;
use crate::value::{Flavor, TypeDef, Value};
use smol_str::SmolStr;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;

/// Number of a binding in its module.
pub type BindingId = u32;

/// What made a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindingKind {
    /// `let`, `const`
    Let,
    /// `var`
    Var,
    /// A parameter
    Parameter,
    /// A loop variable
    Loop,
    /// A name in a pattern, a caught error
    Pattern,
    /// `fn`, `tool`
    Function,
    /// `pipeline`
    Pipeline,
    /// `struct`, `enum`, `interface`, `type`
    Type,
    /// `import`
    Import,
    /// Of an earlier piece of the session
    Outer,
}

/// A binding.
#[derive(Clone)]
pub struct Binding {
    /// Its name.
    pub name: SmolStr,
    /// Where it was bound.
    pub span: Span,
    /// What made it.
    pub kind: BindingKind,
    /// It stands at the top of the file.
    pub top: bool,
    /// It lives in a global.
    pub global: bool,
    /// The global, of an outer binding.
    pub slot: Option<u32>,
    /// `pub` stands before it.
    pub public: bool,
    /// Where it was first bound, if it is imported from a file.
    pub origin: Option<Origin>,
    /// The builtin that it is another name for.
    pub builtin: Option<&'static Builtin>,
    /// What it takes, if it is a function at the top of a file.
    pub takes: Option<Rc<Takes>>,
    /// A function inside uses it.
    pub captured: bool,
    /// It is assigned to after it is bound.
    pub assigned: bool,
    /// A function that is visible before the binding captures it.
    pub early: bool,
    /// Something reads it.
    pub read: bool,
    /// What it stands for, if it is a type.
    pub def: Option<TypeDef>,
    /// Number of the function whose window it belongs to.
    pub function: u32,
}

impl Binding {
    /// Whether another file binds it.
    #[must_use]
    pub fn imported(&self) -> bool {
        self.kind == BindingKind::Import || self.origin.is_some()
    }

    /// Whether it must live in a cell.
    #[must_use]
    pub fn boxed(&self) -> bool {
        !self.global && self.captured && (self.assigned || self.early)
    }
}

/// What a name means.
#[derive(Clone, Copy)]
pub enum Target {
    /// A binding of the module.
    Binding(BindingId),
    /// A builtin function.
    Builtin(&'static Builtin),
}

/// Positions are keys enough: no hashing to speak of.
#[derive(Default)]
pub struct PositionHasher(u64);

impl Hasher for PositionHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.0 = (self.0 << 8) ^ u64::from(b);
        }
    }
    fn write_u32(&mut self, position: u32) {
        self.0 = u64::from(position).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

/// A map whose keys come from the text: names, or the numbers of bindings.
pub(crate) type NameMap<K, V> = HashMap<K, V, Keyed>;

/// A map from byte offsets.
pub type Positions<T> = HashMap<u32, T, BuildHasherDefault<PositionHasher>>;

/// Everything the compiler wants to know of a module's names.
#[derive(Default)]
pub struct Resolution {
    /// All bindings.
    pub bindings: Vec<Binding>,
    /// What a name at a byte offset means.
    pub uses: Positions<Target>,
    /// The binding made by the name at a byte offset.
    pub made: Positions<BindingId>,
    /// Where bindings are assigned to, in the order of the text.
    pub assigned: Vec<(u32, BindingId)>,
    /// For a block that starts at a byte offset: the bindings whose cells must be there from its start.
    pub early: Positions<Vec<BindingId>>,
    /// The functions whose calls make iterators, by the offset of their bodies.
    pub iterators: Positions<Flavor>,
    /// Calls `N.m(…)` of a namespaced builtin, by the offset of `m`.
    pub namespaced: Positions<&'static Builtin>,
    /// It imports all names of a file that is missing or broken, so that more may be bound than is known.
    pub blind: bool,
    /// It passes such names on.
    pub incomplete: bool,
    /// Where the name of a pipeline's base stands, by the offset of the name behind `extends`.
    pub bases: Positions<u32>,
    /// The function whose place an `override fn` takes, by the offset of its name.
    pub overrides: Positions<BindingId>,
    /// `Type.member`: the type, by the offset of `member`.
    pub members: Positions<BindingId>,
    /// `Result.Ok`, `Result.Err`, by the offset of the variant.
    pub results: HashSet<u32, BuildHasherDefault<PositionHasher>>,
}

impl Resolution {
    /// The binding made at a span.
    #[must_use]
    pub fn made_at(&self, span: Span) -> Option<BindingId> {
        self.made.get(&span.start).copied()
    }

    /// The type that a name at a span stands for.
    #[must_use]
    pub fn type_at(&self, span: Span) -> Option<&TypeDef> {
        match self.uses.get(&span.start)? {
            Target::Binding(id) => self.binding(*id).def.as_ref(),
            Target::Builtin(_) => None,
        }
    }

    /// The type in front of the dot of `Type.member`.
    #[must_use]
    pub fn owner_of(&self, member: Span) -> Option<TypeDef> {
        if self.results.contains(&member.start) {
            return Some(TypeDef::Enum(Value::result_def()));
        }
        self.members.get(&member.start).and_then(|id| self.binding(*id).def.as_ref()).map(TypeDef::resolved)
    }

    /// The binding of the piped value, if the right side of a pipe mentions it.
    #[must_use]
    pub fn piped(&self, into: Span) -> Option<BindingId> {
        self.made_at(into).filter(|id| self.binding(*id).read)
    }

    /// A binding.
    #[must_use]
    pub fn binding(&self, id: BindingId) -> &Binding {
        &self.bindings[id as usize]
    }
}
