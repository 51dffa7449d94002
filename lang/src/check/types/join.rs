//! The type of what is one or the other.

use super::{MOST_KEYS, Numbers, Shape, Type};
use std::rc::Rc;

/// Past this many members nobody knows anything.
const MOST: usize = 12;

/// The smallest type that we write which holds both.
pub(in crate::check) fn join(a: Type, b: Type) -> Type {
    if a == b {
        return a;
    }
    match (a, b) {
        (Type::Any, _) | (_, Type::Any) => Type::Any,
        (Type::Never, other) | (other, Type::Never) => other,
        (Type::Str, Type::Text(_)) | (Type::Text(_), Type::Str) => Type::Str,
        (a, b) => {
            let mut members: Vec<Type> = a.members().to_vec();
            for member in b.members() {
                add(&mut members, member);
            }
            if members.len() > MOST {
                return Type::Any;
            }
            match members.len() {
                1 => members.swap_remove(0).bounded(),
                _ => Type::Union(members.into()).bounded(),
            }
        }
    }
}

fn add(members: &mut Vec<Type>, new: &Type) {
    for (i, old) in members.iter().enumerate() {
        if let Some(both) = merge(old, new) {
            if both == Type::Str {
                members.retain(|m| !matches!(m, Type::Text(_) | Type::Str));
                members.push(Type::Str);
            } else {
                members[i] = both;
            }
            return;
        }
    }
    members.push(new.clone());
}

/// Two members as one, where that loses nothing that matters.
fn merge(a: &Type, b: &Type) -> Option<Type> {
    match (a, b) {
        _ if a == b => Some(a.clone()),
        (Type::Str, Type::Text(_)) | (Type::Text(_), Type::Str) => Some(Type::Str),
        (Type::List(x), Type::List(y)) => Some(Type::list(join((**x).clone(), (**y).clone()))),
        (Type::Set(x), Type::Set(y)) => Some(Type::set(join((**x).clone(), (**y).clone()))),
        (Type::Dict(x), Type::Dict(y)) => Some(Type::dict(join((**x).clone(), (**y).clone()))),
        (Type::Handle(a, x), Type::Handle(b, y)) if a == b => {
            Some(Type::handle(*a, join((**x).clone(), (**y).clone())))
        }
        (Type::Pair(x), Type::Pair(y)) => {
            Some(Type::Pair(Rc::new((join(x.0.clone(), y.0.clone()), join(x.1.clone(), y.1.clone())))))
        }
        (Type::Result(x), Type::Result(y)) => {
            Some(Type::Result(Rc::new((join(x.0.clone(), y.0.clone()), join(x.1.clone(), y.1.clone())))))
        }
        (Type::Dict(of), Type::Shape(shape)) | (Type::Shape(shape), Type::Dict(of))
            if of.is_open() && shape.literal =>
        {
            Some(Type::dict(Type::Any))
        }
        (Type::Shape(x), Type::Shape(y)) if x.literal && y.literal => Some(shapes(x, y)),
        // A function may be asked for in several forms.
        (Type::Fn(x), Type::Fn(y)) if !x.rest && !y.rest && x.params.len() != y.params.len() => None,
        (Type::Fn(_), Type::Fn(_)) => Some(Type::function()),
        _ => None,
    }
}

/// Dicts of either literal: a key that one of them lacks may be missing.
fn shapes(a: &Shape, b: &Shape) -> Type {
    if a.fields.len() + b.fields.len() > MOST_KEYS {
        return Type::dict(Type::Any);
    }
    let mut fields = Vec::new();
    for field in a.fields.iter().chain(b.fields.iter().filter(|f| a.field(&f.name).is_none())) {
        let mut field = field.clone();
        match (a.field(&field.name), b.field(&field.name)) {
            (Some(x), Some(y)) => {
                field.ty = join(x.ty.clone(), y.ty.clone());
                field.optional = x.optional || y.optional;
            }
            _ => field.optional = true,
        }
        (field.at, field.numbers) = (None, Numbers::Open);
        fields.push(field);
    }
    Type::Shape(Rc::new(Shape { fields, open: a.open || b.open, literal: true, told: false, methods: None }))
}
