//! The bridge: injections from hosts into a session, queued until a seam of the loop.
//!
//! The queue is shared with the thread that serves hosts (`Arc<Mutex<…>>`): adding, listing and revoking need no answer
//! from the worker, and a single lock decides whether an item was delivered already.

use std::sync::{Arc, LazyLock};

use base::data::Data;
use base::words::words;

use crate::event_log::Topic;

mod payload;
mod pending_keys;
mod queue;
mod recorded;

pub(crate) use pending_keys::PendingKeys;

pub use payload::{MessagePayload, RemindPayload};
pub use queue::{InjectionOutcome, Queue, QueueAcceptance, QueueError, Revocation, SharedQueue};
pub use recorded::RecordedQueue;

use super::{Reminder, ReminderField, Surface};

words! {
    /// The moment an item is delivered.
    pub enum DeliveryMode {
        /// At the next seam; before a tool batch it replaces the batch.
        InterruptImmediate = "interrupt_immediate",
        /// At the next boundary of an iteration.
        FinishStep = "finish_step",
        /// When the loop is over, for the record only.
        AuditOnly = "audit_only",
    }
}

words! {
    /// A place between two steps of the loop where items may be delivered.
    pub enum Seam {
        /// An iteration begins.
        IterationStart = "iteration_start",
        /// The model requested tools, and none has run.
        PreToolDispatch = "pre_tool_dispatch",
        /// All tools of the batch have answered.
        PostToolDispatch = "post_tool_dispatch",
        /// An iteration is over.
        IterationEnd = "iteration_end",
        /// The loop is over.
        LoopExit = "loop_exit",
        /// A daemon is about to sleep.
        DaemonIdlePre = "daemon_idle_pre",
        /// A daemon has slept.
        DaemonIdlePost = "daemon_idle_post",
        /// Before compaction; observed only.
        PreCompact = "pre_compact",
        /// After compaction; observed only.
        PostCompact = "post_compact",
    }
}

impl Seam {
    /// Returns whether items of a mode are delivered here.
    #[must_use]
    pub fn drains(self, mode: DeliveryMode) -> bool {
        use Seam as S;
        match mode {
            DeliveryMode::InterruptImmediate => !matches!(self, S::LoopExit | S::PreCompact | S::PostCompact),
            DeliveryMode::FinishStep => matches!(self, S::IterationStart | S::PostToolDispatch | S::IterationEnd),
            DeliveryMode::AuditOnly => self == S::LoopExit,
        }
    }
}

words! {
    /// A change of a queued item, as named in its record.
    pub enum InjectionChange {
        /// It was accepted.
        Queued = "queued",
        /// A newer one replaced it.
        Replaced = "replaced",
        /// Its host revoked it.
        Revoked = "revoked",
        /// It was cleared, or its task or session ended.
        Expired = "expired",
        /// It was delivered.
        Delivered = "delivered",
    }
}

impl InjectionChange {
    /// Returns the kind of the record.
    #[must_use]
    pub fn kind(self) -> &'static Arc<str> {
        static KINDS: LazyLock<Vec<Arc<str>>> =
            LazyLock::new(|| InjectionChange::WORDS.iter().map(|word| Topic::Injection.kind(word).into()).collect());
        &KINDS[self as usize]
    }

    /// Returns the change that a record of a kind reports; `None` for a kind of another topic.
    #[must_use]
    pub fn of_kind(kind: &str) -> Option<InjectionChange> {
        InjectionChange::ALL.iter().copied().find(|change| **change.kind() == *kind)
    }
}

/// An item in a queue.
#[derive(Debug, Clone, PartialEq)]
pub struct Injection {
    /// The id; for a reminder, its own id.
    pub id: Arc<str>,
    /// Delivery mode.
    pub mode: DeliveryMode,
    /// Content to deliver.
    pub payload: InjectionPayload,
}

/// The content that is delivered.
#[derive(Debug, Clone, PartialEq)]
pub enum InjectionPayload {
    /// A reminder.
    Reminder(Arc<Reminder>),
    /// A user message.
    Message(Arc<crate::message::Message>),
}

impl Injection {
    /// The fields of a queued reminder that a host sees.
    pub const ROW: [ReminderField; 7] = {
        use ReminderField as F;
        [F::Id, F::Body, F::Tags, F::DedupeKey, F::TtlTurns, F::RoleHint, F::Source]
    };

    /// Returns the row that a host sees. The guide spells its names in camelCase; its source uses the words of
    /// `surface`.
    #[must_use]
    pub fn to_data(&self, surface: Surface) -> Data {
        let common = [("mode", Data::from(self.mode.as_str()))];
        match &self.payload {
            InjectionPayload::Reminder(reminder) => {
                let kind = [("kind", Data::from("reminder"))];
                let fields = Self::ROW.map(|field| (field.name(Surface::Acp), reminder.written(field, surface).1));
                Data::dict(common.into_iter().chain(kind).chain(fields))
            }
            InjectionPayload::Message(message) => Data::dict_of_present(common.into_iter().chain([
                ("kind", Data::from("user_message")),
                ("injectionId", (&self.id).into()),
                ("content", message.content.to_data()),
            ])),
        }
    }
}
