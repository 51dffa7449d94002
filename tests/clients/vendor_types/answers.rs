//! Answers that the SDKs' own types wrote are read, and what goes back after them is right again.

use super::cases::Case;
use super::check;
use crate::harn::{harn_with_input, scratch};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// Wire, provider, model, and the end of the request path.
const ROUTES: [(&str, &str, &str, &str); 5] = [
    ("anthropic", "anthropic", "claude-sonnet-4-5", "/v1/messages"),
    ("openai_chat", "openai", "gpt-5-mini", "/chat/completions"),
    ("openai_responses", "openai", "gpt-5-pro", "/responses"),
    ("gemini", "gemini", "gemini-2.5-flash", ":generateContent"),
    ("ollama", "ollama", "llama3.2", "/api/chat"),
];

const BASES: [&str; 4] = ["ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "GEMINI_BASE_URL", "OLLAMA_BASE_URL"];

/// A call, its answer, and the same conversation with the answer and the tool's result in it.
const SCRIPT: &str = r#"
let reg = tool_define(tool_registry(), "read", "Reads a file.", {
  parameters: {path: "string"},
  handler: { args -> "text of " + args.path },
})
for {provider, model} in ROUTES {
  let result = agent_loop("Look.", "You read files.", {
    provider: provider, model: model, tools: reg, max_iterations: 2, llm_retries: 0, stream: false,
  })
  let first = llm_call("Look.", nil, {provider: provider, model: model, llm_retries: 0, stream: false})
  println(json_stringify({
    model: model,
    text: first.text, calls: first.tool_calls, reasoning: first.reasoning, stop_reason: first.stop_reason,
    tokens: [first.input_tokens, first.output_tokens, first.cache_read_tokens, first.cache_write_tokens],
    provider: first.provider, status: result.status,
  }))
}
"#;

#[test]
fn answers_of_the_vendors_types_are_read_and_go_back_as_they_came() {
    let answers = check(&[], &[])("answers");
    let seen = Arc::new(Mutex::new(Vec::new()));
    let port = serve(answers.into_iter().collect(), seen.clone());
    let routes: Vec<_> =
        ROUTES.iter().map(|(_, provider, model, _)| json!({"provider": provider, "model": model})).collect();
    let script = SCRIPT.replace("ROUTES", &Value::from(routes).to_string());
    let path = scratch("vendor-answers").join("script.harn");
    fs::write(&path, script).unwrap();
    let url = format!("http://127.0.0.1:{port}");
    let env: Vec<_> = BASES.iter().map(|variable| (*variable, url.as_str())).collect();
    let outcome = harn_with_input(&["run", path.to_str().unwrap()], b"", &env);
    assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{}", outcome.out);

    for (line, (wire, provider, model, _)) in outcome.out.lines().zip(ROUTES) {
        let told: Value = serde_json::from_str(line).unwrap();
        assert_eq!((&told["model"], &told["provider"]), (&model.into(), &provider.into()), "{line}");
        assert_eq!((&told["text"], &told["status"]), (&"I look.".into(), &"budget_exhausted".into()), "{line}");
        assert_eq!(told["calls"][0]["arguments"], json!({"path": "a"}), "{line}");
        assert_eq!(told["calls"][0]["name"], "read", "{line}");
        let thought = if wire == "openai_chat" { Value::Null } else { "Let me look.".into() };
        assert_eq!(told["reasoning"], thought, "{line}");
        let (stop, cached) = match wire {
            "anthropic" => ("tool_use", [3, 2]),
            "openai_chat" => ("tool_calls", [3, 2]),
            "openai_responses" => ("completed", [3, 2]),
            "gemini" => ("STOP", [3, 0]),
            _ => ("stop", [0, 0]),
        };
        assert_eq!(told["stop_reason"], stop, "{line}");
        assert_eq!(told["tokens"], json!([15, 5, cached[0], cached[1]]), "{line}");
    }
    assert_eq!(outcome.out.lines().count(), ROUTES.len());
    requests_are_right(&seen.lock().unwrap());
}

/// Checks that the received requests are valid too, and that the second request of each loop
/// carries the model's thoughts.
fn requests_are_right(seen: &[(&'static str, Value)]) {
    let cases: Vec<Case> = seen
        .iter()
        .enumerate()
        .map(|(index, (wire, body))| Case {
            name: format!("{wire}, request {index}"),
            wire,
            streamed: false,
            body: body.clone(),
        })
        .collect();
    let told = check(&cases, &[])("requests");
    let faults: Vec<_> = told.iter().filter(|(_, problem)| !problem.is_null()).collect();
    assert!(faults.is_empty(), "{faults:#?}");
    assert_eq!(cases.len(), ROUTES.len() * 3);
    let carried = |wire: &str, path: &str| {
        let second = seen.iter().filter(|(of, _)| *of == wire).nth(1).unwrap();
        second.1.pointer(path).unwrap_or_else(|| panic!("no {path} in {}", second.1)).clone()
    };
    assert_eq!(carried("anthropic", "/messages/1/content/0/signature"), "c2ln");
    assert_eq!(carried("openai_responses", "/input/1/encrypted_content"), "c2ln");
    assert_eq!(carried("openai_responses", "/input/2/id"), "msg_1");
    assert_eq!(carried("openai_responses", "/input/3/id"), "fc_1");
    assert_eq!(carried("gemini", "/contents/1/parts/1/thoughtSignature"), "c2ln");
    assert_eq!(carried("ollama", "/messages/2/thinking"), "Let me look.");
    assert_eq!(carried("openai_chat", "/messages/2/tool_calls/0/id"), "call_1");
}

/// Answers each question with what was made for its wire, and keeps the question.
fn serve(answers: Vec<(String, Value)>, seen: Arc<Mutex<Vec<(&'static str, Value)>>>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            answer(&stream, &answers, &seen);
        }
    });
    port
}

fn answer(mut stream: &TcpStream, answers: &[(String, Value)], seen: &Mutex<Vec<(&'static str, Value)>>) {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    while reader.read_line(&mut head).unwrap_or(0) > 0 && !head.ends_with("\r\n\r\n") {}
    for line in head.lines() {
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    if reader.read_exact(&mut body).is_err() {
        return;
    }
    let path = head.split(' ').nth(1).unwrap_or_default();
    let Some((wire, ..)) = ROUTES.iter().find(|(_, _, _, end)| path.ends_with(end)) else { return };
    seen.lock().unwrap().push((wire, serde_json::from_slice(&body).unwrap()));
    let answer = answers.iter().find(|(name, _)| name == wire).map(|(_, body)| body.to_string()).unwrap();
    let _ = write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{answer}",
        answer.len()
    );
}
