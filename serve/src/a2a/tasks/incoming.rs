//! Accepts messages: each begins a task or answers one that waits.

use std::sync::Arc;

use a2a::{Message, SendMessage, ShapeError, Status, Task, TaskState};
use base::data::Data;
use stdlib::Replies;
use tokio::sync::oneshot;

use super::deadline::{self, deadline};
use super::runner::{TaskRun, run};
use super::shared_task::{Replier, SharedTask};
use super::state_machine::{TaskEnd, as_a_caller_says};
use super::{RestoredTask, TaskCaller, TaskManager, TaskOrigin, agent_message, unread};
use crate::a2a::Refusal;
use crate::a2a::context::{ContextSession, SessionLease, merged};
use crate::a2a::feed::Subscription;
use crate::a2a::injection::{PeerReminder, of_message};
use crate::clock::now_ms;
use crate::host::HostError;
use crate::spawn::{spawn, spawn_on};

/// The maximum length of an id that a caller chooses, in bytes.
const LONGEST_ID: usize = 128;

/// The reason why a task is rejected before it begins.
type RejectionReason = (&'static str, String);

impl TaskManager {
    /// Accepts a message.
    pub(super) async fn take(
        &self,
        request: SendMessage,
        asker: TaskCaller,
    ) -> Result<(Arc<str>, Subscription), Refusal> {
        let message = &request.message;
        check_ids(message)?;
        if let Some((part, media_type)) = self.0.input_modes.first_other(&message.parts) {
            return Err(Refusal::MediaType { part, media_type });
        }
        let reminders = of_message(&request).map_err(Refusal::Reminder)?;
        let Some(task_id) = message.task_id.clone() else { return self.begin(request, reminders, asker).await };
        let shared_task = match self.shared_task(&task_id).await {
            Err(Refusal::UnknownTask(_)) if asker.names_tasks && self.is_free(&task_id).await? => {
                return self.begin(request, reminders, asker).await;
            }
            found => found?,
        };
        if let Some(context_id) = message.context_id.as_ref().filter(|id| **id != shared_task.context_id) {
            return Err(Refusal::OtherContext { task_id: shared_task.id.clone(), context_id: context_id.clone() });
        }
        let may_permit = self.1.as_ref().is_none_or(|viewer| viewer.may_permit());
        let is_taken = || self.1.iter().for_each(|viewer| viewer.replies(&task_id));
        let follows = shared_task.accept(message, reminders, Replier { may_permit, is_taken: &is_taken }).await?;
        // Neither the answer to a permission question nor an injection begins a prompt that would inject them.
        shared_task.put_held().await;
        Ok((shared_task.id.clone(), follows))
    }

    /// Returns whether no task has this id, including those that the caller cannot see.
    async fn is_free(&self, task_id: &str) -> Result<bool, Refusal> {
        let is_known = self.0.directory().find(task_id).is_some();
        Ok(!is_known && self.0.journal.find(task_id).await.map_err(unread)?.is_none())
    }

    /// Runs a task again that an ended process left unfinished.
    pub(super) fn run_again(&self, restored: RestoredTask) {
        let shared = &self.0;
        let first = restored.task.history.first().map(|message| (**message).clone());
        let (begun, session) = (restored.begun.clone(), restored.session_id.clone());
        let shared_task = SharedTask::again(restored, shared.journal.clone());
        shared.directory().begin(&shared_task);
        let (Some(message), Ok(runtime)) = (first, tokio::runtime::Handle::try_current()) else {
            shared_task.end_now(TaskEnd::Lost, &shared.agent_id);
            return shared.over(&shared_task);
        };
        let lease = match begun.is_alone {
            true => shared.contexts.alone(&shared_task.id),
            false => {
                let session = session.unwrap_or_else(|| shared.contexts.session_of(&shared_task.context_id).of_all());
                shared.contexts.lease(&session, &shared_task.id)
            }
        };
        let (metadata, deadline) = (begun.metadata, begun.deadline_ms);
        let (created, _) = oneshot::channel();
        let start = TaskRun { message, metadata, deadline, lease, created, resumed: true };
        spawn_on(&runtime, run(shared.clone(), shared_task, start));
    }

    /// Begins a task. If the message names one, that is its id.
    async fn begin(
        &self,
        mut request: SendMessage,
        reminders: Vec<PeerReminder>,
        asker: TaskCaller,
    ) -> Result<(Arc<str>, Subscription), Refusal> {
        let now = now_ms();
        let mut metadata = merged(&request.metadata, &request.message.metadata);
        // A task inherits nothing from a task that its caller does not reach.
        request.message.reference_task_ids.retain(|id| self.sees(id));
        if metadata.get("parent_task_id").as_str().is_some_and(|id| !self.sees(id)) {
            metadata.set("parent_task_id", Data::Nil);
        }
        let first = request.message.clone();
        let named = first.context_id.as_ref().map(|context_id| self.0.contexts.session_of(context_id));
        let session_id = match (&self.1, named) {
            (Some(viewer), Some(session)) => Some(viewer.session_of(session).await?),
            (_, named) => named.map(ContextSession::of_all),
        };
        if let Some(shared_task) = self.begun_before(&first).await? {
            return Ok((shared_task.id.clone(), shared_task.follow()));
        }
        let task = new_task(request.message, &metadata, now);
        let session_id = session_id.unwrap_or_else(|| self.0.contexts.session_of(&task.context_id).of_all());
        let message = task.history.first().map(|message| (**message).clone());
        let (deadline, reason) = match deadline(&metadata, now) {
            Ok(deadline) => (deadline, None),
            Err(misfit) => (None, Some(unmet(misfit))),
        };
        let peer = self.1.as_ref().map(|viewer| viewer.peer());
        let begun = TaskOrigin { metadata: metadata.clone(), deadline_ms: deadline, is_alone: false, peer };
        let (shared_task, follows, lease) =
            match self.enter(task, &session_id, &first, begun, reason, reminders, asker)? {
                Admission::New(shared_task, follows, lease) => (shared_task, follows, lease),
                Admission::Repeated(shared_task) => {
                    shared_task.durable().await.map_err(Refusal::Log)?;
                    return Ok((shared_task.id.clone(), shared_task.follow()));
                }
            };
        let shared = &self.0;
        match lease.zip(message) {
            Some((lease, message)) => {
                let (created, is_created) = oneshot::channel();
                // A caller that disconnects meanwhile does not stop the task.
                let start = TaskRun { message, metadata, deadline, lease, created, resumed: false };
                spawn(run(shared.clone(), shared_task.clone(), start));
                match is_created.await {
                    Ok(created) => created.map_err(Refusal::Log)?,
                    Err(_) => return Err(Refusal::Host(HostError::Stopping)),
                }
            }
            None => {
                if let Err(error) = shared_task.durable().await {
                    shared.directory().remove_ended(&shared_task);
                    return Err(Refusal::Log(error));
                }
            }
        }
        Ok((shared_task.id.clone(), follows))
    }

    /// Returns the task that began with this message, if it is not in memory.
    ///
    /// # Errors
    /// The log cannot be read.
    async fn begun_before(&self, first: &Message) -> Result<Option<Arc<SharedTask>>, Refusal> {
        if self.0.directory().begun_by(first).any(|shared_task| self.sees(&shared_task.id)) {
            return Ok(None);
        }
        let found = self.0.journal.begun_by(first).await.map_err(unread)?;
        for task_id in found.iter().filter(|id| self.sees(id)) {
            let shared_task = self.shared_task(task_id).await?;
            if shared_task.has_begun_by(first) {
                return Ok(Some(shared_task));
            }
        }
        Ok(None)
    }

    /// Adds a new task to the directory and takes a lease in a session for it. Rejects the task at once for `reason`,
    /// or if too many tasks are open. `session_id` is the session of its context. `first` is its message, which may be a
    /// repeat.
    #[expect(clippy::too_many_arguments, reason = "the parts of a task before it exists")]
    fn enter(
        &self,
        task: Task,
        session_id: &Arc<str>,
        first: &Message,
        begun: TaskOrigin,
        reason: Option<RejectionReason>,
        reminders: Vec<PeerReminder>,
        asker: TaskCaller,
    ) -> Result<Admission, Refusal> {
        let shared = &self.0;
        let mut directory = shared.directory();
        if directory.is_stopping {
            return Err(Refusal::Host(HostError::Stopping));
        }
        shared.host.writes().map_err(Refusal::Host)?;
        // A caller that lost the response sends the first message of its task again.
        if let Some(shared_task) = directory.begun_by(first).find(|shared_task| self.sees(&shared_task.id)) {
            return Ok(Admission::Repeated(shared_task.clone()));
        }
        if directory.find(&task.id).is_some() {
            // Another caller has begun a task with the chosen id meanwhile.
            return Err(Refusal::UnknownTask(task.id));
        }
        let reason = reason.or_else(|| full(directory.open(), shared.open));
        let lease = reason.is_none().then(|| shared.contexts.lease(session_id, &task.id));
        let session_id = lease.as_ref().map(|lease| lease.session_id().clone());
        let begun = TaskOrigin { is_alone: lease.as_ref().is_some_and(SessionLease::is_alone), ..begun };
        let shared_task = SharedTask::new(task, asker.version, session_id, begun, shared.journal.clone());
        // A caller follows a reminder by the id of its task, so it must get the task.
        if asker.takes_message && shared.replies == Replies::Message && reminders.is_empty() {
            shared_task.may_be_message();
        }
        shared_task.injections.hold(reminders);
        if let Some((reason, detail)) = reason {
            let how = TaskEnd::Rejected { reason: reason.into(), detail: Some(detail.into()) };
            shared_task.end_now(how, &shared.agent_id);
            shared.count(&shared_task);
            directory.finished(&shared_task, shared.finished);
        } else {
            directory.begin(&shared_task);
        }
        let follows = shared_task.follow();
        Ok(Admission::New(shared_task, follows, lease))
    }
}

/// The result of adding a new task.
enum Admission {
    /// A new task, and its lease in a session unless it was rejected.
    New(Arc<SharedTask>, Subscription, Option<SessionLease>),
    /// The task that the same message began earlier.
    Repeated(Arc<SharedTask>),
}

fn new_task(message: Message, metadata: &Data, now: u64) -> Task {
    let id = message.task_id.clone().unwrap_or_else(|| agent_message::fresh_id("task"));
    let context_id = message.context_id.clone().unwrap_or_else(|| agent_message::fresh_id("ctx"));
    let message = Message { task_id: Some(id.clone()), context_id: Some(context_id.clone()), ..message };
    Task {
        id,
        context_id,
        status: Status { state: TaskState::Submitted, message: None, at_ms: Some(now) },
        artifacts: Vec::new(),
        history: vec![Arc::new(message)],
        metadata: as_a_caller_says(metadata),
    }
}

fn unmet(misfit: deadline::DeadlineError) -> RejectionReason {
    match misfit {
        deadline::DeadlineError::Past => ("DEADLINE_IMPOSSIBLE", "the deadline has passed".to_owned()),
        deadline::DeadlineError::Unreadable => {
            let text = "`metadata.deadline` is neither an RFC 3339 time nor milliseconds since 1970";
            ("INVALID_PARAMETERS", text.to_owned())
        }
    }
}

fn full(open: usize, most: usize) -> Option<RejectionReason> {
    (open >= most).then(|| ("CAPACITY_EXCEEDED", format!("too many tasks: {open} are open, which is the limit")))
}

/// Checks that the ids chosen by the caller are short and printable.
fn check_ids(message: &Message) -> Result<(), Refusal> {
    for (field, id) in [("message.taskId", &message.task_id), ("message.contextId", &message.context_id)] {
        let Some(id) = id else { continue };
        let is_good = (1..=LONGEST_ID).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_good {
            let message = format!("`{field}` must be 1 to {LONGEST_ID} visible ASCII characters without spaces");
            return Err(Refusal::Params(ShapeError { field: field.to_owned(), message, suggestion: None }));
        }
    }
    Ok(())
}
