//! [`Event`]: what a session shows while it works. Plain data in no wire's shape; what is worth showing again when the
//! session is loaded is kept in the event log.

use std::sync::Arc;

use runtime::data::Data;
use runtime::message::ToolCall;
use runtime::model::Usage;
use runtime::reminder::Reminder;
use runtime::reminder::lifecycle::ExpireReason;
use stdlib::Said;

pub use stdlib::{Made, Part, PlanEntry, Priority, Progress};

/// What a session shows while it works.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// What the user said: of a prompt, or put in for a running one.
    UserMessage {
        /// The message.
        message_id: Arc<str>,
        /// Text or blocks.
        content: Data,
    },
    /// A piece of the agent's answer.
    Text {
        /// The message that the piece belongs to.
        message_id: Arc<str>,
        /// The piece.
        text: Arc<str>,
    },
    /// The agent's answer is data.
    Data {
        /// The message that it is.
        message_id: Arc<str>,
        /// A dict or list.
        data: Data,
    },
    /// A piece of what the model thinks.
    Thought {
        /// The message that the piece belongs to.
        message_id: Arc<str>,
        /// The piece.
        text: Arc<str>,
    },
    /// The model wants a tool.
    ToolCall {
        /// The call.
        call: ToolCall,
        /// The tool's annotations, a dict or nil.
        annotations: Data,
    },
    /// The tool runs.
    ToolBegan {
        /// The call's id.
        id: Arc<str>,
    },
    /// The call is over.
    ToolEnded {
        /// The call's id.
        id: Arc<str>,
        /// What the model sees of it.
        text: Arc<str>,
        /// What the tool returned.
        value: Data,
        /// Whether it did what was asked.
        ok: bool,
    },
    /// What the agent means to do; each plan takes the place of the last.
    Plan(Vec<PlanEntry>),
    /// A model has answered.
    Usage {
        /// The tokens of this call.
        call: Usage,
        /// How many tokens the model can take, where that is known.
        context_window: Option<u64>,
    },
    /// The session has another mode.
    Mode(Arc<str>),
    /// The session has a title.
    Title(Arc<str>),
    /// What the script says it is at.
    Status {
        /// The message that it is where the peer knows no states.
        message_id: Arc<str>,
        /// In words.
        text: Arc<str>,
        /// How far it has come, as [`Said::Status`] has it.
        partial: Data,
    },
    /// Something made for the user, or more of it.
    Artifact {
        /// The message that it is where the peer knows no artifacts.
        message_id: Arc<str>,
        /// The artifact.
        made: Made,
    },
    /// The script waits for an answer, which is the next prompt.
    Question {
        /// The message.
        message_id: Arc<str>,
        /// What it asks.
        text: Arc<str>,
    },
    /// A reminder has come or gone.
    Reminder(ReminderEvent),
}

/// Returns an id that no message of any process has: a client keeps the messages of a session over many of them.
#[must_use]
pub fn new_message_id() -> Arc<str> {
    uuid::Uuid::new_v4().to_string().into()
}

impl From<Said> for Event {
    fn from(said: Said) -> Event {
        match said {
            Said::Status { text, partial } => Event::Status { message_id: new_message_id(), text, partial },
            Said::Title(title) => Event::Title(title),
            Said::Mode(mode) => Event::Mode(mode),
            Said::Plan(entries) => Event::Plan(entries),
            Said::Artifact(made) => Event::Artifact { message_id: new_message_id(), made },
        }
    }
}

/// What has become of a reminder of the session.
#[derive(Debug, Clone, PartialEq)]
pub enum ReminderEvent {
    /// It was put before the model.
    Emitted {
        /// The reminder.
        reminder: Arc<Reminder>,
        /// The turn whose prompt held it, from 1.
        turn: u32,
    },
    /// A newer one took the place of others.
    Deduped {
        /// The newer one.
        reminder_id: Arc<str>,
        /// The key that they share.
        dedupe_key: Arc<str>,
        /// The older ones.
        dropped_ids: Vec<Arc<str>>,
    },
    /// It is over.
    Expired {
        /// The reminder.
        reminder_id: Arc<str>,
        /// Why.
        reason: ExpireReason,
        /// The turn, from 1; nothing outside of any.
        turn: Option<u32>,
    },
}

impl ReminderEvent {
    /// A reminder was cleared before it reached a transcript.
    #[must_use]
    pub fn cleared(reminder_id: Arc<str>) -> ReminderEvent {
        ReminderEvent::Expired { reminder_id, reason: ExpireReason::Cleared, turn: None }
    }

    /// A newer reminder took the place of others that were still queued; nothing where there are none.
    #[must_use]
    pub fn displaced(newer: &Arc<str>, dedupe_key: Option<&str>, dropped_ids: &[Arc<str>]) -> Option<ReminderEvent> {
        let dedupe_key = dedupe_key.filter(|_| !dropped_ids.is_empty())?.into();
        Some(ReminderEvent::Deduped { reminder_id: newer.clone(), dedupe_key, dropped_ids: dropped_ids.to_vec() })
    }
}
