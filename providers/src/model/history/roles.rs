//! Messages of Chat Completions for servers whose roles must alternate: Mistral's, and those that render the conversation
//! with a model's own template.

use serde_json::{Value, json};

use crate::model::choice::{CUT_OFF, system_message};

/// The model's message between the results of its tools and what the user says next.
const BETWEEN: &str = "OK.";

/// Phrases of servers that refuse an order of roles, with a server that writes it.
pub(crate) const ROLE_PHRASES: &[(&str, &str)] = &[
    ("unexpected role", "Mistral"),
    ("expected last role", "Mistral"),
    ("roles must alternate", "vLLM, llama.cpp, LM Studio, TGI"),
    ("system message must be at the beginning", "vLLM"),
    ("only user and assistant roles are supported", "vLLM"),
];

/// Returns whether a message says that a server refused an order of roles.
pub(in crate::model) fn is_about_roles(message: &str) -> bool {
    let message = message.to_lowercase();
    ROLE_PHRASES.iter().any(|(phrase, _)| message.contains(phrase))
}

/// Returns the messages with one message of the system at most, at the beginning; then the user's and the model's in turns.
/// A result of a tool follows the model.
pub(in crate::model) fn alternating(messages: Vec<Value>) -> Vec<Value> {
    let mut out: Vec<Value> = Vec::with_capacity(messages.len());
    for message in messages {
        let message = if is_instruction(&message) && out.iter().any(|before| !is_instruction(before)) {
            json!({"role": "user", "content": system_message(&text(&message["content"]))})
        } else {
            message
        };
        let before = out.last().map_or("", role).to_owned();
        match (before.as_str(), role(&message)) {
            ("" | "system" | "developer", "assistant") => {
                out.extend([json!({"role": "user", "content": CUT_OFF}), message]);
            }
            ("tool", "user") => out.extend([json!({"role": "assistant", "content": BETWEEN}), message]),
            ("user", "user") | ("system", "system") | ("developer", "developer") => join(&mut out, message),
            ("assistant", "assistant") if out.last().is_some_and(|last| last.get("tool_calls").is_none()) => {
                join(&mut out, message);
            }
            _ => out.push(message),
        }
    }
    out
}

fn role(message: &Value) -> &str {
    message["role"].as_str().unwrap_or_default()
}

fn is_instruction(message: &Value) -> bool {
    matches!(role(message), "system" | "developer")
}

fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n\n"),
        _ => String::new(),
    }
}

/// Adds a message to the last one, which has the same role.
fn join(out: &mut [Value], mut message: Value) {
    let Some(last) = out.last_mut() else { return };
    let joined = match (last["content"].take(), message["content"].take()) {
        (Value::Null, content) | (content, Value::Null) => content,
        (Value::String(one), Value::String(two)) => format!("{one}\n\n{two}").into(),
        (one, two) => Value::Array([parts(one), parts(two)].concat()),
    };
    last["content"] = joined;
    if let Value::Object(fields) = message {
        for (key, value) in fields.into_iter().filter(|(key, _)| !matches!(key.as_str(), "role" | "content" | "name")) {
            last[key] = value;
        }
    }
}

fn parts(content: Value) -> Vec<Value> {
    match content {
        Value::Array(parts) => parts,
        text => vec![json!({"type": "text", "text": text})],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(role: &str, content: &str) -> Value {
        json!({"role": role, "content": content})
    }

    fn calls() -> Value {
        json!({"role": "assistant", "content": null, "tool_calls": [{"id": "a"}, {"id": "b"}]})
    }

    fn result(id: &str) -> Value {
        json!({"role": "tool", "tool_call_id": id, "content": "seen"})
    }

    #[test]
    fn an_order_that_is_allowed_stays() {
        let messages = vec![says("system", "S"), says("user", "Look."), calls(), result("a"), result("b")];
        assert_eq!(alternating(messages.clone()), messages);
        let longer = [messages, vec![says("assistant", "Seen."), says("user", "And?")]].concat();
        assert_eq!(alternating(longer.clone()), longer);
    }

    #[test]
    fn the_user_does_not_follow_a_result() {
        let messages = vec![says("user", "Look."), calls(), result("a"), result("b"), says("user", "Be brief.")];
        let out = alternating(messages);
        assert_eq!(out[4..], [says("assistant", "OK."), says("user", "Be brief.")]);
    }

    #[test]
    fn neighbours_of_one_role_become_one_message() {
        let image = json!({"type": "image_url", "image_url": {"url": "u"}});
        let out = alternating(vec![
            says("system", "S"),
            says("system", "T"),
            says("user", "One."),
            json!({"role": "user", "content": [image]}),
            says("user", "Two."),
            says("assistant", "I"),
            json!({"role": "assistant", "content": "look.", "tool_calls": [{"id": "a"}]}),
        ]);
        assert_eq!(
            out,
            [
                says("system", "S\n\nT"),
                json!({"role": "user", "content": [
                    {"type": "text", "text": "One."}, image, {"type": "text", "text": "Two."}]}),
                json!({"role": "assistant", "content": "I\n\nlook.", "tool_calls": [{"id": "a"}]}),
            ]
        );
    }

    #[test]
    fn later_instructions_are_texts_of_the_user_and_the_user_begins() {
        let out = alternating(vec![says("assistant", "Hello."), says("user", "Hm."), says("developer", "Be short.")]);
        assert_eq!(out.iter().map(role).collect::<Vec<_>>(), ["user", "assistant", "user"]);
        let last = out[2]["content"].as_str().unwrap();
        assert!(last.starts_with("Hm.\n\n") && last.contains("Be short."), "{last}");
    }

    #[test]
    fn refusals_are_recognized_by_their_words() {
        for words in [
            "Unexpected role 'user' after role 'tool'",
            "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
            "Conversation roles must alternate user/assistant/user/assistant/...",
            "System message must be at the beginning.",
        ] {
            assert!(is_about_roles(words), "{words}");
        }
        assert!(!is_about_roles("the model `role-play` does not exist"));
    }
}
