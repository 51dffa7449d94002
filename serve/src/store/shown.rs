//! Records of the events that a client saw and needs again, with texts assembled from their pieces.

use std::sync::Arc;

use base::data::Data;
use runtime::message::ToolCall;

use crate::host::{Part, PlanEntry, SessionEvent, TaskArtifact, new_message_id};

/// A record: its word and its payload.
pub(super) type NamedRecord = (&'static str, Data);

/// The size of the parts in which a long text is recorded, in bytes.
const MOST: usize = 256 << 10;

/// Assembles texts from their pieces.
#[derive(Debug, Default)]
pub(super) struct TextAssembly {
    /// The current text: its word, its message id, and the text so far.
    open: Option<(&'static str, Arc<str>, String)>,
}

impl TextAssembly {
    /// Adds an event, and returns the records to write now, in order.
    pub(super) fn take(&mut self, event: &SessionEvent) -> Vec<NamedRecord> {
        let (word, message_id, text) = match event {
            SessionEvent::Text { message_id, text } => ("text", message_id, text),
            SessionEvent::Thought { message_id, text } => ("thought", message_id, text),
            other => {
                return record_of(other)
                    .map_or_else(Vec::new, |record| self.flush().into_iter().chain([record]).collect());
            }
        };
        let goes_on = |open: &(&'static str, Arc<str>, String)| open.0 == word && open.1 == *message_id;
        let before = if self.open.as_ref().is_some_and(goes_on) { None } else { self.flush() };
        let open = self.open.get_or_insert_with(|| (word, message_id.clone(), String::new()));
        open.2.push_str(text);
        let full = if open.2.len() > MOST { self.flush() } else { None };
        before.into_iter().chain(full).collect()
    }

    /// Returns whether there is a current text.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Takes the current text so far. More of it becomes another part of the same message.
    pub(super) fn flush(&mut self) -> Option<NamedRecord> {
        let (word, message_id, text) = self.open.take().filter(|(.., text)| !text.is_empty())?;
        Some((word, Data::dict([("message_id", Data::from(message_id)), ("text", text.into())])))
    }
}

/// Converts an event to a record; returns `None` if it is not shown again.
fn record_of(event: &SessionEvent) -> Option<NamedRecord> {
    Some(match event {
        SessionEvent::UserMessage { message_id, content } => {
            ("user_message", Data::dict([("message_id", Data::from(message_id)), ("content", content.clone())]))
        }
        SessionEvent::ToolCall { call, annotations } => {
            ("tool_call", Data::dict([("call", call.to_data()), ("annotations", annotations.clone())]))
        }
        SessionEvent::ToolEnded { id, text, value, ok } => {
            let same = value.as_str() == Some(text);
            let value = if same { Data::Nil } else { value.clone() };
            let fields = [("id", Data::from(id)), ("text", text.into()), ("value", value), ("ok", (*ok).into())];
            ("tool_ended", Data::dict_of_present(fields))
        }
        SessionEvent::Plan(entries) => ("plan", Data::dict([("entries", entries.iter().map(of_entry).collect())])),
        SessionEvent::Artifact { message_id, made } => {
            ("artifact", of_made(made).with("message_id", message_id.into()))
        }
        SessionEvent::Data { message_id, data } => {
            ("data", Data::dict([("message_id", Data::from(message_id)), ("data", data.clone())]))
        }
        SessionEvent::Question { message_id, text } => {
            ("question", Data::dict([("message_id", Data::from(message_id)), ("text", text.into())]))
        }
        // The lifecycle records have the title and mode; the others are transient.
        _ => return None,
    })
}

/// Converts a record to an event; returns `None` for an unknown word.
///
/// # Errors
/// The reason why it cannot be read, as the end of a sentence.
pub(super) fn read(word: &str, payload: &Data) -> Result<Option<SessionEvent>, String> {
    let text = |field: &str| payload.get(field).as_shared_str().ok_or_else(|| format!("`{field}` is not a string"));
    // A log may be older than the field.
    let message_id = || payload.get("message_id").as_shared_str().unwrap_or_else(new_message_id);
    Ok(Some(match word {
        "user_message" => {
            SessionEvent::UserMessage { message_id: text("message_id")?, content: payload.get("content").clone() }
        }
        "text" => SessionEvent::Text { message_id: text("message_id")?, text: text("text")? },
        "thought" => SessionEvent::Thought { message_id: text("message_id")?, text: text("text")? },
        "data" => SessionEvent::Data { message_id: text("message_id")?, data: payload.get("data").clone() },
        "tool_call" => SessionEvent::ToolCall {
            call: ToolCall::from_data(payload.get("call")).ok_or("`call` is not a tool call")?,
            annotations: payload.get("annotations").clone(),
        },
        "tool_ended" => {
            let shown = text("text")?;
            let value = Some(payload.get("value")).filter(|value| !value.is_nil());
            let value = value.cloned().unwrap_or_else(|| Data::from(&shown));
            SessionEvent::ToolEnded { id: text("id")?, text: shown, value, ok: payload.get("ok").truthy() }
        }
        "plan" => SessionEvent::Plan(list(payload, "entries", entry)?),
        "artifact" => SessionEvent::Artifact { message_id: message_id(), made: made(payload)? },
        "question" => SessionEvent::Question { message_id: message_id(), text: text("text")? },
        _ => return Ok(None),
    }))
}

fn list<T>(payload: &Data, field: &str, read: fn(&Data) -> Option<T>) -> Result<Vec<T>, String> {
    let items = payload.get(field).as_list().ok_or_else(|| format!("`{field}` is not a list"))?;
    items.iter().map(|item| read(item).ok_or_else(|| format!("`{field}` contains an invalid item"))).collect()
}

fn of_entry(entry: &PlanEntry) -> Data {
    Data::dict([
        ("content", Data::from(&entry.content)),
        ("priority", entry.priority.as_str().into()),
        ("status", entry.status.as_str().into()),
    ])
}

fn entry(data: &Data) -> Option<PlanEntry> {
    Some(PlanEntry {
        content: data.get("content").as_shared_str()?,
        priority: data.get("priority").as_str()?.parse().ok()?,
        status: data.get("status").as_str()?.parse().ok()?,
    })
}

fn of_made(made: &TaskArtifact) -> Data {
    Data::dict_of_present([
        ("name", Data::from(&made.name)),
        ("parts", made.parts.iter().map(of_part).collect()),
        ("id", made.id.as_ref().into()),
        ("description", made.description.as_ref().into()),
        ("append", if made.append { true.into() } else { Data::Nil }),
        ("last_chunk", if made.last_chunk { Data::Nil } else { false.into() }),
        ("metadata", made.metadata.clone()),
    ])
}

fn made(payload: &Data) -> Result<TaskArtifact, String> {
    Ok(TaskArtifact {
        name: payload.get("name").as_shared_str().ok_or("`name` is not a string")?,
        parts: list(payload, "parts", part)?,
        id: payload.get("id").as_shared_str(),
        description: payload.get("description").as_shared_str(),
        append: payload.get("append").truthy(),
        last_chunk: payload.get("last_chunk").as_bool() != Some(false),
        metadata: payload.get("metadata").clone(),
    })
}

fn of_part(part: &Part) -> Data {
    match part {
        Part::Text(text) => Data::dict([("text", Data::from(text))]),
        Part::Data(data) => Data::dict([("data", data.clone())]),
        Part::File { name, mime_type, bytes, uri } => Data::dict([(
            "file",
            Data::dict_of_present([
                ("name", Data::from(name.as_ref())),
                ("mime_type", mime_type.as_ref().into()),
                ("bytes", bytes.as_ref().into()),
                ("uri", uri.as_ref().into()),
            ]),
        )]),
    }
}

fn part(data: &Data) -> Option<Part> {
    let entries = data.as_dict()?;
    let file = data.get("file");
    let of_file = |field: &str| file.get(field).as_shared_str();
    match entries.keys().next()?.as_ref() {
        "text" => data.get("text").as_shared_str().map(Part::Text),
        "data" => Some(Part::Data(data.get("data").clone())),
        "file" => Some(Part::File {
            name: of_file("name"),
            mime_type: of_file("mime_type"),
            bytes: of_file("bytes"),
            uri: of_file("uri"),
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{Priority, Progress};

    fn piece(id: &str, text: &str) -> SessionEvent {
        SessionEvent::Text { message_id: id.into(), text: text.into() }
    }

    #[test]
    fn texts_are_written_whole_and_in_their_place() {
        let mut assembly = TextAssembly::default();
        let thought = SessionEvent::Thought { message_id: "m".into(), text: "hm".into() };
        let ended = SessionEvent::ToolEnded { id: "c".into(), text: "t".into(), value: "t".into(), ok: true };
        let status = SessionEvent::Status { message_id: "s".into(), text: "busy".into(), partial: Data::Nil };
        let events = [thought, piece("m", "a"), status, piece("m", "b"), piece("n", "c"), ended, piece("n", "d")];
        let mut words: Vec<_> = events.iter().flat_map(|event| assembly.take(event)).collect();
        words.extend(assembly.flush());
        let seen: Vec<_> = words.iter().map(|(word, data)| format!("{word} {}", data.get("text").to_text())).collect();
        assert_eq!(seen, ["thought hm", "text ab", "text c", "tool_ended t", "text d"]);
        assert!(assembly.flush().is_none());
    }

    #[test]
    fn what_is_kept_comes_back_as_it_was() {
        let call = ToolCall { id: "c".into(), name: "read".into(), arguments: Data::dict([("path", Data::from("x"))]) };
        let file = Part::File { name: Some("f".into()), mime_type: None, bytes: None, uri: Some("file:///f".into()) };
        let artifact = |made| SessionEvent::Artifact { message_id: "a".into(), made };
        let plan = PlanEntry { content: "do".into(), priority: Priority::High, status: Progress::InProgress };
        let events = [
            SessionEvent::UserMessage {
                message_id: "u".into(),
                content: Data::list([Data::dict([("type", Data::from("text"))])]),
            },
            SessionEvent::ToolCall { call, annotations: Data::dict([("kind", Data::from("read"))]) },
            SessionEvent::ToolEnded { id: "c".into(), text: "t".into(), value: Data::from(7), ok: false },
            SessionEvent::ToolEnded { id: "c".into(), text: "t".into(), value: "t".into(), ok: true },
            SessionEvent::Plan(vec![plan]),
            artifact(TaskArtifact {
                name: "a".into(),
                parts: vec![Part::Text("x".into()), Part::Data(1.into()), file],
                last_chunk: true,
                ..TaskArtifact::default()
            }),
            artifact(TaskArtifact {
                name: "a".into(),
                id: Some("i".into()),
                description: Some("d".into()),
                append: true,
                metadata: Data::dict([("m", Data::from(1))]),
                ..TaskArtifact::default()
            }),
            SessionEvent::Question { message_id: "q".into(), text: "which?".into() },
            SessionEvent::Data { message_id: "m".into(), data: Data::dict([("n", Data::from(1))]) },
        ];
        for event in events {
            let (word, payload) = record_of(&event).unwrap();
            let payload = Data::from_json(&payload.to_json()).unwrap();
            assert_eq!(read(word, &payload).unwrap().unwrap(), event);
        }
        assert_eq!(read("a later word", &Data::Nil), Ok(None));
        assert!(read("text", &Data::Nil).is_err());
    }
}
