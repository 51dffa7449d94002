//! Every command of the lifecycle as a value: what a model checker drives and a replay repeats.

use std::sync::Arc;

use crate::reminder::{Reminder, ReminderSpec, Source};
use crate::render::Rendered;
use crate::transcript::Transcript;

use super::{
    Charge, DiscardReason, LifecycleRecord, Moment, Road, Selector, admit, audit, before_prompt, clear, compact,
    discard, drop_unrenderable, fire, fork, inherit, inject, post_turn, post_turn_by_hand, preserve_only, reset, trim,
    void,
};

/// A command.
#[derive(Debug, Clone)]
pub enum Command {
    /// A producer adds a reminder.
    Inject(ReminderSpec, Source),
    /// One that is made already is let in: of a host, of a script's event, of a parent.
    Admit(Arc<Reminder>, Road),
    /// A parent hands reminders over.
    Inherit(Vec<Arc<Reminder>>),
    /// One is put down for the record only.
    Audit(Arc<Reminder>),
    /// Clears the selected reminders.
    Clear(Selector),
    /// A request is sent; whether it charges what it carries.
    Fire(Rendered, bool),
    /// A prompt of a loop is about to be built.
    BeforePrompt,
    /// Voids the last prompt, which no one saw.
    Void,
    /// Drops reminders that no route can show.
    DropUnrenderable,
    /// A turn is over.
    PostTurn,
    /// Runs the pass manually for a turn.
    PostTurnByHand(u32),
    /// The transcript is compacted.
    Compact(Charge),
    /// The transcript was copied and goes on as one of its own.
    Fork,
    /// Keeps the last messages, up to this number, and the events since the first of them.
    Trim(usize),
    /// The transcript is emptied.
    Reset,
    /// The session is closed.
    Discard(DiscardReason),
}

/// Applies a command.
#[must_use]
pub fn apply(mut transcript: Transcript, command: Command, at: &Moment<'_>) -> (Transcript, Vec<LifecycleRecord>) {
    let t = &mut transcript;
    let records = match command {
        Command::Inject(spec, source) => inject(t, spec, source, None, at).records,
        Command::Admit(reminder, road) => admit(t, reminder, road, at).records,
        Command::Inherit(handed) => inherit(t, handed, at).into_iter().flat_map(|admitted| admitted.records).collect(),
        Command::Audit(reminder) => vec![audit(t, reminder, at)],
        Command::Clear(selector) => clear(t, &selector),
        Command::Fire(rendered, charges) => fire(t, &rendered, charges, at),
        Command::BeforePrompt => before_prompt(t),
        Command::Void => void(t),
        Command::DropUnrenderable => drop_unrenderable(t),
        Command::PostTurn => post_turn(t).records,
        Command::PostTurnByHand(turn) => post_turn_by_hand(t, turn).records,
        Command::Compact(charge) => {
            let mut records = compact(t, charge).records;
            records.extend(preserve_only(t));
            records
        }
        Command::Fork => fork(t),
        Command::Trim(keep) => trim(t, keep),
        Command::Reset => reset(t),
        Command::Discard(reason) => discard(t, reason),
    };
    (transcript, records)
}
