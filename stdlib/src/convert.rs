//! Values of the language and data of the core, into one another.

use crate::values::TranscriptValue;
use lang::value::article;
use lang::value::{Dict, Str, Value};
use lang::vm::{Raise, codes};
use runtime::data::{Data, Entries};
use std::sync::Arc;

mod keys;

pub(crate) use keys::of_value as key;

/// Data as a value.
pub(crate) fn to_value(data: &Data) -> Value {
    match data {
        Data::Nil => Value::Nil,
        Data::Bool(b) => Value::Bool(*b),
        Data::Int(i) => Value::Int(*i),
        Data::Float(f) => Value::Float(*f),
        Data::Str(s) => Value::str(s),
        Data::List(items) => Value::list(items.iter().map(to_value).collect()),
        Data::Dict(entries) => Value::dict(entries.iter().map(|(k, v)| (key(k), to_value(v))).collect::<Dict>()),
    }
}

/// A value as data.
///
/// # Errors
/// Where it holds something that is no data: a closure, a stream. The message has the path to it.
pub(crate) fn to_data(value: &Value) -> Result<Data, Box<Raise>> {
    convert(value, 0, false).map_err(|flaw| flaw.raise())
}

/// A value as data with closures and the like left out, for those who only want to look at it.
pub(crate) fn to_data_lossy(value: &Value) -> Data {
    convert(value, 0, true).unwrap_or_default()
}

/// Why a value is no data. The path to it is put together on the way out, so that nobody pays for it where all is well.
struct Flaw {
    /// The type of what is none; nothing where it is nested too deep.
    found: Option<String>,
    path: String,
}

impl Flaw {
    fn within(mut self: Box<Self>, step: impl FnOnce() -> String) -> Box<Self> {
        if self.found.is_some() {
            self.path.insert_str(0, &step());
        }
        self
    }

    fn raise(&self) -> Box<Raise> {
        let Some(found) = &self.found else {
            let message = format!("the value is nested more than {} levels deep", Data::MAX_DEPTH);
            return Raise::error(codes::VALUE, message);
        };
        let at = match self.path.strip_prefix('.').unwrap_or(&self.path) {
            "" => String::new(),
            path => format!(" at `{path}`"),
        };
        let message = format!("{}{at} is no data and cannot leave the script", article(found));
        Raise::error(codes::TYPE, message)
    }
}

fn convert(value: &Value, depth: usize, lossy: bool) -> Result<Data, Box<Flaw>> {
    if depth > Data::MAX_DEPTH {
        return Err(Box::new(Flaw { found: None, path: String::new() }));
    }
    let list = |items: &[Value]| {
        let item = |(i, item)| convert(item, depth + 1, lossy).map_err(|flaw| flaw.within(|| format!("[{i}]")));
        items.iter().enumerate().map(item).collect::<Result<Vec<_>, _>>().map(Data::from)
    };
    match value {
        Value::Nil | Value::Unbound => Ok(Data::Nil),
        Value::Bool(b) => Ok(Data::Bool(*b)),
        Value::Int(i) => Ok(Data::Int(*i)),
        Value::Float(f) => Ok(Data::Float(*f)),
        Value::Str(s) => Ok(Data::Str(Arc::from(s.as_str()))),
        Value::List(l) => list(&l.items),
        Value::Set(s) => list(s.items()),
        Value::Pair(p) => list(&[p.first.clone(), p.second.clone()]),
        Value::Range(_) => list(&lang::builtins::elements(value).unwrap_or_default()),
        Value::Dict(d) => entries(d.dict.iter(), depth, lossy),
        Value::Struct(s) => entries(s.entries(), depth, lossy),
        Value::Host(h) => match h.downcast::<TranscriptValue>() {
            Some(t) => Ok(t.transcript.to_data()),
            None => match h.object().to_value() {
                Some(v) => convert(&v, depth + 1, lossy),
                None => not_data(value, lossy),
            },
        },
        _ => not_data(value, lossy),
    }
}

fn entries<'v>(
    items: impl ExactSizeIterator<Item = (&'v Str, &'v Value)>,
    depth: usize,
    lossy: bool,
) -> Result<Data, Box<Flaw>> {
    let count = items.len();
    let mut items = items.map(|(k, v)| -> Result<_, Box<Flaw>> {
        let v = convert(v, depth + 1, lossy).map_err(|flaw| flaw.within(|| format!(".{k}")))?;
        Ok((keys::of_data(k), v))
    });
    // Few are put in one by one; more are laid out at once.
    if count > Entries::FEW {
        let all = items.collect::<Result<Vec<_>, _>>()?;
        return Ok(Data::from(all.into_iter().collect::<Entries>()));
    }
    let mut few = Entries::with_capacity(count);
    items.try_for_each(|item| item.map(|(k, v)| drop(few.insert(k, v))))?;
    Ok(Data::from(few))
}

fn not_data(value: &Value, lossy: bool) -> Result<Data, Box<Flaw>> {
    if lossy {
        return Ok(Data::Nil);
    }
    Err(Box::new(Flaw { found: Some(value.type_name().to_owned()), path: String::new() }))
}
