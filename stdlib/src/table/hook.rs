//! Registering hooks.

use super::bridge::seam_arg;
use crate::bind::{ScriptFn, ScriptHook};
use crate::convert::to_data;
use crate::fault::to_raise;
use crate::here;
use crate::lint;
use crate::options::{OptionSet, ToolHookOptions};
use base::data::Data;
use lang::builtins::args;
use lang::diagnostic::nearest;
use lang::value::Value;
use lang::vm::{Cx, Raise, RunCode, Wait};
use runtime::events::EventKind;
use runtime::hooks::{Hook, HookEvent, Hooks, Pattern, SessionHook, ToolHook};
use runtime::listeners::Listeners;
use runtime::reminder::bridge::Seam;
use runtime::reminder_providers::files_of;
use runtime::seam::Turn;
use std::rc::Rc;
use std::sync::Arc;

lang::builtins! { "" =>
    /// Registers handlers around tool calls. `pre` may refuse or change a call, `post` its result; both may remind.
    ///
    /// ```harn
    /// register_tool_hook({pattern: "look", pre: { call -> {deny: "not now"} }})
    /// let tools = tool_define(tool_registry(), "look", "Looks.", {handler: { a -> "seen" }})
    /// llm_mock(llm_tool_call("look", {}))
    /// llm_mock("done")
    /// let result = agent_loop("Go.", nil, {provider: "mock", tools: tools})
    /// [result.tools.successful, result.tools.rejected] // => [[], ["look"]]
    /// ```
    plain "register_tool_hook(hook: ToolHook) -> nil" [lint = lint::tool_hook] register_tool_hook;
    /// Registers a handler of a session event, optionally of those that fit a pattern.
    ///
    /// ```harn
    /// register_session_hook("session_end", { event -> println("ended: ${event.final_status}") })
    /// llm_mock("done")
    /// let result = agent_loop("Go.", nil, {provider: "mock"}) // => ended: done
    /// ```
    plain "register_session_hook(event: string, pattern: nil | string | fn(E) -> any, handler: fn(E) -> any = nil) -> nil" [lint = lint::session_hook] register_session_hook;
    /// Registers a handler of the loop's seams: a name, a list of names, nil or `"*"` for all.
    ///
    /// ```harn
    /// let count = atomic(0)
    /// register_checkpoint_hook("iteration_start", { checkpoint -> atomic_add(count, 1) })
    /// llm_mock("done")
    /// agent_loop("Go.", nil, {provider: "mock"}).status // => "done"
    /// atomic_get(count) // => 1
    /// ```
    plain "register_checkpoint_hook(kinds: any, handler: fn(LoopCheckpoint) -> any) -> nil" [lint = lint::checkpoint_hook] register_checkpoint_hook;
    /// Registers an observer of a worker event; it cannot remind.
    ///
    /// ```harn
    /// register_worker_hook("worker_completed", { event -> println("completed") })
    /// llm_mock("done")
    /// let worker = wait_agent(spawn_agent({task: "Go.", provider: "mock"})) // => completed
    /// ```
    plain "register_worker_hook(event: string, handler: fn(E) -> any) -> nil" [lint = lint::worker_hook] register_worker_hook;
    /// Forgets all tool hooks.
    ///
    /// ```harn
    /// register_tool_hook({pre: { call -> {deny: "not now"} }})
    /// clear_tool_hooks() // => nil
    /// ```
    plain "clear_tool_hooks() -> nil" clear_tool_hooks;
    /// Forgets all handlers of session events, seams and worker events.
    ///
    /// ```harn
    /// register_session_hook("session_end", { event -> nil })
    /// clear_session_hooks() // => nil
    /// ```
    plain "clear_session_hooks() -> nil" clear_session_hooks;
    /// Tells the handlers of `file_edited` that a file changed.
    ///
    /// ```harn
    /// agent_session_open("s") // => "s"
    /// register_session_hook("file_edited", { event -> println("edited: ${event.path}") })
    /// notify_file_edited("a.txt") // => edited: a.txt
    /// ```
    waits "notify_file_edited(path: string, metadata: any = nil) -> nil" notify_file_edited;
}

/// The event that an argument names, in either case.
pub(super) fn event_arg(
    args: &[Value],
    i: usize,
    fits: fn(EventKind) -> bool,
    what: &str,
) -> Result<EventKind, Box<Raise>> {
    let name = args::str(args, i)?;
    let kind = EventKind::parse(name).ok().filter(|kind| fits(*kind));
    kind.ok_or_else(|| {
        let known: Vec<&str> = EventKind::ALL.iter().filter(|k| fits(**k)).map(|k| k.as_str()).collect();
        let raise = Raise::error(RunCode::Value, format!("unknown {what} event `{name}`")).about(i, "unknown event");
        match nearest(name, known.iter().copied()) {
            Some(near) => raise.help(format!("did you mean `{near}`?")),
            None => raise.help(format!("the {what} events are {}", known.join(", "))),
        }
    })
}

/// The pattern in an argument.
pub(super) fn pattern_of(text: &str, i: usize) -> Result<Pattern, Box<Raise>> {
    Pattern::parse(text).map_err(|e| Raise::error(RunCode::Value, e.to_string()).about(i, "this pattern"))
}

fn register_tool_hook(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    args::dict(args, 0)?;
    let options = ToolHookOptions::read(cx, args, 0)?;
    let name = options.pattern.as_deref().unwrap_or("*").to_owned();
    let handler = |function: ScriptFn| -> Rc<dyn Hook> { Rc::new(ScriptHook { function, name: name.clone() }) };
    let hook = ToolHook {
        pattern: options.pattern.as_deref().map_or(Ok(Pattern::all()), |pattern| pattern_of(pattern, 0))?,
        pre: options.pre.map(handler),
        post: options.post.map(handler),
        deny: options.deny,
        max_output: options.max_output,
    };
    room(&world.agents.hooks)?;
    world.agents.hooks.add_tool(hook);
    Ok(Value::Nil)
}

/// Refuses one handler too many: a registration in a loop is a mistake, and each event asks all of them.
pub(super) fn room(hooks: &Hooks) -> Result<(), Box<Raise>> {
    if !hooks.is_full() {
        return Ok(());
    }
    let message = format!("too many handlers: {} are already registered", Hooks::MOST);
    Err(Raise::error(RunCode::Value, message)
        .help("register handlers once, at the top of a script; `clear_session_hooks()` and the like remove them"))
}

fn register_session_hook(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    let event = event_arg(args, 0, EventKind::is_session, "session")?;
    // Two arguments: event and handler. Three: a pattern in between.
    let (pattern, handler) = if args[2].is_nil() { (None, 1) } else { (args::opt_str(args, 1)?.cloned(), 2) };
    let function = ScriptFn::read(cx, args, handler)?;
    let mut hook = SessionHook::new(event, Rc::new(ScriptHook { function, name: event.to_string() }));
    hook.pattern = pattern.map(|p| pattern_of(&p, 1)).transpose()?;
    room(&world.agents.hooks)?;
    world.agents.hooks.add_session(hook);
    Ok(Value::Nil)
}

fn register_checkpoint_hook(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    let function = ScriptFn::read(cx, args, 1)?;
    let seam = |name: &str| seam_arg(name, 0);
    let seams: Option<Vec<Seam>> = match &args[0] {
        Value::Nil => None,
        Value::Str(s) if s.as_str() == "*" => None,
        Value::Str(s) => Some(vec![seam(s)?]),
        Value::List(l) => Some(
            l.items
                .iter()
                .map(|v| v.as_str().ok_or_else(|| args::mismatch(args, 0, "names of seams")).and_then(seam))
                .collect::<Result<_, _>>()?,
        ),
        _ => return Err(args::mismatch(args, 0, "a name, a list of names, nil or \"*\"")),
    };
    let kind = EventKind::LoopCheckpoint;
    let mut hook = SessionHook::new(kind, Rc::new(ScriptHook { function, name: kind.to_string() }));
    hook.seams = seams.map(Into::into);
    room(&world.agents.hooks)?;
    world.agents.hooks.add_session(hook);
    Ok(Value::Nil)
}

fn register_worker_hook(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    let event = event_arg(args, 0, EventKind::is_worker, "worker")?;
    let function = ScriptFn::read(cx, args, 1)?;
    room(&world.agents.hooks)?;
    world.agents.hooks.add_session(SessionHook::new(event, Rc::new(ScriptHook { function, name: event.to_string() })));
    Ok(Value::Nil)
}

fn clear_tool_hooks(cx: &mut Cx<'_>, _: &mut [Value]) -> Result<Value, Box<Raise>> {
    here::world(cx)?.agents.hooks.clear_tool();
    Ok(Value::Nil)
}

fn clear_session_hooks(cx: &mut Cx<'_>, _: &mut [Value]) -> Result<Value, Box<Raise>> {
    here::world(cx)?.agents.hooks.clear_session();
    Ok(Value::Nil)
}

fn notify_file_edited(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let world = here::world(cx)?;
    let path: Arc<str> = Arc::from(args::str(args, 0)?.as_str());
    let metadata = if args[1].is_nil() { Data::empty_dict() } else { to_data(&args[1]).map_err(|r| r.about(1, ""))? };
    let scope = here::own_scope(cx, &world);
    // Outside of a loop there is no current session: every open session is notified.
    let sessions = match here::session(cx) {
        Some(session) => vec![session],
        None => world.agents.sessions.list().iter().filter_map(|id| world.agents.sessions.get(id).ok()).collect(),
    };
    let cancel = scope.cancel.clone();
    Ok(Wait::new(async move {
        let (reminders, providers) = here::reminders_of_loop(&scope, &world)?;
        let listeners = Listeners {
            hooks: &world.agents.hooks,
            providers: &providers,
            files: files_of(&scope),
            config: &reminders.config,
            strict: reminders.strict,
        };
        for session in sessions {
            let turn = Turn { session: &session, number: session.with(|s| s.turns), scope: &scope };
            let event = HookEvent::FileEdited { path: &path, metadata: &metadata };
            listeners.emit(turn, &event).get().await.map_err(|e| to_raise(&e))?;
        }
        for note in &scope.notes.all() {
            world.console.show(note);
        }
        Ok(Value::Nil)
    })
    .stopped_by(move |reason| cancel.cancel(reason)))
}
