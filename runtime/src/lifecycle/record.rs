//! Events of reminders as typed records, logged on one topic.

use std::sync::{Arc, LazyLock};

use base::words::words;

use crate::event_log::Topic;
use crate::events::EventKind;
use crate::model::AnswerEnd;
use crate::reminder::expectation::JudgedBy;
use crate::reminder::slots::BodyChoice;
use crate::reminder::slots::{RenderedRole, SlotLimit};
use crate::reminder::{DeferReason, ExpireReason, Reminder, ReminderField};

use super::CompactionCharge;

words! {
    /// The reason a reminder was dropped.
    pub enum DropReason {
        /// It is malformed.
        Invalid = "invalid",
        /// The route has no slot for it.
        CapabilityMismatch = "capability_mismatch",
        /// A condition of it belonged to a process that has ended.
        ConditionLost = "condition_lost",
        /// The policy of the process refuses it.
        Policy = "policy",
    }
}

words! {
    /// The reason a session's reminders were discarded.
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
pub enum ChargePass {
    /// The end of a turn: charges the reminders that prompts have carried since the last charge.
    PostTurn,
    /// The manual pass: charges all finite reminders made in this turn or before.
    ByHand(u32),
    /// A compaction with the given charge.
    Compaction(CompactionCharge),
}

impl ChargePass {
    /// Returns its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            ChargePass::PostTurn => "post_turn",
            ChargePass::ByHand(_) => "by_hand",
            ChargePass::Compaction(_) => "compaction",
        }
    }

    /// Returns the finite reminders that it charges.
    #[must_use]
    pub fn charges(self) -> CompactionCharge {
        match self {
            ChargePass::PostTurn => CompactionCharge::Carried,
            ChargePass::ByHand(_) => CompactionCharge::All,
            ChargePass::Compaction(charge) => charge,
        }
    }
}

/// An event in the life of reminders.
#[derive(Debug, Clone, PartialEq)]
pub enum LifecycleRecord {
    /// A new reminder is pending.
    Injected(Arc<Reminder>),
    /// A reminder was inherited in a handoff.
    Inherited(Arc<Reminder>),
    /// A reminder was copied with a transcript: a fork, or one read from a dict.
    Forked(Arc<Reminder>),
    /// A reminder was added for the record only.
    Audited(Arc<Reminder>),
    /// A reminder was rendered into a request.
    Fired {
        /// Its id.
        reminder_id: Arc<str>,
        /// The turn.
        turn_number: u32,
        /// The slot.
        rendered_role: RenderedRole,
        /// Whether the request charges the reminders it carries.
        charges: bool,
        /// The body, if it was chosen among several.
        choice: Option<Arc<BodyChoice>>,
    },
    /// A pending reminder begins to wait: the next prompt does not show it.
    Deferred(Box<Deferral>),
    /// A provider made the same reminder again: it stays, and its turns start over.
    Refreshed {
        /// Its id.
        reminder_id: Arc<str>,
        /// Its TTL.
        ttl_turns: Option<u32>,
    },
    /// A condition of a reminder threw; it counts as one that does not hold.
    ConditionFailed {
        /// The reminder.
        reminder_id: Arc<str>,
        /// The condition.
        condition: ReminderField,
        /// Description of the error.
        error: Arc<str>,
    },
    /// A turn has shown whether it followed a reminder of its prompt.
    Judged(Box<Judgement>),
    /// A reminder replaced others.
    Deduped(Box<Replacement>),
    /// A reminder expired.
    Expired {
        /// Its id.
        reminder_id: Arc<str>,
        /// The reason.
        reason: ExpireReason,
        /// With reason `ttl`: the TTL it had before.
        ttl_turns_before: Option<u32>,
    },
    /// A reminder could not be used.
    Dropped {
        /// Its id; `None` if it never became a reminder.
        reminder_id: Option<Arc<str>>,
        /// The reason.
        reason: DropReason,
        /// Description of the error.
        detail: Option<Arc<str>>,
    },
    /// A reminder was discarded with its session.
    Discarded {
        /// Its id.
        reminder_id: Arc<str>,
        /// The reason.
        reason: DiscardReason,
    },
    /// A provider evaluated an event.
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
    Passed(ChargePass),
    /// No one saw the last charging prompt, so it charges nothing.
    Void,
    /// A route rejected a slot of reminders; the request is sent again with another one.
    SlotRejected(Box<SlotRejection>),
    /// The last request was answered in a way that is not the usual one.
    Answered(Box<UnusualAnswer>),
    /// A session continues from storage, perhaps in another process. Its pending reminders, each with its remaining
    /// TTL.
    Resumed(Vec<(Arc<str>, Option<u32>)>),
}

/// A route that rejected a slot of reminders.
#[derive(Debug, Clone, PartialEq)]
pub struct SlotRejection {
    /// The provider, if known.
    pub provider: Option<Arc<str>>,
    /// The model, if known.
    pub model: Option<Arc<str>>,
    /// The slot for the rest of the run.
    pub next: SlotLimit,
    /// The message of the route.
    pub error: Arc<str>,
}

/// The facts of an answer whose end is not the usual one, or whose request lost thoughts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusualAnswer {
    /// The reason it ended.
    pub end: AnswerEnd,
    /// The reason in the vendor's word, if it said one.
    pub stop_reason: Option<Arc<str>>,
    /// The number of the model's earlier thoughts that the request lost, since what came before them has changed.
    pub thoughts_left_out: u64,
}

/// A reminder that begins to wait.
#[derive(Debug, Clone, PartialEq)]
pub struct Deferral {
    /// Its id.
    pub reminder_id: Arc<str>,
    /// The reason.
    pub reason: DeferReason,
    /// With reason `budget`: the last of the shown reminders that come before it; `None` if it does not fit even alone.
    pub outranked_by: Option<Arc<str>>,
}

/// The judgement whether a turn followed a reminder of its prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// Its id.
    pub reminder_id: Arc<str>,
    /// Whether the turn followed it.
    pub heeded: bool,
    /// The decider.
    pub judged_by: JudgedBy,
    /// The decider's reason, if it gave one.
    pub reason: Option<Arc<str>>,
}

/// A reminder that replaced others.
#[derive(Debug, Clone, PartialEq)]
pub struct Replacement {
    /// Ids of the replaced reminders.
    pub replaced_ids: Vec<Arc<str>>,
    /// Id of the remaining reminder.
    pub replacing_id: Arc<str>,
    /// The key they share; `None` if the same reminder was admitted again.
    pub dedupe_key: Option<Arc<str>>,
}

words! {
    /// The kind of a record, by the last word of its name.
    pub enum LifecycleKind {
        /// A new reminder is pending.
        Injected = "injected",
        /// A reminder was inherited in a handoff.
        Inherited = "inherited",
        /// A reminder was copied with a transcript.
        Forked = "forked",
        /// A reminder was added for the record only.
        Audited = "audited",
        /// A reminder was rendered into a request.
        Fired = "fired",
        /// A pending reminder begins to wait.
        Deferred = "deferred",
        /// A provider made the same reminder again.
        Refreshed = "refreshed",
        /// A condition of a reminder threw.
        ConditionFailed = "condition_failed",
        /// A turn followed a reminder of its prompt.
        Heeded = "heeded",
        /// A turn did not follow a reminder of its prompt.
        Ignored = "ignored",
        /// A reminder replaced others.
        Deduped = "deduped",
        /// A reminder expired.
        Expired = "expired",
        /// A reminder could not be used.
        Dropped = "dropped",
        /// A reminder was discarded with its session.
        Discarded = "discarded",
        /// A provider evaluated an event.
        ProviderEvaluated = "provider_evaluated",
        /// A pass has charged reminders.
        Passed = "passed",
        /// The last charging prompt charges nothing.
        Void = "void",
        /// A route rejected a slot of reminders.
        SlotRejected = "slot_rejected",
        /// An answer ended in an unusual way, or its request lost earlier thoughts of the model.
        Answered = "answered",
        /// A session continues from storage.
        Resumed = "resumed",
        /// A request was sent.
        Prompt = "prompt",
    }
}

impl LifecycleKind {
    /// Returns the topic of its records.
    #[must_use]
    pub fn topic(self) -> Topic {
        use LifecycleKind as K;
        match self {
            K::Passed | K::Void | K::SlotRejected | K::Answered | K::Resumed | K::Prompt => Topic::Turn,
            K::Injected
            | K::Inherited
            | K::Forked
            | K::Audited
            | K::Fired
            | K::Deferred
            | K::Refreshed
            | K::ConditionFailed
            | K::Heeded
            | K::Ignored
            | K::Deduped
            | K::Expired
            | K::Dropped
            | K::Discarded
            | K::ProviderEvaluated => Topic::Reminder,
        }
    }

    /// Returns its whole name.
    #[must_use]
    pub fn name(self) -> &'static Arc<str> {
        static NAMES: LazyLock<Vec<Arc<str>>> =
            LazyLock::new(|| LifecycleKind::ALL.iter().map(|kind| kind.topic().kind(kind.as_str()).into()).collect());
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
            LifecycleRecord::Deferred(_) => K::Deferred,
            LifecycleRecord::Refreshed { .. } => K::Refreshed,
            LifecycleRecord::ConditionFailed { .. } => K::ConditionFailed,
            LifecycleRecord::Judged(judgement) if judgement.heeded => K::Heeded,
            LifecycleRecord::Judged(_) => K::Ignored,
            LifecycleRecord::Deduped(_) => K::Deduped,
            LifecycleRecord::Expired { .. } => K::Expired,
            LifecycleRecord::Dropped { .. } => K::Dropped,
            LifecycleRecord::Discarded { .. } => K::Discarded,
            LifecycleRecord::ProviderEvaluated { .. } => K::ProviderEvaluated,
            LifecycleRecord::Passed(_) => K::Passed,
            LifecycleRecord::Void => K::Void,
            LifecycleRecord::SlotRejected(_) => K::SlotRejected,
            LifecycleRecord::Answered(_) => K::Answered,
            LifecycleRecord::Resumed(_) => K::Resumed,
        }
    }
}
