//! The journal of a running conversation: each change of a session is a record of one of two topics. Served sessions
//! write these records to the event log, persisted loops to a file of their own; both read them back with
//! [`Conversation::apply`].
//! | topic | records |
//! |---|---|
//! | `session.message` | `appended`, `replaced`: the durable messages |
//! | `session.state` | `described`: summary, metadata, assets; `remembered`: data of reminder providers |

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::data::Data;
use crate::message::{Message, Messages};

use super::State;

mod messages;

/// The topic of the durable messages.
pub const MESSAGE_TOPIC: &str = "session.message";
/// The topic of what else of a conversation survives.
pub const STATE_TOPIC: &str = "session.state";

/// A record of a change. Its kind is `topic.word`.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The topic.
    pub topic: &'static str,
    /// Kind of the change.
    pub word: &'static str,
    /// How.
    pub payload: Data,
}

/// A conversation as its records tell it.
#[derive(Debug, Clone, Default)]
pub struct Conversation {
    /// The durable messages.
    pub messages: Vec<Arc<Message>>,
    /// The summary of what was compacted away.
    pub summary: Option<Arc<str>>,
    /// Free data of the script.
    pub metadata: Data,
    /// Attached things.
    pub assets: Data,
    /// Data that reminder providers keep.
    pub provider_memory: BTreeMap<Arc<str>, Data>,
}

impl Conversation {
    /// Applies a record. Those of other topics and words are passed over.
    ///
    /// # Errors
    /// Why it cannot be read, as the end of a sentence.
    pub fn apply(&mut self, topic: &str, word: &str, payload: &Data) -> Result<(), String> {
        match (topic, word) {
            (MESSAGE_TOPIC, word) => messages::apply(&mut self.messages, word, payload)?,
            (STATE_TOPIC, "described") => {
                self.summary = payload.get("summary").as_shared_str();
                self.metadata = payload.get("metadata").clone();
                self.assets = payload.get("assets").clone();
            }
            (STATE_TOPIC, "remembered") => {
                let providers = payload.get("providers").as_dict().cloned().unwrap_or_default();
                self.provider_memory = providers.into_iter().collect();
            }
            _ => {}
        }
        Ok(())
    }
}

/// The part of a conversation that has been written, so that only changes are written next.
#[derive(Debug, Clone, Default)]
pub struct ConversationJournal {
    messages: Messages,
    described: Described,
    remembered: BTreeMap<Arc<str>, Data>,
}

/// The description of a conversation besides its messages.
#[derive(Debug, Clone, Default, PartialEq)]
struct Described {
    summary: Option<Arc<str>>,
    metadata: Data,
    assets: Data,
}

impl ConversationJournal {
    /// Continues the journal of a conversation that was read back.
    #[must_use]
    pub fn after(conversation: &Conversation) -> ConversationJournal {
        let Conversation { messages, summary, metadata, assets, provider_memory } = conversation;
        ConversationJournal {
            messages: messages.iter().cloned().collect(),
            described: Described { summary: summary.clone(), metadata: metadata.clone(), assets: assets.clone() },
            remembered: provider_memory.clone(),
        }
    }

    /// Continues the journal of a session of which everything is written.
    #[must_use]
    pub fn of(state: &State) -> ConversationJournal {
        let mut journal = ConversationJournal::default();
        journal.changes(state);
        journal
    }

    /// Returns the records of what has changed since the last call. Costs what has changed.
    pub fn changes(&mut self, now: &State) -> Vec<Change> {
        let transcript = &now.transcript;
        let listed = messages::changes(&self.messages, transcript.messages());
        let mut changes: Vec<Change> =
            listed.into_iter().map(|(word, payload)| Change { topic: MESSAGE_TOPIC, word, payload }).collect();
        self.messages = transcript.messages().clone();
        let old = &self.described;
        if old.summary != transcript.summary || old.metadata != transcript.metadata || old.assets != transcript.assets {
            let (summary, metadata) = (transcript.summary.clone(), transcript.metadata.clone());
            self.described = Described { summary, metadata, assets: transcript.assets.clone() };
            changes.push(Change { topic: STATE_TOPIC, word: "described", payload: self.described.to_data() });
        }
        if self.remembered != now.provider_memory {
            self.remembered = now.provider_memory.clone();
            let providers = Data::dict(self.remembered.iter().map(|(id, memory)| (id.clone(), memory.clone())));
            let payload = Data::dict([("providers", providers)]);
            changes.push(Change { topic: STATE_TOPIC, word: "remembered", payload });
        }
        changes
    }
}

impl Described {
    fn to_data(&self) -> Data {
        Data::dict([
            ("summary", Data::from(self.summary.as_ref())),
            ("metadata", self.metadata.clone()),
            ("assets", self.assets.clone()),
        ])
    }
}
