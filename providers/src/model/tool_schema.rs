//! The schema of a tool's parameters in the form that vendors take. Arguments are always checked against the tool's own
//! schema, so a form that allows more is enough.

use std::borrow::Cow;
use std::sync::Arc;

use base::data::Data;
use runtime::message::{ToolCall, ToolSpec};
use runtime::model::Request;
use serde_json::{Map, Value, json};

mod inline;

/// The keywords that vendors refuse at the top of a schema: Anthropic the first three, OpenAI all of them.
const COMBINATORS: [&str; 3] = ["anyOf", "oneOf", "allOf"];
const REFUSED: [&str; 5] = ["anyOf", "oneOf", "allOf", "enum", "not"];

/// The maximum length of a property's name (Anthropic).
const MAX_KEY: usize = 64;

/// The size of a schema without references that is sent without being measured, in bytes of its JSON.
const SMALL: usize = 8 << 10;

/// Returns a tool's parameters as the object schema that every vendor demands: its type is `object`, it has no references, and
/// alternatives at its top are merged into one list of properties, of which those are required that all alternatives require.
pub(super) fn object_schema(parameters: &Data) -> Value {
    fitted(parameters).unwrap_or_else(|_| empty())
}

fn empty() -> Value {
    json!({"type": "object", "properties": {}})
}

fn fitted(parameters: &Data) -> Result<Value, String> {
    let schema = Value::from(parameters);
    if !schema.is_object() {
        return Ok(empty());
    }
    inline::inlined(&schema, |schema| {
        let mut merged = merged(&schema);
        merged.insert("type".to_owned(), "object".into());
        merged.entry("properties").or_insert_with(|| json!({}));
        Value::Object(merged)
    })
}

/// A tool that a route cannot offer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnfitTool {
    pub(super) name: Arc<str>,
    /// The reason, as a phrase.
    pub(super) why: String,
}

/// Returns a request without the tools whose schemas cannot be brought into a form that vendors take, and those tools: one of them
/// would make a vendor refuse every request.
pub(super) fn without_unfit(request: &Request) -> (Cow<'_, Request>, Vec<UnfitTool>) {
    let unfit: Vec<UnfitTool> = request
        .tools
        .iter()
        .filter(|tool| has_reference(&tool.parameters) || tool.parameters.json_len() > SMALL)
        .filter_map(|tool| Some(UnfitTool { name: tool.name.clone(), why: fitted(&tool.parameters).err()? }))
        .collect();
    if unfit.is_empty() {
        return (Cow::Borrowed(request), unfit);
    }
    let tools = request.tools.iter().filter(|tool| unfit.iter().all(|unfit| unfit.name != tool.name));
    (Cow::Owned(Request { tools: Arc::new(tools.cloned().collect()), ..request.clone() }), unfit)
}

fn has_reference(schema: &Data) -> bool {
    match schema {
        Data::Dict(entries) => entries.iter().any(|(key, value)| &**key == "$ref" || has_reference(value)),
        Data::List(items) => items.iter().any(has_reference),
        _ => false,
    }
}

/// Returns a schema whose alternatives are merged.
fn merged(schema: &Map<String, Value>) -> Map<String, Value> {
    let mut own = schema.clone();
    for word in COMBINATORS {
        let Some(Value::Array(parts)) = own.remove(word) else { continue };
        let parts: Vec<Map<String, Value>> = parts.iter().filter_map(Value::as_object).map(merged).collect();
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
    for below in ["items", "additionalProperties"] {
        if let Some(below) = schema.get_mut(below) {
            *below = with_wire_keys(below.take());
        }
    }
    for word in COMBINATORS {
        for part in schema.get_mut(word).and_then(Value::as_array_mut).into_iter().flatten() {
            *part = with_wire_keys(part.take());
        }
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
    let mut renamed = None;
    for schema in alternatives(schema) {
        renamed = renamed_by(renamed.as_ref().unwrap_or(value), schema).or(renamed);
    }
    renamed
}

/// Returns a schema and the parts of its combinators, at all levels.
fn alternatives(schema: &Data) -> Vec<&Data> {
    let mut all = vec![schema];
    let mut at = 0;
    while let Some(schema) = all.get(at).copied() {
        all.extend(COMBINATORS.iter().filter_map(|word| schema.get(word).as_list()).flatten());
        at += 1;
    }
    all
}

fn renamed_by(value: &Data, schema: &Data) -> Option<Data> {
    if let Data::List(items) = value {
        let of_items = Some(schema.get("items")).filter(|items| !items.is_nil())?;
        let renamed: Vec<Option<Data>> = items.iter().map(|item| own_names(item, of_items)).collect();
        return renamed.iter().any(Option::is_some).then(|| {
            let items = renamed.into_iter().zip(items.iter());
            Data::list(items.map(|(renamed, item)| renamed.unwrap_or_else(|| item.clone())))
        });
    }
    let entries = value.as_dict()?;
    let (properties, more) = (schema.get("properties").as_dict(), schema.get("additionalProperties"));
    let mut is_changed = false;
    let renamed: Vec<_> = entries
        .iter()
        .map(|(key, value)| {
            let own = properties.and_then(|known| known.iter().find(|(name, _)| *wire_key(name) == **key));
            let (name, below) = own.map_or((key, more), |(name, property)| (name, property));
            let below = own_names(value, below);
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
    fn references_are_inlined_and_one_that_leads_to_itself_allows_anything() {
        let tree = json!({
            "type": "object",
            "properties": {"root": {"$ref": "#/$defs/node"}, "odd": {"$ref": "#/$defs/a~1b%20c", "description": "own"},
                "lost": {"$ref": "other.json#/x"}, "top": {"$ref": "#"}, "$ref": {"type": "string"}},
            "$defs": {
                "node": {"type": "object", "properties": {"name": {"type": "string"}, "next": {"$ref": "#/$defs/node"}}},
                "a/b c": {"type": "integer", "description": "theirs"},
            },
        });
        assert_eq!(
            fitted(tree)["properties"],
            json!({
                "root": {"type": "object", "properties": {"name": {"type": "string"}, "next": {}}},
                "odd": {"type": "integer", "description": "own"},
                "lost": {},
                "top": {"type": "object", "properties": {
                    "root": {"type": "object", "properties": {"name": {"type": "string"}, "next": {}}},
                    "odd": {"type": "integer", "description": "own"}, "lost": {}, "top": {}, "$ref": {"type": "string"}}},
                "$ref": {"type": "string"},
            })
        );
        let lists = json!({"properties": {"a": {"type": "array"}, "b": true, "c": {"type": "array", "items": {"$ref": "#/properties/b"}}}});
        assert_eq!(
            fitted(lists)["properties"],
            json!({
                "a": {"type": "array", "items": {}}, "b": {}, "c": {"type": "array", "items": {}},
            })
        );
    }

    /// The levels of objects.
    fn depth(schema: &Value) -> usize {
        let below = schema["properties"].as_object().into_iter().flat_map(Map::values).map(depth).max();
        below.map_or(0, |below| below + 1)
    }

    #[test]
    fn a_schema_that_is_too_deep_is_cut_and_one_that_is_too_large_is_left_out() {
        let mut deep = json!({"type": "string", "description": "inside", "minLength": 1});
        for _ in 0..40 {
            deep =
                json!({"type": "object", "description": "level", "properties": {"below": deep}, "required": ["below"]});
        }
        let cut = fitted(deep);
        assert_eq!(depth(&cut), 10);
        let mut at = &cut;
        for _ in 0..10 {
            at = &at["properties"]["below"];
        }
        assert_eq!(*at, json!({"type": "object", "description": "level"}));
        // Sixteen doublings in a small text.
        let mut defs = Map::from_iter([("d0".to_owned(), json!({"type": "string"}))]);
        for i in 1..=16 {
            let below = json!({"$ref": format!("#/$defs/d{}", i - 1)});
            defs.insert(format!("d{i}"), json!({"type": "object", "properties": {"a": below, "b": below}}));
        }
        let doubled = fitted(json!({"properties": {"x": {"$ref": "#/$defs/d16"}}, "$defs": defs}));
        assert!(doubled.to_string().len() <= 128 << 10 && depth(&doubled) > 1, "{doubled:.300}");
        let tool = |name: &str, schema: Value| ToolSpec::new(name, "", Data::from(schema));
        let wide: Map<String, Value> = (0..6_000).map(|i| (format!("p{i}"), json!({"type": "string"}))).collect();
        let long = json!({"properties": {"a": {"enum": ["x".repeat(200_000)]}}});
        let request = Request {
            tools: vec![
                tool("small", json!({"properties": {"a": {}}})),
                tool("wide", json!({"properties": wide})),
                tool("long", long),
                tool("large", json!({"properties": {"a": {"examples": ["x".repeat(10_000)]}}})),
            ]
            .into(),
            ..Request::default()
        };
        let (kept, unfit) = without_unfit(&request);
        let names: Vec<&str> = kept.tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, ["small", "large"]);
        assert_eq!(&*unfit[0].name, "wide");
        assert!(
            unfit[0].why.contains("6000 properties") && unfit[1].why.contains("bytes, more than 131072"),
            "{unfit:?}"
        );
        assert!(matches!(without_unfit(&Request::default()).0, Cow::Borrowed(_)));
    }

    #[test]
    fn names_below_alternatives_are_renamed_and_back() {
        let parameters = json!({"type": "object", "properties": {"filter": {"anyOf": [
            {"type": "object", "properties": {"$and": {"type": "array", "items": {"oneOf": [{"properties": {"a b": {}}}]}}}},
            {"type": "string"},
        ]}, "by": {"additionalProperties": {"properties": {"c d": {}}}}}});
        let wire = with_wire_keys(object_schema(&Data::from(parameters.clone()))).to_string();
        assert!(!wire.contains("$and") && !wire.contains("a b") && !wire.contains("c d"), "{wire}");
        let key = |name: &str| wire_key(name).into_owned();
        let sent = json!({"filter": {key("$and"): [{key("a b"): 1}]}, "by": {"x": {key("c d"): 2}}});
        let mut call = ToolCall::new("call", "query", Data::from(sent));
        rename_back(&mut call, &[ToolSpec::new("query", "", Data::from(parameters))]);
        let own = json!({"filter": {"$and": [{"a b": 1}]}, "by": {"x": {"c d": 2}}});
        assert_eq!(Value::from(&call.arguments), own);
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
