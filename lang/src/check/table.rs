//! The types of a file's expressions and bindings, kept for tools that answer questions about a position.

use super::items::Declared;
use super::types::{NamedKind, Type};
use crate::ast::NodeId;
use crate::resolve::BindingId;

/// The inferred types of one file. Code that control never reaches has none.
#[derive(Debug, Default)]
pub struct TypeTable {
    expressions: ExpressionTypes,
    bindings: Vec<Type>,
}

/// Types by the expressions that have them.
#[derive(Debug, Default)]
pub(super) struct ExpressionTypes(Vec<Option<Type>>);

impl ExpressionTypes {
    /// Notes the type of an expression.
    pub(super) fn note(&mut self, id: NodeId, ty: &Type) {
        if id == NodeId::NONE {
            return;
        }
        if self.0.len() <= id.index() {
            self.0.resize(id.index() + 1, None);
        }
        self.0[id.index()] = Some(ty.clone());
    }
}

/// An inferred type.
#[derive(Clone, Copy, Debug)]
pub struct TypeView<'t>(&'t Type);

/// A key of a dict whose keys are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyView {
    /// Its name.
    pub name: String,
    /// The type of its value, as a script writes it.
    pub ty: String,
    /// Whether it may be missing.
    pub optional: bool,
}

impl TypeTable {
    /// Returns the type of an expression.
    #[must_use]
    pub fn expression(&self, id: NodeId) -> Option<TypeView<'_>> {
        self.expressions.0.get(id.index())?.as_ref().map(TypeView)
    }

    /// Returns the type that a binding has everywhere.
    #[must_use]
    pub fn binding(&self, id: BindingId) -> Option<TypeView<'_>> {
        self.bindings.get(id as usize).map(TypeView)
    }

    pub(super) fn new(expressions: ExpressionTypes, bindings: Vec<Type>) -> Self {
        Self { expressions, bindings }
    }
}

impl std::fmt::Display for TypeView<'_> {
    /// Writes the type as a script does.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl<'t> TypeView<'t> {
    /// Returns whether something is known of the value.
    #[must_use]
    pub fn is_known(self) -> bool {
        !self.0.is_open()
    }

    /// Returns its source text, cut off where that is long. A literal text is a string.
    #[must_use]
    pub fn short(self) -> String {
        self.0.widened().shortened()
    }

    /// Returns its source text. A literal text is a string.
    #[must_use]
    pub fn full(self) -> String {
        self.0.widened().to_string()
    }

    /// Returns the alternatives of the type, `nil` left out.
    pub fn alternatives(self) -> impl Iterator<Item = Self> {
        self.0.members().iter().filter(|member| **member != Type::Nil).map(Self)
    }

    /// Returns the namespace of the builtin methods that its values have.
    #[must_use]
    pub fn methods(self) -> Option<&'static str> {
        Declared::module(self.0)
    }

    /// Returns the keys of a dict, if they are known.
    #[must_use]
    pub fn keys(self) -> Vec<KeyView> {
        let Type::Shape(shape) = self.0 else { return Vec::new() };
        let key = |key: &super::types::ShapeKey| KeyView {
            name: key.name.to_string(),
            ty: key.ty.to_string(),
            optional: key.optional,
        };
        shape.fields.iter().map(key).collect()
    }

    /// Returns the binding of the struct, enum or interface that it is.
    #[must_use]
    pub fn declared(self) -> Option<BindingId> {
        if let Type::Named(named) = self.0 { Some(named.id) } else { None }
    }

    /// Returns whether it is a declared enum.
    #[must_use]
    pub fn is_enum(self) -> bool {
        matches!(self.0, Type::Named(named) if named.kind == NamedKind::Enum)
    }
}
