//! What patterns ask and take.

use super::Test;
use crate::value::{Dict, Str, Value};

/// Whether `value` fits.
pub(super) fn fits(test: &Test, value: &Value) -> bool {
    match (test, value) {
        (Test::List { len, rest }, Value::List(l)) => l.items.len() == *len || (*rest && l.items.len() > *len),
        (Test::Keys { name: None, keys }, Value::Dict(d)) => keys.iter().all(|k| d.dict.contains(k)),
        (Test::Keys { name, keys }, Value::Struct(s)) => {
            name.as_ref().is_none_or(|n| *n == s.def.name) && keys.iter().all(|k| s.def.fields.contains(k))
        }
        (Test::Keys { name: None, keys }, Value::Host(h)) => keys.iter().all(|k| h.object().get(k).is_some()),
        (Test::Variant { name, variant, args }, Value::Variant(v)) => {
            name.as_ref().is_none_or(|n| *n == v.def.name) && v.name() == variant.as_str() && v.fields.len() == *args
        }
        _ => false,
    }
}

/// Whether `value` has the type of that name.
pub(super) fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "any" | "unknown" => true,
        "dict" => matches!(value, Value::Dict(_)),
        "float" => matches!(value, Value::Float(_) | Value::Int(_)),
        "fn" | "function" => value.is_callable(),
        _ => value.type_name() == name,
    }
}

/// Element `index` of a list, nil when there is none.
pub(super) fn item(value: &Value, index: usize) -> Value {
    match value {
        Value::List(l) => l.items.get(index).cloned().unwrap_or_default(),
        Value::Host(h) => i64::try_from(index).ok().and_then(|i| h.object().at(i)).unwrap_or_default(),
        _ => Value::Nil,
    }
}

/// The elements of a list from `index` on.
pub(super) fn items_from(value: &Value, index: usize) -> Value {
    Value::list(value.as_list().and_then(|l| l.get(index..)).unwrap_or(&[]).to_vec())
}

/// The value of a key, nil when it is absent.
pub(super) fn key(value: &Value, name: &Str) -> Value {
    match value {
        Value::Dict(d) => d.dict.get(name).cloned().unwrap_or_default(),
        Value::Struct(s) => s.get(name).cloned().unwrap_or_default(),
        Value::Host(h) => h.object().get(name).unwrap_or_default(),
        _ => Value::Nil,
    }
}

/// All entries but those of `keys`.
pub(super) fn keys_but(value: &Value, keys: &[Str]) -> Value {
    let whole = match value {
        Value::Host(h) => h.object().to_value().unwrap_or_default(),
        other => other.clone(),
    };
    let rest: Dict = match &whole {
        Value::Dict(d) => {
            d.dict.iter().filter(|(k, _)| !keys.contains(k)).map(|(k, v)| (k.clone(), v.clone())).collect()
        }
        Value::Struct(s) => s
            .def
            .fields
            .iter()
            .zip(&s.fields)
            .filter(|(k, _)| !keys.contains(k))
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect(),
        _ => Dict::new(),
    };
    Value::dict(rest)
}

/// Value `index` of a variant or pair.
pub(super) fn part(value: &Value, index: usize) -> Value {
    match value {
        Value::Variant(v) => v.fields.get(index).cloned().unwrap_or_default(),
        Value::Pair(p) if index == 0 => p.first.clone(),
        Value::Pair(p) => p.second.clone(),
        _ => Value::Nil,
    }
}
