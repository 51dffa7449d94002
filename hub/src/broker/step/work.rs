//! Claims, leases and progress.

use std::time::Duration;

use prost::Message as _;
use prost_types::value::Kind;

use crate::broker::change::{ChangeKind, ChangedStatus, ClaimedBy};
use crate::broker::command::{Caller, Claim, ClaimedTask, Progress, Renew, Reply};
use crate::broker::error::{BrokerError, ErrorKind};
use crate::broker::fingerprint::Fingerprint;
use crate::broker::payload;
use crate::broker::task::{Actor, Assignment, TaskEntry, is_final};
use crate::proto::a2a::{TaskState, TaskStatus};
use crate::proto::agenthub::AgentEventMetadata;

use super::{Step, act_as, check_id, check_length, check_transition, from, not_involved};

/// Number of tasks of each priority that a claim tries, if its worker cannot take the first.
const SCAN: usize = 256;
/// Maximum length of a resume token or a reason, in bytes.
pub(super) const MOST_TEXT: usize = 64 << 10;

impl Step<'_> {
    pub(super) fn claim(&mut self, caller: &Caller, claim: &Claim) -> Result<Reply, BrokerError> {
        check_id("agent_id", &claim.agent_id)?;
        act_as(caller, &claim.agent_id)?;
        check_length("queue", &claim.queue)?;
        check_length("hub-operation", &claim.operation)?;
        let lease_ms = self.lease_ms(claim.lease, self.broker.options.lease_ms)?;
        let worker = &claim.agent_id;
        if claim.queue.is_empty() && !self.broker.knows(worker) {
            return Err(BrokerError::unregistered(worker));
        }
        let key = claim.assignment();
        if let Some(repeated) = self.claimed_before(&key, claim)? {
            return Ok(Reply::Claimed(Some(Box::new(repeated))));
        }
        let done_ms = claim.estimate.map(|estimate| self.now_ms.saturating_add(millis(estimate)));
        let tasks = &self.broker.tasks;
        let Some(queue) = self.broker.queues.get_mut(&key) else { return Ok(Reply::Claimed(None)) };
        let mut impossible = None;
        let chosen = queue.choose(self.now_ms, SCAN, |task_id| {
            let Some(entry) = tasks.get(task_id) else { return false };
            if entry.rejections.iter().any(|rejection| rejection.agent_id == *worker) {
                return false;
            }
            let is_late = done_ms.zip(entry.deadline_ms).is_some_and(|(done_ms, deadline_ms)| done_ms > deadline_ms);
            if is_late {
                impossible.get_or_insert_with(|| task_id.clone());
            }
            !is_late
        });
        let Some(number) = chosen else {
            let Some(task_id) = impossible else { return Ok(Reply::Claimed(None)) };
            let id = base::ids::shortened(&task_id);
            let text = format!("DEADLINE_IMPOSSIBLE: the estimate exceeds the deadline of the task `{id}`");
            return Err(BrokerError::new(ErrorKind::DeadlineImpossible, text));
        };
        let Some(task_id) = self.broker.order.get(&number).cloned() else { return Ok(Reply::Claimed(None)) };
        self.take(&task_id, worker, lease_ms, &claim.operation);
        let entry = self.broker.task(&task_id).ok_or_else(|| BrokerError::not_found("task", &task_id))?;
        Ok(Reply::Claimed(Some(Box::new(claimed(entry, claim)))))
    }

    /// Returns the task that the same claim has leased before, if the worker still has it.
    fn claimed_before(&self, key: &Assignment, claim: &Claim) -> Result<Option<ClaimedTask>, BrokerError> {
        if claim.operation.is_empty() {
            return Ok(None);
        }
        let held = self.broker.held.get(&claim.agent_id).into_iter().flatten();
        let mut tasks = held.filter_map(|number| self.broker.tasks.get(self.broker.order.get(number)?));
        match tasks.find(|entry| entry.claim_operation == claim.operation) {
            Some(entry) if entry.assignment != *key => Err(BrokerError::used("request id", &claim.operation)),
            entry => Ok(entry.map(|entry| claimed(entry, claim))),
        }
    }

    /// Records a new attempt. A lease of 0 ms does not end by time.
    pub(super) fn take(&mut self, task_id: &str, agent_id: &str, lease_ms: u64, operation: &str) {
        let Some(entry) = self.broker.task(task_id) else { return };
        let claimed = ClaimedBy {
            task_id: task_id.to_owned(),
            agent_id: agent_id.to_owned(),
            attempt: entry.attempt + 1,
            lease_id: format!("lease_{}", (self.ids)()),
            lease_until_ms: if lease_ms == 0 { 0 } else { self.now_ms.saturating_add(lease_ms) },
            lease_ms,
            operation_id: operation.to_owned(),
        };
        let trace = entry.trace.clone();
        self.emit(from(agent_id), trace, ChangeKind::TaskClaimed(claimed));
    }

    pub(super) fn renew(&mut self, caller: &Caller, renew: &Renew) -> Result<Reply, BrokerError> {
        act_as(caller, &renew.agent_id)?;
        let entry = self.broker.task(&renew.task_id).ok_or_else(|| BrokerError::not_found("task", &renew.task_id))?;
        check_holder(entry, &renew.agent_id, renew.lease.as_deref())?;
        if matches!(entry.state(), TaskState::InputRequired | TaskState::AuthRequired) {
            let text =
                format!("the task `{}` waits for its requester and has no lease", base::ids::shortened(&renew.task_id));
            return Err(BrokerError::new(ErrorKind::FailedPrecondition, text));
        }
        let usual = if entry.lease_ms > 0 { entry.lease_ms } else { self.broker.options.lease_ms };
        let trace = entry.trace.clone();
        let renewed = ClaimedBy {
            task_id: renew.task_id.clone(),
            agent_id: renew.agent_id.clone(),
            attempt: entry.attempt,
            lease_id: entry.lease_id.clone(),
            lease_ms: self.lease_ms(renew.duration, usual)?,
            lease_until_ms: 0,
            operation_id: String::new(),
        };
        let lease_until_ms = self.now_ms.saturating_add(renewed.lease_ms);
        self.emit(from(&renew.agent_id), trace, ChangeKind::LeaseRenewed(ClaimedBy { lease_until_ms, ..renewed }));
        Ok(Reply::Renewed(lease_until_ms))
    }

    /// Returns the end of the lease after a worker reported a state; 0 if it does not end by time. A task that waits
    /// for its requester has no lease.
    pub(super) fn lease_end(&self, entry: &TaskEntry, state: TaskState) -> u64 {
        match state {
            TaskState::Working | TaskState::Submitted if entry.lease_ms > 0 => {
                self.now_ms.saturating_add(entry.lease_ms)
            }
            _ => 0,
        }
    }

    fn lease_ms(&self, given: Option<Duration>, usual: u64) -> Result<u64, BrokerError> {
        let lease_ms = given.map_or(usual, millis);
        let most = self.broker.options.max_lease_ms;
        if !(1..=most).contains(&lease_ms) {
            return Err(BrokerError::invalid(format!("invalid lease of {lease_ms} ms: use 1 to {most} ms")));
        }
        Ok(lease_ms)
    }

    pub(super) fn progress(&mut self, caller: &Caller, progress: Progress) -> Result<Reply, BrokerError> {
        act_as(caller, &progress.agent_id)?;
        if !(0.0..=1.0).contains(&progress.portion) {
            return Err(BrokerError::invalid(format!("`portion` must be from 0 to 1, found {}", progress.portion)));
        }
        if progress.resume_token.len() > MOST_TEXT {
            return Err(BrokerError::limit(format!("`resume_token` is longer than {MOST_TEXT} bytes")));
        }
        check_length("hub-operation", &progress.operation)?;
        let digest = Fingerprint::of("progress")
            .text(&progress.agent_id)
            .text(progress.lease.as_deref().unwrap_or_default())
            .bytes(&progress.portion.to_bits().to_be_bytes())
            .messages(&progress.data)
            .text(&progress.resume_token)
            .end();
        if let Some(entry) = self.broker.task(&progress.task_id)
            && entry.done(&progress.operation, digest)?.is_some()
        {
            return Ok(Reply::Renewed(entry.lease_until_ms.unwrap_or(0)));
        }
        let entry = self.open_task(&progress.task_id, TaskState::Working)?;
        check_holder(entry, &progress.agent_id, progress.lease.as_deref())?;
        check_transition(entry, TaskState::Working, Actor::Worker)?;
        let lease_until_ms = self.lease_end(entry, TaskState::Working);
        let trace = entry.trace.clone();
        let context_id = entry.task.context_id.clone();
        let mut data = payload::metadata([("portion", Kind::NumberValue(progress.portion))]);
        if !progress.resume_token.is_empty() {
            let token = payload::metadata([("resume_token", payload::string(progress.resume_token.clone()))]);
            data.fields.extend(token.fields);
        }
        let metadata = data.clone();
        if let Some(partial) = progress.data {
            data.fields.extend(payload::metadata([("data", Kind::StructValue(partial))]).fields);
        }
        self.broker.check_size(entry.bytes, data.encoded_len(), &base::ids::shortened(&progress.task_id))?;
        let message_id = format!("msg_{}", (self.ids)());
        let text = format!("{:.0} % done", progress.portion * 100.0);
        let message = payload::notice(message_id, &progress.task_id, &context_id, text, Some(data));
        let status = TaskStatus {
            state: TaskState::Working as i32,
            update: Some(message),
            timestamp: Some(payload::timestamp(self.now_ms)),
        };
        let changed = ChangedStatus {
            task_id: progress.task_id.clone(),
            status: Some(status),
            metadata: Some(metadata),
            resume_token: progress.resume_token,
            lease_until_ms,
            dead_letter: false,
            operation_id: progress.operation,
            operation_digest: digest,
        };
        let routing = AgentEventMetadata { event_type: "task.progress".to_owned(), ..from(&progress.agent_id) };
        self.emit(routing, trace, ChangeKind::StatusChanged(changed));
        self.aggregate(&progress.task_id);
        Ok(Reply::Renewed(lease_until_ms))
    }
}

/// Returns a task with its lease, for the worker that has it.
fn claimed(entry: &TaskEntry, claim: &Claim) -> ClaimedTask {
    ClaimedTask {
        task: entry.with_history(0),
        queue: claim.queue.clone(),
        attempt: entry.attempt,
        max_attempts: entry.max_attempts,
        lease_id: entry.lease_id.clone(),
        lease_until_ms: entry.lease_until_ms.unwrap_or(0),
        deadline_ms: entry.deadline_ms,
        resume_token: entry.resume_token.clone(),
        routing: entry.routing.clone(),
        trace: entry.trace.clone(),
    }
}

/// Checks that an agent has the task now, with this lease if it names one.
pub(super) fn check_holder(entry: &TaskEntry, agent_id: &str, lease: Option<&str>) -> Result<(), BrokerError> {
    check_lease(entry, agent_id, lease)?;
    match &entry.worker {
        Some(worker) if worker == agent_id => Ok(()),
        _ if entry.last_worker == agent_id => Err(lease_ended(entry)),
        Some(_) if matches!(entry.assignment, Assignment::Queue(_)) => Err(held_by_other(entry)),
        _ => Err(not_involved(agent_id, &entry.task.id)),
    }
}

/// Checks the lease, if one is named.
pub(super) fn check_lease(entry: &TaskEntry, agent_id: &str, lease: Option<&str>) -> Result<(), BrokerError> {
    match lease.filter(|lease| !lease.is_empty()) {
        Some(lease) if entry.lease_id != lease => Err(lease_ended(entry)),
        // A finished task has no worker any more, and its last lease says so by the state.
        Some(_) if is_final(entry.state()) && entry.last_worker == agent_id => Ok(()),
        Some(_) if entry.worker.as_deref() != Some(agent_id) => Err(lease_ended(entry)),
        _ => Ok(()),
    }
}

fn lease_ended(entry: &TaskEntry) -> BrokerError {
    let id = base::ids::shortened(&entry.task.id);
    let text = format!("the lease of the task `{id}` has ended (attempt {} of {})", entry.attempt, entry.max_attempts);
    BrokerError::new(ErrorKind::Aborted, text)
}

pub(super) fn held_by_other(entry: &TaskEntry) -> BrokerError {
    let id = base::ids::shortened(&entry.task.id);
    BrokerError::new(ErrorKind::FailedPrecondition, format!("another worker holds the task `{id}`"))
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
