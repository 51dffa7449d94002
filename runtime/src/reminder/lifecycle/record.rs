//! Events of reminders as typed records, logged on one topic.

use std::sync::{Arc, LazyLock};

use crate::data::lent;
use crate::hooks::EventKind;
use crate::reminder::Reminder;
use crate::render::RenderedRole;
use crate::words::words;

use super::Charge;

/// The topic of what happens to reminders.
pub const TOPIC: &str = "transcript.reminder.lifecycle";

/// Topic of the records of turns, which affect all reminders at once. It is separate, so that readers of the reminders'
/// own topic see nothing else.
pub const TURN_TOPIC: &str = "transcript.turn";

words! {
    /// Why a reminder expired.
    pub enum ExpireReason {
        /// Its turns are over.
        Ttl = "ttl",
        /// It was not to be preserved.
        Compaction = "compaction",
        /// It was cleared explicitly.
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
        /// Its process ended before the session was stored again.
        Lost = "lost",
    }
}

/// A pass over the pending reminders that charged some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// The end of a turn: charges what prompts have carried since the last charge.
    PostTurn,
    /// The manual pass: charges all finite reminders made in this turn or before.
    ByHand(u32),
    /// A compaction: charges as it says.
    Compaction(Charge),
}

impl Pass {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Pass::PostTurn => "post_turn",
            Pass::ByHand(_) => "by_hand",
            Pass::Compaction(_) => "compaction",
        }
    }

    /// Returns the finite reminders that it charges.
    #[must_use]
    pub fn charges(self) -> Charge {
        match self {
            Pass::PostTurn => Charge::Carried,
            Pass::ByHand(_) => Charge::All,
            Pass::Compaction(charge) => charge,
        }
    }
}

/// An event in the life of reminders.
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
        /// Whether the request charges what it carries.
        charges: bool,
    },
    /// One replaced others.
    Deduped(Box<Deduped>),
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
        /// Description of the error.
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
        /// The event.
        event: EventKind,
        /// Whether it added a reminder.
        fired: bool,
        /// The error it threw.
        error: Option<Arc<str>>,
    },
    /// A pass has charged reminders; those that it ended are recorded before.
    Passed(Pass),
    /// No one saw the last charging prompt, so it charges nothing.
    Void,
    /// A session goes on as it was stored, perhaps in another process. Its pending reminders, each with what is left of its TTL.
    Resumed(Vec<(Arc<str>, Option<u32>)>),
}

/// One reminder took the place of others.
#[derive(Debug, Clone, PartialEq)]
pub struct Deduped {
    /// Ids of the replaced reminders.
    pub replaced_ids: Vec<Arc<str>>,
    /// The one that stays.
    pub replacing_id: Arc<str>,
    /// The key they share; nothing where the same reminder came again.
    pub dedupe_key: Option<Arc<str>>,
}

words! {
    /// The kind of a record, by the last word of its name.
    pub enum LifecycleKind {
        /// A new reminder is pending.
        Injected = "injected",
        /// One came with a handoff.
        Inherited = "inherited",
        /// One came along with a copy of a transcript.
        Forked = "forked",
        /// One was put down for the record only.
        Audited = "audited",
        /// One was rendered into a request.
        Fired = "fired",
        /// One replaced others.
        Deduped = "deduped",
        /// One is gone.
        Expired = "expired",
        /// One could not be used.
        Dropped = "dropped",
        /// One went with its session.
        Discarded = "discarded",
        /// A provider looked at an event.
        ProviderEvaluated = "provider_evaluated",
        /// A pass has charged reminders.
        Passed = "passed",
        /// The last prompt that charges charges nothing.
        Void = "void",
        /// A session goes on as it was stored.
        Resumed = "resumed",
        /// A request was sent.
        Prompt = "prompt",
    }
}

impl LifecycleKind {
    /// Whether it reports on turns, not on one reminder.
    #[must_use]
    pub fn is_of_turn(self) -> bool {
        use LifecycleKind as K;
        matches!(self, K::Passed | K::Void | K::Resumed | K::Prompt)
    }

    /// Returns the topic of its records.
    pub(crate) fn topic(self) -> &'static Arc<str> {
        if self.is_of_turn() { lent!(TURN_TOPIC) } else { lent!(TOPIC) }
    }

    /// Returns its whole name.
    #[must_use]
    pub fn name(self) -> &'static Arc<str> {
        static NAMES: LazyLock<Vec<Arc<str>>> = LazyLock::new(|| {
            let name = |kind: &LifecycleKind| {
                let topic = if kind.is_of_turn() { "transcript.turn" } else { "transcript.reminder" };
                format!("{topic}.{kind}").into()
            };
            LifecycleKind::ALL.iter().map(name).collect()
        });
        &NAMES[self as usize]
    }

    /// Returns the kind with a name; `None` for a record of another topic.
    #[must_use]
    pub fn named(name: &str) -> Option<LifecycleKind> {
        LifecycleKind::ALL.iter().copied().find(|kind| **kind.name() == *name)
    }
}

impl LifecycleRecord {
    /// Returns its kind.
    #[must_use]
    pub fn kind(&self) -> LifecycleKind {
        use LifecycleKind as K;
        match self {
            LifecycleRecord::Injected(_) => K::Injected,
            LifecycleRecord::Inherited(_) => K::Inherited,
            LifecycleRecord::Forked(_) => K::Forked,
            LifecycleRecord::Audited(_) => K::Audited,
            LifecycleRecord::Fired { .. } => K::Fired,
            LifecycleRecord::Deduped(_) => K::Deduped,
            LifecycleRecord::Expired { .. } => K::Expired,
            LifecycleRecord::Dropped { .. } => K::Dropped,
            LifecycleRecord::Discarded { .. } => K::Discarded,
            LifecycleRecord::ProviderEvaluated { .. } => K::ProviderEvaluated,
            LifecycleRecord::Passed(_) => K::Passed,
            LifecycleRecord::Void => K::Void,
            LifecycleRecord::Resumed(_) => K::Resumed,
        }
    }
}
