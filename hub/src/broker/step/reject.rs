//! Rejections.

use crate::broker::change::{ChangeKind, ChangedStatus, RequeuedTask};
use crate::broker::command::{Caller, Reject, Reply};
use crate::broker::error::BrokerError;
use crate::broker::fingerprint::Fingerprint;
use crate::broker::payload;
use crate::broker::task::{Actor, Assignment, TaskEntry};
use crate::proto::a2a::{Message, TaskState, TaskStatus};
use crate::proto::worker::RejectionReason;

use super::work::{MOST_TEXT, check_lease, held_by_other};
use super::{Step, act_as, check_id, check_length, check_transition, from, not_involved};

impl Step<'_> {
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
        let digest = Fingerprint::of("reject")
            .text(&reject.agent_id)
            .text(reject.lease.as_deref().unwrap_or_default())
            .text(reject.reason.as_str_name())
            .text(&reject.text)
            .end();
        if let Some(entry) = self.broker.task(&reject.task_id)
            && entry.done(&reject.operation, digest)?.is_some()
        {
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
        self.reject_by(agent, &reject.task_id, reason, status, (reject.operation.clone(), digest));
        self.task_reply(&reject.task_id)
    }

    /// Rejects a task on behalf of an agent: a competitive one goes to the next candidate. Returns the id of the event.
    pub(super) fn reject_by(
        &mut self,
        agent: &str,
        task_id: &str,
        reason: &str,
        status: TaskStatus,
        (operation_id, operation_digest): (String, u64),
    ) -> String {
        self.broker.counters.rejected += 1;
        let Some(entry) = self.broker.task(task_id) else { return String::new() };
        let trace = entry.trace.clone();
        if !matches!(entry.assignment, Assignment::Queue(_)) {
            let task = task_id.to_owned();
            let changed = ChangedStatus {
                task_id: task,
                status: Some(status),
                operation_id,
                operation_digest,
                ..ChangedStatus::default()
            };
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
            operation_digest,
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
            .map(|rejection| format!("{}: {}", rejection.agent_id, base::ids::shortened(&rejection.reason)))
            .collect();
        let last = entry.rejections.last().map_or("", |rejection| rejection.reason.as_str());
        // The reason is the enum of the wire, without the text after it.
        let reason = last.split_once(':').map_or(last, |(reason, _)| reason);
        let data = payload::metadata([("rejection_reason", payload::string(reason))]);
        let text = format!("rejected by every candidate: {}", reasons.join("; "));
        self.broker_status(task_id, TaskState::Rejected, text, Some(data), false);
    }
}

/// Returns whether an agent can reject a task: it is the receiver, or a candidate that has not rejected it before.
pub(super) fn may_reject(entry: &TaskEntry, agent: &str) -> bool {
    match &entry.assignment {
        Assignment::Inbox(target) => target == agent,
        Assignment::Queue(_) => !entry.rejections.iter().any(|rejection| rejection.agent_id == agent),
        Assignment::Copies => false,
    }
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
