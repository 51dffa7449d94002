//! Every script that the guide to system reminders prints.

use crate::tree;

const SCRIPTS: &[&str] = &[
    r#"
let injected = transcript.inject_reminder(transcript(), {
body: "Approaching context window cap.",
tags: ["token_pressure"],
dedupe_key: "token_pressure",
ttl_turns: 3,
preserve_on_compact: true,
propagate: "session",
role_hint: "developer",
})
let next_transcript = injected.transcript
log(injected.reminder_id)
log(injected.deduped_count)
"#,
    r#"
let cleared = transcript.clear_reminders(next_transcript, {
tag: "token_pressure",
})
log(cleared.removed_count)
"#,
    r#"
register_tool_hook({
pattern: "read_file",
post: { ctx ->
if ctx.result.truncated {
return {
reminder: {
body: "The file read was truncated; inspect the specific range before editing.",
tags: ["truncation"],
dedupe_key: "read_file:truncated",
ttl_turns: 1,
propagate: "none",
},
}
}
},
})
"#,
    r#"
register_reminder_provider({
id: "workspace_guard",
subscribes_to: ["session_idle"],
evaluate: { ctx ->
if ctx.config?.enabled == false {
return nil
}
return {
reminder: {
body: "Workspace may have changed while idle; re-check touched files.",
tags: ["workspace"],
dedupe_key: "workspace:idled",
ttl_turns: 1,
propagate: "session",
},
}
},
})
agent_loop(task, system, {
reminders: {
config: {
workspace_guard: {enabled: true},
},
},
})
"#,
    r#"
agent_loop(task, system, {
reminders: {
providers: ["-token_pressure", "-idle_nudge"],
config: {
token_pressure: {context_window: 128000},
idle_nudge: {idle_seconds: 120},
},
},
})
"#,
    r#"
let compacted = transcript_compact(snapshot, {
strategy: "custom",
custom_compactor: { messages, reminders ->
return transcript({
messages: [
{role: "system", content: "Summary plus " + str(len(reminders)) + " active reminders."},
],
})
},
})
"#,
    r#"
agent_loop(task, system, {
reminders: {
config: {
token_pressure: {context_window: 128000},
},
},
})
"#,
    r#"
store_fact({
kind: "Decision",
claim: "Build cancels in-flight tool calls on SIGINT before clearing state.",
confidence: 0.92,
evidence: [{kind: "FileRange", ref: "crates/harn-vm/src/cancel.rs:1"}],
})
agent_loop(task, system, {
reminders: {
config: {
project_facts: {
max_facts: 8,
min_confidence: 0.6,
kind_filter: ["decision", "constraint"],
},
},
},
})
"#,
    r#"
register_session_hook("file_edited", { event ->
let path = to_string(event?.path ?? "")
return {
reminder: {
body: "File changed externally: " + path + ". Re-read it before editing.",
tags: ["workspace", "file_changed"],
dedupe_key: "file_changed:" + path,
ttl_turns: 2,
propagate: "session",
},
}
})
"#,
    r#"
let memory_warning = "Customer prefers patch-sized PRs and explicit verification."
let injected = transcript.inject_reminder(transcript(), {
body: memory_warning,
tags: ["memory"],
dedupe_key: "memory:customer-pr-style",
ttl_turns: 4,
preserve_on_compact: true,
propagate: "all",
role_hint: "developer",
})
"#,
    r#"
let cleared = transcript.clear_reminders(current_transcript, {
dedupe_key: "workspace-change",
})
"#,
    r#"
transcript.inject_reminder(transcript(), {
body: "Large policy excerpt applies for this turn only.",
tags: ["policy"],
dedupe_key: "policy:turn",
ttl_turns: 1,
role_hint: "ephemeral_cache",
propagate: "none",
})
"#,
    r#"
transcript_compact(snapshot, {
strategy: "custom",
custom_compactor: { messages, reminders ->
for reminder in reminders {
log(reminder.body)
}
return transcript({messages: messages})
},
})
"#,
];

#[test]
fn the_guide_parses() {
    for script in SCRIPTS {
        let tree = tree(script);
        assert!(!tree.contains("ERROR"), "{script}\n{tree}");
    }
}

#[test]
fn a_hook_means_what_it_says() {
    let hook = SCRIPTS.iter().find(|s| s.contains("register_tool_hook")).expect("the guide has a hook");
    let tree = tree(hook);
    assert!(tree.starts_with("(call register_tool_hook (dict \"pattern\":\"read_file\" \"post\":(\\ (ctx) (if (.truncated (.result ctx)) {(return (dict \"reminder\":(dict "), "{tree}");
}
