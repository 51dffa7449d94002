//! Content of a session's records besides reminders: requests, passes, providers, and refusals.

use std::sync::Arc;

use eventlog::Record;

use crate::reminder::slots::BodyChoice;
use crate::reminder::slots::{RenderedRole, SlotLimit};

use super::super::{ChargePass, DropReason, UnusualAnswer};
use super::entry::{number, text, turn};

/// An item that left the queue of its session before a loop took it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueEnd {
    /// Cursor of the record.
    pub cursor: u64,
    /// The last turn before.
    pub turn: u32,
    /// The item's id; for a reminder, its own id.
    pub id: Arc<str>,
    /// The reason: `replaced`, `revoked` or `expired`.
    pub word: &'static str,
    /// The item that replaced it.
    pub replaced_by: Option<Arc<str>>,
}

/// The cost of a reminder in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CarriedCost {
    /// Estimated tokens.
    pub tokens: u64,
    /// Whether a prompt cache can serve them.
    pub is_cached: bool,
}

/// A slot of reminders that a route rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedSlot {
    /// Cursor of the record.
    pub cursor: u64,
    /// The turn.
    pub turn: u32,
    /// The model, or the provider if no model is named.
    pub model: Option<Arc<str>>,
    /// The slot for the rest of the run.
    pub next: SlotLimit,
    /// The message of the route.
    pub error: Arc<str>,
}

/// A request that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RebuiltPrompt {
    /// Cursor of the record.
    pub cursor: u64,
    /// Time, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// The turn; 0 for a bare call before any loop.
    pub turn: u32,
    /// Whether it charges the reminders it carries: a loop's request does, a bare call's does not.
    pub charges: bool,
    /// Whether the prompt was voided, so that no one saw it.
    pub void: bool,
    /// The provider, if known.
    pub provider: Option<Arc<str>>,
    /// The model, if known.
    pub model: Option<Arc<str>>,
    /// Number of messages it holds.
    pub message_count: usize,
    /// The reminders in it with their slots, oldest first.
    pub carried: Vec<(Arc<str>, RenderedRole)>,
    /// The costs of the carried reminders, in their order; empty in logs of earlier versions.
    pub costs: Vec<CarriedCost>,
    /// Estimated tokens of its history that a cache could not serve because of changed reminders before it.
    pub rebilled_tokens: u64,
    /// Its answer, if that was unusual.
    pub answer: Option<UnusualAnswer>,
    /// The bodies in it that were chosen among several.
    pub choices: Vec<(Arc<str>, BodyChoice)>,
    /// Size in bytes, in the vendor-neutral form.
    pub total_bytes: Option<u64>,
    /// Number of these bytes that it shares, from the first, with the session's previous request.
    pub shared_prefix_bytes: Option<u64>,
}

impl RebuiltPrompt {
    pub(super) fn read(record: &Record) -> Result<RebuiltPrompt, String> {
        let payload = &record.payload;
        let bytes = |field: &str| payload.get(field).as_int().and_then(|bytes| u64::try_from(bytes).ok());
        let carried = payload.get("carried").as_list().unwrap_or_default().iter().map(|item| {
            let slot = text(item, "slot")?.parse().map_err(|error| format!("`slot`: {error}"))?;
            Ok((text(item, "reminder_id")?, slot))
        });
        let costs = payload.get("carried").as_list().unwrap_or_default().iter().map(|item| {
            let tokens = item.get("tokens").as_int().and_then(|tokens| u64::try_from(tokens).ok())?;
            Some(CarriedCost { tokens, is_cached: item.get("cached").as_bool()? })
        });
        Ok(RebuiltPrompt {
            cursor: record.cursor,
            at_ms: record.occurred_at_ms,
            turn: turn(payload),
            charges: payload.get("charges").as_bool().ok_or("`charges` is missing")?,
            void: false,
            provider: payload.get("provider").as_shared_str(),
            model: payload.get("model").as_shared_str(),
            message_count: number(payload, "message_count")? as usize,
            carried: carried.collect::<Result<_, String>>()?,
            costs: costs.collect::<Option<_>>().unwrap_or_default(),
            rebilled_tokens: bytes("rebilled_tokens").unwrap_or(0),
            answer: None,
            choices: Vec::new(),
            total_bytes: bytes("total_bytes"),
            shared_prefix_bytes: bytes("shared_prefix_bytes"),
        })
    }
}

/// An evaluation of an event by a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evaluation {
    /// Cursor of the record.
    pub cursor: u64,
    /// The turn.
    pub turn: u32,
    /// The provider.
    pub provider_id: Arc<str>,
    /// The event, in PascalCase.
    pub event: Arc<str>,
    /// Whether it added a reminder.
    pub fired: bool,
    /// The error it threw.
    pub error: Option<Arc<str>>,
}

/// A condition that threw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionFailure {
    /// Cursor of the record.
    pub cursor: u64,
    /// The turn.
    pub turn: u32,
    /// The reminder.
    pub reminder_id: Arc<str>,
    /// The condition: `when`, `until` or `expect`.
    pub condition: Arc<str>,
    /// The error it threw.
    pub error: Arc<str>,
}

/// An item or event that never became a reminder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Cursor of the record.
    pub cursor: u64,
    /// The turn.
    pub turn: u32,
    /// The reason.
    pub reason: DropReason,
    /// Description of the error.
    pub detail: Option<Arc<str>>,
}

/// A pass over the pending reminders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RebuiltPass {
    /// Cursor of the record.
    pub cursor: u64,
    /// The turn.
    pub turn: u32,
    /// The pass.
    pub pass: ChargePass,
}
