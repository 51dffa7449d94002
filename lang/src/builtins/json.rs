//! JSON: reading, writing, and the values in between.

use super::args;
use crate::value::{Dict, Str, Value};
use crate::vm::{Cx, Raise, codes};

crate::builtins! { "" =>
    /// The value that a JSON text stands for.
    plain "json_parse(text: string) -> any" json_parse;
    /// The JSON text of a value, keys in order.
    plain "json_stringify(value: any) -> string" json_stringify;
    /// The same on several lines.
    plain "json_stringify_pretty(value: any) -> string" json_stringify_pretty;
}

/// Levels of nesting that are written: deeper values come from a mistake, and writing recurses.
const DEPTH: u32 = 512;

/// A value from parsed JSON.
#[must_use]
pub fn from_json(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Nil,
        serde_json::Value::Bool(b) => Value::Bool(*b),
        serde_json::Value::Number(n) => match n.as_i64() {
            Some(i) => Value::Int(i),
            None => Value::Float(n.as_f64().unwrap_or(f64::NAN)),
        },
        serde_json::Value::String(s) => Value::str(s),
        serde_json::Value::Array(items) => Value::list(items.iter().map(from_json).collect()),
        serde_json::Value::Object(entries) => {
            Value::dict(entries.iter().map(|(k, v)| (Str::new(k), from_json(v))).collect::<Dict>())
        }
    }
}

/// A value from JSON text.
///
/// # Errors
/// Where the text is no JSON, with line and column.
pub fn parse_json(text: &str) -> Result<Value, Box<Raise>> {
    serde_json::from_str::<serde_json::Value>(text)
        .map(|json| from_json(&json))
        .map_err(|e| Raise::error(codes::VALUE, format!("this is not JSON: {e}")))
}

/// A value as JSON.
///
/// # Errors
/// When it holds something that JSON has no form for (a closure, a channel), or is nested too deep.
pub fn to_json(value: &Value) -> Result<serde_json::Value, Box<Raise>> {
    convert(value, DEPTH)
}

fn convert(value: &Value, depth: u32) -> Result<serde_json::Value, Box<Raise>> {
    use serde_json::Value as Json;
    let Some(depth) = depth.checked_sub(1) else {
        return Err(Raise::error(codes::VALUE, format!("the value is nested more than {DEPTH} levels deep")));
    };
    let all = |items: &[Value]| items.iter().map(|v| convert(v, depth)).collect::<Result<Vec<_>, _>>().map(Json::Array);
    Ok(match value {
        Value::Nil | Value::Unbound => Json::Null,
        Value::Bool(b) => Json::Bool(*b),
        Value::Int(i) => Json::from(*i),
        // JSON has no NaN and no infinity.
        Value::Float(f) => serde_json::Number::from_f64(*f).map_or(Json::Null, Json::Number),
        Value::Str(s) => Json::String(s.as_str().to_owned()),
        Value::List(l) => all(&l.items)?,
        Value::Set(s) => all(s.items())?,
        Value::Pair(p) => Json::Array(vec![convert(&p.first, depth)?, convert(&p.second, depth)?]),
        Value::Range(_) => all(&super::elements(value).unwrap_or_default())?,
        Value::Dict(d) => entries(d.dict.iter(), depth)?,
        Value::Struct(s) => entries(s.entries(), depth)?,
        Value::Host(h) => match h.object().to_value() {
            Some(v) => convert(&v, depth)?,
            None => return Err(no_form(value)),
        },
        _ => return Err(no_form(value)),
    })
}

fn entries<'v>(items: impl Iterator<Item = (&'v Str, &'v Value)>, depth: u32) -> Result<serde_json::Value, Box<Raise>> {
    let mut map = serde_json::Map::new();
    for (k, v) in items {
        map.insert(k.as_str().to_owned(), convert(v, depth)?);
    }
    Ok(serde_json::Value::Object(map))
}

fn no_form(value: &Value) -> Box<Raise> {
    Raise::error(codes::TYPE, format!("a {} cannot be written as JSON", value.type_name()))
}

fn json_parse(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    parse_json(args::str(args, 0)?).map_err(|raise| raise.about(0, "not JSON"))
}

fn json_stringify(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let json = to_json(&args[0]).map_err(|raise| raise.about(0, ""))?;
    Ok(Value::from(json.to_string()))
}

fn json_stringify_pretty(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let json = to_json(&args[0]).map_err(|raise| raise.about(0, ""))?;
    Ok(Value::from(serde_json::to_string_pretty(&json).unwrap_or_default()))
}
