//! Every command of the lifecycle as a value, for a model checker and for replays.

use std::sync::Arc;

use crate::reminder::slots::Rendered;
use crate::reminder::{Reminder, ReminderSource, ReminderSpec};
use crate::transcript::Transcript;

use super::{
    CompactionCharge, ConditionVerdict, DiscardReason, Judgement, LifecycleContext, LifecycleRecord, ReminderOrigin,
    SelectInput, Selector, admit, audit, before_prompt, clear, compact, discard, drop_unrenderable, fire, fork,
    inherit, inject, judge, post_turn, post_turn_by_hand, preserve_only, reset, select, trim, void,
};

/// A command.
#[derive(Debug, Clone)]
pub enum LifecycleCommand {
    /// A producer adds a reminder.
    Inject(ReminderSpec, ReminderSource),
    /// Admits an existing reminder: from a host, a script's event, or a parent.
    Admit(Arc<Reminder>, ReminderOrigin),
    /// Inherits reminders from a parent.
    Inherit(Vec<Arc<Reminder>>),
    /// Adds a reminder for the record only.
    Audit(Arc<Reminder>),
    /// Clears the selected reminders.
    Clear(Selector),
    /// Sends a request; the flag says whether it charges the reminders it carries.
    Fire(Rendered, bool),
    /// A prompt of a loop is about to be built.
    BeforePrompt,
    /// The reminders of the next prompt are selected.
    Select {
        /// Maximum number of estimated tokens.
        budget: Option<u64>,
        /// Results of conditions, by reminder id.
        verdicts: Vec<(Arc<str>, ConditionVerdict)>,
    },
    /// A turn has shown which reminders of its prompt it followed.
    Judge(Vec<Judgement>),
    /// Voids the last prompt, which no one saw.
    Void,
    /// Drops reminders that no route can show.
    DropUnrenderable,
    /// A turn is over.
    PostTurn,
    /// Runs the pass manually for a turn.
    PostTurnByHand(u32),
    /// The transcript is compacted.
    Compact(CompactionCharge),
    /// Continues a copy of the transcript as a separate one.
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
pub fn apply(
    mut transcript: Transcript,
    command: LifecycleCommand,
    at: &LifecycleContext<'_>,
) -> (Transcript, Vec<LifecycleRecord>) {
    let t = &mut transcript;
    let records = match command {
        LifecycleCommand::Inject(spec, source) => inject(t, spec, source, None, at).records,
        LifecycleCommand::Admit(reminder, road) => admit(t, reminder, road, at).records,
        LifecycleCommand::Inherit(handed) => {
            inherit(t, handed, at).into_iter().flat_map(|admitted| admitted.records).collect()
        }
        LifecycleCommand::Audit(reminder) => vec![audit(t, reminder, at)],
        LifecycleCommand::Clear(selector) => clear(t, &selector),
        LifecycleCommand::Fire(rendered, charges) => fire(t, &rendered, charges, at),
        LifecycleCommand::BeforePrompt => before_prompt(t),
        LifecycleCommand::Select { budget, verdicts } => {
            select(t, &SelectInput { budget, verdicts: &verdicts, model: None }).records
        }
        LifecycleCommand::Judge(judgements) => judge(judgements),
        LifecycleCommand::Void => void(t),
        LifecycleCommand::DropUnrenderable => drop_unrenderable(t),
        LifecycleCommand::PostTurn => post_turn(t).records,
        LifecycleCommand::PostTurnByHand(turn) => post_turn_by_hand(t, turn).records,
        LifecycleCommand::Compact(charge) => {
            let mut records = compact(t, charge).records;
            records.extend(preserve_only(t));
            records
        }
        LifecycleCommand::Fork => fork(t),
        LifecycleCommand::Trim(keep) => trim(t, keep),
        LifecycleCommand::Reset => reset(t),
        LifecycleCommand::Discard(reason) => discard(t, reason),
    };
    (transcript, records)
}
