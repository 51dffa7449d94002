//! Bodies that no vendor would take, each a good one with one fault: an unknown key, a value of a wrong type, a missing key, a
//! role that there is not; in every place that the vendor's types describe.

use super::cases::{Case, WIRES, rich};
use serde_json::{Value, json};

/// The kinds of invalid bodies.
pub(super) const WAYS: [&str; 4] = ["an unknown key", "a wrong type", "a missing key", "a wrong role"];

/// Keys below which everything is free: schemas, arguments, results.
const FREE: &[&str] =
    &["input_schema", "parametersJsonSchema", "responseJsonSchema", "schema", "format", "input", "args", "response"];

pub(super) fn all() -> Vec<Case> {
    WIRES.iter().flat_map(|wire| of(&rich(wire))).collect()
}

fn of(good: &Case) -> Vec<Case> {
    let mut broken = Vec::new();
    for path in paths(&good.body, good.wire) {
        let value = good.body.pointer(&path).unwrap();
        let mut put = |how: &str, change: &dyn Fn(&mut Value)| {
            let mut body = good.body.clone();
            change(body.pointer_mut(&path).unwrap());
            broken.push(Case { name: format!("{}: {path}: {how}", good.wire), body, ..*good });
        };
        match value {
            Value::Object(fields) => {
                put("an unknown key", &|value| value["no_such_key"] = json!(1));
                for key in fields.keys().filter(|key| is_needed(good.wire, &path, key, value)) {
                    put(&format!("a missing key, {key}"), &|value| {
                        value.as_object_mut().unwrap().remove(key);
                    });
                }
                if let Some(role) = fields.get("role").and_then(Value::as_str) {
                    let wrong = format!("{role}s");
                    put("a wrong role", &|value| value["role"] = wrong.as_str().into());
                }
            }
            Value::Array(_) => put("a wrong type", &|value| *value = json!(7)),
            _ => put("a wrong type", &|value| *value = json!([[]])),
        }
    }
    broken
}

/// Every place of a body that the vendor's types say something of.
fn paths(body: &Value, wire: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut todo = vec![(String::new(), body)];
    while let Some((path, value)) = todo.pop() {
        match value {
            Value::Object(fields) => {
                let free = |key: &str| FREE.contains(&key) && !(wire == "openai_responses" && path.is_empty());
                let free = |key: &str| match (wire, key) {
                    // Here it is not a schema but a list of items, or the format of a text.
                    ("openai_responses", "format") => false,
                    ("openai_chat" | "openai_responses", "parameters") | ("ollama", "arguments") => true,
                    _ => free(key),
                };
                todo.extend(
                    fields.iter().filter(|(key, _)| !free(key)).map(|(key, value)| (format!("{path}/{key}"), value)),
                );
            }
            Value::Array(items) => {
                todo.extend(items.iter().enumerate().map(|(index, item)| (format!("{path}/{index}"), item)));
            }
            _ => {}
        }
        found.push(path);
    }
    found.sort();
    found
}

/// Whether the vendor's types ask for a key.
fn is_needed(wire: &str, path: &str, key: &str, owner: &Value) -> bool {
    let is = |kind: &str| owner["type"] == kind;
    match wire {
        "anthropic" => match key {
            "model" | "max_tokens" | "messages" => path.is_empty(),
            "role" | "type" | "tool_use_id" | "id" | "name" | "input" | "input_schema" | "source" => true,
            "media_type" | "data" | "signature" | "thinking" | "budget_tokens" | "schema" => path.len() > 1,
            "text" => is("text"),
            "content" => owner.get("role").is_some(),
            _ => false,
        },
        "openai_chat" => match key {
            "model" | "messages" => path.is_empty(),
            "role" | "type" | "tool_call_id" | "id" | "function" | "arguments" | "image_url" | "url"
            | "json_schema" => true,
            "text" => is("text"),
            "name" => path.ends_with("/function") || path.ends_with("json_schema"),
            // An answer that calls tools may say nothing.
            "content" => owner.get("role").is_some_and(|role| role != "assistant"),
            _ => false,
        },
        "openai_responses" => match key {
            "role" | "summary" | "call_id" | "output" | "name" | "arguments" | "schema" | "parameters" | "strict" => {
                !is("json_schema") || key != "strict"
            }
            // A message and its role tell their kind by themselves.
            "type" => !is("message"),
            "text" => owner.get("type").is_some() && !path.is_empty(),
            "detail" => is("input_image") && !path.contains("/output/"),
            "content" => owner.get("role").is_some(),
            _ => false,
        },
        "gemini" => match key {
            "contents" => path.is_empty(),
            "parts" | "role" => path.starts_with("/contents") && !path.ends_with("functionResponse"),
            "name" | "mimeType" | "data" | "response" | "description" | "parametersJsonSchema" => true,
            _ => false,
        },
        _ => match key {
            "model" | "messages" => path.is_empty(),
            "stream" | "role" | "tool_name" | "function" | "name" | "arguments" | "parameters" => true,
            "description" => path.ends_with("/function"),
            _ => false,
        },
    }
}
