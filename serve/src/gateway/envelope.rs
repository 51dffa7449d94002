//! [`EventEnvelope`]: a record of the log as clients see it.
//!
//! The envelope of a record depends on nothing but the record, so every channel gets the same event for it, during the
//! run and after a restart.

use std::sync::Arc;

use a2a::TaskState;
use a2a::peer_task::{LocalTaskStatus, PeerContact, PeerTaskFacts, decide, local_status};
use base::data::Data;
use base::moment::rfc3339;
use base::words::{camel_case, words};
use eventlog::{RUN_ID, Record};
use runtime::event_log::Topic;
use serde::Serialize;

use super::event::EventGap;
use super::record::{ChannelRecordKind, data_of, kind_of};
use super::{ChannelEvent, RecordedChannelEvent};
use crate::host::PermissionSource;

/// The version of the schema of events.
pub const SCHEMA_VERSION: &str = "1.0";

words! {
    /// The type of an event. Types that start with `harn.` and `channel.peer_task.` are extensions.
    pub enum EventType {
        /// A session was created.
        SessionCreated = "session.created",
        /// A session was loaded or closed, or its title or mode changed.
        SessionUpdated = "session.updated",
        /// A prompt was submitted.
        TurnSubmitted = "turn.submitted",
        /// A prompt has its answer.
        TurnCompleted = "turn.completed",
        /// A prompt was refused, or failed.
        TurnFailed = "turn.failed",
        /// The plan of the agent.
        RunStatus = "run.status",
        /// A request was sent to a model.
        ModelRequested = "model.requested",
        /// A piece of an answer.
        ModelDelta = "model.delta",
        /// The text or data of an answer.
        ModelCompleted = "model.completed",
        /// A piece of reasoning.
        ReasoningDelta = "reasoning.delta",
        /// The text of reasoning.
        ReasoningSummary = "reasoning.summary",
        /// A tool is called.
        ToolStarted = "tool.started",
        /// A tool call has its result.
        ToolResult = "tool.result",
        /// A tool call failed.
        ToolFailed = "tool.failed",
        /// The agent waits for an answer.
        ActionRequired = "action.required",
        /// An injected item was queued, or left the queue.
        QueueChanged = "queue.changed",
        /// An artifact was made or extended.
        ArtifactChanged = "artifact.changed",
        /// A task was created.
        TaskStarted = "task.started",
        /// The status of a task changed.
        TaskUpdated = "task.updated",
        /// A task is completed.
        TaskCompleted = "task.completed",
        /// A task failed or was cancelled.
        TaskFailed = "task.failed",
        /// A permission was decided.
        PermissionResolved = "permission.resolved",
        /// Events are missing, because the log no longer has them.
        SnapshotRepaired = "snapshot.repaired",
        /// A peer becomes reachable.
        ChannelConnected = "channel.connected",
        /// A peer disconnects or misses heartbeats.
        ChannelDisconnected = "channel.disconnected",
        /// A peer continues at a cursor or by a token.
        ChannelResumed = "channel.resumed",
        /// A message that belongs to no turn.
        ChannelMessage = "channel.message",
        /// A permission request is forwarded to channels.
        ChannelPermissionForwarded = "channel.permission_forwarded",
        /// A permission request has its decision.
        ChannelPermissionReturned = "channel.permission_returned",
        /// A peer's task is linked to a local one.
        PeerTaskLinked = "channel.peer_task.linked",
        /// The state of a peer's task changed.
        PeerTaskUpdated = "channel.peer_task.updated",
        /// A message of the user.
        UserMessage = "harn.message",
        /// A change in the life of a reminder.
        Reminder = "harn.reminder",
    }
}

/// An event as clients see it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EventEnvelope {
    /// The type.
    pub r#type: EventType,
    /// The unique id.
    pub event_id: Arc<str>,
    /// The version of the schema.
    pub schema_version: &'static str,
    /// The time of the event, in RFC 3339.
    pub timestamp: String,
    /// The cursor of the record; `None` for a transient event, which is not on the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence: Option<u64>,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<Arc<str>>,
    /// The agent within the session: the session itself, or a sub-agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<Arc<str>>,
    /// The prompt that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<Arc<str>>,
    /// The task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<Arc<str>>,
    /// The run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<Arc<str>>,
    /// The tool call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<Arc<str>>,
    /// The trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<Arc<str>>,
    /// The content, which depends on the type.
    pub payload: Data,
}

/// The content of a record for clients.
struct EventContent {
    r#type: EventType,
    payload: Data,
    task_id: Option<Arc<str>>,
    tool_call_id: Option<Arc<str>>,
}

impl EventContent {
    fn new(r#type: EventType, payload: Data) -> EventContent {
        EventContent { r#type, payload, task_id: None, tool_call_id: None }
    }
}

impl EventEnvelope {
    /// Returns the event of a record; `None` if the record is not for clients.
    #[must_use]
    pub fn of(record: &Record) -> Option<EventEnvelope> {
        let payload = &*record.payload;
        let topic = Topic::named(&record.topic)?;
        let word = topic.word_of(&record.kind)?;
        let EventContent { r#type, payload: content, task_id, tool_call_id } = match topic {
            Topic::Life => of_life(word, payload),
            Topic::Shown => of_shown(word, payload)?,
            Topic::Injection => EventContent::new(
                EventType::QueueChanged,
                without(camel(payload), &["sessionId"]).with("change", word.into()),
            ),
            Topic::Reminder => of_reminder(word, payload)?,
            Topic::Turn if word == "prompt" => EventContent::new(
                EventType::ModelRequested,
                Data::dict_of_present(["provider", "model", "turn"].map(|key| (key, payload.get(key).clone()))),
            ),
            Topic::Task => of_task(word, payload),
            Topic::Channel => of_channel(record)?,
            Topic::Turn
            | Topic::Message
            | Topic::State
            | Topic::Activity
            | Topic::Permission
            | Topic::TaskContent
            | Topic::Hub => return None,
        };
        let text = |key: &str| payload.get(key).as_shared_str();
        let run_id = record.headers.get(RUN_ID).as_shared_str();
        let thread_id = text("session_id").or_else(|| payload.at("applies_to.session_id").as_shared_str());
        // The records of a sub-agent name its own session, and belong to the run of the served one.
        let is_session = |run: &&Arc<str>| run.starts_with("sess_");
        let session_id = run_id.as_ref().filter(is_session).or(thread_id.as_ref()).cloned();
        Some(EventEnvelope {
            r#type,
            event_id: format!("evt_{}", record.cursor).into(),
            schema_version: SCHEMA_VERSION,
            timestamp: rfc3339(record.occurred_at_ms),
            sequence: Some(record.cursor),
            session_id,
            thread_id,
            turn_id: text("turn_id"),
            task_id: task_id.or_else(|| text("task_id")),
            run_id,
            tool_call_id: tool_call_id.or_else(|| text("tool_call_id")),
            trace_id: text("trace_id"),
            payload: content,
        })
    }

    /// Creates an event that is not on the log, such as a piece of an answer. A client that resumes does not get it
    /// again.
    #[must_use]
    pub fn transient(r#type: EventType, session_id: &Arc<str>, payload: Data, now_ms: u64) -> EventEnvelope {
        EventEnvelope {
            r#type,
            event_id: format!("evt_{}", uuid::Uuid::new_v4().simple()).into(),
            schema_version: SCHEMA_VERSION,
            timestamp: rfc3339(now_ms),
            sequence: None,
            session_id: Some(session_id.clone()),
            thread_id: Some(session_id.clone()),
            turn_id: None,
            task_id: None,
            run_id: None,
            tool_call_id: None,
            trace_id: None,
            payload,
        }
    }

    /// Creates the event that marks missing events, because the log no longer has them. Its sequence is the last missing
    /// cursor, so that a client continues after the gap.
    #[must_use]
    pub fn repaired(session_id: &Arc<str>, gap: EventGap, now_ms: u64) -> EventEnvelope {
        let repaired = EventEnvelope::transient(EventType::SnapshotRepaired, session_id, data_of(&gap), now_ms);
        let event_id = format!("evt_{}_{}", gap.from, gap.to).into();
        EventEnvelope { event_id, sequence: Some(gap.to), ..repaired }
    }

    /// Returns the event as JSON, on one line.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Does not fail: it has only string keys.
        serde_json::to_string(self).unwrap_or_default()
    }
}

fn of_life(word: &str, payload: &Data) -> EventContent {
    let stop = payload.get("stop").as_str();
    let r#type = match word {
        "opened" => EventType::SessionCreated,
        "prompted" => EventType::TurnSubmitted,
        "answered" if matches!(stop, Some("failed" | "refused")) => EventType::TurnFailed,
        "answered" => EventType::TurnCompleted,
        _ => EventType::SessionUpdated,
    };
    let fields: &[&str] = match r#type {
        EventType::TurnCompleted | EventType::TurnFailed => &["stop", "reason"],
        EventType::TurnSubmitted => &[],
        _ => &["title", "mode", "cwd", "protocol"],
    };
    let content = Data::dict_of_present(fields.iter().map(|key| (*key, payload.get(key).clone())));
    EventContent::new(
        r#type,
        if r#type == EventType::SessionUpdated { content.with("change", word.into()) } else { content },
    )
}

fn of_shown(word: &str, payload: &Data) -> Option<EventContent> {
    let content = || without(camel(payload), &["sessionId", "turnId"]);
    let of = |r#type: EventType, tool_call_id: &Data, payload: Data| EventContent {
        tool_call_id: tool_call_id.as_shared_str(),
        ..EventContent::new(r#type, payload)
    };
    Some(match word {
        "user_message" => EventContent::new(EventType::UserMessage, content().with("role", "user".into())),
        "text" | "data" => EventContent::new(EventType::ModelCompleted, content()),
        "thought" => EventContent::new(EventType::ReasoningSummary, content()),
        "plan" => EventContent::new(EventType::RunStatus, Data::dict([("plan", payload.get("entries").clone())])),
        "artifact" => EventContent::new(EventType::ArtifactChanged, content()),
        "question" => EventContent::new(EventType::ActionRequired, content().with("kind", "question".into())),
        "tool_call" => {
            let call = payload.get("call");
            let content = Data::dict_of_present([
                ("toolCallId", call.get("id").clone()),
                ("name", call.get("name").clone()),
                ("arguments", call.get("arguments").clone()),
                ("annotations", payload.get("annotations").clone()),
            ]);
            of(EventType::ToolStarted, call.get("id"), content)
        }
        "tool_ended" => {
            let r#type = if payload.get("ok").truthy() { EventType::ToolResult } else { EventType::ToolFailed };
            let content = without(content(), &["id"]).with("toolCallId", payload.get("id").clone());
            of(r#type, payload.get("id"), content)
        }
        _ => return None,
    })
}

/// Returns the content of a reminder's record. Evaluations of providers are not for clients, since most of them have no
/// result.
fn of_reminder(word: &str, payload: &Data) -> Option<EventContent> {
    let content = without(camel(payload), &["sessionId", "taskId"]).with("change", word.into());
    (word != "provider_evaluated").then(|| EventContent::new(EventType::Reminder, content))
}

fn of_task(word: &str, payload: &Data) -> EventContent {
    let native = payload.get("state").as_str().and_then(|state| state.parse().ok()).unwrap_or(TaskState::Unknown);
    let contact = PeerContact::Reached;
    // The artifacts of a task that runs here are on the log before its last status.
    let state = decide(PeerTaskFacts { native, contact, quiet_ms: 0, artifacts_stored: true });
    let status = local_status(native, state);
    let r#type = match status {
        _ if word == "created" => EventType::TaskStarted,
        LocalTaskStatus::Completed => EventType::TaskCompleted,
        LocalTaskStatus::Failed | LocalTaskStatus::Cancelled => EventType::TaskFailed,
        _ => EventType::TaskUpdated,
    };
    let content = Data::dict_of_present([
        ("contextId", payload.get("context_id").clone()),
        ("status", status.as_str().into()),
        ("nativeStatus", native.as_str().into()),
        ("change", word.into()),
    ]);
    EventContent::new(r#type, content)
}

fn of_channel(record: &Record) -> Option<EventContent> {
    if kind_of(&record.topic, &record.kind)? == ChannelRecordKind::Permission {
        let payload = &*record.payload;
        // An answer of a channel that may not answer decides nothing. The record is for people who examine the log.
        if payload.get("source").as_str() == Some(PermissionSource::Auth.as_str()) {
            return None;
        }
        let content = without(camel(payload), &["sessionId"]);
        let tool_call_id = payload.at("applies_to.tool_call_id").as_shared_str();
        return Some(EventContent { tool_call_id, ..EventContent::new(EventType::PermissionResolved, content) });
    }
    let RecordedChannelEvent { channel_id, event, .. } = RecordedChannelEvent::read(record)?.ok()?;
    let logged = match &event {
        // The log has the data together with the action that sent it.
        ChannelEvent::Message { text, data, .. } => {
            Data::dict_of_present([("text", Data::from(text)), ("data", data.clone())])
        }
        event => event.payload(),
    };
    let tool_call_id = logged.at("applies_to.tool_call_id").as_shared_str();
    let task_id = logged.get("task_id").as_shared_str();
    let content = without(camel(&logged), &["sessionId", "taskId"]);
    let content = match &channel_id {
        Some(channel_id) => content.with("channelId", channel_id.into()),
        None => content,
    };
    // Both enums have the same words, which a test shows.
    let r#type = event.kind().as_str().parse().ok()?;
    Some(EventContent { task_id, tool_call_id, ..EventContent::new(r#type, content) })
}

/// Fields whose values belong to users, tools or peers, and are not changed.
const FOREIGN: [&str; 10] =
    ["arguments", "annotations", "metadata", "meta", "data", "value", "content", "covers", "message", "assets"];

/// Returns data with the keys of the wire.
pub(crate) fn camel(data: &Data) -> Data {
    match data {
        Data::Dict(entries) => Data::dict(entries.iter().map(|(key, value)| {
            let value = if FOREIGN.contains(&key.as_ref()) { value.clone() } else { camel(value) };
            (Arc::from(camel_case(key)), value)
        })),
        Data::List(items) => items.iter().map(camel).collect(),
        other => other.clone(),
    }
}

/// Returns data without fields that the envelope has, and without fields that are nil.
fn without(data: Data, fields: &[&str]) -> Data {
    match data {
        Data::Dict(entries) => Data::dict_of_present(
            entries
                .iter()
                .filter(|(key, _)| !fields.contains(&key.as_ref()))
                .map(|(key, value)| (key.clone(), value.clone())),
        ),
        other => other,
    }
}

#[cfg(test)]
mod tests;
