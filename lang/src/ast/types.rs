//! Written types.

use super::{Name, NodeAt, NodeId};
use crate::source::Span;
use smol_str::SmolStr;

/// A written type.
#[derive(Clone, Debug)]
pub struct TypeExpr {
    /// Kind of the type.
    pub kind: TypeKind,
    /// Span of the type.
    pub span: Span,
    /// Its id.
    pub id: NodeId,
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
    /// Placeholder for text that could not be parsed.
    Error,
}

impl TypeExpr {
    /// Calls `visit` with each name in it and where it stands.
    pub fn each_name<'t>(&'t self, visit: &mut dyn FnMut(&'t SmolStr, NodeAt)) {
        match &self.kind {
            TypeKind::Name { name, args } => {
                let len = u32::try_from(name.len()).unwrap_or(0);
                visit(name, NodeAt { id: self.id, span: Span::new(self.span.start, self.span.start + len) });
                args.iter().for_each(|a| a.each_name(visit));
            }
            TypeKind::Fn { params, returns } => {
                params.iter().for_each(|p| p.each_name(visit));
                returns.each_name(visit);
            }
            TypeKind::Shape { fields, .. } => fields.iter().for_each(|(_, _, ty)| ty.each_name(visit)),
            TypeKind::Union(parts) => parts.iter().for_each(|p| p.each_name(visit)),
            TypeKind::Optional(inner) => inner.each_name(visit),
            TypeKind::Literal(_) | TypeKind::Error => {}
        }
    }
}
