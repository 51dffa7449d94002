//! A worker that another process has suspended, taken up from its snapshot.

use crate::convert::to_value;
use crate::fault::{of_session, of_snapshot};
use crate::here;
use crate::loops::{Prepared, prepare};
use crate::options::{OptionReader, OptionSet, WorkerSpec};
use crate::persist::pending_by_log;
use crate::world::World;
use lang::value::{Dict, Str, Value};
use lang::vm::{Cx, Raise};
use runtime::agent_loop::snapshot::{Recipe, Snapshot, SnapshotError, SnapshotStorage, WorkerMode, settle_with_log};
use runtime::scope::{Caller, Scope};
use runtime::session::Session;
use runtime::workers::Worker;
use runtime::workers::worker::WorkerIdentity;
use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

/// Makes the worker of a snapshot, suspended as it was, and claims the file. `given` are the options that a file cannot hold:
/// tools and functions.
pub(crate) async fn restore(
    cx: &Cx<'_>,
    world: &Rc<World>,
    path: &str,
    given: Option<&Dict>,
    arg: usize,
) -> Result<Rc<Worker>, Box<Raise>> {
    let file = Path::new(path);
    let refuse = |error: SnapshotError| of_snapshot(&error).about(0, "this snapshot");
    let storage = SnapshotStorage::new(world.pool());
    let snapshot = storage.read(file).await.map_err(refuse)?;
    if snapshot.mode == WorkerMode::Loop {
        let why = "this is the snapshot of a loop, not of a worker; resume it with `agent_loop(task, system, \
            {resume_path: …})`";
        return Err(refuse(SnapshotError::Unfit(why.to_owned())));
    }
    let prepared = prepared(cx, world, &snapshot, given, arg)?;
    complete(&snapshot, given, &prepared).map_err(refuse)?;
    let session = snapshot.session.clone().restore().map_err(refuse)?;
    let known = pending_by_log(world, &world.observers.log, session.id()).await?;
    if world.agents.sessions.exists(session.id()) {
        let error = runtime::session::SessionError::Exists(session.id().clone());
        return Err(of_session(&error).about(0, "this snapshot"));
    }
    storage.claim(file).await.map_err(refuse)?;
    let scope = match enter(cx, world, &session, known) {
        Ok(scope) => scope,
        Err(raise) => {
            storage.unclaim(file).await;
            return Err(raise);
        }
    };
    let Snapshot { id, name, mode, state, suspension, options, needs, .. } = snapshot;
    let recipe = Recipe { options, needs, folder: None };
    let made = WorkerIdentity { id, name, mode, handed: Vec::new(), recipe, storage };
    let worker = Worker::new(made, session, prepared.parts, prepared.options);
    worker.set_scope(scope);
    worker.restore(Box::new(state), suspension);
    worker.set_snapshot_path(Some(path.into()));
    world.agents.workers.add(&worker);
    Ok(worker)
}

/// Returns the options as they were; values that are not data are those passed now.
fn prepared(
    cx: &Cx<'_>,
    world: &Rc<World>,
    snapshot: &Snapshot,
    given: Option<&Dict>,
    arg: usize,
) -> Result<Prepared, Box<Raise>> {
    let mut all = to_value(&snapshot.options).as_dict().cloned().unwrap_or_default();
    all.insert(Str::new("task"), Value::str(&snapshot.task));
    for (key, value) in given.into_iter().flat_map(Dict::iter) {
        all.insert(key.clone(), value.clone());
    }
    let mut args = vec![Value::Nil; arg];
    args.push(Value::dict(all));
    let reader = OptionReader::new::<WorkerSpec>(&args, arg)?;
    let options = WorkerSpec::of(cx, &reader)?.delegation.worker;
    let task = snapshot.task.to_string();
    let mut prepared = prepare(cx, world, &reader, &options.shared, task, options.system.as_deref())?;
    if options.shared.persona.is_none() {
        prepared.options.persona = snapshot.name.clone();
    }
    Ok(prepared)
}

/// Whether everything is there that the worker had.
fn complete(snapshot: &Snapshot, given: Option<&Dict>, prepared: &Prepared) -> Result<(), SnapshotError> {
    let has = |name: &Arc<str>| prepared.parts.tools.iter().any(|tool| tool.spec().name == *name);
    let tools = snapshot.tools.iter().filter(|name| !has(name)).map(|name| format!("the tool `{name}`"));
    let is_given = |need: &Arc<str>| given.is_some_and(|given| given.get_str(need).is_some());
    let needs = snapshot.needs.iter().filter(|need| !is_given(need)).map(|need| format!("`{need}`"));
    let missing: Vec<String> = tools.chain(needs).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let missing = missing.join(", ");
    Err(SnapshotError::Unfit(format!("the worker `{}` of this snapshot needs {missing}", snapshot.name)))
}

/// Enters its session. Reminders that the log at hand does not know came along from elsewhere: it says so.
fn enter(cx: &Cx<'_>, world: &World, session: &Rc<Session>, known: BTreeSet<Arc<str>>) -> Result<Scope, Box<Raise>> {
    let scope = here::own_scope(cx, world);
    let path = scope.caller.path.child("worker");
    let caller = Caller { path, task_id: None, agent_id: None, is_worker: true, ..scope.caller.clone() };
    let scope = Scope { caller, notes: Rc::default(), ..scope };
    let settled = settle_with_log(session, known);
    world.agents.sessions.enter(session).map_err(|e| of_session(&e).about(0, ""))?;
    // A worker is suspended where every call has its answer; a file may say anything.
    session.close_open_calls();
    session.log_lifecycle(&scope, settled);
    for refusal in session.drop_forbidden(&scope) {
        world.console.show(&refusal.note_of_earlier());
    }
    Ok(scope)
}
