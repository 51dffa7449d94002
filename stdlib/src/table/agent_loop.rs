//! `agent_loop`.

use crate::answer::AnswerType;
use crate::capability::Capability;
use crate::convert::to_value;
use crate::fault::{of_session, to_raise};
use crate::here;
use crate::lint;
use crate::loops::{Prepared, prepare, put_messages, result_value};
use crate::options::{AgentLoopOptions, OptionReader, OptionSet};
use crate::persist::{self, PersistPaths, Plan};
use crate::world::World;
use base::call::call_error;
use base::clock::Clock;
use base::data::Data;
use lang::builtins::{TypedBy, args};
use lang::value::{Str, Value, display};
use lang::vm::{Cx, Raise, Wait};
use runtime::scope::{Scope, Stopped};
use runtime::session::{Session, SessionError};
use std::rc::Rc;

lang::builtins! { "" =>
    /// Lets a model work on a task with tools until it is done: `{status, stop_reason, text, llm, tools, transcript,
    /// session_id, diagnostics, …}`. `agent_loop(…)?` raises what it failed with. Canonical reminder providers watch, unless `reminders`
    /// says otherwise. With `transcript` the loop has a new session with the messages and pending reminders of that transcript.
    ///
    /// ```harn
    /// llm_mock("Paris.")
    /// let result = agent_loop("What is the capital of France?", "Answer in one word.", {provider: "mock"})
    /// [result.status, result.text] // => ["done", "Paris."]
    /// ```
    waits "agent_loop(task: any, system: string? = nil, options: AgentLoopOptions = nil) -> AgentLoopResult" [caps = &[Capability::Llm.right()], lint = lint::agent_loop, typed_by = &[TypedBy::key("output_schema", "data")]] agent_loop;
}

fn agent_loop(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let world = here::world(cx)?;
    let system = args::opt_str(args, 1)?.cloned();
    let reader = OptionReader::new::<AgentLoopOptions>(args, 2)?;
    let given = AgentLoopOptions::of(cx, &reader)?;
    let task = if args[0].is_nil() { String::new() } else { display(&args[0]) };
    let prepared = prepare(cx, &world, &reader, &given.shared, task, system.as_ref().map(Str::as_str))?;
    let answer = given.shared.model.output_schema.clone().map(|ty| AnswerType::of(cx, ty));
    let scope = here::own_scope(cx, &world);
    let source = match persist::paths(cx, &given)? {
        Some(paths) => SessionSource::Disk { paths, args: args.to_vec(), given: Box::new(given) },
        None => SessionSource::Opened(session_of(&world, &reader, &given, &scope, &Plan::default())?),
    };
    let cancel = scope.cancel.clone();
    let isolate = Rc::downgrade(cx.isolate);
    Ok(Wait::new(async move {
        // The first poll comes from the call itself: later other fibers of the task may wait too.
        let place = isolate.upgrade().and_then(|isolate| isolate.waiting_place());
        let Prepared { mut parts, mut options } = prepared;
        let mut notes = Vec::new();
        if let Some(sourced) = &mut parts.source {
            // Before the session is opened: a server that cannot be used keeps the loop from starting. Boxed: most loops have
            // no servers, and loops nest.
            let loading = Scope { notes: Rc::default(), ..scope.clone() };
            let load = Box::pin(sourced.source.load(&loading));
            let loaded = tokio::select! {
                biased;
                reason = scope.cancel.cancelled() => return Err(to_raise(&call_error(Stopped::Cancelled(reason)))),
                loaded = load => loaded.map_err(|fault| to_raise(&fault))?,
            };
            sourced.loaded = Some(loaded.revision);
            parts.tools = loaded.tools;
            notes = loading.notes.take();
        }
        let session = match source {
            SessionSource::Opened(session) => session,
            SessionSource::Disk { paths, args, given } => {
                let resumed = async {
                    let reader = OptionReader::new::<AgentLoopOptions>(&args, 2)?;
                    let plan = paths.plan(&world, &reader, &given, system.as_ref().map(Str::as_str)).await?;
                    let session = session_of(&world, &reader, &given, &scope, &plan)?;
                    plan.apply(&world, &session, &scope, &parts, &mut options).await?;
                    Ok::<_, Box<Raise>>(session)
                };
                // A disk that does not answer must not keep a cancelled run.
                tokio::select! {
                    biased;
                    reason = scope.cancel.cancelled() => return Err(to_raise(&call_error(Stopped::Cancelled(reason)))),
                    session = resumed => session?,
                }
            }
        };
        let result = runtime::agent_loop::agent_loop(&session, &scope, &parts, options).await;
        let mut result = result.map_err(|fault| {
            let raise = to_raise(&fault);
            if raise.located { raise } else { raise.about(2, "") }
        })?;
        result.diagnostics.splice(0..0, notes);
        for note in &result.diagnostics {
            world.console.show(note);
        }
        let data = match &answer {
            Some(ty) if !matches!(result.data, Data::Nil) => Some(ty.decode(to_value(&result.data)).await?),
            _ => None,
        };
        Ok(result_value(&world, &result, data, place))
    })
    .stopped_by(move |reason| cancel.cancel(reason)))
}

/// The session of a loop.
enum SessionSource {
    Opened(Rc<Session>),
    /// Opened once the files of the loop are read.
    Disk {
        paths: PersistPaths,
        args: Vec<Value>,
        given: Box<AgentLoopOptions>,
    },
}

/// Returns the session of a loop, with the messages of its options.
fn session_of(
    world: &Rc<World>,
    reader: &OptionReader<'_>,
    given: &AgentLoopOptions,
    scope: &Scope,
    plan: &Plan,
) -> Result<Rc<Session>, Box<Raise>> {
    let transcript = reader.transcript(given.transcript.as_ref(), world, scope)?;
    let session = match (plan.session(world)?, transcript) {
        (Some(session), _) => session,
        (None, Some(transcript)) => world.agents.sessions.open_with(transcript, scope),
        (None, None) => {
            let named = given.shared.model.session_id.as_deref();
            let current = if named.is_none() { free_current(world, scope) } else { None };
            current.unwrap_or_else(|| world.agents.sessions.open(named, world.clock.now_ms()))
        }
    };
    if session.is_busy() {
        let error = of_session(&SessionError::Busy(session.id().clone()));
        return Err(error.about(2, "invalid `session_id`"));
    }
    // A loop that goes on has them already.
    if !plan.resumes() {
        put_messages(world, &session, &given.shared, reader.arg(), scope)?;
    }
    Ok(session)
}

/// The current session of a served script, where no loop is at work in it. Those who work for another have their own.
fn free_current(world: &World, scope: &Scope) -> Option<Rc<Session>> {
    world.current_session().filter(|session| !scope.caller.is_worker && !session.is_busy())
}
