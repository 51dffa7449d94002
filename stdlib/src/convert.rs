//! Values of the language and data of the core, into one another.

use crate::values::TranscriptValue;
use lang::value::article;
use lang::value::{Dict, Str, Value};
use lang::vm::{Raise, codes};
use runtime::data::Data;
use std::sync::Arc;

/// Data as a value.
pub(crate) fn to_value(data: &Data) -> Value {
    match data {
        Data::Nil => Value::Nil,
        Data::Bool(b) => Value::Bool(*b),
        Data::Int(i) => Value::Int(*i),
        Data::Float(f) => Value::Float(*f),
        Data::Str(s) => Value::str(s),
        Data::List(items) => Value::list(items.iter().map(to_value).collect()),
        Data::Dict(entries) => Value::dict(entries.iter().map(|(k, v)| (Str::new(k), to_value(v))).collect::<Dict>()),
    }
}

/// A value as data.
///
/// # Errors
/// Where it holds something that is no data: a closure, a stream. The message has the path to it.
pub(crate) fn to_data(value: &Value) -> Result<Data, Box<Raise>> {
    convert(value, &mut String::new(), 0, false)
}

/// A value as data with closures and the like left out, for those who only want to look at it.
pub(crate) fn to_data_lossy(value: &Value) -> Data {
    convert(value, &mut String::new(), 0, true).unwrap_or_default()
}

fn convert(value: &Value, path: &mut String, depth: usize, lossy: bool) -> Result<Data, Box<Raise>> {
    if depth > Data::MAX_DEPTH {
        return Err(Raise::error(
            codes::VALUE,
            format!("the value is nested more than {} levels deep", Data::MAX_DEPTH),
        ));
    }
    let list = |items: &[Value], path: &mut String| {
        let mut out = Vec::with_capacity(items.len());
        for (i, item) in items.iter().enumerate() {
            let len = path.len();
            path.push_str(&format!("[{i}]"));
            out.push(convert(item, path, depth + 1, lossy)?);
            path.truncate(len);
        }
        Ok::<_, Box<Raise>>(Data::from(out))
    };
    Ok(match value {
        Value::Nil | Value::Unbound => Data::Nil,
        Value::Bool(b) => Data::Bool(*b),
        Value::Int(i) => Data::Int(*i),
        Value::Float(f) => Data::Float(*f),
        Value::Str(s) => Data::Str(Arc::from(s.as_str())),
        Value::List(l) => list(&l.items, path)?,
        Value::Set(s) => list(s.items(), path)?,
        Value::Pair(p) => list(&[p.first.clone(), p.second.clone()], path)?,
        Value::Range(_) => list(&lang::builtins::elements(value).unwrap_or_default(), path)?,
        Value::Dict(d) => entries(d.dict.iter(), path, depth, lossy)?,
        Value::Struct(s) => entries(s.entries(), path, depth, lossy)?,
        Value::Host(h) => match h.downcast::<TranscriptValue>() {
            Some(t) => t.transcript.to_data(),
            None => match h.object().to_value() {
                Some(v) => convert(&v, path, depth + 1, lossy)?,
                None => return not_data(value, path, lossy),
            },
        },
        _ => return not_data(value, path, lossy),
    })
}

fn entries<'v>(
    items: impl Iterator<Item = (&'v Str, &'v Value)>,
    path: &mut String,
    depth: usize,
    lossy: bool,
) -> Result<Data, Box<Raise>> {
    let mut out = Vec::new();
    for (k, v) in items {
        let len = path.len();
        path.push('.');
        path.push_str(k);
        out.push((Arc::<str>::from(k.as_str()), convert(v, path, depth + 1, lossy)?));
        path.truncate(len);
    }
    Ok(Data::dict(out))
}

fn not_data(value: &Value, path: &str, lossy: bool) -> Result<Data, Box<Raise>> {
    if lossy {
        return Ok(Data::Nil);
    }
    let at = match path.strip_prefix('.').unwrap_or(path) {
        "" => String::new(),
        path => format!(" at `{path}`"),
    };
    let message = format!("{}{at} is no data and cannot leave the script", article(value.type_name()));
    Err(Raise::error(codes::TYPE, message))
}
