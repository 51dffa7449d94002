//! `agent_loop`.

use crate::bind::{ScriptHook, ScriptModel, ScriptPermissions};
use crate::convert::{to_data, to_value};
use crate::fault::{of_reminder, of_session, to_raise};
use crate::here;
use crate::lint;
use crate::options::{Reader, label_of};
use crate::table::llm::announce;
use crate::table::tool::tools_from;
use crate::values::TranscriptValue;
use crate::world::World;
use lang::builtins::{Capability, args};
use lang::value::{Str, Value, display};
use lang::vm::{Cx, Raise, Wait, codes};
use runtime::agent_loop::{LoopOptions, LoopResult, Parts};
use runtime::capabilities::Capabilities;
use runtime::clock::Clock;
use runtime::hooks::Hook;
use runtime::seam::{Model, Permissions};
use std::rc::Rc;
use std::sync::Arc;

lang::builtins! { "" =>
    /// Lets a model work on a task with tools until it is done: `{status, stop_reason, text, llm, tools, transcript,
    /// session_id, diagnostics, …}`. Canonical reminder providers watch, unless `reminders` says otherwise.
    waits "agent_loop(task: any, system: string? = nil, options: AgentLoopOptions = nil) -> dict" [caps = &[Capability::Llm], lint = lint::agent_loop] agent_loop;
}

fn agent_loop(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let world = here::world(cx)?;
    let system = args::opt_str(args, 1)?.cloned();
    let options = Reader::agent_loop(args, 2)?;
    if options.text("tool_format")?.as_deref() == Some("text") {
        return Err(Raise::error(codes::VALUE, "`tool_format: \"text\"` is not supported yet").about(2, ""));
    }
    let task = if args[0].is_nil() { String::new() } else { display(&args[0]) };
    let request = options.request(system.as_ref().map(Str::as_str))?;
    let caller = options.function(cx, "llm_caller")?;
    let capabilities = match (&caller, world.routes.choose(request.provider.as_deref(), request.model.as_deref())) {
        // A route that cannot be chosen fails the first call, and the result says so.
        (_, Ok(route)) => route.capabilities,
        (_, Err(_)) => Capabilities::default(),
    };
    let now = world.clock.now_ms();
    let session = world.sessions.open(options.text("session_id")?.as_deref(), now);
    let scope = here::own_scope(cx, &world);
    if let Some(messages) = options.value("messages").as_list() {
        for message in messages {
            let message = to_data(message)?;
            world
                .sessions
                .inject(session.id(), &message, &scope)
                .map_err(|e| of_session(&e).about(2, "`messages` is at fault"))?;
        }
    }
    let mut loop_options = loop_options(&world, &options, task, request, capabilities)?;
    loop_options.permissions = ScriptPermissions::read(cx, &options.value("permissions"))
        .map_err(|raise| raise.about(2, "`permissions` is at fault"))?
        .map(|permissions| Rc::new(permissions) as Rc<dyn Permissions>);
    let mut tools = Vec::new();
    tools_from(cx, &options.value("tools"), &mut tools).map_err(|raise| raise.about(2, "`tools` is at fault"))?;
    let post_turn = options.function(cx, "post_turn_callback")?;
    let post_turn = post_turn
        .map(|function| Rc::new(ScriptHook { function, name: "post_turn_callback".to_owned() }) as Rc<dyn Hook>);
    let model: Rc<dyn Model> = match caller {
        Some(function) => Rc::new(ScriptModel { function }),
        None => {
            announce(&world, &loop_options.request);
            world.routes.clone()
        }
    };
    let parts = Parts {
        model,
        tools,
        hooks: world.hooks.clone(),
        providers: world.providers.clone(),
        post_turn,
        live: Rc::new(|_| {}),
    };
    let cancel = scope.cancel.clone();
    Ok(Wait::new(async move {
        let result = runtime::agent_loop::agent_loop(&session, &scope, &parts, loop_options).await;
        let result = result.map_err(|fault| {
            let raise = to_raise(&fault);
            if raise.located { raise } else { raise.about(2, "") }
        })?;
        for note in &result.diagnostics {
            world.show(note);
        }
        Ok(result_value(&result))
    })
    .stopped_by(move |reason| cancel.cancel(reason)))
}

fn loop_options(
    world: &World,
    options: &Reader<'_>,
    task: String,
    request: runtime::model::Request,
    capabilities: Capabilities,
) -> Result<LoopOptions, Box<Raise>> {
    let mut out = LoopOptions::new(task);
    out.request = request;
    out.capabilities = Arc::new(capabilities);
    if let Some(n) = options.count("max_iterations")? {
        out.max_iterations = n;
    }
    if let Some(n) = options.count("max_nudges")? {
        out.max_nudges = n;
    }
    out.loop_until_done = options.flag("loop_until_done")?.unwrap_or(false);
    if let Some(word) = options.text("done_sentinel")? {
        out.done_sentinel = word;
    }
    if let Some(persona) = options.text("persona")? {
        out.persona = persona;
    }
    out.token_budget = options.count("token_budget")?;
    out.max_tool_output_chars = options.count("max_tool_output_chars")?;
    out.reminders = options.reminders(world)?;
    // The loop selects them itself; here the error still knows its place among the options.
    let selected = out.reminders.select(&world.providers).map(drop);
    selected.map_err(|e| e.under("reminders")).map_err(|e| of_reminder(&e).about(2, label_of(&e)))?;
    out.written = options.written();
    Ok(out)
}

fn result_value(result: &LoopResult) -> Value {
    let mut dict = to_value(&result.to_data()).as_dict().cloned().unwrap_or_default();
    dict.insert(Str::new("transcript"), TranscriptValue::value(result.transcript.clone()));
    Value::dict(dict)
}
