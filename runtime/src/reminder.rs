//! Reminders: short-lived context for the next few turns. This module defines the record ([`Reminder`]), the
//! specification that a producer writes ([`ReminderSpec`]) and its strict reader. [`codec`] names the fields on every
//! surface, [`crate::lifecycle`] implements the life of a reminder, [`crate::reminder_providers`] its providers.

use std::sync::Arc;

use base::words::words;

pub mod bridge;
pub mod codec;
mod codes;
pub mod condition;
pub mod cost;
mod error;
mod event_form;
pub mod expectation;
mod frame;
mod inherited_list;
mod lenient;
pub mod limits;
pub(crate) mod misnomer;
pub mod overrides;
pub mod policy;
pub mod rules;
pub mod slots;
mod spec;

pub use codec::{ReminderField, Surface};
pub use codes::ReminderCode;
pub use error::ReminderError;
pub(crate) use frame::Frame;
pub use frame::FramedBody;
pub use rules::{ModelBodies, Priority, Refresh, ReminderRules};
pub use spec::ReminderSpec;

words! {
    /// The slot that a reminder requests; the route decides.
    pub enum RoleHint {
        /// System text.
        System = "system",
        /// A developer message.
        Developer = "developer",
        /// A block of a user message.
        UserBlock = "user_block",
        /// A block of a user message, marked for the prompt cache.
        EphemeralCache = "ephemeral_cache",
    }
}

words! {
    /// The propagation of a reminder to sub-agents.
    pub enum Propagate {
        /// To children and on to their children.
        All = "all",
        /// To direct children of the session that made it.
        Session = "session",
        /// Nowhere.
        None = "none",
    }
}

words! {
    /// The producer of a reminder.
    pub enum ReminderSource {
        /// A reminder provider.
        StdlibProvider = "stdlib_provider",
        /// A hook.
        Hook = "hook",
        /// A host.
        Bridge = "bridge",
        /// A pipeline.
        InPipeline = "in_pipeline",
        /// A parent session.
        Inherited = "inherited",
    }
}

words! {
    /// The reason why a pending reminder is not in a prompt.
    pub enum DeferReason {
        /// The budget has no room for it.
        Budget = "budget",
        /// Its `cooldown_turns` are not over.
        Cooldown = "cooldown",
        /// It is not due by its `every`.
        Every = "every",
        /// It is refreshed on a change, and its body was shown before.
        Unchanged = "unchanged",
        /// Its `when` does not hold.
        When = "when",
    }
}

words! {
    /// The reason a reminder expired.
    pub enum ExpireReason {
        /// Its TTL ran out.
        Ttl = "ttl",
        /// Compaction did not preserve it.
        Compaction = "compaction",
        /// It was cleared explicitly.
        Cleared = "cleared",
        /// It was shown as often as its `max_times` allows.
        MaxTimes = "max_times",
        /// Its `until` holds.
        Until = "until",
    }
}

/// A reminder in a transcript, with all fields of the guide's table.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Reminder {
    /// Stable id for audit, replay and clearing.
    pub id: Arc<str>,
    /// The text, byte for byte as given.
    pub body: Arc<str>,
    /// Tags, trimmed and without repetitions.
    pub tags: Vec<Arc<str>>,
    /// A newer pending reminder with the same key replaces an older one.
    pub dedupe_key: Option<Arc<str>>,
    /// Number of prompts in which it still appears, as of the last write of the record; `None` means until cleared.
    /// [`crate::transcript::Transcript::ttl_left`] returns the current number.
    pub ttl_turns: Option<u32>,
    /// Whether compaction keeps it.
    pub preserve_on_compact: bool,
    /// Propagation to sub-agents.
    pub propagate: Propagate,
    /// The requested slot.
    pub role_hint: RoleHint,
    /// Producer of the reminder.
    pub source: ReminderSource,
    /// The turn in which it was made; 0 before a loop and in pipelines.
    pub fired_at_turn: u32,
    /// The session that first made it, if it was inherited.
    pub originating_agent_id: Option<Arc<str>>,
    /// The provider or hook that made it, for hosts. Not part of the guide's record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub producer: Option<Arc<str>>,
    /// The rules by which prompts show it; `None` if every prompt shows its body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<Arc<ReminderRules>>,
    /// The body as prompts show it, once one has.
    #[serde(skip)]
    pub framed: FramedBody,
}

impl Reminder {
    /// Default maximum size of a body, in bytes; [`limits::set_max_body`] changes it.
    pub const MAX_BODY: usize = 64 * 1024;

    /// Returns whether its body can be shown at all. The lenient reader and imports may produce one that cannot.
    #[must_use]
    pub fn is_renderable(&self) -> bool {
        !self.body.trim().is_empty() && (self.body.len() <= limits::max_body() || policy::is_forced(self))
    }

    /// Returns the `role` of its event.
    #[must_use]
    pub fn event_role(&self) -> &'static str {
        match self.role_hint {
            RoleHint::Developer => "developer",
            RoleHint::UserBlock | RoleHint::EphemeralCache => "user",
            RoleHint::System => "system",
        }
    }
}
