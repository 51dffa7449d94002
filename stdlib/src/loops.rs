//! A loop as a script describes it, made into what the core runs. `agent_loop`, sub-agents and workers share it.

mod permissions;

use crate::bind::{OutsideApprover, ScriptHook, ScriptModel, conditions_of, offered, roomy_model};
use crate::capability::Capability;
use crate::convert::{TranscriptValue, to_data, to_value};
use crate::failed_loop::{FailedLoop, FailureSubject};
use crate::fault::{of_reminder, of_session};
use crate::here;
use crate::mcp::{ServerTools, server_of};
use crate::options::{BudgetOptions, OptionReader, SharedLoopOptions, compaction, daemon, label_of, reminder_options};
use crate::progress::watch;
use crate::skills::Skills;
use crate::tool_search::{Deferral, SearchedTools};
use crate::tool_value::tools_from;
use crate::world::World;
use base::data::Data;
use lang::source::{SourceRef, Span};
use lang::value::{Str, Value};
use lang::vm::{Cx, Raise, RunCode};
use permissions::ScriptPermissions;
use runtime::agent_loop::{LoopOptions, LoopParts, LoopResult, SourcedTools, ToolMode, ToolSource};
use runtime::capabilities::Capabilities;
use runtime::hooks::Hook;
use runtime::model::Request;
use runtime::reminder_providers::{ReminderFiles, ReminderOptions};
use runtime::scope::Scope;
use runtime::seam::{Approver, Model, Permissions};
use runtime::session::Session;
use runtime::text_tools::TextTools;
use std::rc::Rc;
use std::sync::Arc;

/// The parts and options of a loop.
pub(crate) struct Prepared {
    pub(crate) parts: LoopParts,
    pub(crate) options: LoopOptions,
}

/// Reads everything that a loop needs before anything changes.
pub(crate) fn prepare(
    cx: &Cx<'_>,
    world: &Rc<World>,
    reader: &OptionReader<'_>,
    options: &SharedLoopOptions,
    task: String,
    system: Option<&str>,
) -> Result<Prepared, Box<Raise>> {
    let arg = reader.arg();
    // The session keeps a copy of these texts, each prompt holds one, and so does the event log.
    cx.check_copy((task.len() + system.map_or(0, str::len)).saturating_mul(3))?;
    let skills = Skills::read(cx, world, &options.skills).map_err(|raise| raise.about(arg, "invalid `skills`"))?;
    let mut request = options.model.request(system);
    if let Some(list) = skills.list() {
        let system = Arc::make_mut(&mut request.system);
        let appendix = system.appendix.as_deref().map_or(list.clone(), |appendix| format!("{appendix}\n\n{list}"));
        system.appendix = Some(appendix.into());
    }
    let mut loop_options = loop_options(world, reader, options, task, request, &here::scope(cx, world))?;
    loop_options.compaction = compaction::auto(cx, options, arg)?;
    daemon::read(cx, options, arg, &mut loop_options)?;
    loop_options.permissions = options
        .permissions
        .as_ref()
        .map(ScriptPermissions::read)
        .transpose()
        .map_err(|raise| raise.about(arg, "invalid `permissions`"))?
        .map(|permissions| Rc::new(permissions) as Rc<dyn Permissions>);
    loop_options.approver = world.hosting.as_ref().and_then(|hosting| {
        let (approver, clock) = (hosting.approver.clone()?, world.clock.clone());
        Some(Rc::new(OutsideApprover { approver, clock }) as Rc<dyn Approver>)
    });
    let parts = parts(cx, world, options, arg, &loop_options, skills)?;
    Ok(Prepared { parts, options: loop_options })
}

fn parts(
    cx: &Cx<'_>,
    world: &Rc<World>,
    options: &SharedLoopOptions,
    arg: usize,
    loop_options: &LoopOptions,
    skills: Skills,
) -> Result<LoopParts, Box<Raise>> {
    let mut tools = Vec::new();
    let at_fault = |raise: Box<Raise>| raise.about(arg, "invalid `tools`");
    tools_from(cx, options.model.tools.as_ref().unwrap_or(&Value::Nil), &mut tools).map_err(at_fault)?;
    tools.extend(skills.tool());
    let post_turn = options.post_turn_callback.clone();
    let post_turn = post_turn
        .map(|function| Rc::new(ScriptHook { function, name: "post_turn_callback".to_owned() }) as Rc<dyn Hook>);
    let model: Rc<dyn Model> = match options.llm_caller.clone() {
        Some(function) => Rc::new(ScriptModel { function }),
        None => {
            announce(world, &loop_options.model.request);
            world.services.routes.clone()
        }
    };
    let judge: Rc<dyn Model> = world.services.routes.clone();
    let model = if loop_options.model.tool_mode == ToolMode::Text { Rc::new(TextTools::new(model)) } else { model };
    let tools = offered(world, tools);
    let servers = options.mcp_servers.iter().map(|server| server_of(cx, world, server, arg));
    let servers = servers.collect::<Result<Vec<_>, _>>()?;
    let source = (!servers.is_empty())
        .then(|| Rc::new(ServerTools::new(world, tools.clone(), servers, arg)) as Rc<dyn ToolSource>);
    let deferral = options.tool_search.clone().unwrap_or(Deferral::Annotated);
    let source = SearchedTools::of_loop(&tools, source.clone(), deferral).or(source);
    let source = source.map(|source| SourcedTools { source, loaded: None });
    let model = match &world.hosting {
        Some(hosting) => roomy_model(model, hosting),
        None => model,
    };
    let judge = match &world.hosting {
        Some(hosting) => roomy_model(judge, hosting),
        None => judge,
    };
    let (hooks, providers) = (world.agents.hooks.clone(), world.agents.providers.clone());
    let conditions = conditions_of(world);
    let files = reminder_files(cx, world, arg, loop_options)?;
    Ok(LoopParts {
        model,
        tools,
        source,
        hooks,
        providers,
        conditions,
        slots: world.agents.slots.clone(),
        judge: Some(judge),
        files,
        post_turn,
        live: watch(world),
    })
}

/// Reports, once a run each, that the mock answers for lack of a provider, and that a key goes to another server than the
/// vendor's own.
pub(crate) fn announce(world: &Rc<World>, request: &Request) {
    let Ok(route) = world.services.routes.choose(request.provider.as_deref(), request.model.as_deref()) else { return };
    if route.fell_back_to_mock {
        world.console.say_once(
            "note: no provider is selected and no key is set, so the mock model answers (set HARN_LLM_PROVIDER)",
        );
    }
    if let Some((variable, origin)) = route.key_sent_elsewhere {
        world.console.say_once(&format!("note: sending the key of {variable} to {origin}"));
    }
}

/// Returns the reminder files of a loop, if it uses them.
fn reminder_files(
    cx: &Cx<'_>,
    world: &Rc<World>,
    arg: usize,
    loop_options: &LoopOptions,
) -> Result<Option<Rc<dyn ReminderFiles>>, Box<Raise>> {
    let files = &world.agents.files;
    if !loop_options.reminders.wants_files(files.is_default()) {
        return Ok(None);
    }
    let by_script = loop_options.reminders.files == Some(true);
    // Those of a project are its settings, which need no capability.
    if by_script && !files.is_default() && cx.isolate.is_denied(Capability::FsRead) {
        let message = "`reminders.files` needs the capability `fs.read`, which this run does not have";
        return Err(Raise::error(RunCode::Denied, message)
            .about(arg, "invalid `reminders`")
            .help("run without `--deny` for this capability, or remove `files`"));
    }
    Ok(Some(files.of_loop(world.pool(), by_script)))
}

fn loop_options(
    world: &World,
    reader: &OptionReader<'_>,
    options: &SharedLoopOptions,
    task: String,
    request: Request,
    around: &Scope,
) -> Result<LoopOptions, Box<Raise>> {
    let mut out = LoopOptions::new(task);
    // A route that cannot be chosen fails the first call, and the result says so.
    let route = world.services.routes.choose(request.provider.as_deref(), request.model.as_deref());
    out.model.capabilities = Arc::new(route.map_or_else(|_| Capabilities::default(), |route| route.capabilities));
    out.model.stream = options.model.stream;
    // A loop sends its prompt repeatedly; a single call would pay for a cache that is never read.
    let prompt_cache = options.model.prompt_cache.unwrap_or(true);
    out.model.request = Request { stream: world.observers.live.is_some(), prompt_cache, ..request };
    out.limits.max_iterations = options.max_iterations;
    out.limits.max_nudges = options.max_nudges;
    out.sentinel.is_required = options.loop_until_done;
    if options.done_sentinel.trim().is_empty() {
        return Err(Raise::error(RunCode::Value, "`done_sentinel` is blank, so every answer would contain it")
            .about(reader.arg(), "invalid `done_sentinel`")
            .help("choose a word that the model writes only when it is done"));
    }
    out.sentinel.word = options.done_sentinel.clone();
    if let Some(persona) = &options.persona {
        out.persona = persona.clone();
    }
    out.limits.deadline_ms = options.deadline;
    out.limits.hook_timeout_ms = options.hook_timeout_ms;
    out.limits.token_budget = options.token_budget;
    out.limits.budget = options.model.budget.as_ref().map(BudgetOptions::limits);
    reader.check_price(world, out.limits.budget, around.budget.as_ref(), &out.model.request)?;
    out.limits.max_tool_output_chars = options.max_tool_output_chars;
    out.parallel_tool_calls = options.parallel_tool_calls;
    out.limits.max_repeats = options.max_repeats;
    if options.model.wants_text_tools(out.model.capabilities.native_tools) {
        out.model.tool_mode = ToolMode::Text;
    }
    out.reminders = reminder_options(options.model.reminders.as_ref().unwrap_or(&Data::Nil), world, reader.arg())?;
    // The loop selects them itself; here the error still knows its place among the options.
    let selected = out.reminders.select(&world.agents.providers).map(drop);
    let at_fault = |e: runtime::reminder::ReminderError| of_reminder(&e).about(reader.arg(), label_of(&e));
    selected.map_err(|e| at_fault(e.under("reminders")))?;
    let told = out.reminders.config.get("token_pressure").get("context_window").as_int();
    out.model.context_window = told.and_then(|window| u64::try_from(window).ok()).filter(|window| *window > 0);
    out.written = reader.written();
    inherit_placement(&mut out, around);
    let placement = &mut out.reminders.placement;
    *placement = placement.or(out.model.capabilities.placement).or(world.reminder_placement.get());
    Ok(out)
}

/// A loop inside of another one places its reminders as that one does, unless it says otherwise. What it inherits is among its
/// options as written, so that the loops inside of it inherit it, too.
fn inherit_placement(options: &mut LoopOptions, around: &Scope) {
    if options.reminders.placement.is_some() || around.caller.depth == 0 {
        return;
    }
    let inherited = ReminderOptions::from_data(around.options.get("reminders")).ok();
    let Some(placement) = inherited.and_then(|inherited| inherited.placement) else { return };
    options.reminders.placement = Some(placement);
    let own = match options.written.get("reminders") {
        Data::Nil => Data::empty_dict(),
        own @ Data::Dict(_) => own.clone(),
        _ => return,
    };
    if options.written.is_nil() {
        options.written = Data::empty_dict();
    }
    options.written.set("reminders", own.with("placement", placement.as_str().into()));
}

/// Puts the messages of the option `messages` into the session.
pub(crate) fn put_messages(
    world: &World,
    session: &Session,
    options: &SharedLoopOptions,
    arg: usize,
    scope: &Scope,
) -> Result<(), Box<Raise>> {
    for message in options.model.messages.iter().flatten() {
        let message = to_data(message)?;
        let put = world.agents.sessions.inject(session.id(), &message, scope);
        put.map_err(|e| of_session(&e).about(arg, "invalid `messages`"))?;
    }
    Ok(())
}

/// A loop's result as a script sees it. `place` is the call; the run remembers a failure until the script handles it.
pub(crate) fn result_value(
    world: &Rc<World>,
    result: &LoopResult,
    data: Option<Value>,
    place: Option<(SourceRef, Span)>,
) -> Value {
    let mut dict = to_value(&result.to_data()).as_dict().cloned().unwrap_or_default();
    if let Some(data) = data {
        dict.insert(Str::new("data"), data);
    }
    dict.insert(Str::new("transcript"), TranscriptValue::value(result.transcript.clone()));
    let value = Value::dict(dict);
    if result.has_failed() {
        let failure = world.stop.failures.add(FailureSubject::Loop, &result.error, place);
        return failure.map_or(value.clone(), |failure| FailedLoop::value(value, failure));
    }
    value
}
