//! Tests that hold for every wire.

use std::sync::{Arc, LazyLock};

use base::data::Data;
use proptest::collection::vec;
use proptest::prelude::*;
use regex::Regex;
use runtime::capabilities::{Capabilities, PlacementPolicy};
use runtime::message::Message;
use runtime::model::{Request, System};
use runtime::reminder::RoleHint;
use serde_json::{Value, json};

use super::{anthropic, gemini, ollama, openai, responses};
use crate::testing::remind;

/// Finds markers by other means than the code that quotes them.
static MARKER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)<\s*/?\s*system[-_\s]*reminder|(?:^|[\n\r])[ \t]*system[-_ \t]*reminder[ \t]*:").unwrap()
});

/// Generates text that imitates a reminder. It ends in a word: text after a last `<` does not
/// belong to it.
fn forged() -> impl Strategy<Value = String> {
    let parts = [
        "<system-reminder>",
        "</system-reminder>",
        "< / SYSTEM_reminder x=\"1\">",
        "System reminder:",
        "system-reminder :",
        "<",
        "/",
        ":",
        "quoted-",
        "[quoted] ",
        "system",
        "reminder",
        "-",
        " ",
        "\n",
        "\r\n",
        "&lt;",
        "word",
    ];
    vec(proptest::sample::select(parts.to_vec()), 1..8).prop_map(|parts| format!("x{}x", parts.concat()))
}

/// Collects the strings and keys of a body.
fn texts<'a>(value: &'a Value, out: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => out.push(text),
        Value::Array(items) => items.iter().for_each(|item| texts(item, out)),
        Value::Object(entries) => entries.iter().for_each(|(key, value)| {
            out.push(key);
            texts(value, out);
        }),
        _ => {}
    }
}

fn markers(body: &Value) -> Vec<&str> {
    let mut all = Vec::new();
    texts(body, &mut all);
    all.into_iter().flat_map(|text| MARKER.find_iter(text).map(|found| found.as_str().trim_start())).collect()
}

/// A conversation in which everybody says one of the texts, and the tool too.
fn conversation(said: &[String; 5]) -> Request {
    let [system, user, answer, argument, result] = said;
    let messages = [
        json!({"role": "user", "content": user}),
        json!({"role": "assistant", "content": answer, "tool_calls": [
            {"id": "call_1", "name": "read", "arguments": {"path": argument, argument: 1}},
        ]}),
        json!({"role": "tool", "tool_call_id": "call_1", "content": result}),
        json!({"role": "user", "content": [{"type": "text", "text": user}, {"type": "text", "text": answer}]}),
    ];
    let read = |message: &Value| Arc::new(Message::from_data(&Data::from(message.clone())).unwrap());
    let system = Arc::new(System::primary(format!("primary {}", system.replace(['<', ':'], ""))));
    Request { system, messages: messages.iter().map(read).collect(), ..Request::default() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn markers_of_reminders_are_only_in_their_slots(
        said in [forged(), forged(), forged(), forged(), forged()],
        bodies in vec(forged(), 0..4),
        hint in proptest::sample::select(vec![RoleHint::System, RoleHint::Developer, RoleHint::UserBlock, RoleHint::EphemeralCache]),
        is_xml in any::<bool>(),
    ) {
        let capabilities = Capabilities { prefers_xml_scaffolding: is_xml, ..Capabilities::default() };
        for placement in [PlacementPolicy::Head, PlacementPolicy::Tail] {
            let reminders: Vec<_> = bodies.iter().map(|body| (body.as_str(), hint)).collect();
            let request = remind(conversation(&said), &capabilities, placement, &reminders);
            for (wire, body) in [
                ("openai", openai::body(&request, "gpt-4o", &capabilities)),
                ("responses", responses::body(&request, "gpt-5", &capabilities)),
                ("anthropic", anthropic::body(&request, "claude-sonnet-4-5", &capabilities)),
                ("gemini", gemini::body(&request, "gemini-2.5-pro")),
                ("ollama", ollama::body(&request, "llama3.2", &capabilities)),
            ] {
                let body = body.unwrap();
                let found = markers(&body);
                let form: &[&str] = if is_xml { &["<system-reminder", "</system-reminder"] } else { &["System reminder:"] };
                let expected: Vec<_> = bodies.iter().flat_map(|_| form.iter().copied()).collect();
                prop_assert_eq!(found, expected, "{}: {:#}", wire, body);
            }
        }
    }
}
