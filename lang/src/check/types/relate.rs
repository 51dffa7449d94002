//! Whether a value certainly does not fit.

use super::{FnType, NamedKind, NamedType, Shape, Type};
use crate::builtin_type::Tag;
use std::rc::Rc;

/// Structs and interfaces that the file declares.
pub(in crate::check) trait Nominal {
    /// The fields of a struct as the keys of a dict.
    fn fields(&self, of: &NamedType) -> Option<Rc<Shape>>;
    /// A method of the interface that the type certainly lacks.
    fn lacks(&self, ty: &Type, interface: &NamedType) -> Option<String>;
}

/// Whether nothing that `found` says can be a `wanted`. With written types on both sides: whether nobody would write one
/// where the other is asked for, though an empty list or an `Err` might slip through.
pub(in crate::check) fn refuses(found: &Type, wanted: &Type, names: &dyn Nominal) -> bool {
    if found.is_open() || wanted.is_open() || found == wanted {
        return false;
    }
    match (found, wanted) {
        (Type::Union(members), _) => members.iter().all(|m| refuses(m, wanted, names)),
        (_, Type::Union(members)) => members.iter().all(|m| refuses(found, m, names)),
        (Type::Int, Type::Float) | (Type::Str, Type::Text(_)) | (Type::Text(_), Type::Str) => false,
        (Type::Text(a), Type::Text(b)) => a != b,
        (Type::List(a), Type::List(b)) | (Type::Set(a), Type::Set(b)) | (Type::Dict(a), Type::Dict(b)) => {
            refuses(a, b, names)
        }
        (Type::Handle(one, a), Type::Handle(other, b)) => {
            one != other && !(one.is_lazy() && other.is_lazy()) || refuses(a, b, names)
        }
        (Type::Range, Type::List(b)) => refuses(&Type::Int, b, names),
        (Type::Pair(a), Type::Pair(b)) | (Type::Result(a), Type::Result(b)) => {
            refuses(&a.0, &b.0, names) || refuses(&a.1, &b.1, names)
        }
        (Type::Shape(shape), Type::Dict(of)) => shape.fields.iter().any(|f| !f.optional && refuses(&f.ty, of, names)),
        (Type::Dict(of), Type::Shape(shape)) => shape.fields.iter().any(|f| !f.optional && refuses(of, &f.ty, names)),
        (Type::Shape(a), Type::Shape(b)) => shape_refuses(a, b, names),
        (Type::Fn(a), Type::Fn(b)) => function_refuses(a, b, names),
        (Type::Named(a), Type::Named(b)) if a.kind != NamedKind::Interface && b.kind != NamedKind::Interface => {
            a.id != b.id || a.args.iter().zip(&b.args).any(|(a, b)| refuses(a, b, names))
        }
        (_, Type::Named(interface)) if interface.kind == NamedKind::Interface => {
            names.lacks(found, interface).is_some()
        }
        (Type::Named(interface), _) if interface.kind == NamedKind::Interface => false,
        (Type::Named(named), Type::Shape(shape)) => {
            names.fields(named).is_some_and(|fields| shape_refuses(&fields, shape, names))
        }
        _ => !kinds_meet(found, wanted),
    }
}

/// Whether everything that `found` says is a `wanted`, as far as a test while running could tell.
pub(in crate::check) fn proves(found: &Type, wanted: &Type, names: &dyn Nominal) -> bool {
    match (found, wanted) {
        (_, Type::Any | Type::Param(_))
        | (Type::Never, _)
        | (Type::Int, Type::Float)
        | (Type::Text(_), Type::Str)
        // A function does not tell what it takes, nor a pair what it holds.
        | (Type::Pair(_), Type::Pair(_))
        | (Type::Fn(_), Type::Fn(_)) => true,
        (Type::Any | Type::Param(_), _) => false,
        (Type::Union(members), _) => members.iter().all(|m| proves(m, wanted, names)),
        (_, Type::Union(members)) => members.iter().any(|m| proves(found, m, names)),
        (Type::List(a), Type::List(b)) | (Type::Set(a), Type::Set(b)) | (Type::Dict(a), Type::Dict(b)) => {
            proves(a, b, names)
        }
        // Values of the run do not tell what they hand over.
        (Type::Handle(one, _), Type::Handle(other, _)) => one == other || one.is_lazy() && other.is_lazy(),
        (Type::Range, Type::List(b)) => proves(&Type::Int, b, names),
        (Type::Result(a), Type::Result(b)) => proves(&a.0, &b.0, names) && proves(&a.1, &b.1, names),
        (Type::Shape(shape), Type::Dict(of)) => {
            *of.as_ref() == Type::Any || !shape.open && shape.fields.iter().all(|f| proves(&f.ty, of, names))
        }
        (Type::Shape(a), Type::Shape(b)) => a == b || shape_proves(a, b, names),
        (_, Type::Named(interface)) if interface.kind == NamedKind::Interface => {
            found == wanted || names.lacks(found, interface).is_none()
        }
        (Type::Named(a), Type::Named(b)) => a.id == b.id,
        (Type::Named(named), Type::Shape(shape)) => {
            names.fields(named).is_some_and(|fields| shape_proves(&fields, shape, names))
        }
        _ => found == wanted,
    }
}

fn shape_proves(found: &Shape, wanted: &Shape, names: &dyn Nominal) -> bool {
    wanted.fields.iter().all(|want| match found.field(&want.name) {
        Some(has) if want.optional => proves(&has.ty.without_nil(), &want.ty, names),
        Some(has) => !has.optional && proves(&has.ty, &want.ty, names),
        None => want.optional && !found.open,
    })
}

fn kinds_meet(found: &Type, wanted: &Type) -> bool {
    // A struct reads like a dict, but is none.
    match (found, wanted) {
        (Type::Named(_), Type::Dict(_)) => found.kinds().meets(super::Kinds::of(Tag::Struct)),
        (Type::Dict(_) | Type::Shape(_), Type::Named(_) | Type::List(_))
        | (Type::List(_), Type::Range | Type::Dict(_) | Type::Shape(_)) => false,
        _ => found.kinds().meets(wanted.kinds()),
    }
}

fn shape_refuses(found: &Shape, wanted: &Shape, names: &dyn Nominal) -> bool {
    wanted.fields.iter().any(|want| match found.field(&want.name) {
        Some(has) if has.optional || want.optional => {
            let given = has.ty.without_nil();
            given != Type::Never && !has.optional && refuses(&given, &want.ty, names)
        }
        Some(has) => refuses(&has.ty, &want.ty, names),
        None => !want.optional && !found.open,
    })
}

fn function_refuses(found: &FnType, wanted: &FnType, names: &dyn Nominal) -> bool {
    if wanted.rest {
        return false;
    }
    // It will be called with so many arguments.
    found.min > wanted.params.len() || refuses(&found.returns, &wanted.returns, names)
}
