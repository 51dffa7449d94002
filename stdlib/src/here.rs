//! The context in which a builtin is called: its session and scope.
use base::data::Data;

use crate::bind::to_reminder_data;
use crate::call_context::{CallContext, WorkLine};
use crate::fault::of_reminder;
use crate::world::World;
use lang::value::Value;
use lang::vm::{Cx, Raise, RunCode};
use runtime::lifecycle::{LifecycleContext, LifecycleRecord};
use runtime::reminder_providers::{ReminderOptions, ReminderProvider};
use runtime::scope::{Caller, Receipts, Scope, WorkPath};
use runtime::session::Session;
#[cfg(feature = "hub")]
use runtime::spans::{Activity, TraceContext};
use std::rc::Rc;
use std::sync::Arc;

/// The world of the run.
pub(crate) fn world(cx: &Cx<'_>) -> Result<Rc<World>, Box<Raise>> {
    cx.host::<World>()
        .and_then(World::rc)
        .ok_or_else(|| Raise::error(RunCode::Outside, "this builtin needs a host, and none is attached"))
}

/// The session at hand, inside a hook, tool or provider.
pub(crate) fn session(cx: &Cx<'_>) -> Option<Rc<Session>> {
    cx.context.data::<CallContext>()?.session.clone()
}

/// The scope at hand, or one that nothing cancels.
pub(crate) fn scope(cx: &Cx<'_>, world: &World) -> Scope {
    let path: Rc<dyn WorkPath> = Rc::new(WorkLine(cx.context.path.clone()));
    let Some(here) = cx.context.data::<CallContext>() else {
        let scope = world.scope();
        return Scope { caller: Caller { path, ..scope.caller }, ..scope };
    };
    let scope = here.scope.clone().unwrap_or_else(|| world.scope());
    let of_call = scope.receipts.and_then(|receipts| receipts.of_call);
    let receipts = here.audit.clone().map(|log| Receipts { log, of_call });
    Scope { script: here.script, receipts, caller: Caller { path, ..scope.caller }, ..scope }
}

/// Returns the position of the current span in its trace, if activity is recorded.
#[cfg(feature = "hub")]
pub(crate) fn trace(cx: &Cx<'_>, world: &World) -> Option<TraceContext> {
    let here = cx.context.data::<CallContext>().and_then(|here| here.scope.as_ref());
    let activity = here.map_or(world.observers.activity.as_ref(), |scope| scope.activity.as_ref());
    activity.and_then(Activity::context)
}

/// Returns the [`scope`] for work that is stopped with its task: the switch is the work's own.
pub(crate) fn own_scope(cx: &Cx<'_>, world: &World) -> Scope {
    let scope = scope(cx, world);
    Scope { cancel: scope.cancel.child(), ..scope }
}

/// The reminder options of a loop, and the providers that it uses.
type LoopReminders = (ReminderOptions, Vec<Rc<dyn ReminderProvider>>);

/// Returns the reminders of the current loop; outside of any loop no provider.
pub(crate) fn reminders_of_loop(scope: &Scope, world: &World) -> Result<LoopReminders, Box<Raise>> {
    let mut options = match ReminderOptions::from_data(scope.options.get("reminders")) {
        Ok(options) if scope.caller.depth > 0 => world.agents.vary(options),
        _ => ReminderOptions { enabled: false, ..ReminderOptions::default() },
    };
    world.agents.bring_packs(&mut options)?;
    let providers = options.select(&world.agents.providers).map_err(|e| of_reminder(&e))?;
    Ok((options, providers))
}

/// A value with a reminder as data; its conditions are those of the run.
pub(crate) fn reminder_data(cx: &Cx<'_>, value: &Value) -> Result<Data, Box<Raise>> {
    to_reminder_data(value, cx.isolate, cx.context)
}

/// The moment of a change to a bare transcript.
pub(crate) fn moment<'a>(id: &'a Arc<str>, scope: &'a Scope, world: &'a World) -> LifecycleContext<'a> {
    LifecycleContext {
        session_id: id,
        task_id: scope.caller.task_id.as_ref(),
        agent_id: scope.caller.agent_id.as_ref(),
        turn: 0,
        now_ms: scope.clock.now_ms(),
        ids: &world.random.ids,
    }
}

/// Writes what happened to the reminders of a bare transcript. Where it is a copy of an open session's, each record says so:
/// the session itself is not touched by it.
pub(crate) fn put_on_record(records: &[LifecycleRecord], moment: &LifecycleContext<'_>, scope: &Scope, world: &World) {
    let detached = !records.is_empty() && world.agents.sessions.exists(moment.session_id);
    for record in records {
        let mut entry = record.to_log(moment);
        if detached {
            entry.payload.set("detached", true.into());
        }
        scope.log.append(entry);
    }
}
