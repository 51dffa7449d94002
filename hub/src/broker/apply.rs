//! Applying a change to the state. The result depends on the change and the state only, so that a replay repeats it.

use std::sync::Arc;

use prost::Message as _;

use crate::proto::a2a::{Artifact, TaskState, TaskStatus};

use super::change::{
    Change, ChangeBatch, ChangeKind, ChangedArtifact, ChangedStatus, ClaimedBy, KeptReceipt, SubmittedTask,
};
use super::command::TraceIds;
use super::deliver::RoutedEvent;
use super::task::{Assignment, Rejection, TaskEntry, is_final, is_interrupted};
use super::{Broker, BrokerCounters, ReceiptKey, StoredReceipt, TimerKind, WeightedQueue, memory, payload};

impl Broker {
    /// Applies the changes of a command that a store kept, and passes on the events that subscribers saw.
    pub fn replay(&mut self, batch: &ChangeBatch, mut seen: impl FnMut(Vec<RoutedEvent>)) {
        if let Some(part) = &batch.checkpoint {
            self.restore(part);
        }
        for change in &batch.changes {
            self.apply(change);
            seen(self.events(change));
        }
        if let Some(receipt) = &batch.receipt {
            self.drop_receipts(receipt.at_ms);
            self.keep_receipt(receipt.clone());
        }
    }

    /// Sets the counters to 0: they count what this process did.
    pub(crate) fn reset_counters(&mut self) {
        self.counters = BrokerCounters::default();
    }

    pub(super) fn keep_receipt(&mut self, receipt: KeptReceipt) {
        let (key, receipt) = StoredReceipt::new(receipt);
        // A checkpoint repeats older results after newer ones.
        self.last_receipt += 1;
        self.receipt_order.insert((receipt.at_ms, self.last_receipt), key.clone());
        self.receipt_bytes += receipt.memory(&key);
        if let Some(before) = self.receipts.insert(key.clone(), receipt) {
            self.receipt_bytes -= before.memory(&key);
        }
        while self.receipts.len() > self.options.max_dedupe || self.receipt_bytes > self.options.dedupe_bytes {
            let Some(((at_ms, _), oldest)) = self.receipt_order.pop_first() else { return };
            self.drop_receipt(at_ms, &oldest);
        }
    }

    /// Drops the results that are older than the dedupe time.
    pub(super) fn drop_receipts(&mut self, now_ms: u64) {
        while let Some(first) = self.receipt_order.first_entry()
            && first.key().0.saturating_add(self.options.dedupe_ms) <= now_ms
        {
            let ((at_ms, _), key) = first.remove_entry();
            self.drop_receipt(at_ms, &key);
        }
    }

    /// Drops the result of a message, unless a later message with the same id has replaced it. That happens when a hub
    /// reads its store with a longer dedupe time than the one with which it was written.
    fn drop_receipt(&mut self, at_ms: u64, key: &ReceiptKey) {
        if self.receipts.get(key).is_some_and(|kept| kept.at_ms <= at_ms)
            && let Some(dropped) = self.receipts.remove(key)
        {
            self.receipt_bytes -= dropped.memory(key);
        }
    }

    pub(super) fn apply(&mut self, change: &Change) {
        self.last = change.number;
        let at_ms = change.at_ms;
        match &change.kind {
            Some(ChangeKind::AgentRegistered(agent) | ChangeKind::HealthChanged(agent)) => {
                self.agents.insert(agent.agent_id.clone(), agent.clone());
            }
            Some(ChangeKind::AgentUnregistered(agent)) => {
                self.agents.remove(&agent.agent_id);
            }
            Some(ChangeKind::TaskSubmitted(submitted)) => self.submitted(change, submitted),
            Some(ChangeKind::MessageAppended(message)) => {
                if let Some(entry) = self.tasks.get_mut(&message.task_id) {
                    entry.bytes += message.encoded_len();
                    Arc::make_mut(&mut entry.task).history.push(message.clone());
                    let is_answer = change.routing.as_ref().is_some_and(|it| it.from_agent_id == entry.requester());
                    entry.answered |= is_answer && is_interrupted(entry.state());
                }
            }
            Some(ChangeKind::StatusChanged(changed)) => self.status_changed(changed, change),
            Some(ChangeKind::ArtifactChanged(changed)) => self.artifact_changed(changed, &change.event_id),
            Some(ChangeKind::TaskClaimed(claimed)) => self.claimed(claimed, at_ms),
            Some(ChangeKind::LeaseRenewed(renewed)) => {
                self.update_task(&renewed.task_id, |entry| {
                    entry.lease_until_ms = Some(renewed.lease_until_ms);
                    entry.lease_ms = renewed.lease_ms;
                });
            }
            Some(ChangeKind::TaskRequeued(requeued)) => {
                self.counters.requeued += 1;
                self.update_task(&requeued.task_id, |entry| {
                    let was_held = entry.worker.take().is_some();
                    entry.lease_until_ms = None;
                    entry.acknowledged = false;
                    entry.answered = false;
                    entry.keep_operation(&requeued.operation_id, requeued.operation_digest, &change.event_id);
                    entry.delivered_ms = at_ms;
                    if requeued.rejected {
                        // A rejection is not an attempt.
                        entry.attempt -= u32::from(was_held && entry.attempt > 0);
                        let (agent_id, reason) = (requeued.agent_id.clone(), requeued.reason.clone());
                        entry.rejections.push(Rejection { agent_id, reason, at_ms });
                    }
                    let task = Arc::make_mut(&mut entry.task);
                    let update = task.status.take().and_then(|status| status.update);
                    let timestamp = Some(payload::timestamp(at_ms));
                    task.status = Some(TaskStatus { state: TaskState::Submitted as i32, update, timestamp });
                });
                self.enqueue(&requeued.task_id, at_ms);
            }
            Some(ChangeKind::TaskAcknowledged(ids)) => {
                for task_id in &ids.task_ids {
                    self.update_task(task_id, |entry| {
                        entry.acknowledged |= !ids.redelivered;
                        entry.delivered_ms = at_ms;
                    });
                }
            }
            Some(ChangeKind::TasksForgotten(ids)) => ids.task_ids.iter().for_each(|task_id| self.forget(task_id)),
            Some(ChangeKind::MessagePublished(_)) | None => {}
        }
    }

    fn submitted(&mut self, change: &Change, submitted: &SubmittedTask) {
        let Some(mut task) = submitted.task.clone() else { return };
        if let Some(status) = &mut task.status {
            status.update = task.history.first().cloned();
        }
        let assignment = Assignment::of(&submitted.target, &submitted.queue);
        let id = task.id.clone();
        let entry = TaskEntry {
            number: change.number,
            event_id: change.event_id.clone(),
            submitted_ms: change.at_ms,
            bytes: task.encoded_len(),
            task: Arc::new(task),
            assignment,
            routing: change.routing.clone().unwrap_or_default(),
            trace: TraceIds { trace_id: change.trace_id.clone(), span_id: change.span_id.clone() },
            parent: Some(submitted.parent.clone()).filter(|parent| !parent.is_empty()),
            copies: Vec::new(),
            deadline_ms: Some(submitted.deadline_ms).filter(|at_ms| *at_ms > 0),
            max_attempts: submitted.max_attempts.max(1),
            attempt: 0,
            worker: None,
            last_worker: String::new(),
            claim_operation: String::new(),
            claimed_ms: 0,
            lease_id: String::new(),
            lease_ms: 0,
            lease_until_ms: None,
            resume_token: String::new(),
            rejections: Vec::new(),
            answered: false,
            operations: Vec::new(),
            acknowledged: false,
            delivered_ms: change.at_ms,
            dead_letter: false,
            finished_ms: 0,
            finished_bytes: 0,
            timers: [None; 3],
        };
        if let Some(parent) = entry.parent.as_ref().and_then(|parent| self.tasks.get_mut(parent)) {
            parent.copies.push(id.clone());
        }
        self.counters.submitted += 1;
        self.states[entry.state() as usize] += 1;
        self.order.insert(change.number, id.clone());
        *self.senders.entry(entry.requester().to_owned()).or_default() += 1;
        self.tasks.insert(id.clone(), Box::new(entry));
        self.enqueue(&id, change.at_ms);
        self.set_timers(&id);
    }

    fn enqueue(&mut self, task_id: &str, now_ms: u64) {
        let Some(entry) = self.tasks.get(task_id).filter(|entry| entry.assignment != Assignment::Copies) else {
            return;
        };
        let ageing_ms = self.options.ageing_ms;
        let queue = self.queues.entry(entry.assignment.clone()).or_insert_with(|| WeightedQueue::new(ageing_ms));
        queue.push(entry.number, entry.lane(), entry.level(), now_ms, task_id.to_owned());
    }

    fn dequeue(&mut self, task_id: &str, is_served: bool, now_ms: u64) {
        let Some(entry) = self.tasks.get(task_id) else { return };
        let Some(queue) = self.queues.get_mut(&entry.assignment) else { return };
        if is_served {
            queue.take(entry.number, now_ms);
        } else {
            queue.remove(entry.number, now_ms);
        }
        if queue.is_empty() {
            self.queues.remove(&entry.assignment);
        }
    }

    fn status_changed(&mut self, changed: &ChangedStatus, change: &Change) {
        let at_ms = change.at_ms;
        let state = changed.status.as_ref().map_or(TaskState::Unspecified, TaskStatus::state);
        if is_final(state) {
            self.dequeue(&changed.task_id, false, at_ms);
        }
        let max_history = self.options.max_history;
        let mut finished = None;
        self.update_task(&changed.task_id, |entry| {
            let is_new = entry.state() != state;
            if let Some(message) = changed.status.as_ref().and_then(|status| status.update.as_ref())
                && is_new
                && entry.task.history.len() < max_history
            {
                entry.bytes += message.encoded_len();
                Arc::make_mut(&mut entry.task).history.push(message.clone());
            }
            Arc::make_mut(&mut entry.task).status.clone_from(&changed.status);
            entry.acknowledged = true;
            entry.answered = false;
            entry.keep_operation(&changed.operation_id, changed.operation_digest, &change.event_id);
            entry.lease_until_ms = Some(changed.lease_until_ms).filter(|until| *until > 0);
            if !changed.resume_token.is_empty() {
                entry.resume_token.clone_from(&changed.resume_token);
            }
            if is_final(state) {
                entry.worker = None;
                entry.lease_until_ms = None;
                entry.finished_ms = at_ms;
                entry.dead_letter = changed.dead_letter;
                entry.compact();
                finished = Some(entry.number);
            }
        });
        if let Some(number) = finished {
            self.finished.insert((at_ms, number));
            if changed.dead_letter {
                self.counters.dead_letters += 1;
                self.dead_letters.insert(number);
            }
        }
    }

    fn artifact_changed(&mut self, changed: &ChangedArtifact, event_id: &str) {
        let Some(artifact) = &changed.artifact else { return };
        self.update_task(&changed.task_id, |entry| {
            entry.keep_operation(&changed.operation_id, changed.operation_digest, event_id);
            entry.lease_until_ms = Some(changed.lease_until_ms).filter(|until| *until > 0);
            let artifacts = &mut Arc::make_mut(&mut entry.task).artifacts;
            let size = artifact.encoded_len();
            match artifacts.iter_mut().find(|known| known.artifact_id == artifact.artifact_id) {
                Some(known) if changed.append => {
                    known.parts.extend(artifact.parts.iter().cloned());
                    entry.bytes += size;
                }
                Some(known) => {
                    entry.bytes = (entry.bytes + size).saturating_sub(known.encoded_len());
                    known.clone_from(artifact);
                }
                None => {
                    artifacts.push(Artifact::clone(artifact));
                    entry.bytes += size;
                }
            }
        });
    }

    fn claimed(&mut self, claimed: &ClaimedBy, at_ms: u64) {
        self.counters.attempts += 1;
        self.dequeue(&claimed.task_id, true, at_ms);
        self.update_task(&claimed.task_id, |entry| {
            entry.attempt = claimed.attempt;
            entry.worker = Some(claimed.agent_id.clone());
            entry.last_worker.clone_from(&claimed.agent_id);
            entry.claimed_ms = at_ms;
            entry.claim_operation.clone_from(&claimed.operation_id);
            entry.lease_id.clone_from(&claimed.lease_id);
            entry.lease_ms = claimed.lease_ms;
            entry.lease_until_ms = Some(claimed.lease_until_ms).filter(|until| *until > 0);
            entry.acknowledged = true;
        });
    }

    fn forget(&mut self, task_id: &str) {
        let Some(entry) = self.tasks.remove(task_id) else { return };
        if let Some(count) = self.senders.get_mut(entry.requester()) {
            *count -= 1;
            if *count == 0 {
                self.senders.remove(entry.requester());
            }
        }
        self.states[entry.state() as usize] -= 1;
        self.order.remove(&entry.number);
        self.finished.remove(&(entry.finished_ms, entry.number));
        self.finished_bytes -= entry.finished_bytes;
        self.dead_letters.remove(&entry.number);
    }

    /// Changes a task, and then its timers and the list of its worker.
    fn update_task(&mut self, task_id: &str, change: impl FnOnce(&mut TaskEntry)) {
        let Some(entry) = self.tasks.get_mut(task_id) else { return };
        let before = entry.worker.clone();
        self.states[entry.state() as usize] -= 1;
        change(entry);
        self.states[entry.state() as usize] += 1;
        if is_final(entry.state()) {
            let bytes = memory::of_task(entry);
            self.finished_bytes = self.finished_bytes + bytes - std::mem::replace(&mut entry.finished_bytes, bytes);
        }
        let number = entry.number;
        if entry.worker != before {
            if let Some(worker) = before
                && let Some(held) = self.held.get_mut(&worker)
            {
                held.remove(&number);
                if held.is_empty() {
                    self.held.remove(&worker);
                }
            }
            if let Some(worker) = &entry.worker {
                self.held.entry(worker.clone()).or_default().insert(number);
            }
        }
        self.set_timers(task_id);
    }

    pub(super) fn set_timers(&mut self, task_id: &str) {
        let redelivery_ms = self.options.redelivery_ms;
        let Some(entry) = self.tasks.get_mut(task_id) else { return };
        let is_open = !is_final(entry.state());
        let is_unseen = !entry.acknowledged && matches!(entry.assignment, Assignment::Inbox(_));
        let wanted = [
            entry.deadline_ms.filter(|_| is_open),
            entry.lease_until_ms.filter(|_| is_open),
            (is_open && is_unseen).then(|| entry.delivered_ms.saturating_add(redelivery_ms)),
        ];
        let number = entry.number;
        let before = std::mem::replace(&mut entry.timers, wanted);
        let kinds = [TimerKind::Deadline, TimerKind::Lease, TimerKind::Redelivery];
        for ((kind, before), wanted) in kinds.into_iter().zip(before).zip(wanted) {
            if before != wanted {
                let timed = &mut self.timed[kind as usize];
                *timed = *timed + usize::from(wanted.is_some()) - usize::from(before.is_some());
                before.map(|at_ms| self.timers.remove(&(at_ms, kind, number)));
                wanted.map(|at_ms| self.timers.insert((at_ms, kind, number)));
            }
        }
    }
}
