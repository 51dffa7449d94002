//! The quick start, on both wires that can carry all of it.

use super::server::MockServer;
use crate::harn::{Outcome, harn_with_input, root};
use serde_json::Value;

const KEY: &str = "a-key-that-opens-nothing";

/// The text of each reminder of the quick start, by its dedupe key.
const BODIES: [(&str, &str); 4] = [
    ("house_rules", "Answer in at most 2 sentences"),
    ("draft:notes.md", "notes.md is a draft"),
    ("token_pressure", "of the context window are used"),
    ("tool_output_truncated:read_file", "was truncated"),
];

/// The reminders that the model sees in each turn.
const SEEN: [&[&str]; 4] = [
    &["house_rules"],
    &["house_rules", "draft:notes.md"],
    &["house_rules", "draft:notes.md"],
    &["house_rules", "draft:notes.md", "token_pressure", "tool_output_truncated:read_file"],
];

#[test]
fn the_quick_start_passes_on_the_anthropic_wire() {
    passes(&Wire {
        provider: "anthropic",
        base_variable: "ANTHROPIC_BASE_URL",
        key_variable: "ANTHROPIC_API_KEY",
        model: None,
        path: "/v1/messages",
        role: "system",
    });
}

#[test]
fn the_quick_start_passes_on_the_openai_wire() {
    passes(&Wire {
        provider: "openai",
        base_variable: "OPENAI_BASE_URL",
        key_variable: "OPENAI_API_KEY",
        model: Some("gpt-4.1"),
        path: "/v1/chat/completions",
        role: "system",
    });
}

#[test]
fn the_quick_start_passes_on_the_openai_wire_with_developer_messages() {
    passes(&Wire {
        provider: "openai",
        base_variable: "OPENAI_BASE_URL",
        key_variable: "OPENAI_API_KEY",
        model: Some("gpt-5-mini"),
        path: "/v1/chat/completions",
        role: "developer",
    });
}

/// A route, and the expected requests.
struct Wire {
    provider: &'static str,
    base_variable: &'static str,
    key_variable: &'static str,
    model: Option<&'static str>,
    path: &'static str,
    /// The role that reminders have.
    role: &'static str,
}

fn passes(wire: &Wire) {
    let fixtures = root().join("tests/fixtures/aimock/quickstart.json");
    let server = MockServer::start(&fixtures, &format!("aimock-{}-{}", wire.provider, wire.role));
    let url = format!("http://127.0.0.1:{}", server.port);
    let mut env = vec![("HARN_LLM_PROVIDER", wire.provider), (wire.base_variable, &url), (wire.key_variable, KEY)];
    env.extend(wire.model.map(|model| ("HARN_LLM_MODEL", model)));
    let outcome = quick_start(&env);
    let journal = server.journal();

    assert_eq!(outcome.code, Some(0), "standard output:\n{}\nstandard error:\n{}", outcome.out, outcome.err);
    assert_eq!(outcome.err, "");
    assert!(outcome.out.contains("status: done after 4 turns, 3 tool calls\n"), "{}", outcome.out);
    assert!(outcome.out.contains("answer: The server says: todo.md names a change"), "{}", outcome.out);
    timeline_tells_the_story(&outcome.out, wire.role);
    assert_eq!(timeline(&outcome.out), offline_timeline(wire.role), "it differs from the run without a server");
    requests_are_right(&journal, wire);
}

fn quick_start(env: &[(&str, &str)]) -> Outcome {
    harn_with_input(&["run", "--seed", "1", "examples/quickstart.harn"], b"", env)
}

// ---- The timeline ----

/// A row of the printed table: event, reminder, what happened.
type TimelineRow = (String, String, String);

fn timeline(out: &str) -> Vec<TimelineRow> {
    let mut lines = out.lines();
    let heading = lines.find(|line| line.starts_with("event ")).unwrap_or_else(|| panic!("no timeline in:\n{out}"));
    let (second, third) = (heading.find("reminder").unwrap(), heading.find("what happened").unwrap());
    let row = |line: &str| {
        let cell = |from: usize, to: usize| line.get(from..to.min(line.len())).unwrap_or("").trim().to_owned();
        (cell(0, second), cell(second, third), cell(third, line.len()))
    };
    lines.map(row).collect()
}

/// Returns the timeline with the scripted mock, in the role that the wire has.
fn offline_timeline(role: &str) -> Vec<TimelineRow> {
    let mut rows =
        timeline(&harn_with_input(&["run", "examples/quickstart.harn"], b"", &[("HARN_LLM_PROVIDER", "")]).out);
    for (_, _, text) in rows.iter_mut().filter(|(event, ..)| event == "fired") {
        *text = text.replace("as system", &format!("as {role}"));
    }
    rows
}

fn timeline_tells_the_story(out: &str, role: &str) {
    let rows = timeline(out);
    let of = |event: &str, name: &str| {
        let fits = |row: &&TimelineRow| row.0 == event && row.1 == name;
        rows.iter().filter(fits).map(|row| row.2.as_str()).collect::<Vec<_>>()
    };
    for (name, _) in BODIES {
        assert_eq!(of("injected", name).len(), 1, "{name} is injected once\n{out}");
        let turns = SEEN.iter().enumerate().filter(|(_, seen)| seen.contains(&name));
        let expected: Vec<_> = turns.map(|(index, _)| format!("turn {}, as {role}", index + 1)).collect();
        assert_eq!(of("fired", name), expected, "{name}\n{out}");
    }
    assert_eq!(of("expired", "tool_output_truncated:read_file"), ["ttl"], "{out}");
    assert_eq!(of("expired", "draft:notes.md"), ["cleared"], "{out}");
}

// ---- What the server received ----

fn requests_are_right(journal: &[Value], wire: &Wire) {
    assert_eq!(journal.len(), SEEN.len(), "one request for each turn");
    for (index, entry) in journal.iter().enumerate() {
        let place = format!("request {} on {}", index + 1, wire.path);
        assert_eq!(entry["path"], wire.path, "{place}");
        assert_eq!(entry["response"]["status"], 200, "{place}");
        if let Some(model) = wire.model {
            assert_eq!(entry["body"]["model"], model, "{place}");
        }
        // The journal has OpenAI's shape on every wire.
        let messages = entry["body"]["messages"].as_array().unwrap();
        reminders_are_nobodys_words(messages, index, wire.role, &place);
        results_follow_their_calls(messages, index, &place);
    }
    let results = |content: &Value| content.as_str().is_some_and(|text| text.contains("output truncated"));
    let last = journal.last().unwrap()["body"]["messages"].as_array().unwrap();
    assert!(results(&last.last().unwrap()["content"]), "the long file was cut: {:?}", last.last());
}

/// Asserts that each reminder appears once, before the conversation and in the role of the route,
/// and that no other message repeats it.
fn reminders_are_nobodys_words(messages: &[Value], turn: usize, role: &str, place: &str) {
    let is_instruction = |message: &&Value| matches!(message["role"].as_str(), Some("system" | "developer"));
    let instructions: Vec<_> = messages.iter().take_while(is_instruction).collect();
    assert!(instructions.iter().all(|message| message["role"] == role), "{place}: {instructions:?}");
    let conversation = &messages[instructions.len()..];
    let users: Vec<_> = conversation.iter().filter(|message| message["role"] == "user").collect();
    assert_eq!(users.len(), 1, "{place}: the user spoke once: {users:?}");
    assert!(text(users[0]).starts_with("Read notes.md, todo.md and app.log, then say"), "{place}: {users:?}");
    let instructed: String = instructions.into_iter().map(text).collect::<Vec<_>>().join("\n");
    for (name, body) in BODIES {
        let times = usize::from(SEEN[turn].contains(&name));
        assert_eq!(instructed.matches(body).count(), times, "{place}: {name} in\n{instructed}");
        assert!(
            !conversation.iter().any(|message| text(message).contains(body)),
            "{place}: {name} in the conversation"
        );
    }
    assert!(!conversation.iter().any(|message| text(message).contains("system-reminder")), "{place}");
}

/// After the task there are as many pairs of a call and its result as turns went before.
fn results_follow_their_calls(messages: &[Value], turn: usize, place: &str) {
    let mut rest = messages.iter().skip_while(|message| message["role"] != "user").skip(1);
    for id in ["call_notes", "call_todo", "call_log"].into_iter().take(turn) {
        let (call, result) = (rest.next().unwrap(), rest.next().unwrap());
        assert_eq!((&call["role"], &call["tool_calls"][0]["id"]), (&"assistant".into(), &id.into()), "{place}");
        assert_eq!((&result["role"], &result["tool_call_id"]), (&"tool".into(), &id.into()), "{place}");
        assert!(!text(result).is_empty(), "{place}: the result of {id} says nothing");
    }
    assert!(rest.next().is_none(), "{place}: nothing else was said");
}

/// The text of a message, whether it is written plainly or in blocks.
fn text(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}
