//! A transcript as scripts read it: like a dict, one key at a time, so that reading `t.id` builds no list of messages.

use std::sync::Arc;

use base::data::Data;

use crate::message::Message;

use super::{PendingReminder, Transcript};

impl Transcript {
    /// Returns the keys of the dict-like view, in bytewise order; those without a value are left out.
    #[must_use]
    pub fn keys(&self) -> Vec<&'static str> {
        let mut keys = vec!["_type"];
        if !self.assets.is_nil() {
            keys.push("assets");
        }
        keys.extend(["events", "id", "messages"]);
        if !self.metadata.is_nil() {
            keys.push("metadata");
        }
        if self.summary.is_some() {
            keys.push("summary");
        }
        keys.push("version");
        keys
    }

    /// Returns the value under a key; nil if there is none.
    #[must_use]
    pub fn get(&self, key: &str) -> Data {
        match key {
            "_type" => "transcript".into(),
            "version" => Self::VERSION.into(),
            "id" => (&self.id).into(),
            "messages" => self.messages.iter().map(|message| message.to_data()).collect(),
            "events" => self.events().map(|event| event.to_data(self.account.charged)).collect(),
            "assets" => self.assets.clone(),
            "metadata" => self.metadata.clone(),
            "summary" => self.summary.clone().into(),
            _ => Data::Nil,
        }
    }

    /// Converts the whole to a dict.
    #[must_use]
    pub fn to_data(&self) -> Data {
        Data::dict(self.keys().into_iter().map(|key| (key, self.get(key))))
    }

    /// Converts a pending reminder to the value that scripts see, with its current `ttl_turns`.
    #[must_use]
    pub fn reminder_to_data(&self, pending: &PendingReminder) -> Data {
        pending.reminder.to_data(self.ttl_left(pending))
    }

    /// Converts the pending reminders to the values that scripts see, oldest first.
    #[must_use]
    pub fn reminders_to_data(&self) -> Data {
        self.pending().map(|pending| self.reminder_to_data(pending)).collect()
    }

    /// Converts the events of one kind, oldest first.
    #[must_use]
    pub fn events_to_data(&self, kind: Option<&str>) -> Data {
        let wanted = self.events().filter(|event| kind.is_none_or(|kind| event.kind.as_ref() == kind));
        wanted.map(|event| event.to_data(self.account.charged)).collect()
    }

    /// Returns counts: messages, events, pending reminders, tool calls, estimated tokens.
    #[must_use]
    pub fn stats(&self) -> Data {
        let tool_calls: usize = self.messages.iter().map(|message| message.tool_calls.len()).sum();
        Data::dict([
            ("message_count", Data::from(self.messages.len())),
            ("event_count", self.event_count().into()),
            ("reminder_count", self.pending_count().into()),
            ("tool_call_count", tool_calls.into()),
            ("estimated_tokens", self.estimated_tokens().into()),
        ])
    }

    /// Returns the visible conversation as text.
    #[must_use]
    pub fn render_visible(&self) -> String {
        self.messages.iter().filter_map(line).collect::<Vec<_>>().join("\n\n")
    }

    /// Returns the conversation as text, pending reminders after it.
    #[must_use]
    pub fn render_full(&self) -> String {
        let reminders = self.pending().map(|pending| format!("[system_reminder] {}", pending.reminder.body));
        self.messages.iter().filter_map(line).chain(reminders).collect::<Vec<_>>().join("\n\n")
    }
}

fn line(message: &Arc<Message>) -> Option<String> {
    let text = message.text();
    let calls: Vec<String> =
        message.tool_calls.iter().map(|call| format!("{}({})", call.name, call.arguments)).collect();
    match (text.trim().is_empty(), calls.is_empty()) {
        (true, true) => None,
        (false, true) => Some(format!("{}: {text}", message.role)),
        (true, false) => Some(format!("{}: {}", message.role, calls.join(", "))),
        (false, false) => Some(format!("{}: {text}\n{}", message.role, calls.join(", "))),
    }
}
