//! Bindings and what is known of them.

use crate::ast::{NodeId, NodeMap, NodeSet};
use crate::builtin_type::Flavor;
use crate::declaration::{BindingId, BindingKind, Builtin, EnumDecl, TypeDecl};
use crate::hash::{Keyed, KeyedMap};
use crate::module::{Origin, Takes};
use crate::source::Span;
use smol_str::SmolStr;
use std::collections::HashSet;
use std::ops::Range;
use std::rc::Rc;

/// A binding.
#[derive(Clone)]
pub struct Binding {
    /// Its name.
    pub name: SmolStr,
    /// Span of the binding.
    pub span: Span,
    /// Kind of the declaration that made it.
    pub kind: BindingKind,
    /// It stands at the top of the file.
    pub top: bool,
    /// It lives in a global.
    pub global: bool,
    /// The global, of an outer binding.
    pub slot: Option<u32>,
    /// `pub` stands before it.
    pub public: bool,
    /// Place where it was first bound, if it is imported from a file.
    pub origin: Option<Origin>,
    /// The builtin that it is another name for.
    pub builtin: Option<&'static Builtin>,
    /// Signature, if it is a function at the top level of a file.
    pub takes: Option<Rc<Takes>>,
    /// A function inside uses it.
    pub captured: bool,
    /// It is assigned to after it is bound.
    pub assigned: bool,
    /// A function that is visible before the binding captures it.
    pub early: bool,
    /// Something reads it.
    pub read: bool,
    /// Declaration, if it is a type.
    pub def: Option<TypeDecl>,
    /// Number of the function whose window it belongs to.
    pub function: u32,
}

/// The values that are assigned to a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// Texts alone, as their syntax shows.
    Texts,
    /// Any.
    Values,
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

/// Meaning of a name.
#[derive(Clone, Copy)]
pub enum Target {
    /// A binding of the module.
    Binding(BindingId),
    /// A builtin function.
    Builtin(&'static Builtin),
}

/// A number that most different names do not share: comparing it first is faster than comparing texts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct NameMark(u32);

impl NameMark {
    #[inline]
    pub(super) fn of(name: &str) -> Self {
        let byte = |byte: Option<&u8>| byte.map_or(0, |byte| u32::from(*byte));
        let bytes = name.as_bytes();
        Self((bytes.len() as u32) << 16 ^ byte(bytes.first()) << 8 ^ byte(bytes.last()))
    }
}

/// The names of a scope: a list, with an index where it is long.
#[derive(Default)]
pub(super) struct ScopeNames {
    list: Vec<(NameMark, BindingId, SmolStr)>,
    index: KeyedMap<SmolStr, BindingId>,
}

impl ScopeNames {
    /// In a list of so many names, comparing them is faster than hashing one.
    const SHORT: usize = 8;

    pub(super) fn get(&self, name: &str) -> Option<BindingId> {
        self.marked(name, NameMark::of(name))
    }

    /// Returns what a name means of which the mark is known.
    #[inline]
    pub(super) fn marked(&self, name: &str, mark: NameMark) -> Option<BindingId> {
        if self.list.len() <= Self::SHORT {
            self.list.iter().find(|(other, _, known)| *other == mark && known == name).map(|(_, id, _)| *id)
        } else {
            self.index.get(name).copied()
        }
    }

    /// Adds a name, or gives a known one another meaning.
    pub(super) fn insert(&mut self, name: SmolStr, id: BindingId) {
        if self.get(&name).is_some() {
            self.list.iter_mut().filter(|(_, _, known)| *known == name).for_each(|entry| entry.1 = id);
        } else {
            self.list.push((NameMark::of(&name), id, name.clone()));
        }
        if self.list.len() == Self::SHORT + 1 {
            self.index = self.list.iter().map(|(_, id, name)| (name.clone(), *id)).collect();
        } else if self.list.len() > Self::SHORT {
            self.index.insert(name, id);
        }
    }

    /// The names and what they mean, in the order in which they were bound.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&SmolStr, BindingId)> {
        self.list.iter().map(|(_, id, name)| (name, *id))
    }
}

/// A table in which many nodes have a number: a vector by id.
#[derive(Default)]
struct NodeNumbers(Vec<u32>);

impl NodeNumbers {
    /// Stands for no number.
    const NONE: u32 = u32::MAX;

    fn set(&mut self, id: NodeId, number: u32) {
        if id == NodeId::NONE {
            return;
        }
        if self.0.len() <= id.index() {
            self.0.resize(id.index() + 1, Self::NONE);
        }
        self.0[id.index()] = number;
    }

    fn get(&self, id: NodeId) -> Option<u32> {
        self.0.get(id.index()).copied().filter(|number| *number != Self::NONE)
    }
}

/// The first number of a builtin among those of [`Resolution::used`]. A text has fewer bindings: each takes more than two bytes,
/// and texts end at 4 GiB.
const BUILTIN: u32 = 1 << 31;

/// Everything the compiler wants to know of a module's names.
#[derive(Default)]
pub struct Resolution {
    /// All bindings.
    pub bindings: Vec<Binding>,
    /// Meanings of names: bindings from 0 up, builtins from [`BUILTIN`] up.
    uses: NodeNumbers,
    /// The builtins that are used by their bare names, and their places in this list.
    used: Vec<&'static Builtin>,
    used_at: KeyedMap<*const Builtin, u32>,
    /// The bindings that names and patterns make.
    made: NodeNumbers,
    /// The values that are assigned to whole bindings: those of other bindings are assigned to in parts, if at all.
    pub(super) replaced: KeyedMap<BindingId, Replacement>,
    /// The functions whose own bodies use them.
    pub(super) own_uses: HashSet<BindingId, Keyed>,
    /// The bindings that are assigned to, one for each assignment.
    pub(super) assigned: Vec<BindingId>,
    /// The part of `assigned` that belongs to a block, or to the loop whose body it is.
    pub(super) assigned_in: NodeMap<Range<u32>>,
    /// The bindings whose cells must exist from the start of a block, by the block.
    pub early: NodeMap<Vec<BindingId>>,
    /// The functions whose calls make iterators, by their bodies.
    pub iterators: NodeMap<Flavor>,
    /// Calls `N.m(…)` of a namespaced builtin, by the name `m`.
    pub namespaced: NodeMap<&'static Builtin>,
    /// The variable `N` at such a call, which the builtin hides, by the name `m`.
    pub hidden_receivers: NodeMap<BindingId>,
    /// It imports all names of a file that is missing or broken, so that more may be bound than is known.
    pub blind: bool,
    /// It passes such names on.
    pub incomplete: bool,
    /// The name of a pipeline's base, by the name after `extends`.
    pub bases: NodeMap<NodeId>,
    /// The function that an `override fn` replaces, by its name.
    pub overrides: NodeMap<BindingId>,
    /// `Type.member`: the type, by the name `member`.
    pub members: NodeMap<BindingId>,
    /// `Result.Ok`, `Result.Err`: the names of the variants.
    pub results: NodeSet,
}

impl Resolution {
    /// Returns what a name means.
    #[must_use]
    pub fn used(&self, id: NodeId) -> Option<Target> {
        let number = self.uses.get(id)?;
        Some(match number.checked_sub(BUILTIN) {
            None => Target::Binding(number),
            Some(place) => Target::Builtin(self.used[place as usize]),
        })
    }

    /// Notes what a name means.
    pub(super) fn set_used(&mut self, id: NodeId, target: Target) {
        let number = match target {
            Target::Binding(binding) => binding,
            Target::Builtin(row) => {
                let next = u32::try_from(self.used.len()).unwrap_or(0);
                let place = *self.used_at.entry(std::ptr::from_ref(row)).or_insert(next);
                if place == next {
                    self.used.push(row);
                }
                BUILTIN + place
            }
        };
        self.uses.set(id, number);
    }

    /// Returns the binding that a name or pattern makes.
    #[must_use]
    pub fn made(&self, id: NodeId) -> Option<BindingId> {
        self.made.get(id)
    }

    /// Notes the binding that a name or pattern makes.
    pub(super) fn set_made(&mut self, id: NodeId, binding: BindingId) {
        self.made.set(id, binding);
    }

    /// Returns whether the body of a function uses the function, outside of the functions in it.
    #[must_use]
    pub fn uses_itself(&self, function: BindingId) -> bool {
        self.own_uses.contains(&function)
    }

    /// Returns which values are assigned to a whole binding; `None` if only parts of it are assigned to.
    #[must_use]
    pub fn replacement(&self, id: BindingId) -> Option<Replacement> {
        self.replaced.get(&id).copied()
    }

    /// Returns the bindings that are assigned to in a block, or in the loop whose body it is.
    #[must_use]
    pub fn assigned_in(&self, block: NodeId) -> &[BindingId] {
        self.assigned_in.get(&block).map_or(&[], |part| &self.assigned[part.start as usize..part.end as usize])
    }

    /// Returns the type that a name stands for.
    #[must_use]
    pub fn named_type(&self, id: NodeId) -> Option<&TypeDecl> {
        match self.used(id)? {
            Target::Binding(id) => self.binding(id).def.as_ref(),
            Target::Builtin(_) => None,
        }
    }

    /// The type in front of the dot of `Type.member`.
    #[must_use]
    pub fn owner_of(&self, member: NodeId) -> Option<TypeDecl> {
        if self.results.contains(&member) {
            return Some(TypeDecl::Enum(EnumDecl::result()));
        }
        self.members.get(&member).and_then(|id| self.binding(*id).def.as_ref()).map(TypeDecl::resolved)
    }

    /// The binding of the piped value, if the right side of a pipe mentions it.
    #[must_use]
    pub fn piped(&self, into: NodeId) -> Option<BindingId> {
        self.made(into).filter(|id| self.binding(*id).read)
    }

    /// A binding.
    #[must_use]
    pub fn binding(&self, id: BindingId) -> &Binding {
        &self.bindings[id as usize]
    }
}
