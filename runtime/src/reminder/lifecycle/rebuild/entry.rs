//! Reading a record: the other half of `to_log`.

use std::sync::Arc;

use crate::data::Data;
use crate::event_log::Record;
use crate::reminder::Reminder;
use crate::render::RenderedRole;

use super::super::{Charge, DiscardReason, DropReason, ExpireReason, Pass, TOPIC, TURN_TOPIC};
use super::{BornBy, Evaluation, How, Prompt, QueueEnd, Refusal};
use crate::session::INJECTION_TOPIC;

/// What a record is to the rebuild.
pub(super) enum Reading {
    /// It belongs to another topic.
    Foreign,
    /// It should be one of ours and is not.
    Bad(String),
    /// A session and what happened there.
    Good(Arc<str>, Entry),
}

/// What happened.
pub(super) enum Entry {
    Born { by: BornBy, reminder: Arc<Reminder> },
    Fired { id: Arc<str>, turn: u32, slot: RenderedRole, charges: bool },
    Ended { ids: Vec<Arc<str>>, how: How },
    Refused(Refusal),
    Evaluated(Evaluation),
    Passed(Pass),
    Void,
    Resumed(Vec<(Arc<str>, Option<u32>)>),
    Prompt(Prompt),
    Unqueued(QueueEnd),
}

type Read<T> = Result<T, String>;

pub(super) fn read(record: &Record) -> Reading {
    let read = match record.topic.as_ref() {
        TOPIC => of_reminder(record),
        TURN_TOPIC => of_turn(record),
        INJECTION_TOPIC => match queue_end(record) {
            Some(read) => read,
            None => return Reading::Foreign,
        },
        _ => return Reading::Foreign,
    };
    let whole = read.and_then(|entry| Ok((text(&record.payload, "session_id")?, entry)));
    match whole {
        Ok((session_id, entry)) => Reading::Good(session_id, entry),
        Err(why) => Reading::Bad(format!("the record `{}` is skipped: {why}", record.kind)),
    }
}

fn of_reminder(record: &Record) -> Read<Entry> {
    let payload = &record.payload;
    let id = || text(payload, "reminder_id");
    let born = |by| Ok(Entry::Born { by, reminder: Arc::new(reminder(payload)?) });
    let word = record.kind.strip_prefix("transcript.reminder.").ok_or("its kind does not belong to this topic")?;
    match word {
        "injected" => born(BornBy::Injected),
        "inherited" => born(BornBy::Inherited),
        "forked" => born(BornBy::Forked),
        "audited" => born(BornBy::Audited),
        "fired" => Ok(Entry::Fired {
            id: id()?,
            turn: number(payload, "turn_number")?,
            slot: parsed(payload, "rendered_role")?,
            charges: payload.get("charges").as_bool().ok_or("`charges` is missing")?,
        }),
        "deduped" => {
            let replaced = payload.get("replaced_ids").as_list().unwrap_or_default();
            let ids = replaced.iter().filter_map(Data::as_shared_str).collect();
            Ok(Entry::Ended { ids, how: How::Deduped { by: text(payload, "replacing_id")? } })
        }
        "expired" => {
            let reason: ExpireReason = parsed(payload, "reason")?;
            Ok(Entry::Ended { ids: vec![id()?], how: How::Expired(reason) })
        }
        "dropped" => {
            let (reason, detail): (DropReason, _) = (parsed(payload, "reason")?, payload.get("detail").as_shared_str());
            match id() {
                Ok(id) => Ok(Entry::Ended { ids: vec![id], how: How::Dropped(reason, detail) }),
                Err(_) => Ok(Entry::Refused(Refusal { cursor: record.cursor, turn: turn(payload), reason, detail })),
            }
        }
        "discarded" => {
            let reason: DiscardReason = parsed(payload, "reason")?;
            Ok(Entry::Ended { ids: vec![id()?], how: How::Discarded(reason) })
        }
        "provider_evaluated" => Ok(Entry::Evaluated(Evaluation {
            cursor: record.cursor,
            turn: turn(payload),
            provider_id: text(payload, "provider_id")?,
            event: text(payload, "event")?,
            fired: payload.get("fired").as_bool().unwrap_or(false),
            error: payload.get("error").as_shared_str(),
        })),
        _ => Err("its kind is unknown".to_owned()),
    }
}

/// What left the queue without being delivered; `None` for the other records of the queue.
fn queue_end(record: &Record) -> Option<Read<Entry>> {
    let word = match record.kind.strip_prefix("session.injection.")? {
        "replaced" => "replaced",
        "revoked" => "revoked",
        "expired" => "expired",
        _ => return None,
    };
    let replaced_by = record.payload.get("replaced_by").as_shared_str();
    let of_id = |id| Entry::Unqueued(QueueEnd { cursor: record.cursor, turn: 0, id, word, replaced_by });
    Some(text(&record.payload, "id").map(of_id))
}

fn of_turn(record: &Record) -> Read<Entry> {
    let payload = &record.payload;
    match record.kind.strip_prefix("transcript.turn.").ok_or("its kind does not belong to this topic")? {
        "passed" => pass(payload).map(Entry::Passed),
        "void" => Ok(Entry::Void),
        "resumed" => {
            let pending = payload.get("pending").as_list().unwrap_or_default().iter().map(|item| {
                let left = item.get("ttl_turns");
                let left = if left.is_nil() { None } else { Some(number(item, "ttl_turns")?) };
                Ok((text(item, "reminder_id")?, left))
            });
            Ok(Entry::Resumed(pending.collect::<Read<_>>()?))
        }
        "prompt" => Prompt::read(record).map(Entry::Prompt),
        _ => Err("its kind is unknown".to_owned()),
    }
}

fn pass(payload: &Data) -> Read<Pass> {
    let charge = match text(payload, "charges")?.as_ref() {
        "all" => Charge::All,
        "carried" => Charge::Carried,
        other => return Err(format!("`charges` is `{other}`")),
    };
    match text(payload, "pass")?.as_ref() {
        "post_turn" => Ok(Pass::PostTurn),
        "by_hand" => Ok(Pass::ByHand(number(payload, "upto_turn")?)),
        "compaction" => Ok(Pass::Compaction(charge)),
        other => Err(format!("`pass` is `{other}`")),
    }
}

/// The whole reminder. Enumerations are read as they were written, nothing falls back.
fn reminder(payload: &Data) -> Read<Reminder> {
    let ttl_turns = match payload.get("ttl_turns") {
        Data::Nil => None,
        _ => Some(number(payload, "ttl_turns")?),
    };
    Ok(Reminder {
        id: text(payload, "reminder_id")?,
        body: text(payload, "body")?,
        tags: payload.get("tags").as_list().unwrap_or_default().iter().filter_map(Data::as_shared_str).collect(),
        dedupe_key: payload.get("dedupe_key").as_shared_str(),
        ttl_turns,
        preserve_on_compact: payload.get("preserve_on_compact").as_bool().unwrap_or(false),
        propagate: parsed(payload, "propagate")?,
        role_hint: parsed(payload, "role_hint")?,
        source: parsed(payload, "source")?,
        fired_at_turn: number(payload, "fired_at_turn")?,
        originating_agent_id: payload.get("originating_agent_id").as_shared_str(),
        producer: payload.get("producer").as_shared_str(),
    })
}

/// The turn in which the record was written.
pub(super) fn turn(payload: &Data) -> u32 {
    number(payload, "turn").unwrap_or(0)
}

pub(super) fn text(payload: &Data, field: &str) -> Read<Arc<str>> {
    payload.get(field).as_shared_str().ok_or_else(|| format!("`{field}` is missing"))
}

pub(super) fn number(payload: &Data, field: &str) -> Read<u32> {
    let whole = payload.get(field).as_int().and_then(|number| u32::try_from(number).ok());
    whole.ok_or_else(|| format!("`{field}` is not a count"))
}

fn parsed<T: std::str::FromStr<Err = crate::words::UnknownWord>>(payload: &Data, field: &str) -> Read<T> {
    text(payload, field)?.parse().map_err(|error| format!("`{field}`: {error}"))
}
