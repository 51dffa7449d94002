//! The trace as one JSON document; `docs/reference/trace.md` describes it.

use base::data::Data;

use super::Trace;
use super::text::is_forgettable;
use runtime::lifecycle::CompactionCharge;
use runtime::lifecycle::rebuild::{
    Biography, Carrier, Evaluation, JudgedTurn, LifeEnd, LifeEndReason, QueueEnd, RebuildNote, RebuiltPass,
    RebuiltPrompt, Refusal, RejectedSlot, ReminderCounts, SessionLife, Wait,
};
use serve::channels::PeerTaskLink;

/// The version of the shape.
const VERSION: u32 = 1;

/// The document, indented.
pub(super) fn document(trace: &Trace, at: Option<u64>) -> String {
    let data = Data::dict([
        ("version", Data::from(VERSION)),
        ("at", at.into()),
        ("records", trace.told.records.into()),
        ("last_cursor", trace.told.last_cursor.into()),
        ("sessions", trace.sessions().map(session).collect()),
        ("tasks", trace.hub.to_data()),
        ("peer_tasks", trace.links.all().iter().map(PeerTaskLink::to_data).collect()),
        ("notes", trace.notes().map(note).collect()),
    ]);
    data.to_json_pretty() + "\n"
}

fn session(session: &SessionLife) -> Data {
    Data::dict([
        ("id", Data::from(&session.id)),
        ("parent_id", session.parent_id.as_ref().into()),
        ("agent_id", session.agent_id.as_ref().unwrap_or(&session.id).into()),
        ("run_id", session.run_id.as_ref().into()),
        ("run", session.run.into()),
        ("turns", session.turns.into()),
        ("first_ms", session.first_ms.into()),
        ("last_ms", session.last_ms.into()),
        ("branched", session.branched.into()),
        ("detached", session.detached.into()),
        ("conservation", conservation(&session.tally())),
        ("pending", session.pending_to_data()),
        ("reminders", session.reminders.iter().map(reminder).collect()),
        ("prompts", session.prompts.iter().map(prompt).collect()),
        ("providers", session.evaluations.iter().map(evaluation).collect()),
        ("cost", session.costs().to_data()),
        ("rejected_slots", session.rejected_slots.iter().map(rejected_slot).collect()),
        ("refused", session.refusals.iter().map(refusal).collect()),
        ("queue_ends", session.queue_ends.iter().map(queue_end).collect()),
        ("passes", session.passes.iter().map(passage).collect()),
    ])
}

fn conservation(tally: &ReminderCounts) -> Data {
    Data::dict([
        ("injected", Data::from(tally.injected)),
        ("inherited", tally.inherited.into()),
        ("forked", tally.forked.into()),
        ("pending", tally.pending.into()),
        ("deduped", tally.deduped.into()),
        ("expired", tally.expired.into()),
        ("dropped", tally.dropped.into()),
        ("discarded", tally.discarded.into()),
        ("audited", tally.audited.into()),
        ("holds", tally.holds().into()),
    ])
}

fn reminder(life: &Biography) -> Data {
    let birth = &life.birth;
    // The reminder as it was created; its current number of turns is a member of its own.
    let mut told = life
        .reminder
        .to_data(life.reminder.ttl_turns)
        .with("producer", life.reminder.producer.as_ref().into())
        .with("ttl_left", life.ttl_left.into())
        .with("pending", life.is_pending().into())
        .with("forgettable", is_forgettable(life).into())
        .with(
            "born",
            Data::dict([
                ("by", Data::from(birth.by.as_str())),
                ("cursor", birth.cursor.into()),
                ("at_ms", birth.at_ms.into()),
                ("turn", birth.turn.into()),
                ("task_id", birth.task_id.as_ref().into()),
                ("agent_id", birth.agent_id.as_ref().into()),
            ]),
        )
        .with("carried", life.carried.iter().map(carried).collect())
        .with("end", life.end.as_ref().map_or(Data::Nil, end));
    if !life.waits.is_empty() {
        told.set("waits", life.waits.iter().map(wait).collect());
    }
    if !life.judged.is_empty() {
        told.set("judged", life.judged.iter().map(judged).collect());
    }
    if !life.refreshed.is_empty() {
        told.set("refreshed", life.refreshed.iter().map(refreshed).collect());
    }
    told
}

fn carried(carried: &Carrier) -> Data {
    let choice = carried.choice.as_ref();
    Data::dict_of_present([
        ("cursor", Data::from(carried.cursor)),
        ("turn", carried.turn.into()),
        ("slot", carried.slot.as_str().into()),
        ("charges", carried.charges.into()),
        ("void", carried.void.into()),
        ("variant", choice.and_then(|choice| choice.variant.as_ref()).into()),
        ("escalation", choice.and_then(|choice| choice.escalation).into()),
    ])
}

fn judged(judged: &JudgedTurn) -> Data {
    Data::dict([
        ("cursor", Data::from(judged.cursor)),
        ("turn", judged.turn.into()),
        ("heeded", judged.heeded.into()),
        ("judged_by", judged.judged_by.as_str().into()),
        ("reason", judged.reason.as_ref().into()),
    ])
}

fn wait(wait: &Wait) -> Data {
    Data::dict([
        ("cursor", Data::from(wait.cursor)),
        ("turn", wait.turn.into()),
        ("reason", wait.reason.as_str().into()),
        ("outranked_by", wait.outranked_by.as_ref().into()),
    ])
}

fn refreshed((cursor, turn): &(u64, u32)) -> Data {
    Data::dict([("cursor", Data::from(*cursor)), ("turn", (*turn).into())])
}

fn end(end: &LifeEnd) -> Data {
    let (word, reason, by, detail) = match &end.how {
        LifeEndReason::Deduped { by } => ("deduped", None, Some(by), None),
        LifeEndReason::Expired(reason) => ("expired", Some(reason.as_str()), None, None),
        LifeEndReason::Dropped(reason, detail) => ("dropped", Some(reason.as_str()), None, detail.as_ref()),
        LifeEndReason::Discarded(reason) => ("discarded", Some(reason.as_str()), None, None),
    };
    Data::dict([
        ("how", Data::from(word)),
        ("reason", reason.into()),
        ("replaced_by", by.into()),
        ("detail", detail.into()),
        ("cursor", end.cursor.into()),
        ("at_ms", end.at_ms.into()),
        ("turn", end.turn.into()),
    ])
}

fn prompt(prompt: &RebuiltPrompt) -> Data {
    let answer = prompt.answer.as_ref();
    let carried = prompt.carried.iter().enumerate().map(|(index, (id, slot))| {
        let cost = prompt.costs.get(index);
        Data::dict_of_present([
            ("reminder_id", Data::from(id)),
            ("slot", slot.as_str().into()),
            ("tokens", cost.map(|cost| cost.tokens).into()),
            ("cached", cost.map(|cost| cost.is_cached).into()),
        ])
    });
    Data::dict([
        ("cursor", Data::from(prompt.cursor)),
        ("at_ms", prompt.at_ms.into()),
        ("turn", prompt.turn.into()),
        ("charges", prompt.charges.into()),
        ("void", prompt.void.into()),
        ("provider", prompt.provider.as_ref().into()),
        ("model", prompt.model.as_ref().into()),
        ("message_count", prompt.message_count.into()),
        ("total_bytes", prompt.total_bytes.into()),
        ("shared_prefix_bytes", prompt.shared_prefix_bytes.into()),
        ("carried", carried.collect()),
        ("rebilled_tokens", prompt.rebilled_tokens.into()),
        ("answer_end", answer.map(|answer| answer.end.as_str()).into()),
        ("stop_reason", answer.and_then(|answer| answer.stop_reason.as_ref()).into()),
        ("thoughts_left_out", answer.map_or(0, |answer| answer.thoughts_left_out).into()),
    ])
}

fn evaluation(it: &Evaluation) -> Data {
    Data::dict([
        ("cursor", Data::from(it.cursor)),
        ("turn", it.turn.into()),
        ("provider_id", (&it.provider_id).into()),
        ("event", (&it.event).into()),
        ("fired", it.fired.into()),
        ("error", it.error.as_ref().into()),
    ])
}

fn refusal(it: &Refusal) -> Data {
    Data::dict([
        ("cursor", Data::from(it.cursor)),
        ("turn", it.turn.into()),
        ("reason", it.reason.as_str().into()),
        ("detail", it.detail.as_ref().into()),
    ])
}

fn rejected_slot(it: &RejectedSlot) -> Data {
    Data::dict([
        ("cursor", Data::from(it.cursor)),
        ("turn", it.turn.into()),
        ("model", it.model.as_ref().into()),
        ("next", it.next.as_str().into()),
        ("error", (&it.error).into()),
    ])
}

fn queue_end(it: &QueueEnd) -> Data {
    Data::dict([
        ("cursor", Data::from(it.cursor)),
        ("turn", it.turn.into()),
        ("id", (&it.id).into()),
        ("how", it.word.into()),
        ("replaced_by", it.replaced_by.as_ref().into()),
    ])
}

fn passage(it: &RebuiltPass) -> Data {
    let charges = if it.pass.charges() == CompactionCharge::All { "all" } else { "carried" };
    Data::dict([
        ("cursor", Data::from(it.cursor)),
        ("turn", it.turn.into()),
        ("pass", it.pass.as_str().into()),
        ("charges", charges.into()),
    ])
}

fn note(note: &RebuildNote) -> Data {
    Data::dict([
        ("cursor", Data::from(note.cursor)),
        ("session_id", note.session_id.as_ref().into()),
        ("message", note.message.as_str().into()),
    ])
}
