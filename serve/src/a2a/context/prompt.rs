//! Converts messages to prompts.

use std::path::Path;
use std::sync::Arc;

use a2a::{Content, Message, Part, ShapeError, Task};
use base::data::Data;
use runtime::reminder::bridge::{DeliveryMode, MessagePayload};

use crate::a2a::Refusal;
use crate::host::Prompt;

/// Returns the prompt for a message to a task.
pub(in crate::a2a) fn prompt(message: &Message, task: &Task, metadata: Data) -> Prompt {
    Prompt {
        text: text(message),
        message: to_data(message),
        metadata: if metadata.is_nil() { Data::empty_dict() } else { metadata },
        task_id: Some(task.id.clone()),
        context_id: Some(task.context_id.clone()),
        ..Prompt::default()
    }
}

/// Returns the message for the loop of a running task. The loop sees only this, so it has all parts in their order: data
/// as JSON, and files as links.
///
/// # Errors
/// A part is the content of a file, or the parts are blank.
pub(in crate::a2a) fn injected(message: &Message) -> Result<MessagePayload, Refusal> {
    let mut lines = Vec::with_capacity(message.parts.len());
    for (index, part) in message.parts.iter().enumerate() {
        lines.push(match &part.content {
            Content::Text(text) => text.to_string(),
            Content::Data(data) => data.to_json(),
            Content::Url(url) => format!("[{}]({url})", part.filename.as_deref().unwrap_or(url)),
            Content::Raw(_) => {
                let problem = "is the content of a file, which a running task does not accept; send its URL, or send \
                    the message without `taskId`";
                return Err(unreadable(format!("message.parts.{index}"), problem));
            }
        });
    }
    let text = lines.join("\n");
    if text.trim().is_empty() {
        return Err(unreadable("message.parts".to_owned(), "must not be blank in a message to a running task"));
    }
    Ok(MessagePayload {
        message: Arc::new(runtime::message::Message::user(text)),
        mode: DeliveryMode::FinishStep,
        meta: Data::dict([("messageId", Data::from(&message.message_id))]),
    })
}

fn unreadable(field: String, problem: &str) -> Refusal {
    Refusal::Params(ShapeError { message: format!("`{field}` {problem}"), field, suggestion: None })
}

/// Merges the metadata of a request and of its message; the message's entries win.
pub(in crate::a2a) fn merged(request: &Data, message: &Data) -> Data {
    let mut merged = request.clone();
    for (key, value) in message.as_dict().into_iter().flatten() {
        merged.set(key.clone(), value.clone());
    }
    merged
}

/// Returns the text parts, or the data as JSON if there are none.
fn text(message: &Message) -> String {
    let is_text = |part: &Part| matches!(part.content, Content::Text(_));
    if message.parts.iter().any(is_text) {
        return message.text();
    }
    let data = message.parts.iter().filter_map(|part| match &part.content {
        Content::Data(data) => Some(data.to_json()),
        _ => None,
    });
    data.collect::<Vec<_>>().join("\n")
}

/// Converts the message to data, with the field names of version 1.0 in snake_case.
fn to_data(message: &Message) -> Data {
    let texts = |texts: &[Arc<str>]| match texts {
        [] => Data::Nil,
        texts => texts.iter().map(Data::from).collect(),
    };
    Data::dict_of_present([
        ("message_id", Data::from(&message.message_id)),
        ("context_id", message.context_id.as_ref().into()),
        ("task_id", message.task_id.as_ref().into()),
        ("role", message.role.as_str().into()),
        ("parts", message.parts.iter().map(part).collect()),
        ("metadata", message.metadata.clone()),
        ("extensions", texts(&message.extensions)),
        ("reference_task_ids", texts(&message.reference_task_ids)),
    ])
}

fn part(part: &Part) -> Data {
    let (key, held) = match &part.content {
        Content::Text(text) => ("text", Data::from(text)),
        Content::Raw(base64) => ("raw", base64.into()),
        Content::Url(url) => ("url", url.into()),
        Content::Data(data) => ("data", data.clone()),
    };
    Data::dict_of_present([
        ("filename", Data::from(part.filename.as_ref())),
        ("media_type", part.media_type.as_ref().into()),
        ("metadata", part.metadata.clone()),
    ])
    .with(key, held)
}

/// Returns the default working directory of tasks.
pub(super) fn here() -> Option<std::path::PathBuf> {
    std::env::current_dir().ok().filter(|path: &std::path::PathBuf| Path::is_absolute(path))
}
