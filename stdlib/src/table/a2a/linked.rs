//! [`LinkedTask`]: links the task of a peer to a local task, on the event log of the run.

use super::message::fresh;
use crate::a2a::client::{Event, Peer, PeerError};
use crate::a2a::linked::{KnownLink, contact_of, reported};
use crate::here;
use crate::log::read_log;
use crate::world::World;
use a2a::peer_task::{PeerContact, PeerTaskDirection, PeerTaskFacts, PeerTaskLink, PeerTaskLinks, PeerTaskState};
use a2a::{Artifact, Frame, TaskState};
use base::clock::Clock;
use eventlog::{NewRecord, RecordFilter};
use lang::vm::{Cx, Raise};
use runtime::event_log::Topic;
use std::rc::Rc;
use std::sync::Arc;

/// The number of records that are read at a time.
const PAGE: usize = 1_024;

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
