//! Type parameters: what a call says they are.

use super::{FnType, NamedType, Shape, ShapeKey, Type, join};
use smol_str::SmolStr;
use std::rc::Rc;

/// Types of the parameters of one call.
pub(in crate::check) type Bound = Vec<(SmolStr, Type)>;

/// Learns from a value of type `found` where a `wanted` is asked for.
pub(in crate::check) fn bind(wanted: &Type, found: &Type, bound: &mut Bound) {
    match (wanted, found) {
        (Type::Param(name), _) => match bound.iter_mut().find(|(n, _)| n == name) {
            Some((_, old)) => *old = join(std::mem::replace(old, Type::Never), widened(found)),
            None => bound.push((name.clone(), widened(found))),
        },
        (Type::List(a), Type::List(b)) | (Type::Set(a), Type::Set(b)) | (Type::Dict(a), Type::Dict(b)) => {
            bind(a, b, bound);
        }
        (Type::List(a), Type::Set(b)) | (Type::Handle(_, a), Type::Handle(_, b)) => bind(a, b, bound),
        (Type::List(a), Type::Range) => bind(a, &Type::Int, bound),
        (Type::Dict(a), Type::Shape(shape)) => {
            if shape.open {
                bind(a, &Type::Any, bound);
            }
            shape.fields.iter().for_each(|f| bind(a, &f.ty, bound));
        }
        (Type::Pair(a), Type::Pair(b)) | (Type::Result(a), Type::Result(b)) => {
            bind(&a.0, &b.0, bound);
            bind(&a.1, &b.1, bound);
        }
        (Type::Fn(a), Type::Fn(b)) => {
            if !b.rest {
                // A function may take more than it is given: its parameters decide only what nothing else does.
                let mut taken = Bound::new();
                a.params.iter().zip(&b.params).for_each(|(a, b)| bind(a, b, &mut taken));
                taken.retain(|(name, _)| bound.iter().all(|(known, _)| known != name));
                bound.append(&mut taken);
            }
            bind(&a.returns, &b.returns, bound);
        }
        (Type::Named(a), Type::Named(b)) if a.id == b.id => {
            a.args.iter().zip(&b.args).for_each(|(a, b)| bind(a, b, bound));
        }
        (Type::Union(members), Type::Fn(given)) if members.iter().any(|m| matches!(m, Type::Fn(_))) => {
            let functions = || members.iter().filter_map(|m| if let Type::Fn(f) = m { Some((m, f)) } else { None });
            let meant = functions().find(|(_, f)| f.params.len() == given.params.len());
            meant.or_else(|| functions().next()).into_iter().for_each(|(m, _)| bind(m, found, bound));
        }
        (Type::Union(members), _) => {
            // `T?` given an `int?`: what is not nil is T.
            let plain: Vec<&Type> = members.iter().filter(|m| !holds_param(m)).collect();
            let rest = found.only(|f| !plain.contains(&f));
            members.iter().filter(|m| holds_param(m)).for_each(|m| bind(m, &rest, bound));
        }
        (_, Type::Any) => open(wanted, bound),
        _ => {}
    }
}

/// A literal text binds `string`: the next one is another.
fn widened(ty: &Type) -> Type {
    if let Type::Text(_) = ty { Type::Str } else { ty.clone() }
}

/// Nothing is known of what these parameters are.
fn open(wanted: &Type, bound: &mut Bound) {
    match wanted {
        Type::Param(_) => bind(wanted, &Type::Any, bound),
        Type::List(a) | Type::Set(a) | Type::Dict(a) | Type::Handle(_, a) => open(a, bound),
        Type::Pair(both) | Type::Result(both) => {
            open(&both.0, bound);
            open(&both.1, bound);
        }
        Type::Fn(f) => open(&f.returns, bound),
        Type::Named(named) => named.args.iter().for_each(|a| open(a, bound)),
        _ => {}
    }
}

fn holds_param(ty: &Type) -> bool {
    match ty {
        Type::Param(_) => true,
        Type::List(a) | Type::Set(a) | Type::Dict(a) | Type::Handle(_, a) => holds_param(a),
        Type::Pair(both) | Type::Result(both) => holds_param(&both.0) || holds_param(&both.1),
        Type::Fn(f) => holds_param(&f.returns) || f.params.iter().any(holds_param),
        Type::Shape(shape) => shape.fields.iter().any(|f| holds_param(&f.ty)),
        Type::Named(named) => named.args.iter().any(holds_param),
        Type::Union(members) => members.iter().any(holds_param),
        _ => false,
    }
}

/// The type with its parameters replaced; what no argument told is unknown.
pub(in crate::check) fn fill(ty: &Type, bound: &Bound) -> Type {
    if holds_param(ty) { filled(ty, bound).bounded() } else { ty.clone() }
}

fn filled(ty: &Type, bound: &Bound) -> Type {
    if !holds_param(ty) {
        return ty.clone();
    }
    let both = |both: &(Type, Type)| Rc::new((filled(&both.0, bound), filled(&both.1, bound)));
    match ty {
        Type::Param(name) => bound.iter().find(|(n, _)| n == name).map_or(Type::Any, |(_, ty)| ty.clone()),
        Type::List(a) => Type::list(filled(a, bound)),
        Type::Set(a) => Type::set(filled(a, bound)),
        Type::Handle(kind, a) => Type::handle(*kind, filled(a, bound)),
        Type::Dict(a) => Type::dict(filled(a, bound)),
        Type::Pair(p) => Type::Pair(both(p)),
        Type::Result(r) => Type::Result(both(r)),
        Type::Fn(f) => Type::Fn(Rc::new(FnType {
            params: f.params.iter().map(|p| filled(p, bound)).collect(),
            returns: filled(&f.returns, bound),
            ..**f
        })),
        Type::Shape(shape) => Type::Shape(Rc::new(Shape {
            fields: shape.fields.iter().map(|f| ShapeKey { ty: filled(&f.ty, bound), ..f.clone() }).collect(),
            ..**shape
        })),
        Type::Named(named) => Type::Named(Rc::new(NamedType {
            args: named.args.iter().map(|a| filled(a, bound)).collect(),
            ..(**named).clone()
        })),
        Type::Union(members) => members.iter().map(|m| filled(m, bound)).fold(Type::Never, join),
        other => other.clone(),
    }
}
