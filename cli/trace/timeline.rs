//! The events of a session, in the order of the log.

use runtime::lifecycle::rebuild::{
    Biography, ConditionFailure, Evaluation, JudgedTurn, LifeEnd, QueueEnd, RebuiltPass, RebuiltPrompt, Refusal,
    RejectedSlot, SessionLife, Wait,
};

/// One thing that happened.
pub(super) enum Item<'a> {
    Born(&'a Biography),
    Sent(&'a RebuiltPrompt, Option<&'a RebuiltPrompt>),
    Waits(&'a Biography, &'a Wait),
    Refreshed(&'a Biography),
    Ended(&'a Biography, &'a LifeEnd),
    Evaluated(&'a Evaluation),
    ConditionFailed(&'a ConditionFailure),
    Judged(&'a Biography, &'a JudgedTurn),
    Refused(&'a Refusal),
    Passed(&'a RebuiltPass),
    SlotRejected(&'a RejectedSlot),
    Unqueued(&'a QueueEnd),
    /// The session goes on as it was stored.
    Resumed,
}

/// The events of one turn.
pub(super) struct Turn<'a> {
    /// 0 before the first.
    pub(super) number: u32,
    pub(super) items: Vec<Item<'a>>,
}

/// The turns of a session in which anything happened.
pub(super) fn turns(session: &SessionLife) -> Vec<Turn<'_>> {
    let mut all: Vec<(u64, u32, Item<'_>)> = Vec::new();
    for life in &session.reminders {
        all.push((life.birth.cursor, life.birth.turn, Item::Born(life)));
        all.extend(life.waits.iter().map(|wait| (wait.cursor, wait.turn, Item::Waits(life, wait))));
        all.extend(life.refreshed.iter().map(|(cursor, turn)| (*cursor, *turn, Item::Refreshed(life))));
        all.extend(life.judged.iter().map(|judged| (judged.cursor, judged.turn, Item::Judged(life, judged))));
        all.extend(life.end.iter().map(|end| (end.cursor, end.turn, Item::Ended(life, end))));
    }
    let before = std::iter::once(None).chain(session.prompts.iter().map(Some));
    all.extend(session.prompts.iter().zip(before).map(|(it, before)| (it.cursor, it.turn, Item::Sent(it, before))));
    all.extend(session.evaluations.iter().map(|it| (it.cursor, it.turn, Item::Evaluated(it))));
    let failures = session.condition_failures.iter();
    all.extend(failures.map(|it| (it.cursor, it.turn, Item::ConditionFailed(it))));
    let rejected = session.rejected_slots.iter();
    all.extend(rejected.map(|it| (it.cursor, it.turn, Item::SlotRejected(it))));
    all.extend(session.refusals.iter().map(|it| (it.cursor, it.turn, Item::Refused(it))));
    all.extend(session.passes.iter().map(|it| (it.cursor, it.turn, Item::Passed(it))));
    all.extend(session.queue_ends.iter().map(|it| (it.cursor, it.turn, Item::Unqueued(it))));
    all.extend(session.resumptions.iter().map(|(cursor, turn)| (*cursor, *turn, Item::Resumed)));
    all.sort_by_key(|(cursor, ..)| *cursor);
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for (_, number, item) in all {
        match turns.last_mut() {
            Some(turn) if turn.number == number => turn.items.push(item),
            _ => turns.push(Turn { number, items: vec![item] }),
        }
    }
    turns
}
