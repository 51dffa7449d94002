//! Types in messages.

use super::{ShapeKey, Type};
use crate::article::article;
use crate::builtin_type::Kind;
use std::fmt;

impl fmt::Display for Type {
    /// Spelling in source.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "{text:?}"),
            Self::List(of) => of_one(f, Kind::List, of),
            Self::Set(of) => of_one(f, Kind::Set, of),
            Self::Handle(handle, of) => of_one(f, handle.kind(), of),
            Self::Pair(of) if of.0.is_open() && of.1.is_open() => f.write_str(Kind::Pair.name()),
            Self::Pair(of) => write!(f, "pair<{}, {}>", open(&of.0), open(&of.1)),
            Self::Dict(of) if of.is_open() => f.write_str(Kind::Dict.name()),
            Self::Dict(of) => write!(f, "dict<string, {of}>"),
            Self::Shape(shape) => {
                let end = if shape.open { Some("...".to_owned()) } else { None };
                let parts = shape.fields.iter().map(field).chain(end);
                write!(f, "{{{}}}", parts.collect::<Vec<_>>().join(", "))
            }
            Self::Result(of) if of.0.is_open() && of.1.is_open() => f.write_str(Kind::Result.name()),
            Self::Result(of) => write!(f, "Result<{}, {}>", open(&of.0), open(&of.1)),
            Self::Fn(function) if function.rest => f.write_str("fn"),
            Self::Fn(function) => {
                let params: Vec<String> = function.params.iter().map(ToString::to_string).collect();
                write!(f, "fn({}) -> {}", params.join(", "), function.returns)
            }
            Self::Named(named) if named.args.iter().all(Self::is_open) => f.write_str(&named.name),
            Self::Named(named) => {
                let args: Vec<String> = named.args.iter().map(ToString::to_string).collect();
                write!(f, "{}<{}>", named.name, args.join(", "))
            }
            Self::Any
            | Self::Never
            | Self::Nil
            | Self::Bool
            | Self::Int
            | Self::Float
            | Self::Str
            | Self::Bytes
            | Self::Range => f.write_str(self.kind().map_or("any", Kind::name)),
            Self::Param(name) => f.write_str(name),
            Self::Union(members) => {
                let rest: Vec<&Self> = members.iter().filter(|m| **m != Self::Nil).collect();
                if let ([one], true) = (rest.as_slice(), rest.len() < members.len()) {
                    return write!(f, "{one}?");
                }
                let all: Vec<String> = members.iter().map(ToString::to_string).collect();
                f.write_str(&all.join(" | "))
            }
        }
    }
}

fn of_one(f: &mut fmt::Formatter<'_>, kind: Kind, of: &Type) -> fmt::Result {
    let name = kind.name();
    if of.is_open() { f.write_str(name) } else { write!(f, "{name}<{of}>") }
}

fn open(ty: &Type) -> String {
    if ty.is_open() { "any".to_owned() } else { ty.to_string() }
}

fn field(field: &ShapeKey) -> String {
    let mark = if field.optional { "?" } else { "" };
    format!("{}{mark}: {}", field.name, field.ty)
}

impl Type {
    /// In a sentence: `an int`, `a list`, `an int or nil`.
    pub(in crate::check) fn described(&self) -> String {
        match self {
            Self::Any | Self::Param(_) => "anything".to_owned(),
            Self::Never => "nothing".to_owned(),
            Self::Text(text) => format!("{text:?}"),
            // A host's value, named as `type_of` names it.
            Self::Shape(shape) if let Some(module) = shape.methods => article(module.trim_matches(['<', '>'])),
            Self::Shape(_) | Self::Dict(_) => "a dict".to_owned(),
            Self::List(_) => "a list".to_owned(),
            Self::Set(_) => "a set".to_owned(),
            Self::Pair(_) => "a pair".to_owned(),
            Self::Handle(handle, _) => article(handle.kind().name()),
            Self::Fn(_) => "a function".to_owned(),
            Self::Result(_) => "a Result".to_owned(),
            Self::Named(named) => article(&named.name),
            Self::Union(members) => {
                let mut words: Vec<String> = Vec::new();
                for member in members.iter() {
                    let word = member.described();
                    if !words.contains(&word) {
                        words.push(word);
                    }
                }
                words.join(" or ")
            }
            other => article(&other.to_string()),
        }
    }

    /// Describes the type of a value that was found: a literal text is called a string.
    pub(in crate::check) fn described_value(&self) -> String {
        match self {
            Self::Text(_) => "a string".to_owned(),
            Self::Union(members) if members.iter().any(|m| matches!(m, Self::Text(_))) => {
                let plain = members.iter().map(|m| if matches!(m, Self::Text(_)) { Self::Str } else { m.clone() });
                plain.fold(Self::Never, super::join).described()
            }
            other => other.described(),
        }
    }
}

impl Type {
    /// Returns its source text, unless that is long.
    pub(in crate::check) fn shortened(&self) -> String {
        const MOST: usize = 60;
        let text = self.to_string();
        if text.chars().count() <= MOST { text } else { text.chars().take(MOST - 1).chain(['…']).collect() }
    }
}

/// Two types that must be told apart: in words where these differ, else as they are written.
pub(in crate::check) fn apart(wanted: &Type, found: &Type) -> (String, String) {
    let (a, b) = (wanted.described(), found.described_value());
    // One kind of these is taken for another, so they differ in their items.
    let is_lazy = |ty: &Type| matches!(ty, Type::Handle(handle, _) if handle.is_lazy());
    if a == b || (is_lazy(wanted) && is_lazy(found)) || wanted.members().iter().any(|m| m.described() == b) {
        (format!("`{}`", wanted.shortened()), format!("`{}`", found.shortened()))
    } else {
        (a, b)
    }
}
