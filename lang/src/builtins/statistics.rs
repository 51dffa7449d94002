//! Numbers about numbers: the mean of a list, its median and so on.

use super::items::{self, article, items};
use super::{args, math};
use crate::value::{Dict, DictBox, Value};
use crate::vm::{Cx, Meter, Raise, RunCode, Stopped};
use std::rc::Rc;

crate::builtins! { "" =>
    /// Returns the number, or the bound that it exceeds.
    ///
    /// ```harn
    /// clamp(15, 0, 10) // => 10
    /// clamp(-0.5, 0, 1) // => 0
    /// ```
    plain "clamp(x: int | float, min: int | float, max: int | float) -> int | float" clamp;
    /// Rounds a number to that many digits after the point.
    ///
    /// ```harn
    /// round_to(2.718281, 2) // => 2.72
    /// ```
    plain "round_to(x: int | float, digits: int) -> float" round_to;
    /// Returns -1, 0 or 1: the sign of a number.
    ///
    /// ```harn
    /// sign(-2.5) // => -1
    /// ```
    plain "sign(x: int | float) -> int" sign;
    /// Returns the mean of numbers, or nil if there are none.
    ///
    /// ```harn
    /// mean([1, 2, 6]) // => 3.0
    /// ```
    plain "mean(numbers: any) -> float?" mean;
    /// Returns the median of numbers, or nil if there are none: of an even number of them, the mean of both in the middle.
    ///
    /// ```harn
    /// median([5, 1, 3]) // => 3.0
    /// median([1, 2, 3, 4]) // => 2.5
    /// ```
    plain "median(numbers: any) -> float?" median;
    /// Returns the percentile `p` of numbers, from 0 to 100, or nil if there are none. Between two numbers it is interpolated.
    ///
    /// ```harn
    /// percentile([10, 20, 30, 40], 50) // => 25.0
    /// percentile(range(1, 101), 95) // => 95.05
    /// ```
    plain "percentile(numbers: any, p: int | float) -> float?" percentile;
    /// Returns the standard deviation of a sample, or nil if it has fewer than two numbers.
    ///
    /// ```harn
    /// stddev([2, 4, 4, 4, 5, 5, 7, 9]).round(3) // => 2.138
    /// ```
    plain "stddev(numbers: any) -> float?" stddev;
    /// Returns the entries of both dicts. Where both have a dict under a key, these are merged too; otherwise the second one counts.
    ///
    /// ```harn
    /// deep_merge({a: {x: 1, y: 2}}, {a: {y: 3}, b: 4}) // => {a: {x: 1, y: 3}, b: 4}
    /// ```
    plain "deep_merge(dict: dict, other: dict) -> dict" deep_merge;
}

fn clamp(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let [x, min, max] = [args::number(args, 0)?, args::number(args, 1)?, args::number(args, 2)?];
    if min > max {
        return Err(Raise::error(RunCode::Value, format!("expected a minimum of at most {max}, found {min}"))
            .about(1, "greater than the maximum"));
    }
    let of = if x < min { 1 } else { 2 * usize::from(x > max) };
    Ok(std::mem::take(&mut args[of]))
}

fn round_to(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    args::count(args, 1)?;
    math::round(cx, args)
}

fn sign(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let x = args::number(args, 0)?;
    Ok(Value::Int(i64::from(x > 0.0) - i64::from(x < 0.0)))
}

/// The numbers of an argument.
fn numbers(cx: &Cx<'_>, args: &[Value]) -> Result<Vec<f64>, Box<Raise>> {
    let items = items(cx, args, 0)?;
    cx.check_copy(items.len().saturating_mul(size_of::<f64>()))?;
    let mut numbers = Vec::with_capacity(items.len());
    for (i, item) in items.iter().enumerate() {
        let Some(number) = item.as_number() else {
            let message = format!("expected numbers, found {} at index {i}", article(item));
            return Err(Raise::error(RunCode::Type, message).about(0, format!("holds {}", items::shown(item))));
        };
        numbers.push(number);
    }
    Ok(numbers)
}

/// Returns the mean, which the sum of large numbers does not overflow.
fn mean_of(numbers: &[f64]) -> Option<f64> {
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
}

pub(super) fn mean(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(mean_of(&numbers(cx, args)?).into())
}

pub(super) fn median(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let numbers = numbers(cx, args)?;
    Ok(percentile_of(cx, numbers, 50.0).into())
}

pub(super) fn percentile(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let p = args::number(args, 1)?;
    if !(0.0..=100.0).contains(&p) {
        return Err(
            Raise::error(RunCode::Value, format!("expected a percentage from 0 to 100, found {p}")).about(1, "")
        );
    }
    let numbers = numbers(cx, args)?;
    Ok(percentile_of(cx, numbers, p).into())
}

fn percentile_of(cx: &Cx<'_>, mut numbers: Vec<f64>, p: f64) -> Option<f64> {
    cx.charge(numbers.len(), 8);
    numbers.sort_unstable_by(f64::total_cmp);
    let last = numbers.len().checked_sub(1)?;
    let at = last as f64 * p / 100.0;
    let (below, above) = (at.floor(), at.ceil());
    let (low, high) = (*numbers.get(below as usize)?, *numbers.get(above as usize)?);
    Some(if below == above { low } else { low + (high - low) * (at - below) })
}

pub(super) fn stddev(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let numbers = numbers(cx, args)?;
    let Some(mean) = mean_of(&numbers).filter(|_| numbers.len() > 1) else { return Ok(Value::Nil) };
    let squares: f64 = numbers.iter().map(|x| (x - mean) * (x - mean)).sum();
    Ok(Value::Float((squares / (numbers.len() - 1) as f64).sqrt()))
}

/// Levels of nesting that are merged: deeper values come from a mistake, and merging recurses.
const DEPTH: u32 = 512;

pub(super) fn deep_merge(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    args::dict(args, 0)?;
    args::dict(args, 1)?;
    let mut merged = args[0].clone();
    let other = args[1].clone();
    merge(cx, &mut merged, &other, DEPTH, &mut Meter::start())?;
    Ok(merged)
}

fn merge(cx: &Cx<'_>, into: &mut Value, from: &Value, depth: u32, meter: &mut Meter) -> Result<(), Box<Raise>> {
    let (Value::Dict(entries), Value::Dict(more)) = (&mut *into, from) else {
        *into = from.clone();
        return Ok(());
    };
    if depth == 0 {
        return Err(Raise::error(RunCode::Value, format!("value nested more than {DEPTH} levels deep")).about(0, ""));
    }
    let count = entries.dict.len().saturating_add(more.dict.len());
    cx.check_size(count.checked_mul(2 * size_of::<Value>()))?;
    let dict: &mut Dict = &mut Rc::<DictBox>::make_mut(entries).dict;
    for (key, value) in more.dict.iter() {
        meter.step().map_err(Stopped::raise)?;
        merge(cx, dict.slot(key), value, depth - 1, meter)?;
    }
    Ok(())
}
