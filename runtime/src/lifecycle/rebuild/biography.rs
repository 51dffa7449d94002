//! [`Biography`]: the life of one reminder in one session.

use std::sync::Arc;

use base::data::Data;
use base::words::words;

use crate::reminder::Reminder;
use crate::reminder::expectation::JudgedBy;
use crate::reminder::slots::BodyChoice;
use crate::reminder::slots::RenderedRole;
use crate::reminder::{DeferReason, ExpireReason};

use super::super::{DiscardReason, DropReason};

words! {
    /// The record by which a reminder began.
    pub enum BirthKind {
        /// A producer made it.
        Injected = "injected",
        /// It was inherited in a handoff.
        Inherited = "inherited",
        /// It was copied with a fork.
        Forked = "forked",
        /// It was added for the record only and never pending.
        Audited = "audited",
    }
}

/// The beginning of a life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Birth {
    /// The kind of the record.
    pub by: BirthKind,
    /// Cursor of the record.
    pub cursor: u64,
    /// Time, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// Turn of the session.
    pub turn: u32,
    /// The current tool call.
    pub task_id: Option<Arc<str>>,
    /// The current agent.
    pub agent_id: Option<Arc<str>>,
}

/// A request that carried it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carrier {
    /// Cursor of the record.
    pub cursor: u64,
    /// The turn; 0 for a bare call before any loop.
    pub turn: u32,
    /// The slot.
    pub slot: RenderedRole,
    /// Whether the request charges the reminders it carries.
    pub charges: bool,
    /// Whether the prompt was voided, so that no one saw it.
    pub void: bool,
    /// The body, if it was chosen among several.
    pub choice: Option<BodyChoice>,
}

/// The beginning of a time in which prompts did not show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    /// Cursor of the record.
    pub cursor: u64,
    /// The turn.
    pub turn: u32,
    /// The reason.
    pub reason: DeferReason,
    /// With reason `budget`: the shown reminder before it.
    pub outranked_by: Option<Arc<str>>,
}

/// The decision whether a turn followed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedTurn {
    /// Cursor of the record.
    pub cursor: u64,
    /// The turn.
    pub turn: u32,
    /// Whether the turn followed it.
    pub heeded: bool,
    /// The decider.
    pub judged_by: JudgedBy,
    /// The decider's reason, if it gave one.
    pub reason: Option<Arc<str>>,
}

/// The way a life ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LifeEndReason {
    /// A newer reminder with its key replaced it.
    Deduped {
        /// Id of the newer one.
        by: Arc<str>,
    },
    /// It expired.
    Expired(ExpireReason),
    /// It could not be used.
    Dropped(DropReason, Option<Arc<str>>),
    /// It was discarded with its session, or a part of it.
    Discarded(DiscardReason),
}

impl LifeEndReason {
    /// Returns one word for it: that of the record, or of its reason if that is more specific.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            LifeEndReason::Deduped { .. } => "deduped",
            LifeEndReason::Expired(ExpireReason::Ttl) => "ttl",
            LifeEndReason::Expired(ExpireReason::Compaction) => "compaction",
            LifeEndReason::Expired(ExpireReason::Cleared) => "cleared",
            LifeEndReason::Expired(ExpireReason::MaxTimes) => "max_times",
            LifeEndReason::Expired(ExpireReason::Until) => "until",
            LifeEndReason::Dropped(..) => "dropped",
            LifeEndReason::Discarded(_) => "discarded",
        }
    }
}

/// The end of a life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LifeEnd {
    /// The way it ended.
    pub how: LifeEndReason,
    /// Cursor of the record.
    pub cursor: u64,
    /// Time, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// Turn of the session.
    pub turn: u32,
}

/// The life of one reminder in one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Biography {
    /// The reminder at its beginning.
    pub reminder: Arc<Reminder>,
    /// Its beginning.
    pub birth: Birth,
    /// The requests that carried it, oldest first.
    pub carried: Vec<Carrier>,
    /// The times in which prompts did not show it, oldest first. Each lasts until the next prompt that carried it.
    pub waits: Vec<Wait>,
    /// Points at which its provider made it again, so that its turns started over: cursor and turn.
    pub refreshed: Vec<(u64, u32)>,
    /// The turns that were judged by its expectation, oldest first.
    pub judged: Vec<JudgedTurn>,
    /// Its end; `None` while it is pending, and for a reminder added for the record only.
    pub end: Option<LifeEnd>,
    /// Number of further prompts in which it appears, as of its end if it has ended; `None` if it never expires.
    pub ttl_left: Option<u32>,
    /// Number of charging prompts that have carried it since it was last charged.
    pub(super) uncharged: u32,
}

impl Biography {
    pub(super) fn new(reminder: Arc<Reminder>, birth: Birth) -> Biography {
        let ttl_left = reminder.ttl_turns;
        Biography {
            reminder,
            birth,
            carried: Vec::new(),
            waits: Vec::new(),
            refreshed: Vec::new(),
            judged: Vec::new(),
            end: None,
            ttl_left,
            uncharged: 0,
        }
    }

    /// Returns whether it is pending.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.end.is_none() && self.birth.by != BirthKind::Audited
    }

    /// Subtracts turns from the TTL.
    pub(super) fn charge(&mut self, turns: u32) {
        self.ttl_left = self.ttl_left.map(|left| left.saturating_sub(turns));
    }

    /// Returns the number of prompts with unfinished turns that have carried it.
    #[must_use]
    pub fn uncharged(&self) -> u32 {
        self.uncharged
    }

    /// Returns the current reminder, with the current `ttl_turns`.
    #[must_use]
    pub fn present(&self) -> Reminder {
        Reminder { ttl_turns: self.ttl_left, ..self.reminder.as_ref().clone() }
    }

    /// Converts the current reminder to the value that scripts see.
    #[must_use]
    pub fn to_data(&self) -> Data {
        self.reminder.to_data(self.ttl_left)
    }
}
