//! Mathematics.

use super::ordering::{extreme, extreme_of_range};
use super::{args, items};
use crate::value::Value;
use crate::vm::{Cx, Raise, RunCode, overflow, power};
use std::cmp::Ordering;

crate::builtins! { "" =>
    /// Returns the number without its sign.
    ///
    /// ```harn
    /// abs(-2.5) // => 2.5
    /// ```
    plain "abs(x: int | float) -> int | float" abs;
    /// Returns the least of the values, or of the elements of the one list that is given.
    ///
    /// ```harn
    /// min(3, 1, 2) // => 1
    /// ```
    plain "min(...values) -> any" min;
    /// Returns the greatest of the values, or of the elements of the one list that is given.
    ///
    /// ```harn
    /// max([3, 1, 2]) // => 3
    /// ```
    plain "max(...values) -> any" max;
    /// Returns the greatest int that is not above the number.
    ///
    /// ```harn
    /// floor(2.7) // => 2
    /// ```
    plain "floor(x: int | float) -> int | float" floor;
    /// Returns the least int that is not below the number.
    ///
    /// ```harn
    /// ceil(2.1) // => 3
    /// ```
    plain "ceil(x: int | float) -> int | float" ceil;
    /// Rounds to the nearest int, halves away from zero; with `digits` to a float with that many digits after the point.
    ///
    /// ```harn
    /// round(2.5) // => 3
    /// round(2.345, 1) // => 2.3
    /// ```
    plain "round(x: int | float, digits: int = nil) -> int | float" round;
    /// Returns the square root.
    ///
    /// ```harn
    /// sqrt(9) // => 3.0
    /// ```
    plain "sqrt(x: int | float) -> float" sqrt;
    /// Returns `base ** exponent`: an int for two ints, unless the exponent is negative.
    ///
    /// ```harn
    /// pow(2, 10) // => 1024
    /// ```
    plain "pow(base: int | float, exponent: int | float) -> int | float" pow;
    /// Returns e to the power of the number.
    ///
    /// ```harn
    /// exp(0) // => 1.0
    /// ```
    plain "exp(x: int | float) -> float" exp;
    /// Returns the natural logarithm.
    ///
    /// ```harn
    /// ln(1) // => 0.0
    /// ```
    plain "ln(x: int | float) -> float" ln;
    /// Returns the logarithm to the base 2.
    ///
    /// ```harn
    /// log2(8) // => 3.0
    /// ```
    plain "log2(x: int | float) -> float" log2;
    /// Returns the logarithm to the base 10.
    ///
    /// ```harn
    /// log10(1000) // => 3.0
    /// ```
    plain "log10(x: int | float) -> float" log10;
    /// Returns the sine of an angle in radians.
    ///
    /// ```harn
    /// sin(0) // => 0.0
    /// ```
    plain "sin(x: int | float) -> float" sin;
    /// Returns the cosine of an angle in radians.
    ///
    /// ```harn
    /// cos(0) // => 1.0
    /// ```
    plain "cos(x: int | float) -> float" cos;
    /// Returns the tangent of an angle in radians.
    ///
    /// ```harn
    /// tan(0) // => 0.0
    /// ```
    plain "tan(x: int | float) -> float" tan;
    /// Returns the angle of the point (x, y), in radians.
    ///
    /// ```harn
    /// atan2(0, 1) // => 0.0
    /// ```
    plain "atan2(y: int | float, x: int | float) -> float" atan2;
    /// Returns the ratio of a circle's circumference to its diameter.
    ///
    /// ```harn
    /// pi().round(4) // => 3.1416
    /// ```
    plain "pi() -> float" pi;
    /// Returns whether the value is the float NaN.
    ///
    /// ```harn
    /// is_nan(0.0 / 0.0) // => true
    /// ```
    plain "is_nan(x: any) -> bool" is_nan;
}

pub(super) fn abs(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    if let Value::Int(i) = &args[0] {
        return i.checked_abs().map(Value::Int).ok_or_else(|| overflow(format_args!("`abs({i})`")));
    }
    args::number(args, 0).map(|x| Value::Float(x.abs()))
}

fn best(cx: &Cx<'_>, args: &[Value], wanted: Ordering) -> Result<Value, Box<Raise>> {
    match args {
        [] => Err(Raise::error(RunCode::Arity, "expected at least one value").help("pass at least one value")),
        [Value::Range(range)] => Ok(extreme_of_range(**range, wanted)),
        [_] => extreme(&items::items(cx, args, 0)?, wanted),
        many => extreme(many, wanted),
    }
}

fn min(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    best(cx, args, Ordering::Less)
}

fn max(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    best(cx, args, Ordering::Greater)
}

/// A float without a fraction as an int, where it fits into one.
fn whole(x: f64) -> Value {
    // Both bounds are exact: -2^63 fits into an int, 2^63 does not.
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&x) {
        Value::Int(x as i64)
    } else {
        Value::Float(x)
    }
}

fn to_whole(args: &[Value], how: fn(f64) -> f64) -> Result<Value, Box<Raise>> {
    match &args[0] {
        Value::Int(i) => Ok(Value::Int(*i)),
        _ => args::number(args, 0).map(|x| whole(how(x))),
    }
}

pub(super) fn floor(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    to_whole(args, f64::floor)
}

pub(super) fn ceil(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    to_whole(args, f64::ceil)
}

pub(super) fn round(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    if args[1].is_nil() {
        return to_whole(args, f64::round);
    }
    let x = args::number(args, 0)?;
    // More digits than a float has change nothing.
    let digits = args::count(args, 1)?.min(400);
    Ok(Value::Float(format!("{x:.digits$}").parse().unwrap_or(x)))
}

fn pow(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    if let (Value::Int(base), Value::Int(exponent)) = (&args[0], &args[1]) {
        return power(*base, *exponent);
    }
    let (base, exponent) = (args::number(args, 0)?, args::number(args, 1)?);
    Ok(Value::Float(base.powf(exponent)))
}

/// A function of one number.
macro_rules! of_one {
    ($($name:ident $how:expr;)*) => {
        $(fn $name(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
            args::number(args, 0).map(|x| Value::Float($how(x)))
        })*
    };
}

of_one! {
    sqrt f64::sqrt;
    exp f64::exp;
    ln f64::ln;
    log2 f64::log2;
    log10 f64::log10;
    sin f64::sin;
    cos f64::cos;
    tan f64::tan;
}

fn atan2(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(Value::Float(args::number(args, 0)?.atan2(args::number(args, 1)?)))
}

fn pi(_: &mut Cx<'_>, _: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(Value::Float(std::f64::consts::PI))
}

fn is_nan(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(Value::Bool(matches!(args[0], Value::Float(f) if f.is_nan())))
}
