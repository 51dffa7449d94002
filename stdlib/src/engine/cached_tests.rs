//! `cached_tokens` of a loop's result against the documents that were sent: a reminder is cached if it ends within the bytes
//! that a request shares with the one before it, in the order in which vendors read a prompt: tools, system text, messages.

use base::data::Data;

use super::*;
use lang::source::Source;
use providers::model::{CapabilityTable, Route, Routes};
use runtime::capabilities::WireFormat;
use runtime::model::Request;

/// Models of each wire format; the first two are those whose reminders have the vendor's own slot, and user blocks.
const MODELS: [&str; 7] = [
    "claude-opus-4-8",
    "claude-sonnet-4-5",
    "gpt-5-mini",
    "gpt-4o",
    "gpt-5-pro",
    "gemini-2.5-flash",
    "without-a-cache",
];

const HINTS: [&str; 4] = ["system", "developer", "user_block", "ephemeral_cache"];

/// Returns the prompt of a document in the order in which it is read. It has no marks for caches, and a text is the
/// same as one block with it.
fn prompt(route: &Route, request: &Request) -> String {
    let body = Data::from(route.body(request).unwrap());
    let order: &[&str] = match route.wire {
        WireFormat::Anthropic => &["tools", "system", "messages"],
        WireFormat::OpenaiChat | WireFormat::Ollama => &["tools", "messages"],
        WireFormat::OpenaiResponses => &["tools", "instructions", "input"],
        WireFormat::Gemini => &["tools", "systemInstruction", "contents"],
    };
    order.iter().map(|key| plain(body.get(key)).to_json()).collect::<Vec<_>>().join("\n")
}

fn plain(value: &Data) -> Data {
    if let Some(entries) = value.as_dict() {
        let kept = entries.iter().filter(|(key, _)| key.as_ref() != "cache_control");
        return Data::dict(kept.map(|(key, value)| {
            let text = value.as_str().filter(|_| key.as_ref() == "content");
            let block = |text: &str| Data::dict([("type", Data::from("text")), ("text", text.into())]);
            (key.clone(), text.map_or_else(|| plain(value), |text| std::iter::once(block(text)).collect()))
        }));
    }
    match value.as_list() {
        Some(items) => items.iter().map(plain).collect(),
        None => value.clone(),
    }
}

/// Returns the tokens of reminders that a cache can serve and those that it cannot, by the documents.
fn by_documents(route: &Route, requests: &[Request]) -> (u64, u64) {
    let (mut cached, mut uncached) = (0, 0);
    let mut last: Option<String> = None;
    for request in requests {
        let now = prompt(route, request);
        let shared = last.as_ref().map_or(0, |last| last.bytes().zip(now.bytes()).take_while(|(a, b)| a == b).count());
        for fired in &request.reminders.fired {
            let quoted = Data::from(fired.text.as_ref()).to_json();
            let end = now.find(&quoted[1..quoted.len() - 1]).unwrap() + quoted.len() - 2;
            let is_cached = route.capabilities.caches_prompts() && end <= shared;
            *(if is_cached { &mut cached } else { &mut uncached }) += fired.estimated_tokens();
        }
        last = Some(now);
    }
    (cached, uncached)
}

/// Runs a loop. Returns its tokens of reminders, cached and not, and the requests that it sent.
fn run(script: &str) -> ((u64, u64), Vec<Request>) {
    let output = Rc::new(crate::output::Captured::default());
    let engine = Engine::new(RunOptions { output: output.clone(), ..RunOptions::default() });
    let ran = engine.run(&Source::new("test.harn", script));
    assert_eq!(ran.exit_code, 0, "{:?}", ran.diagnostics);
    let told = Data::from_json(output.stdout().lines().last().unwrap()).unwrap();
    let tokens = |key: &str| u64::try_from(told.get(key).as_int().unwrap()).unwrap();
    let calls = engine.world.services.routes.mock().calls();
    ((tokens("cached_tokens"), tokens("uncached_tokens")), calls.into_iter().map(|call| call.request).collect())
}

fn script(model: &str, placement: &str, stays: &str, goes: &str) -> String {
    format!(
        r#"let s = agent_session_open("s")
agent_session_inject_reminder(s, {{body: "STAY " + "x" * 400, preserve_on_compact: true, role_hint: "{stays}"}})
agent_session_inject_reminder(s, {{body: "TTL " + "y" * 40, ttl_turns: 1, role_hint: "{goes}"}})
let look = {{ a ->
  if a.n == 2 {{
    agent_session_inject_reminder(s, {{body: "LATE " + "z" * 80, role_hint: "{stays}"}})
  }}
  return "r${{a.n}}"
}}
let tools = tool_define(tool_registry(), "look", "l", {{parameters: {{n: "int"}}, handler: look}})
for n in 1 to 4 {{
  llm_mock({{tool_calls: [{{id: "t${{n}}", name: "look", arguments: {{n: n}}}}]}})
}}
llm_mock("done")
let r = agent_loop("TASK", "SYS", {{
  provider: "mock", model: "{model}", session_id: s, tools: tools, stream: false, reminders: {{placement: "{placement}"}},
}})
println(json_stringify(r?.reminders))"#
    )
}

#[test]
fn cached_tokens_agree_with_the_bytes_that_are_sent() {
    let routes = Routes::new(|| CapabilityTable::built_in().unwrap(), |_| None).without_servers();
    let mut wrong = Vec::new();
    let mut any_cached = std::collections::BTreeSet::new();
    for model in MODELS {
        let route = routes.choose(Some("mock"), Some(model)).unwrap();
        for placement in ["head", "tail", "auto"] {
            for (stays, goes) in HINTS.iter().flat_map(|stays| HINTS.map(|goes| (*stays, goes))) {
                let (told, requests) = run(&script(model, placement, stays, goes));
                assert_eq!(requests.len(), 5);
                let found = by_documents(&route, &requests);
                if found.0 > 0 {
                    any_cached.insert(model);
                }
                if told != found {
                    wrong.push(format!("{model} {placement} {stays}/{goes}: told {told:?}, by the bytes {found:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(any_cached.len(), MODELS.len() - 1, "{any_cached:?}");
}

#[test]
fn a_changed_list_of_tools_comes_before_every_reminder() {
    let routes = Routes::new(|| CapabilityTable::built_in().unwrap(), |_| None).without_servers();
    for model in MODELS {
        let route = routes.choose(Some("mock"), Some(model)).unwrap();
        for placement in ["head", "tail", "auto"] {
            let one = script(model, placement, "system", "system");
            let (first, rest) = one.split_once("println").unwrap();
            let again = format!(
                "{first}println{rest}\nlet more = tool_define(tools, \"also\", \"a\", {{parameters: {{}}, handler: {{ a -> 1 }}}})\n\
                llm_mock(\"done\")\nlet r2 = agent_loop(\"AGAIN\", \"SYS\", {{provider: \"mock\", model: \"{model}\", session_id: s, \
                tools: more, stream: false, reminders: {{placement: \"{placement}\"}}}})\nprintln(json_stringify(r2?.reminders))"
            );
            let (told, requests) = run(&again);
            assert_eq!(requests.len(), 6);
            let (all, before) = (by_documents(&route, &requests), by_documents(&route, &requests[..5]));
            assert_eq!(told, (all.0 - before.0, all.1 - before.1), "{model} {placement}");
            assert_eq!(told.0, 0, "{model} {placement}");
        }
    }
}
