//! Values of the run and of Rhai, into one another. Lists and dicts are converted whole when they cross, with lists of work
//! in place of recursion; what Rhai has no type for crosses as it is.

use super::RhaiFrontEnd;
use super::function::{RhaiFunction, pointer_of};
use super::value::Opaque;
use lang::value::{Dict, HostBox, Range, Str, Value};
use lang::vm::{Meter, Raise, RunCode};
use rhai::{Array, Blob, Dynamic, FnPtr, ImmutableString, Map, NativeCallContext};
use std::any::TypeId;
use std::rc::Rc;

/// The origin of closures that are converted: the data needed to call them later.
#[derive(Clone, Copy)]
pub(crate) struct ConversionContext<'a> {
    pub(crate) front_end: &'a Rc<RhaiFrontEnd>,
    pub(crate) context: &'a NativeCallContext<'a>,
}

enum ToValue {
    Convert(Dynamic),
    /// A list of the last so many values.
    List(usize),
    /// A dict of these keys and the last values.
    Dict(Vec<Str>),
}

/// A value of Rhai as one of the run.
///
/// # Errors
/// Fails if the value contains something that cannot leave Rhai.
pub(crate) fn to_value(dynamic: Dynamic, from: ConversionContext<'_>) -> Result<Value, Box<Raise>> {
    let dynamic = match simple_value(dynamic, from)? {
        Ok(value) => return Ok(value),
        Err(collection) => collection,
    };
    let mut work = vec![ToValue::Convert(dynamic)];
    let mut done: Vec<Value> = Vec::new();
    while let Some(next) = work.pop() {
        match next {
            ToValue::Convert(dynamic) => match simple_value(dynamic, from)? {
                Ok(value) => done.push(value),
                Err(collection) if collection.is_array() => {
                    let items = collection.into_array().unwrap_or_default();
                    work.push(ToValue::List(items.len()));
                    work.extend(items.into_iter().rev().map(ToValue::Convert));
                }
                Err(collection) => {
                    let map: Map = collection.try_cast().unwrap_or_default();
                    let (keys, items): (Vec<Str>, Vec<Dynamic>) =
                        map.into_iter().map(|(key, item)| (Str::new(&key), item)).unzip();
                    work.push(ToValue::Dict(keys));
                    work.extend(items.into_iter().rev().map(ToValue::Convert));
                }
            },
            ToValue::List(len) => {
                let items = done.split_off(done.len().saturating_sub(len));
                done.push(Value::list(items));
            }
            ToValue::Dict(keys) => {
                let items = done.split_off(done.len().saturating_sub(keys.len()));
                done.push(Value::dict(keys.into_iter().zip(items).collect::<Dict>()));
            }
        }
    }
    Ok(done.pop().unwrap_or_default())
}

/// Converts everything except arrays and maps, which are returned unchanged.
fn simple_value(dynamic: Dynamic, from: ConversionContext<'_>) -> Result<Result<Value, Dynamic>, Box<Raise>> {
    let dynamic = dynamic.flatten();
    let id = dynamic.type_id();
    let value = if id == TypeId::of::<()>() {
        Value::Nil
    } else if id == TypeId::of::<ImmutableString>() {
        dynamic.into_immutable_string().map_or(Value::Nil, |text| Value::str(&text))
    } else if id == TypeId::of::<i64>() {
        Value::Int(dynamic.as_int().unwrap_or_default())
    } else if id == TypeId::of::<bool>() {
        Value::Bool(dynamic.as_bool().unwrap_or_default())
    } else if id == TypeId::of::<f64>() {
        Value::Float(dynamic.as_float().unwrap_or_default())
    } else if id == TypeId::of::<Array>() || id == TypeId::of::<Map>() {
        return Ok(Err(dynamic));
    } else if id == TypeId::of::<Opaque>() {
        dynamic.cast::<Opaque>().into_value()
    } else if id == TypeId::of::<FnPtr>() {
        RhaiFunction::value(dynamic.cast::<FnPtr>(), from)
    } else if id == TypeId::of::<Blob>() {
        Value::Bytes(Rc::new(dynamic.into_blob().unwrap_or_default()))
    } else if id == TypeId::of::<char>() {
        Value::str(dynamic.as_char().unwrap_or_default().encode_utf8(&mut [0; 4]))
    } else if id == TypeId::of::<std::ops::Range<i64>>() {
        let range = dynamic.cast::<std::ops::Range<i64>>();
        Value::Range(Rc::new(Range { from: range.start, to: range.end, exclusive: true }))
    } else if id == TypeId::of::<std::ops::RangeInclusive<i64>>() {
        let range = dynamic.cast::<std::ops::RangeInclusive<i64>>();
        Value::Range(Rc::new(Range { from: *range.start(), to: *range.end(), exclusive: false }))
    } else {
        let name = from.context.engine().map_type_name(dynamic.type_name());
        return Err(Raise::error(
            RunCode::Type,
            format!(
                "a Rhai value of type `{name}` cannot be converted to a \
            Harn value"
            ),
        )
        .help("convert it to a string or a number first"));
    };
    Ok(Ok(value))
}

/// The maximum depth of values that become arrays and maps; deeper ones stay values of the run,
/// since Rhai copies, compares and drops by recursion.
const DEPTH: usize = 1_000;

enum ToDynamic {
    /// A value with its depth.
    Convert(Value, usize),
    Array(usize),
    Map(Vec<Str>),
}

/// A value of the run as one of Rhai.
pub(crate) fn to_dynamic(value: Value, front_end: &Rc<RhaiFrontEnd>) -> Dynamic {
    let value = match simple_dynamic(value, front_end) {
        Ok(dynamic) => return dynamic,
        Err(collection) => collection,
    };
    let mut work = vec![ToDynamic::Convert(value, 0)];
    let mut done: Vec<Dynamic> = Vec::new();
    let mut meter = Meter::start();
    while let Some(next) = work.pop() {
        // The machine raises why.
        if meter.step().is_err() {
            return Dynamic::UNIT;
        }
        match next {
            ToDynamic::Convert(value, level) => match simple_dynamic(value, front_end) {
                Ok(dynamic) => done.push(dynamic),
                Err(deep) if level >= DEPTH => done.push(Dynamic::from(Opaque::new(deep))),
                Err(Value::List(list)) => {
                    work.push(ToDynamic::Array(list.items.len()));
                    work.extend(list.items.iter().rev().map(|item| ToDynamic::Convert(item.clone(), level + 1)));
                }
                Err(Value::Dict(dict)) => {
                    let entries: Vec<_> = dict.dict.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
                    let (keys, items): (Vec<Str>, Vec<Value>) = entries.into_iter().unzip();
                    work.push(ToDynamic::Map(keys));
                    work.extend(items.into_iter().rev().map(|item| ToDynamic::Convert(item, level + 1)));
                }
                Err(other) => done.push(Dynamic::from(Opaque::new(other))),
            },
            ToDynamic::Array(len) => {
                let items: Array = done.split_off(done.len().saturating_sub(len));
                done.push(items.into());
            }
            ToDynamic::Map(keys) => {
                let items = done.split_off(done.len().saturating_sub(keys.len()));
                let map: Map = keys.iter().map(|key| key.as_str().into()).zip(items).collect();
                done.push(map.into());
            }
        }
    }
    done.pop().unwrap_or_default()
}

/// Converts everything except lists and dicts, which are returned unchanged.
fn simple_dynamic(value: Value, front_end: &Rc<RhaiFrontEnd>) -> Result<Dynamic, Value> {
    Ok(match value {
        Value::Nil | Value::Unbound => Dynamic::UNIT,
        Value::Bool(b) => b.into(),
        Value::Int(i) => i.into(),
        Value::Float(f) => f.into(),
        Value::Str(s) => s.as_str().into(),
        Value::Bytes(b) => Dynamic::from_blob(b.as_ref().clone()),
        Value::List(_) | Value::Dict(_) => return Err(value),
        other if other.is_callable() => match own_pointer(&other) {
            Some(pointer) => pointer.into(),
            None => pointer_of(other, front_end),
        },
        other => Dynamic::from(Opaque::new(other)),
    })
}

/// The pointer that a function of the run was made of.
fn own_pointer(value: &Value) -> Option<FnPtr> {
    let Value::Host(host) = value else { return None };
    HostBox::downcast::<RhaiFunction>(host)?.pointer()
}
