//! Claims, leases, statuses and artifacts.

use std::time::Duration;

use prost::Message as _;
use prost_types::value::Kind;

use crate::broker::change::{ChangeKind, ChangedArtifact, ChangedStatus, ClaimedBy, RequeuedTask};
use crate::broker::command::{
    Caller, Claim, ClaimedTask, Progress, PublishReceipt, PutArtifact, Reject, Renew, Reply, UpdateStatus,
};
use crate::broker::error::{BrokerError, ErrorKind};
use crate::broker::payload;
use crate::broker::task::{Actor, Assignment, TaskEntry, is_final};
use crate::proto::a2a::{Message, TaskState, TaskStatus};
use crate::proto::agenthub::AgentEventMetadata;
use crate::proto::worker::RejectionReason;

use super::{Step, act_as, check_id, check_length, check_transition, from, not_involved, sender, transition};

/// Number of tasks of each priority that a claim tries, if its worker cannot take the first.
const SCAN: usize = 256;
/// Maximum length of a resume token or a reason, in bytes.
const MOST_TEXT: usize = 64 << 10;
/// Maximum number of artifacts of a task.
const MOST_ARTIFACTS: usize = 256;

impl Step<'_> {
    pub(super) fn claim(&mut self, caller: &Caller, claim: &Claim) -> Result<Reply, BrokerError> {
        check_id("agent_id", &claim.agent_id)?;
        act_as(caller, &claim.agent_id)?;
        check_length("queue", &claim.queue)?;
        check_length("hub-operation", &claim.operation)?;
        let lease_ms = self.lease_ms(claim.lease, self.broker.options.lease_ms)?;
        let worker = &claim.agent_id;
        let key = match claim.queue.is_empty() || claim.queue == *worker {
            true => Assignment::Inbox(worker.clone()),
            false => Assignment::Queue(claim.queue.clone()),
        };
        if let Some(repeated) = self.claimed_before(worker, claim) {
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
            let id = runtime::ids::shortened(&task_id);
            let text = format!("DEADLINE_IMPOSSIBLE: the estimate exceeds the deadline of the task `{id}`");
            return Err(BrokerError::new(ErrorKind::DeadlineImpossible, text));
        };
        let Some(task_id) = self.broker.order.get(&number).cloned() else { return Ok(Reply::Claimed(None)) };
        self.take(&task_id, worker, lease_ms, &claim.operation)?;
        let entry = self.broker.task(&task_id).ok_or_else(|| BrokerError::not_found("task", &task_id))?;
        Ok(Reply::Claimed(Some(Box::new(claimed(entry, claim)))))
    }

    /// Returns the task that the same claim has leased before, if the worker still has it.
    fn claimed_before(&self, worker: &str, claim: &Claim) -> Option<ClaimedTask> {
        if claim.operation.is_empty() {
            return None;
        }
        let held = self.broker.held.get(worker)?;
        let mut tasks = held.iter().filter_map(|number| self.broker.tasks.get(self.broker.order.get(number)?));
        let entry = tasks.find(|entry| entry.claim_operation == claim.operation)?;
        Some(claimed(entry, claim))
    }

    /// Records a new attempt. A lease of 0 ms does not end by time.
    fn take(&mut self, task_id: &str, agent_id: &str, lease_ms: u64, operation: &str) -> Result<(), BrokerError> {
        let entry = self.broker.task(task_id).ok_or_else(|| BrokerError::not_found("task", task_id))?;
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
        Ok(())
    }

    pub(super) fn renew(&mut self, caller: &Caller, renew: &Renew) -> Result<Reply, BrokerError> {
        act_as(caller, &renew.agent_id)?;
        let entry = self.broker.task(&renew.task_id).ok_or_else(|| BrokerError::not_found("task", &renew.task_id))?;
        check_holder(entry, &renew.agent_id, renew.lease.as_deref())?;
        if matches!(entry.state(), TaskState::InputRequired | TaskState::AuthRequired) {
            let text = format!(
                "the task `{}` waits for its requester and has no lease",
                runtime::ids::shortened(&renew.task_id)
            );
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
        if let Some(entry) = self.broker.task(&progress.task_id)
            && entry.done(&progress.operation).is_some()
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
        self.broker.check_size(entry.bytes, data.encoded_len(), &runtime::ids::shortened(&progress.task_id))?;
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
        };
        let routing = AgentEventMetadata { event_type: "task.progress".to_owned(), ..from(&progress.agent_id) };
        self.emit(routing, trace, ChangeKind::StatusChanged(changed));
        self.aggregate(&progress.task_id);
        Ok(Reply::Renewed(lease_until_ms))
    }

    pub(super) fn update_status(&mut self, caller: &Caller, mut given: UpdateStatus) -> Result<Reply, BrokerError> {
        sender(caller, &mut given.routing)?;
        let agent = given.routing.from_agent_id.clone();
        let task_id = given.update.task_id.clone();
        check_id("task_id", &task_id)?;
        let Some(mut status) = given.update.status.take() else {
            return Err(BrokerError::invalid("missing `update.status`"));
        };
        let to = match TaskState::try_from(status.state) {
            Ok(TaskState::Unspecified) | Err(_) => {
                return Err(BrokerError::invalid(format!("unknown task state {}", status.state)));
            }
            Ok(to) => to,
        };
        let message_id = status.update.as_ref().map_or(String::new(), |message| message.message_id.clone());
        check_length("message_id", &message_id)?;
        check_length("hub-operation", &given.operation)?;
        let entry = self.broker.task(&task_id).ok_or_else(|| BrokerError::not_found("task", &task_id))?;
        if let Some(first) = self.repeated(&agent, &message_id)
            && first.task_id == task_id
        {
            return Ok(Reply::Published(first));
        }
        if let Some(event_id) = entry.done(&given.operation) {
            let event_id = event_id.to_owned();
            return Ok(Reply::Published(PublishReceipt { event_id, message_id, task_id }));
        }
        let lease = given.lease.as_deref().filter(|lease| !lease.is_empty());
        if lease.is_some() {
            check_lease(entry, &agent, lease)?;
        }
        if is_final(entry.state()) {
            return Err(transition(entry, to));
        }
        let is_worker = entry.worker_or_target() == Some(agent.as_str()) || may_take(entry, to);
        let receipt = if !is_worker && entry.requester() == agent {
            check_transition(entry, to, Actor::Requester)?;
            let reason = status.update.as_ref().and_then(payload::first_text).unwrap_or_default().to_owned();
            let before = self.batch.changes.len();
            self.cancel(&Caller::Agent(agent.clone()), &task_id, &reason)?;
            let event_id = self.batch.changes.get(before).map_or(String::new(), |change| change.event_id.clone());
            PublishReceipt { event_id, message_id, task_id: task_id.clone() }
        } else {
            let is_rejection = to == TaskState::Rejected
                || (to == TaskState::Failed
                    && entry.state() == TaskState::Submitted
                    && payload::rejection_reason(status.update.as_ref()).is_some());
            if !is_worker {
                return Err(match (&entry.assignment, &entry.worker) {
                    (Assignment::Queue(_), Some(_)) => held_by_other(entry),
                    _ => not_involved(&agent, &task_id),
                });
            }
            if entry.worker.as_deref().is_some_and(|worker| worker != agent) {
                return Err(held_by_other(entry));
            }
            if is_rejection && !may_reject(entry, &agent) {
                return Err(not_involved(&agent, &task_id));
            }
            check_transition(entry, if is_rejection { TaskState::Rejected } else { to }, Actor::Worker)?;
            let size = status.encoded_len();
            self.broker.check_size(entry.bytes, size, &runtime::ids::shortened(&task_id))?;
            // The clocks of agents differ, and the order of the tasks is that of their times.
            status.timestamp = Some(payload::timestamp(self.now_ms));
            let event_id = if is_rejection {
                let reason = payload::rejection_reason(status.update.as_ref()).unwrap_or("UNSPECIFIED").to_owned();
                status.state = TaskState::Rejected as i32;
                self.reject_by(&agent, &task_id, &reason, status, given.operation)
            } else {
                self.worker_status(&agent, &task_id, status, given)?
            };
            PublishReceipt { event_id, message_id, task_id: task_id.clone() }
        };
        if !receipt.message_id.is_empty() {
            self.keep(&agent, &receipt);
        }
        Ok(Reply::Published(receipt))
    }

    fn worker_status(
        &mut self,
        agent: &str,
        task_id: &str,
        status: TaskStatus,
        given: UpdateStatus,
    ) -> Result<String, BrokerError> {
        if self.broker.task(task_id).is_some_and(|entry| entry.worker.is_none()) {
            self.take(task_id, agent, 0, "")?;
        }
        let entry = self.broker.task(task_id).ok_or_else(|| BrokerError::not_found("task", task_id))?;
        let lease_until_ms = self.lease_end(entry, status.state());
        let metadata = given.update.metadata;
        let resume_token = payload::text(metadata.as_ref(), "resume_token").unwrap_or_default().to_owned();
        let changed = ChangedStatus {
            task_id: task_id.to_owned(),
            status: Some(status),
            metadata,
            resume_token,
            lease_until_ms,
            dead_letter: false,
            operation_id: given.operation,
        };
        let event_id = self.emit(given.routing, given.trace, ChangeKind::StatusChanged(changed));
        self.aggregate(task_id);
        Ok(event_id)
    }

    /// Returns the end of the lease after a worker reported a state; 0 if it does not end by time. A task that waits
    /// for its requester has no lease.
    fn lease_end(&self, entry: &TaskEntry, state: TaskState) -> u64 {
        match state {
            TaskState::Working | TaskState::Submitted if entry.lease_ms > 0 => {
                self.now_ms.saturating_add(entry.lease_ms)
            }
            _ => 0,
        }
    }

    pub(super) fn reject(&mut self, caller: &Caller, reject: &Reject) -> Result<Reply, BrokerError> {
        check_id("agent_id", &reject.agent_id)?;
        act_as(caller, &reject.agent_id)?;
        if reject.reason == RejectionReason::Unspecified {
            return Err(BrokerError::invalid("missing `reason`"));
        }
        if reject.text.len() > MOST_TEXT {
            return Err(BrokerError::limit(format!("`text` is longer than {MOST_TEXT} bytes")));
        }
        check_length("hub-operation", &reject.operation)?;
        if self.broker.task(&reject.task_id).is_some_and(|entry| entry.done(&reject.operation).is_some()) {
            return self.task_reply(&reject.task_id);
        }
        let message_id = format!("msg_{}", (self.ids)());
        let entry = self.open_task(&reject.task_id, TaskState::Rejected)?;
        check_lease(entry, &reject.agent_id, reject.lease.as_deref())?;
        check_transition(entry, TaskState::Rejected, Actor::Worker)?;
        let agent = reject.agent_id.as_str();
        if entry.worker.as_deref().is_some_and(|worker| worker != agent) {
            return Err(held_by_other(entry));
        }
        if !may_reject(entry, agent) {
            return Err(not_involved(agent, &reject.task_id));
        }
        let reason = reject.reason.as_str_name().trim_start_matches("REJECTION_REASON_");
        let message = rejection(message_id, entry, agent, reason, &reject.text);
        let status = TaskStatus {
            state: TaskState::Rejected as i32,
            update: Some(message),
            timestamp: Some(payload::timestamp(self.now_ms)),
        };
        self.reject_by(agent, &reject.task_id, reason, status, reject.operation.clone());
        self.task_reply(&reject.task_id)
    }

    /// Rejects a task on behalf of an agent: a competitive one goes to the next candidate. Returns the id of the event.
    fn reject_by(
        &mut self,
        agent: &str,
        task_id: &str,
        reason: &str,
        status: TaskStatus,
        operation_id: String,
    ) -> String {
        self.broker.counters.rejected += 1;
        let Some(entry) = self.broker.task(task_id) else { return String::new() };
        let trace = entry.trace.clone();
        if !matches!(entry.assignment, Assignment::Queue(_)) {
            let task = task_id.to_owned();
            let changed =
                ChangedStatus { task_id: task, status: Some(status), operation_id, ..ChangedStatus::default() };
            let event_id = self.emit(from(agent), trace, ChangeKind::StatusChanged(changed));
            self.aggregate(task_id);
            return event_id;
        }
        let text = match status.update.as_ref().and_then(payload::first_text) {
            Some(text) if text.starts_with(reason) => text.to_owned(),
            Some(text) => format!("{reason}: {text}"),
            None => reason.to_owned(),
        };
        let requeued = RequeuedTask {
            task_id: task_id.to_owned(),
            agent_id: agent.to_owned(),
            reason: text,
            rejected: true,
            operation_id,
        };
        let event_id = self.emit(from(agent), trace, ChangeKind::TaskRequeued(requeued));
        self.end_if_rejected_by_all(task_id);
        event_id
    }

    /// Rejects a competitive task if no candidate is left. Without registered candidates, it waits for other workers.
    fn end_if_rejected_by_all(&mut self, task_id: &str) {
        let Some(entry) = self.broker.task(task_id) else { return };
        let Assignment::Queue(queue) = &entry.assignment else { return };
        let has_candidates =
            self.broker.agents.values().any(|agent| agent.healthy && agent.subscriptions.contains(queue));
        let is_exhausted = entry.rejections.len() >= self.broker.options.max_rejections;
        if !is_exhausted && (!has_candidates || !self.broker.candidates(entry).is_empty()) {
            return;
        }
        let reasons: Vec<String> = (entry.rejections.iter())
            .map(|rejection| format!("{}: {}", rejection.agent_id, runtime::ids::shortened(&rejection.reason)))
            .collect();
        let last = entry.rejections.last().map_or("", |rejection| rejection.reason.as_str());
        // The reason is the enum of the wire, without the text after it.
        let reason = last.split_once(':').map_or(last, |(reason, _)| reason);
        let data = payload::metadata([("rejection_reason", payload::string(reason))]);
        let text = format!("rejected by every candidate: {}", reasons.join("; "));
        self.broker_status(task_id, TaskState::Rejected, text, Some(data), false);
    }

    pub(super) fn put_artifact(&mut self, caller: &Caller, mut given: PutArtifact) -> Result<Reply, BrokerError> {
        sender(caller, &mut given.routing)?;
        let agent = given.routing.from_agent_id.clone();
        let update = given.update;
        check_id("task_id", &update.task_id)?;
        let entry = self.broker.task(&update.task_id).ok_or_else(|| BrokerError::not_found("task", &update.task_id))?;
        check_length("hub-operation", &given.operation)?;
        if let Some(event_id) = entry.done(&given.operation) {
            let (event_id, task_id) = (event_id.to_owned(), update.task_id);
            return Ok(Reply::Published(PublishReceipt { event_id, message_id: String::new(), task_id }));
        }
        let Some(mut artifact) = update.artifact else { return Err(BrokerError::invalid("missing `artifact`")) };
        check_length("artifact_id", &artifact.artifact_id)?;
        if artifact.artifact_id.is_empty() {
            if update.append {
                return Err(BrokerError::invalid("missing `artifact_id`: parts are appended to a known artifact"));
            }
            artifact.artifact_id = format!("artifact_{}", (self.ids)());
        }
        check_lease(entry, &agent, given.lease.as_deref())?;
        // Published agents send the artifact after they have completed the task.
        let is_late = entry.state() == TaskState::Completed && entry.last_worker == agent;
        if !is_late {
            if is_final(entry.state()) {
                let (id, state) = (runtime::ids::shortened(&update.task_id), payload::state_name(entry.state()));
                let text = format!("the task `{id}` is {state} and takes no more artifacts");
                return Err(BrokerError::new(ErrorKind::FailedPrecondition, text));
            }
            check_holder(entry, &agent, given.lease.as_deref())?;
        }
        let is_known = entry.task.artifacts.iter().any(|known| known.artifact_id == artifact.artifact_id);
        if !is_known && entry.task.artifacts.len() >= MOST_ARTIFACTS {
            return Err(BrokerError::limit(format!("too many artifacts: the limit is {MOST_ARTIFACTS}")));
        }
        self.broker.check_size(entry.bytes, artifact.encoded_len(), &runtime::ids::shortened(&update.task_id))?;
        let lease_until_ms = self.lease_end(entry, entry.state());
        let changed = ChangedArtifact {
            task_id: update.task_id.clone(),
            artifact: Some(artifact),
            append: update.append,
            last_chunk: update.last_chunk,
            metadata: update.metadata,
            lease_until_ms,
            operation_id: given.operation,
        };
        let event_id = self.emit(given.routing, given.trace, ChangeKind::ArtifactChanged(changed));
        Ok(Reply::Published(PublishReceipt { event_id, message_id: String::new(), task_id: update.task_id }))
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

/// Returns whether any agent may take the task, or reject it, without a claim: it is competitive and waits.
fn may_take(entry: &TaskEntry, to: TaskState) -> bool {
    matches!(entry.assignment, Assignment::Queue(_))
        && entry.worker.is_none()
        && entry.state() == TaskState::Submitted
        && matches!(to, TaskState::Working | TaskState::Rejected | TaskState::Failed)
}

/// Returns whether an agent can reject a task: it is the receiver, or a candidate that has not rejected it before.
fn may_reject(entry: &TaskEntry, agent: &str) -> bool {
    match &entry.assignment {
        Assignment::Inbox(target) => target == agent,
        Assignment::Queue(_) => !entry.rejections.iter().any(|rejection| rejection.agent_id == agent),
        Assignment::Copies => false,
    }
}

/// Checks that an agent has the task now, with this lease if it names one.
fn check_holder(entry: &TaskEntry, agent_id: &str, lease: Option<&str>) -> Result<(), BrokerError> {
    check_lease(entry, agent_id, lease)?;
    match &entry.worker {
        Some(worker) if worker == agent_id => Ok(()),
        _ if entry.last_worker == agent_id => Err(lease_ended(entry)),
        Some(_) if matches!(entry.assignment, Assignment::Queue(_)) => Err(held_by_other(entry)),
        _ => Err(not_involved(agent_id, &entry.task.id)),
    }
}

/// Checks the lease, if one is named.
fn check_lease(entry: &TaskEntry, agent_id: &str, lease: Option<&str>) -> Result<(), BrokerError> {
    match lease.filter(|lease| !lease.is_empty()) {
        Some(lease) if entry.lease_id != lease => Err(lease_ended(entry)),
        // A finished task has no worker any more, and its last lease says so by the state.
        Some(_) if is_final(entry.state()) && entry.last_worker == agent_id => Ok(()),
        Some(_) if entry.worker.as_deref() != Some(agent_id) => Err(lease_ended(entry)),
        _ => Ok(()),
    }
}

fn lease_ended(entry: &TaskEntry) -> BrokerError {
    let id = runtime::ids::shortened(&entry.task.id);
    let text = format!("the lease of the task `{id}` has ended (attempt {} of {})", entry.attempt, entry.max_attempts);
    BrokerError::new(ErrorKind::Aborted, text)
}

fn held_by_other(entry: &TaskEntry) -> BrokerError {
    let id = runtime::ids::shortened(&entry.task.id);
    BrokerError::new(ErrorKind::FailedPrecondition, format!("another worker holds the task `{id}`"))
}

fn rejection(message_id: String, entry: &TaskEntry, agent: &str, reason: &str, text: &str) -> Message {
    let data = payload::metadata([
        ("rejection_reason", payload::string(reason)),
        ("text", payload::string(text)),
        ("agent_id", payload::string(agent)),
    ]);
    let shown = if text.is_empty() { reason.to_owned() } else { format!("{reason}: {text}") };
    payload::notice(message_id, &entry.task.id, &entry.task.context_id, shown, Some(data))
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
