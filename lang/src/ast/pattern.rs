//! Patterns.

use super::{Expr, Name, NodeAt, NodeId};
use crate::source::Span;
use smol_str::SmolStr;

/// A pattern.
#[derive(Debug)]
pub struct Pattern {
    /// Kind of the pattern.
    pub kind: PatternKind,
    /// Span of the pattern.
    pub span: Span,
    /// Its id.
    pub id: NodeId,
}

/// The kinds of pattern.
#[derive(Debug)]
pub enum PatternKind {
    /// `_`.
    Wildcard,
    /// `name`.
    Bind(SmolStr),
    /// `1`, `-1`, `"a"`, `true`, `nil`, `1 to 5`; an expression of constants.
    Literal(Box<Expr>),
    /// `{a, b: p, c = d, ...rest}`; `name` for `P {x, y}`.
    Dict {
        /// The struct's name.
        name: Option<Box<Name>>,
        /// Its entries.
        fields: Vec<PatternField>,
        /// `...rest`; `Some(None)` for a bare `...` or `..._`.
        rest: Option<Option<Box<Name>>>,
    },
    /// `[x, _, ...tail]`.
    List {
        /// Elements before the rest, each with its default.
        items: Vec<(Pattern, Option<Expr>)>,
        /// `...tail`; `Some(None)` for a bare `...`.
        rest: Option<Option<Box<Name>>>,
    },
    /// `(k, v)`.
    Pair(Box<Pattern>, Box<Pattern>),
    /// `E.B(x, y)`, `E.A`, `Ok(v)`.
    Variant {
        /// `E`, where it was written.
        enum_name: Option<Box<Name>>,
        /// `B`.
        variant: Box<Name>,
        /// The values in it.
        args: Vec<Pattern>,
    },
    /// `a | b`.
    Or(Vec<Pattern>),
    /// Placeholder for text that could not be parsed.
    Error,
}

/// `key: pattern = default` in a dict pattern.
#[derive(Debug)]
pub struct PatternField {
    /// The key.
    pub key: Name,
    /// Pattern for its value; a binding of the same name in the short form.
    pub pattern: Pattern,
    /// Used when the key is missing or nil.
    pub default: Option<Expr>,
}

impl Pattern {
    /// Returns its id and span.
    #[must_use]
    pub const fn at(&self) -> NodeAt {
        NodeAt { id: self.id, span: self.span }
    }

    /// Calls `visit` with each name that it binds; of alternatives, which bind the same names, with those of the first.
    pub fn names<'p>(&'p self, visit: &mut dyn FnMut(&'p SmolStr, NodeAt)) {
        let rest = |rest: &'p Option<Option<Box<Name>>>, visit: &mut dyn FnMut(&'p SmolStr, NodeAt)| {
            if let Some(Some(name)) = rest {
                visit(&name.text, name.at());
            }
        };
        match &self.kind {
            PatternKind::Wildcard | PatternKind::Literal(_) | PatternKind::Error => {}
            PatternKind::Bind(name) if name == "_" => {}
            PatternKind::Bind(name) => visit(name, self.at()),
            PatternKind::Dict { fields, rest: more, .. } => {
                fields.iter().for_each(|f| f.pattern.names(visit));
                rest(more, visit);
            }
            PatternKind::List { items, rest: more } => {
                items.iter().for_each(|(p, _)| p.names(visit));
                rest(more, visit);
            }
            PatternKind::Pair(a, b) => {
                a.names(visit);
                b.names(visit);
            }
            PatternKind::Variant { args, .. } => args.iter().for_each(|p| p.names(visit)),
            PatternKind::Or(alternatives) => alternatives.iter().take(1).for_each(|p| p.names(visit)),
        }
    }
}
