//! The catalogue of reminders. Each row explains itself with a script that fails in exactly this way and the same script
//! mended.

use crate::codes;

codes! {
/// The codes of the reminder family.
pub enum ReminderCode {
    /// Unknown option key or invalid shape of a strict producer.
    Shape = "HARN-RMD-001", Error {
        title: "unknown or ill-typed reminder option",
        meaning: "Whoever makes a reminder (a pipeline, a hook, a provider) writes a dict with `body` and, where wanted, \
                  `tags`, `dedupe_key`, `ttl_turns`, `preserve_on_compact`, `propagate` and `role_hint`. Another key, a value \
                  of the wrong type, an empty body or a `ttl_turns` below 1 is refused at once, because a misspelt option \
                  would otherwise change nothing and say nothing. Lists of reminder providers are read as strictly.",
        in_check: true,
        at_run_time: true,
        fails: r#"transcript.inject_reminder(transcript(), {
  body: "Run the narrow test first.",
  ttl_turns: 2,
  propogate: "all",
})
"#,
        mended: r#"transcript.inject_reminder(transcript(), {
  body: "Run the narrow test first.",
  ttl_turns: 2,
  propagate: "all",
})
"#,
    },
    /// Invalid payload of a host bridge.
    Bridge = "HARN-RMD-002", Error {
        title: "invalid reminder from a host",
        meaning: "A host sent a reminder (`session/remind`), or a handoff carried one, whose payload does not fit: no `body`, \
                  a value of the wrong type, or a `mode` that is none of `interrupt_immediate`, `finish_step` and \
                  `audit_only`. Unknown keys are HARN-RMD-001, an unknown `propagate` is HARN-RMD-005; what only the host \
                  understands belongs under `_meta`.",
        in_check: false,
        at_run_time: true,
        fails: r#"let id = agent_session_open()
agent_session_push_bridge_injection(id, {
  body: "The workspace changed; read src/lib.rs again.",
  mode: "immediately",
})
"#,
        mended: r#"let id = agent_session_open()
agent_session_push_bridge_injection(id, {
  body: "The workspace changed; read src/lib.rs again.",
  mode: "interrupt_immediate",
})
"#,
    },
    /// The route has no user blocks.
    UserBlock = "HARN-RMD-003", Warning {
        title: "this route has no user blocks",
        meaning: "`role_hint: \"user_block\"` asks for a content block of a user message, and only routes with an Anthropic \
                  wire have such. On other routes the reminder is still shown, as a developer message or as system text. \
                  Write `developer` or `system`, which suit every route, or name a route with user blocks.",
        in_check: true,
        at_run_time: false,
        fails: r#"register_session_hook("session_start", { event ->
  return {reminder: {body: "Answer in one sentence.", ttl_turns: 1, role_hint: "user_block"}}
})
agent_loop("What is a span?", nil, {provider: "mock", model: "gpt-4o"})
"#,
        mended: r#"register_session_hook("session_start", { event ->
  return {reminder: {body: "Answer in one sentence.", ttl_turns: 1, role_hint: "developer"}}
})
agent_loop("What is a span?", nil, {provider: "mock", model: "gpt-4o"})
"#,
    },
    /// Discardable without a finite TTL.
    Unbounded = "HARN-RMD-004", Warning {
        title: "reminder without an end that compaction discards",
        meaning: "Without `ttl_turns` a reminder stays for ever during normal turns; without `preserve_on_compact: true` it \
                  vanishes at the next compaction, whenever that is. Give it a number of turns, or preserve it if it is \
                  meant to last.",
        in_check: true,
        at_run_time: false,
        fails: r#"transcript.inject_reminder(transcript(), {
  body: "The build is red; fix it before anything else.",
})
"#,
        mended: r#"transcript.inject_reminder(transcript(), {
  body: "The build is red; fix it before anything else.",
  ttl_turns: 3,
})
"#,
    },
    /// Unknown `propagate`.
    Propagate = "HARN-RMD-005", Error {
        title: "unknown `propagate` value",
        meaning: "`propagate` says how far a reminder goes to sub-agents: `all` (children and on to theirs), `session` (direct \
                  children of the session that made it; the default) or `none` (nowhere).",
        in_check: true,
        at_run_time: true,
        fails: r#"transcript.inject_reminder(transcript(), {
  body: "Keep patches small.",
  ttl_turns: 4,
  propagate: "children",
})
"#,
        mended: r#"transcript.inject_reminder(transcript(), {
  body: "Keep patches small.",
  ttl_turns: 4,
  propagate: "all",
})
"#,
    },
    /// A provider returned a malformed spec.
    Provider = "HARN-RMD-006", Error {
        title: "a reminder provider returned a malformed reminder",
        meaning: "`evaluate` of a provider may return nil, a reminder, `{reminder: {…}}`, or a list of those. What it \
                  returned is none of them, or the reminder in it breaks a rule; the message says which. In a loop the error \
                  is logged and the loop goes on, unless `reminders: {strict: true}`; fired by hand it is raised.",
        in_check: true,
        at_run_time: true,
        fails: r#"register_reminder_provider({
  id: "workspace_guard",
  subscribes_to: ["session_start"],
  evaluate: { ctx ->
    return {reminder: {text: "Check the touched files again.", ttl_turns: 1}}
  },
})
agent_loop("Review the change.", nil, {provider: "mock", reminders: {strict: true}})
"#,
        mended: r#"register_reminder_provider({
  id: "workspace_guard",
  subscribes_to: ["session_start"],
  evaluate: { ctx ->
    return {reminder: {body: "Check the touched files again.", ttl_turns: 1}}
  },
})
agent_loop("Review the change.", nil, {provider: "mock", reminders: {strict: true}})
"#,
    },
    /// Too many providers.
    TooMany = "HARN-RMD-007", Error {
        title: "too many reminder providers",
        meaning: "More than eight distinct providers are enabled: the canonical eight, less those removed with \"-id\", plus \
                  those added by name. Each one may add text to every prompt, so the list is kept short. Remove one for each \
                  that you add; a registered provider that the list does not name runs anyway and does not count.",
        in_check: true,
        at_run_time: true,
        fails: r#"register_reminder_provider({
  id: "workspace_guard",
  subscribes_to: ["session_start"],
  evaluate: { ctx -> nil },
})
agent_loop("Review the change.", nil, {
  provider: "mock",
  reminders: {providers: ["workspace_guard"]},
})
"#,
        mended: r#"register_reminder_provider({
  id: "workspace_guard",
  subscribes_to: ["session_start"],
  evaluate: { ctx -> nil },
})
agent_loop("Review the change.", nil, {
  provider: "mock",
  reminders: {providers: ["workspace_guard", "-idle_nudge"]},
})
"#,
    },
    /// The hook event takes no reminder effects.
    HookEvent = "HARN-RMD-008", Error {
        title: "this hook event takes no reminders",
        meaning: "Hooks on `worker_*` events only observe: when they run there is no transcript that could take a reminder. \
                  Return it from a session, tool, step or persona hook.",
        in_check: true,
        at_run_time: true,
        fails: r#"register_worker_hook("worker_completed", { event ->
  return {reminder: {body: "A worker is done; read its result.", ttl_turns: 1}}
})
"#,
        mended: r#"register_session_hook("session_start", { event ->
  return {reminder: {body: "A worker is done; read its result.", ttl_turns: 1}}
})
"#,
    },
}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_has_two_scripts_and_is_found_somewhere() {
        assert_eq!(ReminderCode::Propagate.as_str(), "HARN-RMD-005");
        assert!(ReminderCode::rows().iter().all(|row| row.fails != row.mended && (row.in_check || row.at_run_time)));
    }
}
