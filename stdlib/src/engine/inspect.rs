//! Views of a session at work: its conversations, their reminders, the next prompt, types.

use super::Engine;
use crate::convert::TranscriptValue;
use lang::ast::{Module, NodeMap};
use lang::diagnostic::Diagnostic;
use lang::query::{MemberView, members_between};
use lang::resolve::{Role, Surroundings};
use lang::script::type_of;
use lang::source::SourceRef;
use lang::value::Value;
use runtime::lifecycle::{SelectInput, select};
use runtime::model::Request;
use runtime::render::{RenderOptions, render};
use runtime::transcript::Transcript;
use std::sync::Arc;

/// A conversation: a session, or a transcript that a name is bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationView {
    /// The id of the session, or the name.
    pub name: String,
    /// Whether it is a session.
    pub is_session: bool,
    /// Number of messages.
    pub messages: usize,
    /// The pending reminders, oldest first.
    pub reminders: Vec<ReminderView>,
}

/// A pending reminder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReminderView {
    /// The key, else the tags, else the id.
    pub name: String,
    /// The text.
    pub body: String,
    /// Number of prompts in which it still appears; `None` if it stays until it is cleared.
    pub ttl_left: Option<u32>,
    /// Whether compaction keeps it.
    pub preserved: bool,
    /// The sessions that inherit it.
    pub propagate: String,
    /// The requested slot.
    pub slot: String,
}

impl Engine {
    /// Returns the open sessions, then the transcripts that names are bound to.
    #[must_use]
    pub fn conversations(&self) -> Vec<ConversationView> {
        let sessions = self.world.agents.sessions.list().into_iter().filter_map(|id| {
            let transcript = self.world.agents.sessions.get(&id).ok()?.transcript();
            Some(view(&id, true, &transcript))
        });
        let names = self.names.borrow();
        let bound = names.iter().filter(|outer| outer.builtin.is_none() && outer.name != super::piece::LAST);
        let transcripts = bound.filter_map(|outer| {
            let value = self.isolate.global(outer.slot);
            Some(view(&outer.name, false, &value.as_host::<TranscriptValue>()?.transcript))
        });
        sessions.chain(transcripts).collect()
    }

    /// Returns the transcript of a session or of a name as a model reads it; `None` if there is none.
    #[must_use]
    pub fn conversation_text(&self, name: &str) -> Option<String> {
        self.transcript_of(name).map(|transcript| transcript.render_visible())
    }

    /// Returns the messages of the next prompt of a session or of a name, as the provider would get them: role and text, with
    /// reminders in their slots. `None` if there is no such conversation.
    #[must_use]
    pub fn next_prompt(&self, name: &str, provider: &str) -> Option<Vec<(String, String)>> {
        let mut transcript = self.transcript_of(name)?;
        let capabilities = self.world.services.routes.capabilities(provider);
        // The copy is dropped, so this only looks.
        let selected = select(&mut transcript, &SelectInput::default()).shown;
        let rendered = render(&selected, &capabilities, RenderOptions::default());
        let messages = transcript.messages().clone();
        let request = Request { messages, reminders: Arc::new(rendered), ..Request::default() };
        let system = request.system_text().map(|text| ("system".to_owned(), text));
        let conversation = request.conversation();
        let messages =
            conversation.iter().map(|message| (message.role.as_str().to_owned(), message.text().to_string()));
        Some(system.into_iter().chain(messages).collect())
    }

    fn transcript_of(&self, name: &str) -> Option<Transcript> {
        if let Ok(session) = self.world.agents.sessions.get(name) {
            return Some(session.transcript());
        }
        self.value_of(name)?.as_host::<TranscriptValue>().map(|value| value.transcript.clone())
    }

    /// Returns the type of the last expression of a text, which is not run. A name of the session has the type of its value.
    ///
    /// # Errors
    /// Returns the errors of its syntax and of its names.
    pub fn type_of(&self, source: &SourceRef) -> Result<String, Vec<Diagnostic>> {
        let name = source.text().trim();
        let bound = self.names.borrow().iter().any(|outer| outer.name == name && outer.def.is_none());
        if let Some(value) = self.value_of(name).filter(|_| bound) {
            return Ok(value.type_name().to_owned());
        }
        let outer = self.names.borrow().clone();
        type_of(&self.isolate, source, &outer, &self.types.borrow())
    }

    /// Returns the members of what is before the dot at the end of a text, by its type: nothing runs.
    pub(crate) fn members_between(&self, before: &str, after: &str) -> Option<Vec<MemberView>> {
        let outer = self.names.borrow().clone();
        let around = |_: &Module| Surroundings { outer: &outer, links: NodeMap::default(), role: Role::Piece };
        members_between(
            "<completion>",
            before,
            after,
            self.isolate.registry(),
            around,
            ([], Some(&self.types.borrow())),
        )
    }

    /// Returns the keys of a dict or record that a name is bound to, through fields: `answer.usage`.
    pub(crate) fn value_at(&self, path: &str) -> Option<Value> {
        let mut parts = path.split('.');
        let mut value = self.value_of(parts.next()?)?;
        for part in parts {
            value = match &value {
                Value::Dict(dict) => dict.dict.get_str(part)?.clone(),
                _ => return None,
            };
        }
        Some(value)
    }
}

fn view(name: &str, is_session: bool, transcript: &Transcript) -> ConversationView {
    let reminders = transcript.pending().map(|pending| {
        let (reminder, data) = (&pending.reminder, transcript.reminder_to_data(pending));
        let word = |key: &str| data.get(key).as_str().unwrap_or("").to_owned();
        let tags = (!reminder.tags.is_empty()).then(|| reminder.tags.join(", "));
        let key = reminder.dedupe_key.as_ref().map(ToString::to_string);
        ReminderView {
            name: key.or(tags).unwrap_or_else(|| reminder.id.to_string()),
            body: reminder.body.to_string(),
            ttl_left: transcript.ttl_left(pending),
            preserved: reminder.preserve_on_compact,
            propagate: word("propagate"),
            slot: word("role_hint"),
        }
    });
    let (name, messages) = (name.to_owned(), transcript.messages().len());
    ConversationView { name, is_session, messages, reminders: reminders.collect() }
}
