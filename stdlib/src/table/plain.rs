//! Values as what formats can write: nil, bools, numbers, strings, lists and dicts.

use lang::builtins::{json_text, parse_json};
use lang::value::Value;
use lang::vm::{Cx, Raise};

/// Returns a value without structs, enums, sets and so on, as JSON writes them.
///
/// # Errors
/// It contains what JSON cannot write, such as a function.
pub(super) fn plain(cx: &Cx<'_>, value: &Value, argument: usize) -> Result<Value, Box<Raise>> {
    if !matches!(value, Value::List(_) | Value::Dict(_) | Value::Struct(_) | Value::Variant(_) | Value::Set(_))
        && !matches!(value, Value::Range(_) | Value::Host(_) | Value::Pair(_))
    {
        return match value {
            Value::Nil | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Str(_) => Ok(value.clone()),
            other => json_text(other).map(Value::from).map_err(|raise| raise.about(argument, "")),
        };
    }
    let text = json_text(value).map_err(|raise| raise.about(argument, ""))?;
    cx.charge(text.len(), 4);
    cx.check_room(text.len().saturating_mul(4))?;
    parse_json(&text)
}
