//! TOML.

use super::plain::plain;
use lang::builtins::args;
use lang::value::{Dict, Str, Value, article};
use lang::vm::{Cx, Meter, Raise, RunCode, Stopped};
use toml::{Table, Value as TomlValue};

lang::builtins! { "" =>
    /// Parses TOML. Dates and times are strings.
    ///
    /// ```harn
    /// toml_parse("title = \"x\"\n[server]\nports = [80, 443]\n") // => {server: {ports: [80, 443]}, title: "x"}
    /// toml_parse("a = \n") // => error: cannot parse TOML: line 1
    /// ```
    plain "toml_parse(text: string) -> dict" toml_parse;
    /// Writes a dict as TOML.
    ///
    /// ```harn
    /// toml_stringify({title: "x", server: {ports: [80]}}) // => "title = \"x\"\n\n[server]\nports = [80]\n"
    /// ```
    plain "toml_stringify(value: any) -> string" toml_stringify;
}

pub(super) fn parse(cx: &Cx<'_>, text: &str) -> Result<Value, Box<Raise>> {
    // Values are larger than their texts.
    cx.check_room(text.len().saturating_mul(8))?;
    cx.charge(text.len(), 4);
    let table: Table = text.parse().map_err(|error: toml::de::Error| {
        let at = error.span().map_or(0, |span| span.start);
        let line = text.get(..at).unwrap_or(text).matches('\n').count() + 1;
        let message = format!("cannot parse TOML: line {line}: {}", error.message());
        Raise::error(RunCode::Value, message).about(0, "invalid TOML")
    })?;
    from_table(table, &mut Meter::start())
}

fn from_table(table: Table, meter: &mut Meter) -> Result<Value, Box<Raise>> {
    let mut dict = Dict::with_capacity(table.len());
    for (key, value) in table {
        dict.insert(Str::new(&key), from_toml(value, meter)?);
    }
    Ok(Value::dict(dict))
}

fn from_toml(value: TomlValue, meter: &mut Meter) -> Result<Value, Box<Raise>> {
    meter.step().map_err(Stopped::raise)?;
    Ok(match value {
        TomlValue::String(text) => Value::from(text),
        TomlValue::Integer(int) => Value::Int(int),
        TomlValue::Float(float) => Value::Float(float),
        TomlValue::Boolean(bool) => Value::Bool(bool),
        TomlValue::Datetime(date) => Value::from(date.to_string()),
        TomlValue::Array(items) => {
            Value::list(items.into_iter().map(|item| from_toml(item, meter)).collect::<Result<_, _>>()?)
        }
        TomlValue::Table(table) => return from_table(table, meter),
    })
}

fn toml_parse(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    parse(cx, args::str(args, 0)?)
}

fn toml_stringify(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let Value::Dict(entries) = plain(cx, &args[0], 0)? else { return Err(args::mismatch(args, 0, "a dict")) };
    let mut path = Vec::new();
    let table = to_table(&entries.dict, &mut path)?;
    let text = toml::to_string(&table)
        .map_err(|error| Raise::error(RunCode::Value, format!("cannot write TOML: {error}")).about(0, ""))?;
    cx.charge(text.len(), 4);
    cx.check_size(Some(text.len()))?;
    Ok(Value::from(text))
}

fn to_table(entries: &Dict, path: &mut Vec<String>) -> Result<Table, Box<Raise>> {
    let mut table = Table::new();
    for (key, value) in entries.iter() {
        path.push(key.to_string());
        table.insert(key.to_string(), to_toml(value, path)?);
        path.pop();
    }
    Ok(table)
}

fn to_toml(value: &Value, path: &mut Vec<String>) -> Result<TomlValue, Box<Raise>> {
    Ok(match value {
        Value::Bool(bool) => TomlValue::Boolean(*bool),
        Value::Int(int) => TomlValue::Integer(*int),
        Value::Float(float) => TomlValue::Float(*float),
        Value::Str(text) => TomlValue::String(text.to_string()),
        Value::List(items) => {
            TomlValue::Array(items.items.iter().map(|item| to_toml(item, path)).collect::<Result<_, _>>()?)
        }
        Value::Dict(entries) => TomlValue::Table(to_table(&entries.dict, path)?),
        other => {
            let place: Vec<&str> = path.iter().take(8).map(String::as_str).collect();
            let message = format!("TOML cannot hold {}: `{}`", article(other.type_name()), place.join("."));
            return Err(Raise::error(RunCode::Type, message).about(0, "").help("remove the key, or use another value"));
        }
    })
}
