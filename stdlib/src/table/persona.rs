//! Registering handlers of personas and of the steps of an iteration.

use super::hook::{event_arg, pattern_of, room};
use crate::bind::{ScriptFn, ScriptHook};
use crate::here;
use crate::lint;
use lang::builtins::args;
use lang::diagnostic::nearest;
use lang::value::Value;
use lang::vm::{Cx, Raise, RunCode};
use runtime::events::{EventKind, IterationStep};
use runtime::hooks::{Pattern, PersonaHook};
use std::rc::Rc;

lang::builtins! { "" =>
    /// Registers a handler of a step (`prompt`, `model`, `tools` or a glob) of the personas that fit a glob.
    ///
    /// ```harn
    /// let steps = atomic(0)
    /// register_step_hook("agent", "*", "pre_step", { event ->
    ///   atomic_add(steps, 1)
    ///   nil
    /// })
    /// llm_mock("done")
    /// agent_loop("Go.", nil, {provider: "mock"}).status // => "done"
    /// atomic_get(steps) > 0 // => true
    /// ```
    plain "register_step_hook(persona: string, step: string, event: string, handler: fn(E) -> any) -> nil" [lint = lint::step_hook] register_step_hook;
    /// Registers a handler of an event of the personas that fit a glob, of all their steps.
    ///
    /// ```harn
    /// register_persona_hook("agent", "on_budget_threshold", { event -> nil })
    /// clear_persona_hooks() // => nil
    /// ```
    plain "register_persona_hook(persona: string, event: string, handler: fn(E) -> any) -> nil" [lint = lint::persona_hook] register_persona_hook;
    /// Forgets all handlers of personas and steps.
    ///
    /// ```harn
    /// clear_persona_hooks() // => nil
    /// ```
    plain "clear_persona_hooks() -> nil" clear_persona_hooks;
}

fn register_step_hook(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let step = step_arg(args, 1)?;
    if let Ok(event) = EventKind::parse(args::str(args, 2)?)
        && event.is_step()
        && !event.has_step()
    {
        let raise = Raise::error(RunCode::Value, format!("the event `{event}` is not a step event"))
            .about(2, "not a step event");
        return Err(raise.help("use `register_persona_hook` for it"));
    }
    let event = event_arg(args, 2, EventKind::has_step, "step")?;
    register(cx, args, Some(step), event, 3)
}

fn register_persona_hook(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let event = event_arg(args, 1, EventKind::is_step, "persona")?;
    register(cx, args, None, event, 2)
}

fn register(
    cx: &Cx<'_>,
    args: &[Value],
    step: Option<Pattern>,
    event: EventKind,
    handler: usize,
) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    let persona = pattern_of(args::str(args, 0)?, 0)?;
    let function = ScriptFn::read(cx, args, handler)?;
    let hook = Rc::new(ScriptHook { function, name: event.to_string() });
    room(&world.agents.hooks)?;
    world.agents.hooks.add_persona(PersonaHook { persona, step, event, hook });
    Ok(Value::Nil)
}

/// A glob over the names of steps. One that can fit none of them is a mistake.
fn step_arg(args: &[Value], i: usize) -> Result<Pattern, Box<Raise>> {
    let text = args::str(args, i)?;
    let pattern = pattern_of(text, i)?;
    if IterationStep::ALL.iter().any(|step| pattern.matches_name(step.as_str())) {
        return Ok(pattern);
    }
    let raise = Raise::error(RunCode::Value, format!("unknown step `{text}`")).about(i, "unknown step");
    Err(match nearest(text, IterationStep::WORDS.iter().copied()) {
        Some(near) => raise.help(format!("did you mean `{near}`?")),
        None => raise.help(format!("the steps are {}", IterationStep::WORDS.join(", "))),
    })
}

fn clear_persona_hooks(cx: &mut Cx<'_>, _: &mut [Value]) -> Result<Value, Box<Raise>> {
    here::world(cx)?.agents.hooks.clear_persona();
    Ok(Value::Nil)
}
