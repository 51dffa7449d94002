//! Schemas without references and of limited depth and size. What is cut allows more: arguments are checked against the tool's own
//! schema.

use std::borrow::Cow;
use std::io;

use serde_json::{Map, Value, json};

/// The most levels of a schema that are sent (OpenAI).
const MAX_DEPTH: usize = 10;
/// The levels that are tried if a schema is too large.
const DEPTHS: [usize; 5] = [MAX_DEPTH, 6, 4, 2, 1];
/// The most properties of a schema, over all levels (OpenAI).
const MAX_PROPERTIES: usize = 5_000;
/// The largest schema, in bytes of its JSON. Every request has it.
pub(super) const MAX_BYTES: usize = 128 << 10;
/// The most references that are followed one inside of the other.
const MAX_REFS: usize = 32;
/// The most parts of a schema that are built. References can make a small text large.
const MAX_PARTS: usize = 20_000;

/// The keywords whose values are schemas by name.
const NAMED: [&str; 3] = ["properties", "patternProperties", "dependentSchemas"];
/// The keywords whose values are lists of schemas.
const LISTED: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];
/// The keywords whose values are one schema.
const SINGLE: [&str; 10] = [
    "items",
    "additionalProperties",
    "not",
    "contains",
    "propertyNames",
    "if",
    "then",
    "else",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// The keywords that only references need.
const DEFINITIONS: [&str; 7] =
    ["$defs", "definitions", "$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef"];
/// The keywords that are kept of a part whose inner parts are cut off.
const KEPT: [&str; 6] = ["type", "title", "description", "enum", "const", "format"];

/// Returns a schema with its references inlined. A reference that leads to itself, or nowhere, allows any value. `read` makes the
/// schema that is sent from it, which is measured.
///
/// # Errors
/// The schema is too large, as a phrase.
pub(super) fn inlined(schema: &Value, read: impl Fn(Map<String, Value>) -> Value) -> Result<Value, String> {
    let mut problem = String::new();
    for most in DEPTHS {
        let mut inliner = Inliner { root: schema, refs: Vec::new(), parts: 0, properties: 0, most };
        let Value::Object(inlined) = inliner.part(schema, 0) else { break };
        let read = read(inlined);
        let bytes = json_len(&read);
        if inliner.properties > MAX_PROPERTIES {
            problem = format!("its schema has {} properties, more than {MAX_PROPERTIES}", inliner.properties);
        } else if inliner.parts > MAX_PARTS {
            problem = format!("its schema has more than {MAX_PARTS} parts");
        } else if bytes > MAX_BYTES {
            problem = format!("its schema has {bytes} bytes, more than {MAX_BYTES}");
        } else {
            return Ok(read);
        }
    }
    Err(problem)
}

/// Returns the length of a value as JSON, in bytes.
fn json_len(value: &Value) -> usize {
    struct Length(usize);
    impl io::Write for Length {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut length = Length(0);
    // Neither the value nor the writer can fail.
    let _ = serde_json::to_writer(&mut length, value);
    length.0
}

struct Inliner<'a> {
    root: &'a Value,
    /// The references that are being followed.
    refs: Vec<&'a str>,
    parts: usize,
    properties: usize,
    /// The most levels.
    most: usize,
}

impl<'a> Inliner<'a> {
    fn part(&mut self, schema: &'a Value, depth: usize) -> Value {
        let map = match schema {
            Value::Object(map) => map,
            Value::Bool(false) => return json!({"not": {}}),
            _ => return json!({}),
        };
        self.parts += 1;
        if self.parts > MAX_PARTS {
            return json!({});
        }
        let mut own = match map.get("$ref") {
            Some(Value::String(path)) => self.target(path, depth),
            _ => Map::new(),
        };
        for (key, value) in map {
            if key == "$ref" && value.is_string() || DEFINITIONS.contains(&key.as_str()) {
                continue;
            }
            let value = self.keyword(key, value, depth);
            own.extend(value.map(|value| (key.clone(), value)));
        }
        // Vendors refuse a list without a type of its items.
        if own.get("type").is_some_and(|kind| kind == "array")
            && !own.contains_key("items")
            && !own.contains_key("prefixItems")
        {
            own.insert("items".to_owned(), json!({}));
        }
        Value::Object(own)
    }

    /// Returns the value of a keyword; `None` if it is cut off.
    fn keyword(&mut self, key: &str, value: &'a Value, depth: usize) -> Option<Value> {
        let is_deep = depth >= self.most;
        if is_deep && !KEPT.contains(&key) {
            return None;
        }
        match value {
            Value::Object(parts) if NAMED.contains(&key) => {
                self.properties += parts.len();
                let part = |(name, part): (&String, &'a Value)| (name.clone(), self.part(part, depth + 1));
                Some(Value::Object(parts.iter().map(part).collect()))
            }
            Value::Array(parts) if LISTED.contains(&key) || key == "items" => {
                Some(parts.iter().map(|part| self.part(part, depth + 1)).collect())
            }
            Value::Object(_) if SINGLE.contains(&key) => Some(self.part(value, depth + 1)),
            value => Some(value.clone()),
        }
    }

    /// Returns the part that a reference leads to.
    fn target(&mut self, path: &'a str, depth: usize) -> Map<String, Value> {
        let target = path.strip_prefix('#').and_then(|path| self.root.pointer(&unescaped(path)));
        let Some(target) = target.filter(|_| self.refs.len() < MAX_REFS && !self.refs.contains(&path)) else {
            return Map::new();
        };
        self.refs.push(path);
        let found = self.part(target, depth);
        self.refs.pop();
        match found {
            Value::Object(found) => found,
            _ => Map::new(),
        }
    }
}

/// Returns a pointer without the escapes of a URI.
fn unescaped(path: &str) -> Cow<'_, str> {
    percent_encoding::percent_decode_str(path).decode_utf8_lossy()
}
