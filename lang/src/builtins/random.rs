//! Random numbers, which follow from the seed of the run.

use super::args;
use super::items::{items, room};
use crate::value::Value;
use crate::value::meter::copied;
use crate::vm::{Cx, Raise, RunCode};

crate::builtins! { "" =>
    /// Returns a random float of at least 0 and less than 1.
    ///
    /// ```harn
    /// let x = random()
    /// 0 <= x && x < 1 // => true
    /// ```
    plain "random() -> float" random;
    /// Returns a random int from `min` to `max`, both included. A single argument is `max`, and `min` is 0.
    ///
    /// ```harn
    /// let dice = random_int(1, 6)
    /// 1 <= dice && dice <= 6 // => true
    /// ```
    plain "random_int(min: int, max: int? = nil) -> int" random_int;
    /// Returns a random element.
    ///
    /// ```harn
    /// ["red", "green"].contains(choice(["red", "green"])) // => true
    /// choice([]) // => error: cannot choose from an empty list
    /// ```
    plain "choice(items: list<T> | set<T>) -> T" choice;
    /// Returns the elements in random order.
    ///
    /// ```harn
    /// shuffle([1, 2, 3]).sort() // => [1, 2, 3]
    /// ```
    plain "shuffle(items: list<T> | set<T>) -> list<T>" shuffle;
    /// Returns `n` random elements in random order, or all if there are fewer. No element is taken twice.
    ///
    /// ```harn
    /// sample(range(0, 100).to_list(), 3).unique().count // => 3
    /// ```
    plain "sample(items: list<T> | set<T>, n: int) -> list<T>" sample;
}

fn random(cx: &mut Cx<'_>, _: &mut [Value]) -> Result<Value, Box<Raise>> {
    // As many bits as a float has.
    Ok(Value::Float((cx.isolate.host().random() >> 11) as f64 / (1_u64 << 53) as f64))
}

/// Returns a number below `bound`, each with the same probability up to one in 2^64.
fn below(cx: &Cx<'_>, bound: u64) -> u64 {
    ((u128::from(cx.isolate.host().random()) * u128::from(bound)) >> 64) as u64
}

fn random_int(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let first = args::int(args, 0)?;
    let (min, max) = args::opt_int(args, 1)?.map_or((0, first), |max| (first, max));
    if min > max {
        let message = format!("expected a range that is not empty, found {min} to {max}");
        return Err(Raise::error(RunCode::Value, message).about(0, "").help("pass the smaller number first"));
    }
    let width = max.abs_diff(min);
    let offset = if width == u64::MAX { cx.isolate.host().random() } else { below(cx, width + 1) };
    Ok(Value::Int(min.wrapping_add_unsigned(offset)))
}

pub(super) fn choice(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let n = super::items::count(args, 0)?;
    if n == 0 {
        return Err(Raise::error(RunCode::Value, "cannot choose from an empty list").about(0, "empty"));
    }
    let at = usize::try_from(below(cx, n as u64)).unwrap_or(0);
    Ok(super::items::at(&args[0], at).unwrap_or_default())
}

pub(super) fn shuffle(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let n = super::items::count(args, 0)?;
    some_of(cx, args, n)
}

pub(super) fn sample(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let n = args::count(args, 1)?;
    some_of(cx, args, n)
}

/// The first `n` elements after a shuffle, which goes no further than them.
fn some_of(cx: &Cx<'_>, args: &[Value], n: usize) -> Result<Value, Box<Raise>> {
    let items = items(cx, args, 0)?;
    room(cx, items.len())?;
    let mut items = copied(&items);
    let n = n.min(items.len());
    for i in 0..n {
        let other = i + usize::try_from(below(cx, (items.len() - i) as u64)).unwrap_or(0);
        items.swap(i, other);
    }
    items.truncate(n);
    Ok(Value::list(items))
}
