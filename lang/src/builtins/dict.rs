//! Methods of dicts.

use super::{Native, Step, args, statistics};
use crate::value::{Dict, DictBox, Str, Value};
use crate::vm::{Cx, Raise};
use std::borrow::Cow;
use std::rc::Rc;

crate::builtins! { "<dict>" =>
    /// Returns the keys, in order.
    ///
    /// ```harn
    /// {b: 1, a: 2}.keys() // => ["a", "b"]
    /// ```
    plain "keys(self: dict) -> list<string>" [pure] keys;
    /// Returns the values, in the order of their keys.
    ///
    /// ```harn
    /// {b: 1, a: 2}.values() // => [2, 1]
    /// ```
    plain "values(self: dict<string, V>) -> list<V>" [pure] values;
    /// Returns dicts `{key, value}`, in the order of the keys.
    ///
    /// ```harn
    /// {a: 1}.entries() // => [{key: "a", value: 1}]
    /// ```
    plain "entries(self: dict<string, V>) -> list<{key: string, value: V}>" [pure] entries;
    /// Returns the number of entries.
    ///
    /// ```harn
    /// {a: 1, b: 2}.count // => 2
    /// ```
    plain "count(self: dict) -> int" [pure, property] count;
    /// Whether there are none.
    plain "empty(self: dict) -> bool" [pure, property] empty;
    /// Returns whether there is such a key, whatever its value.
    ///
    /// ```harn
    /// {a: nil}.has("a") // => true
    /// ```
    plain "has(self: dict, key: string) -> bool" [pure] has;
    /// Returns the value of a key, or the fallback if the key is missing.
    ///
    /// ```harn
    /// {a: 1}.get("b", 0) // => 0
    /// ```
    plain "get(self: dict<string, V>, key: string, fallback: F = nil) -> V | F" [pure] get;
    /// Returns the dict with one key set.
    ///
    /// ```harn
    /// {a: 1}.set("b", 2) // => {a: 1, b: 2}
    /// ```
    plain "set(self: dict<string, V>, key: string, value: U) -> dict<string, V | U>" [pure] set;
    /// Does what `set` does.
    ///
    /// ```harn
    /// {a: 1}.with("b", 2) // => {a: 1, b: 2}
    /// ```
    plain "with(self: dict<string, V>, key: string, value: U) -> dict<string, V | U>" [pure] set;
    /// Returns the entries of both. If both have a key, the value of the other counts.
    ///
    /// ```harn
    /// {a: 1, b: 1}.merge({b: 2}) // => {a: 1, b: 2}
    /// ```
    plain "merge(self: dict<string, V>, other: dict<string, U>) -> dict<string, V | U>" [pure] merge;
    /// Returns the entries of both. Where both have a dict under a key, these are merged too; otherwise the other's value counts.
    ///
    /// ```harn
    /// {a: {x: 1, y: 2}}.deep_merge({a: {y: 3}}) // => {a: {x: 1, y: 3}}
    /// ```
    plain "deep_merge(self: dict, other: dict) -> dict" [pure] statistics::deep_merge;
    /// Returns the dict without these keys.
    ///
    /// ```harn
    /// {a: 1, b: 2}.remove("a") // => {b: 2}
    /// ```
    plain "remove(self: dict<string, V>, ...keys: string) -> dict<string, V>" [pure] remove;
    /// Returns the dict with the result of the function for each value.
    ///
    /// ```harn
    /// {a: 1}.map_values({ x -> x * 2 }) // => {a: 2}
    /// ```
    native "map_values(self: dict<string, V>, f: fn(V) -> U) -> dict<string, U>" MAP_VALUES;
    /// Does what `map_values` does; a function with two parameters gets the key and the value.
    ///
    /// ```harn
    /// {a: 1}.map({ key, x -> "${key}${x}" }) // => {a: "a1"}
    /// ```
    native "map(self: dict<string, V>, f: (fn(V) -> U) | fn(string, V) -> U) -> dict<string, U>" MAP;
    /// The entries for which the function returns something true. A function with one parameter gets the value, one with
    /// two the key and the value.
    ///
    /// ```harn
    /// {a: 1, b: 2}.filter({ x -> x > 1 }) // => {b: 2}
    /// ```
    native "filter(self: dict<string, V>, f: (fn(V) -> any) | fn(string, V) -> any) -> dict<string, V>" FILTER;
}

/// The entries of a dict, a struct, or a host value that reads like a dict.
fn read(args: &[Value], i: usize) -> Result<Cow<'_, Dict>, Box<Raise>> {
    let found = match args.get(i) {
        Some(Value::Dict(d)) => Some(Cow::Borrowed(&d.dict)),
        Some(Value::Struct(s)) => Some(Cow::Owned(s.to_dict())),
        Some(Value::Host(h)) => match h.object().to_value() {
            Some(Value::Dict(d)) => Some(Cow::Owned(d.dict.clone())),
            _ => None,
        },
        _ => None,
    };
    found.ok_or_else(|| args::mismatch(args, i, "a dict"))
}

/// The receiver, changed: in place where it is held once. It is taken, unless there is an error.
fn change(cx: &Cx<'_>, args: &mut [Value], how: impl FnOnce(&mut Dict)) -> Result<Value, Box<Raise>> {
    if let Value::Dict(dict) = &args[0]
        && Rc::strong_count(dict) > 1
    {
        cx.charge(dict.dict.len(), 1);
        cx.check_copy(dict.dict.len().saturating_mul(2 * size_of::<Value>()))?;
    }
    let mut dict = if let Value::Dict(_) = args[0] {
        std::mem::take(&mut args[0])
    } else {
        Value::dict(read(args, 0)?.into_owned())
    };
    if let Value::Dict(d) = &mut dict {
        how(&mut Rc::<DictBox>::make_mut(d).dict);
    }
    Ok(dict)
}

pub(super) fn keys(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let dict = read(args, 0)?;
    cx.charge(dict.len(), 1);
    Ok(Value::list(dict.iter().map(|(k, _)| Value::Str(k.clone())).collect()))
}

pub(super) fn values(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let dict = read(args, 0)?;
    cx.charge(dict.len(), 1);
    Ok(Value::list(dict.iter().map(|(_, v)| v.clone()).collect()))
}

pub(super) fn entries(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    // The names of the run's own code, so that reading `.key` finds them at the first look.
    let (key, value) = (cx.isolate.intern("key"), cx.isolate.intern("value"));
    let entry = |(k, v): (&Str, &Value)| {
        let mut entry = Dict::with_capacity(2);
        entry.insert(key.clone(), Value::Str(k.clone()));
        entry.insert(value.clone(), v.clone());
        Value::dict(entry)
    };
    let dict = read(args, 0)?;
    cx.charge(dict.len(), 8);
    Ok(Value::list(dict.iter().map(entry).collect()))
}

fn count(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(Value::from(read(args, 0)?.len()))
}

fn empty(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(Value::Bool(read(args, 0)?.is_empty()))
}

pub(super) fn has(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let key = args::str(args, 1)?;
    if let Value::Host(h) = &args[0] {
        return Ok(Value::Bool(h.object().get(key).is_some()));
    }
    Ok(Value::Bool(read(args, 0)?.contains(key)))
}

fn get(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let key = args::str(args, 1)?;
    let found = match &args[0] {
        Value::Host(h) => h.object().get(key),
        _ => read(args, 0)?.get(key).cloned(),
    };
    Ok(found.unwrap_or_else(|| std::mem::take(&mut args[2])))
}

fn set(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let key = args::str(args, 1)?.clone();
    let value = args[2].clone();
    change(cx, args, |dict| {
        dict.insert(key, value);
    })
}

fn merge(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let other = read(args, 1)?.into_owned();
    cx.charge(other.len(), 2);
    change(cx, args, |dict| {
        for (k, v) in other.iter() {
            dict.insert(k.clone(), v.clone());
        }
    })
}

fn remove(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let keys = (1..args.len()).map(|i| args::str(args, i).cloned()).collect::<Result<Vec<_>, _>>()?;
    change(cx, args, |dict| {
        for key in &keys {
            dict.remove(key);
        }
    })
}

// Registers of a walk over a dict: the arguments, then index, accumulator and keys, then the call's own.
const DICT: usize = 0;
const FUNCTION: usize = 1;
const INDEX: usize = 2;
const ACC: usize = 3;
const KEYS: usize = 4;
const CALL: usize = 5;

static MAP_VALUES: &Native = &Native {
    enter: |_, regs| start(regs, false),
    resume: |_, regs, answer| Ok(resume(regs, false, |_| Some(answer))),
    item: super::no_item,
    slots: 5,
};

static MAP: &Native = &Native {
    enter: |_, regs| start(regs, takes_key(regs)),
    resume: |_, regs, answer| {
        let with_key = takes_key(regs);
        Ok(resume(regs, with_key, |_| Some(answer)))
    },
    item: super::no_item,
    slots: 5,
};

static FILTER: &Native = &Native {
    enter: |_, regs| start(regs, takes_key(regs)),
    resume: |_, regs, answer| {
        let with_key = takes_key(regs);
        Ok(resume(regs, with_key, |value| answer.truthy().then_some(value)))
    },
    item: super::no_item,
    slots: 5,
};

/// Whether the function takes the key before the value: it has more than one parameter.
fn takes_key(regs: &[Value]) -> bool {
    match &regs[FUNCTION] {
        Value::Closure(closure) => closure.proto.params > 1 || closure.proto.rest,
        Value::Builtin(row) => row.arity.max > 1,
        Value::Host(host) => {
            host.object().callable().is_some_and(|function| function.parameters().is_none_or(|count| count > 1))
        }
        _ => false,
    }
}

fn start(regs: &mut [Value], with_key: bool) -> Result<Step, Box<Raise>> {
    args::function(regs, FUNCTION)?;
    let dict = read(regs, DICT)?;
    regs[KEYS] = Value::list(dict.iter().map(|(k, _)| Value::Str(k.clone())).collect());
    if !matches!(regs[DICT], Value::Dict(_)) {
        regs[DICT] = Value::dict(read(regs, DICT)?.into_owned());
    }
    regs[INDEX] = Value::Int(0);
    regs[ACC] = Value::dict(Dict::new());
    Ok(next(regs, with_key))
}

/// The entry that the walk is at.
fn entry(regs: &[Value]) -> Option<(Str, Value)> {
    let at = usize::try_from(regs[INDEX].as_int()?).ok()?;
    let Value::Str(key) = regs[KEYS].as_list()?.get(at)? else { return None };
    Some((key.clone(), regs[DICT].as_dict()?.get(key)?.clone()))
}

fn next(regs: &mut [Value], with_key: bool) -> Step {
    let Some((key, value)) = entry(regs) else { return Step::Return(std::mem::take(&mut regs[ACC])) };
    if with_key {
        regs[CALL] = Value::Str(key);
        regs[CALL + 1] = value;
        return Step::Call { callee: FUNCTION, args: CALL, argc: 2 };
    }
    regs[CALL] = value;
    Step::Call { callee: FUNCTION, args: CALL, argc: 1 }
}

fn resume(regs: &mut [Value], with_key: bool, keep: impl FnOnce(Value) -> Option<Value>) -> Step {
    if let Some((key, value)) = entry(regs)
        && let Some(value) = keep(value)
        && let Value::Dict(acc) = &mut regs[ACC]
    {
        Rc::<DictBox>::make_mut(acc).dict.insert(key, value);
    }
    if let Value::Int(index) = &mut regs[INDEX] {
        *index += 1;
    }
    next(regs, with_key)
}
