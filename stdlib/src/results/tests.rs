//! A test that what builtins return has the keys that their signatures promise.

use crate::engine::{Engine, RunOptions};
use crate::output::Captured;
use crate::table::registry;
use base::data::Data;
use lang::ast::{TypeExpr, TypeKind};
use lang::check::signature;
use lang::source::Source;
use std::collections::BTreeSet;
use std::rc::Rc;

/// An expression for each builtin whose result has a known shape; its preparation comes before
/// it, ended by `;`.
const CALLS: &[(&str, &str)] = &[
    ("hub.local", "let b = hub.local(); {agent: b.agent, url: b.url}"),
    ("hub.register", "let b = hub.local().register({name: \"a\"}); {agent: b.agent, url: b.url}"),
    ("hub.publish", "hub.local({agent: \"me\"}).publish(\"x\", {queue: \"q\"})"),
    ("hub.list", "let b = hub.local({agent: \"me\"}); let s = b.publish(\"x\", {queue: \"q\"}); b.list()"),
    ("hub.dead_letters", "hub.local({agent: \"me\"}).dead_letters()"),
    ("hub.card", "hub.local({agent: \"me\"}).card()"),
    ("hub.get", "let b = hub.local({agent: \"me\"}); let s = b.publish(\"x\", {queue: \"q\"}); b.get(s.task_id)"),
    ("hub.cancel", "let b = hub.local({agent: \"me\"}); let s = b.publish(\"x\", {queue: \"q\"}); b.cancel(s.task_id)"),
    (
        "hub.tasks",
        "let b = hub.local({agent: \"me\"}); let s = b.publish(\"x\", {queue: \"q\"}); \
         b.tasks({queue: \"q\"}).next().value",
    ),
    ("hub.claim", "let b = hub.local({agent: \"me\"}); let s = b.publish(\"x\", {queue: \"q\"}); b.claim(\"q\")"),
    (
        "hub.wait",
        "let b = hub.local({agent: \"me\"}); let s = b.publish(\"x\", {queue: \"q\"}); b.cancel(s.task_id); b.wait(s.task_id)",
    ),
    (
        "hub.request",
        "let b = hub.local({agent: \"me\"}); spawn { b.claim(\"q\").complete(\"y\") }; b.request(\"x\", {queue: \"q\"})",
    ),
    ("dict.entries", "{a: 1}.entries()"),
    ("entries", "entries({a: 1})"),
    ("iter.next", "[1].iter().next()"),
    ("generator.next", "yields().next()"),
    ("stream.next", "event_log.emit(\"t\", \"k\", {a: 1}); event_log.subscribe(\"t\").next()"),
    ("shared_snapshot", "shared_snapshot(shared_cell({key: \"k\", initial: 1}))"),
    ("llm_call", "llm_mock(llm_tool_call(\"look\", {at: 1})); llm_call(\"a\", \"b\", {provider: \"mock\"})"),
    ("agent_loop", "llm_mock(\"done\"); agent_loop(\"a\", \"b\", {provider: \"mock\"})"),
    ("with_audit_log", "with_audit_log({ -> used_tool() })"),
    (
        "agent_session_push_bridge_injection",
        "agent_session_push_bridge_injection(session, {body: \"b\", mode: \"finish_step\"})",
    ),
    ("agent_session_pending_injections", "queue_both(); agent_session_pending_injections(session)"),
    ("agent_session_revoke_reminder", "let id = queue_both(); agent_session_revoke_reminder(session, id)"),
    (
        "agent_session_drain_bridge_injections",
        "queue_both(); agent_session_drain_bridge_injections(session, \"iteration_end\")",
    ),
    ("agent_session_compact", "agent_session_compact(session, {keep_last: 0})"),
    ("event_log.read", "event_log.emit(\"t\", \"k\", {a: 1}); event_log.read(\"t\")"),
    (
        "store_fact",
        "store_fact({kind: \"claim\", claim: \"a b\", confidence: 0.9, evidence: [{kind: \"file_range\", ref: \"r\"}]})",
    ),
    ("recall_facts", "store_fact({kind: \"claim\", claim: \"a b\", confidence: 0.9}); recall_facts(\"a b\")"),
    ("invalidate_facts", "invalidate_facts(\"none\")"),
    (
        "handoff",
        "handoff({source_persona: \"a\", target_persona_or_human: \"b\", task: \"c\", reason: \"d\", metadata: {e: 1}})",
    ),
    ("llm_mock_calls", "used_tool(); llm_mock_calls()"),
    ("agent_reminder_providers_fire", "add_provider(); agent_reminder_providers_fire(session, \"post_turn\")"),
    (
        "agent_session_snapshot",
        "agent_session_inject_reminder(session, {body: \"b\", ttl_turns: 1}); agent_session_snapshot(session)",
    ),
    ("agent_session_messages", "let r = used_tool(); agent_session_messages(r.session_id)"),
    ("agent_session_ancestry", "agent_session_ancestry(agent_session_fork(session))"),
    ("agent_session_inject_reminder", "agent_session_inject_reminder(session, {body: \"b\"})"),
    ("agent_session_clear_reminders", "agent_session_clear_reminders(session, {tag: \"a\"})"),
    ("agent_session_apply_reminder_post_turn", "agent_session_apply_reminder_post_turn(session)"),
    ("transcript.inject_reminder", "transcript.inject_reminder(transcript(), {body: \"b\"})"),
    ("transcript.clear_reminders", "transcript.clear_reminders(reminded, {tag: \"a\"})"),
    ("transcript.reminders", "transcript.reminders(reminded)"),
    ("transcript_messages", "let r = used_tool(); transcript_messages(r.transcript)"),
    ("transcript_events", "transcript_events(reminded)"),
    ("transcript_events_by_kind", "transcript_events_by_kind(reminded, \"system_reminder\")"),
    ("transcript_stats", "transcript_stats(reminded)"),
    (
        "transcript_export",
        "transcript_export(transcript({messages: [{role: \"user\", content: \"a\"}], metadata: {b: 1}, summary: \"c\"}))",
    ),
    (
        "transcript_reminder_event",
        "transcript_reminder_event({body: \"b\", tags: [\"a\"], ttl_turns: 2, dedupe_key: \"k\"})",
    ),
    ("sub_agent_run", "llm_mock(\"done\"); sub_agent_run(\"a\", {provider: \"mock\"})"),
    ("spawn_agent", "started()"),
    ("send_input", "send_input(started(), \"b\")"),
    ("close_agent", "close_agent(started())"),
    ("list_agents", "let w = started(); wait_agent(w); list_agents()"),
    ("suspend_agent", "suspend_agent(napping())"),
    ("resume_agent", "resume_agent(suspend_agent(napping()))"),
    ("exec", "exec(\"true\")"),
    ("http_delete", "http_mock(\"*\", \"x\"); http_delete(\"https://a.com/\")"),
    ("http_get", "http_mock(\"*\", \"x\"); http_get(\"https://a.com/\")"),
    ("http_head", "http_mock(\"*\", \"x\"); http_head(\"https://a.com/\")"),
    ("http_patch", "http_mock(\"*\", \"x\"); http_patch(\"https://a.com/\")"),
    ("http_put", "http_mock(\"*\", \"x\"); http_put(\"https://a.com/\")"),
    ("http_request", "http_mock(\"*\", \"x\"); http_request(\"GET\", \"https://a.com/\")"),
    ("http_post", "http_mock(\"*\", \"x\"); http_post(\"https://a.com/\")"),
    ("http_mock_calls", "http_mock(\"*\", \"x\"); http_get(\"https://a.com/\"); http_mock_calls()"),
    ("exec_stream", "exec_stream(\"echo\", \"a\").next().value"),
    (
        "watch",
        "let folder = make_temp_dir(); let changes = watch(folder); write_file(path_join(folder, \"a\"), \"x\"); \
         let change = changes.next().value; remove(folder, {recursive: true}); change",
    ),
    ("date_parts", "date_parts(0)"),
    ("front_matter", "front_matter(\"---\\na: 1\\n---\\nText.\")"),
    ("stat", "stat(\".\")"),
    ("url_parse", "url_parse(\"https://me:key@host.example:81/a?b=c#d\")"),
];

/// Builtins that need a server; the tests of the A2A client cover these.
const ASK_A_SERVER: [&str; 13] = [
    "channel.open",
    "channel_connection.act",
    "channel_connection.sessions",
    "hub.connect",
    "a2a.card",
    "a2a.send",
    "a2a.get",
    "a2a.cancel",
    "a2a.inject_reminder",
    "mcp.call_tool",
    "mcp.connect",
    "mcp.prompt",
    "mcp.read",
];

const BEFORE: &str = r#"
let session = agent_session_open("s")
agent_session_inject(session, {role: "user", content: "hello"})
agent_session_inject(session, {role: "assistant", content: "hello"})
let reminded = transcript.inject_reminder(transcript(), {body: "b", tags: ["a"], ttl_turns: 2, dedupe_key: "k"}).transcript
fn used_tool() {
  llm_mock(llm_tool_call("look", {at: 1}))
  llm_mock("done")
  let tools = tool_define(tool_registry(), "look", "Looks.", {handler: { a -> "seen" }, parameters: {type: "object"}})
  return agent_loop("a", "b", {provider: "mock", tools: tools})
}
fn queue_both() {
  agent_session_push_bridge_injection(session, {content: "c", mode: "finish_step"})
  let pushed = agent_session_push_bridge_injection(session, {body: "b", mode: "finish_step"})
  return pushed.reminderId
}
fn yields() {
  yield 1
}
fn add_provider() {
  register_reminder_provider({id: "own", subscribes_to: ["post_turn"], evaluate: { c -> {body: "b"} }})
}
fn started() {
  return spawn_agent({task: "x", reminders: false, llm_caller: { a -> "done" }})
}
fn napping() {
  return spawn_agent({task: "x", reminders: false, loop_until_done: true, llm_caller: { a -> sleep(1) ?? "more" }})
}
"#;

#[test]
fn what_builtins_return_has_the_keys_that_their_signatures_promise() {
    let mut uncovered: BTreeSet<String> = registry()
        .all()
        .filter(|row| signature(row.sig).and_then(|decl| decl.returns).is_some_and(|ty| has_shape(&ty)))
        .map(lang::builtins::Builtin::full_name)
        .collect();
    for name in ASK_A_SERVER {
        assert!(uncovered.remove(name), "{name} returns no shape");
    }
    let mut wrong = Vec::new();
    for (name, call) in CALLS {
        assert!(uncovered.remove(*name), "{name} returns no shape, or stands twice");
        let row = registry().all().find(|row| row.full_name() == *name).unwrap();
        let promised = signature(row.sig).unwrap().returns.unwrap();
        let (before, call) = call.rsplit_once("; ").unwrap_or(("", call));
        let text = format!("{BEFORE}{}\nprintln(json_stringify({call}))", before.replace("; ", "\n"));
        let output = Rc::new(Captured::default());
        let engine = Engine::new(RunOptions { output: output.clone(), ..RunOptions::default() });
        let ran = engine.run(&Source::new("test.harn", text));
        match Data::from_json(output.stdout().trim()) {
            Ok(found) if ran.exit_code == 0 => hold(&found, &promised, name, &mut wrong),
            _ => wrong.push(format!("{name} fails: {:?}", ran.diagnostics.first().map(|found| &found.message))),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(uncovered.is_empty(), "no call here: {uncovered:?}");
}

/// The shape of a named type.
fn named(name: &str) -> Option<TypeExpr> {
    let table = registry().table(name)?;
    signature(&format!("f() -> {table}")).and_then(|decl| decl.returns)
}

fn has_shape(ty: &TypeExpr) -> bool {
    match &ty.kind {
        TypeKind::Shape { .. } => true,
        TypeKind::Name { name, args } => named(name).is_some() || args.iter().any(has_shape),
        TypeKind::Union(members) => members.iter().any(has_shape),
        TypeKind::Optional(of) => has_shape(of),
        TypeKind::Fn { .. } | TypeKind::Literal(_) | TypeKind::Error => false,
    }
}

/// Compares the two and says where they differ: a promised key is there, and no key is there that is not promised.
fn hold(found: &Data, ty: &TypeExpr, at: &str, wrong: &mut Vec<String>) {
    match &ty.kind {
        TypeKind::Shape { fields, .. } => {
            let Some(entries) = found.as_dict() else { return wrong.push(format!("{at} is not a dict: {found:?}")) };
            for (name, optional, ty) in fields {
                match entries.get(name.text.as_str()) {
                    Some(value) if *optional && value.is_nil() => {}
                    Some(value) => hold(value, ty, &format!("{at}.{}", name.text), wrong),
                    None if *optional => {}
                    None => wrong.push(format!("{at}.{} is missing", name.text)),
                }
            }
            let unknown = entries.keys().filter(|key| fields.iter().all(|(name, ..)| name.text != key.as_ref()));
            wrong.extend(unknown.map(|key| format!("{at}.{key} is not promised")));
        }
        TypeKind::Name { name, args } => match (name.as_str(), args.as_slice()) {
            ("any" | "transcript", _) => {}
            // A type parameter.
            (name, _) if name.len() == 1 => {}
            ("list", [of]) => match found.as_list() {
                Some(items) => items.iter().for_each(|item| hold(item, of, &format!("{at}[]"), wrong)),
                None => wrong.push(format!("{at} is not a list: {found:?}")),
            },
            // The call takes the first value.
            ("stream", [of]) => hold(found, of, at, wrong),
            ("string", _) if found.as_str().is_some() => {}
            ("int", _) if found.as_int().is_some() => {}
            ("float", _) if found.as_float().is_some() => {}
            ("bool", _) if found.as_bool().is_some() => {}
            ("dict", _) if found.as_dict().is_some() => {}
            (name, _) => match named(name) {
                Some(ty) => hold(found, &ty, at, wrong),
                None => wrong.push(format!("{at} is not a {name}: {found:?}")),
            },
        },
        TypeKind::Union(members) => {
            let fits = |ty: &TypeExpr| {
                let mut wrong = Vec::new();
                hold(found, ty, at, &mut wrong);
                wrong.is_empty()
            };
            if !members.iter().any(fits) {
                wrong.push(format!("{at} is none of the types that it may be: {found:?}"));
            }
        }
        TypeKind::Optional(of) if !found.is_nil() => hold(found, of, at, wrong),
        TypeKind::Literal(text) if found.as_str() != Some(text) => wrong.push(format!("{at} is not {text:?}")),
        TypeKind::Optional(_) | TypeKind::Literal(_) | TypeKind::Fn { .. } | TypeKind::Error => {}
    }
}
