//! Facts about a value that are known before the run.
//!
//! A type says what a value is certain to be; [`Type::Any`] says that nothing is known. The questions asked of types
//! are therefore of one kind: is it *certain* that this value cannot be that ([`Type::refuses`]), that no pair of these
//! values can be added ([`Kinds`])?
//!
//! - [`join`]: the type of what is one or the other.
//! - [`kinds`]: which kinds of value a type allows, as a set of bits.
//! - [`number`]: ranges of numbers.
//! - [`relate`]: whether a value certainly does not fit.
//! - [`read`]: written types; [`signature`]: the signatures of builtins.
//! - [`show`]: types in messages.

mod generic;
mod join;
mod kinds;
mod number;
mod read;
mod relate;
mod show;
mod signature;

pub(super) use generic::{Bound, bind, fill};
pub(super) use join::join;
pub(super) use kinds::Kinds;
pub(super) use number::Numbers;
pub(super) use read::{FileNames, TypeReader};
pub(super) use relate::{Nominal, proves, refuses};
pub(super) use show::apart;
pub(super) use signature::Signatures;

use crate::builtin_type::{Kind, Tag};
use crate::resolve::BindingId;
use crate::source::Span;
use smol_str::SmolStr;
use std::rc::Rc;

/// Types with more parts than this are cut down to an outline.
pub(super) const MOST_PARTS: usize = 1_000;

/// A dict literal with more keys than this is data: which keys it has is not kept.
pub(super) const MOST_KEYS: usize = 250;

/// Facts about a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type {
    /// Nothing.
    Any,
    /// There is none: control does not get there.
    Never,
    /// `nil`
    Nil,
    /// `bool`
    Bool,
    /// `int`
    Int,
    /// `float`; an int is accepted where one is asked for.
    Float,
    /// `string`
    Str,
    /// This very string.
    Text(SmolStr),
    /// `bytes`
    Bytes,
    /// `range`
    Range,
    /// `list<T>`
    List(Rc<Type>),
    /// `set<T>`
    Set(Rc<Type>),
    /// `dict<string, T>`
    Dict(Rc<Type>),
    /// `{a: T, b?: U}`
    Shape(Rc<Shape>),
    /// `channel<T>`, `generator<T>`, `iter<T>`, `stream<T>`, `task<T>`: values of the run, which hand over others.
    Handle(Handle, Rc<Type>),
    /// `pair<A, B>`
    Pair(Rc<(Type, Type)>),
    /// `Result<T, E>`
    Result(Rc<(Type, Type)>),
    /// `fn(T) -> U`
    Fn(Rc<FnType>),
    /// A struct, an enum or an interface of the file, with its type arguments.
    Named(Rc<NamedType>),
    /// A type parameter of a signature, until a call says what it is.
    Param(SmolStr),
    /// One of several; never nested, at least two.
    Union(Rc<[Type]>),
}

/// A value of the run that hands over others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handle {
    Channel,
    Generator,
    Iter,
    Stream,
    Task,
}

impl Handle {
    /// Returns its kind.
    pub(crate) const fn kind(self) -> Kind {
        match self {
            Self::Channel => Kind::Channel,
            Self::Generator => Kind::Generator,
            Self::Iter => Kind::Iter,
            Self::Stream => Kind::Stream,
            Self::Task => Kind::Task,
        }
    }

    /// Returns the tags that its values may have: a stream may be one of the host.
    pub(super) const fn kinds(self) -> Kinds {
        match self {
            Self::Channel | Self::Task => Kinds::of(Tag::Host),
            Self::Generator => Kinds::of(Tag::Generator),
            Self::Iter => Kinds::of(Tag::Iter),
            Self::Stream => Kinds::of(Tag::Stream).and(Kinds::of(Tag::Host)),
        }
    }

    /// Returns the tag whose methods its values have.
    pub(super) const fn methods(self) -> Option<Tag> {
        match self {
            Self::Channel | Self::Task => None,
            Self::Generator => Some(Tag::Generator),
            Self::Iter => Some(Tag::Iter),
            Self::Stream => Some(Tag::Stream),
        }
    }

    /// Returns whether its values are taken one after the other, as those of an iterator.
    pub(crate) const fn is_lazy(self) -> bool {
        matches!(self, Self::Generator | Self::Iter | Self::Stream)
    }
}

/// The keys of a dict.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// In the order of the text.
    pub(crate) fields: Vec<ShapeKey>,
    /// There may be other keys.
    pub(crate) open: bool,
    /// It is the type of a dict literal: the keys are those and no others, and none of them was promised.
    pub(super) literal: bool,
    /// A builtin hands it over: an unknown key is read as nil, so it is a slip and not an error. If there may be keys that
    /// are not listed, only a name near to a listed one is a slip.
    pub(crate) told: bool,
    /// The module of its methods, if its values are those of a host with methods of their own.
    pub(crate) methods: Option<&'static str>,
}

/// A key of a dict.
#[derive(Clone, Debug)]
pub(crate) struct ShapeKey {
    pub(crate) name: SmolStr,
    pub(crate) ty: Type,
    /// It may be missing, or nil.
    pub(crate) optional: bool,
    /// In a literal: where key and value stand.
    pub(super) at: Option<(Span, Span)>,
    /// The numbers that it may be; in a literal, the one that it is while `at` is known.
    pub(super) numbers: Numbers,
}

/// A function.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FnType {
    /// Without the rest.
    pub(super) params: Vec<Type>,
    /// Number of required arguments.
    pub(super) min: usize,
    /// It takes any number more.
    pub(super) rest: bool,
    pub(super) returns: Type,
}

/// A type that the file declares.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NamedType {
    pub(crate) id: BindingId,
    pub(crate) kind: NamedKind,
    pub(crate) name: SmolStr,
    pub(super) args: Vec<Type>,
}

/// Declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamedKind {
    Struct,
    Enum,
    Interface,
}

impl PartialEq for Shape {
    fn eq(&self, other: &Self) -> bool {
        let same = |a: &ShapeKey, b: &ShapeKey| {
            a.name == b.name && a.ty == b.ty && a.optional == b.optional && a.numbers == b.numbers
        };
        self.open == other.open
            && self.literal == other.literal
            && self.fields.len() == other.fields.len()
            && self.fields.iter().zip(&other.fields).all(|(a, b)| same(a, b))
    }
}

impl Shape {
    pub(super) fn field(&self, name: &str) -> Option<&ShapeKey> {
        self.fields.iter().find(|f| f.name == name)
    }
}

impl Type {
    pub(super) fn list(of: Self) -> Self {
        Self::List(Rc::new(of))
    }

    pub(super) fn set(of: Self) -> Self {
        Self::Set(Rc::new(of))
    }

    pub(super) fn handle(kind: Handle, of: Self) -> Self {
        Self::Handle(kind, Rc::new(of))
    }

    pub(super) fn dict(of: Self) -> Self {
        Self::Dict(Rc::new(of))
    }

    pub(super) fn optional(self) -> Self {
        join(self, Self::Nil)
    }

    /// A function of which only that is known.
    pub(super) fn function() -> Self {
        Self::Fn(Rc::new(FnType { params: Vec::new(), min: 0, rest: true, returns: Self::Any }))
    }

    /// Nothing is known of it, or it is never there: nothing is to be said about it.
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Self::Any | Self::Never | Self::Param(_))
    }

    /// The members of a union, or the type alone.
    pub(super) fn members(&self) -> &[Self] {
        match self {
            Self::Union(members) => members,
            other => std::slice::from_ref(other),
        }
    }

    /// The members for which `keep` holds.
    pub(super) fn only(&self, mut keep: impl FnMut(&Self) -> bool) -> Self {
        match self {
            Self::Union(members) => members.iter().filter(|m| keep(m)).cloned().fold(Self::Never, join),
            Self::Any => Self::Any,
            other if keep(other) => other.clone(),
            _ => Self::Never,
        }
    }

    /// A text as a string: the next one may be another.
    pub(super) fn widened(&self) -> Self {
        match self {
            Self::Text(_) => Self::Str,
            Self::Union(members) if members.iter().any(|m| matches!(m, Self::Text(_))) => {
                members.iter().map(Self::widened).fold(Self::Never, join)
            }
            other => other.clone(),
        }
    }

    /// Returns the same collection with unknown elements.
    pub(super) fn loose(self) -> Self {
        match self {
            Self::List(_) => Self::list(Self::Any),
            other => other,
        }
    }

    /// The type, or an outline of it when it has more than [`MOST_PARTS`] parts. Parts are shared, so a few lines of
    /// text can make a type of exponential size; with this bound each question about a type takes constant time.
    pub(super) fn bounded(self) -> Self {
        let mut left = MOST_PARTS;
        if self.fits_in(&mut left) { self } else { self.outline() }
    }

    /// Whether it has at most `left` parts, which are subtracted.
    pub(super) fn fits_in(&self, left: &mut usize) -> bool {
        let Some(rest) = left.checked_sub(1) else { return false };
        *left = rest;
        match self {
            Self::List(of) | Self::Set(of) | Self::Dict(of) | Self::Handle(_, of) => of.fits_in(left),
            Self::Pair(both) | Self::Result(both) => both.0.fits_in(left) && both.1.fits_in(left),
            Self::Fn(f) => f.params.iter().all(|p| p.fits_in(left)) && f.returns.fits_in(left),
            Self::Shape(shape) => shape.fields.iter().all(|f| f.ty.fits_in(left)),
            Self::Named(named) => named.args.iter().all(|a| a.fits_in(left)),
            Self::Union(members) => members.iter().all(|m| m.fits_in(left)),
            _ => true,
        }
    }

    /// The outermost part alone.
    fn outline(&self) -> Self {
        match self {
            Self::List(_) => Self::list(Self::Any),
            Self::Set(_) => Self::set(Self::Any),
            Self::Handle(kind, _) => Self::handle(*kind, Self::Any),
            Self::Dict(_) | Self::Shape(_) => Self::dict(Self::Any),
            Self::Pair(_) => Self::Pair(Rc::new((Self::Any, Self::Any))),
            Self::Result(_) => Self::Result(Rc::new((Self::Any, Self::Any))),
            Self::Fn(_) => Self::function(),
            Self::Named(named) => {
                Self::Named(Rc::new(NamedType { args: vec![Self::Any; named.args.len()], ..(**named).clone() }))
            }
            Self::Union(_) => Self::Any,
            other => other.clone(),
        }
    }

    /// The type, or unknown where control does not get: nothing is to be said about such a value.
    pub(super) fn or_unknown(self) -> Self {
        if self == Self::Never { Self::Any } else { self }
    }

    /// Type without nil.
    pub(super) fn without_nil(&self) -> Self {
        self.only(|m| *m != Self::Nil)
    }
}
