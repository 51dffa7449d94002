//! Indexes, slices and iteration: the items of a collection.

use super::Checker;
use super::want::{DemandOrigin, ExpectedType};
use crate::ast::{Expr, ExprKind};
use crate::builtin_type::Tag;
use crate::check::types::{Handle, Kinds, Nominal, Numbers, Shape, ShapeKey, Type, join};
use crate::source::Span;
use std::rc::Rc;

const INT: Kinds = Kinds::of(Tag::Int);
const STR: Kinds = Kinds::of(Tag::Str);

/// Ways to index a value: by an int, by a string, not at all.
const BY_INT: Kinds = Kinds::of(Tag::List)
    .and(Kinds::of(Tag::Str))
    .and(Kinds::of(Tag::Range))
    .and(Kinds::of(Tag::Bytes))
    .and(Kinds::of(Tag::Pair))
    .and(Kinds::of(Tag::Host));
const BY_STRING: Kinds = Kinds::of(Tag::Dict).and(Kinds::of(Tag::Struct)).and(Kinds::of(Tag::Host));
const SLICED: Kinds =
    Kinds::of(Tag::List).and(Kinds::of(Tag::Str)).and(Kinds::of(Tag::Range)).and(Kinds::of(Tag::Bytes));
/// Tells whether `for` certainly cannot iterate over a type.
const UNWALKED: Kinds = Kinds::of(Tag::Nil).and(Kinds::of(Tag::Bool)).and(Kinds::NUMBER).and(Kinds::of(Tag::Function));

impl<'a> Checker<'a> {
    pub(super) fn indexed(&mut self, object: &'a Expr, index: &'a Expr, optional: bool) -> Type {
        let holder = self.expr(object, ExpectedType::FREE);
        let by = self.expr(index, ExpectedType::FREE);
        let asked = if optional { Self::unlifted(&holder) } else { holder };
        if optional && asked == Type::Never {
            return Type::Any;
        }
        if !self.can_index(&asked, &by, object.span, index.span) {
            return Type::Any;
        }
        let found = asked.members().iter().fold(Type::Never, |all, m| join(all, self.element_at(m, &by)));
        if optional { found.optional() } else { found.or_unknown() }
    }

    /// Reports an index that certainly fails.
    fn can_index(&mut self, holder: &Type, by: &Type, at: Span, by_at: Span) -> bool {
        if holder.is_open() {
            return true;
        }
        let kinds = holder.kinds();
        if !kinds.meets(BY_INT.and(BY_STRING)) {
            self.cannot_be_indexed(holder, at);
            return false;
        }
        let fits = (kinds.meets(BY_INT) && by.kinds().meets(INT)) || (kinds.meets(BY_STRING) && by.kinds().meets(STR));
        // What is a list, a string or a dict for certain is not the host's.
        let certain = match holder {
            Type::List(_) => by.kinds().meets(INT),
            Type::Dict(_) | Type::Shape(_) => by.kinds().meets(STR),
            _ => fits,
        };
        if !by.is_open() && !certain {
            self.wrong_index(holder, by, at, by_at);
            return false;
        }
        true
    }

    fn element_at(&self, holder: &Type, by: &Type) -> Type {
        match holder {
            Type::List(of) => (**of).clone(),
            Type::Str | Type::Text(_) => Type::Str,
            Type::Range | Type::Bytes => Type::Int,
            Type::Dict(of) => (**of).clone().optional(),
            Type::Shape(shape) => match by {
                Type::Text(key) => match shape.field(key) {
                    Some(field) if field.optional => field.ty.clone().optional(),
                    Some(field) => field.ty.clone(),
                    None if shape.literal && !shape.open => Type::Nil,
                    None => Type::Any,
                },
                _ => Type::Any,
            },
            Type::Named(named) => match (self.world.fields(named), by) {
                (Some(fields), Type::Text(key)) => {
                    fields.field(key).map_or(Type::Any, |f| crate::check::types::fill(&f.ty, &self.arguments_of(named)))
                }
                _ => Type::Any,
            },
            _ => Type::Any,
        }
    }

    /// The key of a computed entry.
    pub(super) fn dict_key(&mut self, key: &Type, at: Span) {
        self.fit(at, key.clone(), ExpectedType::must(&Type::Str, DemandOrigin::Implicit));
    }

    /// Returns the type that a list or dict accepts under an assigned index.
    pub(super) fn assigned_index(&mut self, holder: &Type, by: &Type, at: Span, by_at: Span) -> Option<(Type, Span)> {
        if !self.can_index(holder, by, at, by_at) {
            return None;
        }
        match (holder, by) {
            (_, Type::Text(key)) => self.assigned_key(holder, key, by_at),
            // The elements of a literal are what is in it, not what may be put into it.
            _ => None,
        }
    }

    pub(super) fn sliced(&mut self, object: &'a Expr, from: Option<&'a Expr>, to: Option<&'a Expr>) -> Type {
        let holder = self.expr(object, ExpectedType::FREE);
        let bound = Type::Int.optional();
        for e in from.iter().chain(&to) {
            self.expr(e, ExpectedType::must(&bound, DemandOrigin::Implicit));
        }
        if !holder.is_open() && !holder.kinds().meets(SLICED) {
            self.cannot_be_sliced(&holder, object.span);
            return Type::Any;
        }
        match &holder {
            Type::List(_) => holder,
            Type::Str | Type::Text(_) => Type::Str,
            Type::Bytes => Type::Bytes,
            Type::Range => Type::list(Type::Int),
            _ => Type::Any,
        }
    }

    /// Returns the type of the items of an iterated value; reports a value that is not iterable.
    pub(super) fn element(&mut self, walked: &Type, e: &Expr) -> Type {
        if !walked.is_open() && walked.kinds().within(UNWALKED) {
            let number = if let ExprKind::Int(n) = e.kind { Some(n) } else { None };
            self.cannot_be_walked(walked, e.span, number);
            return Type::Any;
        }
        Self::element_of(walked)
    }

    pub(super) fn element_of(walked: &Type) -> Type {
        walked.members().iter().fold(Type::Never, |all, m| {
            let one = match m {
                Type::List(of) | Type::Set(of) => (**of).clone(),
                Type::Handle(handle, of) if *handle != Handle::Task => (**of).clone(),
                Type::Str | Type::Text(_) => Type::Str,
                Type::Range | Type::Bytes => Type::Int,
                Type::Dict(of) => entry((**of).clone()),
                Type::Shape(shape) if shape.literal && !shape.open => {
                    entry(shape.fields.iter().fold(Type::Never, |all, f| join(all, f.ty.widened())))
                }
                Type::Nil | Type::Never => Type::Never,
                _ => Type::Any,
            };
            join(all, one)
        })
    }
}

/// `{key, value}`, as walks over dicts give them.
fn entry(value: Type) -> Type {
    let field = |name: &str, ty| ShapeKey { name: name.into(), ty, optional: false, at: None, numbers: Numbers::Open };
    let fields = vec![field("key", Type::Str), field("value", value)];
    Type::Shape(Rc::new(Shape { fields, open: false, literal: true, told: false, methods: None }))
}
