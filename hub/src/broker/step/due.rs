//! Timers that are due, retention, and lost workers.

use crate::broker::TimerKind;
use crate::broker::change::{ChangeKind, RequeuedTask, TaskIds};
use crate::broker::command::TraceIds;
use crate::broker::task::Assignment;
use crate::proto::a2a::TaskState;

use super::{HUB, Step, from};

/// Maximum number of finished tasks that one command drops.
const MOST_FORGOTTEN: usize = 1_000;
/// Time for which a finished task is kept although finished tasks take too much memory, so that its requester can read it.
const READ_MS: u64 = 10_000;
/// Multiple of the memory of finished tasks from which only the last of them is kept for that time.
const FLOOD: usize = 4;
/// Maximum number of timers that one command handles, so that no caller waits long.
const MOST_TIMERS: usize = 1_000;

impl Step<'_> {
    /// Handles everything that is due.
    pub(super) fn due(&mut self) {
        for _ in 0..MOST_TIMERS {
            let Some((at_ms, kind, number)) = self.broker.timers.first().copied() else { break };
            if at_ms > self.now_ms {
                break;
            }
            let Some(task_id) = self.broker.order.get(&number).cloned() else {
                self.broker.timers.remove(&(at_ms, kind, number));
                continue;
            };
            match kind {
                TimerKind::Deadline => {
                    self.broker.counters.deadlines_exceeded += 1;
                    self.broker_status(&task_id, TaskState::Failed, "deadline exceeded".to_owned(), None, false);
                }
                TimerKind::Lease => self.lose(&task_id, "its lease expired"),
                TimerKind::Redelivery => self.redeliver(task_id, at_ms, number),
            }
        }
        self.broker.drop_receipts(self.now_ms);
        self.forget_finished();
    }

    /// Returns the tasks of a worker to their queues: all, or only those without a lease.
    pub(super) fn lose_tasks_of(&mut self, agent_id: &str, why: &str, with_leases: bool) {
        let held: Vec<u64> = self.broker.held.get(agent_id).into_iter().flatten().copied().collect();
        for number in held {
            let Some(entry) = self.broker.order.get(&number).and_then(|id| self.broker.tasks.get(id)) else { continue };
            if with_leases || entry.lease_until_ms.is_none() {
                let id = entry.task.id.clone();
                self.lose(&id, why);
            }
        }
    }

    /// Returns a task to its queue because its worker is lost, or gives it up after the last attempt.
    fn lose(&mut self, task_id: &str, why: &str) {
        let Some(entry) = self.broker.task(task_id) else { return };
        let worker = entry.worker.clone().unwrap_or_default();
        let reason = format!("worker `{}` lost: {why}", base::ids::shortened(&worker));
        if entry.attempt >= entry.max_attempts {
            let text = format!("dead letter after {} attempts: {reason}", entry.attempt);
            self.broker_status(task_id, TaskState::Failed, text, None, true);
            return;
        }
        let trace = entry.trace.clone();
        let requeued = RequeuedTask {
            task_id: task_id.to_owned(),
            agent_id: worker,
            reason,
            rejected: false,
            ..RequeuedTask::default()
        };
        self.emit(from(HUB), trace, ChangeKind::TaskRequeued(requeued));
        self.aggregate(task_id);
    }

    fn redeliver(&mut self, task_id: String, at_ms: u64, number: u64) {
        let again_ms = self.now_ms.saturating_add(self.broker.options.redelivery_ms.max(1));
        let Some(entry) = self.broker.tasks.get_mut(&task_id) else { return };
        let is_attached = match &entry.assignment {
            Assignment::Inbox(target) => self.broker.attached.contains_key(target),
            _ => false,
        };
        if is_attached {
            let ids = TaskIds { task_ids: vec![task_id], redelivered: true };
            self.emit(from(HUB), TraceIds::default(), ChangeKind::TaskAcknowledged(ids));
        } else {
            // A subscription of the agent begins with the task.
            entry.timers[2] = Some(again_ms);
            self.broker.timers.remove(&(at_ms, TimerKind::Redelivery, number));
            self.broker.timers.insert((again_ms, TimerKind::Redelivery, number));
        }
    }

    /// Forgets finished tasks that are too old, too many, or too large.
    fn forget_finished(&mut self) {
        let broker = &*self.broker;
        let options = &broker.options;
        let number_of = broker.finished.len();
        let surplus = number_of.saturating_sub(options.max_finished);
        let mut bytes = broker.finished_bytes;
        let mut task_ids = Vec::new();
        for (place, (at_ms, number)) in broker.finished.iter().take(MOST_FORGOTTEN).enumerate() {
            let is_read = at_ms.saturating_add(READ_MS) <= self.now_ms;
            let is_flood = bytes > options.finished_bytes.saturating_mul(FLOOD) && place + 1 < number_of;
            let is_large = bytes > options.finished_bytes && (is_read || is_flood);
            let is_old = at_ms.saturating_add(options.retention_ms) <= self.now_ms;
            if place >= surplus && !is_old && !is_large {
                break;
            }
            // The state of a broadcast is that of all its copies.
            let entry = broker.order.get(number).and_then(|id| broker.task(id));
            if let Some(entry) = entry.filter(|entry| !broker.is_counted_by_parent(&entry.task.id)) {
                bytes = bytes.saturating_sub(entry.finished_bytes);
                task_ids.push(entry.task.id.clone());
            }
        }
        if !task_ids.is_empty() {
            let ids = TaskIds { task_ids, redelivered: false };
            self.emit(from(HUB), TraceIds::default(), ChangeKind::TasksForgotten(ids));
        }
    }
}
