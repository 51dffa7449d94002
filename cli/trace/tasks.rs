//! [`HubTasks`]: the tasks of a hub, rebuilt from the records of the topic `hub.change`.
//!
//! - `text`: the tasks as text; `table`: as a table of the HTML page.

use std::collections::{BTreeMap, HashMap};

use base::data::Data;
use eventlog::Record;
use hub::broker::change::{
    Change, ChangeKind, ChangedStatus, CheckpointPart, ClaimedBy, RequeuedTask, SavedTask, SubmittedTask,
};
use hub::broker::task::is_final;
use hub::broker::{first_text, state_name};
use hub::proto::a2a::TaskState;
use hub::proto::agenthub::{AgentEventMetadata, Priority};
use hub::store::changes_of;
use runtime::event_log::Topic;
use runtime::lifecycle::rebuild::RebuildNote;

mod table;
mod text;

pub(super) use table::table;
pub(super) use text::{tasks, unfinished};

/// The tasks of a hub, in the order of submission.
#[derive(Default)]
pub(super) struct HubTasks {
    tasks: Vec<TaskLife>,
    /// The index of each task that the hub keeps.
    by_id: HashMap<String, usize>,
    /// Whether the log was compacted and its first complete checkpoint has not ended yet: changes of tasks that follow
    /// with it are skipped.
    is_partial: bool,
    /// Whether any record was taken.
    has_begun: bool,
    /// Time of the checkpoint with which a compacted log begins.
    compacted_ms: Option<u64>,
    /// Records that could not be read or do not fit.
    notes: Vec<RebuildNote>,
}

/// The destination of a task.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Destination {
    Queue(String),
    Inbox(String),
    Copies,
}

/// The life of a task.
struct TaskLife {
    number: u64,
    id: String,
    context_id: String,
    parent_id: String,
    from: String,
    destination: Destination,
    kind: String,
    priority: String,
    deadline_ms: Option<u64>,
    max_attempts: u32,
    trace_id: String,
    span_id: String,
    submitted_ms: u64,
    state: TaskState,
    /// The text of the last status.
    status_text: String,
    resume_token: String,
    attempts: Vec<Attempt>,
    rejections: Vec<Rejection>,
    dead_letter: bool,
    finished_ms: Option<u64>,
    forgotten_ms: Option<u64>,
    /// Number of earlier attempts whose records were removed.
    removed_attempts: u32,
}

/// A worker's attempt.
struct Attempt {
    number: u32,
    worker: String,
    claimed_ms: u64,
    /// The lease; `None` if the attempt does not end by time.
    lease: Option<Lease>,
    end: Option<AttemptEnd>,
}

/// The lease of an attempt.
struct Lease {
    ms: u64,
    until_ms: u64,
    renewals: u32,
}

/// The end of an attempt.
struct AttemptEnd {
    at_ms: u64,
    /// A final state, `rejected` or `requeued`.
    how: String,
    /// The agent that ended it, or `hub`.
    by: String,
    reason: String,
}

/// The refusal of a task by an agent.
struct Rejection {
    agent: String,
    reason: String,
    at_ms: u64,
}

impl HubTasks {
    /// Applies the next record of the log. Records of other topics are skipped.
    pub(super) fn take(&mut self, record: &Record) {
        if record.topic.as_ref() != Topic::Hub.as_str() {
            return;
        }
        let Some(batch) = changes_of(record) else {
            let message = "the record is not a batch of a hub's changes".to_owned();
            self.notes.push(RebuildNote { cursor: record.cursor, session_id: None, message });
            return;
        };
        if !std::mem::replace(&mut self.has_begun, true) {
            self.is_partial = !batch.is_first();
        }
        if let Some(part) = &batch.checkpoint {
            self.restore(part);
        }
        for change in &batch.changes {
            if let Err(message) = self.apply(change)
                && !self.is_partial
            {
                self.notes.push(RebuildNote { cursor: record.cursor, session_id: None, message });
            }
        }
    }

    /// Moves the notes out.
    pub(super) fn take_notes(&mut self) -> Vec<RebuildNote> {
        std::mem::take(&mut self.notes)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Returns the tasks for a JSON document.
    pub(super) fn to_data(&self) -> Data {
        self.tasks.iter().map(TaskLife::to_data).collect()
    }

    /// Returns the number of tasks in each state.
    fn states(&self) -> BTreeMap<i32, usize> {
        let mut states = BTreeMap::new();
        for task in &self.tasks {
            *states.entry(task.state as i32).or_default() += 1;
        }
        states
    }

    /// Returns the queues and inboxes with unfinished tasks: the number that wait and the number that a worker holds.
    fn queues(&self) -> BTreeMap<&Destination, (usize, usize)> {
        let mut queues = BTreeMap::new();
        for task in self.tasks.iter().filter(|task| !task.is_over() && task.destination != Destination::Copies) {
            let counts: &mut (usize, usize) = queues.entry(&task.destination).or_default();
            if task.held().is_some() { counts.1 += 1 } else { counts.0 += 1 }
        }
        queues
    }

    fn task(&mut self, id: &str) -> Result<&mut TaskLife, String> {
        let found = self.by_id.get(id).and_then(|place| self.tasks.get_mut(*place));
        found.ok_or_else(|| format!("the task `{id}` was not submitted in this log"))
    }

    /// Adds the tasks of a checkpoint whose earlier records were removed.
    fn restore(&mut self, part: &CheckpointPart) {
        for saved in &part.tasks {
            let task = TaskLife::saved(saved);
            if !self.by_id.contains_key(&task.id) {
                self.by_id.insert(task.id.clone(), self.tasks.len());
                self.tasks.push(task);
            }
        }
        if part.end.is_some() && std::mem::take(&mut self.is_partial) {
            self.compacted_ms = Some(part.at_ms);
            // Tasks that were submitted during the checkpoint are before older ones.
            self.tasks.sort_by_key(|task| task.number);
            self.by_id = self.tasks.iter().enumerate().map(|(place, task)| (task.id.clone(), place)).collect();
        }
    }

    fn apply(&mut self, change: &Change) -> Result<(), String> {
        let at_ms = change.at_ms;
        let by = change.routing.as_ref().map_or("", |routing| routing.from_agent_id.as_str());
        match &change.kind {
            Some(ChangeKind::TaskSubmitted(submitted)) => {
                let task = TaskLife::of(change, submitted);
                self.by_id.insert(task.id.clone(), self.tasks.len());
                self.tasks.push(task);
            }
            Some(ChangeKind::StatusChanged(changed)) => self.task(&changed.task_id)?.status_changed(changed, by, at_ms),
            Some(ChangeKind::ArtifactChanged(changed)) => {
                self.task(&changed.task_id)?.extend_lease(changed.lease_until_ms, None);
            }
            Some(ChangeKind::TaskClaimed(claimed)) => self.task(&claimed.task_id)?.claimed(claimed, at_ms),
            Some(ChangeKind::LeaseRenewed(renewed)) => {
                self.task(&renewed.task_id)?.extend_lease(renewed.lease_until_ms, Some(renewed.lease_ms));
            }
            Some(ChangeKind::TaskRequeued(requeued)) => self.task(&requeued.task_id)?.requeued(requeued, by, at_ms),
            Some(ChangeKind::TasksForgotten(ids)) => {
                for id in &ids.task_ids {
                    self.task(id)?.forgotten_ms = Some(at_ms);
                    self.by_id.remove(id);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl TaskLife {
    fn of(change: &Change, submitted: &SubmittedTask) -> TaskLife {
        let task = submitted.task.clone().unwrap_or_default();
        let routing = change.routing.clone().unwrap_or_default();
        let destination = match (submitted.target.is_empty(), submitted.queue.is_empty()) {
            (false, _) => Destination::Inbox(submitted.target.clone()),
            (true, false) => Destination::Queue(submitted.queue.clone()),
            (true, true) => Destination::Copies,
        };
        TaskLife {
            number: change.number,
            state: task.status.as_ref().map_or(TaskState::Submitted, hub::proto::a2a::TaskStatus::state),
            id: task.id,
            context_id: task.context_id,
            parent_id: submitted.parent.clone(),
            priority: priority(&routing),
            from: routing.from_agent_id,
            destination,
            kind: routing.event_type,
            deadline_ms: Some(submitted.deadline_ms).filter(|at_ms| *at_ms > 0),
            max_attempts: submitted.max_attempts.max(1),
            trace_id: change.trace_id.clone(),
            span_id: change.span_id.clone(),
            submitted_ms: change.at_ms,
            status_text: String::new(),
            resume_token: String::new(),
            attempts: Vec::new(),
            rejections: Vec::new(),
            dead_letter: false,
            finished_ms: None,
            forgotten_ms: None,
            removed_attempts: 0,
        }
    }

    /// Returns a task of a checkpoint. Of its attempts, only the one in progress is known.
    fn saved(saved: &SavedTask) -> TaskLife {
        let change = Change {
            number: saved.number,
            at_ms: saved.submitted_ms,
            routing: saved.routing.clone(),
            trace_id: saved.trace_id.clone(),
            span_id: saved.span_id.clone(),
            ..Change::default()
        };
        let submitted = saved.submitted.clone().unwrap_or_default();
        let mut task = TaskLife::of(&change, &submitted);
        let update = submitted.task.and_then(|task| task.status).and_then(|status| status.update);
        if task.state != TaskState::Submitted {
            task.status_text = update.as_ref().and_then(first_text).unwrap_or_default().to_owned();
        }
        task.resume_token.clone_from(&saved.resume_token);
        task.dead_letter = saved.dead_letter;
        task.finished_ms = Some(saved.finished_ms).filter(|at_ms| *at_ms > 0);
        task.removed_attempts = saved.attempt;
        if let Some(claim) = saved.claim.as_ref().filter(|_| saved.held) {
            task.removed_attempts = saved.attempt.saturating_sub(1);
            task.claimed(claim, saved.claimed_ms);
        }
        task.rejections = (saved.rejections.iter())
            .map(|rejection| Rejection {
                agent: rejection.agent_id.clone(),
                reason: rejection.reason.clone(),
                at_ms: rejection.at_ms,
            })
            .collect();
        task
    }

    /// Returns whether the state is final.
    fn is_over(&self) -> bool {
        is_final(self.state)
    }

    /// Returns the attempt that has not ended.
    fn held(&self) -> Option<&Attempt> {
        self.attempts.last().filter(|attempt| attempt.end.is_none())
    }

    fn open_attempt(&mut self) -> Option<&mut Attempt> {
        self.attempts.last_mut().filter(|attempt| attempt.end.is_none())
    }

    fn claimed(&mut self, claimed: &ClaimedBy, at_ms: u64) {
        let lease = Lease { ms: claimed.lease_ms, until_ms: claimed.lease_until_ms, renewals: 0 };
        self.attempts.push(Attempt {
            number: claimed.attempt,
            worker: claimed.agent_id.clone(),
            claimed_ms: at_ms,
            lease: Some(lease).filter(|lease| lease.until_ms > 0),
            end: None,
        });
    }

    /// Sets the end of the lease, as the hub does with every report of a worker.
    fn extend_lease(&mut self, until_ms: u64, ms: Option<u64>) {
        let Some(attempt) = self.open_attempt() else { return };
        match &mut attempt.lease {
            _ if until_ms == 0 => attempt.lease = None,
            Some(lease) => {
                lease.renewals += 1;
                lease.until_ms = until_ms;
                lease.ms = ms.unwrap_or(lease.ms);
            }
            None => {
                let ms = ms.unwrap_or_else(|| until_ms.saturating_sub(attempt.claimed_ms));
                attempt.lease = Some(Lease { ms, until_ms, renewals: 0 });
            }
        }
    }

    fn status_changed(&mut self, changed: &ChangedStatus, by: &str, at_ms: u64) {
        let status = changed.status.clone().unwrap_or_default();
        self.state = status.state();
        self.status_text = status.update.as_ref().and_then(first_text).unwrap_or_default().to_owned();
        if !changed.resume_token.is_empty() {
            self.resume_token.clone_from(&changed.resume_token);
        }
        if !self.is_over() {
            self.extend_lease(changed.lease_until_ms, None);
            return;
        }
        self.dead_letter = changed.dead_letter;
        self.finished_ms = Some(at_ms);
        let (how, reason) = (word(self.state), self.status_text.clone());
        if let Some(attempt) = self.open_attempt() {
            attempt.end = Some(AttemptEnd { at_ms, how, by: by.to_owned(), reason });
        }
    }

    fn requeued(&mut self, requeued: &RequeuedTask, by: &str, at_ms: u64) {
        self.state = TaskState::Submitted;
        self.status_text.clear();
        let reason = &requeued.reason;
        let how = if requeued.rejected { "rejected" } else { "requeued" }.to_owned();
        if let Some(attempt) = self.open_attempt() {
            attempt.end = Some(AttemptEnd { at_ms, how, by: by.to_owned(), reason: reason.clone() });
        }
        if requeued.rejected {
            self.rejections.push(Rejection { agent: requeued.agent_id.clone(), reason: reason.clone(), at_ms });
        }
    }

    fn to_data(&self) -> Data {
        let (to, queue) = match &self.destination {
            Destination::Inbox(agent) => (Some(agent), None),
            Destination::Queue(queue) => (None, Some(queue)),
            Destination::Copies => (None, None),
        };
        Data::dict([
            ("task_id", Data::from(self.id.as_str())),
            ("context_id", self.context_id.as_str().into()),
            ("parent_task_id", present(&self.parent_id)),
            ("from", self.from.as_str().into()),
            ("to", to.map(String::as_str).into()),
            ("queue", queue.map(String::as_str).into()),
            ("broadcast", (self.destination == Destination::Copies).into()),
            ("type", self.kind.as_str().into()),
            ("priority", self.priority.as_str().into()),
            ("state", word(self.state).into()),
            ("status_text", present(&self.status_text)),
            ("resume_token", present(&self.resume_token)),
            ("dead_letter", self.dead_letter.into()),
            ("submitted_ms", self.submitted_ms.into()),
            ("finished_ms", self.finished_ms.into()),
            ("forgotten_ms", self.forgotten_ms.into()),
            ("deadline_ms", self.deadline_ms.into()),
            ("max_attempts", self.max_attempts.into()),
            ("removed_attempts", self.removed_attempts.into()),
            ("trace_id", present(&self.trace_id)),
            ("span_id", present(&self.span_id)),
            ("attempts", self.attempts.iter().map(Attempt::to_data).collect()),
            ("rejections", self.rejections.iter().map(Rejection::to_data).collect()),
        ])
    }
}

impl Attempt {
    fn to_data(&self) -> Data {
        let lease = self.lease.as_ref();
        Data::dict([
            ("attempt", Data::from(self.number)),
            ("worker", self.worker.as_str().into()),
            ("claimed_ms", self.claimed_ms.into()),
            ("lease_ms", lease.map(|lease| lease.ms).into()),
            ("lease_until_ms", lease.map(|lease| lease.until_ms).into()),
            ("renewals", lease.map_or(0, |lease| lease.renewals).into()),
            ("end", self.end.as_ref().map(AttemptEnd::to_data).into()),
        ])
    }
}

impl AttemptEnd {
    fn to_data(&self) -> Data {
        Data::dict([
            ("how", Data::from(self.how.as_str())),
            ("by", self.by.as_str().into()),
            ("reason", present(&self.reason)),
            ("at_ms", self.at_ms.into()),
        ])
    }
}

impl Rejection {
    fn to_data(&self) -> Data {
        let at_ms = self.at_ms.into();
        Data::dict([
            ("agent", Data::from(self.agent.as_str())),
            ("reason", self.reason.as_str().into()),
            ("at_ms", at_ms),
        ])
    }
}

/// Returns a text, or nil for an empty one.
fn present(text: &str) -> Data {
    Some(text).filter(|text| !text.is_empty()).into()
}

/// Returns the name of a state, such as `working`.
fn word(state: TaskState) -> String {
    state_name(state).to_ascii_lowercase()
}

fn priority(routing: &AgentEventMetadata) -> String {
    match routing.priority() {
        Priority::Unspecified => "medium".to_owned(),
        other => other.as_str_name().trim_start_matches("PRIORITY_").to_ascii_lowercase(),
    }
}
