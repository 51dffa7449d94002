//! Reading a transcript from a dict.
use std::sync::Arc;

use base::data::{Data, Entries};
use base::ids::Ids;

use crate::message::{Message, MessageError};
use crate::reminder::policy::{self, PolicyRefusal};
use crate::transcript::{EventDetail, PendingReminder, Transcript, TranscriptEvent};

use super::{LifecycleRecord, ReminderOrigin, admit_as};

/// The reason a value is not a transcript.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TranscriptError {
    /// The value is not a dict.
    #[error("a transcript must be made from a dict, got {0}")]
    NotADict(&'static str),
    /// A field has the wrong type.
    #[error("`{field}` of a transcript must be {expected}, got {got}")]
    Type {
        /// The field.
        field: &'static str,
        /// The expected value.
        expected: &'static str,
        /// The found value.
        got: &'static str,
    },
    /// A message is invalid; its index, from 0.
    #[error("message {index}: {error}")]
    Message {
        /// Index of the message.
        index: usize,
        /// The error.
        error: MessageError,
    },
    /// The dict has a later version.
    #[error("this transcript has version {0}; the newest supported version is {known}", known = Transcript::VERSION)]
    Version(i64),
}

/// An imported transcript.
#[derive(Debug, Clone, Default)]
pub struct Imported {
    /// The transcript.
    pub transcript: Transcript,
    /// The records of its reminders.
    pub records: Vec<LifecycleRecord>,
    /// The refusals of the reminders that the policy of the process forbids: they are not in the transcript.
    pub refused: Vec<PolicyRefusal>,
}

impl From<Transcript> for Imported {
    fn from(transcript: Transcript) -> Imported {
        Imported { transcript, ..Imported::default() }
    }
}

impl Transcript {
    /// Builds a transcript from a script's value for reading only: its reminders are not recorded.
    pub fn from_data(data: &Data, ids: &dyn Ids, now_ms: u64) -> Result<Transcript, TranscriptError> {
        Ok(Self::import(data, ids, now_ms)?.transcript)
    }

    /// Builds a transcript from a script's value: `messages`, `metadata`, `summary`, `assets`; any other key is
    /// metadata. A dict with `_type: "transcript"` is restored whole, id and events included. Missing ids are
    /// generated. Its reminders are imported unchanged, as in a fork, and the records say so, except for those that the
    /// policy of the process refuses.
    pub fn import(data: &Data, ids: &dyn Ids, now_ms: u64) -> Result<Imported, TranscriptError> {
        let entries = match data {
            Data::Nil => return Ok(Transcript::new(ids.next_text(now_ms)).into()),
            Data::Dict(entries) => entries,
            other => return Err(TranscriptError::NotADict(other.type_name())),
        };
        let whole = data.get("_type").as_str() == Some("transcript");
        let id = data.get("id").as_shared_str().filter(|_| whole).unwrap_or_else(|| ids.next_text(now_ms));
        let mut transcript = Transcript::new(id);
        if whole {
            match data.get("version").as_int() {
                Some(version) if version > Self::VERSION => return Err(TranscriptError::Version(version)),
                _ => {}
            }
        }
        transcript.summary = match data.get("summary") {
            Data::Nil => None,
            Data::Str(text) => Some(text.clone()),
            other => return Err(wrong("summary", "a string", other)),
        };
        transcript.assets = match data.get("assets") {
            list @ (Data::Nil | Data::List(_)) => list.clone(),
            other => return Err(wrong("assets", "a list", other)),
        };
        transcript.metadata = read_metadata(entries, whole)?;
        let mut reader = TranscriptReader { transcript, records: Vec::new(), refused: Vec::new(), ids, now_ms };
        if whole {
            reader.read_events(data.get("events"))?;
        }
        reader.append_messages(data.get("messages"))?;
        Ok(reader.into_imported())
    }

    /// Builds a transcript from a list of messages; reminder events among them become pending.
    pub fn from_messages(messages: &Data, ids: &dyn Ids, now_ms: u64) -> Result<Imported, TranscriptError> {
        let transcript = Transcript::new(ids.next_text(now_ms));
        let mut reader = TranscriptReader { transcript, records: Vec::new(), refused: Vec::new(), ids, now_ms };
        reader.append_messages(messages)?;
        Ok(reader.into_imported())
    }
}

/// A transcript that is being read.
struct TranscriptReader<'a> {
    transcript: Transcript,
    records: Vec<LifecycleRecord>,
    refused: Vec<PolicyRefusal>,
    ids: &'a dyn Ids,
    now_ms: u64,
}

impl TranscriptReader<'_> {
    fn into_imported(self) -> Imported {
        Imported { transcript: self.transcript, records: self.records, refused: self.refused }
    }

    fn append_messages(&mut self, messages: &Data) -> Result<(), TranscriptError> {
        let items = match messages {
            Data::Nil => return Ok(()),
            Data::List(items) => items,
            other => return Err(wrong("messages", "a list of messages", other)),
        };
        for (index, item) in items.iter().enumerate() {
            if Message::is_reminder_event(item) {
                self.append_event(item);
            } else {
                let message = Message::from_data(item).map_err(|error| TranscriptError::Message { index, error })?;
                self.transcript.push_message(Arc::new(message));
            }
        }
        Ok(())
    }

    fn read_events(&mut self, events: &Data) -> Result<(), TranscriptError> {
        let items = match events {
            Data::Nil => return Ok(()),
            Data::List(items) => items,
            other => return Err(wrong("events", "a list of events", other)),
        };
        for item in items.iter() {
            if item.as_dict().is_none() {
                return Err(wrong("events", "a list of dicts", item));
            }
            self.append_event(item);
        }
        Ok(())
    }

    /// Appends one event. Duplicate keys remain until compaction, as documented in the guide.
    fn append_event(&mut self, data: &Data) {
        let event = TranscriptEvent::from_data(data, self.ids, self.now_ms);
        let transcript = &mut self.transcript;
        match event.detail {
            EventDetail::Other(fields) => transcript.push_event(event.id, event.kind, fields),
            EventDetail::Audited(reminder) => transcript.push_audited(event.id, reminder),
            EventDetail::Pending(PendingReminder { reminder, .. }) => match policy::check_named(reminder) {
                Ok(reminder) => {
                    self.records.extend(admit_as(transcript, event.id, reminder, ReminderOrigin::Forked).records);
                }
                Err(refusal) => {
                    self.records.push(refusal.dropped());
                    self.refused.push(refusal);
                }
            },
        }
    }
}

fn read_metadata(entries: &Entries, whole: bool) -> Result<Data, TranscriptError> {
    let mut metadata = match entries.get("metadata") {
        None | Some(Data::Nil) => Entries::new(),
        Some(Data::Dict(given)) => given.as_ref().clone(),
        Some(other) => return Err(wrong("metadata", "a dict", other)),
    };
    let known = |key: &str| {
        matches!(key, "messages" | "metadata" | "summary" | "assets")
            || (whole && matches!(key, "_type" | "version" | "id" | "events"))
    };
    metadata.extend(entries.iter().filter(|(key, _)| !known(key)).map(|(key, value)| (key.clone(), value.clone())));
    Ok(if metadata.is_empty() { Data::Nil } else { Data::from(metadata) })
}

fn wrong(field: &'static str, expected: &'static str, got: &Data) -> TranscriptError {
    TranscriptError::Type { field, expected, got: got.type_name() }
}
