//! A session as plain data, its pending reminders and its queue included.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::{Arc, PoisonError};

use crate::data::Data;
use crate::event_log::Filter;
use crate::ids::IdStream;
use crate::message::Message;
use crate::reminder::Reminder;
use crate::reminder::bridge::{Injection, Mode, Payload, Queue};
use crate::reminder::lifecycle::{DiscardReason, LifecycleRecord, TOPIC};
use crate::seam::{Outcome, Scope};
use crate::session::{Session, State};
use crate::transcript::{Detail, Event, Transcript};

use super::SnapshotError;

/// A session as plain data.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredSession {
    /// Its id.
    pub id: Arc<str>,
    created_at_ms: u64,
    parent_id: Option<Arc<str>>,
    child_ids: Vec<Arc<str>>,
    branched_at_event_index: Option<usize>,
    workspace_anchor: Data,
    turns: u32,
    provider_memory: BTreeMap<Arc<str>, Data>,
    ids: IdStream,
    queue_ids: IdStream,
    queue: Vec<StoredItem>,
    transcript: StoredTranscript,
}

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredTranscript {
    id: Arc<str>,
    summary: Option<Arc<str>>,
    metadata: Data,
    assets: Data,
    messages: Vec<Data>,
    events: Vec<StoredEvent>,
}

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredEvent {
    id: Arc<str>,
    kind: Arc<str>,
    at_message: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pending: Option<Reminder>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    audited: Option<Reminder>,
    #[serde(default, skip_serializing_if = "Data::is_nil")]
    fields: Data,
}

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredItem {
    id: Arc<str>,
    mode: Mode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reminder: Option<Reminder>,
    #[serde(default, skip_serializing_if = "Data::is_nil")]
    message: Data,
}

impl StoredSession {
    /// A session as it is now, between two turns.
    #[must_use]
    pub fn of(session: &Session) -> StoredSession {
        let (queue, queue_ids) = {
            let queue = session.queue().lock().unwrap_or_else(PoisonError::into_inner);
            (queue.pending().map(StoredItem::of).collect(), queue.ids().clone())
        };
        let ids = session.id_stream();
        session.with(|state| StoredSession {
            id: session.id().clone(),
            created_at_ms: state.created_at_ms,
            parent_id: state.parent_id.clone(),
            child_ids: state.child_ids.clone(),
            branched_at_event_index: state.branched_at_event_index,
            workspace_anchor: state.workspace_anchor.clone(),
            turns: state.turns,
            provider_memory: state.provider_memory.clone(),
            ids,
            queue_ids,
            queue,
            transcript: StoredTranscript::of(&state.transcript),
        })
    }

    pub(super) fn turns(&self) -> u32 {
        self.turns
    }

    pub(super) fn id_streams(&self) -> [(&'static str, &IdStream); 2] {
        [("ids", &self.ids), ("queue_ids", &self.queue_ids)]
    }

    /// The session again. Its ids go on where they were.
    pub fn restore(self) -> Result<Rc<Session>, SnapshotError> {
        let items = self.queue.into_iter().map(StoredItem::restore).collect::<Result<Vec<_>, _>>()?;
        let queue = Queue::restored(self.queue_ids, items);
        let transcript = self.transcript.restore()?;
        let state = State {
            transcript,
            created_at_ms: self.created_at_ms,
            parent_id: self.parent_id,
            child_ids: self.child_ids,
            branched_at_event_index: self.branched_at_event_index,
            workspace_anchor: self.workspace_anchor,
            turns: self.turns,
            provider_memory: self.provider_memory,
            ..State::default()
        };
        Ok(Session::restored(self.id, self.ids, queue, state))
    }
}

impl StoredTranscript {
    fn of(transcript: &Transcript) -> StoredTranscript {
        StoredTranscript {
            id: transcript.id().clone(),
            summary: transcript.summary.clone(),
            metadata: transcript.metadata.clone(),
            assets: transcript.assets.clone(),
            messages: transcript.messages().iter().map(|message| message.to_data()).collect(),
            events: transcript.events().map(|event| StoredEvent::of(transcript, event)).collect(),
        }
    }

    /// Events come back between the messages between which they stood.
    fn restore(self) -> Result<Transcript, SnapshotError> {
        let mut transcript = Transcript::new(self.id);
        (transcript.summary, transcript.metadata, transcript.assets) = (self.summary, self.metadata, self.assets);
        let mut messages = self.messages.iter();
        for event in self.events {
            let before = event.at_message.saturating_sub(transcript.messages().len());
            for message in messages.by_ref().take(before) {
                transcript.push_message(read_message(message)?);
            }
            match (event.pending, event.audited) {
                (Some(reminder), None) => transcript.push_pending(event.id, Arc::new(reminder)),
                (None, Some(reminder)) => transcript.push_audited(event.id, Arc::new(reminder)),
                (None, None) => transcript.push_event(event.id, event.kind, event.fields),
                (Some(_), Some(_)) => {
                    return Err(SnapshotError::Broken("an event is both pending and audit-only".to_owned()));
                }
            }
        }
        for message in messages {
            transcript.push_message(read_message(message)?);
        }
        Ok(transcript)
    }
}

impl StoredEvent {
    fn of(transcript: &Transcript, event: &Event) -> StoredEvent {
        let (pending, audited, fields) = match &event.detail {
            // Its account begins anew: what it has left is what the record says.
            Detail::Pending(pending) => (Some(transcript.present(pending).as_ref().clone()), None, Data::Nil),
            Detail::Audited(reminder) => (None, Some(reminder.as_ref().clone()), Data::Nil),
            Detail::Other(fields) => (None, None, fields.clone()),
        };
        let Event { id, kind, at_message, .. } = event;
        StoredEvent { id: id.clone(), kind: kind.clone(), at_message: *at_message, pending, audited, fields }
    }
}

impl StoredItem {
    fn of(item: &Injection) -> StoredItem {
        let (reminder, message) = match &item.payload {
            Payload::Reminder(reminder) => (Some(reminder.as_ref().clone()), Data::Nil),
            Payload::Message(message) => (None, message.to_data()),
        };
        StoredItem { id: item.id.clone(), mode: item.mode, reminder, message }
    }

    fn restore(self) -> Result<Injection, SnapshotError> {
        let payload = match self.reminder {
            Some(reminder) => Payload::Reminder(Arc::new(reminder)),
            None => Payload::Message(read_message(&self.message)?),
        };
        Ok(Injection { id: self.id, mode: self.mode, payload })
    }
}

fn read_message(data: &Data) -> Result<Arc<Message>, SnapshotError> {
    Message::from_data(data).map(Arc::new).map_err(|error| SnapshotError::Broken(error.to_string()))
}

/// What makes the log at hand add up for a session that comes back as it was stored. Reminders that are not pending by that log came
/// along: another log tells how they came to be, or this one tells how they ended later. Those that are pending by it alone
/// came after the session was stored, and were lost with their process.
pub fn settle_with_log(session: &Session, scope: &Scope) -> Outcome<Vec<LifecycleRecord>> {
    let pending: Vec<Arc<Reminder>> = session.with(|state| {
        let transcript = &state.transcript;
        transcript.pending().map(|pending| transcript.present(pending)).collect()
    });
    let mut known = pending_by_log(session, scope)?;
    let left = |reminder: &Arc<Reminder>| (reminder.id.clone(), reminder.ttl_turns);
    let mut records = vec![LifecycleRecord::Resumed(pending.iter().map(left).collect())];
    for reminder in pending {
        if !known.remove(&reminder.id) {
            records.push(LifecycleRecord::Forked(reminder));
        }
    }
    let lost = |reminder_id| LifecycleRecord::Discarded { reminder_id, reason: DiscardReason::Lost };
    records.extend(known.into_iter().map(lost));
    Ok(records)
}

/// The ids of the reminders that are pending in a session by the log at hand.
fn pending_by_log(session: &Session, scope: &Scope) -> Outcome<BTreeSet<Arc<str>>> {
    let mut known: BTreeSet<Arc<str>> = BTreeSet::new();
    for record in scope.log.read(&Filter::topic(TOPIC), usize::MAX)? {
        let payload = &record.payload;
        // What is detached was done to a copy.
        if payload.get("session_id").as_str() != Some(session.id().as_ref()) || payload.get("detached").truthy() {
            continue;
        }
        let id = payload.get("reminder_id").as_shared_str();
        match record.kind.rsplit('.').next().unwrap_or_default() {
            "injected" | "inherited" | "forked" => known.extend(id),
            "expired" | "dropped" | "discarded" => {
                id.map(|id| known.remove(&id));
            }
            "deduped" => {
                for id in
                    payload.get("replaced_ids").as_list().unwrap_or_default().iter().filter_map(Data::as_shared_str)
                {
                    known.remove(&id);
                }
            }
            _ => {}
        }
    }
    Ok(known)
}
