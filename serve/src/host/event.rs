//! [`SessionEvent`]: an event of a session for its client. Plain data, independent of the protocol; events that a
//! client needs again when it loads the session are stored in the event log.

use std::sync::Arc;

use base::data::Data;
use runtime::message::ToolCall;
use runtime::reminder::bridge::RemindPayload;
use runtime::reminder::expectation::JudgedBy;
use runtime::reminder::{ExpireReason, Reminder};
use runtime::usage::Usage;
use stdlib::TaskUpdate;

pub use stdlib::{Part, PlanEntry, Priority, Progress, TaskArtifact};

/// An event of a session for its client.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionEvent {
    /// A message of the user: from a prompt, or injected into a running one.
    UserMessage {
        /// The id of the message.
        message_id: Arc<str>,
        /// Text or blocks.
        content: Data,
    },
    /// A piece of the agent's answer.
    Text {
        /// The id of the message that the piece belongs to.
        message_id: Arc<str>,
        /// The piece.
        text: Arc<str>,
    },
    /// An answer of the agent that is data.
    Data {
        /// The id of the message.
        message_id: Arc<str>,
        /// A dict or list.
        data: Data,
    },
    /// A piece of the model's reasoning.
    Thought {
        /// The id of the message that the piece belongs to.
        message_id: Arc<str>,
        /// The piece.
        text: Arc<str>,
    },
    /// The model calls a tool.
    ToolCall {
        /// The call.
        call: ToolCall,
        /// The tool's annotations, a dict or nil.
        annotations: Data,
    },
    /// The tool starts.
    ToolBegan {
        /// The id of the call.
        id: Arc<str>,
    },
    /// The call has ended.
    ToolEnded {
        /// The id of the call.
        id: Arc<str>,
        /// The result as the model sees it.
        text: Arc<str>,
        /// The value that the tool returned.
        value: Data,
        /// Whether the call succeeded.
        ok: bool,
    },
    /// The agent's plan; each replaces the previous one.
    Plan(Vec<PlanEntry>),
    /// A model has responded.
    Usage {
        /// The token usage of this call.
        call: Usage,
        /// The model's context size in tokens, if known.
        context_window: Option<u64>,
    },
    /// The session's mode changed.
    Mode(Arc<str>),
    /// The session's title changed.
    Title(Arc<str>),
    /// A status text from the script.
    Status {
        /// The id of the message for peers without statuses.
        message_id: Arc<str>,
        /// The text.
        text: Arc<str>,
        /// The partial result. See [`TaskUpdate::Status`].
        partial: Data,
    },
    /// An artifact for the user, or an extension of one.
    Artifact {
        /// The id of the message for peers without artifacts.
        message_id: Arc<str>,
        /// The artifact.
        made: TaskArtifact,
    },
    /// The script waits for an answer, which is the next prompt.
    Question {
        /// The id of the message.
        message_id: Arc<str>,
        /// The question.
        text: Arc<str>,
    },
    /// An event of a reminder.
    Reminder(ReminderEvent),
    /// A reminder for the client's agent.
    Remind(Box<RemindPayload>),
    /// A line of the script's `log`.
    Log(Arc<str>),
}

/// Returns a message id that is unique across processes: a client keeps the messages of a session over many of them.
#[must_use]
pub fn new_message_id() -> Arc<str> {
    uuid::Uuid::new_v4().to_string().into()
}

impl From<TaskUpdate> for SessionEvent {
    fn from(said: TaskUpdate) -> SessionEvent {
        match said {
            TaskUpdate::Status { text, partial } => {
                SessionEvent::Status { message_id: new_message_id(), text, partial }
            }
            TaskUpdate::Title(title) => SessionEvent::Title(title),
            TaskUpdate::Mode(mode) => SessionEvent::Mode(mode),
            TaskUpdate::Plan(entries) => SessionEvent::Plan(entries),
            TaskUpdate::Remind(payload) => SessionEvent::Remind(payload),
            TaskUpdate::Artifact(made) => SessionEvent::Artifact { message_id: new_message_id(), made },
        }
    }
}

/// An event of a reminder in the session.
#[derive(Debug, Clone, PartialEq)]
pub enum ReminderEvent {
    /// The reminder was included in a prompt to the model.
    Emitted {
        /// The reminder.
        reminder: Arc<Reminder>,
        /// The turn of that prompt, from 1.
        turn: u32,
    },
    /// A newer reminder replaced others.
    Deduped {
        /// The id of the newer one.
        reminder_id: Arc<str>,
        /// The dedupe key that they share.
        dedupe_key: Arc<str>,
        /// The ids of the replaced ones.
        dropped_ids: Vec<Arc<str>>,
    },
    /// The reminder ended.
    Expired {
        /// The id of the reminder.
        reminder_id: Arc<str>,
        /// The reason.
        reason: ExpireReason,
        /// The turn, from 1; `None` outside of any turn.
        turn: Option<u32>,
    },
    /// It was decided whether a turn followed the reminder.
    Judged {
        /// The id of the reminder.
        reminder_id: Arc<str>,
        /// Whether the turn followed it.
        heeded: bool,
        /// The decider.
        judged_by: JudgedBy,
        /// The turn, from 1.
        turn: u32,
    },
}

impl ReminderEvent {
    /// Returns the event of a reminder that was cleared before it reached a transcript.
    #[must_use]
    pub fn cleared(reminder_id: Arc<str>) -> ReminderEvent {
        ReminderEvent::Expired { reminder_id, reason: ExpireReason::Cleared, turn: None }
    }

    /// Returns the event of a reminder that replaced queued ones; `None` if there are none.
    #[must_use]
    pub fn displaced(newer: &Arc<str>, dedupe_key: Option<&str>, dropped_ids: &[Arc<str>]) -> Option<ReminderEvent> {
        let dedupe_key = dedupe_key.filter(|_| !dropped_ids.is_empty())?.into();
        Some(ReminderEvent::Deduped { reminder_id: newer.clone(), dedupe_key, dropped_ids: dropped_ids.to_vec() })
    }
}
