//! Tests and bindings of patterns.

use super::call::with_article;
use super::{FieldSite, Raise, RunCode, Test, access};
use crate::value::meter::{charge_copy, copied};
use crate::value::{Dict, Str, Value};
use std::rc::Rc;

/// Whether `value` fits.
pub(super) fn fits(test: &Test, value: &Value) -> bool {
    match (test, value) {
        (Test::List { len, rest }, Value::List(l)) => l.items.len() == *len || (*rest && l.items.len() > *len),
        (Test::Keys(keys), Value::Dict(d)) => keys.iter().all(|k| d.dict.contains(k)),
        (Test::Keys(keys), Value::Struct(s)) => keys.iter().all(|k| s.def().position(k).is_some()),
        (Test::Keys(keys), Value::Host(h)) => {
            h.object().matched();
            keys.iter().all(|k| h.object().get(k).is_some())
        }
        (Test::Struct(def), Value::Struct(s)) => Rc::ptr_eq(def, s.def()),
        (Test::Variant(def, tag), Value::Variant(v)) => v.tag() == *tag && Rc::ptr_eq(def, v.def()),
        _ => false,
    }
}

/// Element `index` of a list, nil when there is none.
pub(super) fn item(value: &Value, index: usize) -> Result<Value, Box<Raise>> {
    let found = match value {
        Value::List(l) => l.items.get(index).cloned(),
        Value::Host(h) => i64::try_from(index).ok().and_then(|i| h.object().at(i)),
        _ => {
            return Err(no_part(value, "a list", "convert another collection with `to_list()`"));
        }
    };
    Ok(found.unwrap_or_default())
}

/// The elements of a list from `index` on.
pub(super) fn items_from(value: &Value, index: usize) -> Result<Value, Box<Raise>> {
    item(value, index)?;
    Ok(Value::list(copied(value.as_list().and_then(|l| l.get(index..)).unwrap_or(&[]))))
}

/// The value of a key, nil when it is absent.
pub(super) fn key(value: &Value, site: &FieldSite) -> Result<Value, Box<Raise>> {
    let found = match value {
        Value::Dict(d) => d.dict.get(&site.name).cloned(),
        Value::Struct(s) => access::slot(s, site).and_then(|at| s.values().get(at)).cloned(),
        Value::Host(h) => h.object().get(&site.name),
        _ => return Err(no_part(value, "a dict", "use `{a, b}` only for dicts and structs")),
    };
    Ok(found.unwrap_or_default())
}

/// All entries but those of `keys`.
pub(super) fn keys_but(value: &Value, keys: &[Str]) -> Result<Value, Box<Raise>> {
    let whole = match value {
        Value::Host(h) => h.object().to_value().unwrap_or_default(),
        other => other.clone(),
    };
    let others = |(k, _): &(&Str, &Value)| !keys.contains(k);
    let copy = |(k, v): (&Str, &Value)| (k.clone(), v.clone());
    let rest: Dict = match &whole {
        Value::Dict(d) => {
            charge_copy(d.dict.len());
            d.dict.iter().filter(others).map(copy).collect()
        }
        Value::Struct(s) => s.entries().filter(others).map(copy).collect(),
        _ => return Err(no_part(value, "a dict", "use `{a, ...rest}` only for dicts and structs")),
    };
    Ok(Value::dict(rest))
}

/// One side of a pair.
pub(super) fn part(value: &Value, index: usize) -> Result<Value, Box<Raise>> {
    match value {
        Value::Pair(p) if index == 0 => Ok(p.first.clone()),
        Value::Pair(p) => Ok(p.second.clone()),
        _ => Err(no_part(value, "a pair", "use `(a, b)` for pairs, `[a, b]` for lists and `{key, value}` for entries")),
    }
}

/// A pattern that binds, given a value of another kind.
fn no_part(value: &Value, wanted: &str, help: &str) -> Box<Raise> {
    let message = format!("pattern expects {wanted}, found {}", with_article(value));
    Raise::error(RunCode::Type, message).help(help)
}
