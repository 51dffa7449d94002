//! [`Biography`]: the life of one reminder in one session.

use std::sync::Arc;

use crate::data::Data;
use crate::reminder::Reminder;
use crate::render::RenderedRole;
use crate::words::words;

use super::super::{DiscardReason, DropReason, ExpireReason};

words! {
    /// By which record a reminder began.
    pub enum BornBy {
        /// A producer made it.
        Injected = "injected",
        /// It came with a handoff.
        Inherited = "inherited",
        /// It came along with a fork.
        Forked = "forked",
        /// It was put down for the record only; it was never pending.
        Audited = "audited",
    }
}

/// The beginning of a life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Birth {
    /// By which record.
    pub by: BornBy,
    /// The record.
    pub cursor: u64,
    /// When, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// In which turn of the session.
    pub turn: u32,
    /// The tool call at hand.
    pub task_id: Option<Arc<str>>,
    /// The agent at hand.
    pub agent_id: Option<Arc<str>>,
}

/// A request that carried it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried {
    /// The record.
    pub cursor: u64,
    /// The turn; 0 for a bare call before any loop.
    pub turn: u32,
    /// The slot.
    pub slot: RenderedRole,
    /// Whether the request charges what it carries.
    pub charges: bool,
    /// Whether the prompt was voided, so that no one saw it.
    pub void: bool,
}

/// The way a life ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum How {
    /// A newer one with its key took its place.
    Deduped {
        /// The newer one.
        by: Arc<str>,
    },
    /// It expired.
    Expired(ExpireReason),
    /// It could not be used.
    Dropped(DropReason, Option<Arc<str>>),
    /// It went with its session, or a part of it.
    Discarded(DiscardReason),
}

impl How {
    /// One word for it: that of the record, or of its reason where that says more.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            How::Deduped { .. } => "deduped",
            How::Expired(ExpireReason::Ttl) => "ttl",
            How::Expired(ExpireReason::Compaction) => "compaction",
            How::Expired(ExpireReason::Cleared) => "cleared",
            How::Dropped(..) => "dropped",
            How::Discarded(_) => "discarded",
        }
    }
}

/// The end of a life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// How.
    pub how: How,
    /// The record.
    pub cursor: u64,
    /// When, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// In which turn of the session.
    pub turn: u32,
}

/// The life of one reminder in one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Biography {
    /// The reminder as it was born.
    pub reminder: Arc<Reminder>,
    /// Its beginning.
    pub birth: Birth,
    /// The requests that carried it, oldest first.
    pub carried: Vec<Carried>,
    /// Its end; nothing while it is pending, and nothing for one that was only put down for the record.
    pub end: Option<End>,
    /// In how many more prompts it appears; nothing for one that stays. As of its end, where it has ended.
    pub ttl_left: Option<u32>,
    /// Number of charging prompts that have carried it since it was last charged.
    pub(super) uncharged: u32,
}

impl Biography {
    pub(super) fn new(reminder: Arc<Reminder>, birth: Birth) -> Biography {
        let ttl_left = reminder.ttl_turns;
        Biography { reminder, birth, carried: Vec::new(), end: None, ttl_left, uncharged: 0 }
    }

    /// Whether it is pending.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.end.is_none() && self.birth.by != BornBy::Audited
    }

    /// Takes turns off what is left.
    pub(super) fn charge(&mut self, turns: u32) {
        self.ttl_left = self.ttl_left.map(|left| left.saturating_sub(turns));
    }

    /// Returns the number of prompts with unfinished turns that have carried it.
    #[must_use]
    pub fn uncharged(&self) -> u32 {
        self.uncharged
    }

    /// The reminder as it is now: with the present `ttl_turns`.
    #[must_use]
    pub fn present(&self) -> Reminder {
        Reminder { ttl_turns: self.ttl_left, ..self.reminder.as_ref().clone() }
    }

    /// The present reminder as scripts see it.
    #[must_use]
    pub fn to_data(&self) -> Data {
        self.reminder.to_data(self.ttl_left)
    }
}
