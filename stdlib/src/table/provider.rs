//! Reminder providers.

use crate::arguments::session_arg;
use crate::bind::{ScriptFn, ScriptProvider};
use crate::convert::{to_data, to_value};
use crate::fault::{of_reminder, to_raise};
use crate::here;
use crate::lint;
use crate::options::{REMINDER_PROVIDER, label_of, read_reminders};
use base::data::Data;
use lang::builtins::args;
use lang::diagnostic::nearest;
use lang::value::Value;
use lang::vm::{Cx, Raise, RunCode, Wait};
use runtime::events::{EventKind, EventSet};
use runtime::hooks::HookEvent;
use runtime::reminder::ReminderError;
use runtime::reminder_providers::{ReminderProviders, fire};
use runtime::seam::Turn;
use std::rc::Rc;

lang::builtins! { "" =>
    /// Registers a reminder provider; the same id again replaces it in its place. `config` lists the keys of its configuration, with
    /// their defaults.
    ///
    /// ```harn
    /// register_reminder_provider({
    ///   id: "style",
    ///   subscribes_to: ["session_start"],
    ///   evaluate: { ctx -> {body: "Be brief.", ttl_turns: 1} },
    /// })
    /// llm_mock("done")
    /// agent_loop("Go.", nil, {provider: "mock", reminders: ["-project_facts", "style"]}).status // => "done"
    /// assert_prompt_contains("Be brief.") // => nil
    /// ```
    plain "register_reminder_provider(provider: ReminderProvider) -> nil" [lint = lint::provider] register_reminder_provider;
    /// Forgets the custom providers.
    ///
    /// ```harn
    /// clear_reminder_providers() // => nil
    /// ```
    plain "clear_reminder_providers() -> nil" clear_reminder_providers;
    /// Lets the providers look at an event: `{fired_count, reports: [{provider, reminder_id, deduped_count}]}`.
    ///
    /// ```harn
    /// register_reminder_provider({
    ///   id: "style",
    ///   subscribes_to: ["session_start"],
    ///   evaluate: { ctx -> {body: "Be brief.", ttl_turns: 1} },
    /// })
    /// agent_session_open("s")
    /// agent_reminder_providers_fire("s", "session_start", {}, {reminders: ["-project_facts", "style"]}).fired_count // => 1
    /// ```
    waits "agent_reminder_providers_fire(session: any, event: string, payload: any = nil, options: FireOptions = nil) -> RemindersFired" agent_reminder_providers_fire;
}

/// An event that providers may subscribe to; `i` is the argument that names it.
pub(crate) fn event_of(name: &str, i: usize) -> Result<EventKind, Box<Raise>> {
    EventKind::parse(name).ok().filter(|k| k.is_for_providers()).ok_or_else(|| {
        let known: Vec<&str> = EventKind::ALL.iter().filter(|k| k.is_for_providers()).map(|k| k.as_str()).collect();
        let raise =
            Raise::error(RunCode::Value, format!("providers cannot subscribe to `{name}`")).about(i, "unknown event");
        match nearest(name, known.iter().copied()) {
            Some(near) => raise.help(format!("did you mean `{near}`?")),
            None => raise.help(format!("the provider events are {}", known.join(", "))),
        }
    })
}

fn register_reminder_provider(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    let dict = args::dict(args, 0)?;
    let wrong = |key: &str, expected: &str| {
        Raise::error(lang::check::CheckCode::Type, format!("`{key}` must be {expected}"))
            .about(0, format!("invalid `{key}`"))
    };
    if let Some((key, _)) = dict.iter().find(|(k, _)| !REMINDER_PROVIDER.has(k)) {
        let raise = Raise::error(lang::check::CheckCode::Key, format!("unknown option `{key}`")).about(0, "");
        return Err(match nearest(key, REMINDER_PROVIDER.keys()) {
            Some(near) => raise.help(format!("did you mean `{near}`?")),
            None => raise,
        });
    }
    let id = dict.get_str("id").and_then(Value::as_str).filter(|id| !id.trim().is_empty() && !id.starts_with('-'));
    let id = id.ok_or_else(|| wrong("id", "a name that does not start with `-`"))?.to_owned();
    let names = dict.get_str("subscribes_to").and_then(Value::as_list).filter(|l| !l.is_empty());
    let names = names.ok_or_else(|| wrong("subscribes_to", "a list of event names"))?;
    let events: EventSet = names
        .iter()
        .map(|name| {
            name.as_str().ok_or_else(|| wrong("subscribes_to", "a list of event names")).and_then(|n| event_of(n, 0))
        })
        .collect::<Result<Vec<_>, _>>()?
        .into_iter()
        .collect();
    let evaluate =
        dict.get_str("evaluate").and_then(|v| ScriptFn::of(cx, v)).ok_or_else(|| wrong("evaluate", "a function"))?;
    let defaults = match dict.get_str("config").filter(|config| !config.is_nil()) {
        Some(config) => match to_data(config).map_err(|r| r.about(0, "invalid `config`"))? {
            defaults @ Data::Dict(_) => Some(defaults),
            _ => return Err(wrong("config", "a dict with the defaults")),
        },
        None => None,
    };
    if let Some(pack) = world.agents.packs.owner(&id) {
        let message = format!("the pack `{pack}` of this run already has a provider `{id}`");
        return Err(Raise::error(RunCode::Value, message).about(0, "duplicate id").help("choose another id"));
    }
    if world.agents.providers.is_full() && !world.agents.providers.is_custom(&id) {
        let most = ReminderProviders::MOST;
        let message = format!("too many reminder providers: {most} are already registered");
        return Err(Raise::error(RunCode::Value, message)
            .about(0, "exceeds the limit")
            .help("register each provider once, under its id"));
    }
    world.agents.providers.register(Rc::new(ScriptProvider { id, events, evaluate, defaults }));
    Ok(Value::Nil)
}

fn clear_reminder_providers(cx: &mut Cx<'_>, _: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    world.agents.providers.clear();
    // Those of the run's packs are not the script's.
    world.agents.packs.register(&world.agents.providers);
    Ok(Value::Nil)
}

fn agent_reminder_providers_fire(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let world = here::world(cx)?;
    let session = session_arg(args, 0, &world, "agent_reminder_providers_fire")?;
    let kind = event_of(args::str(args, 1)?, 1)?;
    let payload = if args[2].is_nil() { Data::empty_dict() } else { to_data(&args[2]).map_err(|r| r.about(2, ""))? };
    let written = to_data(&args[3]).map_err(|r| r.about(3, ""))?;
    let wrong = |e: ReminderError| of_reminder(&e).about(3, label_of(&e));
    let mut options = read_reminders(written.get("reminders"), &world).map_err(wrong)?;
    world.agents.bring_packs(&mut options).map_err(|raise| raise.about(3, "names the pack"))?;
    let selected = options.select(&world.agents.providers).map_err(|e| wrong(e.under("reminders")))?;
    let mut scope = here::own_scope(cx, &world);
    scope.options = written;
    let cancel = scope.cancel.clone();
    Ok(Wait::new(async move {
        let turn = Turn { session: &session, number: session.with(|s| s.turns), scope: &scope };
        let event = HookEvent::Raw { kind, payload: &payload };
        // For a manually fired provider, a mistake is reported to the caller.
        let report = fire(&selected, turn, &event, &options.config, true).get().await.map_err(|e| to_raise(&e))?;
        Ok(to_value(&report.to_data()))
    })
    .stopped_by(move |reason| cancel.cancel(reason)))
}
