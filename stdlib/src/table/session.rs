//! Sessions.
use base::clock::Clock;

use crate::arguments::session_arg;
use crate::convert::{to_data, to_value};
use crate::fault::{of_policy, of_reminder, of_session};
use crate::here;
use crate::lint;
use crate::options::{OptionSet, SessionOptions, label_of};
use lang::builtins::args;
use lang::value::{Str, Value};
use lang::vm::{Cx, Raise, RunCode};
use runtime::lifecycle::Selector;
use runtime::reminder::policy::PolicySource;
use runtime::reminder::{ReminderSource, ReminderSpec};
use runtime::session::ReminderProducer;

lang::builtins! { "" =>
    /// Opens a session, or the one that has this id already; its id.
    ///
    /// ```harn
    /// agent_session_open("s") // => "s"
    /// ```
    plain "agent_session_open(id: string? = nil, options: SessionOptions = nil) -> string" open;
    /// Whether there is a session of this id.
    ///
    /// ```harn
    /// agent_session_open("s")
    /// [agent_session_exists("s"), agent_session_exists("none")] // => [true, false]
    /// ```
    plain "agent_session_exists(id: string) -> bool" exists;
    /// The session at hand inside a hook, tool or provider; elsewhere the one that a script is served in, else nil.
    ///
    /// ```harn
    /// agent_session_current_id() // => nil
    /// ```
    plain "agent_session_current_id() -> string | nil" current_id;
    /// Returns the number of messages of a session.
    ///
    /// ```harn
    /// agent_session_open("s")
    /// agent_session_inject("s", {role: "user", content: "Hello."})
    /// agent_session_length("s") // => 1
    /// ```
    plain "agent_session_length(id: any) -> int" length;
    /// A session as a dict: its transcript and `length created_at parent_id child_ids …`; nil where there is none.
    ///
    /// ```harn
    /// agent_session_open("s")
    /// [agent_session_snapshot("s").length, agent_session_snapshot("none")] // => [0, nil]
    /// ```
    plain "agent_session_snapshot(id: string) -> SessionSnapshot | nil" snapshot;
    /// The messages of a session.
    ///
    /// ```harn
    /// agent_session_open("s")
    /// agent_session_inject("s", {role: "user", content: "Hello."})
    /// agent_session_messages("s").map({ message -> message.content }) // => ["Hello."]
    /// ```
    plain "agent_session_messages(id: any) -> list<Message>" messages;
    /// `{parent_id, child_ids, root_id}`
    ///
    /// ```harn
    /// agent_session_open("s")
    /// agent_session_fork("s", "t") // => "t"
    /// agent_session_ancestry("t").parent_id // => "s"
    /// ```
    plain "agent_session_ancestry(id: string) -> SessionAncestry" ancestry;
    /// Empties a session.
    ///
    /// ```harn
    /// agent_session_open("s")
    /// agent_session_inject("s", {role: "user", content: "Hello."})
    /// agent_session_reset("s")
    /// agent_session_length("s") // => 0
    /// ```
    plain "agent_session_reset(id: any) -> nil" reset;
    /// Ends a session.
    ///
    /// ```harn
    /// agent_session_open("s")
    /// agent_session_close("s")
    /// agent_session_exists("s") // => false
    /// ```
    plain "agent_session_close(id: any) -> nil" close;
    /// Copies a session, pending reminders included; the copy's id.
    ///
    /// ```harn
    /// agent_session_open("s")
    /// agent_session_inject("s", {role: "user", content: "Hello."})
    /// agent_session_length(agent_session_fork("s")) // => 1
    /// ```
    plain "agent_session_fork(id: any, target: string? = nil) -> string" fork;
    /// Copies the first `keep_first` messages of a session; the copy's id.
    ///
    /// ```harn
    /// agent_session_open("s")
    /// for text in ["one", "two", "three"] {
    ///   agent_session_inject("s", {role: "user", content: text})
    /// }
    /// agent_session_length(agent_session_fork_at("s", 2)) // => 2
    /// ```
    plain "agent_session_fork_at(id: any, keep_first: int, target: string? = nil) -> string" fork_at;
    /// Keeps the last messages of a session.
    ///
    /// ```harn
    /// agent_session_open("s")
    /// for text in ["one", "two", "three"] {
    ///   agent_session_inject("s", {role: "user", content: text})
    /// }
    /// agent_session_trim("s", 1)
    /// agent_session_messages("s")[0].content // => "three"
    /// ```
    plain "agent_session_trim(id: any, keep_last: int) -> nil" trim;
    /// Appends a message to a session.
    ///
    /// ```harn
    /// agent_session_open("s")
    /// agent_session_inject("s", {role: "assistant", content: "Hello."})
    /// agent_session_messages("s")[0].role // => "assistant"
    /// ```
    plain "agent_session_inject(id: any, message: any) -> nil" [lint = lint::inject_event] inject;
    /// Adds a pending reminder to a session: `{reminder_id, deduped_count}`. Pending ones with the same key go.
    ///
    /// ```harn
    /// agent_session_open("s")
    /// agent_session_inject_reminder("s", {body: "Be brief.", dedupe_key: "style"}).deduped_count // => 0
    /// agent_session_inject_reminder("s", {body: "Be short.", dedupe_key: "style"}).deduped_count // => 1
    /// ```
    plain "agent_session_inject_reminder(id: any, spec: ReminderSpec) -> ReminderAdded" [lint = lint::inject_reminder] inject_reminder;
    /// Removes the pending reminders of a session that fit all given selectors: `{removed_count}`.
    ///
    /// ```harn
    /// agent_session_open("s")
    /// agent_session_inject_reminder("s", {body: "Be brief.", tags: ["style"]})
    /// agent_session_clear_reminders("s", {tag: "style"}).removed_count // => 1
    /// ```
    plain "agent_session_clear_reminders(id: any, selector: ReminderSelector) -> RemindersRemoved" [lint = lint::clear_reminders] clear_reminders;
    /// Says where a session works.
    ///
    /// ```harn
    /// agent_session_open("s")
    /// agent_session_set_workspace_anchor("s", {primary: "/work"}) // => nil
    /// ```
    plain "agent_session_set_workspace_anchor(id: any, anchor: any) -> nil" set_workspace_anchor;
    /// Charges the finite reminders of `turn` and earlier turns: `{expired_count,
    /// decremented_count, remaining_count}`.
    ///
    /// ```harn
    /// agent_session_open("s")
    /// agent_session_inject_reminder("s", {body: "Be brief.", ttl_turns: 1})
    /// agent_session_apply_reminder_post_turn("s").expired_count // => 1
    /// ```
    plain "agent_session_apply_reminder_post_turn(id: any, turn: int = 0) -> RemindersCharged" apply_reminder_post_turn;
}

fn open(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    let id = args::opt_str(args, 0)?;
    if id.is_some_and(|id| id.trim().is_empty()) {
        return Err(Raise::error(RunCode::Value, "a session's id must not be blank")
            .about(0, "blank")
            .help("omit it to get a generated id"));
    }
    let anchor = SessionOptions::read(cx, args, 1)?.workspace_anchor;
    let session = world.agents.sessions.open(id.map(Str::as_str), world.clock.now_ms());
    if let Some(anchor) = anchor {
        world.agents.sessions.set_workspace_anchor(session.id(), &anchor).map_err(|e| of_session(&e).about(1, ""))?;
    }
    Ok(Value::str(session.id()))
}

fn exists(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(Value::Bool(here::world(cx)?.agents.sessions.exists(args::str(args, 0)?)))
}

fn current_id(cx: &mut Cx<'_>, _: &mut [Value]) -> Result<Value, Box<Raise>> {
    let session = here::session(cx).or(here::world(cx)?.current_session());
    Ok(session.map_or(Value::Nil, |s| Value::str(s.id())))
}

fn length(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let session = session_arg(args, 0, &*here::world(cx)?, "agent_session_length")?;
    Ok(Value::from(session.transcript().messages().len()))
}

fn snapshot(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(to_value(&here::world(cx)?.agents.sessions.snapshot(args::str(args, 0)?)))
}

fn messages(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let session = session_arg(args, 0, &*here::world(cx)?, "agent_session_messages")?;
    Ok(to_value(&session.transcript().get("messages")))
}

fn ancestry(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(to_value(&here::world(cx)?.agents.sessions.ancestry(args::str(args, 0)?)))
}

fn reset(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    let session = session_arg(args, 0, &world, "agent_session_reset")?;
    world.agents.sessions.reset(session.id(), &here::scope(cx, &world)).map_err(|e| of_session(&e))?;
    Ok(Value::Nil)
}

fn close(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    let session = session_arg(args, 0, &world, "agent_session_close")?;
    world.agents.sessions.close(session.id(), &here::scope(cx, &world)).map_err(|e| of_session(&e))?;
    Ok(Value::Nil)
}

fn fork(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    let session = session_arg(args, 0, &world, "agent_session_fork")?;
    let target = args::opt_str(args, 1)?.map(Str::as_str);
    let copy = world.agents.sessions.fork(session.id(), target, &here::scope(cx, &world));
    copy.map(|s| Value::str(s.id())).map_err(|e| of_session(&e).about(1, ""))
}

fn fork_at(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    let session = session_arg(args, 0, &world, "agent_session_fork_at")?;
    let keep = args::count(args, 1)?;
    let target = args::opt_str(args, 2)?.map(Str::as_str);
    let copy = world.agents.sessions.fork_at(session.id(), keep, target, &here::scope(cx, &world));
    copy.map(|s| Value::str(s.id())).map_err(|e| of_session(&e).about(2, ""))
}

fn trim(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    let session = session_arg(args, 0, &world, "agent_session_trim")?;
    world
        .agents
        .sessions
        .trim(session.id(), args::count(args, 1)?, &here::scope(cx, &world))
        .map_err(|e| of_session(&e))?;
    Ok(Value::Nil)
}

fn inject(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    let session = session_arg(args, 0, &world, "agent_session_inject")?;
    let message = to_data(&args[1]).map_err(|raise| raise.about(1, ""))?;
    world
        .agents
        .sessions
        .inject(session.id(), &message, &here::scope(cx, &world))
        .map_err(|e| of_session(&e).about(1, ""))?;
    Ok(Value::Nil)
}

fn inject_reminder(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    let session = session_arg(args, 0, &world, "agent_session_inject_reminder")?;
    let data = here::reminder_data(cx, &args[1]).map_err(|raise| raise.about(1, ""))?;
    let spec = ReminderSpec::from_data(&data).map_err(|e| of_reminder(&e).about(1, label_of(&e)))?;
    let from = ReminderProducer { source: ReminderSource::InPipeline, policy_source: PolicySource::Pipeline, id: None };
    let admitted = session.inject_allowed(&here::scope(cx, &world), spec, from, None);
    let admitted = admitted.map_err(|refusal| of_policy(&refusal).about(1, "this reminder"))?;
    Ok(Value::record([
        ("reminder_id", Value::str(&admitted.reminder.id)),
        ("deduped_count", Value::from(admitted.replaced.len())),
    ]))
}

fn clear_reminders(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    let session = session_arg(args, 0, &world, "agent_session_clear_reminders")?;
    let data = to_data(&args[1]).map_err(|raise| raise.about(1, ""))?;
    let selector = Selector::from_data(&data).map_err(|e| of_reminder(&e).about(1, label_of(&e)))?;
    let removed = session.clear_reminders(&here::scope(cx, &world), &selector);
    Ok(Value::record([("removed_count", Value::from(removed))]))
}

fn set_workspace_anchor(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    let session = session_arg(args, 0, &world, "agent_session_set_workspace_anchor")?;
    let anchor = to_data(&args[1]).map_err(|raise| raise.about(1, ""))?;
    world.agents.sessions.set_workspace_anchor(session.id(), &anchor).map_err(|e| of_session(&e).about(1, ""))?;
    Ok(Value::Nil)
}

fn apply_reminder_post_turn(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    let session = session_arg(args, 0, &world, "agent_session_apply_reminder_post_turn")?;
    let turn = if args[1].is_nil() { 0 } else { u32::try_from(args::count(args, 1)?).unwrap_or(u32::MAX) };
    let passed = session.post_turn_by_hand(&here::scope(cx, &world), turn);
    Ok(Value::record([
        ("expired_count", Value::from(passed.expired)),
        ("decremented_count", Value::from(passed.decremented)),
        ("remaining_count", Value::from(session.transcript().pending_count())),
    ]))
}
