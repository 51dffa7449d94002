//! TOML.

use super::plain::plain;
use crate::structured_text::toml_table;
use lang::builtins::args;
use lang::value::{Dict, Value, article};
use lang::vm::{Cx, Raise, RunCode};
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

fn toml_parse(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    toml_table(cx, args::str(args, 0)?)
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
