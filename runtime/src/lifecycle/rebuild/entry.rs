//! Reading a record: the inverse of `to_log`.

use std::sync::Arc;

use base::data::Data;
use eventlog::Record;

use crate::event_log::Topic;
use crate::reminder::ExpireReason;
use crate::reminder::bridge::InjectionChange;
use crate::reminder::slots::BodyChoice;
use crate::reminder::slots::RenderedRole;
use crate::reminder::{Reminder, Surface};

use super::super::LifecycleKind::{self, self as K};
use super::super::{ChargePass, CompactionCharge, DiscardReason, DropReason, UnusualAnswer};
use super::{
    BirthKind, ConditionFailure, Evaluation, JudgedTurn, LifeEndReason, QueueEnd, RebuiltPrompt, Refusal, RejectedSlot,
    Wait,
};

/// The meaning of a record for the rebuild.
pub(super) enum EntryReading {
    /// It belongs to another topic.
    Foreign,
    /// It should be one of ours but is invalid.
    Bad(String),
    /// The session and its entry.
    Good(Arc<str>, RebuildEntry),
}

/// The event in a record.
pub(super) enum RebuildEntry {
    Born { by: BirthKind, reminder: Arc<Reminder> },
    Fired { id: Arc<str>, turn: u32, slot: RenderedRole, charges: bool, choice: Option<BodyChoice> },
    Deferred { id: Arc<str>, wait: Wait },
    ConditionFailed(ConditionFailure),
    Judged { id: Arc<str>, judged: JudgedTurn },
    Refreshed { id: Arc<str>, ttl_turns: Option<u32> },
    Ended { ids: Vec<Arc<str>>, how: LifeEndReason },
    Refused(Refusal),
    Evaluated(Evaluation),
    Passed(ChargePass),
    Void,
    SlotRejected(RejectedSlot),
    Answered(UnusualAnswer),
    Resumed(Vec<(Arc<str>, Option<u32>)>),
    Prompt(RebuiltPrompt),
    Unqueued(QueueEnd),
}

type ReadResult<T> = Result<T, String>;

pub(super) fn read(record: &Record) -> EntryReading {
    let Some(topic) = Topic::named(&record.topic) else { return EntryReading::Foreign };
    let read = match topic {
        Topic::Reminder => of_reminder(record),
        Topic::Turn => of_turn(record),
        Topic::Injection => match queue_end(record) {
            Some(read) => read,
            None => return EntryReading::Foreign,
        },
        Topic::Message
        | Topic::State
        | Topic::Activity
        | Topic::Permission
        | Topic::Life
        | Topic::Shown
        | Topic::Task
        | Topic::TaskContent
        | Topic::Hub
        | Topic::Channel => return EntryReading::Foreign,
    };
    let whole = read.and_then(|entry| Ok((text(&record.payload, "session_id")?, entry)));
    match whole {
        Ok((session_id, entry)) => EntryReading::Good(session_id, entry),
        Err(why) => EntryReading::Bad(format!("the record `{}` is skipped: {why}", record.kind)),
    }
}

fn of_reminder(record: &Record) -> ReadResult<RebuildEntry> {
    let payload = &record.payload;
    let id = || text(payload, "reminder_id");
    let born = |by| Ok(RebuildEntry::Born { by, reminder: Arc::new(Reminder::from_stored(payload, Surface::Log)?) });
    match kind_of(record)? {
        K::Injected => born(BirthKind::Injected),
        K::Inherited => born(BirthKind::Inherited),
        K::Forked => born(BirthKind::Forked),
        K::Audited => born(BirthKind::Audited),
        K::Fired => Ok(RebuildEntry::Fired {
            id: id()?,
            turn: number(payload, "turn_number")?,
            slot: parsed(payload, "rendered_role")?,
            charges: payload.get("charges").as_bool().ok_or("`charges` is missing")?,
            choice: choice(payload)?,
        }),
        K::Deferred => {
            let outranked_by = payload.get("outranked_by").as_shared_str();
            let reason = parsed(payload, "reason")?;
            let wait = Wait { cursor: record.cursor, turn: turn(payload), reason, outranked_by };
            Ok(RebuildEntry::Deferred { id: id()?, wait })
        }
        K::ConditionFailed => Ok(RebuildEntry::ConditionFailed(ConditionFailure {
            cursor: record.cursor,
            turn: turn(payload),
            reminder_id: id()?,
            condition: text(payload, "condition")?,
            error: text(payload, "error")?,
        })),
        kind @ (K::Heeded | K::Ignored) => Ok(RebuildEntry::Judged {
            id: id()?,
            judged: JudgedTurn {
                cursor: record.cursor,
                turn: turn(payload),
                heeded: kind == K::Heeded,
                judged_by: parsed(payload, "judged_by")?,
                reason: payload.get("reason").as_shared_str(),
            },
        }),
        K::Refreshed => Ok(RebuildEntry::Refreshed { id: id()?, ttl_turns: count_or_nil(payload, "ttl_turns")? }),
        K::Deduped => {
            let replaced = payload.get("replaced_ids").as_list().unwrap_or_default();
            let ids = replaced.iter().filter_map(Data::as_shared_str).collect();
            Ok(RebuildEntry::Ended { ids, how: LifeEndReason::Deduped { by: text(payload, "replacing_id")? } })
        }
        K::Expired => {
            let reason: ExpireReason = parsed(payload, "reason")?;
            Ok(RebuildEntry::Ended { ids: vec![id()?], how: LifeEndReason::Expired(reason) })
        }
        K::Dropped => {
            let (reason, detail): (DropReason, _) = (parsed(payload, "reason")?, payload.get("detail").as_shared_str());
            match id() {
                Ok(id) => Ok(RebuildEntry::Ended { ids: vec![id], how: LifeEndReason::Dropped(reason, detail) }),
                Err(_) => {
                    Ok(RebuildEntry::Refused(Refusal { cursor: record.cursor, turn: turn(payload), reason, detail }))
                }
            }
        }
        K::Discarded => {
            let reason: DiscardReason = parsed(payload, "reason")?;
            Ok(RebuildEntry::Ended { ids: vec![id()?], how: LifeEndReason::Discarded(reason) })
        }
        K::ProviderEvaluated => Ok(RebuildEntry::Evaluated(Evaluation {
            cursor: record.cursor,
            turn: turn(payload),
            provider_id: text(payload, "provider_id")?,
            event: text(payload, "event")?,
            fired: payload.get("fired").as_bool().unwrap_or(false),
            error: payload.get("error").as_shared_str(),
        })),
        K::Passed | K::Void | K::SlotRejected | K::Answered | K::Resumed | K::Prompt => Err(FOREIGN_KIND.to_owned()),
    }
}

const FOREIGN_KIND: &str = "its kind does not belong to this topic";

/// Returns the kind of a record, whose topic is one of the lifecycle.
fn kind_of(record: &Record) -> ReadResult<K> {
    LifecycleKind::named(&record.kind).ok_or_else(|| {
        let is_own = Topic::named(&record.topic).is_some_and(|topic| topic.word_of(&record.kind).is_some());
        if is_own { "its kind is unknown".to_owned() } else { FOREIGN_KIND.to_owned() }
    })
}

/// Returns the item that left the queue without being delivered; `None` for the queue's other records.
fn queue_end(record: &Record) -> Option<ReadResult<RebuildEntry>> {
    let change = InjectionChange::of_kind(&record.kind)?;
    if matches!(change, InjectionChange::Queued | InjectionChange::Delivered) {
        return None;
    }
    let replaced_by = record.payload.get("replaced_by").as_shared_str();
    let of_id = |id| {
        RebuildEntry::Unqueued(QueueEnd { cursor: record.cursor, turn: 0, id, word: change.as_str(), replaced_by })
    };
    Some(text(&record.payload, "id").map(of_id))
}

fn of_turn(record: &Record) -> ReadResult<RebuildEntry> {
    let payload = &record.payload;
    match kind_of(record)? {
        K::Passed => pass(payload).map(RebuildEntry::Passed),
        K::Void => Ok(RebuildEntry::Void),
        K::SlotRejected => Ok(RebuildEntry::SlotRejected(RejectedSlot {
            cursor: record.cursor,
            turn: turn(payload),
            model: payload.get("model").as_shared_str().or_else(|| payload.get("provider").as_shared_str()),
            next: parsed(payload, "next")?,
            error: text(payload, "error")?,
        })),
        K::Answered => Ok(RebuildEntry::Answered(UnusualAnswer {
            end: parsed(payload, "answer_end")?,
            stop_reason: payload.get("stop_reason").as_shared_str(),
            thoughts_left_out: number(payload, "thoughts_left_out")?.into(),
        })),
        K::Resumed => {
            let pending = payload
                .get("pending")
                .as_list()
                .unwrap_or_default()
                .iter()
                .map(|item| Ok((text(item, "reminder_id")?, count_or_nil(item, "ttl_turns")?)));
            Ok(RebuildEntry::Resumed(pending.collect::<ReadResult<_>>()?))
        }
        K::Prompt => RebuiltPrompt::read(record).map(RebuildEntry::Prompt),
        _ => Err(FOREIGN_KIND.to_owned()),
    }
}

fn pass(payload: &Data) -> ReadResult<ChargePass> {
    let charge = match text(payload, "charges")?.as_ref() {
        "all" => CompactionCharge::All,
        "carried" => CompactionCharge::Carried,
        other => return Err(format!("`charges` is `{other}`")),
    };
    match text(payload, "pass")?.as_ref() {
        "post_turn" => Ok(ChargePass::PostTurn),
        "by_hand" => Ok(ChargePass::ByHand(number(payload, "upto_turn")?)),
        "compaction" => Ok(ChargePass::Compaction(charge)),
        other => Err(format!("`pass` is `{other}`")),
    }
}

/// Returns the turn in which the record was written.
pub(super) fn turn(payload: &Data) -> u32 {
    number(payload, "turn").unwrap_or(0)
}

pub(super) fn text(payload: &Data, field: &str) -> ReadResult<Arc<str>> {
    payload.get(field).as_shared_str().ok_or_else(|| format!("`{field}` is missing"))
}

pub(super) fn number(payload: &Data, field: &str) -> ReadResult<u32> {
    let whole = payload.get(field).as_int().and_then(|number| u32::try_from(number).ok());
    whole.ok_or_else(|| format!("`{field}` is not a count"))
}

fn count_or_nil(payload: &Data, field: &str) -> ReadResult<Option<u32>> {
    if payload.get(field).is_nil() { Ok(None) } else { number(payload, field).map(Some) }
}

/// Returns the choice of a body, if the record has one.
fn choice(payload: &Data) -> ReadResult<Option<BodyChoice>> {
    let variant = payload.get("variant").as_shared_str();
    let escalation = count_or_nil(payload, "escalation")?;
    Ok((variant.is_some() || escalation.is_some()).then_some(BodyChoice { variant, escalation }))
}

fn parsed<T: std::str::FromStr<Err = base::words::UnknownWord>>(payload: &Data, field: &str) -> ReadResult<T> {
    text(payload, field)?.parse().map_err(|error| format!("`{field}`: {error}"))
}
