//! Sub-agents and workers.

use crate::capability::Capability;
use crate::codes::AgentCode;
use crate::convert::to_data;
use crate::failed_loop::{FailedLoop, as_dict};
use crate::fault::{of_snapshot, of_worker, to_raise};
use crate::here;
use crate::lint;
use crate::options::{LifecycleToolOptions, OptionReader, OptionSet, SubAgentOptions, SuspendOptions, WorkerSpec};
use crate::table::bridge::of_queue;
use crate::table::tool::{registry_of, tools_of};
use crate::tool_value::native_tool;
use crate::workers::{
    Abandoned, Making, PauseTool, ReachableWorkers, ResumeTool, WorkerContext, awaited, envelope, handle, is_inside,
    make, not_inside, one_cycle, restore, resumed_scope, task_of, thrown_by_observer, worker_arg, worker_of,
};
use crate::world::World;
use lang::builtins::args;
use lang::diagnostic::code::CodeRef;
use lang::value::{Str, Value};
use lang::vm::{Cx, On, Raise, RunCode, Wait};
use runtime::agent_loop::snapshot::WorkerMode;
use runtime::cancel::Cancel;
use runtime::scope::Scope;
use runtime::seam::Tool;
use runtime::workers::{self, GiveError, InputOutcome, Resumption, Worker, WorkerError, WorkerStatus, begin};
use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

lang::builtins! { "" =>
    /// Lets a sub-agent do a task in a session of its own and waits for it: `{ok, summary, text, artifacts, tokens_used,
    /// budget_exceeded, data?, error?, session_id, transcript}`. It inherits reminders from the session at hand. With
    /// `background: true` it works beside the script, and the handle of a worker is given.
    ///
    /// ```harn
    /// llm_mock("found it")
    /// let result = sub_agent_run("Find it.", {provider: "mock"})
    /// [result.ok, result.summary] // => [true, "found it"]
    /// ```
    waits "sub_agent_run(task: any, options: SubAgentOptions = nil) -> SubAgentResult" [caps = &[Capability::Llm.right()], lint = lint::sub_agent] sub_agent_run;
    /// Starts a worker beside the script: `{id, name, task, status, mode, has_transcript, …}`.
    ///
    /// ```harn
    /// llm_mock("done")
    /// let worker = spawn_agent({name: "helper", task: "Go.", provider: "mock"})
    /// [worker.name, wait_agent(worker).status] // => ["helper", "completed"]
    /// ```
    waits "spawn_agent(spec: WorkerSpec) -> Worker" [caps = &[Capability::Llm.right()], lint = lint::worker] spawn_agent;
    /// Waits until a worker, or each of a list, has ended or is suspended: its handle, with `result`, `error?`, `transcript`.
    ///
    /// ```harn
    /// llm_mock("done")
    /// wait_agent(spawn_agent({task: "Go.", provider: "mock"})).status // => "completed"
    /// ```
    waits "wait_agent(worker: any) -> any" wait_agent;
    /// Sends a worker a message to read. One that has done its task takes it as its next.
    waits "send_input(worker: any, input: any) -> Worker" send_input;
    /// Closes a worker; what it is doing is stopped.
    ///
    /// ```harn
    /// llm_mock("done")
    /// let worker = spawn_agent({task: "Go.", provider: "mock"})
    /// wait_agent(worker).status // => "completed"
    /// close_agent(worker).status // => "completed"
    /// ```
    waits "close_agent(worker: any) -> Worker" close_agent;
    /// Returns the handles of the workers that are not closed, in the order in which they began.
    ///
    /// ```harn
    /// list_agents() // => []
    /// ```
    plain "list_agents() -> list<Worker>" list_agents;
    /// Suspends a worker at the border of its next iteration and waits for that.
    waits "suspend_agent(worker: any, reason: string = \"suspended by the operator\", options: SuspendOptions = nil) -> Worker" suspend_agent;
    /// Lets a suspended worker go on, with something to read; with `continue_transcript: false` it begins anew with its task.
    /// One that another process has left is resumed from its snapshot's path, with its tools and functions as `options`.
    waits "resume_agent(worker: any, input: any = nil, continue_transcript: bool = true, options: WorkerBehaviour = nil) -> Worker" [caps = &[Capability::Llm.right()]] resume_agent;
    /// The registry with the tools `subagent_pause` and `subagent_resume`, by which a model controls its workers: those of
    /// `subagents` (handles or ids), else all that work for its session.
    ///
    /// ```harn
    /// let tools = agent_lifecycle_tools(tool_registry(), {subagents: []})
    /// tool_list(tools).map({ t -> t.name }) // => ["subagent_pause", "subagent_resume"]
    /// ```
    plain "agent_lifecycle_tools(registry: dict, options: LifecycleToolOptions = nil) -> dict" agent_lifecycle_tools;
}

fn sub_agent_run(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let world = here::world(cx)?;
    let reader = OptionReader::new::<SubAgentOptions>(args, 1)?;
    let SubAgentOptions { delegation, background } = SubAgentOptions::of(cx, &reader)?;
    let made = make(cx, &world, &reader, &delegation, task_of(&args[0]), WorkerMode::SubAgent)?;
    if background {
        return Ok(spawned(&WorkerContext::of(cx, &world), made));
    }
    let Making { worker, scope } = made;
    worker.set_scope(scope.clone());
    let cancel = scope.cancel.clone();
    let isolate = Rc::downgrade(cx.isolate);
    Ok(Wait::new(async move {
        let place = isolate.upgrade().and_then(|isolate| isolate.waiting_place());
        let _left_alone = Abandoned(worker.clone());
        begin(&worker, &scope).await.map_err(|e| to_raise(&e))?;
        one_cycle(&world, &worker, &scope).await.map_err(|e| to_raise(&e))?;
        Ok(awaited(&world, &worker, envelope(&worker), place))
    })
    .stopped_by(move |reason| cancel.cancel(reason)))
}

fn spawn_agent(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let world = here::world(cx)?;
    let reader = OptionReader::new::<WorkerSpec>(args, 0)?;
    let WorkerSpec { delegation, task } = WorkerSpec::of(cx, &reader)?;
    let Some(task) = task else {
        let raise = Raise::error(lang::check::CheckCode::Key, "a worker needs a `task`");
        return Err(raise.about(0, "`task` is missing"));
    };
    let made = make(cx, &world, &reader, &delegation, task_of(&task), WorkerMode::Agent)?;
    Ok(spawned(&WorkerContext::of(cx, &world), made))
}

fn spawned(crew: &WorkerContext, made: Making) -> Wait {
    let (crew, Making { worker, scope }) = (crew.clone(), made);
    let cancel = scope.cancel.clone();
    Wait::new(async move {
        begin(&worker, &scope).await.map_err(|e| to_raise(&e))?;
        crew.start(&worker, scope)?;
        Ok(handle(&worker))
    })
    .stopped_by(move |reason| cancel.cancel(reason))
}

fn wait_agent(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let world = here::world(cx)?;
    let (all, many) = match &args[0] {
        Value::List(l) => {
            let each = l.items.iter().map(|value| worker_of(args, 0, value, &world));
            (each.collect::<Result<Vec<_>, _>>()?, true)
        }
        _ => (vec![worker_arg(args, 0, &world)?], false),
    };
    for worker in &all {
        not_inside(cx, &world, worker, 0)?;
    }
    let name = all.first().map(|worker| Str::new(&worker.name));
    let isolate = Rc::downgrade(cx.isolate);
    Ok(Wait::new(async move {
        let place = isolate.upgrade().and_then(|isolate| isolate.waiting_place());
        let mut handles = Vec::with_capacity(all.len());
        for worker in &all {
            worker.stopped().await;
            if let Some(raise) = thrown_by_observer(worker) {
                return Err(raise);
            }
            handles.push(awaited(&world, worker, handle(worker), place.clone()));
        }
        Ok(if many { Value::list(handles) } else { handles.pop().unwrap_or_default() })
    })
    .on(On::Task("for the worker", name)))
}

fn send_input(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let world = here::world(cx)?;
    let worker = worker_arg(args, 0, &world)?;
    let input: Arc<str> = task_of(&args[1]).into();
    if input.trim().is_empty() {
        return Err(Raise::error(RunCode::Value, "this input is empty").about(1, "blank"));
    }
    let scope = resumed_scope(cx, &world, &worker);
    let given = workers::give(&worker, &input, &scope).map_err(|error| match error {
        GiveError::Worker(error) => of_worker(&error).about(0, ""),
        GiveError::Queue(error) => of_queue(&error).about(0, ""),
    })?;
    match given {
        InputOutcome::Queued if worker.status() == WorkerStatus::Suspended => Ok(Wait::new(async move {
            worker.store_again().await.map_err(|error| of_snapshot(&error).about(0, "its snapshot"))?;
            Ok(handle(&worker))
        })),
        InputOutcome::Queued => Ok(Wait::ready(Ok(handle(&worker)))),
        InputOutcome::NextTask => Ok(spawned(&WorkerContext::of(cx, &world), Making { worker, scope })),
    }
}

fn close_agent(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let world = here::world(cx)?;
    let worker = worker_arg(args, 0, &world)?;
    let inside = is_inside(cx, &world, &worker);
    let scope = resumed_scope(cx, &world, &worker);
    let cancel = scope.cancel.clone();
    Ok(Wait::new(async move {
        workers::close(&worker, &scope).await.map_err(|e| to_raise(&e))?;
        if !inside {
            worker.stopped().await;
        }
        // Closing a worker discards its answer, so its failure counts as handled.
        if let Some(failed) = awaited(&world, &worker, Value::Nil, None).as_host::<FailedLoop>() {
            failed.let_go();
        }
        thrown_by_observer(&worker).map_or_else(|| Ok(handle(&worker)), Err)
    })
    .stopped_by(move |reason| cancel.cancel(reason)))
}

fn list_agents(cx: &mut Cx<'_>, _: &mut [Value]) -> Result<Value, Box<Raise>> {
    let all = here::world(cx)?.agents.workers.list();
    Ok(Value::list(all.iter().filter(|worker| !worker.is_closed()).map(|worker| handle(worker)).collect()))
}

fn suspend_agent(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let world = here::world(cx)?;
    let worker = worker_arg(args, 0, &world)?;
    let reason = args::opt_str(args, 1)?.map_or("suspended by the operator", |reason| reason.as_str());
    check_state(&worker, WorkerStatus::Running, "be suspended")?;
    if let Some(path) = snapshot_path(cx, args, 2)? {
        worker.want_snapshot_at(path);
    }
    worker.parking.request(reason, false);
    // From its own tools and hooks it is suspended as soon as these are done.
    if is_inside(cx, &world, &worker) {
        return Ok(Wait::ready(Ok(handle(&worker))));
    }
    let name = Str::new(&worker.name);
    Ok(Wait::new(async move {
        worker.stopped().await;
        thrown_by_observer(&worker).map_or_else(|| Ok(handle(&worker)), Err)
    })
    .on(On::Task("for the worker", Some(name))))
}

/// Returns the path of the snapshot, from the options.
fn snapshot_path(cx: &Cx<'_>, args: &[Value], i: usize) -> Result<Option<Arc<str>>, Box<Raise>> {
    let Some(path) = SuspendOptions::read(cx, args, i)?.snapshot_path else { return Ok(None) };
    let wrong = |code: CodeRef, message: &str| Raise::error(code, message).about(i, "invalid `snapshot_path`");
    if path.trim().is_empty() {
        return Err(wrong(RunCode::Value.into(), "`snapshot_path` is blank"));
    }
    if cx.isolate.is_denied(Capability::FsWrite) {
        let message = "snapshots need the capability `fs.write`, which this run does not have";
        return Err(wrong(RunCode::Denied.into(), message));
    }
    cx.check_copy(path.len().saturating_mul(3))?;
    Ok(Some(here::world(cx)?.path_text(&path)))
}

fn check_state(worker: &Worker, wanted: WorkerStatus, what: &'static str) -> Result<(), Box<Raise>> {
    let status = worker.status();
    if status == wanted {
        return Ok(());
    }
    Err(of_worker(&WorkerError::State { name: worker.name.clone(), status, what }).about(0, ""))
}

fn resume_agent(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let world = here::world(cx)?;
    let found = to_be_resumed(cx, args, &world)?;
    if let ToResume::Here(worker) = &found {
        check_state(worker, WorkerStatus::Suspended, "be resumed")?;
        not_inside(cx, &world, worker, 0)?;
    }
    let how = Resumption {
        initiator: "operator".into(),
        input: to_data(&args[1]).map_err(|raise| raise.about(1, ""))?,
        continue_transcript: args[2].is_nil() || args::bool(args, 2)?,
    };
    let path = match found {
        ToResume::Here(worker) => {
            let scope = resumed_scope(cx, &world, &worker);
            let cancel = scope.cancel.clone();
            let resumed = resumed(WorkerContext::of(cx, &world), worker, scope, how);
            return Ok(Wait::new(resumed).stopped_by(move |reason| cancel.cancel(reason)));
        }
        ToResume::Stored(path) => path,
    };
    let given = args::opt_dict(args, 3)?.cloned();
    let (isolate, context) = (cx.isolate.clone(), cx.context.clone());
    let stop: Rc<OnceCell<Cancel>> = Rc::default();
    let scope_of = stop.clone();
    Ok(Wait::new(async move {
        let cx = Cx { isolate: &isolate, context: &context };
        let worker = restore(&cx, &world, &path, given.as_ref(), 3).await?;
        let scope = resumed_scope(&cx, &world, &worker);
        let _ = scope_of.set(scope.cancel.clone());
        resumed(WorkerContext::of(&cx, &world), worker, scope, how).await
    })
    .stopped_by(move |reason| {
        if let Some(cancel) = stop.get() {
            cancel.cancel(reason);
        }
    }))
}

/// A worker that is to be resumed.
enum ToResume {
    /// It was suspended in this run.
    Here(Rc<Worker>),
    /// Its snapshot has this path.
    Stored(Arc<str>),
}

/// Returns the worker of a handle or an id, else the path of a snapshot.
fn to_be_resumed(cx: &Cx<'_>, args: &[Value], world: &Rc<World>) -> Result<ToResume, Box<Raise>> {
    let unknown = match worker_arg(args, 0, world) {
        Ok(worker) => return Ok(ToResume::Here(worker)),
        Err(raise) => raise,
    };
    let path = match &args[0] {
        Value::Str(path) => Some(path.as_str()),
        handle => as_dict(handle).and_then(|handle| handle.get_str("snapshot_path")).and_then(Value::as_str),
    };
    let Some(path) = path else { return Err(unknown) };
    // The path below the project's folder, and its text.
    cx.check_copy(path.len().saturating_mul(3))?;
    let path = world.path_text(path);
    // One that was suspended here is still here.
    if let Some(known) = world.agents.workers.list().into_iter().find(|w| w.snapshot_path().as_ref() == Some(&path)) {
        return Ok(ToResume::Here(known));
    }
    if [Capability::FsRead, Capability::FsWrite].iter().any(|right| cx.isolate.is_denied(*right)) {
        let message = "snapshots need the capabilities `fs.read` and `fs.write`, which this run does not have";
        return Err(Raise::error(AgentCode::Snapshot, message).about(0, "a snapshot"));
    }
    Ok(ToResume::Stored(path))
}

async fn resumed(crew: WorkerContext, worker: Rc<Worker>, scope: Scope, how: Resumption) -> Result<Value, Box<Raise>> {
    // Observers of the suspension are notified before the worker goes on.
    worker.stopped().await;
    workers::resume(&worker, &scope, &how).await.map_err(|e| to_raise(&e))?;
    crew.start(&worker, scope)?;
    Ok(handle(&worker))
}

fn agent_lifecycle_tools(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    let mut tools = tools_of(args, 0)?;
    let subagents = match LifecycleToolOptions::read(cx, args, 1)?.subagents {
        None | Some(Value::Bool(true)) => None,
        Some(Value::List(l)) => {
            let each = l.items.iter().map(|value| worker_of(args, 1, value, &world).map(|worker| worker.id.clone()));
            Some(each.collect::<Result<Vec<Arc<str>>, _>>()?.into())
        }
        Some(one) => Some([worker_of(args, 1, &one, &world)?.id.clone()].into()),
    };
    let (isolate, context) = (Rc::downgrade(cx.isolate), cx.context.clone());
    let reach = ReachableWorkers { isolate, context, world: Rc::downgrade(&world), subagents };
    for tool in [Rc::new(PauseTool::new(reach.clone())) as Rc<dyn Tool>, Rc::new(ResumeTool::new(reach))] {
        let name = Str::new(&tool.spec().name);
        tools.insert(name, native_tool(tool));
    }
    Ok(registry_of(tools))
}
