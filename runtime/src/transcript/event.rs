//! [`Event`]: what happened in a session and is no message. A reminder is one of these.

use std::sync::Arc;

use crate::data::Data;
use crate::reminder::Reminder;

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The event's id; a reminder's own id is another.
    pub id: Arc<str>,
    /// The kind: `system_reminder`, `compaction`, or a script's word.
    pub kind: Arc<str>,
    /// How many messages there were when it happened.
    pub at_message: usize,
    /// The rest.
    pub detail: Detail,
    /// Whether its reminder's id is larger than all such before it, so that a binary search may use it.
    pub(super) rising: bool,
}

/// What an event holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Detail {
    /// A pending reminder.
    Pending(Pending),
    /// A reminder for the record only: never rendered, never charged, never carried on.
    Audited(Arc<Reminder>),
    /// Fields of any other event: a dict.
    Other(Data),
    /// What is left of a reminder that is no longer pending: its id, until the holes are closed. Nobody is shown it.
    Gone(Arc<str>),
}

/// A pending reminder and its account. The TTL is kept as an absolute prompt number, so that a turn need not touch every
/// reminder.
#[derive(Debug, Clone, PartialEq)]
pub struct Pending {
    /// The reminder; its `ttl_turns` is as of `since_prompt`.
    pub reminder: Arc<Reminder>,
    /// How many prompts had been built when its TTL was set.
    pub since_prompt: u64,
    /// The prompt after which it expires; nothing for one that stays.
    pub expires_at_prompt: Option<u64>,
}

impl Pending {
    /// A reminder whose account begins after `prompts` prompts.
    #[must_use]
    pub fn new(reminder: Arc<Reminder>, prompts: u64) -> Pending {
        let expires_at_prompt = reminder.ttl_turns.map(|ttl| prompts + u64::from(ttl));
        Pending { reminder, since_prompt: prompts, expires_at_prompt }
    }

    /// In how many more prompts it appears once `charged` prompts are paid for.
    #[must_use]
    pub fn ttl_left(&self, charged: u64) -> Option<u32> {
        let ttl = self.reminder.ttl_turns?;
        let left = self.expires_at_prompt?.saturating_sub(charged);
        Some(u32::try_from(left).unwrap_or(u32::MAX).min(ttl))
    }
}

impl Event {
    /// The kind of a reminder's event.
    pub const REMINDER: &'static str = "system_reminder";

    /// The pending reminder, if it is one.
    #[must_use]
    pub fn pending(&self) -> Option<&Pending> {
        if let Detail::Pending(pending) = &self.detail { Some(pending) } else { None }
    }

    /// The reminder, pending or audited.
    #[must_use]
    pub fn reminder(&self) -> Option<&Arc<Reminder>> {
        match &self.detail {
            Detail::Pending(pending) => Some(&pending.reminder),
            Detail::Audited(reminder) => Some(reminder),
            Detail::Other(_) | Detail::Gone(_) => None,
        }
    }

    /// The id of the reminder that stands or stood here.
    pub(super) fn reminder_id(&self) -> Option<&Arc<str>> {
        match &self.detail {
            Detail::Gone(id) => Some(id),
            _ => self.reminder().map(|reminder| &reminder.id),
        }
    }

    /// Whether nothing but an id is left of it.
    pub(super) fn is_gone(&self) -> bool {
        matches!(self.detail, Detail::Gone(_))
    }

    /// What is left once its reminder is gone.
    pub(super) fn gone(&self, reminder_id: &Arc<str>) -> Event {
        let (id, kind) = (self.id.clone(), self.kind.clone());
        Event { id, kind, at_message: self.at_message, detail: Detail::Gone(reminder_id.clone()), rising: self.rising }
    }

    /// The event as scripts and hosts see it, once `charged` prompts are paid for: for reminders the guide's envelope.
    #[must_use]
    pub fn to_data(&self, charged: u64) -> Data {
        let (reminder, ttl, audited) = match &self.detail {
            Detail::Pending(pending) => (&pending.reminder, pending.ttl_left(charged), false),
            Detail::Audited(reminder) => (reminder, reminder.ttl_turns, true),
            Detail::Gone(_) => return Data::Nil,
            Detail::Other(fields) => {
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

/// The guide's event envelope.
fn envelope(event_id: &Arc<str>, reminder: &Reminder, ttl: Option<u32>) -> Data {
    let payload = reminder.to_data(ttl);
    let block =
        Data::dict([("type", Data::from("text")), ("text", (&reminder.body).into()), ("visibility", "public".into())]);
    Data::dict([
        ("id", Data::from(event_id)),
        ("kind", Event::REMINDER.into()),
        ("role", reminder.event_role().into()),
        ("visibility", "public".into()),
        ("text", (&reminder.body).into()),
        ("blocks", Data::list([block])),
        ("reminder", payload.clone()),
        ("metadata", payload),
    ])
}
