//! Tasks of peers, linked to local tasks: both identities are kept, and neither replaces the other.
//!
//! [`decide`] is the only place that says what has become of a peer's task. It is a pure function of what is known:
//! the last state that the peer reported, whether the peer can be asked, and whether its artifacts are stored.

use std::collections::HashMap;
use std::sync::Arc;

use base::data::Data;
use base::words::words;
use eventlog::{NewRecord, Record};
use runtime::event_log::Topic;

use crate::{Artifact, TaskState, Version};

/// The time without any change after which a working task counts as idle, in milliseconds.
pub const IDLE_AFTER_MS: u64 = 600_000;

words! {
    /// The state of a linked task. The first six are unfinished; none of them is a failure.
    pub enum PeerTaskState {
        /// The peer works on it.
        Running = "running",
        /// The peer has it and does not work on it.
        Idle = "idle",
        /// The peer waits for input or authorization.
        Waiting = "waiting",
        /// The peer has completed it, and its artifacts are not stored here yet.
        CompletedUnreconciled = "completed_unreconciled",
        /// The peer has archived it or does not know it.
        Missing = "missing",
        /// The peer cannot be asked now.
        Unavailable = "unavailable",
        /// The peer has completed it, and its artifacts are stored.
        Completed = "completed",
        /// The peer failed or refused.
        Failed = "failed",
        /// It was cancelled at the peer.
        Cancelled = "cancelled",
    }
}

impl PeerTaskState {
    /// Returns whether nothing more becomes of the task.
    #[must_use]
    pub fn is_finished(self) -> bool {
        matches!(self, PeerTaskState::Completed | PeerTaskState::Failed | PeerTaskState::Cancelled)
    }
}

words! {
    /// The status of the local task, independent of the peer's protocol.
    pub enum LocalTaskStatus {
        /// It waits to be started.
        Queued = "queued",
        /// It is being worked on.
        Running = "running",
        /// It waits for input.
        WaitingInput = "waiting_input",
        /// It waits for an authorization.
        WaitingPermission = "waiting_permission",
        /// It is completed.
        Completed = "completed",
        /// It failed.
        Failed = "failed",
        /// It was cancelled.
        Cancelled = "cancelled",
        /// The peer no longer has it.
        Lost = "lost",
        /// Its status cannot be determined now.
        Unknown = "unknown",
    }
}

words! {
    /// The side that asked for a linked task.
    pub enum PeerTaskDirection {
        /// The task is at a peer, which was asked from here.
        Outgoing = "outgoing",
        /// A peer asked for the task, which runs here.
        Incoming = "incoming",
    }
}

words! {
    /// The reason why a peer cannot be asked.
    pub enum UnavailableCause {
        /// The peer refused the credentials.
        Auth = "auth",
        /// The peer could not be reached, or the connection ended early.
        Network = "network",
    }
}

/// The outcome of the last attempt to ask a peer about a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeerContact {
    /// The peer answered.
    Reached,
    /// The peer answered that it does not have the task.
    NotFound,
    /// The peer could not be asked.
    Unavailable(UnavailableCause),
}

/// The known facts about a peer's task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerTaskFacts {
    /// The last state that the peer reported.
    pub native: TaskState,
    /// The outcome of the last attempt to ask.
    pub contact: PeerContact,
    /// The time since the last change that the peer reported, in milliseconds.
    pub quiet_ms: u64,
    /// Whether all artifacts of the peer are stored here.
    pub artifacts_stored: bool,
}

/// Decides the state of a linked task. The end of a connection never completes a task: only the peer's own state does,
/// and only once its artifacts are stored.
#[must_use]
pub fn decide(facts: PeerTaskFacts) -> PeerTaskState {
    match (facts.native, facts.contact) {
        (TaskState::Failed | TaskState::Rejected, _) => PeerTaskState::Failed,
        (TaskState::Canceled, _) => PeerTaskState::Cancelled,
        (TaskState::Completed, _) if facts.artifacts_stored => PeerTaskState::Completed,
        (_, PeerContact::NotFound) => PeerTaskState::Missing,
        (TaskState::Completed, _) => PeerTaskState::CompletedUnreconciled,
        (_, PeerContact::Unavailable(_)) => PeerTaskState::Unavailable,
        (TaskState::InputRequired | TaskState::AuthRequired, PeerContact::Reached) => PeerTaskState::Waiting,
        (TaskState::Submitted | TaskState::Unknown, PeerContact::Reached) => PeerTaskState::Idle,
        (TaskState::Working, PeerContact::Reached) if facts.quiet_ms >= IDLE_AFTER_MS => PeerTaskState::Idle,
        (TaskState::Working, PeerContact::Reached) => PeerTaskState::Running,
    }
}

/// Returns the status of the local task for the state of a linked one.
#[must_use]
pub fn local_status(native: TaskState, state: PeerTaskState) -> LocalTaskStatus {
    match (state, native) {
        (PeerTaskState::Completed, _) => LocalTaskStatus::Completed,
        (PeerTaskState::Failed, _) => LocalTaskStatus::Failed,
        (PeerTaskState::Cancelled, _) => LocalTaskStatus::Cancelled,
        (PeerTaskState::Missing, _) => LocalTaskStatus::Lost,
        (PeerTaskState::Unavailable, _) | (PeerTaskState::Idle, TaskState::Unknown) => LocalTaskStatus::Unknown,
        (PeerTaskState::Waiting, TaskState::AuthRequired) => LocalTaskStatus::WaitingPermission,
        (PeerTaskState::Waiting, _) => LocalTaskStatus::WaitingInput,
        (PeerTaskState::Idle, TaskState::Submitted) => LocalTaskStatus::Queued,
        (PeerTaskState::Running | PeerTaskState::Idle | PeerTaskState::CompletedUnreconciled, _) => {
            LocalTaskStatus::Running
        }
    }
}

/// The link between a local task and a peer's task.
#[derive(Debug, Clone, PartialEq)]
pub struct PeerTaskLink {
    /// The id of the local task.
    pub task_id: Arc<str>,
    /// The local task that caused it, such as a tool call.
    pub parent_task_id: Option<Arc<str>>,
    /// The side that asked for it.
    pub direction: PeerTaskDirection,
    /// The session that it belongs to.
    pub session_id: Option<Arc<str>>,
    /// The channel over which the peer is connected.
    pub channel_id: Option<Arc<str>>,
    /// The id of the task at the peer.
    pub remote_task_id: Arc<str>,
    /// The id of the conversation at the peer.
    pub remote_context_id: Option<Arc<str>>,
    /// The address of the peer's card.
    pub agent_card_ref: Option<Arc<str>>,
    /// The last state that the peer reported.
    pub native_status: TaskState,
    /// The references of the artifacts that are stored here, in their order.
    pub artifact_refs: Vec<Arc<str>>,
    /// The state of the linked task.
    pub state: PeerTaskState,
    /// The reason why the peer cannot be asked, if it cannot.
    pub cause: Option<UnavailableCause>,
}

/// The kind of records that link tasks, without the topic.
pub const LINK: &str = "link";
/// The kind of records that hold the artifacts of linked tasks, without the topic.
pub const ARTIFACT: &str = "artifact";

impl PeerTaskLink {
    /// Returns the status of the local task.
    #[must_use]
    pub fn status(&self) -> LocalTaskStatus {
        local_status(self.native_status, self.state)
    }

    /// Applies facts, and returns whether the link has changed. A finished task does not change any more.
    pub fn apply(&mut self, facts: PeerTaskFacts) -> bool {
        if self.state.is_finished() {
            return false;
        }
        let state = decide(facts);
        let cause = match facts.contact {
            PeerContact::Unavailable(cause) if !state.is_finished() => Some(cause),
            _ => None,
        };
        let has_changed = (self.state, self.native_status, self.cause) != (state, facts.native, cause);
        (self.state, self.native_status, self.cause) = (state, facts.native, cause);
        has_changed
    }

    /// Returns the reference of an artifact of the task.
    #[must_use]
    pub fn reference(&self, artifact: &Artifact) -> Arc<str> {
        format!("artifact:{}/{}", self.task_id, artifact.artifact_id).into()
    }

    /// Returns the fields of its records.
    #[must_use]
    pub fn to_data(&self) -> Data {
        Data::dict_of_present([
            ("task_id", Data::from(&self.task_id)),
            ("parent_task_id", self.parent_task_id.as_ref().into()),
            ("direction", self.direction.as_str().into()),
            ("session_id", self.session_id.as_ref().into()),
            ("channel_id", self.channel_id.as_ref().into()),
            ("remote_task_id", (&self.remote_task_id).into()),
            ("remote_context_id", self.remote_context_id.as_ref().into()),
            ("agent_card_ref", self.agent_card_ref.as_ref().into()),
            ("native_status", self.native_status.as_str().into()),
            ("artifact_refs", self.artifact_refs.iter().map(Data::from).collect()),
            ("state", self.state.as_str().into()),
            ("status", self.status().as_str().into()),
            ("cause", self.cause.map(UnavailableCause::as_str).into()),
        ])
    }

    /// Reads the fields of a record.
    ///
    /// # Errors
    /// Describes the missing or invalid field, as the end of a sentence.
    pub fn from_data(data: &Data) -> Result<PeerTaskLink, String> {
        let text = |field: &str| data.get(field).as_shared_str();
        let needed = |field: &str| text(field).ok_or_else(|| format!("`{field}` is not a string"));
        let refs = data.get("artifact_refs").as_list().unwrap_or_default();
        Ok(PeerTaskLink {
            task_id: needed("task_id")?,
            parent_task_id: text("parent_task_id"),
            direction: needed("direction")?.parse().map_err(|_| "`direction` is unknown")?,
            session_id: text("session_id"),
            channel_id: text("channel_id"),
            remote_task_id: needed("remote_task_id")?,
            remote_context_id: text("remote_context_id"),
            agent_card_ref: text("agent_card_ref"),
            native_status: needed("native_status")?.parse().unwrap_or(TaskState::Unknown),
            artifact_refs: refs.iter().filter_map(Data::as_shared_str).collect(),
            state: needed("state")?.parse().map_err(|_| "`state` is unknown")?,
            cause: data.get("cause").as_str().and_then(|word| word.parse().ok()),
        })
    }

    /// Returns the record of the link, or of a change of it.
    #[must_use]
    pub fn to_record(&self, is_new: bool, now_ms: u64) -> NewRecord {
        let change = if is_new { "linked" } else { "updated" };
        NewRecord {
            topic: Topic::Channel.into(),
            kind: Topic::Channel.kind(LINK).into(),
            payload: self.to_data().with("change", change.into()).into(),
            headers: Data::Nil,
            occurred_at_ms: now_ms,
        }
    }
}

/// Returns the record that stores an artifact of a linked task.
#[must_use]
pub fn artifact_record(link: &PeerTaskLink, artifact: &Artifact, now_ms: u64) -> NewRecord {
    let payload = Data::dict_of_present([
        ("task_id", Data::from(&link.task_id)),
        ("session_id", link.session_id.as_ref().into()),
        ("reference", link.reference(artifact).into()),
        ("artifact", Version::V1_0.artifact(artifact)),
    ]);
    NewRecord {
        topic: Topic::Channel.into(),
        kind: Topic::Channel.kind(ARTIFACT).into(),
        payload: payload.into(),
        headers: Data::Nil,
        occurred_at_ms: now_ms,
    }
}

/// The links on a log, each as it is after its last record.
#[derive(Debug, Clone, Default)]
pub struct PeerTaskLinks {
    links: Vec<PeerTaskLink>,
    /// Their indexes, by the ids of local tasks.
    by_local: HashMap<Arc<str>, usize>,
}

impl PeerTaskLinks {
    /// Applies the next record of the log. Other records, and links that cannot be read, have no effect.
    pub fn take(&mut self, record: &Record) {
        if *record.topic != *Topic::Channel.as_str() || Topic::Channel.word_of(&record.kind) != Some(LINK) {
            return;
        }
        let Ok(link) = PeerTaskLink::from_data(&record.payload) else { return };
        match self.by_local.get(&link.task_id).and_then(|index| self.links.get_mut(*index)) {
            Some(known) => *known = link,
            None => {
                self.by_local.insert(link.task_id.clone(), self.links.len());
                self.links.push(link);
            }
        }
    }

    /// Returns the links, in the order of their first record.
    #[must_use]
    pub fn all(&self) -> &[PeerTaskLink] {
        &self.links
    }

    /// Keeps only the links that are wanted.
    pub fn retain(&mut self, is_wanted: impl FnMut(&PeerTaskLink) -> bool) {
        self.links.retain(is_wanted);
        self.by_local = self.links.iter().enumerate().map(|(index, link)| (link.task_id.clone(), index)).collect();
    }

    /// Returns the link to a peer's task.
    #[must_use]
    pub fn of_remote(&self, agent_card_ref: Option<&str>, remote_task_id: &str) -> Option<&PeerTaskLink> {
        let is_it = |link: &&PeerTaskLink| {
            link.direction == PeerTaskDirection::Outgoing
                && link.agent_card_ref.as_deref() == agent_card_ref
                && *link.remote_task_id == *remote_task_id
        };
        self.links.iter().rev().find(is_it)
    }

    /// Returns the unfinished links, which a process that starts must reconcile with their peers.
    pub fn unfinished(&self) -> impl Iterator<Item = &PeerTaskLink> {
        self.links.iter().filter(|link| !link.state.is_finished())
    }
}

#[cfg(test)]
mod tests;
