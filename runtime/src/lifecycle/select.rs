//! The reminders that the next prompt shows, and in which words: the rules of each reminder, then the budget of all.
//!
//! A reminder that waits is not charged. The log has one record when it begins to wait for a reason, not one per
//! prompt.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::reminder::slots::{BodyChoice, estimated_tokens};
use crate::reminder::{DeferReason, ExpireReason};
use crate::reminder::{Priority, Refresh, Reminder, ReminderRules, policy};
use crate::transcript::{KeyFirings, Transcript, WaitMark, body_hash};

use super::{Deferral, DropReason, LifecycleRecord, remove};

/// The input of a selection besides the transcript.
#[derive(Debug, Clone, Copy, Default)]
pub struct SelectInput<'a> {
    /// Maximum number of estimated tokens of all reminders; `None` means no limit.
    pub budget: Option<u64>,
    /// Name of the model, which chooses among the bodies by model.
    pub model: Option<&'a str>,
    /// Results of the conditions that were evaluated for this prompt, by reminder id.
    pub verdicts: &'a [(Arc<str>, ConditionVerdict)],
}

/// The result of the conditions of a reminder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConditionVerdict {
    /// It is shown.
    Shown,
    /// `when` does not hold.
    Hidden,
    /// `until` holds.
    Over,
    /// A condition no longer exists: it belonged to another process.
    Lost,
}

/// A reminder that the next prompt shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectedReminder {
    /// The reminder.
    pub reminder: Arc<Reminder>,
    /// The chosen body.
    pub body: Arc<str>,
    /// The choice, if there was one.
    pub choice: Option<Arc<BodyChoice>>,
}

/// The reminders of the next prompt, and the resulting records.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// The reminders, oldest first.
    pub shown: Vec<SelectedReminder>,
    /// The records, in order.
    pub records: Vec<LifecycleRecord>,
}

/// The wait of a reminder up to the next prompt.
struct LastWait {
    /// Number of prompts in a row that had no room for a reminder of its key.
    deferrals: u32,
    /// The reason why the last prompt left it out.
    reason: Option<DeferReason>,
}

/// Number of prompts in a row without room after which a reminder counts as one of the next higher priority.
pub const DEFERRALS_PER_STEP: u32 = 3;

/// The name of the body for the models that no glob matches.
const DEFAULT_VARIANT: &str = "default";

/// Returns whether the next prompt may show anything but all pending reminders with their bodies.
#[must_use]
pub fn needs_selection(transcript: &Transcript, budget: Option<u64>) -> bool {
    transcript.has_rules() || budget.is_some()
}

/// Selects the reminders of the next prompt. Ends those whose rules are used up or whose `until` holds.
///
/// With a budget, `critical` reminders and those that a policy forces are always shown. The others are taken by rank,
/// which is their priority raised by one step for every [`DEFERRALS_PER_STEP`] prompts in a row that had no room for their
/// keys; of equal rank, by the number
/// of these prompts, then by age. One that does not fit is left out and the next is tried. The first is shown even if
/// it does not fit once its rank exceeds `high`, so every reminder is shown some time.
pub fn select(transcript: &mut Transcript, input: &SelectInput<'_>) -> Selection {
    let mut records = end_used_up(transcript);
    records.extend(end_by_condition(transcript, input.verdicts));
    let prompt = transcript.next_prompt();
    let mut waiting = Vec::new();
    let mut shown = Vec::with_capacity(transcript.pending_count());
    let mut last_waits = Vec::with_capacity(transcript.pending_count());
    for pending in transcript.pending() {
        let reminder = &pending.reminder;
        let mark = transcript.wait_mark(reminder);
        let is_counted = reminder.rules.is_some() || mark.is_some();
        let firing = if is_counted { transcript.firing(reminder) } else { KeyFirings::default() };
        let waits = mark.and_then(WaitMark::reason);
        let (body, choice) = body_for(reminder, firing.times, input.model);
        let held = reminder.rules.as_ref().and_then(|rules| {
            let verdict = input.verdicts.iter().find(|(id, _)| *id == reminder.id).map(|(_, verdict)| *verdict);
            // A call that evaluates no conditions goes by their last results.
            let is_hidden = match verdict {
                Some(verdict) => verdict == ConditionVerdict::Hidden,
                None => waits == Some(DeferReason::When),
            };
            if is_hidden { Some(DeferReason::When) } else { held_by_counts(rules, &firing, prompt, &body) }
        });
        match held {
            Some(reason) if waits == Some(reason) => {}
            Some(reason) => waiting.push((reminder.clone(), reason, None)),
            None => {
                shown.push(SelectedReminder { reminder: reminder.clone(), body, choice });
                last_waits.push(LastWait { deferrals: firing.deferrals, reason: waits });
            }
        }
    }
    let outranked = input.budget.map(|budget| over_budget(&shown, &last_waits, budget)).unwrap_or_default();
    if !outranked.is_empty() {
        let (mut outranked, mut waits) = (outranked.into_iter().peekable(), last_waits.iter().enumerate());
        shown.retain(|selected| {
            let Some((place, last)) = waits.next() else { return true };
            let Some((_, by)) = outranked.next_if(|(out, _)| *out == place) else { return true };
            if last.reason != Some(DeferReason::Budget) {
                waiting.push((selected.reminder.clone(), DeferReason::Budget, by));
            }
            false
        });
    }
    for (reminder, reason, outranked_by) in waiting {
        transcript.note_waiting(&reminder, reason);
        let deferral = Deferral { reminder_id: reminder.id.clone(), reason, outranked_by };
        records.push(LifecycleRecord::Deferred(Box::new(deferral)));
    }
    Selection { shown, records }
}

/// Returns the reason why the firings of a key keep a reminder out of a prompt.
fn held_by_counts(rules: &ReminderRules, firing: &KeyFirings, prompt: u64, body: &str) -> Option<DeferReason> {
    if firing.times == 0 {
        return None;
    }
    let since_last = prompt.saturating_sub(firing.last_prompt);
    if rules.cooldown_turns.is_some_and(|cooldown| since_last <= u64::from(cooldown)) {
        return Some(DeferReason::Cooldown);
    }
    let beat = |every: u32, at: u64| at.saturating_sub(firing.first_prompt) / u64::from(every.max(1));
    if rules.every.is_some_and(|every| beat(every, prompt) <= beat(every, firing.last_prompt)) {
        return Some(DeferReason::Every);
    }
    let is_unchanged = rules.refresh == Refresh::OnChange && firing.body == Some(body_hash(body));
    is_unchanged.then_some(DeferReason::Unchanged)
}

/// Returns the places of the candidates for which the budget has no room, in order, each with the shown reminder that
/// comes before it.
fn over_budget(candidates: &[SelectedReminder], waits: &[LastWait], budget: u64) -> Vec<(usize, Option<Arc<str>>)> {
    let tokens = |candidate: &SelectedReminder| estimated_tokens(&candidate.body);
    // Usually all of them fit.
    if candidates.iter().map(tokens).sum::<u64>() <= budget {
        return Vec::new();
    }
    let (mut left, mut before) = (budget, None);
    let mut others = Vec::with_capacity(candidates.len());
    for (place, (candidate, LastWait { deferrals, .. })) in candidates.iter().zip(waits).enumerate() {
        let priority = candidate.reminder.rules.as_ref().map_or(Priority::Normal, |rules| rules.priority);
        if priority == Priority::Critical || policy::is_forced(&candidate.reminder) {
            left = left.saturating_sub(tokens(candidate));
            before = Some(place);
        } else {
            let rank = priority as u32 + deferrals / DEFERRALS_PER_STEP;
            others.push((Reverse(rank), Reverse(*deferrals), place));
        }
    }
    others.sort_unstable();
    let mut outranked = Vec::new();
    for (nth, (Reverse(rank), _, place)) in others.into_iter().enumerate() {
        let tokens = tokens(&candidates[place]);
        let is_overdue = nth == 0 && rank > Priority::High as u32;
        if is_overdue || tokens <= left {
            left = left.saturating_sub(tokens);
            before = Some(place);
        } else {
            outranked.push((place, before));
        }
    }
    outranked.sort_unstable();
    let id = |place: usize| candidates[place].reminder.id.clone();
    outranked.into_iter().map(|(place, before)| (place, before.map(id))).collect()
}

/// Returns the body for a model after a number of firings, and the choice, if there was one.
fn body_for(reminder: &Reminder, times: u32, model: Option<&str>) -> (Arc<str>, Option<Arc<BodyChoice>>) {
    let Some(rules) = reminder.rules.as_ref() else { return (reminder.body.clone(), None) };
    if rules.escalate.is_empty() && rules.bodies.is_empty() {
        return (reminder.body.clone(), None);
    }
    let last = u32::try_from(rules.escalate.len()).unwrap_or(u32::MAX);
    let escalation = (last > 0).then(|| times.min(last) + 1);
    let variant = match escalation {
        Some(2..) => None,
        _ if rules.bodies.is_empty() => None,
        _ => {
            let found = model.and_then(|model| rules.bodies.of_model(model));
            Some(found.map_or_else(|| DEFAULT_VARIANT.into(), |(glob, _)| glob.clone()))
        }
    };
    let choice = BodyChoice { variant, escalation };
    (reminder.chosen_body(Some(&choice)).clone(), Some(Arc::new(choice)))
}

impl Reminder {
    /// Returns the body of a choice.
    #[must_use]
    pub fn chosen_body(&self, choice: Option<&BodyChoice>) -> &Arc<str> {
        let (Some(choice), Some(rules)) = (choice, &self.rules) else { return &self.body };
        if let Some(nth @ 2..) = choice.escalation {
            return rules.escalate.get(nth as usize - 2).unwrap_or(&self.body);
        }
        choice.variant.as_ref().and_then(|glob| rules.bodies.get(glob)).unwrap_or(&self.body)
    }
}

/// Ends the reminders that have been shown as often as their rules allow.
pub(super) fn end_used_up(transcript: &mut Transcript) -> Vec<LifecycleRecord> {
    if !transcript.has_limits() {
        return Vec::new();
    }
    let is_used_up = |reminder: &Reminder| {
        let most = reminder.rules.as_ref().and_then(|rules| rules.max_times);
        most.is_some_and(|most| transcript.firing(reminder).times >= most)
    };
    let used_up = transcript.slots_where(|pending| is_used_up(&pending.reminder));
    remove(transcript, used_up, |pending| LifecycleRecord::Expired {
        reminder_id: pending.reminder.id.clone(),
        reason: ExpireReason::MaxTimes,
        ttl_turns_before: None,
    })
}

fn end_by_condition(transcript: &mut Transcript, verdicts: &[(Arc<str>, ConditionVerdict)]) -> Vec<LifecycleRecord> {
    let mut records = Vec::new();
    for (id, verdict) in verdicts {
        if matches!(verdict, ConditionVerdict::Shown | ConditionVerdict::Hidden) {
            continue;
        }
        // A handler may have removed it meanwhile.
        let slots: Vec<u32> = transcript.slot_of_id(id).into_iter().collect();
        records.extend(remove(transcript, slots, |pending| match verdict {
            ConditionVerdict::Lost => LifecycleRecord::Dropped {
                reminder_id: Some(pending.reminder.id.clone()),
                reason: DropReason::ConditionLost,
                detail: None,
            },
            _ => LifecycleRecord::Expired {
                reminder_id: pending.reminder.id.clone(),
                reason: ExpireReason::Until,
                ttl_turns_before: None,
            },
        }));
    }
    records
}
