//! Making a worker of what a script describes.

use crate::capability::Capability;
use crate::fault::{of_policy, of_reminder, of_session, of_worker};
use crate::here;
use crate::loops::{prepare, put_messages};
use crate::options::{DelegationOptions, OptionReader, label_of};
use crate::persist::recipe_of;
use crate::world::World;
use base::clock::Clock;
use base::data::Data;
use base::ids::Ids;
use lang::value::Value;
use lang::vm::{Cx, Raise};
use runtime::agent_loop::snapshot::{Recipe, SnapshotStorage, WorkerMode};
use runtime::reminder::Reminder;
use runtime::reminder::policy::{self, PolicySource};
use runtime::scope::{Caller, Scope};
use runtime::session::Session;
use runtime::workers::worker::WorkerIdentity;
use runtime::workers::{Worker, WorkerError, propagation};
use std::rc::Rc;
use std::sync::Arc;

/// The maximum length of the task in the name of a worker without one, in characters.
const NAME_LENGTH: usize = 40;

/// The default folder of snapshots.
const SNAPSHOTS: &str = ".harn/workers";

/// A worker that is about to begin, and the scope it works in.
pub(crate) struct Making {
    pub(crate) worker: Rc<Worker>,
    pub(crate) scope: Scope,
}

/// Makes a worker and enters it. Everything that the call has wrong is found before anything changes.
pub(crate) fn make(
    cx: &Cx<'_>,
    world: &Rc<World>,
    reader: &OptionReader<'_>,
    options: &DelegationOptions,
    task: String,
    mode: WorkerMode,
) -> Result<Making, Box<Raise>> {
    let DelegationOptions { worker: behaviour, parent_session_id, reminder_propagation } = options;
    let given_name = behaviour.name.clone();
    let (shared, arg) = (&behaviour.shared, reader.arg());
    let parent = parent(cx, world, parent_session_id.as_deref(), arg)?;
    let handed = handed(world, reminder_propagation.as_ref(), arg, parent.as_ref(), &here::scope(cx, world))?;
    let mut prepared = prepare(cx, world, reader, shared, task, behaviour.system.as_deref())?;
    let now_ms = world.clock.now_ms();
    let wanted = shared.model.session_id.clone();
    if let (Some(id), Some(parent)) = (&wanted, &parent)
        && world.agents.sessions.is_at_or_above(id, parent)
    {
        let error = of_worker(&WorkerError::OwnParent(id.clone()));
        return Err(error.about(arg, "invalid `session_id`"));
    }
    if let Some(id) = wanted.as_ref().filter(|id| is_busy(world, id)) {
        let error = of_worker(&WorkerError::Busy(id.clone()));
        return Err(error.about(arg, "invalid `session_id`"));
    }
    let (session, id) = world.agents.sessions.open_child(parent.as_ref(), wanted.as_deref(), now_ms);
    let scope = here::own_scope(cx, world);
    // The tool call at hand and the notes are the parent's.
    let path = scope.caller.path.child("worker");
    let agent_id = given_name.clone();
    let caller = Caller { path, task_id: None, agent_id, is_worker: true, ..scope.caller.clone() };
    let scope = Scope { caller, notes: Rc::default(), ..scope };
    put_messages(world, &session, shared, arg, &scope)?;
    let name = given_name.unwrap_or_else(|| name_of(&prepared.options.task));
    if shared.persona.is_none() {
        prepared.options.persona = name.clone();
    }
    let recipe = recipe(cx, reader);
    let storage = SnapshotStorage::new(world.pool());
    let made = WorkerIdentity { id, name, mode, handed, recipe, storage };
    let worker = Worker::new(made, session, prepared.parts, prepared.options);
    world.agents.workers.add(&worker);
    Ok(Making { worker, scope })
}

/// Whether a loop is at work in a session, or a worker that will go on there.
fn is_busy(world: &World, id: &str) -> bool {
    let at_work = |worker: &Rc<Worker>| worker.session.id().as_ref() == id && !worker.status().is_over();
    world.agents.sessions.get(id).is_ok_and(|session| session.is_busy())
        || world.agents.workers.list().iter().any(at_work)
}

fn recipe(cx: &Cx<'_>, options: &OptionReader<'_>) -> Recipe {
    let (options, needs) = recipe_of(options);
    let folder = (!cx.isolate.is_denied(Capability::FsWrite)).then(|| SNAPSHOTS.into());
    Recipe { options, needs, folder }
}

/// Returns the session that a worker works for: the one named, else the current one.
fn parent(cx: &Cx<'_>, world: &World, named: Option<&str>, arg: usize) -> Result<Option<Rc<Session>>, Box<Raise>> {
    match named {
        None => Ok(here::session(cx)),
        Some(id) => {
            let found = world.agents.sessions.get(id).map(Some);
            found.map_err(|e| of_session(&e).about(arg, "invalid `parent_session_id`"))
        }
    }
}

/// Returns the reminders that it inherits: the list `given` in argument `arg`, else those of the parent.
pub(crate) fn handed(
    world: &World,
    given: Option<&Data>,
    arg: usize,
    parent: Option<&Rc<Session>>,
    scope: &Scope,
) -> Result<Vec<Arc<Reminder>>, Box<Raise>> {
    let Some(given) = given else {
        return Ok(parent.map_or_else(Vec::new, |parent| propagation::hand_over(parent)));
    };
    let fresh = || world.random.ids.next_text(world.clock.now_ms());
    let read = Reminder::list_from_handed(given, parent.map(|parent| parent.id()), fresh);
    let read = read.map_err(|error| {
        let error = error.under("reminder_propagation");
        of_reminder(&error).about(arg, label_of(&error))
    })?;
    let allowed = |reminder| {
        policy::check_made(reminder, &[PolicySource::Pipeline]).map_err(|refusal| {
            if let Some(parent) = parent {
                parent.log_lifecycle(scope, [refusal.dropped()]);
            }
            of_policy(&refusal).about(arg, "invalid `reminder_propagation`")
        })
    };
    read.into_iter().map(allowed).collect()
}

/// The first words of a task.
fn name_of(task: &str) -> Arc<str> {
    let line = task.trim().lines().next().unwrap_or_default();
    match line.char_indices().nth(NAME_LENGTH) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()).into(),
        None if line.is_empty() => "worker".into(),
        None => line.into(),
    }
}

/// The task in an argument or option.
pub(crate) fn task_of(value: &Value) -> String {
    if value.is_nil() { String::new() } else { lang::value::display(value) }
}

/// Returns the scope of a resumed worker: as before, but it stops with its resumer.
pub(crate) fn resumed_scope(cx: &Cx<'_>, world: &World, worker: &Worker) -> Scope {
    let now = here::own_scope(cx, world);
    let before = worker.scope().unwrap_or_else(|| now.clone());
    Scope { cancel: now.cancel, deadline_ms: now.deadline_ms, notes: Rc::default(), ..before }
}
