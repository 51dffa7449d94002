//! The journal of a running conversation: each change of a session is a record of one of two topics. Served sessions
//! write these records to the event log, persisted loops to a file of their own; both read them back with
//! [`Conversation::apply`].
//! | topic | records |
//! |---|---|
//! | `session.message` | `appended`, `replaced`: the durable messages |
//! | `session.state` | `described`: summary, metadata, assets; `remembered`: data of reminder providers |

use std::collections::BTreeMap;
use std::sync::Arc;

use base::data::Data;

use crate::event_log::Topic;
use crate::message::{Message, Messages};

use super::SessionState;

mod messages;

/// A record of a change. Its kind is `topic.word`.
#[derive(Debug, Clone, PartialEq)]
pub struct JournalChange {
    /// The topic.
    pub topic: Topic,
    /// Kind of the change.
    pub word: &'static str,
    /// Payload of the change.
    pub payload: Data,
}

/// A conversation according to its records.
#[derive(Debug, Clone, Default)]
pub struct Conversation {
    /// The durable messages.
    pub messages: Vec<Arc<Message>>,
    /// Summary of the compacted messages.
    pub summary: Option<Arc<str>>,
    /// Free data of the script.
    pub metadata: Data,
    /// Attached data.
    pub assets: Data,
    /// Data that reminder providers keep.
    pub provider_memory: BTreeMap<Arc<str>, Data>,
}

impl Conversation {
    /// Applies a record. Records of other topics and words are skipped.
    ///
    /// # Errors
    /// Explains why the record is unreadable, as the end of a sentence.
    pub fn apply(&mut self, topic: Topic, word: &str, payload: &Data) -> Result<(), String> {
        match (topic, word) {
            (Topic::Message, word) => messages::apply(&mut self.messages, word, payload)?,
            (Topic::State, "described") => {
                self.summary = payload.get("summary").as_shared_str();
                self.metadata = payload.get("metadata").clone();
                self.assets = payload.get("assets").clone();
            }
            (Topic::State, "remembered") => {
                let providers = payload.get("providers").as_dict().cloned().unwrap_or_default();
                self.provider_memory = providers.into_iter().collect();
            }
            (
                Topic::State
                | Topic::Reminder
                | Topic::Turn
                | Topic::Injection
                | Topic::Activity
                | Topic::Permission
                | Topic::Life
                | Topic::Shown
                | Topic::Task
                | Topic::TaskContent
                | Topic::Hub
                | Topic::Channel,
                _,
            ) => {}
        }
        Ok(())
    }
}

/// The part of a conversation that has been written, so that only changes are written next.
#[derive(Debug, Clone, Default)]
pub struct ConversationJournal {
    messages: Messages,
    described: Description,
    remembered: BTreeMap<Arc<str>, Data>,
}

/// The description of a conversation besides its messages.
#[derive(Debug, Clone, Default, PartialEq)]
struct Description {
    summary: Option<Arc<str>>,
    metadata: Data,
    assets: Data,
}

impl ConversationJournal {
    /// Continues the journal of a restored conversation.
    #[must_use]
    pub fn after(conversation: &Conversation) -> ConversationJournal {
        let Conversation { messages, summary, metadata, assets, provider_memory } = conversation;
        ConversationJournal {
            messages: messages.iter().cloned().collect(),
            described: Description { summary: summary.clone(), metadata: metadata.clone(), assets: assets.clone() },
            remembered: provider_memory.clone(),
        }
    }

    /// Continues the journal of a session that is completely written.
    #[must_use]
    pub fn of(state: &SessionState) -> ConversationJournal {
        let mut journal = ConversationJournal::default();
        journal.changes(state);
        journal
    }

    /// Returns the records of the changes since the last call. The cost is proportional to the changes.
    pub fn changes(&mut self, now: &SessionState) -> Vec<JournalChange> {
        let transcript = &now.transcript;
        let listed = messages::changes(&self.messages, transcript.messages());
        let mut changes: Vec<JournalChange> =
            listed.into_iter().map(|(word, payload)| JournalChange { topic: Topic::Message, word, payload }).collect();
        self.messages = transcript.messages().clone();
        let old = &self.described;
        if old.summary != transcript.summary || old.metadata != transcript.metadata || old.assets != transcript.assets {
            let (summary, metadata) = (transcript.summary.clone(), transcript.metadata.clone());
            self.described = Description { summary, metadata, assets: transcript.assets.clone() };
            changes.push(JournalChange { topic: Topic::State, word: "described", payload: self.described.to_data() });
        }
        if self.remembered != now.provider_memory {
            self.remembered = now.provider_memory.clone();
            let providers = Data::dict(self.remembered.iter().map(|(id, memory)| (id.clone(), memory.clone())));
            let payload = Data::dict([("providers", providers)]);
            changes.push(JournalChange { topic: Topic::State, word: "remembered", payload });
        }
        changes
    }
}

impl Description {
    fn to_data(&self) -> Data {
        Data::dict([
            ("summary", Data::from(self.summary.as_ref())),
            ("metadata", self.metadata.clone()),
            ("assets", self.assets.clone()),
        ])
    }
}
