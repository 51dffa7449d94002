//! [`UpdateConverter`]: converts the events of a session to notifications for the client.
//!
//! One event becomes one or more frames. Updates that the protocol defines use its own types; others (reminders) use
//! the names in [`crate::wire`]. [`Outbox`] holds the events that the client has not read, for all sessions of a
//! connection.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use agent_client_protocol_schema::MaybeUndefined;
use agent_client_protocol_schema::v1 as acp;
use base::data::Data;
use base::words::words;
use runtime::message::ToolCall;
use runtime::usage::Usage;
use serde_json::{Value, json};

use crate::host::{PlanEntry, Priority, Progress, SessionEvent};

mod content;
mod outbox;
mod reminder;
mod tool_call;

#[cfg(test)]
mod tests;

pub use outbox::Outbox;

/// A notification to the client.
#[derive(Debug, Clone, PartialEq)]
pub struct UpdateNotification {
    /// The name of the method.
    pub method: &'static str,
    /// The parameters.
    pub params: Value,
}

words! {
    /// The clients that get the three updates on reminders. Any other client gets each event in `_meta.harn.reminder`.
    #[derive(Default)]
    pub enum ReminderUpdates {
        /// Clients that request them.
        #[default]
        Asked = "auto",
        /// Every client.
        Always = "always",
        /// No client.
        Never = "never",
    }
}

/// The optional updates that a client accepts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WantedUpdates {
    /// The updates `reminder_emitted`, `reminder_deduped` and `reminder_expired`.
    pub reminders: bool,
    /// Notices to the user.
    pub notices: bool,
}

impl WantedUpdates {
    /// Combines the client's capabilities with the server's setting.
    #[must_use]
    pub fn of(client: &acp::ClientCapabilities, reminders: ReminderUpdates) -> WantedUpdates {
        let harn = client.meta.as_ref().and_then(|meta| meta.get("harn"));
        let asked = harn.and_then(|harn| harn.get("reminders")).and_then(Value::as_bool) == Some(true);
        WantedUpdates {
            reminders: match reminders {
                ReminderUpdates::Asked => asked,
                ReminderUpdates::Always => true,
                ReminderUpdates::Never => false,
            },
            notices: client.session.as_ref().is_some_and(|session| session.notices.is_some()),
        }
    }
}

/// The maximum number of ids of tool calls that a session remembers. An older id that a vendor uses again appears as
/// the same call to the client.
const MAX_CALL_IDS: usize = 10_000;

/// Converts the events of a session to notifications.
#[derive(Debug)]
pub struct UpdateConverter {
    session_id: Arc<str>,
    /// The base of relative paths in tool calls.
    cwd: PathBuf,
    wants: WantedUpdates,
    /// Tool calls by id, and the ids in the order of their first calls.
    calls: HashMap<Arc<str>, KnownCalls>,
    call_ids: VecDeque<Arc<str>>,
    /// The cost of all model calls in nano-dollars: `None` once the price of a call is unknown.
    spent: Option<u64>,
}

/// The known calls with one id: some vendors restart their numbering in each response.
#[derive(Debug, Default)]
struct KnownCalls {
    /// The number of calls.
    times: u32,
    /// Whether the client shows the diff of the latest call.
    has_diff: bool,
}

impl UpdateConverter {
    /// Creates the updates of a session whose tools start from `cwd`.
    #[must_use]
    pub fn new(session_id: Arc<str>, cwd: PathBuf, wants: WantedUpdates) -> UpdateConverter {
        UpdateConverter { session_id, cwd, wants, calls: HashMap::new(), call_ids: VecDeque::new(), spent: Some(0) }
    }

    /// Returns the frames for an event.
    pub fn frames(&mut self, event: SessionEvent) -> Vec<UpdateNotification> {
        match event {
            SessionEvent::UserMessage { message_id, content } => self.user_said(&message_id, &content),
            SessionEvent::Text { message_id, text } => {
                self.said(&message_id, &text, acp::SessionUpdate::AgentMessageChunk)
            }
            SessionEvent::Data { message_id, data } => {
                self.said(&message_id, &data.to_json(), acp::SessionUpdate::AgentMessageChunk)
            }
            SessionEvent::Thought { message_id, text } => {
                self.said(&message_id, &text, acp::SessionUpdate::AgentThoughtChunk)
            }
            SessionEvent::ToolCall { call, annotations } => {
                self.remember_call(&call.id);
                let shown = tool_call::begun(&call, &annotations, self.call_id(&call.id), &self.cwd);
                self.calls.entry(call.id).or_default().has_diff = !shown.content.is_empty();
                self.one(acp::SessionUpdate::ToolCall(shown))
            }
            SessionEvent::ToolBegan { id } => {
                self.one(acp::SessionUpdate::ToolCallUpdate(tool_call::runs(self.call_id(&id))))
            }
            SessionEvent::ToolEnded { id, text, value, ok } => {
                let keeps_diff = ok && self.calls.get(&id).is_some_and(|known| known.has_diff);
                let ended = tool_call::ended(self.call_id(&id), &text, &value, ok, keeps_diff);
                self.one(acp::SessionUpdate::ToolCallUpdate(ended))
            }
            SessionEvent::Plan(entries) => self.one(acp::SessionUpdate::Plan(plan(&entries))),
            SessionEvent::Usage { call, context_window } => self.usage(call, context_window),
            SessionEvent::Mode(mode) => {
                self.one(acp::SessionUpdate::CurrentModeUpdate(acp::CurrentModeUpdate::new(mode.to_string())))
            }
            // Only MCP clients get these.
            SessionEvent::Remind(_) | SessionEvent::Log(_) => Vec::new(),
            SessionEvent::Title(title) => {
                let title = MaybeUndefined::Value(title.to_string());
                self.one(acp::SessionUpdate::SessionInfoUpdate(acp::SessionInfoUpdate::new().title(title)))
            }
            SessionEvent::Status { message_id, text, partial } => self.status(&message_id, &text, &partial),
            SessionEvent::Artifact { message_id, made } => {
                self.chunks(content::of_artifact(&made), &message_id, acp::SessionUpdate::AgentMessageChunk)
            }
            SessionEvent::Question { message_id, text } => {
                let marked = content::marked(acp::ContentChunk::new(text.as_ref().into()), "question", true.into());
                self.chunks(vec![marked], &message_id, acp::SessionUpdate::AgentMessageChunk)
            }
            SessionEvent::Reminder(event) => {
                vec![reminder::frame(&self.session_id, &event, self.wants.reminders)]
            }
        }
    }

    /// Counts a call with this id, and forgets the oldest id beyond the limit.
    fn remember_call(&mut self, id: &Arc<str>) {
        let known = self.calls.entry(id.clone()).or_default();
        known.times += 1;
        if known.times == 1 {
            self.call_ids.push_back(id.clone());
        }
        if self.call_ids.len() > MAX_CALL_IDS
            && let Some(oldest) = self.call_ids.pop_front()
        {
            self.calls.remove(&oldest);
        }
    }

    /// Returns the client's id of the latest call with this id.
    #[must_use]
    pub fn call_id(&self, id: &Arc<str>) -> Arc<str> {
        match self.calls.get(id) {
            Some(KnownCalls { times, .. }) if *times > 1 => format!("{id}#{times}").into(),
            _ => id.clone(),
        }
    }

    /// Returns a call for a permission request.
    #[must_use]
    pub fn tool_call(&self, call: &ToolCall, annotations: &Data) -> acp::ToolCallUpdate {
        tool_call::begun(call, annotations, self.call_id(&call.id), &self.cwd).into()
    }

    fn user_said(&mut self, id: &Arc<str>, content: &Data) -> Vec<UpdateNotification> {
        self.chunks(content::of_message(content), id, acp::SessionUpdate::UserMessageChunk)
    }

    fn said(
        &mut self,
        id: &Arc<str>,
        text: &str,
        as_: fn(acp::ContentChunk) -> acp::SessionUpdate,
    ) -> Vec<UpdateNotification> {
        if text.is_empty() {
            return Vec::new();
        }
        self.chunks(vec![acp::ContentChunk::new(text.into())], id, as_)
    }

    fn chunks(
        &mut self,
        chunks: Vec<acp::ContentChunk>,
        id: &Arc<str>,
        as_: fn(acp::ContentChunk) -> acp::SessionUpdate,
    ) -> Vec<UpdateNotification> {
        let id = acp::MessageId::new(id.clone());
        chunks.into_iter().flat_map(|chunk| self.one(as_(chunk.message_id(id.clone())))).collect()
    }

    /// Returns a notice for a client that accepts notices, or an agent message for any other.
    fn status(&mut self, message_id: &Arc<str>, text: &str, partial: &Data) -> Vec<UpdateNotification> {
        if text.is_empty() {
            return Vec::new();
        }
        if self.wants.notices {
            return self.one(acp::SessionUpdate::Notice(acp::Notice::new(acp::NoticeSeverity::Info, text)));
        }
        let about = if partial.is_nil() { true.into() } else { Value::from(partial) };
        let marked = content::marked(acp::ContentChunk::new(text.into()), "status", about);
        self.chunks(vec![marked], message_id, acp::SessionUpdate::AgentMessageChunk)
    }

    /// Reports the fill level of the model's context. If the context size is unknown, the protocol cannot express it.
    fn usage(&mut self, call: Usage, context_window: Option<u64>) -> Vec<UpdateNotification> {
        self.spent = self.spent.zip(call.cost_nano_usd).map(|(spent, cost)| spent.saturating_add(cost));
        let Some(size) = context_window else { return Vec::new() };
        let mut update = acp::UsageUpdate::new(call.input_tokens.saturating_add(call.output_tokens), size);
        let spent = Usage { cost_nano_usd: self.spent, ..Usage::default() };
        if let Some(amount) = spent.cost_usd() {
            update = update.cost(acp::Cost::new(amount, "USD"));
        }
        self.one(acp::SessionUpdate::UsageUpdate(update))
    }

    fn one(&self, update: acp::SessionUpdate) -> Vec<UpdateNotification> {
        // All values are text, numbers, lists and dicts.
        serde_json::to_value(update).iter().map(|update| session_update(&self.session_id, update)).collect()
    }
}

/// Returns the notification for an update.
fn session_update(session_id: &str, update: &Value) -> UpdateNotification {
    UpdateNotification { method: "session/update", params: json!({"sessionId": session_id, "update": update}) }
}

fn plan(entries: &[PlanEntry]) -> acp::Plan {
    let entry = |entry: &PlanEntry| {
        let priority = match entry.priority {
            Priority::High => acp::PlanEntryPriority::High,
            Priority::Medium => acp::PlanEntryPriority::Medium,
            Priority::Low => acp::PlanEntryPriority::Low,
        };
        let status = match entry.status {
            Progress::Pending => acp::PlanEntryStatus::Pending,
            Progress::InProgress => acp::PlanEntryStatus::InProgress,
            Progress::Completed => acp::PlanEntryStatus::Completed,
        };
        acp::PlanEntry::new(entry.content.as_ref(), priority, status)
    };
    acp::Plan::new(entries.iter().map(entry).collect())
}
