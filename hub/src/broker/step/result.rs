//! Statuses, artifacts, and the end of a task with its artifacts.

use prost::Message as _;

use crate::broker::change::{ChangeKind, ChangedArtifact, ChangedStatus};
use crate::broker::command::{Caller, Finish, PublishReceipt, PutArtifact, Reply, UpdateStatus};
use crate::broker::error::{BrokerError, ErrorKind};
use crate::broker::fingerprint::Fingerprint;
use crate::broker::payload;
use crate::broker::task::{Actor, Assignment, TaskEntry, is_final};
use crate::proto::a2a::{Artifact, TaskState, TaskStatus};
use crate::proto::agenthub::AgentEventMetadata;

use super::reject::may_reject;
use super::work::{check_holder, check_lease, held_by_other};
use super::{Step, check_id, check_length, check_reason, check_transition, from, not_involved, sender, transition};

/// Maximum number of artifacts of a task.
const MOST_ARTIFACTS: usize = 256;

/// The effect of a status that was checked.
enum StatusEffect {
    /// The requester cancels the task.
    Cancel,
    /// A worker rejects it.
    Reject,
    /// Its worker reports a state.
    Report,
}

/// A status that was checked, so that it can be applied.
struct CheckedStatus {
    agent: String,
    task_id: String,
    status: TaskStatus,
    effect: StatusEffect,
    /// Id and fingerprint of the request.
    operation: (String, u64),
}

/// The artifacts of a task, as a request leaves them.
struct ArtifactSizes<'a> {
    ids: Vec<&'a str>,
    bytes: usize,
}

impl Step<'_> {
    pub(super) fn update_status(&mut self, caller: &Caller, mut given: UpdateStatus) -> Result<Reply, BrokerError> {
        sender(caller, &mut given.routing)?;
        let agent = given.routing.from_agent_id.clone();
        let task_id = given.update.task_id.clone();
        check_id("task_id", &task_id)?;
        if let Some(status) = &mut given.update.status {
            // The clocks of agents differ, and the order of the tasks is that of their times.
            status.timestamp = None;
        }
        let digest = Fingerprint::of("status")
            .message(&given.update)
            .message(&given.routing)
            .text(given.lease.as_deref().unwrap_or_default())
            .end();
        let Some(status) = given.update.status.take() else {
            return Err(BrokerError::invalid("missing `update.status`"));
        };
        let message_id = status.update.as_ref().map_or(String::new(), |message| message.message_id.clone());
        check_length("message_id", &message_id)?;
        check_length("hub-operation", &given.operation)?;
        let entry = self.broker.task(&task_id).ok_or_else(|| BrokerError::not_found("task", &task_id))?;
        if let Some(first) = self.repeated(&agent, &message_id, digest)? {
            return Ok(Reply::Published(first));
        }
        if let Some(event_id) = entry.done(&given.operation, digest)? {
            let event_id = event_id.to_owned();
            return Ok(Reply::Published(PublishReceipt { event_id, message_id, task_id }));
        }
        let UpdateStatus { update, routing, lease, operation, trace } = given;
        let checked = self.check_status(entry, &agent, lease.as_deref(), status, entry.bytes)?;
        let checked = CheckedStatus { operation: (operation, digest), ..checked };
        let event_id = self.apply_status(checked, update.metadata, routing, trace);
        let receipt = PublishReceipt { event_id, message_id, task_id };
        if !receipt.message_id.is_empty() {
            self.keep(&agent, &receipt, digest);
        }
        Ok(Reply::Published(receipt))
    }

    /// Checks a new status of a task whose size is `bytes`.
    fn check_status(
        &self,
        entry: &TaskEntry,
        agent: &str,
        lease: Option<&str>,
        mut status: TaskStatus,
        bytes: usize,
    ) -> Result<CheckedStatus, BrokerError> {
        let task_id = entry.task.id.clone();
        let to = match TaskState::try_from(status.state) {
            Ok(TaskState::Unspecified) | Err(_) => {
                return Err(BrokerError::invalid(format!("unknown task state {}", status.state)));
            }
            Ok(to) => to,
        };
        if lease.is_some_and(|lease| !lease.is_empty()) {
            check_lease(entry, agent, lease)?;
        }
        if is_final(entry.state()) {
            return Err(transition(entry, to));
        }
        let is_worker = entry.worker_or_target() == Some(agent) || may_take(entry, to);
        let effect = if !is_worker && entry.requester() == agent {
            check_transition(entry, to, Actor::Requester)?;
            check_reason(reason_of(&status))?;
            StatusEffect::Cancel
        } else {
            let is_rejection = to == TaskState::Rejected
                || (to == TaskState::Failed
                    && entry.state() == TaskState::Submitted
                    && payload::rejection_reason(status.update.as_ref()).is_some());
            if !is_worker {
                return Err(match (&entry.assignment, &entry.worker) {
                    (Assignment::Queue(_), Some(_)) => held_by_other(entry),
                    _ => not_involved(agent, &task_id),
                });
            }
            if entry.worker.as_deref().is_some_and(|worker| worker != agent) {
                return Err(held_by_other(entry));
            }
            if is_rejection && !may_reject(entry, agent) {
                return Err(not_involved(agent, &task_id));
            }
            check_transition(entry, if is_rejection { TaskState::Rejected } else { to }, Actor::Worker)?;
            self.broker.check_size(bytes, status.encoded_len(), &base::ids::shortened(&task_id))?;
            if is_rejection { StatusEffect::Reject } else { StatusEffect::Report }
        };
        status.timestamp = Some(payload::timestamp(self.now_ms));
        Ok(CheckedStatus { agent: agent.to_owned(), task_id, status, effect, operation: Default::default() })
    }

    /// Applies a status, and returns the id of its event.
    fn apply_status(
        &mut self,
        checked: CheckedStatus,
        metadata: Option<prost_types::Struct>,
        routing: AgentEventMetadata,
        trace: crate::broker::command::TraceIds,
    ) -> String {
        let CheckedStatus { agent, task_id, mut status, effect, operation } = checked;
        match effect {
            StatusEffect::Cancel => {
                let before = self.batch.changes.len();
                self.cancel_as(&agent, &task_id, reason_of(&status));
                self.batch.changes.get(before).map_or(String::new(), |change| change.event_id.clone())
            }
            StatusEffect::Reject => {
                let reason = payload::rejection_reason(status.update.as_ref()).unwrap_or("UNSPECIFIED").to_owned();
                status.state = TaskState::Rejected as i32;
                self.reject_by(&agent, &task_id, &reason, status, operation)
            }
            StatusEffect::Report => {
                if self.broker.task(&task_id).is_some_and(|entry| entry.worker.is_none()) {
                    self.take(&task_id, &agent, 0, "");
                }
                let lease_until_ms =
                    self.broker.task(&task_id).map_or(0, |entry| self.lease_end(entry, status.state()));
                let resume_token = payload::text(metadata.as_ref(), "resume_token").unwrap_or_default().to_owned();
                let changed = ChangedStatus {
                    task_id: task_id.clone(),
                    status: Some(status),
                    metadata,
                    resume_token,
                    lease_until_ms,
                    dead_letter: false,
                    operation_id: operation.0,
                    operation_digest: operation.1,
                };
                let event_id = self.emit(routing, trace, ChangeKind::StatusChanged(changed));
                self.aggregate(&task_id);
                event_id
            }
        }
    }

    pub(super) fn put_artifact(&mut self, caller: &Caller, mut given: PutArtifact) -> Result<Reply, BrokerError> {
        sender(caller, &mut given.routing)?;
        let agent = given.routing.from_agent_id.clone();
        let update = &given.update;
        check_id("task_id", &update.task_id)?;
        let entry = self.broker.task(&update.task_id).ok_or_else(|| BrokerError::not_found("task", &update.task_id))?;
        check_length("hub-operation", &given.operation)?;
        let digest = Fingerprint::of("artifact")
            .message(update)
            .message(&given.routing)
            .text(given.lease.as_deref().unwrap_or_default())
            .end();
        if let Some(event_id) = entry.done(&given.operation, digest)? {
            let (event_id, task_id) = (event_id.to_owned(), update.task_id.clone());
            return Ok(Reply::Published(PublishReceipt { event_id, message_id: String::new(), task_id }));
        }
        let Some(artifact) = &update.artifact else { return Err(BrokerError::invalid("missing `artifact`")) };
        if artifact.artifact_id.is_empty() && update.append {
            return Err(BrokerError::invalid("missing `artifact_id`: parts are appended to a known artifact"));
        }
        let lease = given.lease.as_deref().filter(|lease| !lease.is_empty());
        check_lease(entry, &agent, lease)?;
        if is_final(entry.state()) {
            if lease.is_some() || !takes_late_result(entry, &agent) {
                let (id, state) = (base::ids::shortened(&update.task_id), payload::state_name(entry.state()));
                let text = format!("the task `{id}` is {state} and takes no more artifacts");
                return Err(BrokerError::new(ErrorKind::FailedPrecondition, text));
            }
        } else {
            check_holder(entry, &agent, lease)?;
        }
        self.check_artifact(entry, artifact, &mut ArtifactSizes::of(entry))?;
        let lease_until_ms = self.lease_end(entry, entry.state());
        let PutArtifact { update, routing, operation, trace, .. } = given;
        let changed = ChangedArtifact {
            task_id: update.task_id.clone(),
            artifact: update.artifact.map(|artifact| self.with_id(artifact)),
            append: update.append,
            last_chunk: update.last_chunk,
            metadata: update.metadata,
            lease_until_ms,
            operation_id: operation,
            operation_digest: digest,
        };
        let event_id = self.emit(routing, trace, ChangeKind::ArtifactChanged(changed));
        Ok(Reply::Published(PublishReceipt { event_id, message_id: String::new(), task_id: update.task_id }))
    }

    /// Checks the id and the size of an artifact, after others of the same request.
    fn check_artifact<'a>(
        &self,
        entry: &TaskEntry,
        artifact: &'a Artifact,
        sizes: &mut ArtifactSizes<'a>,
    ) -> Result<(), BrokerError> {
        let id = artifact.artifact_id.as_str();
        check_length("artifact_id", id)?;
        let known = &entry.task.artifacts;
        if id.is_empty() || !(known.iter().any(|known| known.artifact_id == id) || sizes.ids.contains(&id)) {
            sizes.ids.push(id);
            if known.len() + sizes.ids.len() > MOST_ARTIFACTS {
                return Err(BrokerError::limit(format!("too many artifacts: the limit is {MOST_ARTIFACTS}")));
            }
        }
        let length = artifact.encoded_len();
        self.broker.check_size(sizes.bytes, length, &base::ids::shortened(&entry.task.id))?;
        sizes.bytes += length;
        Ok(())
    }

    fn with_id(&mut self, mut artifact: Artifact) -> Artifact {
        if artifact.artifact_id.is_empty() {
            artifact.artifact_id = format!("artifact_{}", (self.ids)());
        }
        artifact
    }

    pub(super) fn finish(&mut self, caller: &Caller, finish: Finish) -> Result<Reply, BrokerError> {
        let mut routing = from(&finish.agent_id);
        sender(caller, &mut routing)?;
        check_id("task_id", &finish.task_id)?;
        check_length("hub-operation", &finish.operation)?;
        let Finish { task_id, lease, state, update, artifacts, operation, trace, .. } = finish;
        let agent = routing.from_agent_id.clone();
        use TaskState::{AuthRequired, Completed, Failed, InputRequired};
        if !matches!(state, Completed | Failed | InputRequired | AuthRequired) {
            let text = "invalid `state`: use COMPLETED, FAILED, INPUT_REQUIRED or AUTH_REQUIRED";
            return Err(BrokerError::invalid(text));
        }
        let message_id = update.as_ref().map_or(String::new(), |message| message.message_id.clone());
        check_length("message_id", &message_id)?;
        let digest = Fingerprint::of("finish")
            .text(&agent)
            .text(&task_id)
            .text(lease.as_deref().unwrap_or_default())
            .text(state.as_str_name())
            .messages(&update)
            .messages(&artifacts)
            .end();
        let entry = self.broker.task(&task_id).ok_or_else(|| BrokerError::not_found("task", &task_id))?;
        if self.repeated(&agent, &message_id, digest)?.is_some() || entry.done(&operation, digest)?.is_some() {
            return self.task_reply(&task_id);
        }
        if is_final(entry.state()) {
            check_lease(entry, &agent, lease.as_deref())?;
            return Err(transition(entry, state));
        }
        check_holder(entry, &agent, lease.as_deref())?;
        check_transition(entry, state, Actor::Worker)?;
        let mut sizes = ArtifactSizes::of(entry);
        for artifact in &artifacts {
            self.check_artifact(entry, artifact, &mut sizes)?;
        }
        let status = TaskStatus { state: state as i32, update, timestamp: None };
        let checked = self.check_status(entry, &agent, lease.as_deref(), status, sizes.bytes)?;
        let lease_until_ms = self.lease_end(entry, entry.state());
        for artifact in artifacts {
            let changed = ChangedArtifact {
                task_id: task_id.clone(),
                artifact: Some(self.with_id(artifact)),
                last_chunk: true,
                lease_until_ms,
                ..ChangedArtifact::default()
            };
            self.emit(routing.clone(), trace.clone(), ChangeKind::ArtifactChanged(changed));
        }
        let checked = CheckedStatus { operation: (operation, digest), ..checked };
        let event_id = self.apply_status(checked, None, routing, trace);
        if !message_id.is_empty() {
            self.keep(&agent, &PublishReceipt { event_id, message_id, task_id: task_id.clone() }, digest);
        }
        self.task_reply(&task_id)
    }
}

impl ArtifactSizes<'_> {
    fn of(entry: &TaskEntry) -> ArtifactSizes<'static> {
        ArtifactSizes { ids: Vec::new(), bytes: entry.bytes }
    }
}

/// Returns the text of a status.
fn reason_of(status: &TaskStatus) -> &str {
    status.update.as_ref().and_then(payload::first_text).unwrap_or_default()
}

/// Returns whether a completed task takes its result: agents of the published service complete a task first and publish
/// its artifact then. They know no leases. What a task has is never changed after its end.
fn takes_late_result(entry: &TaskEntry, agent: &str) -> bool {
    entry.state() == TaskState::Completed
        && entry.last_worker == agent
        && entry.lease_ms == 0
        && entry.task.artifacts.is_empty()
}

/// Returns whether any agent may take the task, or reject it, without a claim: it is competitive and waits.
fn may_take(entry: &TaskEntry, to: TaskState) -> bool {
    matches!(entry.assignment, Assignment::Queue(_))
        && entry.worker.is_none()
        && entry.state() == TaskState::Submitted
        && matches!(to, TaskState::Working | TaskState::Rejected | TaskState::Failed)
}
