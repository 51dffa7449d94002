//! Operators of the second evaluator, by way of integers wide enough not to overflow.

use super::value::{Value, equal, order};
use super::{Evaluated, Stop, throw_code, uncovered};
use lang::ast::BinaryOp;
use std::cmp::Ordering;
use std::rc::Rc;

const TYPE: &str = "HARN-RUN-002";
const ZERO: &str = "HARN-RUN-003";
const OVERFLOW: &str = "HARN-RUN-018";

pub(crate) fn binary<'a>(op: BinaryOp, a: &Value<'a>, b: &Value<'a>) -> Evaluated<'a> {
    Ok(match op {
        BinaryOp::Eq => Value::Bool(equal(a, b)),
        BinaryOp::Ne => Value::Bool(!equal(a, b)),
        BinaryOp::Lt => Value::Bool(compare(a, b)? == Some(Ordering::Less)),
        BinaryOp::Le => Value::Bool(matches!(compare(a, b)?, Some(Ordering::Less | Ordering::Equal))),
        BinaryOp::Gt => Value::Bool(compare(a, b)? == Some(Ordering::Greater)),
        BinaryOp::Ge => Value::Bool(matches!(compare(a, b)?, Some(Ordering::Greater | Ordering::Equal))),
        BinaryOp::In => Value::Bool(contains(b, a)?),
        BinaryOp::NotIn => Value::Bool(!contains(b, a)?),
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem | BinaryOp::Pow => {
            return arithmetic(op, a, b);
        }
    })
}

fn compare<'a>(a: &Value<'a>, b: &Value<'a>) -> Result<Option<Ordering>, Stop<'a>> {
    match (a, b) {
        (Value::Int(_) | Value::Float(_), Value::Int(_) | Value::Float(_)) | (Value::Str(_), Value::Str(_)) => {
            Ok(order(a, b))
        }
        _ => throw_code(TYPE),
    }
}

/// `item in whole`.
fn contains<'a>(whole: &Value<'a>, item: &Value<'a>) -> Result<bool, Stop<'a>> {
    Ok(match (whole, item) {
        (Value::List(items) | Value::Set(items), item) => items.iter().any(|i| equal(i, item)),
        (Value::Dict(entries), Value::Str(key)) => entries.contains_key(&**key),
        (Value::Str(text), Value::Str(part)) => text.contains(&**part),
        (Value::Range(from, to, exclusive), Value::Int(i)) => from <= i && (i < to || (!exclusive && i == to)),
        (Value::Dict(_), _) => false,
        (Value::Range(..), _) => return uncovered("what else may be in a range"),
        _ => return throw_code(TYPE),
    })
}

#[allow(clippy::cast_precision_loss, reason = "the language turns ints into floats so")]
fn arithmetic<'a>(op: BinaryOp, a: &Value<'a>, b: &Value<'a>) -> Evaluated<'a> {
    match (a, b) {
        (Value::Int(x), Value::Int(y)) => integers(op, *x, *y),
        (Value::Float(x), Value::Float(y)) => Ok(Value::Float(floats(op, *x, *y))),
        (Value::Int(x), Value::Float(y)) => Ok(Value::Float(floats(op, *x as f64, *y))),
        (Value::Float(x), Value::Int(y)) => Ok(Value::Float(floats(op, *x, *y as f64))),
        (Value::Str(x), Value::Str(y)) if op == BinaryOp::Add => Ok(Value::str(format!("{x}{y}"))),
        (Value::List(x), Value::List(y)) if op == BinaryOp::Add => {
            Ok(Value::list(x.iter().chain(y.iter()).cloned().collect()))
        }
        (Value::Dict(x), Value::Dict(y)) if op == BinaryOp::Add => {
            let entries = x.iter().chain(y.iter()).map(|(k, v)| (k.clone(), v.clone()));
            Ok(Value::Dict(Rc::new(entries.collect())))
        }
        (Value::Str(text), Value::Int(n)) if op == BinaryOp::Mul => match usize::try_from(*n) {
            Ok(n) if text.len().saturating_mul(n) > 1_000_000 => uncovered("a very long string"),
            Ok(n) => Ok(Value::str(text.repeat(n))),
            Err(_) => Ok(Value::str("")),
        },
        _ => throw_code(TYPE),
    }
}

#[allow(clippy::cast_precision_loss, reason = "the language turns ints into floats so")]
fn integers<'a>(op: BinaryOp, x: i64, y: i64) -> Evaluated<'a> {
    let (wide, other) = (i128::from(x), i128::from(y));
    let exact = match op {
        BinaryOp::Add => Some(wide + other),
        BinaryOp::Sub => Some(wide - other),
        BinaryOp::Mul => Some(wide * other),
        BinaryOp::Div | BinaryOp::Rem if y == 0 => return throw_code(ZERO),
        BinaryOp::Div => Some(wide / other),
        BinaryOp::Rem => Some(wide % other),
        _ if y < 0 => return Ok(Value::Float(floats(op, x as f64, y as f64))),
        _ => power(wide, y),
    };
    match exact.map(i64::try_from) {
        Some(Ok(exact)) => Ok(Value::Int(exact)),
        _ => throw_code(OVERFLOW),
    }
}

/// Multiplies repeatedly, as long as the result may still be an int.
fn power(x: i128, exponent: i64) -> Option<i128> {
    if matches!(x, 0 | 1) {
        return Some(if exponent == 0 { 1 } else { x });
    }
    if x == -1 {
        return Some(if exponent % 2 == 0 { 1 } else { -1 });
    }
    let mut product = 1_i128;
    for _ in 0..exponent {
        product *= x;
        if product.abs() > 1 << 64 {
            return None;
        }
    }
    Some(product)
}

fn floats(op: BinaryOp, x: f64, y: f64) -> f64 {
    match op {
        BinaryOp::Add => x + y,
        BinaryOp::Sub => x - y,
        BinaryOp::Mul => x * y,
        BinaryOp::Div => x / y,
        BinaryOp::Rem => x % y,
        _ => x.powf(y),
    }
}

/// `-a`.
pub(crate) fn negate<'a>(a: &Value<'a>) -> Evaluated<'a> {
    match a {
        Value::Int(i) => i.checked_neg().map_or_else(|| throw_code(OVERFLOW), |negated| Ok(Value::Int(negated))),
        Value::Float(f) => Ok(Value::Float(-f)),
        _ => throw_code(TYPE),
    }
}
