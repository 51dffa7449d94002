//! Ranges of numbers, which signatures and named types of builtins name in place of `int` and `float`.
//!
//! A range belongs to a key of a dict, not to a type: a value that is known to be an int may be any. Only the number in a
//! literal is compared with it.

use super::Type;
use crate::ast::{Expr, ExprKind, TypeExpr, TypeKind, UnaryOp};
use std::rc::Rc;

/// A range of numbers that has a name.
#[derive(Debug, PartialEq)]
pub(in crate::check) struct NumberRange {
    name: &'static str,
    /// Floats are not in it.
    whole: bool,
    least: f64,
    /// The least number itself is not in it.
    above: bool,
    most: f64,
    /// The range in a sentence.
    described: &'static str,
}

const fn whole(name: &'static str, least: f64, described: &'static str) -> NumberRange {
    NumberRange { name, whole: true, least, above: false, most: f64::INFINITY, described }
}

static RANGES: &[NumberRange] = &[
    whole("count", 0.0, "an int of at least 0"),
    whole("positive", 1.0, "a positive int"),
    whole("ms", 0.0, "milliseconds as an int of at least 0"),
    whole("tokens", 2.0, "a number of tokens of at least 2"),
    NumberRange { name: "share", whole: false, least: 0.0, above: true, most: 1.0, described: "a share of at most 1" },
    NumberRange {
        name: "portion",
        whole: false,
        least: 0.0,
        above: false,
        most: 1.0,
        described: "a portion from 0 to 1",
    },
    NumberRange {
        name: "dollars",
        whole: false,
        least: 0.0,
        above: false,
        most: 1_000_000_000.0,
        described: "US dollars from 0 to 1000000000",
    },
];

/// Facts about the numbers of a key.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::check) enum Numbers {
    /// Any number.
    #[default]
    Open,
    /// In a literal: this very number.
    Literal(f64),
    /// A number in one of these ranges.
    Within(Rc<[&'static NumberRange]>),
}

impl NumberRange {
    fn holds(&self, number: f64) -> bool {
        let from = if self.above { number > self.least } else { number >= self.least };
        from && number <= self.most && !(self.whole && number.fract() != 0.0)
    }
}

/// Returns the range of a name.
pub(super) fn range(name: &str) -> Option<&'static NumberRange> {
    RANGES.iter().find(|range| range.name == name)
}

/// Returns the type of the numbers of a range.
pub(super) fn type_of(range: &NumberRange) -> Type {
    if range.whole { Type::Int } else { Type::Float }
}

impl Numbers {
    /// Returns the ranges that a written type names, if they are all that it says of numbers.
    pub(super) fn written(ty: &TypeExpr) -> Self {
        fn collect(ty: &TypeExpr, found: &mut Vec<&'static NumberRange>) -> bool {
            match &ty.kind {
                TypeKind::Union(members) => members.iter().all(|member| collect(member, found)),
                TypeKind::Optional(inner) => collect(inner, found),
                TypeKind::Name { name, .. } => {
                    found.extend(range(name));
                    !matches!(name.as_str(), "int" | "float" | "any")
                }
                _ => true,
            }
        }
        let mut found = Vec::new();
        if collect(ty, &mut found) && !found.is_empty() { Self::Within(found.into()) } else { Self::Open }
    }

    /// Returns the number that an expression is, if it is a literal.
    #[allow(clippy::cast_precision_loss)] // the ends of the ranges are exact
    pub(in crate::check) fn of_literal(e: &Expr) -> Self {
        match &e.kind {
            ExprKind::Int(number) => Self::Literal(*number as f64),
            ExprKind::Float(number) => Self::Literal(*number),
            ExprKind::Unary(UnaryOp::Neg, inner) => match Self::of_literal(inner) {
                Self::Literal(number) => Self::Literal(-number),
                other => other,
            },
            _ => Self::Open,
        }
    }

    /// Returns the ranges in a sentence and the number, if these are the ranges that a key demands, and the literal `found` is
    /// in none of them.
    pub(in crate::check) fn refused(&self, found: &Self) -> Option<String> {
        let (Self::Within(ranges), Self::Literal(number)) = (self, found) else { return None };
        if ranges.iter().any(|range| range.holds(*number)) {
            return None;
        }
        Some(ranges.iter().map(|range| range.described).collect::<Vec<_>>().join(" or "))
    }
}
