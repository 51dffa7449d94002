//! The post-turn pass.

use crate::reminder::ExpireReason;
use crate::transcript::Transcript;

use super::select::end_used_up;
use super::{ChargePass, LifecycleRecord, drop_unrenderable};

/// The result of a pass.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PassResult {
    /// The resulting records, in order.
    pub records: Vec<LifecycleRecord>,
    /// Number of expired reminders.
    pub expired: usize,
    /// Number of reminders that were charged and are still pending. The loop's pass does not count them.
    pub decremented: usize,
}

/// Runs the pass of the loop: charges only the finite reminders that prompts since the last pass have carried, so
/// `ttl_turns: k` means *k* prompts. The cost depends on the expired reminders, not on the pending ones.
pub fn post_turn(transcript: &mut Transcript) -> PassResult {
    charge_carried(transcript, ChargePass::PostTurn)
}

/// Runs the pass manually: charges all finite reminders made in `turn` or before, whether or not a prompt carried them.
pub fn post_turn_by_hand(transcript: &mut Transcript, turn: u32) -> PassResult {
    charge_each(transcript, ChargePass::ByHand(turn), |fired_at_turn| fired_at_turn <= turn)
}

/// Charges each finite reminder that prompts have carried since its last charge.
pub(super) fn charge_carried(transcript: &mut Transcript, pass: ChargePass) -> PassResult {
    let over = transcript.charge_carried();
    let mut passed = PassResult { records: Vec::with_capacity(over.len() + 1), ..PassResult::default() };
    for (slot, before) in over {
        expire(transcript, slot, before, &mut passed);
    }
    transcript.settle();
    let used_up = end_used_up(transcript);
    passed.expired += used_up.len();
    passed.records.extend(used_up);
    passed.records.push(LifecycleRecord::Passed(pass));
    passed
}

/// Prepares the transcript for a prompt. Closes a turn that was cut short after its prompt (a handler threw, the worker
/// was stopped), since its reminders would otherwise be seen once too often, and drops reminders that no route can
/// show.
pub fn before_prompt(transcript: &mut Transcript) -> Vec<LifecycleRecord> {
    let mut records = if transcript.has_open_prompts() { post_turn(transcript).records } else { Vec::new() };
    records.extend(drop_unrenderable(transcript));
    records
}

/// Charges by one each finite reminder whose turn of origin is selected.
pub(super) fn charge_each(transcript: &mut Transcript, pass: ChargePass, meant: impl Fn(u32) -> bool) -> PassResult {
    let mut passed = PassResult::default();
    for slot in transcript.pending_slots() {
        let Some(pending) = transcript.pending_at(slot).filter(|p| meant(p.reminder.fired_at_turn)) else { continue };
        match transcript.ttl_left(pending) {
            None => {}
            Some(before) if before <= 1 => expire(transcript, slot, before, &mut passed),
            Some(_) => {
                transcript.charge_slot(slot);
                passed.decremented += 1;
            }
        }
    }
    transcript.settle();
    passed.records.push(LifecycleRecord::Passed(pass));
    passed
}

fn expire(transcript: &mut Transcript, slot: u32, before: u32, passed: &mut PassResult) {
    if let Some(pending) = transcript.take_slot(slot) {
        passed.expired += 1;
        passed.records.push(LifecycleRecord::Expired {
            reminder_id: pending.reminder.id.clone(),
            reason: ExpireReason::Ttl,
            ttl_turns_before: Some(before),
        });
    }
}
