//! The catalogue of reminder diagnostics. Each row explains itself with a script that fails in exactly this way and the
//! same script fixed.

use base::codes;

codes! {
/// The codes of the reminder family.
pub enum ReminderCode {
    /// Unknown option key or invalid shape of a strict producer.
    Shape = "HARN-RMD-001", Error {
        title: "unknown reminder option or value of the wrong type",
        meaning: "A reminder is a dict with `body` and optionally `tags`, `dedupe_key`, `ttl_turns`, \
            `preserve_on_compact`, `propagate` and `role_hint`, whether a pipeline, a hook or a provider creates \
            it. Any other key, a value of the wrong type, an empty body or a `ttl_turns` below 1 is rejected \
            immediately, because a misspelled option would otherwise be ignored silently. Lists of reminder \
            providers are checked in the same way.",
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
        meaning: "A host sent a reminder (`session/remind`), or a handoff carried one, with an invalid payload: \
            the `body` is missing, a value has the wrong type, or `mode` is not `interrupt_immediate`, \
            `finish_step` or `audit_only`. Unknown keys are HARN-RMD-001, and an unknown `propagate` is \
            HARN-RMD-005; put data that only the host understands under `_meta`.",
        in_check: true,
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
        title: "route without user blocks",
        meaning: "`role_hint: \"user_block\"` requests a content block of a user message, which only routes with the \
            Anthropic wire format support. On other routes, the reminder is shown as a developer message or as \
            system text instead. Use `developer` or `system`, which every route supports, or choose a route with \
            user blocks.",
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
        title: "reminder without a TTL is discarded by compaction",
        meaning: "Without `ttl_turns`, a reminder never expires during normal turns; without `preserve_on_compact: \
            true`, the next compaction discards it. Set a number of turns, or preserve the reminder if it is meant \
            to last.",
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
        meaning: "`propagate` controls which sub-agents inherit a reminder: `all` (children and their \
            descendants), `session` (direct children of the session that created it; the default) or `none`.",
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
        title: "malformed reminder from a provider",
        meaning: "A provider's `evaluate` can return nil, a reminder, `{reminder: {…}}`, or a list of those. The \
            result is something else, or its reminder is invalid; the message says which. In a loop, the error \
            is logged and the loop continues, unless `reminders: {strict: true}` is set; if you fire the \
            provider yourself, the error is raised.",
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
        meaning: "More than eight distinct providers are enabled: the eight built-in ones, without those removed \
            by \"-id\", plus those added by name. Each of them can add text to every prompt, so the number is \
            limited. Remove one for each one that you add; a registered provider that the list does not name runs \
            anyway and does not count.",
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
    /// The hook event accepts no reminder effects.
    HookEvent = "HARN-RMD-008", Error {
        title: "hook event cannot add reminders",
        meaning: "Hooks on `worker_*` events only observe: when they run, there is no transcript to add a reminder to. \
            Return the reminder from a session, tool, step or persona hook.",
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
