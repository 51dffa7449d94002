//! A request in the form that a model without tools reads.

use std::fmt::Write;
use std::sync::Arc;

use base::data::Data;

use crate::message::{Content, Message, Messages, Role, ToolCall};
use crate::model::Request;

use super::scan::{CLOSE, OPEN};
use super::schema_text;

/// Returns the request with its tools described in the text.
pub(super) fn in_text(request: &Request) -> Request {
    let mut out = request.clone();
    let offered = !request.tools.is_empty() && request.tool_choice.as_str() != Some("none");
    if offered {
        let before = request.system.tool_guidance.as_deref().map_or(String::new(), |text| format!("{text}\n\n"));
        Arc::make_mut(&mut out.system).tool_guidance = Some(format!("{before}{}", guidance(request)).into());
    }
    out.tools = Arc::default();
    out.tool_choice = Data::Nil;
    out.messages = messages(&request.messages);
    out
}

fn guidance(request: &Request) -> String {
    let mut text = format!(
        "You can call tools. To call a tool, write a separate block outside of code fences:\n\n{OPEN}\n{{\"name\": \
        \"tool_name\", \"arguments\": {{\"key\": \"value\"}}}}\n{CLOSE}\n\nEach block contains one JSON object. \
        For several calls, write several blocks. Stop after the blocks: the results come in the next message, in \
        <tool_result> blocks.\n\nThe tools, with the JSON Schema of their arguments:\n"
    );
    for tool in request.tools.iter() {
        let _ = write!(text, "\n- {}: {}\n  {}", tool.name, tool.description.trim(), schema_text(&tool.parameters));
    }
    match &request.tool_choice {
        Data::Str(word) if word.as_ref() == "required" => text.push_str("\n\nCall at least one tool now."),
        choice => {
            if let Some(name) = choice.get("name").as_str() {
                let _ = write!(text, "\n\nCall the tool {name} now.");
            }
        }
    }
    text
}

/// Converts calls and results to text; consecutive results are one message.
fn messages(history: &Messages) -> Messages {
    let mut out: Messages = Messages::new();
    let mut results = String::new();
    for message in history {
        if message.role == Role::Tool {
            write_result(&mut results, message);
            continue;
        }
        flush(&mut results, &mut out);
        let plain = message.tool_calls.is_empty();
        out.push_back(if plain { message.clone() } else { Arc::new(with_calls(message)) });
    }
    flush(&mut results, &mut out);
    out
}

/// Returns a message with calls, or the result of one, as text, for a request that offers no tools; `None` for others.
#[must_use]
pub fn without_calls(message: &Message) -> Option<Message> {
    if message.role == Role::Tool {
        let mut text = String::new();
        write_result(&mut text, message);
        return Some(Message::user(text));
    }
    (!message.tool_calls.is_empty()).then(|| with_calls(message))
}

fn flush(results: &mut String, out: &mut Messages) {
    if !results.is_empty() {
        out.push_back(Arc::new(Message::user(std::mem::take(results))));
    }
}

fn write_result(out: &mut String, message: &Message) {
    if !out.is_empty() {
        out.push('\n');
    }
    let name = message.name.as_deref().unwrap_or("tool");
    let error = if message.is_error { " error=\"true\"" } else { "" };
    // A tool's output must not end its own block.
    let text = message.text().replace("</tool_result", "<\\/tool_result");
    let _ = write!(out, "<tool_result name=\"{name}\"{error}>\n{text}\n</tool_result>");
}

fn with_calls(message: &Message) -> Message {
    let mut text = message.text().to_string();
    for call in &message.tool_calls {
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = write!(text, "{OPEN}\n{}\n{CLOSE}", written(call));
    }
    Message { tool_calls: Vec::new(), content: Content::Text(text.into()), ..message.clone() }
}

/// Returns a call in the form in which the model should write it.
fn written(call: &ToolCall) -> String {
    match &call.arguments {
        Data::Str(raw) => raw.to_string(),
        arguments => {
            format!("{{\"name\": {}, \"arguments\": {}}}", Data::from(&call.name).to_json(), arguments.to_json())
        }
    }
}
