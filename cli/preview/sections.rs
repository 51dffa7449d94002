//! The parts of a request: every member of a vendor's document is in one of them.

use serde_json::{Map, Value};

/// The parts of a request.
#[derive(Debug, Default, PartialEq)]
pub(super) struct RequestSections {
    /// The system text.
    pub(super) system: Vec<MessagePart>,
    pub(super) tools: Vec<OfferedTool>,
    pub(super) messages: Vec<SentMessage>,
    /// Everything else, as a name and its JSON.
    pub(super) settings: Vec<(String, String)>,
    /// The bytes of system text, tools and messages in the document.
    pub(super) bytes: [usize; 3],
}

/// A tool that is offered.
#[derive(Debug, PartialEq)]
pub(super) struct OfferedTool {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) bytes: usize,
}

/// A message.
#[derive(Debug, PartialEq)]
pub(super) struct SentMessage {
    pub(super) role: String,
    pub(super) parts: Vec<MessagePart>,
}

/// A part of a message.
#[derive(Debug, PartialEq)]
pub(super) enum MessagePart {
    /// A text, and what the wire says about it (a cache mark).
    Text(String, Option<String>),
    /// Anything else: a call, a result, an image.
    Json(String),
}

/// Takes a document apart.
pub(super) fn sections(body: &Value) -> RequestSections {
    let mut found = RequestSections::default();
    for (name, value) in body.as_object().into_iter().flatten() {
        match name.as_str() {
            "system" | "instructions" | "systemInstruction" | "system_instruction" => {
                found.system = content(value.get("parts").unwrap_or(value));
                found.bytes[0] = value.to_string().len();
            }
            "tools" => {
                found.tools = value.as_array().into_iter().flatten().flat_map(tools).collect();
                found.bytes[1] = value.to_string().len();
            }
            "messages" | "input" | "contents" => {
                found.messages = match value {
                    Value::Array(messages) => messages.iter().map(message).collect(),
                    other => vec![SentMessage { role: "user".to_owned(), parts: content(other) }],
                };
                found.bytes[2] = value.to_string().len();
            }
            _ => found.settings.push((name.clone(), value.to_string())),
        }
    }
    found
}

fn content(value: &Value) -> Vec<MessagePart> {
    match value {
        Value::Null => Vec::new(),
        Value::String(text) => vec![MessagePart::Text(text.clone(), None)],
        Value::Array(parts) => parts.iter().map(part).collect(),
        other => vec![part(other)],
    }
}

fn part(value: &Value) -> MessagePart {
    let Some(text) = value.get("text").and_then(Value::as_str) else {
        return match value.as_str() {
            Some(text) => MessagePart::Text(text.to_owned(), None),
            None => MessagePart::Json(value.to_string()),
        };
    };
    let besides = value.as_object().map(|part| rest(part, &["text", "type"])).filter(|rest| !rest.is_empty());
    MessagePart::Text(text.to_owned(), besides.map(|rest| Value::Object(rest).to_string()))
}

/// Returns the members of an object except for some.
fn rest(object: &Map<String, Value>, known: &[&str]) -> Map<String, Value> {
    object.iter().filter(|(name, _)| !known.contains(&name.as_str())).map(|(n, v)| (n.clone(), v.clone())).collect()
}

fn message(value: &Value) -> SentMessage {
    let Some(object) = value.as_object() else {
        return SentMessage { role: "message".to_owned(), parts: content(value) };
    };
    let named = ["role", "type"].iter().find_map(|name| object.get(*name)?.as_str());
    let inside = object.get("content").or_else(|| object.get("parts"));
    let mut parts = inside.map(content).unwrap_or_default();
    let known: &[&str] =
        if object.contains_key("role") { &["role", "content", "parts"] } else { &["type", "content", "parts"] };
    let besides = rest(object, known);
    if !besides.is_empty() {
        parts.push(MessagePart::Json(Value::Object(besides).to_string()));
    }
    SentMessage { role: named.unwrap_or("message").to_owned(), parts }
}

fn tools(value: &Value) -> Vec<OfferedTool> {
    if let Some(declared) = value.get("functionDeclarations").and_then(Value::as_array) {
        return declared.iter().flat_map(tools).collect();
    }
    let function = value.get("function").unwrap_or(value);
    let text = |name: &str| function.get(name).and_then(Value::as_str);
    let name = text("name").or_else(|| text("type")).unwrap_or("tool").to_owned();
    let description = text("description").unwrap_or_default().lines().next().unwrap_or_default().to_owned();
    vec![OfferedTool { name, description, bytes: value.to_string().len() }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn text(text: &str) -> MessagePart {
        MessagePart::Text(text.to_owned(), None)
    }

    #[test]
    fn each_wire_has_the_same_sections() {
        let wires = [
            json!({"model": "m", "system": "S", "tools": [{"name": "t", "description": "D\nmore", "input_schema": {}}],
                "messages": [{"role": "user", "content": [{"type": "text", "text": "Q"}]}]}),
            json!({"model": "m", "instructions": "S", "tools": [{"type": "function", "name": "t", "description": "D"}],
                "input": [{"role": "user", "content": [{"type": "input_text", "text": "Q"}]}]}),
            json!({"model": "m", "systemInstruction": {"parts": [{"text": "S"}]},
                "tools": [{"functionDeclarations": [{"name": "t", "description": "D"}]}],
                "contents": [{"role": "user", "parts": [{"text": "Q"}]}]}),
        ];
        for wire in wires {
            let found = sections(&wire);
            assert_eq!(found.system, [text("S")], "{wire}");
            assert_eq!((found.tools[0].name.as_str(), found.tools[0].description.as_str()), ("t", "D"), "{wire}");
            assert_eq!(found.messages, [SentMessage { role: "user".to_owned(), parts: vec![text("Q")] }], "{wire}");
            assert_eq!(found.settings, [("model".to_owned(), "\"m\"".to_owned())], "{wire}");
        }
    }

    #[test]
    fn what_has_no_section_of_its_own_is_shown_as_json() {
        let found = sections(&json!({"messages": [
            {"role": "assistant", "content": null, "tool_calls": [{"id": "1"}]},
            {"type": "function_call", "name": "t"},
            {"role": "user", "content": [{"type": "text", "text": "Q", "cache_control": {"type": "ephemeral"}}, {"type": "image"}]},
            7,
        ]}));
        let parts: Vec<_> = found.messages.into_iter().flat_map(|message| message.parts).collect();
        assert_eq!(
            parts,
            [
                MessagePart::Json(r#"{"tool_calls":[{"id":"1"}]}"#.to_owned()),
                MessagePart::Json(r#"{"name":"t"}"#.to_owned()),
                MessagePart::Text("Q".to_owned(), Some(r#"{"cache_control":{"type":"ephemeral"}}"#.to_owned())),
                MessagePart::Json(r#"{"type":"image"}"#.to_owned()),
                MessagePart::Json("7".to_owned()),
            ]
        );
        assert_eq!(sections(&json!([1])), RequestSections::default());
    }
}
