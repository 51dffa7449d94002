//! Converts between the messages of the hub and the model of [`a2a`].

use std::sync::Arc;

use ::base64::Engine as _;
use ::base64::engine::general_purpose::STANDARD;
use a2a::{Artifact, ArtifactUpdate, Content, Message, Part, Role, Status, StatusUpdate, Task, TaskState};
use base::data::{Data, Entries};
use hub::proto::a2a as proto;
use hub::proto::agenthub::{TaskArtifactUpdateEvent, TaskStatusUpdateEvent};
use prost_types::value::Kind;
use prost_types::{ListValue, Struct, Timestamp, Value};

/// Returns the hub's form of a message.
#[must_use]
pub fn message_to_proto(message: &Message) -> proto::Message {
    let text = |text: &Option<Arc<str>>| text.as_deref().unwrap_or_default().to_owned();
    proto::Message {
        message_id: message.message_id.to_string(),
        context_id: text(&message.context_id),
        task_id: text(&message.task_id),
        role: match message.role {
            Role::User => proto::Role::User,
            Role::Agent => proto::Role::Agent,
        } as i32,
        content: message.parts.iter().map(part_to_proto).collect(),
        metadata: struct_of(&message.metadata),
        extensions: message.extensions.iter().map(ToString::to_string).collect(),
    }
}

pub(crate) fn part_to_proto(part: &Part) -> proto::Part {
    use proto::file_part::File;
    use proto::part::Part as Kind;
    let file = |file| {
        let mime_type = part.media_type.as_deref().unwrap_or_default().to_owned();
        Kind::File(proto::FilePart {
            file: Some(file),
            mime_type,
            name: part.filename.as_deref().unwrap_or_default().to_owned(),
        })
    };
    let kind = match &part.content {
        Content::Text(text) => Kind::Text(text.to_string()),
        Content::Url(url) => file(File::FileWithUri(url.to_string())),
        // The shapes accept only valid base64.
        Content::Raw(bytes) => file(File::FileWithBytes(STANDARD.decode(bytes.as_bytes()).unwrap_or_default())),
        // A part of the hub holds an object.
        Content::Data(data) => Kind::Data(proto::DataPart {
            data: Some(
                struct_of(data).unwrap_or_else(|| Struct { fields: [("value".to_owned(), value_of(data))].into() }),
            ),
        }),
    };
    proto::Part { part: Some(kind), metadata: struct_of(&part.metadata) }
}

/// Returns a dict as a struct.
#[must_use]
pub fn struct_of(data: &Data) -> Option<Struct> {
    let entries = data.as_dict()?;
    Some(Struct { fields: entries.iter().map(|(key, value)| (key.to_string(), value_of(value))).collect() })
}

#[allow(clippy::cast_precision_loss, reason = "numbers of a struct are doubles")]
fn value_of(data: &Data) -> Value {
    let kind = match data {
        Data::Nil => Kind::NullValue(0),
        Data::Bool(value) => Kind::BoolValue(*value),
        Data::Int(value) => Kind::NumberValue(*value as f64),
        Data::Float(value) => Kind::NumberValue(*value),
        Data::Str(text) => Kind::StringValue(text.to_string()),
        Data::List(items) => Kind::ListValue(ListValue { values: items.iter().map(value_of).collect() }),
        Data::Dict(_) => Kind::StructValue(struct_of(data).unwrap_or_default()),
    };
    Value { kind: Some(kind) }
}

fn data_of(value: Value) -> Data {
    match value.kind {
        None | Some(Kind::NullValue(_)) => Data::Nil,
        Some(Kind::BoolValue(value)) => value.into(),
        Some(Kind::NumberValue(value)) => number(value),
        Some(Kind::StringValue(text)) => Data::str(text),
        Some(Kind::ListValue(list)) => Data::list(list.values.into_iter().map(data_of)),
        Some(Kind::StructValue(dict)) => dict_of(dict),
    }
}

/// Returns a number as an int if it is one: a struct knows only doubles.
#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "compared afterwards")]
fn number(value: f64) -> Data {
    let whole = value as i64;
    if whole as f64 == value && whole.unsigned_abs() < 1 << 53 { Data::Int(whole) } else { Data::Float(value) }
}

pub(crate) fn dict_of(dict: Struct) -> Data {
    let mut entries = Entries::with_capacity(dict.fields.len());
    for (key, value) in dict.fields {
        entries.insert(key.into(), data_of(value));
    }
    Data::Dict(Arc::new(entries))
}

fn metadata_of(dict: Option<Struct>) -> Data {
    dict.map_or(Data::Nil, dict_of)
}

fn some(text: String) -> Option<Arc<str>> {
    (!text.is_empty()).then(|| text.into())
}

/// Returns the model's form of a task.
#[must_use]
pub fn task_of(task: proto::Task) -> Task {
    Task {
        id: task.id.into(),
        context_id: task.context_id.into(),
        status: status_of(task.status.unwrap_or_default()),
        artifacts: task.artifacts.into_iter().map(|artifact| Arc::new(artifact_of(artifact))).collect(),
        history: task.history.into_iter().map(|message| Arc::new(message_of(message))).collect(),
        metadata: metadata_of(task.metadata),
    }
}

fn status_of(status: proto::TaskStatus) -> Status {
    Status {
        state: state_of(status.state),
        message: status.update.map(|update| Arc::new(message_of(update))),
        at_ms: status.timestamp.and_then(milliseconds),
    }
}

/// Returns the model's form of a change of a status.
#[must_use]
pub fn status_update_of(update: TaskStatusUpdateEvent) -> StatusUpdate {
    StatusUpdate {
        task_id: update.task_id.into(),
        context_id: update.context_id.into(),
        status: status_of(update.status.unwrap_or_default()),
        metadata: metadata_of(update.metadata),
    }
}

/// Returns the model's form of a change of an artifact.
#[must_use]
pub fn artifact_update_of(update: TaskArtifactUpdateEvent) -> ArtifactUpdate {
    ArtifactUpdate {
        task_id: update.task_id.into(),
        context_id: update.context_id.into(),
        artifact: Arc::new(artifact_of(update.artifact.unwrap_or_default())),
        append: update.append,
        last_chunk: update.last_chunk,
        metadata: metadata_of(update.metadata),
    }
}

/// Returns the hub's form of a state.
#[must_use]
pub fn state_to_proto(state: TaskState) -> proto::TaskState {
    match state {
        TaskState::Submitted => proto::TaskState::Submitted,
        TaskState::Working => proto::TaskState::Working,
        TaskState::Completed => proto::TaskState::Completed,
        TaskState::Failed => proto::TaskState::Failed,
        TaskState::Canceled => proto::TaskState::Cancelled,
        TaskState::InputRequired => proto::TaskState::InputRequired,
        TaskState::Rejected => proto::TaskState::Rejected,
        TaskState::AuthRequired => proto::TaskState::AuthRequired,
        TaskState::Unknown => proto::TaskState::Unspecified,
    }
}

pub(crate) fn state_of(state: i32) -> TaskState {
    use proto::TaskState as Wire;
    match Wire::try_from(state) {
        Ok(Wire::Submitted) => TaskState::Submitted,
        Ok(Wire::Working) => TaskState::Working,
        Ok(Wire::Completed) => TaskState::Completed,
        Ok(Wire::Failed) => TaskState::Failed,
        Ok(Wire::Cancelled) => TaskState::Canceled,
        Ok(Wire::InputRequired) => TaskState::InputRequired,
        Ok(Wire::Rejected) => TaskState::Rejected,
        Ok(Wire::AuthRequired) => TaskState::AuthRequired,
        Ok(Wire::Unspecified) | Err(_) => TaskState::Unknown,
    }
}

pub(crate) fn milliseconds(timestamp: Timestamp) -> Option<u64> {
    let seconds = u64::try_from(timestamp.seconds).ok()?;
    let nanos = u64::try_from(timestamp.nanos).ok()?;
    seconds.checked_mul(1_000)?.checked_add(nanos / 1_000_000)
}

pub(crate) fn message_of(message: proto::Message) -> Message {
    Message {
        message_id: message.message_id.into(),
        context_id: some(message.context_id),
        task_id: some(message.task_id),
        role: if message.role == proto::Role::Agent as i32 { Role::Agent } else { Role::User },
        parts: message.content.into_iter().filter_map(part_of).collect(),
        metadata: metadata_of(message.metadata),
        extensions: message.extensions.into_iter().map(Into::into).collect(),
        reference_task_ids: Vec::new(),
    }
}

fn part_of(part: proto::Part) -> Option<Part> {
    use proto::file_part::File;
    use proto::part::Part as Kind;
    let mut made = match part.part? {
        Kind::Text(text) => Part::text(text),
        Kind::Data(data) => Part::data(metadata_of(data.data)),
        Kind::File(file) => {
            let content = match file.file? {
                File::FileWithUri(uri) => Content::Url(uri.into()),
                File::FileWithBytes(bytes) => Content::Raw(STANDARD.encode(&bytes).into()),
            };
            Part { filename: some(file.name), media_type: some(file.mime_type), ..Part::new(content) }
        }
    };
    made.metadata = metadata_of(part.metadata);
    Some(made)
}

pub(crate) fn artifact_of(artifact: proto::Artifact) -> Artifact {
    Artifact {
        artifact_id: artifact.artifact_id.into(),
        name: some(artifact.name),
        description: some(artifact.description),
        parts: artifact.parts.into_iter().filter_map(part_of).collect(),
        metadata: metadata_of(artifact.metadata),
        extensions: artifact.extensions.into_iter().map(Into::into).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_survives_the_hub() {
        let mut message = Message::new(
            Role::User,
            "m1",
            vec![
                Part::text("Hello"),
                Part::data(Data::dict([("n", Data::Int(3)), ("x", Data::Float(0.5)), ("l", Data::list([Data::Nil]))])),
                Part { filename: Some("a.txt".into()), ..Part::new(Content::Raw("aGk=".into())) },
                Part {
                    media_type: Some("text/plain".into()),
                    ..Part::new(Content::Url("https://example.com/a".into()))
                },
            ],
        );
        message.context_id = Some("c1".into());
        message.metadata = Data::dict([("to_agent_id", Data::str("anna"))]);
        assert_eq!(message_of(message_to_proto(&message)), message);
    }

    #[test]
    fn states_keep_their_meaning() {
        let states: Vec<TaskState> = (0..=9).map(state_of).collect();
        use TaskState::{
            AuthRequired, Canceled, Completed, Failed, InputRequired, Rejected, Submitted, Unknown, Working,
        };
        let expected =
            [Unknown, Submitted, Working, Completed, Failed, Canceled, InputRequired, Rejected, AuthRequired, Unknown];
        assert_eq!(states, expected);
        for state in 0..9 {
            assert_eq!(state_to_proto(state_of(state)) as i32, state);
        }
    }

    #[test]
    fn data_that_is_not_a_dict_is_wrapped() {
        let part = part_to_proto(&Part::data(Data::list([Data::Int(1)])));
        let expected = Data::dict([("value", Data::list([Data::Int(1)]))]);
        assert_eq!(part_of(part).unwrap().content, Content::Data(expected));
    }
}
