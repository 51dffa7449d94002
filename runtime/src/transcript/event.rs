//! [`TranscriptEvent`]: an event of a session that is not a message. A reminder is one of these.

use std::sync::Arc;

use base::data::Data;
use base::ids::Ids;

use crate::reminder::Reminder;

use super::index::KeyHash;

/// An event of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct TranscriptEvent {
    /// The event's id, which differs from a reminder's own id.
    pub id: Arc<str>,
    /// The kind: `system_reminder`, `compaction`, or a script's word.
    pub kind: Arc<str>,
    /// Number of messages when it happened.
    pub at_message: usize,
    /// The remaining content.
    pub detail: EventDetail,
    /// Whether its reminder's id is larger than all such before it, as required by the binary search.
    pub(super) rising: bool,
}

/// The content of an event.
#[derive(Debug, Clone, PartialEq)]
pub enum EventDetail {
    /// A pending reminder.
    Pending(PendingReminder),
    /// A reminder for the record only: never rendered, never charged, never carried on.
    Audited(Arc<Reminder>),
    /// Fields of any other event: a dict.
    Other(Data),
}

/// A pending reminder and its account. The TTL is kept as an absolute prompt number, so that a turn need not touch
/// every reminder.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingReminder {
    /// The reminder as admitted; [`Transcript::present`](super::Transcript::present) returns its current `ttl_turns`.
    pub reminder: Arc<Reminder>,
    /// Number of prompts built when it was admitted.
    pub since_prompt: u64,
    /// The prompt after which it expires; `None` if it never does.
    pub expires_at_prompt: Option<u64>,
    /// A bit for each tag, so that most lookups need not compare tags.
    tag_bits: u64,
}

impl PendingReminder {
    /// Returns a pending reminder whose account begins after `prompts` prompts.
    #[must_use]
    pub fn new(reminder: Arc<Reminder>, prompts: u64) -> PendingReminder {
        let expires_at_prompt = reminder.ttl_turns.map(|ttl| prompts + u64::from(ttl));
        let tag_bits = reminder.tags.iter().fold(0, |bits, tag| bits | tag_bit(tag));
        PendingReminder { reminder, since_prompt: prompts, expires_at_prompt, tag_bits }
    }

    /// Returns the number of further prompts in which it appears once `charged` prompts are charged.
    #[must_use]
    pub fn ttl_left(&self, charged: u64) -> Option<u32> {
        let left = self.expires_at_prompt?.saturating_sub(charged.max(self.since_prompt));
        Some(u32::try_from(left).unwrap_or(u32::MAX))
    }

    /// Returns whether it has a tag.
    #[must_use]
    pub fn has_tag(&self, tag: &str) -> bool {
        self.tag_bits & tag_bit(tag) != 0 && self.reminder.tags.iter().any(|known| known.as_ref() == tag)
    }

    /// Returns the account with the TTL that is left after `charged` prompts, counted from the prompt `prompts`.
    pub(super) fn counted_from(&self, prompts: u64, charged: u64) -> PendingReminder {
        let left = self.ttl_left(charged).map(u64::from);
        PendingReminder { since_prompt: prompts, expires_at_prompt: left.map(|left| prompts + left), ..self.clone() }
    }

    /// Returns the account with one prompt less.
    pub(super) fn charged_once(&self) -> PendingReminder {
        PendingReminder {
            expires_at_prompt: self.expires_at_prompt.map(|expires| expires.saturating_sub(1)),
            ..self.clone()
        }
    }
}

fn tag_bit(tag: &str) -> u64 {
    1 << KeyHash::of(tag).bucket(64)
}

impl TranscriptEvent {
    /// The kind of a reminder's event.
    pub const REMINDER: &'static str = "system_reminder";

    /// Returns the pending reminder, if it is one.
    #[must_use]
    pub fn pending(&self) -> Option<&PendingReminder> {
        if let EventDetail::Pending(pending) = &self.detail { Some(pending) } else { None }
    }

    /// Returns the reminder, pending or audited.
    #[must_use]
    pub fn reminder(&self) -> Option<&Arc<Reminder>> {
        match &self.detail {
            EventDetail::Pending(pending) => Some(&pending.reminder),
            EventDetail::Audited(reminder) => Some(reminder),
            EventDetail::Other(_) => None,
        }
    }

    /// Converts the event to the value that scripts and hosts see, once `charged` prompts are charged: for reminders
    /// the guide's envelope.
    #[must_use]
    pub fn to_data(&self, charged: u64) -> Data {
        let (reminder, ttl, audited) = match &self.detail {
            EventDetail::Pending(pending) => (&pending.reminder, pending.ttl_left(charged), false),
            EventDetail::Audited(reminder) => (reminder, reminder.ttl_turns, true),
            EventDetail::Other(fields) => {
                let base = if fields.as_dict().is_some() { fields.clone() } else { Data::empty_dict() };
                return base.with("id", (&self.id).into()).with("kind", (&self.kind).into());
            }
        };
        let mut event = envelope(&self.id, reminder, ttl);
        if audited {
            event.set("delivery", "audit_only".into());
        }
        event
    }
}

/// Returns the guide's event envelope.
fn envelope(event_id: &Arc<str>, reminder: &Reminder, ttl: Option<u32>) -> Data {
    let payload = reminder.to_data(ttl);
    let block =
        Data::dict([("type", Data::from("text")), ("text", (&reminder.body).into()), ("visibility", "public".into())]);
    Data::dict([
        ("id", Data::from(event_id)),
        ("kind", TranscriptEvent::REMINDER.into()),
        ("role", reminder.event_role().into()),
        ("visibility", "public".into()),
        ("text", (&reminder.body).into()),
        ("blocks", Data::list([block])),
        ("reminder", payload.clone()),
        ("metadata", payload),
    ])
}

impl TranscriptEvent {
    /// Reads an event leniently: a reminder event by its slot, all others unchanged.
    pub fn from_data(data: &Data, ids: &dyn Ids, now_ms: u64) -> TranscriptEvent {
        let given = data.get("id").as_shared_str();
        let kind = data.get("kind").as_shared_str().unwrap_or_else(|| "event".into());
        if kind.as_ref() != TranscriptEvent::REMINDER {
            let mut fields = data.as_dict().cloned().unwrap_or_default();
            fields.remove("id");
            fields.remove("kind");
            let id = given.unwrap_or_else(|| ids.next_text(now_ms));
            return TranscriptEvent {
                id,
                kind,
                at_message: 0,
                detail: EventDetail::Other(Data::from(fields)),
                rising: false,
            };
        }
        // Without a slot, the dict itself is the reminder, and its id the reminder's.
        let has_slot = data.get("reminder").as_dict().is_some();
        let reminder = Arc::new(Reminder::from_data_lenient(data, || ids.next_text(now_ms)));
        let id = given.filter(|_| has_slot).unwrap_or_else(|| ids.next_text(now_ms));
        let detail = if data.get("delivery").as_str() == Some("audit_only") {
            EventDetail::Audited(reminder)
        } else {
            EventDetail::Pending(PendingReminder::new(reminder, 0))
        };
        TranscriptEvent { id, kind, at_message: 0, detail, rising: false }
    }

    /// Returns the event that the lenient reader builds from a reminder-like dict.
    pub fn of_reminder(dict: &Data, ids: &dyn Ids, now_ms: u64) -> TranscriptEvent {
        let reminder = Arc::new(Reminder::from_data_lenient(dict, || ids.next_text(now_ms)));
        let detail = EventDetail::Pending(PendingReminder::new(reminder, 0));
        TranscriptEvent {
            id: ids.next_text(now_ms),
            kind: TranscriptEvent::REMINDER.into(),
            at_message: 0,
            detail,
            rising: false,
        }
    }
}
