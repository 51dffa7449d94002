//! Types as values: what is made of data with one.

use super::Checker;
use crate::ast::{DictItem, Expr, ExprKind, ListItem, Name, TypeExpr, TypeKind};
use crate::check::types::{Numbers, Shape, ShapeKey, Type};
use crate::declaration::{Builtin, TypeDecl};
use crate::source::Span;
use std::rc::Rc;

/// The function that every type has.
const FROM: &str = "from";

/// The module of the methods of types.
const MODULE: &str = "<type>";

impl<'a> Checker<'a> {
    /// Returns the type that an expression is, if a type stands there as a value.
    pub(super) fn type_value(&self, e: &Expr) -> Option<Type> {
        let name = match &e.kind {
            ExprKind::Type(ty) => return Some(self.written(ty)),
            ExprKind::Name(name) => name,
            _ => return None,
        };
        let id = self.plain_binding(e)?;
        self.world.names.binding(id).def.as_ref()?;
        let kind = TypeKind::Name { name: name.clone(), args: Vec::new() };
        Some(self.written(&TypeExpr { kind, span: e.span, id: e.id }))
    }

    /// `Type.from(data)`, unless the type has a function of that name.
    pub(super) fn call_of_from(
        &mut self,
        object: &'a Expr,
        name: &Name,
        args: &'a [ListItem],
        span: Span,
    ) -> Option<Type> {
        if name.text != FROM {
            return None;
        }
        let ty = self.type_value(object)?;
        if self.world.names.owner_of(name.id).is_some_and(|owner| has_own(&owner)) {
            return None;
        }
        let row = self.world.registry.find(MODULE, FROM)?;
        let max = usize::from(row.arity.max).checked_sub(1);
        self.arity(args, span, &row.full_name(), usize::from(row.arity.min).saturating_sub(1), max, None, Some(row));
        self.builtin_arguments(row, 1, None, args);
        if let Some(id) = self.plain_binding(object) {
            self.used(id, object.span);
        }
        Some(Type::Result(Rc::new((ty, error()))).bounded())
    }

    /// Returns the type that an option of a builtin's call says its result has; `known` is that of its row.
    pub(super) fn decoded(&self, row: &'static Builtin, args: &'a [ListItem], known: Type) -> Type {
        let Some(key) = row.typed_by else { return known };
        // The options are the last parameter.
        let Some(at) = usize::from(row.arity.max).checked_sub(1) else { return known };
        let before = args.iter().take(at + 1);
        let Some(ExprKind::Dict(items)) = args.get(at).map(|arg| &arg.value.kind) else { return known };
        if before.clone().any(|arg| arg.spread) {
            return known;
        }
        let value = items.iter().rev().find_map(|item| match item {
            DictItem::Entry { key: name, value } if name.text == key => Some(Some(value)),
            DictItem::Entry { .. } => None,
            DictItem::Computed { .. } | DictItem::Spread(_) => Some(None),
        });
        match value {
            // Without the option, or with one that is not known here.
            None => known,
            Some(value) => value.and_then(|value| self.type_value(value)).unwrap_or(Type::Any),
        }
    }
}

fn has_own(owner: &TypeDecl) -> bool {
    let is_variant = matches!(owner, TypeDecl::Enum(def) if def.position(FROM).is_some());
    is_variant || owner.methods().is_some_and(|methods| methods.get(FROM).is_some())
}

/// The type of the error of data that does not fit.
fn error() -> Type {
    let field = |name: &str, optional| ShapeKey {
        name: name.into(),
        ty: Type::Str,
        optional,
        at: None,
        numbers: Numbers::Open,
    };
    Type::Shape(Rc::new(Shape {
        fields: vec![field("code", false), field("message", false), field("path", false), field("help", true)],
        open: true,
        literal: false,
        told: true,
        methods: None,
    }))
}
