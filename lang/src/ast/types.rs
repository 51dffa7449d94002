//! Written types.

use super::Name;
use crate::source::Span;
use smol_str::SmolStr;

/// A written type.
#[derive(Clone, Debug)]
pub struct TypeExpr {
    /// What it is.
    pub kind: TypeKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of written type.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// `int`, `list<T>`, `Point`, `nil`.
    Name {
        /// The name.
        name: SmolStr,
        /// The arguments in `< >`.
        args: Vec<TypeExpr>,
    },
    /// `fn(T) -> U`.
    Fn {
        /// Parameters.
        params: Vec<TypeExpr>,
        /// Result.
        returns: Box<TypeExpr>,
    },
    /// `{a: T, b?: U}`; `...` at the end leaves it open.
    Shape {
        /// Name, optional, type.
        fields: Vec<(Name, bool, TypeExpr)>,
        /// Other keys are allowed.
        open: bool,
    },
    /// `"literal"`.
    Literal(SmolStr),
    /// `A | B`.
    Union(Vec<TypeExpr>),
    /// `T?`.
    Optional(Box<TypeExpr>),
    /// What could not be parsed.
    Error,
}
