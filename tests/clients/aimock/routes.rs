//! Every route to a model, whole and in pieces, when all goes well and in every way in which the server can fail. The
//! server's journal proves what was asked.

use super::server::MockServer;
use crate::harn::{Outcome, harn_with_input, root, scratch};
use serde_json::{Value, json};
use std::fs;

/// A way to a model.
struct Route {
    name: &'static str,
    provider: &'static str,
    base_variable: &'static str,
    key_variable: &'static str,
    model: &'static str,
    /// The paths of an answer, complete and streamed.
    paths: [&'static str; 2],
}

const ROUTES: [Route; 6] = [
    Route {
        name: "anthropic",
        provider: "anthropic",
        base_variable: "ANTHROPIC_BASE_URL",
        key_variable: "ANTHROPIC_API_KEY",
        model: "claude-sonnet-4-5",
        paths: ["/v1/messages"; 2],
    },
    Route {
        name: "chat",
        provider: "openai",
        base_variable: "OPENAI_BASE_URL",
        key_variable: "OPENAI_API_KEY",
        model: "gpt-4.1",
        paths: ["/v1/chat/completions"; 2],
    },
    Route {
        name: "responses",
        provider: "openai",
        base_variable: "OPENAI_BASE_URL",
        key_variable: "OPENAI_API_KEY",
        model: "gpt-5-codex",
        paths: ["/v1/responses"; 2],
    },
    Route {
        name: "gemini",
        provider: "gemini",
        base_variable: "GEMINI_BASE_URL",
        key_variable: "GEMINI_API_KEY",
        model: "gemini-2.5-flash",
        paths: [
            "/v1beta/models/gemini-2.5-flash:generateContent",
            "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
        ],
    },
    Route {
        name: "ollama",
        provider: "ollama",
        base_variable: "OLLAMA_BASE_URL",
        key_variable: "OLLAMA_API_KEY",
        model: "llama3.2",
        paths: ["/api/chat"; 2],
    },
    Route {
        name: "compatible",
        provider: "openai_compatible",
        base_variable: "OPENAI_COMPATIBLE_BASE_URL",
        key_variable: "OPENAI_COMPATIBLE_API_KEY",
        model: "some-model",
        paths: ["/v1/chat/completions"; 2],
    },
];

const KEY: &str = "a-key-that-opens-nothing";
const ANSWER: &str = "They differ in one wörd 😀, which stands in the last line of the second of the two files.";

/// A way to fail: its trigger, the number of requests with one retry, and the error's message.
struct Failure {
    how: &'static str,
    category: &'static str,
    asked: [usize; 2],
    message: &'static str,
}

const FAILURES: [Failure; 4] = [
    Failure {
        how: "drop",
        category: "server",
        asked: [2, 2],
        message: "answered 500 Internal Server Error: Chaos: request dropped; try again later, or raise `llm_retries` (tried 2 times)",
    },
    Failure {
        how: "rate limit",
        category: "rate_limit",
        asked: [2, 2],
        message: "answered 429 Too Many Requests: Chaos: rate limit exceeded; wait, or send fewer requests (tried 2 \
            times)",
    },
    Failure {
        how: "disconnect",
        category: "connection",
        asked: [2, 2],
        message: "closed the connection without a response: ",
    },
    // It was paid for and would come again.
    Failure { how: "malformed", category: "bad_response", asked: [1, 1], message: "{malformed json: <<<chaos>>>" },
];

#[test]
fn every_route_answers_whole_and_in_pieces_and_fails_in_a_sentence() {
    let folder = scratch("aimock-routes-fixtures");
    let fixtures = folder.join("routes.json");
    fs::write(&fixtures, json!({"fixtures": fixtures_of_all()}).to_string()).unwrap();
    let server = MockServer::start(&fixtures, "aimock-routes");
    for route in &ROUTES {
        answers(route, &server);
        for failure in &FAILURES {
            fails(route, &server, failure);
        }
        breaks_off(route, &server);
        recovers(route, &server);
    }
}

fn fixtures_of_all() -> Vec<Value> {
    let call = |id: &str, path: &str| json!({"id": id, "name": "read_file", "arguments": {"path": path}});
    let mut all = vec![
        json!({
            "match": {"userMessage": "Compare", "turnIndex": 0},
            "response": {
                "content": "Both files, then.",
                "toolCalls": [call("call_a", "ä.txt"), call("call_b", "b.txt")],
                "usage": {"input_tokens": 40, "output_tokens": 20},
            },
        }),
        json!({
            "match": {"userMessage": "Compare", "turnIndex": 1},
            "response": {"content": ANSWER, "usage": {"input_tokens": 70, "output_tokens": 30}},
        }),
    ];
    for (how, chaos) in [
        ("drop", "dropRate"),
        ("malformed", "malformedRate"),
        ("rate limit", "rateLimitRate"),
        ("disconnect", "disconnectRate"),
    ] {
        all.push(json!({"match": {"userMessage": format!("Fail: {how}")}, "chaos": {chaos: 1}, "response": {"content": "no"}}));
    }
    let long = json!({"content": "Nobody will ever read this sentence as a whole, for it ends."});
    let cut = |matching: Value| json!({"match": matching, "truncateAfterChunks": 8, "chunkSize": 6, "latency": 5, "response": long});
    all.push(cut(json!({"userMessage": "Fail: break off"})));
    for route in &ROUTES {
        let of = |mode: &str, index: u32| json!({"userMessage": format!("Fail: {} at first, {mode}", route.name), "sequenceIndex": index});
        let busy = json!({"error": {"message": "Overloaded", "type": "overloaded_error"}, "status": 529});
        for mode in ["whole", "in pieces"] {
            all.push(json!({"match": of(mode, 0), "response": busy}));
            all.push(if mode == "whole" { json!({"match": of(mode, 1), "response": busy}) } else { cut(of(mode, 1)) });
            all.push(json!({"match": of(mode, 2), "chaos": {"latencyMs": 20}, "response": {"content": "At last."}}));
        }
    }
    all
}

/// Runs a script on a route. Returns its outcome and the requests that the server received
/// meanwhile.
fn run(route: &Route, server: &MockServer, script: &str, args: &[&str]) -> (Outcome, Vec<Value>) {
    let before = server.journal().len();
    let url = format!("http://127.0.0.1:{}", server.port);
    let env = [
        ("HARN_LLM_PROVIDER", route.provider),
        ("HARN_LLM_MODEL", route.model),
        (route.base_variable, &url),
        (route.key_variable, KEY),
    ];
    let path = root().join("tests/fixtures/aimock").join(script);
    let all: Vec<&str> = ["run", "--seed", "1", path.to_str().unwrap(), "--"].iter().chain(args).copied().collect();
    let outcome = harn_with_input(&all, b"", &env);
    assert_eq!(outcome.code, Some(0), "{} {args:?}:\n{}{}", route.name, outcome.out, outcome.err);
    // The script reads the error of a loop that failed, so its reason is a warning, once.
    let failed = outcome.out.lines().filter(|line| line.starts_with("provider_error: ")).count();
    let warnings =
        outcome.err.lines().filter(|line| line.starts_with("warning[HARN-LLM-001]: the agent loop failed: "));
    let notes = outcome.err.lines().filter(|line| line.starts_with("  note: the call is at ")).count();
    let found = (warnings.count(), notes, outcome.err.lines().count());
    assert_eq!(found, (failed, failed, 2 * failed), "{} {args:?}:\n{}", route.name, outcome.err);
    (outcome, server.journal().split_off(before))
}

fn answers(route: &Route, server: &MockServer) {
    let (outcome, journal) = run(route, server, "whole-and-pieces.harn", &[]);
    // The server counts no tokens on this one.
    let tokens = if route.name == "ollama" { "0 in, 0 out" } else { "110 in, 50 out" };
    let half = |pieces: bool| {
        format!(
            "done: {ANSWER}\n  user nil \n  assistant [read_file ä.txt, read_file b.txt] \n  \
             tool nil the text of ä.txt\n  tool nil the text of b.txt\n  assistant nil \n\
             heard: Both files, then.{ANSWER}\ncalls: [read_file ä.txt, read_file b.txt]\n\
             tokens: {tokens}\nseveral pieces: {pieces}\n"
        )
    };
    assert_eq!(outcome.out, half(false) + half(true).as_str(), "{}", route.name);
    assert_eq!(journal.len(), 4, "{}", route.name);
    for (index, entry) in journal.iter().enumerate() {
        let place = format!("{}, request {index}: {entry:#}", route.name);
        assert_eq!(entry["path"], route.paths[index / 2], "{place}");
        assert_eq!(entry["response"]["status"], 200, "{place}");
        let messages = entry["body"]["messages"].as_array().unwrap();
        let results = messages.iter().filter(|message| message["role"] == "tool");
        let results: Vec<_> = results.map(|message| message["content"].as_str().unwrap_or_default()).collect();
        let expected: &[&str] = if index % 2 == 0 { &[] } else { &["the text of ä.txt", "the text of b.txt"] };
        assert_eq!(results.len(), expected.len(), "{place}");
        // Gemini takes results as objects only.
        assert!(results.iter().zip(expected).all(|(result, text)| result.contains(text)), "{place}");
    }
}

fn fails(route: &Route, server: &MockServer, failure: &Failure) {
    let (outcome, journal) = run(route, server, "failing.harn", &[failure.how, "1"]);
    let place = format!("{} {}:\n{}", route.name, failure.how, outcome.out);
    let lines: Vec<&str> = outcome.out.lines().collect();
    for (lines, asked) in lines.chunks(5).zip(failure.asked) {
        assert_eq!(lines[0], format!("provider_error: {}", failure.category), "{place}");
        let who = format!("message: {} at http://127.0.0.1:{}", route.provider, server.port);
        assert!(lines[1].starts_with(&who) && lines[1].contains(failure.message), "{place}");
        let told = if asked == 2 { "told: [restart]" } else { "told: []" };
        assert_eq!(lines[2..], ["roles: [user]", told, "left: [5]"], "{place}");
    }
    assert_eq!(lines.len(), 10, "{place}");
    assert_eq!(journal.len(), failure.asked.iter().sum::<usize>(), "{place}");
}

/// Checks that an answer that breaks off is reported, and is not taken as an answer.
fn breaks_off(route: &Route, server: &MockServer) {
    let (outcome, journal) = run(route, server, "failing.harn", &["break off", "1"]);
    let place = format!("{}:\n{}", route.name, outcome.out);
    let lines: Vec<&str> = outcome.out.lines().skip(5).collect();
    assert_eq!(lines[0], "provider_error: connection", "{place}");
    assert!(lines[1].contains("closed the connection in the middle of its response: "), "{place}");
    assert!(lines[1].ends_with("(tried 2 times)"), "{place}");
    assert_eq!((lines[2], lines[4]), ("roles: [user]", "left: [5]"), "{place}");
    assert!(lines[3].starts_with("told: [text, ") && lines[3].ends_with(", text]"), "{place}");
    assert_eq!(lines[3].matches("restart").count(), 1, "{place}");
    // The whole answer is not cut.
    assert_eq!(journal.len(), 3, "{place}");
}

/// Overloaded, then (in pieces) an answer that breaks off, then one that is slow but whole.
fn recovers(route: &Route, server: &MockServer) {
    let (outcome, journal) = run(route, server, "failing.harn", &[&format!("{} at first", route.name), "2"]);
    let place = format!("{}:\n{}", route.name, outcome.out);
    for lines in outcome.out.lines().collect::<Vec<_>>().chunks(5) {
        assert_eq!(lines[0], "done: At last.", "{place}");
        assert_eq!((lines[2], lines[4]), ("roles: [user, assistant]", "left: [4]"), "{place}");
        assert!(lines[3].ends_with("restart, text]"), "{place}");
    }
    let status: Vec<_> = journal.iter().map(|entry| entry["response"]["status"].as_u64()).collect();
    assert_eq!(status, [Some(529), Some(529), Some(200), Some(529), Some(200), Some(200)], "{place}");
    let bodies: Vec<_> = journal[..3].iter().map(|entry| &entry["body"]).collect();
    assert!(bodies.windows(2).all(|pair| pair[0] == pair[1]), "the same request each time: {place}");
    assert_eq!(bodies[0].to_string().matches("Mind the gap.").count(), 1, "{place}");
}
