//! What happened to reminders, as typed records; the log gets them on one topic.

use std::sync::Arc;

use crate::hooks::EventKind;
use crate::reminder::Reminder;
use crate::render::RenderedRole;
use crate::words::words;

use super::Charge;

/// The topic of what happens to reminders.
pub const TOPIC: &str = "transcript.reminder.lifecycle";

/// The topic of what turns do to all reminders at once. It is another, so that whoever reads the words of reminders sees
/// nothing else.
pub const TURN_TOPIC: &str = "transcript.turn";

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
        /// Its process ended before the session was stored again.
        Lost = "lost",
    }
}

/// A pass over the pending reminders that charged some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// The end of a turn: charges what prompts have carried since the last charge.
    PostTurn,
    /// By hand: charges all finite ones made in this turn or before.
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

    /// Which finite reminders it charges.
    #[must_use]
    pub fn charges(self) -> Charge {
        match self {
            Pass::PostTurn => Charge::Carried,
            Pass::ByHand(_) => Charge::All,
            Pass::Compaction(charge) => charge,
        }
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
        /// The event.
        event: EventKind,
        /// Whether it added a reminder.
        fired: bool,
        /// What it threw.
        error: Option<Arc<str>>,
    },
    /// A pass has charged reminders; those that it ended are told of before.
    Passed(Pass),
    /// Nobody saw the last prompt that charges, so it charges nothing.
    Void,
    /// A session goes on as it was stored, perhaps in another process. Its pending reminders, each with what is left of its TTL.
    Resumed(Vec<(Arc<str>, Option<u32>)>),
}

/// One reminder took the place of others.
#[derive(Debug, Clone, PartialEq)]
pub struct Deduped {
    /// Those replaced.
    pub replaced_ids: Vec<Arc<str>>,
    /// The one that stays.
    pub replacing_id: Arc<str>,
    /// The key they share; nothing where the same reminder came again.
    pub dedupe_key: Option<Arc<str>>,
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
            LifecycleRecord::Deduped(_) => "deduped",
            LifecycleRecord::Expired { .. } => "expired",
            LifecycleRecord::Dropped { .. } => "dropped",
            LifecycleRecord::Discarded { .. } => "discarded",
            LifecycleRecord::ProviderEvaluated { .. } => "provider_evaluated",
            LifecycleRecord::Passed(_) => "passed",
            LifecycleRecord::Void => "void",
            LifecycleRecord::Resumed(_) => "resumed",
        }
    }

    /// Whether it tells of turns, not of one reminder.
    #[must_use]
    pub fn is_of_turn(&self) -> bool {
        matches!(self, LifecycleRecord::Passed(_) | LifecycleRecord::Void | LifecycleRecord::Resumed(_))
    }
}
