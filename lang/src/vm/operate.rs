//! Operators, the slow roads: mixed types, overflow, strings, lists, errors.

use super::call::with_article;
use super::{Meter, Raise, RunCode};
use crate::advice;
use crate::ast::BinaryOp;
use crate::value::meter::charge_copy;
use crate::value::{Value, equal, order};
use std::cmp::Ordering;
use std::rc::Rc;

/// `a op b`. The left side is given by value, so that a string or list held only there grows in place; when it fails,
/// it comes back.
pub(crate) fn binary(op: BinaryOp, a: Value, b: &Value, limit: usize) -> Result<Value, (Value, Box<Raise>)> {
    let result = match op {
        BinaryOp::Add => return add(a, b, limit),
        BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem | BinaryOp::Pow => arithmetic(op, &a, b, limit),
        BinaryOp::Eq => Ok(Value::Bool(equal(&a, b))),
        BinaryOp::Ne => Ok(Value::Bool(!equal(&a, b))),
        BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => compare(op, &a, b).map(Value::Bool),
        BinaryOp::In => contains(&a, b).map(Value::Bool),
        BinaryOp::NotIn => contains(&a, b).map(|found| Value::Bool(!found)),
    };
    result.map_err(|raise| (a, raise))
}

/// Returns the cost of `a op b` beyond one instruction, in instructions: a left side with other holders is copied, a right
/// side is gone through. Comparisons are charged where the values are compared.
#[inline(always)] // for the sake of `op`, which is known at each call
pub(crate) fn work(op: BinaryOp, a: &Value, b: &Value) -> usize {
    match op {
        BinaryOp::Add => copied(a) + visited(b),
        BinaryOp::In | BinaryOp::NotIn => visited(b),
        BinaryOp::Mul => match (a, b) {
            (Value::Str(text), Value::Int(times)) => {
                text.len().saturating_mul(usize::try_from(*times).unwrap_or(0)) / BYTES
            }
            _ => 0,
        },
        BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => match (a, b) {
            (Value::Str(a), Value::Str(b)) => a.len().min(b.len()) / BYTES,
            _ => 0,
        },
        _ => 0,
    }
}

#[inline(always)]
fn copied(value: &Value) -> usize {
    match value {
        Value::Str(text) if !text.is_unique() => text.len() / BYTES,
        Value::List(list) if Rc::strong_count(list) > 1 => list.items.len(),
        Value::Dict(dict) if Rc::strong_count(dict) > 1 => dict.dict.len(),
        _ => 0,
    }
}

#[inline(always)]
fn visited(value: &Value) -> usize {
    match value {
        Value::Str(text) => text.len() / BYTES,
        Value::List(list) => list.items.len(),
        Value::Dict(dict) => dict.dict.len(),
        _ => 0,
    }
}

/// Bytes of a text that are copied or compared in an instruction.
const BYTES: usize = 16;

fn add(mut a: Value, b: &Value, limit: usize) -> Result<Value, (Value, Box<Raise>)> {
    match (&mut a, b) {
        (Value::Str(x), Value::Str(y)) => {
            if x.len() + y.len() > limit {
                return Err((a, too_large(limit)));
            }
            x.push_str(y);
            Ok(a)
        }
        (Value::List(x), Value::List(y)) => {
            if (x.items.len() + y.items.len()).saturating_mul(16) > limit {
                return Err((a, too_large(limit)));
            }
            // `xs + xs`: the right side is the same block, and making the left one ours copies it first.
            charge_copy(y.items.len());
            Rc::make_mut(x).items.extend_from_slice(&y.items);
            Ok(a)
        }
        (Value::Dict(x), Value::Dict(y)) => {
            charge_copy(y.dict.len());
            let into = Rc::make_mut(x);
            for (k, v) in y.dict.iter() {
                into.dict.insert(k.clone(), v.clone());
            }
            Ok(a)
        }
        _ => match arithmetic(BinaryOp::Add, &a, b, limit) {
            Ok(value) => Ok(value),
            Err(raise) => Err((a, raise)),
        },
    }
}

#[allow(clippy::cast_precision_loss)]
fn arithmetic(op: BinaryOp, a: &Value, b: &Value, limit: usize) -> Result<Value, Box<Raise>> {
    match (a, b) {
        (Value::Int(x), Value::Int(y)) => integers(op, *x, *y),
        (Value::Float(x), Value::Float(y)) => Ok(Value::Float(floats(op, *x, *y))),
        (Value::Int(x), Value::Float(y)) => Ok(Value::Float(floats(op, *x as f64, *y))),
        (Value::Float(x), Value::Int(y)) => Ok(Value::Float(floats(op, *x, *y as f64))),
        (Value::Str(s), Value::Int(n)) if op == BinaryOp::Mul => {
            let times = usize::try_from(*n).unwrap_or(0);
            if s.len().checked_mul(times).is_none_or(|size| size > limit) {
                return Err(too_large(limit));
            }
            let times = if s.is_empty() { 0 } else { times };
            Ok(Value::Str(s.repeated(times)))
        }
        _ => Err(mismatch(op, a, b)),
    }
}

fn integers(op: BinaryOp, x: i64, y: i64) -> Result<Value, Box<Raise>> {
    let exact = match op {
        BinaryOp::Sub => x.checked_sub(y),
        BinaryOp::Mul => x.checked_mul(y),
        BinaryOp::Div if y == 0 => return Err(by_zero("divide")),
        BinaryOp::Div => x.checked_div(y),
        BinaryOp::Rem if y == 0 => return Err(by_zero("take the remainder of a division")),
        BinaryOp::Rem => Some(x.wrapping_rem(y)),
        BinaryOp::Pow => return power(x, y),
        _ => x.checked_add(y),
    };
    exact.map(Value::Int).ok_or_else(|| overflow(format_args!("`{x} {} {y}`", op.symbol())))
}

/// Returns `x ** y`: a float for a negative exponent, else an int.
#[allow(clippy::cast_precision_loss)]
pub(crate) fn power(x: i64, y: i64) -> Result<Value, Box<Raise>> {
    if y < 0 {
        return Ok(Value::Float((x as f64).powf(y as f64)));
    }
    integer_power(x, y).map(Value::Int).ok_or_else(|| overflow(format_args!("`{x} ** {y}`")))
}

/// Returns the error for a calculation, such as "`9 * x`" or "the sum", whose result is not an int of 64 bits.
pub(crate) fn overflow(calculation: impl std::fmt::Display) -> Box<Raise> {
    Raise::error(RunCode::Overflow, format!("integer overflow: {calculation} exceeds 64 bits")).help(advice::USE_FLOATS)
}

/// Returns `None` for a power that is too large.
fn integer_power(x: i64, y: i64) -> Option<i64> {
    match (u32::try_from(y), x) {
        (Ok(exponent), _) => x.checked_pow(exponent),
        (Err(_), 0 | 1) if y > 0 => Some(x),
        (Err(_), -1) if y > 0 => Some(if y % 2 == 0 { 1 } else { -1 }),
        _ => None,
    }
}

fn floats(op: BinaryOp, x: f64, y: f64) -> f64 {
    match op {
        BinaryOp::Sub => x - y,
        BinaryOp::Mul => x * y,
        BinaryOp::Div => x / y,
        BinaryOp::Rem => x % y,
        BinaryOp::Pow => x.powf(y),
        _ => x + y,
    }
}

fn compare(op: BinaryOp, a: &Value, b: &Value) -> Result<bool, Box<Raise>> {
    let both = matches!(
        (a, b),
        (Value::Int(_) | Value::Float(_), Value::Int(_) | Value::Float(_)) | (Value::Str(_), Value::Str(_))
    );
    if !both {
        return Err(mismatch(op, a, b));
    }
    // A NaN is in no order with anything: every comparison is false.
    let Some(found) = order(a, b) else { return Ok(false) };
    Ok(match op {
        BinaryOp::Lt => found == Ordering::Less,
        BinaryOp::Le => found != Ordering::Greater,
        BinaryOp::Gt => found == Ordering::Greater,
        _ => found != Ordering::Less,
    })
}

fn contains(a: &Value, b: &Value) -> Result<bool, Box<Raise>> {
    match (a, b) {
        (_, Value::List(l)) => Ok(l.items.iter().any(|i| equal(i, a) || Meter::is_stopped())),
        (_, Value::Set(s)) => Ok(s.contains(a)),
        (Value::Str(k), Value::Dict(d)) => Ok(d.dict.contains(k)),
        (Value::Str(part), Value::Str(s)) => Ok(s.contains(part.as_str())),
        (_, Value::Range(r)) => Ok(r.find(a).is_some()),
        (_, Value::Dict(_)) => Ok(false),
        (Value::Str(k), Value::Host(h)) => Ok(h.object().get(k).is_some()),
        (_, Value::Iter(_)) => Err(mismatch(BinaryOp::In, a, b)
            .help("searching consumes the iterator: use `.any({ x -> x == … })`, or search in `.to_list()`")),
        _ => Err(mismatch(BinaryOp::In, a, b)),
    }
}

/// `-a`
pub(super) fn negate(a: &Value) -> Result<Value, Box<Raise>> {
    match a {
        Value::Int(i) => i.checked_neg().map(Value::Int).ok_or_else(|| overflow(format_args!("`-({i})`"))),
        Value::Float(f) => Ok(Value::Float(-f)),
        other => Err(Raise::error(RunCode::Type, format!("cannot negate {}", with_article(other)))
            .help_by_some(advice::stand_in(other.into()))),
    }
}

fn by_zero(verb: &str) -> Box<Raise> {
    Raise::error(RunCode::Zero, format!("cannot {verb} by the integer zero"))
        .help("check the divisor first, or divide by a float: `x / 0.0` is `inf`")
}

pub(super) fn too_large(limit: usize) -> Box<Raise> {
    Raise::error(RunCode::Size, format!("the result would exceed {limit} bytes"))
}

fn mismatch(op: BinaryOp, a: &Value, b: &Value) -> Box<Raise> {
    let message = format!("`{}` does not work on {} and {}", op.symbol(), with_article(a), with_article(b));
    Raise::error(RunCode::Type, message).help_by_some(advice::operator(op, a.into(), b.into()))
}
