//! Changes of JSON by its structure: fields that are missing, repeated, or have another type.

use crate::random::Random;
use serde_json::{Map, Value, json};

/// Values in place of others.
fn edge(random: &mut Random) -> Value {
    match random.below(16) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(i64::MAX),
        3 => json!(i64::MIN),
        4 => json!(u64::MAX),
        5 => json!(-1),
        6 => json!(0.5),
        7 => json!(1.0e308),
        8 => json!(""),
        9 => json!("x".repeat(5_000)),
        10 => json!("\u{202e}\u{0}\n\u{1f600}"),
        11 => json!([]),
        12 => json!({}),
        13 => json!([[[null]]]),
        14 => (0..[5, 100, 1_000][random.below(3)]).fold(json!(1), |inner, _| json!([inner])),
        _ => (0..[5, 100, 1_000][random.below(3)]).fold(json!(1), |inner, _| json!({"a": inner})),
    }
}

/// Returns how many values there are, nested ones too.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

/// Returns the value with a number, in the order of the text.
fn nth<'v>(value: &'v Value, number: &mut usize) -> Option<&'v Value> {
    if *number == 0 {
        return Some(value);
    }
    *number -= 1;
    match value {
        Value::Array(items) => items.iter().find_map(|item| nth(item, number)),
        Value::Object(fields) => fields.values().find_map(|field| nth(field, number)),
        _ => None,
    }
}

/// Returns the same value, to change it.
fn nth_mut<'v>(value: &'v mut Value, number: &mut usize) -> Option<&'v mut Value> {
    if *number == 0 {
        return Some(value);
    }
    *number -= 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| nth_mut(item, number)),
        Value::Object(fields) => fields.values_mut().find_map(|field| nth_mut(field, number)),
        _ => None,
    }
}

/// Makes one change. `donor` is another document.
pub(crate) fn changed(random: &mut Random, value: &mut Value, donor: &Value) {
    let mut number = random.below(count(value));
    let mut theirs = random.below(count(donor));
    let other = nth(donor, &mut theirs).cloned().unwrap_or_default();
    let Some(place) = nth_mut(value, &mut number) else { return };
    match (random.below(6), place) {
        (0 | 1, Value::Object(fields)) if !fields.is_empty() => field_changed(random, fields, other),
        (0 | 1, Value::Array(items)) if !items.is_empty() => {
            let at = random.below(items.len());
            match random.below(3) {
                0 => drop(items.remove(at)),
                1 => items.push(items[at].clone()),
                _ => items.insert(at, other),
            }
        }
        (0 | 1, Value::String(text)) => text.push_str(["", "x", "\u{0}", "/../..", "é"][random.below(5)]),
        (2, place) => *place = other,
        (_, place) => *place = edge(random),
    }
}

fn field_changed(random: &mut Random, fields: &mut Map<String, Value>, other: Value) {
    let key = fields.keys().nth(random.below(fields.len())).cloned().unwrap_or_default();
    match random.below(4) {
        0 | 1 => drop(fields.remove(&key)),
        2 => {
            let value = fields.remove(&key).unwrap_or_default();
            fields.insert(format!("{key}_"), value);
        }
        _ => drop(fields.insert("unknown".to_owned(), other)),
    }
}
