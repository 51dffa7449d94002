//! When two values are the same, and which comes first.

use super::{Str, Value};
use std::cmp::Ordering;
use std::rc::Rc;

/// Structural equality; ints and floats compare by value, closures only when identical.
#[must_use]
pub fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Int(x), Value::Int(y)) => return x == y,
        (Value::Str(x), Value::Str(y)) => return x == y,
        _ => {}
    }
    // Host values are read as the dicts they look like; `kept` keeps those alive while they are compared.
    let mut work: Vec<(Value, Value)> = vec![(a.clone(), b.clone())];
    while let Some((a, b)) = work.pop() {
        if !same_shape(&a, &b, &mut work) {
            return false;
        }
    }
    true
}

fn same_shape(a: &Value, b: &Value, work: &mut Vec<(Value, Value)>) -> bool {
    match (a, b) {
        (Value::Nil | Value::Unbound, Value::Nil | Value::Unbound) => true,
        (Value::Bool(x), Value::Bool(y)) => x == y,
        (Value::Int(x), Value::Int(y)) => x == y,
        (Value::Float(x), Value::Float(y)) => x == y,
        (Value::Int(i), Value::Float(f)) | (Value::Float(f), Value::Int(i)) => int_equals_float(*i, *f),
        (Value::Str(x), Value::Str(y)) => x == y,
        (Value::Bytes(x), Value::Bytes(y)) => x == y,
        (Value::List(x), Value::List(y)) => {
            Rc::ptr_eq(x, y) && all_reflexive(&x.items) || zip(&x.items, &y.items, work)
        }
        (Value::Range(x), Value::Range(y)) => x.len() == y.len() && (x.is_empty() || x.from == y.from),
        (Value::Pair(x), Value::Pair(y)) => {
            work.push((x.first.clone(), y.first.clone()));
            work.push((x.second.clone(), y.second.clone()));
            true
        }
        (Value::Dict(x), Value::Dict(y)) => {
            x.dict.len() == y.dict.len()
                && x.dict.iter().all(|(k, v)| match y.dict.get(k) {
                    Some(w) => {
                        work.push((v.clone(), w.clone()));
                        true
                    }
                    None => false,
                })
        }
        (Value::Set(x), Value::Set(y)) => x.len() == y.len() && x.items().iter().all(|i| y.contains(i)),
        (Value::Closure(x), Value::Closure(y)) => Rc::ptr_eq(x, y),
        (Value::Builtin(x), Value::Builtin(y)) => std::ptr::eq(*x, *y),
        (Value::Iter(x), Value::Iter(y)) => Rc::ptr_eq(x, y),
        (Value::Variant(x), Value::Variant(y)) => {
            (Rc::ptr_eq(&x.def, &y.def) || x.def == y.def) && x.variant == y.variant && zip(&x.fields, &y.fields, work)
        }
        (Value::Struct(x), Value::Struct(y)) => {
            (Rc::ptr_eq(&x.def, &y.def) || x.def == y.def) && zip(&x.fields, &y.fields, work)
        }
        (Value::Host(x), Value::Host(y)) if Rc::ptr_eq(x, y) => true,
        (Value::Host(h), other) | (other, Value::Host(h)) => match h.object().to_value() {
            Some(value) => {
                work.push((value, other.clone()));
                true
            }
            None => false,
        },
        _ => false,
    }
}

fn zip(x: &[Value], y: &[Value], work: &mut Vec<(Value, Value)>) -> bool {
    if x.len() != y.len() {
        return false;
    }
    work.extend(x.iter().cloned().zip(y.iter().cloned()));
    true
}

/// Sharing proves equality unless a NaN is inside; only flat lists are worth the look.
fn all_reflexive(items: &[Value]) -> bool {
    items.iter().all(|v| matches!(v, Value::Int(_) | Value::Str(_) | Value::Bool(_) | Value::Nil))
}

/// Exact: an i64 that no double can hold equals none.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
fn int_equals_float(i: i64, f: f64) -> bool {
    i as f64 == f && (f as i64) == i
}

/// Which comes first, for numbers and strings (and lists and pairs of them); nothing for what has no order.
#[must_use]
#[allow(clippy::cast_precision_loss)]
pub fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(x), Value::Int(y)) => Some(x.cmp(y)),
        (Value::Float(x), Value::Float(y)) => x.partial_cmp(y),
        (Value::Int(x), Value::Float(y)) => (*x as f64).partial_cmp(y),
        (Value::Float(x), Value::Int(y)) => x.partial_cmp(&(*y as f64)),
        (Value::Str(x), Value::Str(y)) => Some(Str::cmp(x, y)),
        (Value::Bool(x), Value::Bool(y)) => Some(x.cmp(y)),
        _ => None,
    }
}
