//! Exchanges with vendors, kept in files and played back: each request must be the recorded one, and the recorded answers must be
//! read as they were. No key is needed.
//!
//! ```sh
//! # the strict vendors again
//! UPDATE=1 cargo test --workspace --locked --test system cassettes::
//! # a real one: the key is read from the variable that the provider usually reads, and never written
//! HARN_RECORD=anthropic:claude-sonnet-4-5 ANTHROPIC_API_KEY=… \
//!   cargo test --workspace --locked --test system -- --ignored cassettes::a_real_vendor_is_recorded
//! ```

use crate::harn::{Outcome, harn_with_input, root};
use crate::vendors::answers::End;
use crate::vendors::server::{HttpRequest, Vendors, read_request, respond};
use crate::vendors::{APIS, Wire};
use serde_json::{Value, json};
use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;

/// Provider, variables of its base URL and of its key, and the vendor's own base URL.
const PROVIDERS: [(&str, &str, &str, &str); 5] = [
    ("anthropic", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "https://api.anthropic.com"),
    ("openai", "OPENAI_BASE_URL", "OPENAI_API_KEY", "https://api.openai.com"),
    ("openai_compatible", "OPENAI_COMPATIBLE_BASE_URL", "OPENAI_COMPATIBLE_API_KEY", ""),
    ("gemini", "GEMINI_BASE_URL", "GEMINI_API_KEY", "https://generativelanguage.googleapis.com"),
    ("ollama", "OLLAMA_BASE_URL", "OLLAMA_API_KEY", "http://127.0.0.1:11434"),
];

/// A key for servers that look at none.
const NO_KEY: &str = "a-key-that-opens-nothing";

/// The answers of the strict vendors in the conversation.
const ENDS: [End; 3] = [End::Calls, End::Done, End::CutOff];

/// Answers a request with a status and a body.
type Act = Box<dyn FnMut(&HttpRequest) -> (u16, String) + Send>;

/// Starts a server for one conversation. Returns its URL.
fn server(mut act: Act) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    // It ends with the process of the tests.
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            while let Some(request) = read_request(&stream) {
                let (status, body) = act(&request);
                respond(&stream, status, &body);
            }
        }
    });
    url
}

/// Runs the conversation with a model at a server.
fn converse(provider: &str, model: &str, url: &str, key: &str) -> Outcome {
    let (_, base, key_variable, _) = PROVIDERS.iter().find(|row| row.0 == provider).unwrap();
    let env = [("PROVIDER", provider), ("MODEL", model), (*base, url), (*key_variable, key)];
    harn_with_input(&["run", "tests/cassettes/conversation.harn"], b"", &env)
}

/// Records the conversation with a model, whose requests `forward` answers.
fn record(provider: &str, model: &str, key: &str, mut forward: Act) -> Value {
    let exchanges: Arc<Mutex<Vec<Value>>> = Arc::default();
    let kept = exchanges.clone();
    let url = server(Box::new(move |request| {
        let (status, body) = forward(request);
        let response = serde_json::from_str::<Value>(&body).unwrap_or(Value::String(body.clone()));
        let asked: Value = serde_json::from_slice(&request.body).unwrap();
        // Headers hold the key and the names of accounts; none is needed to play this back.
        let path = request.path.split('?').next().unwrap_or_default();
        kept.lock().unwrap().push(json!({"path": path, "request": asked, "status": status, "response": response}));
        (status, body)
    }));
    let outcome = converse(provider, model, &url, key);
    let exchanges = std::mem::take(&mut *exchanges.lock().unwrap());
    assert!(!exchanges.is_empty(), "{}", outcome.err);
    let cassette = json!({"provider": provider, "model": model, "exchanges": exchanges, "output": outcome.out});
    assert!(!cassette.to_string().contains(key), "the key of {provider} is in an exchange, so nothing is written");
    cassette
}

fn path(provider: &str, model: &str) -> PathBuf {
    root().join(format!("tests/cassettes/{provider}-{model}.json"))
}

fn write(cassette: &Value) {
    let path = path(cassette["provider"].as_str().unwrap(), cassette["model"].as_str().unwrap());
    fs::write(path, format!("{cassette:#}\n")).unwrap();
}

#[test]
fn recorded_exchanges_are_played_back() {
    if std::env::var_os("UPDATE").is_some() {
        for api in APIS {
            let vendors = Vendors::start();
            vendors.open_with("cassette", &ENDS);
            let act: Act = Box::new(move |request| vendors.serve("cassette", request));
            write(&record(api.provider, api.model, NO_KEY, act));
        }
    }
    let mut wires = Vec::new();
    for entry in fs::read_dir(root().join("tests/cassettes")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "json") {
            continue;
        }
        let cassette: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let (provider, model) = (cassette["provider"].as_str().unwrap(), cassette["model"].as_str().unwrap());
        wires.extend(APIS.iter().find(|api| (api.provider, api.model) == (provider, model)).map(|api| api.wire));
        let exchanges = cassette["exchanges"].as_array().unwrap().clone();
        let count = exchanges.len();
        let problems: Arc<Mutex<Vec<String>>> = Arc::default();
        let (found, mut rest) = (problems.clone(), exchanges.into_iter());
        let played = Arc::new(Mutex::new(0));
        let plays = played.clone();
        let url = server(Box::new(move |request| {
            let asked: Value = serde_json::from_slice(&request.body).unwrap();
            let Some(exchange) = rest.next() else {
                found.lock().unwrap().push(format!("one request more: {asked:#}"));
                return (500, "{}".to_owned());
            };
            if exchange["request"] != asked || exchange["path"] != request.path.split('?').next().unwrap_or_default() {
                found
                    .lock()
                    .unwrap()
                    .push(format!("recorded {:#}\nasked {} {asked:#}", exchange["request"], request.path));
            }
            *plays.lock().unwrap() += 1;
            let body = exchange["response"].as_str().map_or_else(|| exchange["response"].to_string(), str::to_owned);
            (u16::try_from(exchange["status"].as_u64().unwrap()).unwrap(), body)
        }));
        let outcome = converse(provider, model, &url, NO_KEY);
        let problems = problems.lock().unwrap();
        assert!(problems.is_empty(), "{}: {}", path.display(), problems.join("\n"));
        assert_eq!(outcome.out, cassette["output"].as_str().unwrap(), "{}: {}", path.display(), outcome.err);
        assert_eq!(*played.lock().unwrap(), count, "{}", path.display());
    }
    for wire in [Wire::Anthropic, Wire::Chat, Wire::Responses, Wire::Gemini, Wire::Ollama] {
        assert!(wires.contains(&wire), "no cassette of {wire:?}");
    }
}

#[test]
#[ignore = "it asks a real vendor, with a key from the environment"]
fn a_real_vendor_is_recorded() {
    let wanted = std::env::var("HARN_RECORD").expect("HARN_RECORD=PROVIDER:MODEL names the model");
    let (provider, model) = wanted.split_once(':').expect("HARN_RECORD=PROVIDER:MODEL names the model");
    let Some((_, base, key_variable, own)) = PROVIDERS.iter().find(|row| row.0 == provider) else {
        panic!("unknown provider {provider}");
    };
    let key = std::env::var(key_variable).unwrap_or_else(|_| NO_KEY.to_owned());
    let own = std::env::var(base).unwrap_or_else(|_| (*own).to_owned());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let act: Act = Box::new(move |request| {
        let url = format!("{}{}", own.trim_end_matches('/'), request.path);
        let client = providers::http_client(&url).unwrap();
        let mut post = client.post(&url).body(request.body.clone());
        let passed =
            ["content-type", "authorization", "x-api-key", "x-goog-api-key", "anthropic-version", "anthropic-beta"];
        for (name, value) in request.headers.iter().filter(|(name, _)| passed.contains(&name.as_str())) {
            post = post.header(name, value);
        }
        runtime.block_on(async {
            let response = post.send().await.unwrap();
            (response.status().as_u16(), response.text().await.unwrap())
        })
    });
    write(&record(provider, model, &key, act));
}
