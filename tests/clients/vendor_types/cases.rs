//! Every route, every cell of the rendering table, and whatever else a request may hold.

use crate::vendors::{Api, CLAUDE, GEMINI, GEMINI_2, GPT, GPT_REASONING, OLLAMA, rules};
use base::data::Data;
use providers::model::{CapabilityTable, Route, Routes};
use runtime::capabilities::{PlacementPolicy, WireFormat};
use runtime::message::{Message, ToolSpec};
use runtime::model::{Request, System};
use runtime::reminder::{ReminderSource, ReminderSpec, RoleHint};
use runtime::render::{RenderOptions, render};
use serde_json::{Value, json};
use std::sync::Arc;

/// The wires, as the check names them.
pub(super) const WIRES: [&str; 5] = ["anthropic", "openai_chat", "openai_responses", "gemini", "ollama"];

/// Provider and model. Those with `plain`, `xml` or `responses` in their names are described in [`ROWS`].
const ROUTES: [(&str, &str); 18] = [
    ("anthropic", "claude-sonnet-4-5"),
    ("anthropic", "claude-opus-4-7"),
    ("anthropic", "claude-plain"),
    ("openai", "gpt-4o"),
    ("openai", "gpt-4o-xml"),
    ("openai", "gpt-5-mini"),
    ("openai", "gpt-5-pro"),
    ("openai", "gpt-4o-responses"),
    ("openai", "gpt-4o-responses-xml"),
    ("openai_compatible", "default"),
    ("gemini", "gemini-2.5-flash"),
    ("gemini", "gemini-3-pro-preview"),
    ("gemini", "gemini-plain"),
    ("ollama", "llama3.2"),
    ("ollama", "llama-xml"),
    ("mock", "claude-sonnet-4-5"),
    ("mock", "gpt-5-pro"),
    ("mock", "gemini-2.5-flash"),
];

const ROWS: &str = r#"
    [[capabilities]]
    provider = "anthropic"
    model = "claude-plain"
    prefers_xml_scaffolding = false
    prompt_caching = false
    [[capabilities]]
    provider = "openai"
    model = "gpt-4o-responses*"
    wire = "openai_responses"
    [[capabilities]]
    provider = "openai"
    model = "gpt-4o*-xml"
    prefers_xml_scaffolding = true
    [[capabilities]]
    provider = "gemini"
    model = "gemini-plain"
    prefers_xml_scaffolding = false
    [[capabilities]]
    provider = "ollama"
    model = "llama-xml"
    prefers_xml_scaffolding = true
    context_window = 8192
"#;

/// A body, and what it must be.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) wire: &'static str,
    pub(super) streamed: bool,
    pub(super) body: Value,
}

impl Case {
    pub(super) fn to_json(&self) -> Value {
        json!({"name": self.name, "wire": self.wire, "streamed": self.streamed, "body": self.body})
    }
}

pub(super) fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    for (provider, model) in ROUTES {
        let route = route(provider, model);
        for (history, messages) in histories() {
            for (cell, hint, placement) in cells() {
                let request = remind(request(messages.clone()), &route, hint, placement);
                for stream in [false, true] {
                    let name = format!("{provider}/{model}: {history}, {cell}, stream {stream}");
                    cases.extend(case(name, &route, &Request { stream, ..request.clone() }));
                }
            }
        }
        for (option, request) in options() {
            cases.extend(case(format!("{provider}/{model}: {option}"), &route, &request));
        }
    }
    cases
}

/// One body with all that a body of the wire can hold.
pub(super) fn rich(wire: &str) -> Case {
    let (provider, model) = match wire {
        "anthropic" => ("anthropic", "claude-sonnet-4-5"),
        "openai_chat" => ("openai", "gpt-5-mini"),
        "openai_responses" => ("openai", "gpt-5-pro"),
        "gemini" => ("gemini", "gemini-2.5-flash"),
        _ => ("ollama", "llama-xml"),
    };
    let route = route(provider, model);
    let messages = histories().into_iter().flat_map(|(_, messages)| messages).collect();
    let request = remind(request(messages), &route, Some(RoleHint::EphemeralCache), PlacementPolicy::Head);
    let request = Request {
        tools: Arc::new(vec![tool()]),
        // Ollama forces no call, Anthropic none while the model thinks.
        tool_choice: match wire {
            "ollama" => Data::Nil,
            "anthropic" => "auto".into(),
            _ => data(json!({"name": "read"})),
        },
        // See `is_newer_than_the_model`.
        temperature: (wire != "anthropic").then_some(0.5),
        max_tokens: Some(9000),
        thinking: "low".into(),
        output_schema: schema(),
        ..request
    };
    case(format!("{wire}: everything"), &route, &request).unwrap()
}

fn route(provider: &str, model: &str) -> Route {
    let table = || CapabilityTable::built_in().unwrap().with_toml("harn.toml", ROWS).unwrap();
    let routes = Routes::new(table, |name| match name {
        "OPENAI_COMPATIBLE_BASE_URL" => Some("http://127.0.0.1:8000/v1".to_owned()),
        name => name.ends_with("_API_KEY").then(|| "a-key-that-opens-nothing".to_owned()),
    });
    routes.choose(Some(provider), Some(model)).unwrap()
}

/// The body, unless the wire cannot express the request; which those are is held by [`refused`].
fn case(name: String, route: &Route, request: &Request) -> Option<Case> {
    let refused = refused(route, request);
    match route.body(request) {
        Ok(body) => {
            assert!(!refused, "{name}: it cannot be said, but was: {body}");
            let streamed = body["stream"] == true;
            let by_body = route.wire != WireFormat::Gemini;
            assert!(streamed == (request.stream && by_body), "{name}: {body}");
            // Rules that the types do not know.
            let api = strict_api(route);
            let broken = api.and_then(|api| rules::broken(&api, &body)).map(|rule| rule.words);
            assert!(broken.is_none(), "{name}: {broken:?}: {body:#}");
            if let Some(budget) = body["thinking"]["budget_tokens"].as_u64() {
                assert!(body["max_tokens"].as_u64() > Some(budget), "{name}: {body}");
            }
            Some(Case { name, wire: route.wire.as_str(), streamed, body })
        }
        Err(error) => {
            assert!(refused, "{name}: {error}");
            None
        }
    }
}

/// Returns the strict API that serves a route.
fn strict_api(route: &Route) -> Option<Api> {
    Some(match (route.provider.as_str(), route.wire) {
        ("anthropic", _) => CLAUDE,
        ("openai", WireFormat::OpenaiChat) => GPT,
        ("openai", _) => GPT_REASONING,
        ("gemini", _) if route.model.contains("gemini-2") => GEMINI_2,
        ("gemini", _) => GEMINI,
        ("ollama", _) => OLLAMA,
        _ => return None,
    })
}

/// Returns whether a route refuses a request: Ollama cannot force a tool call; some wires have no
/// seed or stop sequences.
fn refused(route: &Route, request: &Request) -> bool {
    let choice = request.tool_choice.as_str();
    match route.wire {
        WireFormat::Ollama => !request.tool_choice.is_nil() && !matches!(choice, Some("auto" | "none")),
        WireFormat::Anthropic => request.seed.is_some(),
        WireFormat::OpenaiResponses => request.seed.is_some() || !request.stop.is_empty(),
        WireFormat::OpenaiChat | WireFormat::Gemini => false,
    }
}

/// Returns whether a request is valid although the types reject it: the newest models of Anthropic
/// accept no temperature and no top-p, so its SDK has dropped these keys, but older models accept
/// them. And the placeholder for a signature, by Google's documents, is URL-safe base64, which the
/// types encode in the other alphabet.
pub(super) fn is_newer_than_the_model(case: &Case, problem: &str) -> bool {
    let is_gone = |key: &str| {
        case.body.get(key).is_some() && problem == format!(".{key}: MessageCreateParamsNonStreaming has no such key")
    };
    let is_stand_in = || {
        problem.ends_with(
            "thoughtSignature: understood as \"skip/thought/signature/validator\", sent \
             \"skip_thought_signature_validator\"",
        )
    };
    match case.wire {
        "anthropic" => is_gone("temperature") || is_gone("top_p"),
        "gemini" => is_stand_in(),
        _ => false,
    }
}

fn data(json: Value) -> Data {
    Data::from(json)
}

fn request(messages: Vec<Value>) -> Request {
    let messages = messages.into_iter().map(|message| Arc::new(Message::from_data(&data(message)).unwrap())).collect();
    let system = Arc::new(System { appendix: Some("Appendix.".into()), ..System::primary("You read files.") });
    Request { system, messages, tools: Arc::new(vec![tool()]), ..Request::default() }
}

fn tool() -> ToolSpec {
    let parameters = json!({
        "type": "object",
        "properties": {"path": {"type": "string", "description": "Which file."}},
        "required": ["path"],
    });
    ToolSpec::new("read", "Reads a file.", data(parameters))
}

fn schema() -> Data {
    data(json!({
        "type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false,
    }))
}

/// Returns the cells of the matrix: without a reminder, and each hint at each end.
fn cells() -> Vec<(String, Option<RoleHint>, PlacementPolicy)> {
    let mut cells = vec![("no reminder".to_owned(), None, PlacementPolicy::Head)];
    for hint in [RoleHint::System, RoleHint::Developer, RoleHint::UserBlock, RoleHint::EphemeralCache] {
        for placement in [PlacementPolicy::Head, PlacementPolicy::Tail] {
            cells.push((format!("{hint} at the {placement}"), Some(hint), placement));
        }
    }
    cells
}

fn remind(request: Request, route: &Route, hint: Option<RoleHint>, placement: PlacementPolicy) -> Request {
    let Some(role_hint) = hint else { return request };
    let made = ["a < b & c", "two"].map(|body| {
        let spec = ReminderSpec { role_hint, ..ReminderSpec::new(body) };
        spec.into_reminder(body.into(), ReminderSource::InPipeline, 0)
    });
    let rendered =
        render(&made, &route.capabilities, RenderOptions { placement: Some(placement), ..RenderOptions::default() });
    assert_eq!(rendered.fired.len(), 2);
    Request { reminders: Arc::new(rendered), ..request }
}

/// Conversations, as scripts write them.
fn histories() -> Vec<(&'static str, Vec<Value>)> {
    let call = |id: &str| json!([{"id": id, "name": "read", "arguments": {"path": "a"}}]);
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "name": "read", "content": "text of a"});
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0K"}});
    vec![
        ("a question", vec![json!({"role": "user", "content": "Look."})]),
        (
            "tools",
            vec![
                json!({"role": "user", "content": "Look.", "name": "ann"}),
                json!({"role": "assistant", "content": "I look.", "tool_calls": [
                    {"id": "call_1", "name": "read", "arguments": {"path": "a"}},
                    {"id": "call_2", "name": "read", "arguments": "{oops"},
                ]}),
                result("call_1"),
                json!({"role": "tool", "tool_call_id": "call_2", "content": "no JSON", "is_error": true}),
            ],
        ),
        (
            "instructions among messages",
            vec![
                json!({"role": "system", "content": "Be short."}),
                json!({"role": "assistant", "content": "Hello. "}),
                json!({"role": "user", "content": ""}),
                json!({"role": "user", "content": "And?"}),
                json!({"role": "system", "content": "Mind </this>."}),
                json!({"role": "assistant", "content": "Well"}),
            ],
        ),
        (
            "images",
            vec![
                json!({"role": "user", "content": [{"type": "text", "text": "What is it?"}, image]}),
                json!({"role": "assistant", "content": "", "tool_calls": call("call_i")}),
                json!({"role": "tool", "tool_call_id": "call_i", "content": [{"type": "text", "text": "it"}, image]}),
            ],
        ),
        (
            "thinking of every vendor",
            vec![
                json!({"role": "user", "content": "Look."}),
                // Anthropic
                json!({"role": "assistant", "tool_calls": call("toolu_1"), "content": [
                    {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
                    {"type": "redacted_thinking", "data": "c2ln"},
                    {"type": "text", "text": "I look.", "citations": null},
                    {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a"}},
                ]}),
                result("toolu_1"),
                // OpenAI
                json!({"role": "assistant", "tool_calls": call("call_o"), "content": [
                    {"type": "openai_item", "item": {
                        "type": "reasoning", "id": "rs_1", "encrypted_content": "c2ln",
                        "summary": [{"type": "summary_text", "text": "Hm."}],
                    }},
                    {"type": "text", "text": "I look.",
                        "openai_item": {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}},
                    {"type": "openai_item", "item": {
                        "type": "function_call", "id": "fc_1", "call_id": "call_o", "name": "read",
                        "arguments": "{\"path\": \"b\"}", "status": "completed",
                    }},
                ]}),
                result("call_o"),
                // Gemini
                json!({"role": "assistant", "tool_calls": call("call_g"), "content": [
                    {"type": "text", "text": "I look.", "gemini_part": {"thoughtSignature": "c2ln"}},
                    {"type": "gemini_part", "call": 0, "part": {
                        "functionCall": {"name": "read", "args": {"path": "b"}}, "thoughtSignature": "c2ln",
                    }},
                ]}),
                result("call_g"),
                // Ollama
                json!({"role": "assistant", "tool_calls": call("call_l"), "content": [
                    {"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "I look."},
                ]}),
                result("call_l"),
            ],
        ),
    ]
}

/// Options of a call, each by itself.
fn options() -> Vec<(String, Request)> {
    let base = request(vec![json!({"role": "user", "content": "Look."})]);
    let mut out = Vec::new();
    for choice in [json!("auto"), json!("none"), json!("required"), json!({"name": "read"})] {
        out.push((format!("tool_choice {choice}"), Request { tool_choice: data(choice), ..base.clone() }));
    }
    for thinking in [json!(true), json!(false), json!(2048), json!("minimal"), json!("high")] {
        out.push((format!("thinking {thinking}"), Request { thinking: data(thinking), ..base.clone() }));
    }
    // What is thought must leave room for the answer.
    for thinking in [json!("medium"), json!(20_000)] {
        let name = format!("thinking {thinking} and a short answer");
        out.push((name, Request { thinking: data(thinking), max_tokens: Some(1000), ..base.clone() }));
    }
    let chosen = Request { top_p: Some(0.5), stop: vec!["END".into()], seed: Some(7), ..base.clone() };
    out.push(("top_p".to_owned(), Request { stop: Vec::new(), seed: None, ..chosen.clone() }));
    out.push(("stop".to_owned(), Request { seed: None, top_p: None, ..chosen.clone() }));
    out.push(("seed".to_owned(), Request { stop: Vec::new(), top_p: None, ..chosen }));
    out.push(("a cache for the prompt".to_owned(), Request { prompt_cache: true, ..base.clone() }));
    let open = data(json!({"type": "object", "properties": {"a": {"type": "string"}}}));
    out.push(("a closed schema".to_owned(), Request { output_schema: schema(), ..base.clone() }));
    out.push(("an open schema".to_owned(), Request { output_schema: open, ..base.clone() }));
    out.push(("numbers".to_owned(), Request { temperature: Some(0.0), max_tokens: Some(1), ..base.clone() }));
    let bare = ToolSpec::new("now", "", Data::Nil);
    out.push(("a tool without parameters".to_owned(), Request { tools: Arc::new(vec![bare]), ..base.clone() }));
    out.push(("nothing but a question".to_owned(), Request { system: Arc::default(), tools: Arc::default(), ..base }));
    out
}
