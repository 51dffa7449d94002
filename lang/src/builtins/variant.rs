//! Properties of the values of enums.

use super::args;
use crate::value::Value;
use crate::value::meter::copied;
use crate::vm::{Cx, Raise};

crate::builtins! { "<variant>" =>
    /// Returns the name of the variant.
    ///
    /// ```harn
    /// enum Shape { Circle(float), Point }
    /// Shape.Circle(1.5).variant // => "Circle"
    /// Ok(1).variant // => "Ok"
    /// ```
    plain "variant(self: any) -> string" [pure, property] variant;
    /// Returns the values of the variant in their order.
    ///
    /// ```harn
    /// enum Shape { Circle(float), Point }
    /// Shape.Circle(1.5).fields // => [1.5]
    /// Shape.Point.fields // => []
    /// ```
    plain "fields(self: any) -> list" [pure, property] fields;
}

fn variant(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let Value::Variant(own) = &args[0] else { return Err(args::mismatch(args, 0, "a value of an enum")) };
    let def = own.def().variants.get(own.tag() as usize);
    Ok(def.map_or(Value::Nil, |def| Value::Str(def.name.clone())))
}

fn fields(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let Value::Variant(own) = &args[0] else { return Err(args::mismatch(args, 0, "a value of an enum")) };
    cx.check_copy(size_of_val(own.values()))?;
    Ok(Value::list(copied(own.values())))
}
