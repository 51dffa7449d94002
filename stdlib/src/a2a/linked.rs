//! Links of the tasks of peers to local tasks, and what they record when a peer reports a change.
//!
//! Artifacts are stored before the record that completes a task. Records are written in their order, so a completed task
//! on the log has its artifacts there.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use a2a::Artifact;
use a2a::peer_task::{PeerContact, PeerTaskFacts, PeerTaskLink, PeerTaskState, UnavailableCause, artifact_record};
use eventlog::NewRecord;

use super::client::{ErrorKind, PeerError};

/// The maximum number of links that a run remembers. Others are read from the log again.
const MOST: usize = 10_000;

/// The links of a run, by the addresses of peers and the ids of their tasks.
#[derive(Default)]
pub(crate) struct KnownLinks(RefCell<HashMap<LinkKey, KnownLink>>);

/// The address of a peer's card and the id of the peer's task.
type LinkKey = (Arc<str>, Arc<str>);

#[derive(Clone)]
pub(crate) struct KnownLink {
    pub(crate) link: PeerTaskLink,
    /// The time of the last change that the peer reported.
    pub(crate) changed_at_ms: u64,
}

impl KnownLinks {
    pub(crate) fn get(&self, card: &Arc<str>, task_id: &Arc<str>) -> Option<KnownLink> {
        self.0.borrow().get(&(card.clone(), task_id.clone())).cloned()
    }

    pub(crate) fn put(&self, card: &Arc<str>, known: KnownLink) {
        let mut links = self.0.borrow_mut();
        let key = (card.clone(), known.link.remote_task_id.clone());
        if links.len() >= MOST && !links.contains_key(&key) {
            links.retain(|_, known| !known.link.state.is_finished());
        }
        if links.len() < MOST || links.contains_key(&key) {
            links.insert(key, known);
        }
    }
}

/// Applies facts to a link, and returns the records of the change. `artifacts` are all artifacts of the task, if they are
/// known. If one of them is too large for the log, the task stays unreconciled.
pub(crate) fn reported(
    link: &mut PeerTaskLink,
    is_new: bool,
    facts: PeerTaskFacts,
    artifacts: Option<&[Arc<Artifact>]>,
    now_ms: u64,
) -> Vec<NewRecord> {
    let mut records = Vec::new();
    let has_changed = link.apply(facts);
    if is_new || has_changed {
        records.push(link.to_record(is_new, now_ms));
    }
    let Some(artifacts) = artifacts.filter(|_| link.state == PeerTaskState::CompletedUnreconciled) else {
        return records;
    };
    let stored: Vec<NewRecord> = artifacts.iter().map(|artifact| artifact_record(link, artifact, now_ms)).collect();
    if stored.iter().all(|record| record.weight() <= NewRecord::MOST) {
        link.artifact_refs = artifacts.iter().map(|artifact| link.reference(artifact)).collect();
        link.apply(PeerTaskFacts { artifacts_stored: true, ..facts });
        records.extend(stored);
        records.push(link.to_record(false, now_ms));
    }
    records
}

/// Returns what the failure of a request says about the peer; `None` if the peer answered, or was not asked.
pub(crate) fn contact_of(error: &PeerError) -> Option<PeerContact> {
    match error.kind {
        ErrorKind::Refused => Some(PeerContact::Unavailable(UnavailableCause::Auth)),
        ErrorKind::Answer if error.rpc_code() == Some(TASK_NOT_FOUND) => Some(PeerContact::NotFound),
        ErrorKind::Connection
        | ErrorKind::Timeout
        | ErrorKind::NoCard
        | ErrorKind::NotAgent
        | ErrorKind::Moved
        | ErrorKind::Status
        | ErrorKind::BrokeOff => Some(PeerContact::Unavailable(UnavailableCause::Network)),
        ErrorKind::Address
        | ErrorKind::Deadline
        | ErrorKind::TooLarge
        | ErrorKind::NoVersion
        | ErrorKind::Extension
        | ErrorKind::Answer => None,
    }
}

/// The code of A2A for a task that the agent does not have.
const TASK_NOT_FOUND: i64 = -32001;
