//! A session as plain data, its pending reminders and its queue included.
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::{Arc, PoisonError};

use base::data::Data;
use base::ids::IdStream;
use eventlog::{LogError, LogReader, Record, RecordFilter};

use crate::event_log::Topic;
use crate::lifecycle::{DiscardReason, LifecycleKind, LifecycleRecord};
use crate::message::Message;
use crate::reminder::Reminder;
use crate::reminder::bridge::{DeliveryMode, Injection, InjectionPayload, Queue};
use crate::session::{Conversation, ConversationJournal, Session, SessionState};
use crate::transcript::{EventDetail, FiringsStep, StoredFirings, Transcript, TranscriptEvent};

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
    #[serde(default, skip_serializing_if = "StoredFirings::is_empty")]
    firings: StoredFirings,
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
    mode: DeliveryMode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reminder: Option<Reminder>,
    #[serde(default, skip_serializing_if = "Data::is_nil")]
    message: Data,
}

impl StoredSession {
    /// Builds the stored form of a session between two turns.
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

    /// Restores the session. Its ids continue from their stored state.
    pub fn restore(self) -> Result<Rc<Session>, SnapshotError> {
        let items = self.queue.into_iter().map(StoredItem::restore).collect::<Result<Vec<_>, _>>()?;
        let queue = Queue::restored(self.queue_ids, items);
        let transcript = self.transcript.restore()?;
        let state = SessionState {
            transcript,
            created_at_ms: self.created_at_ms,
            parent_id: self.parent_id,
            child_ids: self.child_ids,
            branched_at_event_index: self.branched_at_event_index,
            workspace_anchor: self.workspace_anchor,
            turns: self.turns,
            provider_memory: self.provider_memory,
            ..SessionState::default()
        };
        Ok(Session::restored(self.id, self.ids, queue, state))
    }
}

/// The changes that one step made to a session.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionStep {
    turns: u32,
    ids: IdStream,
    queue_ids: IdStream,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    queue: Option<Vec<StoredItem>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    child_ids: Option<Vec<Arc<str>>>,
    /// Records as [`ConversationJournal`] makes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    changes: Vec<StoredChange>,
    #[serde(default, skip_serializing_if = "EventsStep::is_empty")]
    events: EventsStep,
    #[serde(default, skip_serializing_if = "FiringsStep::is_empty")]
    firings: FiringsStep,
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredChange {
    kind: String,
    payload: Data,
}

/// The changes that one step made to the list of events. Places refer to the list before the step.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct EventsStep {
    /// Pending reminders whose TTL has decreased.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ttl_turns: Vec<(usize, Option<u32>)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    removed: Vec<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    added: Vec<StoredEvent>,
}

impl EventsStep {
    fn is_empty(&self) -> bool {
        self.ttl_turns.is_empty() && self.removed.is_empty() && self.added.is_empty()
    }

    /// Compares two lists of events, which share unchanged parts.
    fn between(old: &Transcript, new: &Transcript) -> EventsStep {
        let mut step = EventsStep::default();
        let mut later = new.events().peekable();
        for (place, event) in old.events().enumerate() {
            if later.next_if(|next| Arc::ptr_eq(event, next)).is_none() {
                step.removed.push(place);
                continue;
            }
            if let EventDetail::Pending(pending) = &event.detail {
                let left = new.present(pending).ttl_turns;
                if left != old.present(pending).ttl_turns {
                    step.ttl_turns.push((place, left));
                }
            }
        }
        step.added = later.map(|event| StoredEvent::of(new, event)).collect();
        step
    }

    fn apply(self, events: &mut Vec<StoredEvent>) -> Result<(), String> {
        let unknown = |place: usize| format!("event {place} not found");
        for (place, left) in self.ttl_turns {
            let reminder = events.get_mut(place).and_then(|event| event.pending.as_mut());
            reminder.ok_or_else(|| unknown(place))?.ttl_turns = left;
        }
        if let Some(place) = self.removed.iter().find(|place| **place >= events.len()) {
            return Err(unknown(*place));
        }
        let removed: BTreeSet<usize> = self.removed.into_iter().collect();
        let mut place = 0;
        events.retain(|_| {
            place += 1;
            !removed.contains(&(place - 1))
        });
        events.extend(self.added);
        Ok(())
    }
}

/// A session as last written, sharing all unchanged parts.
#[derive(Debug)]
pub(super) struct WrittenSession {
    conversation: ConversationJournal,
    transcript: Transcript,
    queue: Vec<Injection>,
    child_ids: Vec<Arc<str>>,
    /// The parts that no step can change.
    fixed: (u64, Option<Arc<str>>, Option<usize>, Data),
}

fn fixed(state: &SessionState) -> (u64, Option<Arc<str>>, Option<usize>, Data) {
    let SessionState { created_at_ms, parent_id, branched_at_event_index, workspace_anchor, .. } = state;
    (*created_at_ms, parent_id.clone(), *branched_at_event_index, workspace_anchor.clone())
}

impl WrittenSession {
    /// Starts from a session that is written as a whole.
    pub(super) fn of(session: &Session) -> WrittenSession {
        let queue = {
            let queue = session.queue().lock().unwrap_or_else(PoisonError::into_inner);
            queue.pending().cloned().collect()
        };
        session.with(|state| WrittenSession {
            conversation: ConversationJournal::of(state),
            transcript: state.transcript.clone(),
            queue,
            child_ids: state.child_ids.clone(),
            fixed: fixed(state),
        })
    }

    /// Returns the changes since the last call, or `None` if only a whole snapshot can express them.
    pub(super) fn step(&mut self, session: &Session) -> Option<SessionStep> {
        let (queue, queue_ids): (Vec<Injection>, IdStream) = {
            let queue = session.queue().lock().unwrap_or_else(PoisonError::into_inner);
            (queue.pending().cloned().collect(), queue.ids().clone())
        };
        let ids = session.id_stream();
        session.with(|state| {
            if fixed(state) != self.fixed || state.transcript.id() != self.transcript.id() {
                return None;
            }
            let changes = self.conversation.changes(state).into_iter();
            let changes =
                changes.map(|change| StoredChange { kind: change.topic.kind(change.word), payload: change.payload });
            let step = SessionStep {
                turns: state.turns,
                ids,
                queue_ids,
                queue: (queue != self.queue).then(|| queue.iter().map(StoredItem::of).collect()),
                child_ids: (state.child_ids != self.child_ids).then(|| state.child_ids.clone()),
                changes: changes.collect(),
                events: EventsStep::between(&self.transcript, &state.transcript),
                firings: state.transcript.stored_firings().changes_since(&self.transcript.stored_firings()),
            };
            self.transcript = state.transcript.clone();
            self.child_ids.clone_from(&state.child_ids);
            self.queue = queue;
            Some(step)
        })
    }
}

/// A stored session to which steps are applied in order.
pub(super) struct SteppedSession<'a> {
    stored: &'a mut StoredSession,
    conversation: Conversation,
}

impl<'a> SteppedSession<'a> {
    pub(super) fn new(stored: &'a mut StoredSession) -> Result<SteppedSession<'a>, String> {
        let transcript = &mut stored.transcript;
        let messages = transcript.messages.iter().map(read_message).collect::<Result<Vec<_>, _>>();
        let conversation = Conversation {
            messages: messages.map_err(|error| error.to_string())?,
            summary: transcript.summary.take(),
            metadata: std::mem::take(&mut transcript.metadata),
            assets: std::mem::take(&mut transcript.assets),
            provider_memory: std::mem::take(&mut stored.provider_memory),
        };
        Ok(SteppedSession { stored, conversation })
    }

    pub(super) fn apply(&mut self, step: SessionStep) -> Result<(), String> {
        let SessionStep { turns, ids, queue_ids, queue, child_ids, changes, events, firings } = step;
        for StoredChange { kind, payload } in changes {
            if let Some((topic, word)) = Topic::of_kind(&kind) {
                self.conversation.apply(topic, word, &payload)?;
            }
        }
        events.apply(&mut self.stored.transcript.events)?;
        self.stored.transcript.firings.apply(firings);
        (self.stored.turns, self.stored.ids, self.stored.queue_ids) = (turns, ids, queue_ids);
        if let Some(queue) = queue {
            self.stored.queue = queue;
        }
        if let Some(child_ids) = child_ids {
            self.stored.child_ids = child_ids;
        }
        Ok(())
    }

    /// Puts the conversation back into the stored session.
    pub(super) fn done(self) {
        let Conversation { messages, summary, metadata, assets, provider_memory } = self.conversation;
        let transcript = &mut self.stored.transcript;
        transcript.messages = messages.iter().map(|message| message.to_data()).collect();
        (transcript.summary, transcript.metadata, transcript.assets) = (summary, metadata, assets);
        self.stored.provider_memory = provider_memory;
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
            firings: transcript.stored_firings(),
        }
    }

    /// Restores the transcript with the events at their places between the messages.
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
        transcript.restore_firings(self.firings);
        Ok(transcript)
    }
}

impl StoredEvent {
    fn of(transcript: &Transcript, event: &TranscriptEvent) -> StoredEvent {
        let (pending, audited, fields) = match &event.detail {
            // Its account restarts: the TTL left is the one in the record.
            EventDetail::Pending(pending) => (Some(transcript.present(pending).as_ref().clone()), None, Data::Nil),
            EventDetail::Audited(reminder) => (None, Some(reminder.as_ref().clone()), Data::Nil),
            EventDetail::Other(fields) => (None, None, fields.clone()),
        };
        let TranscriptEvent { id, kind, at_message, .. } = event;
        StoredEvent { id: id.clone(), kind: kind.clone(), at_message: *at_message, pending, audited, fields }
    }
}

impl StoredItem {
    fn of(item: &Injection) -> StoredItem {
        let (reminder, message) = match &item.payload {
            InjectionPayload::Reminder(reminder) => (Some(reminder.as_ref().clone()), Data::Nil),
            InjectionPayload::Message(message) => (None, message.to_data()),
        };
        StoredItem { id: item.id.clone(), mode: item.mode, reminder, message }
    }

    fn restore(self) -> Result<Injection, SnapshotError> {
        let payload = match self.reminder {
            Some(reminder) => InjectionPayload::Reminder(Arc::new(reminder)),
            None => InjectionPayload::Message(read_message(&self.message)?),
        };
        Ok(Injection { id: self.id, mode: self.mode, payload })
    }
}

fn read_message(data: &Data) -> Result<Arc<Message>, SnapshotError> {
    Message::from_data(data).map(Arc::new).map_err(|error| SnapshotError::Broken(error.to_string()))
}

/// Returns the records that balance this log for a restored session; `known` are the reminders pending in it according
/// to the log ([`pending_by_log`]). Reminders that are not pending in the log are recorded as forked: another log
/// contains their beginning, or this one their end. Reminders pending only in the log were added after the session was
/// stored and were lost with their process.
#[must_use]
pub fn settle_with_log(session: &Session, mut known: BTreeSet<Arc<str>>) -> Vec<LifecycleRecord> {
    let pending: Vec<Arc<Reminder>> = session.with(|state| {
        let transcript = &state.transcript;
        transcript.pending().map(|pending| transcript.present(pending)).collect()
    });
    let left = |reminder: &Arc<Reminder>| (reminder.id.clone(), reminder.ttl_turns);
    let mut records = vec![LifecycleRecord::Resumed(pending.iter().map(left).collect())];
    for reminder in pending {
        if !known.remove(&reminder.id) {
            records.push(LifecycleRecord::Forked(reminder));
        }
    }
    let lost = |reminder_id| LifecycleRecord::Discarded { reminder_id, reason: DiscardReason::Lost };
    records.extend(known.into_iter().map(lost));
    records
}

/// Number of records read at a time.
const PAGE: usize = 1024;

/// Returns the ids of the reminders that are pending in a session according to a log. Waits for the disk if the log is
/// a file.
///
/// # Errors
/// Fails if the log cannot be read.
pub fn pending_by_log(log: &LogReader, session_id: &str) -> Result<BTreeSet<Arc<str>>, LogError> {
    let mut known: BTreeSet<Arc<str>> = BTreeSet::new();
    let mut filter = RecordFilter::topic(Topic::Reminder);
    loop {
        let page = log.read(&filter, PAGE)?;
        for record in &page {
            follow_pending(&mut known, record, session_id);
        }
        match page.last() {
            Some(last) if page.len() == PAGE => filter.after = last.cursor,
            _ => return Ok(known),
        }
    }
}

/// Applies the next record of a log to the set of reminders that are pending in a session.
pub fn follow_pending(known: &mut BTreeSet<Arc<str>>, record: &Record, session_id: &str) {
    let payload = &record.payload;
    // A detached record belongs to a copy.
    if payload.get("session_id").as_str() != Some(session_id) || payload.get("detached").truthy() {
        return;
    }
    let id = payload.get("reminder_id").as_shared_str();
    match LifecycleKind::named(&record.kind) {
        Some(LifecycleKind::Injected | LifecycleKind::Inherited | LifecycleKind::Forked) => known.extend(id),
        Some(LifecycleKind::Expired | LifecycleKind::Dropped | LifecycleKind::Discarded) => {
            id.map(|id| known.remove(&id));
        }
        Some(LifecycleKind::Deduped) => {
            let replaced = payload.get("replaced_ids").as_list().unwrap_or_default();
            for id in replaced.iter().filter_map(Data::as_shared_str) {
                known.remove(&id);
            }
        }
        _ => {}
    }
}
