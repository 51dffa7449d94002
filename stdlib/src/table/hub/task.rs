//! The methods of a leased task.

use super::connection::{ask, lacks, result};
use crate::fault::of_reminder;
use crate::here;
use crate::hub::bounds;
use crate::hub::convert::{message_to_proto, milliseconds, part_to_proto, struct_of};
use crate::hub::renewal::LeaseRenewal;
use crate::hub::{HubConnection, HubTask};
use crate::options::{HubArtifactOptions, HubProgressOptions, OptionSet};
use crate::table::a2a::message::fresh;
use crate::world::World;
use a2a::{Message, Part, Role};
use base::clock::Clock;
use base::ids::{Ids, shortened};
use hub::proto::a2a::{Artifact, TaskState, TaskStatus};
use hub::proto::agenthub::{
    AgentEventMetadata, PublishTaskArtifactRequest, PublishTaskUpdateRequest, TaskArtifactUpdateEvent,
    TaskStatusUpdateEvent,
};
use hub::proto::worker::{FinishRequest, ProgressRequest, RejectRequest, RejectionReason, RenewRequest};
use lang::builtins::args;
use lang::check::CheckCode;
use lang::diagnostic::nearest;
use lang::value::Value;
use lang::vm::{Cx, Raise, Wait};
use runtime::reminder::Reminder;
use runtime::workers::propagation;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

lang::builtins! { "<hub_task>" =>
    /// Reports that the agent works on the task, with a text for the sender. `progress`, `artifact`, `complete` and `fail` do so too.
    waits "accept(task: HubTask, text: string = \"\") -> nil" accept;
    /// Refuses a task that is not accepted yet. The reason is `UNSUPPORTED_TASK_TYPE`, `CAPACITY_EXCEEDED`, `DEADLINE_IMPOSSIBLE`,
    /// `INVALID_PARAMETERS` or `RESOURCE_UNAVAILABLE`. A task of a queue goes to another worker.
    waits "reject(task: HubTask, reason: string, detail: string = \"\") -> nil" reject;
    /// Reports partial results and extends the lease. A later attempt gets the last `resume_token`.
    waits "progress(task: HubTask, progress: HubProgress) -> nil" progress;
    /// Adds an artifact to the task, or more parts to one.
    waits "artifact(task: HubTask, artifact: HubArtifact) -> nil" artifact;
    /// Completes the task. The result is the artifact `answer`.
    waits "complete(task: HubTask, result: string | list<any> | dict = nil) -> nil" complete;
    /// Fails the task.
    waits "fail(task: HubTask, reason: string) -> nil" fail;
    /// Extends the lease, by `lease_ms` or its first duration, and returns its end in milliseconds since 1970.
    waits "renew(task: HubTask, lease_ms: int = nil) -> int" renew;
    /// Opens a session with the reminders that came with the task, and returns its id for the option `session_id` of a loop.
    plain "session(task: HubTask) -> string" session;
}

/// The hub, the ids and the lease that requests about a task need.
struct TaskHandle {
    hub: Rc<HubConnection>,
    task_id: String,
    context_id: String,
    lease_id: String,
    accepted: Rc<Cell<bool>>,
    renewal: Arc<LeaseRenewal>,
}

/// Returns the task in the first argument, if the others are not too large. It is called before they are read.
fn task(args: &[Value]) -> Result<&HubTask, Box<Raise>> {
    let misfit = || args::mismatch(args, 0, "a task of a hub").help("`tasks` and `claim` of a hub return them");
    let task = args.first().and_then(Value::as_host::<HubTask>).ok_or_else(misfit)?;
    bounds::check_size(args)?;
    Ok(task)
}

impl TaskHandle {
    fn of(cx: &Cx<'_>, args: &[Value], world: &World) -> Result<TaskHandle, Box<Raise>> {
        let task = task(args)?;
        task.renewal.note_call();
        Ok(TaskHandle {
            hub: task.connection.traced(here::trace(cx, world)),
            task_id: task.id(),
            context_id: task.text("context_id"),
            lease_id: task.lease_id.clone(),
            accepted: task.accepted.clone(),
            renewal: task.renewal.clone(),
        })
    }

    fn routing(&self) -> Result<AgentEventMetadata, Box<Raise>> {
        Ok(AgentEventMetadata { from_agent_id: self.hub.acting()?, ..AgentEventMetadata::default() })
    }

    /// Returns a message about the task.
    fn message(&self, text: &str) -> hub::proto::a2a::Message {
        let mut message = Message::new(Role::Agent, fresh("msg"), vec![Part::text(text)]);
        message.task_id = Some(self.task_id.as_str().into());
        message.context_id =
            Some(self.context_id.as_str().into()).filter(|context: &std::sync::Arc<str>| !context.is_empty());
        message_to_proto(&message)
    }

    /// Extends the lease, which fails if it is lost.
    async fn renew(&self, lease_ms: Option<u64>) -> Result<hub::proto::worker::Lease, Box<Raise>> {
        let lease =
            lease_ms.map(std::time::Duration::from_millis).and_then(|time| prost_types::Duration::try_from(time).ok());
        let request = RenewRequest {
            agent_id: self.hub.acting()?,
            task_id: self.task_id.clone(),
            lease_id: self.lease_id.clone(),
            lease,
        };
        ask!(self.hub, worker.renew, request)
    }

    /// Reports the state WORKING, unless the script has done so.
    async fn accept(&self, text: &str) -> Result<(), Box<Raise>> {
        if self.accepted.get() && text.is_empty() {
            return Ok(());
        }
        let update = (!text.is_empty()).then(|| self.message(text));
        let status = TaskStatus { state: TaskState::Working as i32, update, timestamp: None };
        let update = TaskStatusUpdateEvent {
            task_id: self.task_id.clone(),
            context_id: self.context_id.clone(),
            status: Some(status),
            ..TaskStatusUpdateEvent::default()
        };
        let request = PublishTaskUpdateRequest { update: Some(update), routing: Some(self.routing()?) };
        ask!(self.hub, hub.publish_task_update, request, Some(self.lease_id.as_str()))?;
        self.accepted.set(true);
        Ok(())
    }

    async fn finish(
        &self,
        state: TaskState,
        update: Option<hub::proto::a2a::Message>,
        artifacts: Vec<Artifact>,
    ) -> Result<Value, Box<Raise>> {
        self.accept("").await?;
        let request = FinishRequest {
            agent_id: self.hub.acting()?,
            task_id: self.task_id.clone(),
            lease_id: self.lease_id.clone(),
            state: state as i32,
            update,
            artifacts,
        };
        ask!(self.hub, worker.finish, request)?;
        self.renewal.end();
        Ok(Value::Nil)
    }
}

/// Runs requests about the task in the first argument.
fn run<F, T>(cx: &Cx<'_>, args: &[Value], work: F) -> Result<Wait, Box<Raise>>
where
    F: FnOnce(TaskHandle) -> T + 'static,
    T: Future<Output = Result<Value, Box<Raise>>>,
{
    let world = here::world(cx)?;
    let handle = TaskHandle::of(cx, args, &world)?;
    Ok(Wait::new(async move {
        let _outside = world.clock.outside();
        work(handle).await
    }))
}

fn accept(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    task(args)?;
    let text = args::opt_str(args, 1)?.map(ToString::to_string).unwrap_or_default();
    run(cx, args, |task| async move { task.accept(&text).await.map(|()| Value::Nil) })
}

const REASONS: [(&str, RejectionReason); 5] = [
    ("UNSUPPORTED_TASK_TYPE", RejectionReason::UnsupportedTaskType),
    ("CAPACITY_EXCEEDED", RejectionReason::CapacityExceeded),
    ("DEADLINE_IMPOSSIBLE", RejectionReason::DeadlineImpossible),
    ("INVALID_PARAMETERS", RejectionReason::InvalidParameters),
    ("RESOURCE_UNAVAILABLE", RejectionReason::ResourceUnavailable),
];

fn reject(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    task(args)?;
    let word = args::str(args, 1)?.to_string();
    let text = args::opt_str(args, 2)?.map(ToString::to_string).unwrap_or_default();
    let Some((_, reason)) = REASONS.iter().find(|(name, _)| *name == word) else {
        let raise =
            Raise::error(CheckCode::Values, format!("unknown rejection reason `{}`", shortened(&word))).about(1, "");
        return Err(match nearest(&word, REASONS.map(|(name, _)| name)) {
            Some(near) => raise.help(format!("did you mean `{near}`?")),
            None => raise.help(format!("the reasons are {}", REASONS.map(|(name, _)| name).join(", "))),
        });
    };
    run(cx, args, move |task| async move {
        let request = RejectRequest {
            agent_id: task.hub.acting()?,
            task_id: task.task_id.clone(),
            lease_id: task.lease_id.clone(),
            reason: *reason as i32,
            text,
        };
        ask!(task.hub, worker.reject, request)?;
        task.renewal.end();
        Ok(Value::Nil)
    })
}

fn progress(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    task(args)?;
    let HubProgressOptions { portion, data, resume_token } = HubProgressOptions::read(cx, args, 1)?;
    let data = struct_of(&data);
    let resume_token = resume_token.as_deref().unwrap_or_default().to_owned();
    run(cx, args, move |task| async move {
        let request = ProgressRequest {
            agent_id: task.hub.acting()?,
            task_id: task.task_id.clone(),
            lease_id: task.lease_id.clone(),
            portion,
            data,
            resume_token,
        };
        ask!(task.hub, worker.progress, request)?;
        task.accepted.set(true);
        Ok(Value::Nil)
    })
}

fn artifact(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    task(args)?;
    let HubArtifactOptions { contents: given, name } = HubArtifactOptions::read(cx, args, 1)?;
    let text = |text: Option<Arc<str>>| text.as_deref().unwrap_or_default().to_owned();
    let parts = result(&given.parts.unwrap_or_default(), 1)?;
    let artifact = Artifact {
        artifact_id: text(given.id),
        name: text(name),
        description: text(given.description),
        parts: parts.iter().map(part_to_proto).collect(),
        metadata: struct_of(&given.metadata.unwrap_or_default()),
        extensions: Vec::new(),
    };
    let append = given.append;
    let last_chunk = given.last_chunk.unwrap_or(append.is_none());
    run(cx, args, move |task| async move {
        task.accept("").await?;
        let update = TaskArtifactUpdateEvent {
            task_id: task.task_id.clone(),
            context_id: task.context_id.clone(),
            artifact: Some(artifact),
            append: append == Some(true),
            last_chunk,
            metadata: None,
        };
        let request = PublishTaskArtifactRequest { artifact: Some(update), routing: Some(task.routing()?) };
        ask!(task.hub, hub.publish_task_artifact, request, Some(task.lease_id.as_str()))?;
        Ok(Value::Nil)
    })
}

fn complete(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    task(args)?;
    let artifacts = match args.get(1) {
        None | Some(Value::Nil) => Vec::new(),
        Some(value) => {
            let parts = result(value, 1)?.iter().map(part_to_proto).collect();
            let (artifact_id, name) = ("answer".to_owned(), "answer".to_owned());
            vec![Artifact { artifact_id, name, parts, ..Artifact::default() }]
        }
    };
    run(cx, args, |task| async move { task.finish(TaskState::Completed, None, artifacts).await })
}

fn fail(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    task(args)?;
    let reason = args::str(args, 1)?.to_string();
    run(cx, args, |task| async move {
        let message = task.message(&reason);
        task.finish(TaskState::Failed, Some(message), Vec::new()).await
    })
}

fn renew(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let lease_ms = args.get(1).and_then(Value::as_int).and_then(|ms| u64::try_from(ms).ok());
    run(cx, args, move |task| async move {
        let lease = task.renew(lease_ms).await?;
        let until = lease.expires.and_then(milliseconds).and_then(|ms| i64::try_from(ms).ok());
        until.map(Value::Int).ok_or_else(|| lacks(&task.hub, "expires"))
    })
}

fn session(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let (task, world) = (task(args)?, here::world(cx)?);
    let fresh = || world.random.ids.next_text(world.clock.now_ms());
    let handed = Reminder::list_from_handed(task.reminders(), None, fresh).map_err(|error| of_reminder(&error))?;
    let session = world.agents.sessions.open(None, world.clock.now_ms());
    session.with(|state| state.cause = task.cause());
    for refusal in propagation::seed_from_peer(&session, &here::scope(cx, &world), handed) {
        world.console.show(&refusal.note_of_earlier());
    }
    Ok(Value::str(session.id()))
}
