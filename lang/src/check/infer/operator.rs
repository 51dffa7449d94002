//! Operators: which pairs of values they work on, and what they give.

use super::Checker;
use super::want::ExpectedType;
use crate::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::builtin_type::Tag;
use crate::check::types::{Kinds, Numbers, Shape, ShapeKey, Type, join};
use crate::diagnostic::spelled_alike;
use crate::source::Span;
use std::rc::Rc;

const STR: Kinds = Kinds::of(Tag::Str);
const INT: Kinds = Kinds::of(Tag::Int);
const LIST: Kinds = Kinds::of(Tag::List);
const DICT: Kinds = Kinds::of(Tag::Dict);
const RANGE: Kinds = Kinds::of(Tag::Range);
const SET: Kinds = Kinds::of(Tag::Set);
const HOST: Kinds = Kinds::of(Tag::Host);

/// Whether there are values of these kinds that the operator works on. The machine decides it again, value by value; a
/// test holds the two together.
pub(super) fn works(op: BinaryOp, a: Kinds, b: Kinds) -> bool {
    let both = |kinds: Kinds| a.meets(kinds) && b.meets(kinds);
    match op {
        BinaryOp::Eq | BinaryOp::Ne => true,
        BinaryOp::Add => both(Kinds::NUMBER) || both(STR) || both(LIST) || both(DICT),
        BinaryOp::Mul => both(Kinds::NUMBER) || (a.meets(STR) && b.meets(INT)),
        BinaryOp::Sub | BinaryOp::Div | BinaryOp::Rem | BinaryOp::Pow => both(Kinds::NUMBER),
        BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => both(Kinds::NUMBER) || both(STR),
        BinaryOp::In | BinaryOp::NotIn => {
            b.meets(LIST.and(SET).and(RANGE).and(DICT)) || (a.meets(STR) && b.meets(STR.and(HOST)))
        }
    }
}

impl<'a> Checker<'a> {
    pub(super) fn unary(&mut self, op: UnaryOp, a: &'a Expr) -> Type {
        if op == UnaryOp::Not {
            self.test(a);
            return Type::Bool;
        }
        let ty = self.expr(a, ExpectedType::FREE);
        if !ty.is_open() && !ty.kinds().meets(Kinds::NUMBER) {
            self.cannot_negate(&ty, a.span);
            return Type::Any;
        }
        ty.only(|m| m.kinds().meets(Kinds::NUMBER))
    }

    pub(super) fn binary(&mut self, op: BinaryOp, a: &'a Expr, b: &'a Expr, span: Span) -> Type {
        let left = self.expr(a, ExpectedType::FREE);
        let right = self.expr(b, ExpectedType::FREE);
        if matches!(op, BinaryOp::Eq | BinaryOp::Ne) {
            self.never_equal(op, (&left, a), (&right, b), span);
            return Type::Bool;
        }
        self.operation(op, &left, &right, a.span, b.span, span)
    }

    /// Returns the result type of an operator for these types.
    pub(super) fn operation(&mut self, op: BinaryOp, a: &Type, b: &Type, a_at: Span, b_at: Span, _whole: Span) -> Type {
        if matches!((a, b), (Type::Never, _) | (_, Type::Never)) {
            return Type::Never;
        }
        if !a.is_open() && !b.is_open() && !works(op, a.kinds(), b.kinds()) {
            self.operator_fails(op, a, b, a_at, b_at);
            return Type::Any;
        }
        match op {
            BinaryOp::Add => sum(a, b),
            BinaryOp::Mul if a.kinds().within(STR) => Type::Str,
            BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => number(a, b),
            BinaryOp::Pow if a == &Type::Float || b == &Type::Float => Type::Float,
            BinaryOp::Pow => Type::Any,
            _ => Type::Bool,
        }
    }

    fn never_equal(&mut self, op: BinaryOp, (a, a_expr): (&Type, &Expr), (b, b_expr): (&Type, &Expr), span: Span) {
        let told = |ty: &Type| !ty.is_open() && ty.kinds() != Kinds::ALL && !ty.kinds().meets(Kinds::of(Tag::Nil));
        if !told(a) || !told(b) {
            return;
        }
        let numbers = a.kinds().meets(Kinds::NUMBER) && b.kinds().meets(Kinds::NUMBER);
        if !numbers && !a.kinds().meets(b.kinds()) {
            return self.never_equals(op, (a, a_expr.span), (b, b_expr.span), span);
        }
        // A choice among texts that is compared with another text.
        for (choice, text, e) in [(a, b, b_expr), (b, a, a_expr)] {
            if let (Type::Union(members), Type::Text(text)) = (choice, text)
                && members.iter().all(|m| matches!(m, Type::Text(known) if known != text))
                && matches!(e.kind, ExprKind::Str(_))
            {
                return self.never_chosen(op, a, b, e.span, (choice, text));
            }
        }
        // One text that is spelled in another way.
        let is_literal = |e: &Expr| matches!(e.kind, ExprKind::Str(_));
        for (known, text, e, other) in [(a, b, b_expr, a_expr), (b, a, a_expr, b_expr)] {
            if let (Type::Text(word), Type::Text(text)) = (known, text)
                && word != text
                && spelled_alike(word, text)
                && is_literal(e)
                && !is_literal(other)
            {
                return self.never_chosen(op, a, b, e.span, (known, text));
            }
        }
    }
}

fn sum(a: &Type, b: &Type) -> Type {
    match (a, b) {
        (Type::List(x), Type::List(y)) => Type::list(join((**x).clone(), (**y).clone())),
        (Type::Dict(x), Type::Dict(y)) => Type::dict(join((**x).clone(), (**y).clone())),
        (Type::Shape(x), Type::Shape(y)) if x.literal && y.literal && !x.open && !y.open => merged(x, y),
        (Type::Shape(_) | Type::Dict(_), Type::Shape(_) | Type::Dict(_)) => Type::dict(Type::Any),
        _ if a.kinds().within(STR) || b.kinds().within(STR) => Type::Str,
        _ => number(a, b),
    }
}

fn merged(x: &Shape, y: &Shape) -> Type {
    let mut fields: Vec<ShapeKey> = x.fields.iter().filter(|f| y.field(&f.name).is_none()).cloned().collect();
    fields.extend(y.fields.iter().map(|f| match x.field(&f.name) {
        Some(old) if f.optional => ShapeKey {
            ty: join(f.ty.clone(), old.ty.clone()),
            optional: old.optional,
            numbers: Numbers::Open,
            ..f.clone()
        },
        _ => f.clone(),
    }));
    Type::Shape(Rc::new(Shape { fields, open: false, literal: true, told: false, methods: None }))
}

fn number(a: &Type, b: &Type) -> Type {
    match (a, b) {
        (Type::Float, _) if b.kinds().within(Kinds::NUMBER) => Type::Float,
        (_, Type::Float) if a.kinds().within(Kinds::NUMBER) => Type::Float,
        (Type::Int, Type::Int) => Type::Int,
        _ if a.kinds().within(Kinds::NUMBER) && b.kinds().within(Kinds::NUMBER) => join(Type::Int, Type::Float),
        _ => Type::Any,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Range, Value};
    use crate::vm::binary;

    fn samples() -> Vec<Value> {
        let range = Value::Range(Rc::new(Range { from: 1, to: 2, exclusive: false }));
        vec![
            Value::Nil,
            Value::Bool(true),
            Value::Int(2),
            Value::Float(2.0),
            Value::str("a"),
            Value::list(vec![]),
            Value::dict(crate::value::Dict::new()),
            Value::Set(Rc::new(std::iter::empty::<Value>().collect())),
            range,
            Value::pair(Value::Nil, Value::Nil),
            Value::ok(Value::Nil),
        ]
    }

    #[test]
    fn the_checker_and_the_machine_agree_on_every_pair_of_kinds() {
        use BinaryOp::{Add, Div, Eq, Ge, Gt, In, Le, Lt, Mul, Ne, NotIn, Pow, Rem, Sub};
        for op in [Add, Sub, Mul, Div, Rem, Pow, Eq, Ne, Lt, Le, Gt, Ge, In, NotIn] {
            for a in samples() {
                for b in samples() {
                    let (x, y) = (a.type_name().to_owned(), b.type_name().to_owned());
                    let said = works(op, Kinds::of(a.tag()), Kinds::of(b.tag()));
                    let did = binary(op, a.clone(), &b, usize::MAX).is_ok();
                    assert_eq!(said, did, "{x} {} {y}", op.symbol());
                }
            }
        }
    }
}
