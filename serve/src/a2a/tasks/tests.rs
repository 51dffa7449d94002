//! Tasks, with real sessions.

use std::sync::Arc;

use a2a::{Configuration, Frame, Message, Part, Role, SendMessage, Task, TaskState, Version, model};
use base::data::Data;

use super::{TaskCaller, TaskManager, TaskSettings};
use crate::a2a::Refusal;
use crate::a2a::feed::{FeedItem, FeedUpdate, Subscription};
use crate::host::testing::served;
use crate::tokio_wait::{find, until};

mod broken;
mod contexts;
mod course;
mod injected;
mod listed;
mod load;
mod messages;
mod panics;
mod refused;
mod stopped;
mod streams;
mod stuck;
mod unchanged;

const ASKER: TaskCaller = TaskCaller { version: Version::V1_0, takes_message: false, names_tasks: false };

fn manager(text: &str) -> TaskManager {
    desk_with(text, TaskSettings::default())
}

fn desk_with(text: &str, settings: TaskSettings) -> TaskManager {
    TaskManager::open(served("test.harn", text, 2, None), settings).unwrap_or_else(|found| panic!("{found:?}"))
}

fn message(text: &str) -> Message {
    Message::new(Role::User, format!("m-{}", uuid::Uuid::new_v4()), vec![Part::text(text)])
}

fn request(message: Message) -> SendMessage {
    SendMessage { message, configuration: Configuration::default(), metadata: Data::Nil }
}

/// Returns a message to a task.
fn to(task: &Task, text: &str) -> Message {
    Message { task_id: Some(task.id.clone()), ..message(text) }
}

/// Sends a message, and waits until the task is over or waits for its caller.
async fn say(manager: &TaskManager, message: Message) -> Arc<Task> {
    let (id, _) = manager.send(request(message), ASKER).await.unwrap();
    manager.settled(&id).await.unwrap()
}

/// Returns the text of the status message.
fn said(task: &Arc<Task>) -> String {
    task.status.message.as_ref().map(|message| message.text()).unwrap_or_default()
}

/// Returns the content of an artifact, texts as they are and data as JSON.
fn artifact(task: &Arc<Task>, id: &str) -> String {
    let found = task.artifacts.iter().find(|artifact| &*artifact.artifact_id == id);
    found.map(|artifact| held(&artifact.parts)).unwrap_or_default()
}

fn held(parts: &[Part]) -> String {
    let held = parts.iter().map(|part| match &part.content {
        model::Content::Text(text) => text.to_string(),
        model::Content::Data(data) => data.to_json(),
        model::Content::Raw(raw) => format!("<{raw}>"),
        model::Content::Url(url) => format!("<{url}>"),
    });
    held.collect()
}

fn history(task: &Task) -> Vec<String> {
    task.history.iter().map(|message| format!("{}: {}", message.role.as_str(), held(&message.parts))).collect()
}

/// Returns all events to the end of a stream, one per line.
async fn lines_of(mut follows: Subscription) -> Vec<String> {
    let mut lines = Vec::new();
    while let Some(next) = follows.next().await {
        let (feed_update, is_last) = match next {
            FeedItem::Update(feed_update, is_last) => (feed_update, is_last),
            FeedItem::Lagged => {
                lines.push("lagged".to_owned());
                continue;
            }
            FeedItem::Left => {
                lines.push("left".to_owned());
                continue;
            }
        };
        let end = if is_last { " ." } else { "" };
        lines.push(match &*feed_update {
            FeedUpdate::Frame(frame) => format!("{}{end}", line(frame)),
            FeedUpdate::Reminder(_) => format!("reminder{end}"),
        });
    }
    lines
}

fn line(frame: &Frame) -> String {
    match frame {
        Frame::Task(task) => format!("task {}", task.status.state.as_str()),
        Frame::Message(message) => format!("message {}", message.text()),
        Frame::Status(update) => {
            let said = update.status.message.as_ref().map(|message| format!(" {}", held(&message.parts)));
            let beside =
                if update.metadata.is_nil() { String::new() } else { format!(" {}", update.metadata.to_json()) };
            format!("{}{}{beside}", update.status.state.as_str(), said.unwrap_or_default())
        }
        Frame::Artifact(update) => {
            let word = if update.append { "more of" } else { "artifact" };
            let last = if update.last_chunk { " whole" } else { "" };
            format!("{word} {}{last}: {}", update.artifact.artifact_id, held(&update.artifact.parts))
        }
    }
}

/// Waits until ended tasks have left nothing behind.
async fn until_clean(manager: &TaskManager) {
    let shared = &manager.0;
    let clean = || {
        let (contexts, idle) = shared.contexts.counts();
        shared.directory().open() == 0 && shared.sessions.count() == 0 && contexts == idle
    };
    // Sessions that end with their task are closed in the background.
    until("the sessions are closed", || clean() && shared.host.sessions().len() == shared.contexts.counts().1).await;
}

/// Asserts that a task is in this state.
fn is(task: &Arc<Task>, state: TaskState) {
    assert_eq!(task.status.state, state, "{}", said(task));
}
