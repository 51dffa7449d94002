//! Checks of literals of reminders, hooks, providers and tools.
//!
//! A literal is converted to the data it stands for and read by the core's own strict reader; the
//! error's field path then leads back to the invalid key. So a rule is defined once, and `check`
//! reports what a run would report.

mod effects;
mod events;
mod fact;
mod literal;
mod mcp;
mod options;
mod route;
mod spec;
mod tool;

use effects::Producer;
pub(crate) use fact::{invalidate_facts, recall_facts, store_fact};
use lang::ast::{Expr, ExprKind};
use lang::check::CallView;
use lang::diagnostic::Diagnostic;
pub(crate) use mcp::call_tool;
pub(crate) use options::check_packs_by;
use runtime::events::EventKind;
pub(crate) use tool::tool_define;

/// `transcript.inject_reminder(t, spec)`
pub(crate) fn inject_reminder(view: &CallView<'_>, found: &mut Vec<Diagnostic>) {
    if let Some(arg) = view.arg(1)
        && let Some(dict) = view.dict(arg)
    {
        spec::check(view, &dict, &Producer::Pipeline, found);
    }
}

/// `a2a.inject_reminder(url, task_id, spec, options)`
pub(crate) fn a2a_reminder(view: &CallView<'_>, found: &mut Vec<Diagnostic>) {
    if let Some(arg) = view.arg(2)
        && let Some(dict) = view.dict(arg)
    {
        spec::check_sent(view, &dict, found);
    }
}

/// `mcp.remind(reminder)`
pub(crate) fn mcp_reminder(view: &CallView<'_>, found: &mut Vec<Diagnostic>) {
    if let Some(dict) = view.arg(0).and_then(|arg| view.dict(arg)) {
        spec::check_sent(view, &dict, found);
    }
}

/// `a2a.send(url, message, options)`: the reminders that go with it.
pub(crate) fn a2a_message(view: &CallView<'_>, found: &mut Vec<Diagnostic>) {
    sent_reminders(view, 2, found);
}

/// `hub.publish(message, options)`, `hub.request(message, options)`: the same.
#[cfg(feature = "hub")]
pub(crate) fn hub_message(view: &CallView<'_>, found: &mut Vec<Diagnostic>) {
    sent_reminders(view, 1, found);
}

/// Checks the reminders in the options in argument `arg`.
fn sent_reminders(view: &CallView<'_>, arg: usize, found: &mut Vec<Diagnostic>) {
    let options = view.arg(arg).and_then(|arg| view.dict(arg));
    let Some(list) = options.as_ref().and_then(|options| options.get("reminders")) else { return };
    let ExprKind::List(items) = &view.follow(list).kind else { return };
    for item in items.iter().filter(|item| !item.spread) {
        if let Some(dict) = view.dict(&item.value) {
            spec::check_sent(view, &dict, found);
        }
    }
}

/// `agent_session_push_bridge_injection(id, params)`
pub(crate) fn bridge_injection(view: &CallView<'_>, found: &mut Vec<Diagnostic>) {
    if let Some(dict) = view.arg(1).and_then(|arg| view.dict(arg)) {
        spec::check_bridge(view, &dict, found);
    }
}

/// `agent_session_inject(id, event)`
pub(crate) fn inject_event(view: &CallView<'_>, found: &mut Vec<Diagnostic>) {
    if let Some(arg) = view.arg(1)
        && let Some(dict) = view.dict(arg)
    {
        spec::check_event(view, &dict, found);
    }
}

/// `transcript.clear_reminders(t, selector)`
pub(crate) fn clear_reminders(view: &CallView<'_>, found: &mut Vec<Diagnostic>) {
    if let Some(arg) = view.arg(1)
        && let Some(dict) = view.dict(arg)
    {
        spec::check_selector(view, &dict, found);
    }
}

/// `register_tool_hook({pre, post})`
pub(crate) fn tool_hook(view: &CallView<'_>, found: &mut Vec<Diagnostic>) {
    let Some(dict) = view.arg(0).and_then(|arg| view.dict(arg)) else { return };
    for key in ["pre", "post"] {
        if let Some(handler) = dict.get(key) {
            closure_effects(view, handler, &Producer::Hook, found);
        }
    }
}

/// `register_session_hook(event, [pattern,] handler)`
pub(crate) fn session_hook(view: &CallView<'_>, found: &mut Vec<Diagnostic>) {
    if let Some(name) = view.arg(0) {
        events::event(view, name, EventKind::is_session, "session", found);
    }
    let handler = view.arg(2).or_else(|| view.arg(1));
    if let Some(handler) = handler {
        closure_effects(view, handler, &Producer::Hook, found);
        if let Some(Ok(kind)) = view.arg(0).and_then(|name| view.text(name)).map(EventKind::parse) {
            returned(view, handler).for_each(|value| effects::check_change(view, kind, value, found));
        }
    }
}

/// `register_step_hook(persona, step, event, handler)`
pub(crate) fn step_hook(view: &CallView<'_>, found: &mut Vec<Diagnostic>) {
    if let Some(name) = view.arg(1) {
        events::step(view, name, found);
    }
    if let Some(name) = view.arg(2) {
        events::of_step(view, name, found);
    }
    if let Some(handler) = view.arg(3) {
        closure_effects(view, handler, &Producer::Hook, found);
    }
}

/// `register_persona_hook(persona, event, handler)`
pub(crate) fn persona_hook(view: &CallView<'_>, found: &mut Vec<Diagnostic>) {
    if let Some(name) = view.arg(1) {
        events::event(view, name, EventKind::is_step, "persona", found);
    }
    if let Some(handler) = view.arg(2) {
        closure_effects(view, handler, &Producer::Hook, found);
    }
}

/// `register_checkpoint_hook(kinds, handler)`
pub(crate) fn checkpoint_hook(view: &CallView<'_>, found: &mut Vec<Diagnostic>) {
    if let Some(kinds) = view.arg(0) {
        events::seams(view, kinds, found);
    }
    if let Some(handler) = view.arg(1) {
        closure_effects(view, handler, &Producer::Hook, found);
    }
}

/// `register_worker_hook(event, handler)`
pub(crate) fn worker_hook(view: &CallView<'_>, found: &mut Vec<Diagnostic>) {
    if let Some(name) = view.arg(0) {
        events::event(view, name, EventKind::is_worker, "worker", found);
    }
    if let Some(handler) = view.arg(1) {
        closure_effects(view, handler, &Producer::Worker, found);
    }
}

/// `register_reminder_provider({id, subscribes_to, evaluate})`
pub(crate) fn provider(view: &CallView<'_>, found: &mut Vec<Diagnostic>) {
    let Some(dict) = view.arg(0).and_then(|arg| view.dict(arg)) else { return };
    let id = dict.get("id").and_then(|e| view.text(e)).map(str::to_owned);
    if let Some(list) = dict.get("subscribes_to") {
        events::events(view, list, EventKind::is_for_providers, "provider", found);
    }
    if let Some(evaluate) = dict.get("evaluate") {
        closure_effects(view, evaluate, &Producer::Provider(id), found);
    }
}

/// `agent_loop(task, system, options)`
pub(crate) fn agent_loop(view: &CallView<'_>, found: &mut Vec<Diagnostic>) {
    options::check(view, 2, found);
    route::provider(view, 2, found);
}

/// `sub_agent_run(task, options)`
pub(crate) fn sub_agent(view: &CallView<'_>, found: &mut Vec<Diagnostic>) {
    options::check(view, 1, found);
    handed(view, 1, found);
    route::provider(view, 1, found);
}

/// `spawn_agent(spec)`
pub(crate) fn worker(view: &CallView<'_>, found: &mut Vec<Diagnostic>) {
    options::check(view, 0, found);
    handed(view, 0, found);
    route::provider(view, 0, found);
}

/// `handoff(options)`
pub(crate) fn handoff(view: &CallView<'_>, found: &mut Vec<Diagnostic>) {
    handed(view, 0, found);
}

/// Checks the reminders that a child inherits, in the options in argument `arg`.
fn handed(view: &CallView<'_>, arg: usize, found: &mut Vec<Diagnostic>) {
    let options = view.arg(arg).and_then(|arg| view.dict(arg));
    if let Some(list) = options.as_ref().and_then(|options| options.get("reminder_propagation")) {
        spec::check_handed(view, list, found);
    }
}

/// `llm_call(prompt, system, options)`
pub(crate) fn llm_call(view: &CallView<'_>, found: &mut Vec<Diagnostic>) {
    options::check(view, 2, found);
    route::provider(view, 2, found);
}

fn closure_effects<'a>(view: &CallView<'a>, handler: &'a Expr, producer: &Producer, found: &mut Vec<Diagnostic>) {
    returned(view, handler).for_each(|value| effects::check(view, value, producer, found));
}

/// Returns the values that a literal closure returns.
fn returned<'a>(view: &CallView<'a>, handler: &'a Expr) -> impl Iterator<Item = &'a Expr> + use<'a> {
    let returned = match &view.follow(handler).kind {
        ExprKind::Closure(closure) => lang::check::returned(closure),
        _ => Vec::new(),
    };
    returned.into_iter()
}
