//! Checkpoints: the state in parts, so that a store need not keep all changes.
//!
//! The broker works on while a checkpoint is written. Each part has the whole state of some agents, results or tasks, at
//! its place between the changes. A replay that begins with the first part ignores the changes of a task until it comes
//! to the part with the task; from there on it has the same state as the broker had. So all batches before the first
//! part can go once the last one is stored. A replay that begins earlier skips what it knows already.

use std::ops::Bound;
use std::sync::Arc;

use prost::Message as _;

use crate::proto::a2a::{Task, TaskState};

use super::change::{
    ChangeBatch, CheckpointEnd, CheckpointPart, ClaimedBy, SavedRejection, SavedShares, SavedTask, SubmittedTask,
};
use super::command::TraceIds;
use super::task::{Assignment, Rejection, TaskEntry, is_final};
use super::{Broker, StoredReceipt, WeightedQueue, memory};

/// Maximum number of agents or tasks of a part.
const MOST_ENTRIES: usize = 128;
/// Maximum number of results of a part.
const MOST_RECEIPTS: usize = 1_000;
/// Size at which a part takes no more agents or tasks, in bytes.
const MOST_BYTES: usize = 256 << 10;

/// The progress of a checkpoint.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckpointCursor {
    stage: Stage,
    tasks: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Begin,
    /// The last agent that was saved.
    Agents(String),
    /// The last result that was saved, by time and place.
    Receipts((u64, u64)),
    /// The last task that was saved.
    Tasks(u64),
    Saved,
}

impl CheckpointCursor {
    /// Returns whether everything is saved, so that only the end is missing.
    #[must_use]
    pub fn is_saved(&self) -> bool {
        self.stage == Stage::Saved
    }

    /// Returns the number of tasks saved so far.
    #[must_use]
    pub fn tasks(&self) -> u64 {
        self.tasks
    }
}

impl Broker {
    /// Returns the next part of a checkpoint, which must be stored before any later change. The first one is empty and
    /// marks the beginning. Once everything is saved, [`Broker::checkpoint_end`] follows.
    pub fn checkpoint_part(&self, cursor: &mut CheckpointCursor, now_ms: u64) -> ChangeBatch {
        let mut part = CheckpointPart { last_number: self.last, at_ms: now_ms, ..CheckpointPart::default() };
        cursor.stage = match std::mem::take(&mut cursor.stage) {
            Stage::Begin => {
                part.begins = true;
                Stage::Agents(String::new())
            }
            Stage::Agents(after) => {
                let agents = self.agents.range::<str, _>((Bound::Excluded(after.as_str()), Bound::Unbounded));
                let mut bytes = 0;
                for (_, agent) in agents.take(MOST_ENTRIES) {
                    bytes += agent.encoded_len();
                    part.agents.push(agent.clone());
                    if bytes >= MOST_BYTES {
                        break;
                    }
                }
                match part.agents.last() {
                    Some(last) => Stage::Agents(last.agent_id.clone()),
                    None => Stage::Receipts((0, 0)),
                }
            }
            Stage::Receipts(after) => {
                let mut last = None;
                let kept = self.receipt_order.range((Bound::Excluded(after), Bound::Unbounded));
                for (place, key) in kept.take(MOST_RECEIPTS) {
                    last = Some(*place);
                    // A later message with the same id has replaced the result; it is saved at its own place.
                    part.receipts.extend(
                        self.receipts.get(key).filter(|kept| kept.at_ms == place.0).map(|kept| kept.to_kept(key)),
                    );
                }
                last.map_or(Stage::Tasks(0), Stage::Receipts)
            }
            Stage::Tasks(after) => {
                let mut last = None;
                let mut bytes = 0;
                for (number, id) in self.order.range((Bound::Excluded(after), Bound::Unbounded)).take(MOST_ENTRIES) {
                    let Some(entry) = self.tasks.get(id) else { continue };
                    last = Some(*number);
                    bytes += entry.bytes;
                    part.tasks.push(self.saved(entry));
                    if bytes >= MOST_BYTES {
                        break;
                    }
                }
                cursor.tasks += part.tasks.len() as u64;
                last.map_or(Stage::Saved, Stage::Tasks)
            }
            Stage::Saved => Stage::Saved,
        };
        ChangeBatch { checkpoint: Some(part), ..ChangeBatch::default() }
    }

    /// Returns the end of a checkpoint whose first part is at a position of the store.
    #[must_use]
    pub fn checkpoint_end(&self, cursor: &CheckpointCursor, begun_at: u64, now_ms: u64) -> ChangeBatch {
        let shares = self.queues.iter().map(|(assignment, queue)| {
            let ((target, name), (passes, served)) = (assignment.names(), queue.shares());
            SavedShares { target, queue: name, passes: passes.to_vec(), served }
        });
        let mut queues: Vec<SavedShares> = shares.collect();
        queues.sort_by(|one, other| (&one.target, &one.queue).cmp(&(&other.target, &other.queue)));
        let end = CheckpointEnd { begun_at, queues, tasks: cursor.tasks };
        let part =
            CheckpointPart { last_number: self.last, at_ms: now_ms, end: Some(end), ..CheckpointPart::default() };
        ChangeBatch { checkpoint: Some(part), ..ChangeBatch::default() }
    }

    fn saved(&self, entry: &TaskEntry) -> SavedTask {
        let (target, queue) = entry.assignment.names();
        let queued = self.queues.get(&entry.assignment).and_then(|queue| queue.level_of(entry.number));
        let (level, since_ms) = queued.unwrap_or_default();
        let claim = (!entry.last_worker.is_empty()).then(|| ClaimedBy {
            task_id: String::new(),
            agent_id: entry.last_worker.clone(),
            attempt: entry.attempt,
            lease_id: entry.lease_id.clone(),
            lease_until_ms: entry.lease_until_ms.unwrap_or(0),
            lease_ms: entry.lease_ms,
            operation_id: entry.claim_operation.clone(),
        });
        let rejections = entry.rejections.iter().map(|rejection| SavedRejection {
            agent_id: rejection.agent_id.clone(),
            reason: rejection.reason.clone(),
            at_ms: rejection.at_ms,
        });
        SavedTask {
            number: entry.number,
            event_id: entry.event_id.clone(),
            submitted_ms: entry.submitted_ms,
            submitted: Some(SubmittedTask {
                task: Some(Task::clone(&entry.task)),
                target,
                queue,
                parent: entry.parent.clone().unwrap_or_default(),
                deadline_ms: entry.deadline_ms.unwrap_or(0),
                max_attempts: entry.max_attempts,
            }),
            routing: Some(entry.routing.clone()),
            trace_id: entry.trace.trace_id.clone(),
            span_id: entry.trace.span_id.clone(),
            copies: entry.copies.clone(),
            attempt: entry.attempt,
            claim,
            held: entry.worker.is_some(),
            resume_token: entry.resume_token.clone(),
            rejections: rejections.collect(),
            acknowledged: entry.acknowledged,
            delivered_ms: entry.delivered_ms,
            dead_letter: entry.dead_letter,
            finished_ms: entry.finished_ms,
            bytes: entry.bytes as u64,
            level: u32::try_from(level).unwrap_or(0),
            since_ms,
            claimed_ms: entry.claimed_ms,
            answered: entry.answered,
            operations: entry.operations.clone(),
        }
    }

    /// Adds what a part of a checkpoint has and the broker does not.
    pub(super) fn restore(&mut self, part: &CheckpointPart) {
        self.last = self.last.max(part.last_number);
        for agent in &part.agents {
            self.agents.insert(agent.agent_id.clone(), agent.clone());
        }
        for receipt in &part.receipts {
            let (key, stored) = StoredReceipt::new(receipt.clone());
            if self.receipts.get(&key) != Some(&stored) {
                self.keep_receipt(receipt.clone());
            }
        }
        part.tasks.iter().for_each(|task| self.restore_task(task));
        for shares in part.end.iter().flat_map(|end| &end.queues) {
            if let Some(queue) = self.queues.get_mut(&Assignment::of(&shares.target, &shares.queue))
                && let Ok(passes) = <[u64; 4]>::try_from(shares.passes.as_slice())
            {
                queue.set_shares(passes, shares.served);
            }
        }
    }

    fn restore_task(&mut self, saved: &SavedTask) {
        let Some(submitted) = &saved.submitted else { return };
        let Some(task) = &submitted.task else { return };
        if self.tasks.contains_key(&task.id) {
            return;
        }
        let claim = saved.claim.clone().unwrap_or_default();
        let rejections = saved.rejections.iter().map(|rejection| Rejection {
            agent_id: rejection.agent_id.clone(),
            reason: rejection.reason.clone(),
            at_ms: rejection.at_ms,
        });
        let id = task.id.clone();
        let mut entry = TaskEntry {
            number: saved.number,
            event_id: saved.event_id.clone(),
            submitted_ms: saved.submitted_ms,
            task: Arc::new(task.clone()),
            assignment: Assignment::of(&submitted.target, &submitted.queue),
            routing: saved.routing.clone().unwrap_or_default(),
            trace: TraceIds { trace_id: saved.trace_id.clone(), span_id: saved.span_id.clone() },
            parent: Some(submitted.parent.clone()).filter(|parent| !parent.is_empty()),
            copies: saved.copies.clone(),
            deadline_ms: Some(submitted.deadline_ms).filter(|at_ms| *at_ms > 0),
            max_attempts: submitted.max_attempts.max(1),
            attempt: saved.attempt,
            worker: saved.held.then(|| claim.agent_id.clone()),
            last_worker: claim.agent_id,
            claimed_ms: saved.claimed_ms,
            claim_operation: claim.operation_id,
            lease_id: claim.lease_id,
            lease_ms: claim.lease_ms,
            lease_until_ms: Some(claim.lease_until_ms).filter(|until| *until > 0),
            resume_token: saved.resume_token.clone(),
            rejections: rejections.collect(),
            answered: saved.answered,
            operations: saved.operations.clone(),
            acknowledged: saved.acknowledged,
            delivered_ms: saved.delivered_ms,
            dead_letter: saved.dead_letter,
            bytes: usize::try_from(saved.bytes).unwrap_or(usize::MAX),
            finished_ms: saved.finished_ms,
            finished_bytes: 0,
            timers: [None; 3],
        };
        self.states[entry.state() as usize] += 1;
        *self.senders.entry(entry.requester().to_owned()).or_default() += 1;
        self.order.insert(entry.number, id.clone());
        if let Some(worker) = &entry.worker {
            self.held.entry(worker.clone()).or_default().insert(entry.number);
        }
        if is_final(entry.state()) {
            self.finished.insert((entry.finished_ms, entry.number));
            entry.compact();
            entry.finished_bytes = memory::of_task(&entry);
            self.finished_bytes += entry.finished_bytes;
            if entry.dead_letter {
                self.dead_letters.insert(entry.number);
            }
        } else if entry.state() == TaskState::Submitted
            && entry.worker.is_none()
            && entry.assignment != Assignment::Copies
        {
            let ageing_ms = self.options.ageing_ms;
            let queue = self.queues.entry(entry.assignment.clone()).or_insert_with(|| WeightedQueue::new(ageing_ms));
            let level = (usize::try_from(saved.level).unwrap_or(0), saved.since_ms);
            queue.restore(entry.number, entry.lane(), entry.level(), level, id.clone());
        }
        self.tasks.insert(id.clone(), Box::new(entry));
        self.set_timers(&id);
    }
}
