//! Tasks and events as data for scripts: names in snake_case, parts as `task.artifact` takes them.

use a2a::model::text_of;
use a2a::{Artifact, Content, Frame, Message, Part, Role, Status, Task, TaskState};
use base::data::Data;

use super::Event;
use super::reminder::ReminderReport;

/// The name of the artifact that holds an agent's answer, where it is one of harn's.
const ANSWER: &str = "answer";

/// Returns the result of sending a message: a task, or a message in its place.
pub(crate) fn outcome(frame: &Frame) -> Data {
    match frame {
        Frame::Task(task) => of_task(task),
        Frame::Message(message) => of_answer(message),
        Frame::Status(_) | Frame::Artifact(_) => of_frame(frame),
    }
}

/// A task.
pub(crate) fn of_task(task: &Task) -> Data {
    let answer: Vec<&Artifact> = match task.artifacts.iter().find(|artifact| is_answer(artifact)) {
        Some(answer) => vec![answer.as_ref()],
        None => task.artifacts.iter().map(AsRef::as_ref).collect(),
    };
    let texts: Vec<String> =
        answer.iter().map(|artifact| text_of(&artifact.parts)).filter(|text| !text.is_empty()).collect();
    let status_text = task.status.message.as_ref().map(|message| message.text());
    let status_data = task.status.message.as_ref().map_or(Data::Nil, |message| last_data(&message.parts));
    let text =
        if texts.is_empty() && !has_data(&answer) { status_text.clone().unwrap_or_default() } else { texts.join("\n") };
    let data = answer.iter().rev().map(|artifact| last_data(&artifact.parts)).find(|data| !data.is_nil());
    let mut shown = Data::dict([
        ("task_id", Data::from(&task.id)),
        ("context_id", (&task.context_id).into()),
        ("state", task.status.state.as_str().into()),
        ("text", text.into()),
        ("data", data.unwrap_or_default()),
        ("artifacts", task.artifacts.iter().map(|artifact| of_artifact(artifact)).collect()),
        ("status_text", status_text.into()),
        ("status_data", status_data.clone()),
        ("history", task.history.iter().map(|message| of_message(message)).collect()),
        ("metadata", task.metadata.clone()),
    ]);
    if !status_data.get("rejection_reason").is_nil() {
        shown.set("rejection_reason", status_data.get("rejection_reason").clone());
    }
    shown
}

/// An answer without a task.
fn of_answer(message: &Message) -> Data {
    Data::dict([
        ("task_id", Data::from(message.task_id.as_ref())),
        ("context_id", message.context_id.as_ref().into()),
        ("state", TaskState::Completed.as_str().into()),
        ("text", message.text().into()),
        ("data", last_data(&message.parts)),
        ("artifacts", Data::list([])),
        ("status_text", Data::Nil),
        ("status_data", Data::Nil),
        ("history", Data::list([of_message(message)])),
        ("metadata", message.metadata.clone()),
    ])
}

/// An event of a stream.
pub(crate) fn of_event(event: &Event) -> Data {
    match event {
        Event::Frame(frame) => of_frame(frame),
        Event::Reminder(ReminderReport { change, task_id, reminder, metadata }) => Data::dict([
            ("event", Data::from("reminder")),
            ("what", change.as_str().into()),
            ("task_id", task_id.as_ref().into()),
            ("reminder", reminder.clone()),
            ("metadata", metadata.clone()),
        ]),
    }
}

fn of_frame(frame: &Frame) -> Data {
    match frame {
        Frame::Task(task) => of_task(task).with("event", "task".into()),
        Frame::Message(message) => of_answer(message).with("event", "message".into()),
        Frame::Status(update) => Data::dict([
            ("event", Data::from("status")),
            ("task_id", (&update.task_id).into()),
            ("context_id", (&update.context_id).into()),
            ("state", update.status.state.as_str().into()),
            ("text", said(&update.status).into()),
            ("data", update.status.message.as_ref().map_or(Data::Nil, |message| last_data(&message.parts))),
            ("metadata", update.metadata.clone()),
        ]),
        Frame::Artifact(update) => of_artifact(&update.artifact)
            .with("event", "artifact".into())
            .with("task_id", (&update.task_id).into())
            .with("context_id", (&update.context_id).into())
            .with("append", update.append.into())
            .with("last_chunk", update.last_chunk.into())
            .with("text", text_of(&update.artifact.parts).into())
            .with("data", last_data(&update.artifact.parts)),
    }
}

fn said(status: &Status) -> Option<String> {
    status.message.as_ref().map(|message| message.text())
}

pub(crate) fn of_artifact(artifact: &Artifact) -> Data {
    Data::dict([
        ("artifact_id", Data::from(&artifact.artifact_id)),
        ("name", artifact.name.as_ref().into()),
        ("description", artifact.description.as_ref().into()),
        ("parts", artifact.parts.iter().map(of_part).collect()),
        ("metadata", artifact.metadata.clone()),
    ])
}

pub(crate) fn of_message(message: &Message) -> Data {
    let role = match message.role {
        Role::User => "user",
        Role::Agent => "agent",
    };
    Data::dict([
        ("role", Data::from(role)),
        ("text", message.text().into()),
        ("parts", message.parts.iter().map(of_part).collect()),
        ("message_id", (&message.message_id).into()),
        ("metadata", message.metadata.clone()),
    ])
}

fn of_part(part: &Part) -> Data {
    let file = |key: &'static str, value: &str| {
        let file = Data::dict([(key, Data::from(value))]);
        let named = part.filename.iter().fold(file, |file, name| file.with("name", name.into()));
        let file = part.media_type.iter().fold(named, |file, kind| file.with("mime_type", kind.into()));
        Data::dict([("file", file)])
    };
    match &part.content {
        Content::Text(text) => Data::dict([("text", Data::from(text))]),
        Content::Data(data) => Data::dict([("data", data.clone())]),
        Content::Raw(bytes) => file("bytes", bytes),
        Content::Url(url) => file("uri", url),
    }
}

fn is_answer(artifact: &Artifact) -> bool {
    artifact.artifact_id.as_ref() == ANSWER
}

fn has_data(artifacts: &[&Artifact]) -> bool {
    artifacts.iter().any(|artifact| !last_data(&artifact.parts).is_nil())
}

pub(crate) fn last_data(parts: &[Part]) -> Data {
    let data = parts.iter().rev().find_map(|part| match &part.content {
        Content::Data(data) => Some(data.clone()),
        _ => None,
    });
    data.unwrap_or_default()
}
