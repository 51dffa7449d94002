//! [`SessionLife`]: one session according to its records.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use base::data::Data;
use eventlog::Record;

use crate::reminder::ExpireReason;
use crate::reminder::Reminder;
use crate::reminder::cost::ReminderCosts;
use crate::reminder::slots::BodyChoice;

use super::super::{ChargePass, CompactionCharge};
use super::entry::{self, RebuildEntry, turn};
use super::{
    Biography, Birth, BirthKind, Carrier, ConditionFailure, Evaluation, LifeEnd, LifeEndReason, QueueEnd, RebuiltPass,
    RebuiltPrompt, Refusal, RejectedSlot, ReminderCounts,
};

/// A session, or a bare transcript, according to its records.
#[derive(Debug, Clone, Default)]
pub struct SessionLife {
    /// Its id.
    pub id: Arc<str>,
    /// The run it belongs to, if its records name one.
    pub run_id: Option<Arc<str>>,
    /// Number of this life among those with this id, from 1.
    pub run: u32,
    /// The session it was forked from or works for, if a record names it.
    pub parent_id: Option<Arc<str>>,
    /// The last agent, if its name is not the session's.
    pub agent_id: Option<Arc<str>>,
    /// The highest turn that a record names.
    pub turns: u32,
    /// Every reminder, in the order of birth.
    pub reminders: Vec<Biography>,
    /// Every request, oldest first.
    pub prompts: Vec<RebuiltPrompt>,
    /// Every evaluation of an event by a provider.
    pub evaluations: Vec<Evaluation>,
    /// Conditions that threw.
    pub condition_failures: Vec<ConditionFailure>,
    /// Slots of reminders that a route rejected.
    pub rejected_slots: Vec<RejectedSlot>,
    /// Refused reminders.
    pub refusals: Vec<Refusal>,
    /// Every pass that charged.
    pub passes: Vec<RebuiltPass>,
    /// Items that left its queue before a loop took them.
    pub queue_ends: Vec<QueueEnd>,
    /// Points at which it continued from storage: cursor and turn.
    pub resumptions: Vec<(u64, u32)>,
    /// The time of its first record, in milliseconds since 1970-01-01 UTC.
    pub first_ms: u64,
    /// The time of its last record.
    pub last_ms: u64,
    /// Whether the log contains more than one line of life under this id.
    pub branched: bool,
    /// Number of records about copies of the session that a script changed; they are not part of its life.
    pub detached: usize,
    tally: ReminderCounts,
    pending: BTreeSet<usize>,
    /// Indexes of the pending reminders by id.
    by_id: HashMap<Arc<str>, Vec<usize>>,
    /// Index of the last reminder by id, pending or not.
    last_by_id: HashMap<Arc<str>, usize>,
    /// Keys of the pending reminders, with their number.
    keys: HashMap<Arc<str>, usize>,
    /// Indexes of pending reminders carried by charging prompts since they were last charged.
    open: BTreeSet<usize>,
    /// Charging prompts since the last charge.
    open_prompts: Vec<usize>,
    /// Chosen bodies of the request whose record comes next.
    choices: Vec<(Arc<str>, BodyChoice)>,
    strangers: BTreeSet<Arc<str>>,
}

impl SessionLife {
    pub(super) fn new(id: Arc<str>, run_id: Option<Arc<str>>, run: u32) -> SessionLife {
        SessionLife { id, run_id, run, ..SessionLife::default() }
    }

    /// Returns the pending reminders, oldest first.
    pub fn pending(&self) -> impl Iterator<Item = &Biography> {
        self.pending.iter().filter_map(|index| self.reminders.get(*index))
    }

    /// Returns the counts.
    #[must_use]
    pub fn tally(&self) -> ReminderCounts {
        ReminderCounts { pending: self.pending.len(), ..self.tally }
    }

    /// Returns the costs of the reminders in the prompts that a model saw.
    #[must_use]
    pub fn costs(&self) -> ReminderCosts {
        let mut costs = ReminderCosts::default();
        for prompt in self.prompts.iter().filter(|prompt| !prompt.void) {
            for ((id, _), cost) in prompt.carried.iter().zip(&prompt.costs) {
                let life = self.last_by_id.get(id).and_then(|index| self.reminders.get(*index));
                if let Some(life) = life {
                    costs.carry(life.reminder.source, cost.tokens, cost.is_cached);
                }
            }
            costs.rebill(prompt.rebilled_tokens);
        }
        costs
    }

    /// Returns the charging prompts whose turns are not over, oldest first.
    pub fn open_prompts(&self) -> impl ExactSizeIterator<Item = &RebuiltPrompt> {
        self.open_prompts.iter().map(|index| &self.prompts[*index])
    }

    /// Applies an entry and returns a sentence for each contradiction.
    pub(super) fn take(&mut self, record: &Record, entry: RebuildEntry) -> Vec<String> {
        let payload = &record.payload;
        if self.first_ms == 0 {
            self.first_ms = record.occurred_at_ms;
        }
        self.last_ms = record.occurred_at_ms;
        self.turns = self.turns.max(turn(payload));
        if let Some(agent) = payload.get("agent_id").as_shared_str().filter(|agent| *agent != self.id) {
            self.agent_id = Some(agent);
        }
        if let Some(parent) = payload.get("parent_id").as_shared_str() {
            self.parent_id = Some(parent);
        }
        if payload.get("detached").as_bool() == Some(true) {
            self.detached += 1;
            return Vec::new();
        }
        let mut notes = Vec::new();
        match entry {
            RebuildEntry::Born { by, reminder } => self.born(by, reminder, record),
            RebuildEntry::Fired { id, turn, slot, charges, choice } => {
                self.turns = self.turns.max(turn);
                self.choices.extend(choice.clone().map(|choice| (id.clone(), choice)));
                let carried = Carrier { cursor: record.cursor, turn, slot, charges, void: false, choice };
                notes.extend(self.fired(&id, carried));
            }
            RebuildEntry::Deferred { id, wait } => match self.pending_mut(&id) {
                Some((_, life)) => life.waits.push(wait),
                None => notes.extend(self.stranger(&id, "waits")),
            },
            RebuildEntry::ConditionFailed(failure) => self.condition_failures.push(failure),
            RebuildEntry::Judged { id, judged } => {
                // It may have ended during the turn.
                let index = self.last_by_id.get(&id).copied();
                match index.and_then(|index| self.reminders.get_mut(index)) {
                    Some(life) => life.judged.push(judged),
                    None => notes.extend(self.stranger(&id, "is judged")),
                }
            }
            RebuildEntry::Refreshed { id, ttl_turns } => match self.pending_mut(&id) {
                Some((index, life)) => {
                    (life.ttl_left, life.uncharged) = (ttl_turns, 0);
                    life.refreshed.push((record.cursor, turn(payload)));
                    self.open.remove(&index);
                }
                None => notes.extend(self.stranger(&id, "is refreshed")),
            },
            RebuildEntry::Ended { ids, how } => {
                for id in ids {
                    notes.extend(self.ended(&id, how.clone(), record));
                }
            }
            RebuildEntry::Refused(refusal) => self.refusals.push(refusal),
            RebuildEntry::Evaluated(evaluation) => self.evaluations.push(evaluation),
            RebuildEntry::Passed(pass) => self.passed(pass, record),
            RebuildEntry::Void => self.void(),
            RebuildEntry::SlotRejected(rejected) => self.rejected_slots.push(rejected),
            RebuildEntry::Answered(answer) => {
                if let Some(prompt) = self.prompts.last_mut() {
                    prompt.answer = Some(answer);
                }
            }
            RebuildEntry::Unqueued(end) => self.queue_ends.push(QueueEnd { turn: self.turns, ..end }),
            RebuildEntry::Resumed(pending) => self.resumed(&pending, record),
            RebuildEntry::Prompt(mut prompt) => {
                // The records of its reminders come before it.
                prompt.choices = std::mem::take(&mut self.choices);
                if prompt.charges {
                    self.open_prompts.push(self.prompts.len());
                }
                self.prompts.push(prompt);
            }
        }
        notes
    }

    fn born(&mut self, by: BirthKind, reminder: Arc<Reminder>, record: &Record) {
        let payload = &record.payload;
        let birth = Birth {
            by,
            cursor: record.cursor,
            at_ms: record.occurred_at_ms,
            turn: entry::turn(payload),
            task_id: payload.get("task_id").as_shared_str(),
            agent_id: payload.get("agent_id").as_shared_str(),
        };
        self.tally.begin(by);
        let index = self.reminders.len();
        if by != BirthKind::Audited {
            self.pending.insert(index);
            let same = self.by_id.entry(reminder.id.clone()).or_default();
            // Admission allows no reminder twice, so this is another copy of the transcript.
            self.branched |= !same.is_empty();
            same.push(index);
            if let Some(key) = &reminder.dedupe_key {
                let standing = self.keys.entry(key.clone()).or_default();
                *standing += 1;
                // Admission replaces reminders with the same key. A fork copies all of them.
                self.branched |= *standing > 1 && by != BirthKind::Forked;
            }
        }
        self.last_by_id.insert(reminder.id.clone(), index);
        self.reminders.push(Biography::new(reminder, birth));
    }

    /// Returns the pending reminder with an id.
    fn pending_mut(&mut self, id: &Arc<str>) -> Option<(usize, &mut Biography)> {
        let index = *self.by_id.get(id)?.first()?;
        self.reminders.get_mut(index).map(|life| (index, life))
    }

    fn fired(&mut self, id: &Arc<str>, carried: Carrier) -> Option<String> {
        let found = self.by_id.get(id).cloned().unwrap_or_default();
        // Two reminders with the same id are fired by two records; the one that this prompt has not carried yet is
        // meant.
        let next = found.iter().copied().min_by_key(|index| self.reminders.get(*index).map(|life| life.carried.len()));
        let Some((index, life)) = next.and_then(|index| Some((index, self.reminders.get_mut(index)?))) else {
            // Cleared between rendering and sending, so the model saw it anyway.
            let earlier = self.last_by_id.get(id).and_then(|index| self.reminders.get_mut(*index));
            let Some(life) = earlier else {
                return self.stranger(id, "is shown to a model");
            };
            life.carried.push(carried);
            return None;
        };
        if carried.charges {
            life.uncharged += 1;
            self.open.insert(index);
        }
        life.carried.push(carried);
        None
    }

    fn ended(&mut self, id: &Arc<str>, how: LifeEndReason, record: &Record) -> Option<String> {
        let candidates = self.by_id.get(id).map(Vec::as_slice).unwrap_or_default();
        // Ids may occur twice (a reminder inherited twice). The oldest is removed; by TTL, the one with the least left.
        let left = |index: &usize| self.reminders.get(*index).map(|life| life.ttl_left.unwrap_or(u32::MAX));
        let index = match &how {
            LifeEndReason::Expired(ExpireReason::Ttl) => candidates.iter().min_by_key(|index| left(index)).copied(),
            _ => candidates.first().copied(),
        };
        let Some((index, life)) = index.and_then(|index| Some((index, self.reminders.get_mut(index)?))) else {
            if let Some(earlier) = self.last_by_id.get(id).and_then(|index| self.reminders.get(*index)) {
                self.branched = true;
                self.tally.end(&how);
                let before = earlier.end.as_ref().map_or(0, |end| end.cursor);
                return Some(format!(
                    "the reminder {id} ends a second time (first at {before}): a script continued from an older \
                    version of this transcript"
                ));
            }
            return self.stranger(id, "ends");
        };
        self.tally.end(&how);
        if how == LifeEndReason::Expired(ExpireReason::Ttl) {
            life.ttl_left = Some(0);
        }
        life.end =
            Some(LifeEnd { how, cursor: record.cursor, at_ms: record.occurred_at_ms, turn: turn(&record.payload) });
        let key = life.reminder.dedupe_key.clone();
        if let Some(standing) = key.and_then(|key| self.keys.get_mut(&key)) {
            *standing = standing.saturating_sub(1);
        }
        self.pending.remove(&index);
        self.open.remove(&index);
        if let Some(indexes) = self.by_id.get_mut(id) {
            indexes.retain(|other| *other != index);
        }
        None
    }

    fn passed(&mut self, pass: ChargePass, record: &Record) {
        self.passes.push(RebuiltPass { cursor: record.cursor, turn: turn(&record.payload), pass });
        let upto = match pass {
            ChargePass::ByHand(turn) => turn,
            _ => u32::MAX,
        };
        match pass.charges() {
            CompactionCharge::Carried => {
                self.open_prompts.clear();
                for index in std::mem::take(&mut self.open) {
                    if let Some(life) = self.reminders.get_mut(index) {
                        let carried = std::mem::take(&mut life.uncharged);
                        life.charge(carried);
                    }
                }
            }
            CompactionCharge::All => {
                for index in &self.pending {
                    let life = self.reminders.get_mut(*index);
                    if let Some(life) = life.filter(|life| life.reminder.fired_at_turn <= upto) {
                        life.charge(1);
                    }
                }
            }
        }
    }

    /// Continues from the stored state: prompts since then are not counted, or were counted already.
    fn resumed(&mut self, pending: &[(Arc<str>, Option<u32>)], record: &Record) {
        self.resumptions.push((record.cursor, turn(&record.payload)));
        self.open_prompts.clear();
        for index in std::mem::take(&mut self.open) {
            if let Some(life) = self.reminders.get_mut(index) {
                life.uncharged = 0;
            }
        }
        for (id, left) in pending {
            let index = self.by_id.get(id).and_then(|indexes| indexes.first());
            if let Some(life) = index.and_then(|index| self.reminders.get_mut(*index)) {
                life.ttl_left = *left;
            }
        }
    }

    /// Uncounts the last charging prompt. It carried all open reminders: those carried by earlier prompts were still
    /// pending.
    fn void(&mut self) {
        if let Some(prompt) = self.open_prompts.pop().and_then(|index| self.prompts.get_mut(index)) {
            prompt.void = true;
        }
        for index in &self.open {
            let Some(life) = self.reminders.get_mut(*index).filter(|life| life.uncharged > 0) else { continue };
            life.uncharged -= 1;
            if let Some(carried) = life.carried.iter_mut().rev().find(|carried| carried.charges && !carried.void) {
                carried.void = true;
            }
        }
    }

    /// Returns a note about a reminder whose beginning is not in this log; reported once per id.
    fn stranger(&mut self, id: &Arc<str>, what: &str) -> Option<String> {
        let is_new = self.strangers.insert(id.clone());
        is_new.then(|| {
            format!(
                "the reminder {id} {what}, but this log does not contain its start (it was imported, or the \
                log was truncated)"
            )
        })
    }

    /// Converts the pending reminders to the values that scripts see, with their current TTL.
    #[must_use]
    pub fn pending_to_data(&self) -> Data {
        self.pending().map(Biography::to_data).collect()
    }
}
