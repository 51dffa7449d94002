//! [`IncomingTasks`]: the tasks that peer agents have begun here, each linked to a local task.
//!
//! The link is a record beside those of the task itself: it appears when the task is created, and again whenever the
//! state changes. So the boundary to the peer stays visible: the id that the peer knows is never the local id.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use a2a::peer_task::{PeerContact, PeerTaskDirection, PeerTaskFacts, PeerTaskLink, PeerTaskState};
use a2a::{ListTasks, Message, Task, TaskPage, TaskState};
use base::data::Data;
use base::failures::{FailedOperation, report};
use eventlog::{DurableFuture, NewRecord, RUN_ID, Ticket};

use super::core::ChannelCore;
use super::daemon::ChannelDaemon;
use super::{Caller, ChannelScope};
use crate::a2a::store::TaskStore;
use crate::a2a::tasks::{RestoredTask, TaskChange, TaskFilter, TaskJournal, TaskPosition};
use crate::a2a::{ContextSession, Refusal, SessionTasks, TaskManager, TaskViewer, now_ms, session_of_account};
use crate::host::{PermissionQuestion, Verdict, Waiting};
use crate::store::StoreError;

/// The tasks that peer agents have begun here.
pub(crate) struct IncomingTasks {
    core: Arc<ChannelCore>,
    /// The tasks of sessions, which get the events of the sessions.
    pub(super) sessions: Arc<SessionTasks>,
    /// The unfinished tasks, by the ids that peers know.
    open: Mutex<HashMap<Arc<str>, IncomingTask>>,
}

struct IncomingTask {
    link: PeerTaskLink,
    /// The channel that sent the last message.
    speaker: Option<Arc<str>>,
}

impl IncomingTasks {
    /// Reads the unfinished tasks of earlier processes from the state of the log.
    pub(super) fn new(core: Arc<ChannelCore>) -> Arc<IncomingTasks> {
        let links = core.unfinished_links().into_iter();
        let incoming = links.filter(|link| link.direction == PeerTaskDirection::Incoming);
        let open = incoming.map(|link| {
            let speaker = link.channel_id.clone();
            (link.remote_task_id.clone(), IncomingTask { link, speaker })
        });
        let open = Mutex::new(open.collect());
        Arc::new(IncomingTasks { core, sessions: Arc::default(), open })
    }

    /// Locks the tasks. Every operation leaves them consistent.
    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, IncomingTask>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the peer whose task a session runs, if its channel may answer, and returns the channel with the answer.
    pub(super) fn permit(&self, question: &PermissionQuestion) -> Option<(Arc<Caller>, Waiting<Verdict>)> {
        let task_id = self.sessions.task_of(&question.session_id)?;
        let channel_id = self.lock().get(&task_id)?.speaker.clone()?;
        let channel = self.core.channel(&channel_id).filter(|it| it.scopes.has(ChannelScope::Permit))?;
        Some((channel, crate::host::Peer::permit(&*self.sessions, question.clone())))
    }

    /// Returns the channel that sent the last message of the task that a session runs, if it is still valid.
    pub(super) fn speaker(&self, session_id: &str) -> Option<Arc<Caller>> {
        let task_id = self.sessions.task_of(session_id)?;
        let channel_id = self.lock().get(&task_id)?.speaker.clone()?;
        self.core.channel(&channel_id)
    }

    /// Links a new task.
    fn link(&self, task: &Task, session_id: Option<&Arc<str>>, peer: Option<&Arc<str>>) -> Ticket {
        let link = PeerTaskLink {
            task_id: format!("ptask_{}", uuid::Uuid::new_v4().simple()).into(),
            parent_task_id: None,
            direction: PeerTaskDirection::Incoming,
            session_id: session_id.cloned(),
            channel_id: peer.cloned(),
            remote_task_id: task.id.clone(),
            remote_context_id: Some(task.context_id.clone()),
            agent_card_ref: None,
            native_status: task.status.state,
            artifact_refs: Vec::new(),
            state: PeerTaskState::Idle,
            cause: None,
        };
        // Before anything about the task can be asked for.
        self.core.own(&link);
        let ticket = self.append(&link, true);
        self.lock().insert(task.id.clone(), IncomingTask { link, speaker: peer.cloned() });
        ticket
    }

    /// Changes the link of a task by a state that the task has, or by the lack of the task.
    fn update(&self, task_id: &str, native: Option<TaskState>) -> Ticket {
        let mut open = self.lock();
        let Some(incoming) = open.get_mut(task_id) else { return Ticket::NONE };
        let contact = if native.is_some() { PeerContact::Reached } else { PeerContact::NotFound };
        // The artifacts of a task that runs here are on the log before its end.
        let native = native.unwrap_or(incoming.link.native_status);
        let facts = PeerTaskFacts { native, contact, quiet_ms: 0, artifacts_stored: true };
        if !incoming.link.apply(facts) {
            return Ticket::NONE;
        }
        let ticket = self.append(&incoming.link, false);
        if incoming.link.state.is_finished() {
            open.remove(task_id);
        }
        ticket
    }

    fn append(&self, link: &PeerTaskLink, is_new: bool) -> Ticket {
        let run = link.session_id.as_ref().map_or(Data::Nil, |id| Data::dict([(RUN_ID, Data::from(id))]));
        let record = NewRecord { headers: run, ..link.to_record(is_new, now_ms()) };
        self.core.gateway.log.put(record)
    }

    /// Applies what has become of the tasks that an earlier process left.
    pub(super) async fn reconcile(&self, manager: &TaskManager) {
        let left: Vec<Arc<str>> = self.lock().keys().cloned().collect();
        for task_id in left {
            match manager.task(&task_id).await {
                Ok(task) => drop(self.update(&task_id, Some(task.status.state))),
                Err(Refusal::UnknownTask(_)) => drop(self.update(&task_id, None)),
                Err(error) => {
                    let message = format_args!("cannot read the task {task_id} of an earlier process: {error:?}");
                    report(FailedOperation::Read, "task of an earlier process", message);
                }
            }
        }
    }
}

/// The journal of tasks, which also keeps their links.
pub(super) struct LinkingJournal {
    pub(super) store: TaskStore,
    pub(super) tasks: Arc<IncomingTasks>,
}

impl TaskJournal for LinkingJournal {
    fn note(&self, task_id: &Arc<str>, at_ms: u64, change: &TaskChange) -> Ticket {
        let noted = self.store.note(task_id, at_ms, change);
        let linked = match change {
            TaskChange::Created { task, session_id, begun, .. } => {
                self.tasks.link(task, session_id.as_ref(), begun.peer.as_ref())
            }
            TaskChange::Status(update) => self.tasks.update(task_id, Some(update.status.state)),
            TaskChange::Artifact(update) => {
                if let Some(incoming) = self.tasks.lock().get_mut(task_id) {
                    let reference = incoming.link.reference(&update.artifact);
                    if !incoming.link.artifact_refs.contains(&reference) {
                        incoming.link.artifact_refs.push(reference);
                    }
                }
                Ticket::NONE
            }
            TaskChange::Said(_) | TaskChange::Answered(_) | TaskChange::Injected(_) => Ticket::NONE,
        };
        noted.max(linked)
    }

    fn settled(&self, upto: Ticket) -> DurableFuture {
        self.store.settled(upto)
    }

    fn find(&self, task_id: &str) -> Waiting<Result<Option<RestoredTask>, StoreError>> {
        self.store.find(task_id)
    }

    fn changed(&self, task_id: &str, since: &TaskPosition) -> Waiting<Result<(), StoreError>> {
        self.store.changed(task_id, since)
    }

    fn begun_by(&self, first: &Message) -> Waiting<Result<Vec<Arc<str>>, StoreError>> {
        self.store.begun_by(first)
    }

    fn list(&self, asked: &ListTasks, sees: TaskFilter) -> Option<Waiting<Result<TaskPage, StoreError>>> {
        self.store.list(asked, sees)
    }

    fn left(&self, resumable: bool) -> Result<Vec<RestoredTask>, StoreError> {
        self.store.left(resumable)
    }

    fn leave(&self, task_id: &str, asks: bool) -> bool {
        self.store.leave(task_id, asks)
    }
}

/// A channel that sends a request as a peer agent.
pub(super) struct PeerAgent {
    pub(super) daemon: Arc<ChannelDaemon>,
    pub(super) channel: Arc<Caller>,
    pub(super) tasks: Arc<IncomingTasks>,
}

impl TaskViewer for PeerAgent {
    fn peer(&self) -> Arc<str> {
        self.channel.id.clone()
    }

    fn sees(&self, task_id: &str) -> bool {
        self.daemon.core().gateway.accounts.owns_task(&self.channel.account, task_id)
    }

    fn may_permit(&self) -> bool {
        self.channel.scopes.has(ChannelScope::Permit)
    }

    fn replies(&self, task_id: &str) {
        if let Some(incoming) = self.tasks.lock().get_mut(task_id) {
            incoming.speaker = Some(self.channel.id.clone());
        }
    }

    fn session_of(&self, context: ContextSession) -> Waiting<Result<Arc<str>, Refusal>> {
        let (daemon, channel) = (self.daemon.clone(), self.channel.clone());
        Box::pin(async move {
            let core = daemon.core();
            let id = match &context {
                ContextSession::Named(id) => id,
                ContextSession::Derived { common, .. } => common,
            };
            let is_own = core.gateway.owns(&channel.account, id).await.unwrap_or_else(|error| {
                report(FailedOperation::Read, "account of a session", format_args!("cannot read an account: {error}"));
                false
            });
            match context {
                ContextSession::Named(id) if is_own => Ok(id),
                ContextSession::Named(id) => Err(Refusal::UnknownContext(id)),
                // One of an earlier version.
                ContextSession::Derived { common, .. } if is_own => Ok(common),
                // Contexts of other accounts with the same id are not known here.
                ContextSession::Derived { context_id, .. } => Ok(session_of_account(&channel.account, &context_id)),
            }
        })
    }
}
