//! Kinds of value that a type allows, for operators and methods.

use super::{NamedKind, Type};
use crate::advice::Subject;
use crate::builtin_type::{Kind, Tag};

/// A set of kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::check) struct Kinds(u32);

impl Kinds {
    pub(in crate::check) const NONE: Self = Self(0);
    pub(in crate::check) const ALL: Self = Self(u32::MAX);
    pub(in crate::check) const NUMBER: Self = Self(1 << Tag::Int as u32 | 1 << Tag::Float as u32);

    pub(in crate::check) const fn of(tag: Tag) -> Self {
        Self(1 << tag as u32)
    }

    pub(in crate::check) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(in crate::check) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(in crate::check) const fn within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }
}

/// Kinds of value that may be in a place whose annotation is a dict.
const DICT_LIKE: Kinds = Kinds::of(Tag::Dict).and(Kinds::of(Tag::Host)).and(Kinds::of(Tag::Struct));
const LIST_LIKE: Kinds = Kinds::of(Tag::List).and(Kinds::of(Tag::Host)).and(Kinds::of(Tag::Range));

impl Type {
    /// The kind of built-in type that it is.
    pub(in crate::check) fn kind(&self) -> Option<Kind> {
        Some(match self {
            Self::Any => Kind::Any,
            Self::Never => Kind::Never,
            Self::Nil => Kind::Nil,
            Self::Bool => Kind::Bool,
            Self::Int => Kind::Int,
            Self::Float => Kind::Float,
            Self::Str | Self::Text(_) => Kind::Str,
            Self::Bytes => Kind::Bytes,
            Self::Range => Kind::Range,
            Self::List(_) => Kind::List,
            Self::Set(_) => Kind::Set,
            Self::Handle(handle, _) => handle.kind(),
            Self::Dict(_) | Self::Shape(_) => Kind::Dict,
            Self::Pair(_) => Kind::Pair,
            Self::Result(_) => Kind::Result,
            Self::Fn(_) | Self::Named(_) | Self::Param(_) | Self::Union(_) => return None,
        })
    }

    /// Returns its kind as far as help about its values depends on it.
    pub(in crate::check) const fn subject(&self) -> Subject {
        match self {
            Self::Nil => Subject::Nil,
            Self::Int => Subject::Int(None),
            Self::Str | Self::Text(_) => Subject::Text,
            Self::Fn(_) => Subject::Function,
            Self::Result(_) => Subject::Result,
            _ => Subject::Other,
        }
    }

    /// The kinds of value that it allows.
    pub(in crate::check) fn kinds(&self) -> Kinds {
        match self {
            Self::Any | Self::Param(_) => Kinds::ALL,
            Self::Never => Kinds::NONE,
            Self::Nil => Kinds::of(Tag::Nil),
            Self::Bool => Kinds::of(Tag::Bool),
            Self::Int => Kinds::of(Tag::Int),
            Self::Float => Kinds::of(Tag::Float),
            Self::Str | Self::Text(_) => Kinds::of(Tag::Str),
            Self::Bytes => Kinds::of(Tag::Bytes),
            Self::Range => Kinds::of(Tag::Range),
            Self::List(_) => LIST_LIKE,
            Self::Set(_) => Kinds::of(Tag::Set),
            Self::Handle(handle, _) => handle.kinds(),
            Self::Shape(shape) if shape.literal => Kinds::of(Tag::Dict),
            Self::Dict(_) | Self::Shape(_) => DICT_LIKE,
            Self::Pair(_) => Kinds::of(Tag::Pair),
            Self::Result(_) => Kinds::of(Tag::Variant),
            Self::Fn(_) => Kinds::of(Tag::Function),
            Self::Named(named) => match named.kind {
                NamedKind::Struct => Kinds::of(Tag::Struct),
                NamedKind::Enum => Kinds::of(Tag::Variant),
                NamedKind::Interface => Kinds::ALL,
            },
            Self::Union(members) => members.iter().fold(Kinds::NONE, |set, m| set.and(m.kinds())),
        }
    }
}
