//! Methods of ints and floats.

use super::math::{abs, ceil, floor, round};
use super::under::under;
use super::{Builtin, args};
use crate::value::{Value, display};
use crate::vm::{Cx, Raise};

crate::builtins! { "<int>" =>
    /// The text of the number.
    plain "to_string(self: int | float) -> string" [pure] to_string;
    /// The int without the fraction; nil when it is too large for one.
    plain "to_int(self: int | float) -> int | nil" [pure] to_int;
    /// The number as a float.
    plain "to_float(self: int | float) -> float" [pure] to_float;
    /// The number without its sign.
    plain "abs(self: int | float) -> int | float" [pure] abs;
    /// The greatest int that is not above the number.
    plain "floor(self: int | float) -> int | float" [pure] floor;
    /// The least int that is not below the number.
    plain "ceil(self: int | float) -> int | float" [pure] ceil;
    /// The nearest int, halves away from zero; with `digits`, the float with so many digits behind the point.
    plain "round(self: int | float, digits: int = nil) -> int | float" [pure] round;
}

/// Does this for floats.
pub(super) static FLOAT: &[Builtin] = &under::<{ TABLE.len() }>("<float>", TABLE);

fn to_string(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(Value::from(display(&args[0])))
}

fn to_int(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(match &args[0] {
        Value::Float(f) if f.abs() < 9.2e18 => Value::Int(f.trunc() as i64),
        Value::Int(i) => Value::Int(*i),
        _ => Value::Nil,
    })
}

fn to_float(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    args::number(args, 0).map(Value::Float)
}
