//! Types as values: what is made of data with one.

use super::Checker;
use crate::ast::{DictItem, Expr, ExprKind, ListItem, Name, TypeExpr, TypeKind};
use crate::check::types::{Handle, Numbers, Shape, ShapeKey, Type};
use crate::declaration::{Builtin, TypeDecl, TypedPart};
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

    /// Returns the type of the result of a builtin's call if options say more about it; `known` is that of its row.
    pub(super) fn decoded(&self, row: &'static Builtin, args: &'a [ListItem], known: Type) -> Type {
        // The options are the last parameter.
        let at = usize::from(row.arity.max).saturating_sub(1);
        let Some(ExprKind::Dict(items)) = args.get(at).map(|arg| &arg.value.kind) else { return known };
        if row.typed_by.is_empty() || args.iter().take(at + 1).any(|arg| arg.spread) {
            return known;
        }
        row.typed_by.iter().fold(known, |known, by| {
            let value = items.iter().rev().find_map(|item| match item {
                DictItem::Entry { key: name, value } if name.text == by.option => Some(Some(value)),
                DictItem::Entry { .. } => None,
                DictItem::Computed { .. } | DictItem::Spread(_) => Some(None),
            });
            let Some(value) = value else { return known };
            // An option that is not known here may hold any type.
            let ty = value.and_then(|value| self.type_value(value)).unwrap_or(Type::Any);
            match by.part {
                TypedPart::Whole => ty,
                TypedPart::Items => Type::handle(Handle::Stream, ty),
                TypedPart::Key(key) => with_key(known, key, &ty),
            }
        })
    }
}

/// Returns the type of a dict with another type for the value of a key, which may be missing.
fn with_key(dict: Type, key: &str, ty: &Type) -> Type {
    let Type::Shape(shape) = &dict else { return dict };
    let typed = |field: &ShapeKey| match field.name == key {
        true => ShapeKey { ty: ty.clone(), ..field.clone() },
        false => field.clone(),
    };
    Type::Shape(Rc::new(Shape { fields: shape.fields.iter().map(typed).collect(), ..**shape }))
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
