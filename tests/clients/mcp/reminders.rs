//! Reminders that a server sends, in the prompts of a loop that uses it.

use super::with_hostile;
use crate::harn::Outcome;

/// Lets the mock model call a tool of the server, and prints which reminders the next prompt contains.
fn reminded(era: &str, mode: &str, reminders: &str) -> Outcome {
    let script = format!(
        r#"with_llm_script([llm_tool_call("h__work", {{}}), llm_text("ok")], {{ ->
  agent_loop("go", nil, {{
    provider: "mock", session_id: "s", mcp_servers: [SERVER_AND, {reminders}}}],
  }})
  let prompt = json_stringify(llm_mock_calls().last())
  println(prompt.split("The index is stale (").count - 1)
}})
for entry in event_log.read({{topic: "transcript.reminder.lifecycle"}}).filter({{ e -> e.kind == "transcript.reminder.injected" }}) {{
  let reminder = entry.payload
  println(reminder.source, reminder.tags, reminder.role_hint, reminder.ttl_turns, reminder.session_id)
}}
"#
    );
    with_hostile(&format!("reminds-{}", reminders.len()), era, mode, &script)
}

#[test]
fn a_reminder_reaches_the_next_prompt_with_its_provenance() {
    let outcome = reminded("old", "reminds", "reminders: true");
    assert_eq!((outcome.out.as_str(), outcome.err.as_str()), ("1\nbridge [index, mcp:h] system 2 s\n", ""));
    let outcome = reminded("old", "reminds", "reminders: {allow_developer: true}");
    assert_eq!((outcome.out.as_str(), outcome.err.as_str()), ("1\nbridge [index, mcp:h] developer 2 s\n", ""));
}

#[test]
fn a_reminder_of_a_tool_that_is_an_event_reaches_the_next_prompt() {
    let outcome = reminded("new", "reminds", "reminders: true");
    assert_eq!((outcome.out.as_str(), outcome.err.as_str()), ("1\nbridge [index, mcp:h] system 2 s\n", ""));
    // What came before the loop is not shown to it.
    let outcome = reminded("new", "reminds", "reminders: false");
    assert_eq!((outcome.out.as_str(), outcome.err.as_str()), ("0\n", ""));
}

#[test]
fn a_reminder_that_is_an_event_reaches_the_prompt_after_the_next_poll() {
    let script = r#"let server = SERVER_AND, reminders: true}
with_llm_script([llm_tool_call("h__work", {}), llm_text("ok")], { ->
  agent_loop("go", nil, {
    provider: "mock", session_id: "s", mcp_servers: [server], post_turn_callback: { turn -> sleep(600) },
  })
  println(json_stringify(llm_mock_calls().last()).split("The index is stale (").count - 1)
})
let injected = event_log.read({topic: "transcript.reminder.lifecycle"}).filter({ e ->
  e.kind == "transcript.reminder.injected"
})
println(injected.map({ e -> [e.payload.source, e.payload.tags, e.payload.role_hint] }))
"#;
    let outcome = with_hostile("events", "new", "reminds", script);
    assert_eq!((outcome.out.as_str(), outcome.err.as_str()), ("1\n[[bridge, [index, mcp:h], system]]\n", ""));
    // A server without the extension is not polled.
    let outcome = reminded("new", "good", "reminders: true");
    assert_eq!((outcome.out.as_str(), outcome.err.as_str()), ("0\n", ""));
}

#[test]
fn reminders_are_off_unless_they_are_allowed() {
    for off in ["reminders: false", "timeout_ms: 60000"] {
        let outcome = reminded("old", "reminds", off);
        assert_eq!((outcome.out.as_str(), outcome.err.as_str()), ("0\n", ""), "{off}");
    }
}

#[test]
fn reminders_are_limited_to_ten_a_minute_or_as_the_script_says() {
    for (reminders, most) in [("reminders: true", 10), ("reminders: {per_minute: 3}", 3)] {
        let outcome = reminded("old", "reminds-much", reminders);
        assert!(outcome.out.starts_with(&format!("{most}\n")), "{outcome:?}");
        let said = format!("a reminder of the MCP server `h` was dropped: it sent more than {most} in a minute");
        assert_eq!((outcome.drawn("warning"), outcome.err.contains(&said)), (1, true), "{}", outcome.err);
    }
}

#[test]
fn an_invalid_reminder_is_dropped_with_a_warning() {
    let outcome = reminded("old", "reminds-wrong", "reminders: true");
    assert_eq!(outcome.out, "0\n", "{}", outcome.err);
    assert!(outcome.err.contains("HARN-MCP-113") && outcome.err.contains("propagate"), "{}", outcome.err);
}
