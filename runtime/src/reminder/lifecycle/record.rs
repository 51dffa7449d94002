//! What happened to reminders, as typed records; the log gets them on one topic.

use std::sync::Arc;

use crate::data::Data;
use crate::event_log::NewRecord;
use crate::reminder::Reminder;
use crate::render::RenderedRole;
use crate::words::words;

use super::Moment;

/// The topic of all lifecycle records.
pub const TOPIC: &str = "transcript.reminder.lifecycle";

words! {
    /// Why a reminder expired.
    pub enum ExpireReason {
        /// Its turns are over.
        Ttl = "ttl",
        /// It was not to be preserved.
        Compaction = "compaction",
        /// Somebody cleared it.
        Cleared = "cleared",
    }
}

words! {
    /// Why a reminder was dropped.
    pub enum DropReason {
        /// It is malformed.
        Invalid = "invalid",
        /// The route has no slot for it.
        CapabilityMismatch = "capability_mismatch",
    }
}

words! {
    /// Why a session's reminders were discarded.
    pub enum DiscardReason {
        /// The session was reset.
        Reset = "reset",
        /// The session was closed.
        Close = "close",
        /// The part of the transcript that held it was trimmed away.
        Trim = "trim",
    }
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum LifecycleRecord {
    /// A new reminder is pending.
    Injected(Arc<Reminder>),
    /// One came with a handoff.
    Inherited(Arc<Reminder>),
    /// One came along with a copy of a transcript: a fork, or one read from a dict.
    Forked(Arc<Reminder>),
    /// One was put down for the record only.
    Audited(Arc<Reminder>),
    /// One was rendered into a request.
    Fired {
        /// Its id.
        reminder_id: Arc<str>,
        /// The turn.
        turn_number: u32,
        /// The slot.
        rendered_role: RenderedRole,
    },
    /// One replaced others.
    Deduped {
        /// Those replaced.
        replaced_ids: Vec<Arc<str>>,
        /// The one that stays.
        replacing_id: Arc<str>,
        /// The key they share; nothing where the same reminder came again.
        dedupe_key: Option<Arc<str>>,
    },
    /// One is gone.
    Expired {
        /// Its id.
        reminder_id: Arc<str>,
        /// Why.
        reason: ExpireReason,
        /// With reason `ttl`: what it had left before.
        ttl_turns_before: Option<u32>,
    },
    /// One could not be used.
    Dropped {
        /// Its id; one that never became a reminder has none.
        reminder_id: Option<Arc<str>>,
        /// Why.
        reason: DropReason,
        /// What was wrong with it.
        detail: Option<Arc<str>>,
    },
    /// One went with its session.
    Discarded {
        /// Its id.
        reminder_id: Arc<str>,
        /// Why.
        reason: DiscardReason,
    },
    /// A provider looked at an event.
    ProviderEvaluated {
        /// The provider.
        provider_id: Arc<str>,
        /// The event, in PascalCase.
        event: Arc<str>,
        /// Whether it added a reminder.
        fired: bool,
        /// What it threw.
        error: Option<Arc<str>>,
    },
}

impl LifecycleRecord {
    /// The last word of the kind.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            LifecycleRecord::Injected(_) => "injected",
            LifecycleRecord::Inherited(_) => "inherited",
            LifecycleRecord::Forked(_) => "forked",
            LifecycleRecord::Audited(_) => "audited",
            LifecycleRecord::Fired { .. } => "fired",
            LifecycleRecord::Deduped { .. } => "deduped",
            LifecycleRecord::Expired { .. } => "expired",
            LifecycleRecord::Dropped { .. } => "dropped",
            LifecycleRecord::Discarded { .. } => "discarded",
            LifecycleRecord::ProviderEvaluated { .. } => "provider_evaluated",
        }
    }

    /// The record as it goes to the log.
    #[must_use]
    pub fn to_log(&self, at: &Moment<'_>) -> NewRecord {
        let mut payload = Data::dict([
            ("session_id", Data::from(at.session_id)),
            ("task_id", at.task_id.into()),
            ("agent_id", at.agent_id.unwrap_or(at.session_id).into()),
        ]);
        self.put_fields(&mut payload, at);
        NewRecord {
            topic: TOPIC.into(),
            kind: format!("transcript.reminder.{}", self.word()).into(),
            payload,
            headers: Data::Nil,
            occurred_at_ms: at.now_ms,
        }
    }

    fn put_fields(&self, payload: &mut Data, at: &Moment<'_>) {
        let mut put = |key: &str, value: Data| payload.set(key, value);
        match self {
            LifecycleRecord::Injected(reminder)
            | LifecycleRecord::Forked(reminder)
            | LifecycleRecord::Audited(reminder) => {
                describe(reminder, &mut put);
            }
            LifecycleRecord::Inherited(reminder) => {
                describe(reminder, &mut put);
                put("originating_agent_id", reminder.originating_agent_id.clone().into());
                put("sub_agent_id", at.session_id.into());
            }
            LifecycleRecord::Fired { reminder_id, turn_number, rendered_role } => {
                put("reminder_id", reminder_id.into());
                put("turn_number", (*turn_number).into());
                put("rendered_role", rendered_role.as_str().into());
            }
            LifecycleRecord::Deduped { replaced_ids, replacing_id, dedupe_key } => {
                put("replaced_id", replaced_ids.first().into());
                put("replaced_ids", replaced_ids.iter().map(Data::from).collect());
                put("replacing_id", replacing_id.into());
                put("dedupe_key", dedupe_key.as_ref().into());
            }
            LifecycleRecord::Expired { reminder_id, reason, ttl_turns_before } => {
                put("reminder_id", reminder_id.into());
                put("reason", reason.as_str().into());
                if *reason == ExpireReason::Ttl {
                    put("ttl_turns_before", (*ttl_turns_before).into());
                    put("expired_at_turn", at.turn.into());
                }
            }
            LifecycleRecord::Dropped { reminder_id, reason, detail } => {
                put("reminder_id", reminder_id.as_ref().into());
                put("reason", reason.as_str().into());
                if detail.is_some() {
                    put("detail", detail.as_ref().into());
                }
            }
            LifecycleRecord::Discarded { reminder_id, reason } => {
                put("reminder_id", reminder_id.into());
                put("reason", reason.as_str().into());
            }
            LifecycleRecord::ProviderEvaluated { provider_id, event, fired, error } => {
                put("provider_id", provider_id.into());
                put("event", event.into());
                put("fired", (*fired).into());
                if error.is_some() {
                    put("error", error.as_ref().into());
                }
            }
        }
    }
}

fn describe(reminder: &Reminder, put: &mut dyn FnMut(&str, Data)) {
    put("reminder_id", (&reminder.id).into());
    put("tags", reminder.tags.iter().map(Data::from).collect());
    put("dedupe_key", reminder.dedupe_key.as_ref().into());
    put("source", reminder.source.as_str().into());
    put("role_hint", reminder.role_hint.as_str().into());
    put("ttl_turns", reminder.ttl_turns.into());
    put("propagate", reminder.propagate.as_str().into());
}
