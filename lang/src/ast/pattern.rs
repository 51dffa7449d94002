//! Patterns.

use super::{Expr, Name};
use crate::source::Span;
use smol_str::SmolStr;

/// A pattern.
#[derive(Debug)]
pub struct Pattern {
    /// What it is.
    pub kind: PatternKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of pattern.
#[derive(Debug)]
pub enum PatternKind {
    /// `_`.
    Wildcard,
    /// `name`.
    Bind(SmolStr),
    /// `1`, `-1`, `"a"`, `true`, `nil`, `1 to 5`; an expression of constants.
    Literal(Expr),
    /// `{a, b: p, c = d, ...rest}`; `name` for `P {x, y}`.
    Dict {
        /// The struct's name.
        name: Option<Name>,
        /// Its entries.
        fields: Vec<PatternField>,
        /// `...rest`; `Some(None)` for a bare `...` or `..._`.
        rest: Option<Option<Name>>,
    },
    /// `[x, _, ...tail]`.
    List {
        /// Elements before the rest, each with its default.
        items: Vec<(Pattern, Option<Expr>)>,
        /// `...tail`; `Some(None)` for a bare `...`.
        rest: Option<Option<Name>>,
    },
    /// `(k, v)`.
    Pair(Box<Pattern>, Box<Pattern>),
    /// `E.B(x, y)`, `E.A`, `Ok(v)`.
    Variant {
        /// `E`, where it was written.
        enum_name: Option<Name>,
        /// `B`.
        variant: Name,
        /// The values in it.
        args: Vec<Pattern>,
    },
    /// `a | b`.
    Or(Vec<Pattern>),
    /// What could not be parsed.
    Error,
}

/// `key: pattern = default` in a dict pattern.
#[derive(Debug)]
pub struct PatternField {
    /// The key.
    pub key: Name,
    /// What its value must fit; a binding of the same name in the short form.
    pub pattern: Pattern,
    /// Used when the key is missing or nil.
    pub default: Option<Expr>,
}
