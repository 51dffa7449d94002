//! [`LinkedTask`]: links the task of a peer to a local task, on the event log of the run.
//!
//! Artifacts are stored before the record that completes a task. Records are written in their order, so a completed task
//! on the log has its artifacts there.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use a2a::peer_task::{
    PeerContact, PeerTaskDirection, PeerTaskFacts, PeerTaskLink, PeerTaskLinks, PeerTaskState, UnavailableCause,
    artifact_record,
};
use a2a::{Artifact, Frame, TaskState};
use base::clock::Clock;
use eventlog::{NewRecord, RecordFilter};
use lang::vm::{Cx, Raise};
use runtime::event_log::Topic;

use super::client::{ErrorKind, Event, Peer, PeerError};
use crate::here;
use crate::log::read_log;
use crate::table::a2a::message::fresh;
use crate::world::World;

/// The maximum number of links that a run remembers. Others are read from the log again.
const MOST: usize = 10_000;

/// The number of records that are read at a time.
const PAGE: usize = 1_024;

/// The links of a run, by the addresses of peers and the ids of their tasks.
#[derive(Default)]
pub(crate) struct KnownLinks(RefCell<HashMap<LinkKey, KnownLink>>);

/// The address of a peer's card and the id of the peer's task.
type LinkKey = (Arc<str>, Arc<str>);

#[derive(Clone)]
struct KnownLink {
    link: PeerTaskLink,
    /// The time of the last change that the peer reported.
    changed_at_ms: u64,
}

impl KnownLinks {
    fn get(&self, card: &Arc<str>, task_id: &Arc<str>) -> Option<KnownLink> {
        self.0.borrow().get(&(card.clone(), task_id.clone())).cloned()
    }

    fn put(&self, card: &Arc<str>, known: KnownLink) {
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

/// The local side of the calls about one task of a peer.
pub(crate) struct LinkedTask {
    world: Rc<World>,
    /// The local task that calls.
    parent: Option<Arc<str>>,
    session_id: Option<Arc<str>>,
    /// The address of the peer, once its card has been read.
    card: Option<Arc<str>>,
    /// The id of the peer's task, once it is known.
    remote_task_id: Option<Arc<str>>,
    /// The artifacts of the peer, as far as they were reported.
    artifacts: Vec<Arc<Artifact>>,
    /// Whether `artifacts` are all that the task had when they were reported.
    has_all_artifacts: bool,
    /// Whether the call joins a task that exists, whose earlier artifacts it may not have seen.
    joins: bool,
}

impl LinkedTask {
    /// Prepares the link of a call. Nothing is recorded before the peer has named a task.
    pub(crate) fn new(cx: &Cx<'_>, world: &Rc<World>) -> LinkedTask {
        let hosting = world.hosting.as_ref();
        let of_call = here::scope(cx, world).caller.task_id;
        let session = here::session(cx).or_else(|| world.current_session());
        let session_id = hosting.map(|hosting| hosting.session_id.clone()).or(session.map(|it| it.id().clone()));
        LinkedTask {
            world: world.clone(),
            parent: of_call.or_else(|| hosting.and_then(|hosting| hosting.task_id())),
            session_id,
            card: None,
            remote_task_id: None,
            artifacts: Vec::new(),
            has_all_artifacts: false,
            joins: false,
        }
    }

    /// Names the peer, and the task if the call is about a known one. A task of an earlier run is found on the log, so
    /// that it keeps its local id.
    ///
    /// # Errors
    /// The log cannot be read.
    pub(crate) async fn with(&mut self, peer: &Peer, task_id: Option<&Arc<str>>) -> Result<(), Box<Raise>> {
        let card: Arc<str> = peer.address().into();
        self.card = Some(card.clone());
        let Some(task_id) = task_id else { return Ok(()) };
        (self.remote_task_id, self.joins) = (Some(task_id.clone()), true);
        let links = &self.world.services.peers.links;
        if links.get(&card, task_id).is_some() {
            return Ok(());
        }
        let (reader, wanted) = (self.world.observers.log.reader(), (card.clone(), task_id.clone()));
        let find = move |log: &eventlog::LogReader| {
            let (mut links, mut changed_at_ms) = (PeerTaskLinks::default(), 0);
            let mut filter = RecordFilter {
                kind_prefix: Some(Topic::Channel.kind(a2a::peer_task::LINK).into()),
                ..RecordFilter::topic(Topic::Channel)
            };
            loop {
                let page = log.read(&filter, PAGE)?;
                for record in &page {
                    if record.payload.get("remote_task_id").as_str() == Some(&*wanted.1) {
                        links.take(record);
                        changed_at_ms = record.occurred_at_ms;
                    }
                }
                match page.last() {
                    Some(last) if page.len() == PAGE => filter.after = last.cursor,
                    _ => break,
                }
            }
            Ok(links.of_remote(Some(&wanted.0), &wanted.1).cloned().map(|link| KnownLink { link, changed_at_ms }))
        };
        if let Some(known) = read_log(&self.world, reader, find).await? {
            links.put(&card, known);
        }
        Ok(())
    }

    /// Takes a frame of the peer.
    pub(crate) fn take(&mut self, frame: &Frame) {
        match frame {
            Frame::Task(task) => {
                self.artifacts.clone_from(&task.artifacts);
                self.has_all_artifacts = true;
                self.report(&task.id, Some(&task.context_id), Some(task.status.state));
            }
            Frame::Status(update) => {
                self.report(&update.task_id, Some(&update.context_id), Some(update.status.state));
            }
            Frame::Artifact(update) => {
                self.extend(&update.artifact, update.append);
                self.report(&update.task_id, Some(&update.context_id), None);
            }
            // An answer without a task links nothing: it is not a durable output.
            Frame::Message(_) => {}
        }
    }

    /// Takes the next event of a stream.
    pub(crate) fn take_event(&mut self, event: &Result<Option<Event>, PeerError>) {
        match event {
            Ok(Some(Event::Frame(frame))) => self.take(frame),
            Ok(_) => {}
            Err(error) => self.failed(error),
        }
    }

    /// Takes the failure of a call: what it says about the task, if that is known.
    pub(crate) fn failed(&self, error: &PeerError) {
        let Some(contact) = contact_of(error) else { return };
        let Some((card, task_id)) = self.card.as_ref().zip(self.remote_task_id.as_ref()) else { return };
        let Some(KnownLink { mut link, changed_at_ms }) = self.world.services.peers.links.get(card, task_id) else {
            return;
        };
        let native = link.native_status;
        let facts = PeerTaskFacts { native, contact, quiet_ms: 0, artifacts_stored: false };
        let records = reported(&mut link, false, facts, None, self.now_ms());
        if !records.is_empty() {
            records.into_iter().for_each(|record| self.record(record));
            self.world.services.peers.links.put(card, KnownLink { link, changed_at_ms });
        }
    }

    /// Adds a reported artifact, or more of it.
    fn extend(&mut self, artifact: &Arc<Artifact>, append: bool) {
        let known = self.artifacts.iter_mut().find(|known| known.artifact_id == artifact.artifact_id);
        match known {
            Some(known) if append => Arc::make_mut(known).parts.extend(artifact.parts.iter().cloned()),
            Some(known) => *known = artifact.clone(),
            None => self.artifacts.push(artifact.clone()),
        }
    }

    /// Records what the peer reported of its task.
    fn report(&mut self, task_id: &Arc<str>, context_id: Option<&Arc<str>>, state: Option<TaskState>) {
        let Some(card) = self.card.clone() else { return };
        self.remote_task_id = Some(task_id.clone());
        let now = self.now_ms();
        let known = self.world.services.peers.links.get(&card, task_id);
        let is_new = known.is_none();
        self.has_all_artifacts |= is_new && !self.joins;
        let KnownLink { mut link, mut changed_at_ms } =
            known.unwrap_or_else(|| KnownLink { link: self.new_link(&card, task_id, context_id), changed_at_ms: now });
        if link.state.is_finished() {
            return;
        }
        let native = state.unwrap_or(link.native_status);
        if native != link.native_status || state.is_none() {
            changed_at_ms = now;
        }
        let quiet_ms = now.saturating_sub(changed_at_ms);
        let facts = PeerTaskFacts { native, contact: PeerContact::Reached, quiet_ms, artifacts_stored: false };
        let artifacts = self.has_all_artifacts.then_some(&*self.artifacts);
        reported(&mut link, is_new, facts, artifacts, now).into_iter().for_each(|record| self.record(record));
        self.world.services.peers.links.put(&card, KnownLink { link, changed_at_ms });
    }

    fn new_link(&self, card: &Arc<str>, task_id: &Arc<str>, context_id: Option<&Arc<str>>) -> PeerTaskLink {
        PeerTaskLink {
            task_id: fresh("ptask").into(),
            parent_task_id: self.parent.clone(),
            direction: PeerTaskDirection::Outgoing,
            session_id: self.session_id.clone(),
            channel_id: None,
            remote_task_id: task_id.clone(),
            remote_context_id: context_id.cloned(),
            agent_card_ref: Some(card.clone()),
            native_status: TaskState::Unknown,
            artifact_refs: Vec::new(),
            state: PeerTaskState::Idle,
            cause: None,
        }
    }

    fn record(&self, record: NewRecord) {
        self.world.observers.log.append(record);
    }

    fn now_ms(&self) -> u64 {
        self.world.clock.now_ms()
    }
}

/// Applies facts to a link, and returns the records of the change. `artifacts` are all artifacts of the task, if they are
/// known. If one of them is too large for the log, the task stays unreconciled.
pub(super) fn reported(
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
pub(super) fn contact_of(error: &PeerError) -> Option<PeerContact> {
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
