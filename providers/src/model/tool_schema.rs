//! The schema of a tool's parameters in the form that vendors take. Arguments are always checked against the tool's own
//! schema, so a form that allows more is enough.

use std::borrow::Cow;
use std::sync::Arc;

use runtime::data::Data;
use runtime::message::{ToolCall, ToolSpec};
use serde_json::{Map, Value, json};

/// The keywords that vendors refuse at the top of a schema: Anthropic the first three, OpenAI all of them.
const COMBINATORS: [&str; 3] = ["anyOf", "oneOf", "allOf"];
const REFUSED: [&str; 5] = ["anyOf", "oneOf", "allOf", "enum", "not"];

/// The maximum length of a property's name (Anthropic).
const MAX_KEY: usize = 64;

/// Number of references to definitions that are followed one after the other.
const MAX_REFS: usize = 16;

/// Returns a tool's parameters as the object schema that every vendor demands: its type is `object`, and alternatives at its
/// top are merged into one list of properties, of which those are required that all alternatives require.
pub(super) fn object_schema(parameters: &Data) -> Value {
    let Value::Object(schema) = Value::from(parameters) else { return json!({"type": "object", "properties": {}}) };
    let mut merged = merged(&schema, &schema, 0);
    merged.insert("type".to_owned(), "object".into());
    merged.entry("properties").or_insert_with(|| json!({}));
    Value::Object(merged)
}

/// Returns a schema whose alternatives are merged. `whole` has the definitions.
fn merged(schema: &Map<String, Value>, whole: &Map<String, Value>, refs: usize) -> Map<String, Value> {
    let mut own = schema.clone();
    let target = own.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix("#/"));
    let target = target.filter(|_| refs < MAX_REFS).and_then(|path| {
        let mut keys = path.split('/');
        let first = whole.get(keys.next()?)?;
        keys.try_fold(first, |at, key| at.get(key))
    });
    if let Some(Value::Object(target)) = target {
        let mut found = merged(target, whole, refs + 1);
        own.remove("$ref");
        found.extend(own);
        own = found;
    }
    for word in COMBINATORS {
        let Some(Value::Array(parts)) = own.remove(word) else { continue };
        let parts: Vec<Map<String, Value>> =
            parts.iter().filter_map(Value::as_object).map(|part| merged(part, whole, refs + 1)).collect();
        let required_by = |part: &Map<String, Value>| -> Vec<String> {
            let names = part.get("required").and_then(Value::as_array).into_iter().flatten();
            names.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let mut required = required_by(&own);
        let of_parts: Vec<Vec<String>> = parts.iter().map(required_by).collect();
        let counts = |name: &String| word == "allOf" || of_parts.iter().all(|names| names.contains(name));
        for name in of_parts.iter().flatten().filter(|name| counts(name)) {
            if !required.contains(name) {
                required.push(name.clone());
            }
        }
        if !required.is_empty() {
            own.insert("required".to_owned(), required.into());
        }
        let properties = own.entry("properties").or_insert_with(|| json!({}));
        for part in parts {
            let Some(Value::Object(more)) = part.get("properties") else { continue };
            for (name, property) in more {
                if let Some(properties) = properties.as_object_mut() {
                    properties.entry(name.clone()).or_insert_with(|| property.clone());
                }
            }
        }
        if word != "allOf" {
            // What one alternative forbids, another may allow.
            own.remove("additionalProperties");
        }
    }
    for word in REFUSED {
        own.remove(word);
    }
    own
}

/// Renames the properties of a schema whose names the vendor does not take (Anthropic: letters, digits, `_`, `.` and `-`, at
/// most 64).
pub(super) fn with_wire_keys(mut schema: Value) -> Value {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        let renamed = std::mem::take(properties).into_iter();
        *properties =
            renamed.map(|(name, property)| (wire_key(&name).into_owned(), with_wire_keys(property))).collect();
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        for name in required {
            if let Some(renamed) = name.as_str().map(|name| wire_key(name).into_owned()) {
                *name = renamed.into();
            }
        }
    }
    if let Some(items) = schema.get_mut("items") {
        *items = with_wire_keys(items.take());
    }
    schema
}

/// Returns the name of a property as the vendor takes it. A digest keeps different names different.
fn wire_key(name: &str) -> Cow<'_, str> {
    const DIGEST: usize = 8;
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    if !name.is_empty() && name.len() <= MAX_KEY && name.chars().all(fits) {
        return Cow::Borrowed(name);
    }
    let legible = name.chars().map(|c| if fits(c) { c } else { '_' }).take(MAX_KEY - DIGEST - 1).collect::<String>();
    format!("{legible}_{}", &crate::recording::digest_of(name.as_bytes())[..DIGEST]).into()
}

/// Gives the arguments of a call the names that its tool has for them.
pub(super) fn rename_back(call: &mut ToolCall, tools: &[ToolSpec]) {
    let Some(tool) = tools.iter().find(|tool| tool.name == call.name) else { return };
    let schema = Data::from(object_schema(&tool.parameters));
    if let Some(renamed) = own_names(&call.arguments, &schema) {
        call.arguments = renamed;
    }
}

/// Returns a value with the names of its schema; `None` if it has them already.
fn own_names(value: &Data, schema: &Data) -> Option<Data> {
    if let (Data::List(items), false) = (value, schema.get("items").is_nil()) {
        let renamed: Vec<Option<Data>> = items.iter().map(|item| own_names(item, schema.get("items"))).collect();
        return renamed.iter().any(Option::is_some).then(|| {
            let items = renamed.into_iter().zip(items.iter());
            Data::list(items.map(|(renamed, item)| renamed.unwrap_or_else(|| item.clone())))
        });
    }
    let (entries, properties) = value.as_dict().zip(schema.get("properties").as_dict())?;
    let mut is_changed = false;
    let renamed: Vec<_> = entries
        .iter()
        .map(|(key, value)| {
            let own = properties.iter().find(|(name, _)| *wire_key(name) == **key);
            let Some((name, property)) = own else { return (key.clone(), value.clone()) };
            let below = own_names(value, property);
            is_changed |= name != key || below.is_some();
            (name.clone(), below.unwrap_or_else(|| value.clone()))
        })
        .collect();
    is_changed.then(|| Data::Dict(Arc::new(renamed.into_iter().collect())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(schema: Value) -> Value {
        object_schema(&Data::from(schema))
    }

    #[test]
    fn alternatives_at_the_top_become_one_list_of_properties() {
        let text = json!({"type": "string"});
        let attach = json!({
            "type": "object", "properties": {"content": text, "url": text},
            "anyOf": [{"required": ["content"]}, {"required": ["url"]}],
        });
        assert_eq!(fitted(attach), json!({"type": "object", "properties": {"content": text, "url": text}}));
        let upload = json!({"oneOf": [
            {"properties": {"text": text, "to": text}, "required": ["text", "to"], "additionalProperties": false},
            {"properties": {"path": text, "to": text}, "required": ["path", "to"]},
        ], "additionalProperties": false});
        assert_eq!(
            fitted(upload),
            json!({"type": "object", "properties": {"text": text, "to": text, "path": text}, "required": ["to"]})
        );
        let both = json!({"allOf": [
            {"properties": {"a": text}, "required": ["a"]}, {"$ref": "#/$defs/b"},
        ], "$defs": {"b": {"properties": {"b": text}, "required": ["b"]}}});
        let both = fitted(both);
        assert_eq!(both["required"], json!(["a", "b"]));
        assert_eq!(both["properties"], json!({"a": text, "b": text}));
    }

    #[test]
    fn an_ordinary_schema_stays_and_one_that_refers_to_itself_ends() {
        let plain = json!({"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}, "required": ["a"]});
        assert_eq!(fitted(plain.clone()), plain);
        assert_eq!(fitted(json!(null)), json!({"type": "object", "properties": {}}));
        let endless =
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}], "properties": {"x": {}}}}});
        assert_eq!(fitted(endless)["properties"], json!({"x": {}}));
        for word in ["enum", "not"] {
            assert_eq!(fitted(json!({word: [1]})), json!({"type": "object", "properties": {}}));
        }
    }

    #[test]
    fn names_that_the_vendor_does_not_take_are_renamed_and_back() {
        let parameters = json!({"type": "object", "required": ["$filter"], "properties": {
            "$filter": {"type": "string"}, "_filter": {"type": "string"}, "fields[page]": {"type": "string"},
            "rows": {"type": "array", "items": {"type": "object", "properties": {"a b": {}}}},
            "x".repeat(80): {},
        }});
        let wire = with_wire_keys(object_schema(&Data::from(parameters.clone())));
        let names: Vec<&String> = wire["properties"].as_object().unwrap().keys().collect();
        let fits =
            |name: &&String| name.len() <= 64 && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c));
        assert!(names.len() == 5 && names.iter().all(fits), "{names:?}");
        assert!(wire["properties"].get(wire["required"][0].as_str().unwrap()).is_some());
        let below = wire["properties"]["rows"]["items"]["properties"].as_object().unwrap().keys().next().unwrap();
        let sent = json!({wire["required"][0].as_str().unwrap(): "a", "_filter": "b", "rows": [{below: 1}, {"c": 2}], "new": 3});
        let mut call = ToolCall::new("call", "query", Data::from(sent));
        rename_back(&mut call, &[ToolSpec::new("query", "", Data::from(parameters))]);
        let own = json!({"$filter": "a", "_filter": "b", "rows": [{"a b": 1}, {"c": 2}], "new": 3});
        assert_eq!(Value::from(&call.arguments), own);
    }
}
