//! Placement of reminders in requests, seen by a server: ten turns on each route, with the reminders before the
//! conversation and where the cache of the route wants them; and servers that reject a slot.
//!
//! `UPDATE=1 cargo test --workspace --test system placement::` writes the table of `docs/performance.md`, and the bodies of
//! all requests to `target/tmp/placement`.

use crate::harn::{Outcome, harn_with_input, root, scratch};
use crate::vendors::rules::broken;
use crate::vendors::{Api, CLAUDE, GEMINI_2, GPT, GPT_REASONING, OLLAMA};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A route: its name in the table, provider, variables of its base URL and key, model, and wire format.
struct TestRoute {
    name: &'static str,
    provider: &'static str,
    url: &'static str,
    key: &'static str,
    model: &'static str,
    wire: Wire,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wire {
    Anthropic,
    Chat,
    Responses,
    Gemini,
    Ollama,
}

const fn route(name: &'static str, wire: Wire, vendor: [&'static str; 4]) -> TestRoute {
    let [provider, url, key, model] = vendor;
    TestRoute { name, provider, url, key, model, wire }
}

const ANTHROPIC: [&str; 3] = ["anthropic", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"];
const OPENAI: [&str; 3] = ["openai", "OPENAI_BASE_URL", "OPENAI_API_KEY"];

const fn of(vendor: [&'static str; 3], model: &'static str) -> [&'static str; 4] {
    [vendor[0], vendor[1], vendor[2], model]
}

/// A route for each form in which reminders are sent after the conversation.
const ROUTES: [TestRoute; 6] = [
    route("Anthropic, own slot", Wire::Anthropic, of(ANTHROPIC, "claude-opus-4-8")),
    route("Anthropic, user blocks", Wire::Anthropic, of(ANTHROPIC, "claude-sonnet-4-5")),
    route("OpenAI Chat", Wire::Chat, of(OPENAI, "gpt-5")),
    route("OpenAI Responses", Wire::Responses, of(OPENAI, "gpt-5-codex")),
    route("Gemini", Wire::Gemini, ["gemini", "GEMINI_BASE_URL", "GEMINI_API_KEY", "gemini-2.5-pro"]),
    route("Ollama", Wire::Ollama, ["ollama", "OLLAMA_BASE_URL", "OLLAMA_API_KEY", "qwen3"]),
];

impl Wire {
    /// The strict API of this form.
    fn api(self) -> Api {
        match self {
            Wire::Anthropic => CLAUDE,
            Wire::Chat => GPT,
            Wire::Responses => GPT_REASONING,
            Wire::Gemini => GEMINI_2,
            Wire::Ollama => OLLAMA,
        }
    }
}

/// The rejection of a request, if a server has one.
type Verdict = fn(&Value) -> Option<&'static str>;

/// Starts a server that asks for one file after another. Returns its URL and the bodies of the requests it gets.
fn server(wire: Wire, rejects: Verdict) -> (String, Arc<Mutex<Vec<Value>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://127.0.0.1:{}", listener.local_addr().unwrap().port());
    let got: Arc<Mutex<Vec<Value>>> = Arc::default();
    let seen = got.clone();
    // It ends with the process of the tests.
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let Some(body) = read_body(&stream) else { continue };
            let mut seen = seen.lock().unwrap();
            let strict = broken(&wire.api(), &body).map(|rule| rule.words);
            let (status, answer) = match rejects(&body).or(strict) {
                Some(why) => ("400 Bad Request", json!({"error": {"type": "invalid_request_error", "message": why}})),
                None => ("200 OK", answer(wire, seen.len())),
            };
            seen.push(body);
            respond(stream, status, &answer.to_string());
        }
    });
    (url, got)
}

fn read_body(stream: &TcpStream) -> Option<Value> {
    let mut reader = BufReader::new(stream);
    let (mut length, mut line) = (0, String::new());
    loop {
        line.clear();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return None;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            let mut body = vec![0; length];
            reader.read_exact(&mut body).ok()?;
            return serde_json::from_slice(&body).ok();
        }
    }
}

fn respond(mut stream: TcpStream, status: &str, body: &str) {
    let length = body.len();
    let head = "Content-Type: application/json\r\nConnection: close";
    let _ =
        stream.write_all(format!("HTTP/1.1 {status}\r\n{head}\r\nContent-Length: {length}\r\n\r\n{body}").as_bytes());
}

/// Returns an answer that calls `read_file`.
fn answer(wire: Wire, nth: usize) -> Value {
    let arguments = json!({"path": format!("src/part_{nth}.rs")});
    let id = format!("call_{nth}");
    match wire {
        Wire::Anthropic => json!({
            "id": "msg", "type": "message", "role": "assistant", "model": "m", "stop_reason": "tool_use",
            "content": [{"type": "tool_use", "id": id, "name": "read_file", "input": arguments}],
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }),
        Wire::Chat => json!({
            "id": "c", "object": "chat.completion", "model": "m",
            "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
                "role": "assistant", "content": null,
                "tool_calls": [{"id": id, "type": "function", "function": {
                    "name": "read_file", "arguments": arguments.to_string(),
                }}],
            }}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }),
        Wire::Responses => json!({
            "id": "r", "object": "response", "model": "m", "status": "completed",
            "output": [{
                "type": "function_call", "id": format!("fc_{nth}"), "call_id": id, "name": "read_file",
                "arguments": arguments.to_string(), "status": "completed",
            }],
            "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2},
        }),
        Wire::Gemini => json!({
            "candidates": [{"index": 0, "finishReason": "STOP", "content": {
                "role": "model", "parts": [{"functionCall": {"name": "read_file", "args": arguments}}],
            }}],
            "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        }),
        Wire::Ollama => json!({
            "model": "m", "created_at": "2026-01-01T00:00:00Z", "done": true, "done_reason": "stop",
            "message": {"role": "assistant", "content": "", "tool_calls": [
                {"function": {"name": "read_file", "arguments": arguments}},
            ]},
            "prompt_eval_count": 1, "eval_count": 1,
        }),
    }
}

fn run(name: &str, route: &TestRoute, placement: &str, url: &str) -> Outcome {
    let script = fs::read_to_string(root().join("tests/system/placement/loop.txt")).unwrap();
    let path = scratch(&format!("placement-{name}-{}-{placement}", route.model)).join("loop.harn");
    fs::write(&path, script.replace("MODEL", route.model).replace("PLACEMENT", placement)).unwrap();
    let env = [("HARN_LLM_PROVIDER", route.provider), (route.url, url), (route.key, "a-key")];
    harn_with_input(&["run", "--seed", "1", path.to_str().unwrap()], b"", &env)
}

/// A part of a request that a cache stores or not as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    text: String,
    marked: bool,
}

/// Returns the parts of a request in the order in which the vendor caches them, without settings.
fn pieces(wire: Wire, body: &Value) -> Vec<Piece> {
    let mut all = Vec::new();
    let mut put = |frame: &str, value: &Value| {
        let mut value = value.clone();
        let marked = value.as_object_mut().and_then(|fields| fields.remove("cache_control")).is_some();
        all.push(Piece { text: format!("{frame}{value}"), marked });
    };
    for tool in body["tools"].as_array().into_iter().flatten() {
        put("tool ", tool);
    }
    let system = ["system", "instructions", "systemInstruction", "system_instruction"];
    for text in system.iter().filter_map(|key| body.get(*key)) {
        match text.as_array() {
            Some(blocks) => blocks.iter().for_each(|block| put("system ", block)),
            None if text.is_string() => put("system ", &json!({"type": "text", "text": text})),
            None => put("system ", text),
        }
    }
    let list = match wire {
        Wire::Responses => "input",
        Wire::Gemini => "contents",
        Wire::Anthropic | Wire::Chat | Wire::Ollama => "messages",
    };
    for message in body[list].as_array().unwrap() {
        let role = message["role"].as_str().unwrap_or("item").to_owned() + " ";
        let content = if wire == Wire::Gemini { "parts" } else { "content" };
        match &message[content] {
            Value::Array(blocks) => blocks.iter().for_each(|block| put(&role, block)),
            // A text and a list with one text are the same.
            Value::String(text) if matches!(wire, Wire::Anthropic | Wire::Responses) => {
                let kind = if wire == Wire::Anthropic { "text" } else { "input_text" };
                put(&role, &json!({"type": kind, "text": text}));
            }
            _ => put(&role, message),
        }
    }
    all
}

fn bytes(pieces: &[Piece]) -> usize {
    pieces.iter().map(|piece| piece.text.len()).sum()
}

/// Returns the number of bytes that two requests share from the first. Anthropic caches whole blocks, the others any
/// beginning.
fn shared(wire: Wire, one: &[Piece], another: &[Piece]) -> usize {
    let count = one.iter().zip(another).take_while(|(one, another)| one.text == another.text).count();
    let rest = match (one.get(count), another.get(count)) {
        (Some(one), Some(another)) if wire != Wire::Anthropic => {
            one.text.bytes().zip(another.text.bytes()).take_while(|(one, another)| one == another).count()
        }
        _ => 0,
    };
    bytes(&one[..count]) + rest
}

/// Returns the least share of a request that is the beginning of the next one.
fn least_prefix(wire: Wire, requests: &[Vec<Piece>]) -> f64 {
    let share = |pair: &[Vec<Piece>]| shared(wire, &pair[0], &pair[1]) as f64 / bytes(&pair[0]) as f64;
    requests.windows(2).map(share).fold(1.0, f64::min)
}

/// Returns the share of all bytes that no earlier request begins with.
fn new_share(wire: Wire, requests: &[Vec<Piece>]) -> f64 {
    let all: usize = requests.iter().map(|request| bytes(request)).sum();
    let known = requests.windows(2).map(|pair| shared(wire, &pair[0], &pair[1]));
    (all - known.sum::<usize>()) as f64 / all as f64
}

/// Blocks before a mark in which Anthropic searches its cache.
const LOOKS_BACK: usize = 20;

/// Returns what the requests cost by Anthropic's rules, divided by the cost without a cache: a tenth for bytes that are
/// read from it, five quarters for those written. The least length of a cached prompt is not considered.
fn anthropic_cost(requests: &[Vec<Piece>]) -> f64 {
    let mut cache: HashSet<String> = HashSet::new();
    let (mut cost, mut plain) = (0.0, 0.0);
    for request in requests {
        let marks: Vec<usize> =
            (0..request.len()).filter(|index| request[*index].marked).map(|index| index + 1).collect();
        let prefix = |end: usize| request[..end].iter().map(|piece| piece.text.as_str()).collect::<String>();
        let hits =
            |mark: &usize| (mark.saturating_sub(LOOKS_BACK)..=*mark).rev().find(|end| cache.contains(&prefix(*end)));
        let read = marks.iter().filter_map(hits).max().unwrap_or(0);
        let written = marks.last().copied().unwrap_or(0).max(read);
        cost += 0.1 * bytes(&request[..read]) as f64
            + 1.25 * bytes(&request[read..written]) as f64
            + bytes(&request[written..]) as f64;
        plain += bytes(request) as f64;
        cache.extend(marks.iter().map(|mark| prefix(*mark)));
    }
    cost / plain
}

/// Runs ten turns on a route. Returns the requests and what the script printed.
fn ten_turns(route: &TestRoute, placement: &str) -> (Vec<Value>, Outcome) {
    let (url, got) = server(route.wire, |_| None);
    let outcome = run("turns", route, placement, &url);
    assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{} {placement}", route.name);
    assert!(outcome.out.starts_with("budget_exhausted 10\n"), "{} {placement}: {}", route.name, outcome.out);
    let bodies = got.lock().unwrap().clone();
    assert_eq!(bodies.len(), 10, "{} {placement}", route.name);
    (bodies, outcome)
}

const PAGE: &str = "docs/performance.md";
const BEGIN: &str = "| route | least prefix, `head` | least prefix, `auto` |";

#[test]
fn the_table_of_the_page_is_that_of_ten_turns() {
    let folder = scratch("placement");
    let mut table = format!(
        "{BEGIN} new bytes, `head` | new bytes, `auto` | cost, `head` | cost, `auto` |\n|---|--:|--:|--:|--:|--:|--:|\n"
    );
    for route in &ROUTES {
        let measured = ["head", "auto"].map(|placement| {
            let (bodies, outcome) = ten_turns(route, placement);
            let lines: Vec<String> = bodies.iter().map(|body| format!("{body}\n")).collect();
            fs::write(folder.join(format!("{}-{placement}.jsonl", route.model)), lines.concat()).unwrap();
            let requests: Vec<Vec<Piece>> = bodies.iter().map(|body| pieces(route.wire, body)).collect();
            let reminders: Value = serde_json::from_str(outcome.out.lines().nth(1).unwrap()).unwrap();
            (requests, reminders)
        });
        let [(head, told_head), (auto, told_auto)] = &measured;
        for request in head.iter().chain(auto) {
            let all: String = request.iter().map(|piece| piece.text.as_str()).collect();
            assert_eq!(all.matches("Never edit generated files.").count(), 1, "{}", route.name);
            assert_eq!(all.matches("Progress: ").count(), 1, "{}", route.name);
        }
        assert!(least_prefix(route.wire, auto) >= 0.92, "{}: {}", route.name, least_prefix(route.wire, auto));
        let tokens = |told: &Value, what: &str| told[what].as_u64().unwrap();
        assert_eq!(tokens(told_auto, "rebilled_tokens"), 0, "{}: {told_auto}", route.name);
        assert!(told_auto["by_source"]["in_pipeline"]["cached_tokens"].as_u64() > Some(50), "{told_auto}");
        assert!(tokens(told_head, "rebilled_tokens") > 20_000, "{}: {told_head}", route.name);
        assert!(told_head["note"].as_str().is_some_and(|note| note.contains("placement: \"auto\"")), "{told_head}");
        let percent = |share: f64| format!("{:.1} %", share * 100.0);
        let cost = |requests: &[Vec<Piece>]| match route.wire {
            Wire::Anthropic => format!("{:.2}", anthropic_cost(requests)),
            _ => "–".to_owned(),
        };
        if route.wire == Wire::Anthropic {
            assert!(anthropic_cost(auto) <= 0.35, "{}: {}", route.name, anthropic_cost(auto));
            assert!(anthropic_cost(head) > 1.0, "{}: {}", route.name, anthropic_cost(head));
        }
        writeln!(
            table,
            "| {} (`{}`) | {} | {} | {} | {} | {} | {} |",
            route.name,
            route.model,
            percent(least_prefix(route.wire, head)),
            percent(least_prefix(route.wire, auto)),
            percent(new_share(route.wire, head)),
            percent(new_share(route.wire, auto)),
            cost(head),
            cost(auto),
        )
        .unwrap();
    }
    let page = fs::read_to_string(root().join(PAGE)).unwrap();
    let begin = page.find(BEGIN).expect("the page has the table");
    let end = begin + page[begin..].find("\n\n").unwrap() + 1;
    if std::env::var_os("UPDATE").is_some() {
        fs::write(root().join(PAGE), format!("{}{table}{}", &page[..begin], &page[end..])).unwrap();
    } else {
        assert_eq!(&page[begin..end], table, "`UPDATE=1` writes the table");
    }
}

#[test]
fn a_route_without_a_cache_keeps_the_slots_of_the_guide() {
    let compatible = ["openai_compatible", "OPENAI_COMPATIBLE_BASE_URL", "OPENAI_COMPATIBLE_API_KEY"];
    let route = route("compatible", Wire::Chat, of(compatible, "local"));
    let (head, auto) = (ten_turns(&route, "head").0, ten_turns(&route, "auto").0);
    assert_eq!(head, auto);
    assert!(head[0]["messages"][0]["content"].as_str().unwrap().contains("System reminder:\nNever edit"));
}

/// Returns the roles of the messages of a request, and whether its system text contains a reminder.
fn shape(body: &Value) -> (Vec<&str>, bool) {
    let roles = body["messages"].as_array().unwrap().iter().filter_map(|message| message["role"].as_str()).collect();
    (roles, body["system"].to_string().contains("system-reminder"))
}

#[test]
fn a_rejected_slot_never_ends_the_loop() {
    let native = &ROUTES[0];
    // As the API does for models without the slot.
    let (url, got) = server(native.wire, |body| {
        let roles = shape(body).0;
        roles
            .contains(&"system")
            .then_some("messages.1: unexpected role \"system\"; use the top-level `system` parameter")
    });
    let outcome = run("rejected", native, "auto", &url);
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    assert!(outcome.out.starts_with("budget_exhausted 10\n"), "{}", outcome.out);
    let bodies = got.lock().unwrap().clone();
    assert_eq!(bodies.len(), 11, "only the first request is sent again");
    assert!(bodies[1..].iter().all(|body| !shape(body).0.contains(&"system")));
    let last = bodies[10].to_string();
    assert!(last.contains("Progress: ") && last.contains("Never edit"), "{last}");
    assert_eq!(outcome.out.matches("blocks of user messages for the rest of the run").count(), 1, "{}", outcome.out);
    assert_eq!(outcome.err.matches("blocks of user messages for the rest of the run").count(), 1, "{}", outcome.err);
}

#[test]
fn the_last_slot_is_system_text() {
    let native = &ROUTES[0];
    // Neither the slot nor a reminder within the conversation.
    let (url, got) = server(native.wire, |body| {
        let inside = body["messages"].to_string().contains("system-reminder");
        inside.then_some("Conversation roles must alternate user/assistant/user/assistant")
    });
    let outcome = run("alternate", native, "auto", &url);
    assert!(outcome.out.starts_with("budget_exhausted 10\n"), "{}{}", outcome.out, outcome.err);
    let bodies = got.lock().unwrap().clone();
    assert_eq!(bodies.len(), 12, "native, user block, system text");
    for body in &bodies[2..] {
        let (roles, in_system) = shape(body);
        assert!(in_system && !roles.contains(&"system"), "{body}");
        assert!(body["system"].to_string().contains("Progress: "), "{body}");
    }
}

#[test]
fn another_rejection_is_the_answer() {
    let (url, got) = server(Wire::Anthropic, |_| Some("max_tokens: must be at least 1"));
    let outcome = run("other", &ROUTES[0], "auto", &url);
    assert!(outcome.out.starts_with("provider_error 1\n"), "{}{}", outcome.out, outcome.err);
    assert_eq!(got.lock().unwrap().len(), 1);
    // One about a role that remains in the last slot ends the loop, after one request for each slot.
    let (url, got) = server(Wire::Anthropic, |_| Some("unknown role"));
    let outcome = run("always", &ROUTES[0], "auto", &url);
    assert!(outcome.out.starts_with("provider_error 1\n"), "{}{}", outcome.out, outcome.err);
    assert_eq!(got.lock().unwrap().len(), 3);
}
