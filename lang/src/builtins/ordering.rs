//! Order of values for sorting. It is total even where values cannot be compared, so that sorting by it always ends;
//! incomparable values are reported afterwards.

use super::items::article;
use crate::value::{Range, Value, inspect, order_int_and_float};
use crate::vm::{Meter, Raise, RunCode};
use std::cmp::Ordering;

/// Levels of lists in lists that are compared.
const DEPTH: u32 = 32;

/// Compares values and remembers the first two that have no order.
pub(super) struct Comparer {
    clash: Option<(Value, Value)>,
    meter: Meter,
}

impl Default for Comparer {
    fn default() -> Self {
        Self { clash: None, meter: Meter::start() }
    }
}

impl Comparer {
    /// Compares two values. Numbers are ordered by value with NaN last, strings bytewise, false before true, lists and pairs
    /// by their elements. Once the comparison must stop, all values are equal.
    pub(super) fn compare(&mut self, a: &Value, b: &Value) -> Ordering {
        self.at_depth(a, b, DEPTH)
    }

    fn at_depth(&mut self, a: &Value, b: &Value, depth: u32) -> Ordering {
        match (a, b) {
            (Value::Int(x), Value::Int(y)) => x.cmp(y),
            (Value::Float(x), Value::Float(y)) => floats(*x, *y),
            (Value::Int(x), Value::Float(y)) => int_and_float(*x, *y),
            (Value::Float(x), Value::Int(y)) => int_and_float(*y, *x).reverse(),
            (Value::Str(x), Value::Str(y)) => x.cmp(y),
            (Value::Bool(x), Value::Bool(y)) => x.cmp(y),
            _ if self.meter.step().is_err() => Ordering::Equal,
            _ => match (parts(a), parts(b)) {
                (Some(xs), Some(ys)) if depth > 0 => xs
                    .zip(ys)
                    .map(|(x, y)| self.at_depth(x, y, depth - 1))
                    .find(|o| o.is_ne())
                    .unwrap_or_else(|| length(a).cmp(&length(b))),
                _ => {
                    self.clash.get_or_insert_with(|| (a.clone(), b.clone()));
                    rank(a).cmp(&rank(b))
                }
            },
        }
    }

    /// The error for what had no order.
    pub(super) fn finish(self) -> Result<(), Box<Raise>> {
        let Some((a, b)) = self.clash else { return Ok(()) };
        let message = if a.type_name() == b.type_name() {
            format!("values of type {} cannot be ordered", a.type_name())
        } else {
            format!("cannot order {} and {}", article(&a), article(&b))
        };
        let raise = Raise::error(RunCode::Type, message).about(0, "cannot be ordered").note(format!(
            "the values are {} and {}",
            inspect(&a),
            inspect(&b)
        ));
        Err(if a.is_nil() || b.is_nil() {
            raise.help(
                "remove the nils first with `xs.compact()`, or replace them in the key: `xs.sort_by({ x -> x ?? 0 })`",
            )
        } else {
            raise.help("use one key type: `xs.sort_by({ x -> … })`, where the function returns numbers or strings")
        })
    }
}

fn parts(value: &Value) -> Option<impl Iterator<Item = &Value>> {
    match value {
        Value::List(l) => Some(l.items.iter().chain(None)),
        Value::Pair(p) => Some(std::slice::from_ref(&p.first).iter().chain(Some(&p.second))),
        _ => None,
    }
}

fn length(value: &Value) -> usize {
    match value {
        Value::List(l) => l.items.len(),
        _ => 2,
    }
}

/// Keeps the order total where values cannot be compared.
fn rank(value: &Value) -> u8 {
    match value {
        Value::Nil | Value::Unbound => 0,
        Value::Bool(_) => 1,
        Value::Int(_) | Value::Float(_) => 2,
        Value::Str(_) => 3,
        Value::List(_) | Value::Pair(_) => 4,
        _ => 5,
    }
}

/// NaN is last and equals itself; the two zeros are one.
fn floats(x: f64, y: f64) -> Ordering {
    x.partial_cmp(&y).unwrap_or_else(|| x.is_nan().cmp(&y.is_nan()))
}

/// NaN is behind every int.
fn int_and_float(i: i64, f: f64) -> Ordering {
    order_int_and_float(i, f).unwrap_or(Ordering::Less)
}

/// The item of a range that comes first, or last with `Ordering::Greater`; nil when there is none.
pub(super) fn extreme_of_range(range: Range, wanted: Ordering) -> Value {
    let end = |(first, last)| if wanted == Ordering::Less { first } else { last };
    range.bounds().map_or(Value::Nil, |bounds| Value::Int(end(bounds)))
}

/// The element that comes first, or last with `Ordering::Greater`; nil when there is none.
pub(super) fn extreme(items: &[Value], wanted: Ordering) -> Result<Value, Box<Raise>> {
    let mut comparer = Comparer::default();
    let Some((first, rest)) = items.split_first() else { return Ok(Value::Nil) };
    let mut best = first;
    for item in rest {
        if comparer.compare(item, best) == wanted {
            best = item;
        }
    }
    comparer.finish()?;
    Ok(best.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ints_and_floats_compare_exactly() {
        let mut c = Comparer::default();
        let big = 1_i64 << 53;
        assert_eq!(c.compare(&Value::Int(big + 1), &Value::Float(big as f64)), Ordering::Greater);
        assert_eq!(c.compare(&Value::Int(-1), &Value::Float(-1.5)), Ordering::Greater);
        assert_eq!(c.compare(&Value::Int(i64::MAX), &Value::Float(9.3e18)), Ordering::Less);
        assert_eq!(c.compare(&Value::Float(f64::NAN), &Value::Int(1)), Ordering::Greater);
        assert_eq!(c.compare(&Value::Float(f64::NAN), &Value::Float(f64::NAN)), Ordering::Equal);
        assert!(c.finish().is_ok());
    }

    #[test]
    fn what_has_no_order_is_reported() {
        let mut c = Comparer::default();
        let list = |v: Vec<i64>| Value::from(v);
        assert_eq!(c.compare(&list(vec![1, 2]), &list(vec![1])), Ordering::Greater);
        assert!(c.clash.is_none());
        c.compare(&Value::Int(1), &Value::str("a"));
        assert!(c.finish().unwrap_err().message.contains("an int and a string"));
    }
}
