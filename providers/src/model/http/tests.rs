//! A server of a few lines answers what each test scripts; the clock skips every wait and notes it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc;

use base::call::{CallErrorKind, Outcome};
use runtime::message::Message;
use runtime::model::{Delta, ModelError, ModelErrorKind, ModelReply, Request};
use runtime::seam::Model;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::model::{CapabilityTable, Routes};
use crate::testing::{TestSession, waits};
use crate::tokio_wait;

pub(super) const GOOD: &str = r#"{"id":"c1","model":"gpt-4o","choices":[{"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}"#;

/// The server's action on one connection.
#[derive(Clone)]
pub(super) enum Act {
    /// Answers in full.
    Say(String),
    /// Says this and closes.
    SayAndClose(String),
    /// Says this, keeps the connection, and tells when the other side has closed it.
    SayAndWait(String),
    /// Reads the request and never answers.
    Hang,
}

pub(super) fn answer(status: &str, headers: &str, body: &str) -> Act {
    Act::Say(format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n{body}", body.len()))
}

pub(super) fn json(status: &str, body: &str) -> Act {
    answer(status, "content-type: application/json\r\n", body)
}

/// Starts a server that performs these actions, one for each connection; returns its address and
/// the requests it read.
pub(super) async fn server(acts: Vec<Act>) -> (String, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let (sender, requests) = mpsc::channel();
    tokio::spawn(async move {
        for act in acts {
            let (mut stream, _) = listener.accept().await.unwrap();
            let sender = sender.clone();
            let _ = sender.send(read_request(&mut stream).await);
            match act {
                Act::Say(text) | Act::SayAndClose(text) => {
                    stream.write_all(text.as_bytes()).await.unwrap();
                    let _ = stream.shutdown().await;
                }
                Act::SayAndWait(text) => {
                    stream.write_all(text.as_bytes()).await.unwrap();
                    tokio::spawn(async move {
                        // The other side says no more: its end is all that can come.
                        let _ = stream.read(&mut [0; 16]).await;
                        let _ = sender.send("closed".to_owned());
                    });
                }
                Act::Hang => {
                    // Until the other side closes the connection.
                    tokio::spawn(async move { stream.read(&mut [0; 16]).await });
                }
            }
        }
    });
    (base, requests)
}

async fn read_request(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = stream.read(&mut buffer).await.unwrap();
        text.extend_from_slice(&buffer[..read]);
        let seen = String::from_utf8_lossy(&text).into_owned();
        let whole = seen.split_once("\r\n\r\n").is_some_and(|(head, body)| {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            body.len() >= length.and_then(|length| length.parse().ok()).unwrap_or(0)
        });
        if whole || read == 0 {
            return seen;
        }
    }
}

pub(super) fn routes(base: &str, more: &[(&str, &str)]) -> Routes {
    let mut env: HashMap<String, String> =
        more.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    env.insert("HARN_LLM_PROVIDER".into(), "openai".into());
    env.insert("OPENAI_BASE_URL".into(), format!("{base}/v1"));
    env.insert("HARN_LLM_MODEL".into(), "gpt-4o".into());
    Routes::new(|| CapabilityTable::built_in().unwrap(), move |name| env.get(name).cloned())
}

pub(super) fn request() -> Request {
    Request { messages: [Arc::new(Message::user("hi"))].into_iter().collect(), ..Request::default() }
}

async fn ask(routes: &Routes, place: &TestSession, request: &Request) -> Outcome<ModelReply> {
    routes.call(place.turn(), request, &|_| {}).get().await
}

async fn failure(acts: Vec<Act>) -> (ModelError, Vec<u64>) {
    let (base, _requests) = server(acts).await;
    let place = TestSession::new();
    let failure = ask(&routes(&base, &[]), &place, &request()).await.unwrap_err();
    let error = failure.as_any().downcast_ref::<ModelError>().unwrap().clone();
    assert!(error.message.contains(&format!("openai at {base}")), "says which server: {error}");
    assert_eq!(error.provider.as_deref(), Some("openai"));
    assert_eq!(error.model.as_deref(), Some("gpt-4o"));
    let slept = place.clock.slept.borrow().clone();
    (error, slept)
}

#[tokio::test]
async fn a_server_error_is_tried_again() {
    let (base, requests) = server(vec![json("500 Internal Server Error", "{}"), json("200 OK", GOOD)]).await;
    let place = TestSession::new();
    let restarts = Rc::new(RefCell::new(Vec::new()));
    let seen = restarts.clone();
    let live = move |delta: Delta<'_>| seen.borrow_mut().push(format!("{delta:?}"));
    let reply = routes(&base, &[]).call(place.turn(), &request(), &live).get().await.unwrap();
    assert_eq!(reply.text.as_ref(), "hello");
    assert_eq!(*place.clock.slept.borrow(), waits(1));
    let told = restarts.borrow();
    assert!(
        told[0].starts_with("Restart { why: \"") && told[0].contains("answered 500 Internal Server Error"),
        "{told:?}"
    );
    assert_eq!(told[1..], ["Text(\"hello\")"]);
    let first = requests.recv().unwrap();
    assert!(first.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{first}");
    assert!(first.ends_with(r#"{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}]}"#), "{first}");
    assert!(!first.to_lowercase().contains("authorization"), "no key, no header: {first}");
    assert_eq!(requests.recv().unwrap(), first);
}

#[tokio::test]
async fn a_whole_answer_that_says_it_failed_is_tried_again() {
    let failed = r#"{"status":"failed","error":{"code":"server_error","message":"It broke."},"output":[]}"#;
    let said = r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hello"}]}"#;
    let good = format!(r#"{{"status":"completed","output":[{said}]}}"#);
    let (base, _requests) = server(vec![json("200 OK", failed), json("200 OK", &good)]).await;
    let place = TestSession::new();
    // One of the models that are asked by Responses alone.
    let on_responses = Request { model: Some("gpt-5-codex".into()), ..request() };
    let reply = ask(&routes(&base, &[]), &place, &on_responses).await.unwrap();
    assert_eq!((reply.text.as_ref(), place.clock.slept.borrow().as_slice()), ("hello", &waits(1)[..]));
    let refused = failed.replace("server_error", "invalid_image");
    let (base, _requests) = server(vec![json("200 OK", &refused)]).await;
    let place = TestSession::new();
    ask(&routes(&base, &[]), &place, &on_responses).await.unwrap_err();
    assert!(place.clock.slept.borrow().is_empty(), "what no retry can mend is asked once");
}

#[tokio::test]
async fn a_server_that_names_a_time_is_obeyed() {
    for (header, wait) in [("retry-after: 3\r\n", 3000), ("retry-after-ms: 120\r\nretry-after: 3\r\n", 120)] {
        let (base, _requests) = server(vec![answer("429 Too Many Requests", header, ""), json("200 OK", GOOD)]).await;
        let place = TestSession::new();
        ask(&routes(&base, &[]), &place, &request()).await.unwrap();
        assert_eq!(*place.clock.slept.borrow(), [wait], "{header}");
    }
}

#[tokio::test]
async fn a_server_that_asks_for_an_hour_is_not_waited_for() {
    // Google says it in the body alone.
    let body = r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"slow","details":[{"@type":"x"},
        {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"3.5s"}]}}"#;
    let (error, slept) = failure(vec![answer("429 Too Many Requests", "", body); 3]).await;
    assert_eq!((error.retry_after_ms, slept), (Some(3500), vec![3500, 3500]));
    let (error, slept) = failure(vec![answer("429 Too Many Requests", "retry-after: 3600\r\n", "")]).await;
    assert_eq!((error.kind, error.retry_after_ms), (ModelErrorKind::RateLimit, Some(3_600_000)));
    assert!(slept.is_empty());
}

#[tokio::test]
async fn retries_end_and_the_message_counts_them() {
    let body = r#"{"error":{"message":"the engine is on fire."}}"#;
    let (error, slept) = failure(vec![json("503 Service Unavailable", body); 3]).await;
    assert_eq!((error.kind, error.status), (ModelErrorKind::Overloaded, Some(503)));
    assert!(error.message.contains("answered 503 Service Unavailable: the engine is on fire; "), "{error}");
    assert!(error.message.ends_with("(tried 3 times)"), "{error}");
    assert_eq!(slept, waits(2));
}

#[tokio::test]
async fn the_number_of_retries_is_the_callers() {
    let (base, requests) = server(vec![json("500 Internal Server Error", "{}"); 2]).await;
    let place = TestSession::new();
    let once = Request { retries: Some(0), ..request() };
    assert!(ask(&routes(&base, &[]), &place, &once).await.is_err());
    assert!(place.clock.slept.borrow().is_empty());
    assert_eq!(requests.try_iter().count(), 1);
}

#[tokio::test]
async fn other_answers_are_final() {
    for (status, body, kind, part) in [
        ("400 Bad Request", r#"{"error":{"message":"no such field"}}"#, ModelErrorKind::BadRequest, "no such field"),
        (
            "400 Bad Request",
            r#"{"error":{"message":"too many tokens","code":"context_length_exceeded"}}"#,
            ModelErrorKind::ContextWindow,
            "transcript_compact",
        ),
        (
            "400 Bad Request",
            r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}"#,
            ModelErrorKind::ContextWindow,
            "transcript_compact",
        ),
        (
            "400 Bad Request",
            r#"[{"error":{"code":400,"message":"The input token count exceeds the maximum number of tokens allowed"}}]"#,
            ModelErrorKind::ContextWindow,
            "answered 400 Bad Request: The input token count",
        ),
        (
            "429 Too Many Requests",
            r#"{"error":{"message":"You exceeded your current quota.","code":"insufficient_quota"}}"#,
            ModelErrorKind::RateLimit,
            "You exceeded your current quota; check the plan and its billing",
        ),
        ("401 Unauthorized", r#"{"error":{"message":"bad key"}}"#, ModelErrorKind::Auth, "check OPENAI_API_KEY"),
        ("404 Not Found", "nothing here", ModelErrorKind::BadRequest, "nothing here; check the model's name"),
        ("501 Not Implemented", "", ModelErrorKind::Server, "answered 501 Not Implemented"),
        ("302 Found", "", ModelErrorKind::BadResponse, "answered 302 Found; check OPENAI_BASE_URL"),
    ] {
        let (error, slept) = failure(vec![json(status, body)]).await;
        assert_eq!(error.kind, kind, "{status}");
        assert!(error.message.contains(part), "{status}: {error}");
        assert!(slept.is_empty(), "{status}");
        assert!(!error.retryable || kind == ModelErrorKind::BadResponse, "{status}");
    }
}

#[tokio::test]
async fn an_error_in_a_document_of_success_is_read_as_one() {
    let limited = r#"{"error":{"message":"rate limited upstream.","code":429}}"#;
    let (base, _requests) = server(vec![json("200 OK", limited), json("200 OK", GOOD)]).await;
    let place = TestSession::new();
    ask(&routes(&base, &[]), &place, &request()).await.unwrap();
    assert_eq!(*place.clock.slept.borrow(), waits(1), "and tried again where that may help");
    let (error, slept) = failure(vec![json("200 OK", r#"{"error":"no such model","code":404}"#)]).await;
    assert_eq!((error.kind, slept.len()), (ModelErrorKind::BadRequest, 0));
    assert!(error.message.contains("answered with an error: no such model"), "{error}");
}

#[tokio::test]
async fn odd_counts_do_not_cost_the_answer() {
    let odd =
        GOOD.replace(r#""prompt_tokens":3,"completion_tokens":1"#, r#""prompt_tokens":3.0,"completion_tokens":-1"#);
    assert_ne!(odd, GOOD);
    let (base, _requests) = server(vec![json("200 OK", &odd)]).await;
    let reply = ask(&routes(&base, &[]), &TestSession::new(), &request()).await.unwrap();
    assert_eq!((reply.text.as_ref(), reply.usage.input_tokens, reply.usage.output_tokens), ("hello", 3, 0));
}

#[tokio::test]
async fn answers_that_make_no_sense_say_what_they_were() {
    for (act, part) in [
        (json("200 OK", ""), "sent an empty response"),
        (
            answer("200 OK", "content-encoding: gzip\r\n", "\u{1f}\u{8b}"),
            "sent a compressed response (content-encoding gzip)",
        ),
        (json("200 OK", &GOOD[..60]), "sent incomplete JSON: {\"id\":\"c1\""),
        (answer("200 OK", "content-type: text/html\r\n", "<!doctype html><h1>Hi</h1>"), "a web page instead of JSON"),
        (answer("200 OK", "content-type: text/plain\r\n", "all good"), "(content type text/plain): all good"),
        (answer("200 OK", "content-type: text/event-stream\r\n", "data: {}\n\n"), "streamed its response"),
        (json("200 OK", "[1,2]"), "JSON that is not an object: [1,2]"),
        (json("200 OK", r#"{"ok":true}"#), "missing field `choices`"),
        (json("200 OK", r#"{"choices":[]}"#), "`choices` is empty"),
    ] {
        let (error, slept) = failure(vec![act]).await;
        assert_eq!(error.kind, ModelErrorKind::BadResponse, "{part}");
        assert!(error.message.contains(part), "{part}: {error}");
        assert!(slept.is_empty(), "it was paid for and would come again: {part}");
    }
}

#[tokio::test]
async fn a_connection_that_breaks_is_tried_again() {
    let half = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{}", GOOD.len(), &GOOD[..60]);
    let (error, slept) = failure(vec![Act::SayAndClose(half); 3]).await;
    assert_eq!(error.kind, ModelErrorKind::Connection);
    assert!(error.message.contains("closed the connection in the middle of its response"), "{error}");
    assert_eq!(slept, waits(2));

    let (error, _) = failure(vec![Act::SayAndClose(String::new()); 3]).await;
    assert_eq!(error.kind, ModelErrorKind::Connection);
    assert!(error.message.contains("closed the connection without a response"), "{error}");
}

#[tokio::test]
async fn a_server_that_is_down_is_named() {
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let place = TestSession::new();
    let routes = routes(&format!("http://user:secret@127.0.0.1:{port}"), &[]);
    let failure = ask(&routes, &place, &request()).await.unwrap_err();
    let error = failure.as_any().downcast_ref::<ModelError>().unwrap();
    assert_eq!(error.kind, ModelErrorKind::Connection);
    let start = format!("cannot connect to openai at http://127.0.0.1:{port}/v1: Connection refused");
    assert!(error.message.starts_with(&start), "{error}");
    assert!(error.message.contains("OPENAI_BASE_URL") && !error.message.contains("secret"), "{error}");
    assert_eq!(*place.clock.slept.borrow(), waits(2));
}

#[tokio::test]
async fn a_slow_server_runs_out_of_time_once() {
    let (base, _requests) = server(vec![Act::Hang; 2]).await;
    let place = TestSession::new();
    let hasty = Request { timeout_ms: Some(100), ..request() };
    let failure = ask(&routes(&base, &[]), &place, &hasty).await.unwrap_err();
    let error = failure.as_any().downcast_ref::<ModelError>().unwrap();
    assert_eq!(error.kind, ModelErrorKind::Timeout);
    assert!(error.message.contains("timed out after 100 ms"), "{error}");
    assert!(place.clock.slept.borrow().is_empty());
}

#[tokio::test]
async fn cancelling_ends_a_call_that_waits() {
    let (base, requests) = server(vec![Act::Hang]).await;
    let place = TestSession::new();
    let cancel = place.scope.cancel.clone();
    let (routes, request) = (routes(&base, &[]), request());
    let call = ask(&routes, &place, &request);
    let stop = async {
        tokio_wait::until("the request", || requests.try_recv().is_ok()).await;
        cancel.cancel("enough");
    };
    let (outcome, ()) = tokio::join!(call, stop);
    assert_eq!(outcome.unwrap_err().kind(), CallErrorKind::Cancelled);
}

#[tokio::test]
async fn a_key_that_the_server_echoes_is_hidden() {
    let body = r#"{"error":{"message":"Incorrect API key provided: sk-very-secret"}}"#;
    let (base, requests) = server(vec![json("401 Unauthorized", body)]).await;
    let failure = ask(&routes(&base, &[("OPENAI_API_KEY", "sk-very-secret\n")]), &TestSession::new(), &request()).await;
    let message = failure.unwrap_err().to_string();
    assert!(message.contains("Incorrect API key provided: [key]"), "{message}");
    assert!(requests.recv().unwrap().contains("authorization: Bearer sk-very-secret\r\n"));
}

#[tokio::test]
async fn a_body_has_a_largest_size() {
    let size = super::MAX_BODY + 1;
    let act = Act::Say(format!("HTTP/1.1 200 OK\r\ncontent-length: {size}\r\n\r\n{}", " ".repeat(size)));
    let (base, _requests) = server(vec![act]).await;
    let failure = ask(&routes(&base, &[]), &TestSession::new(), &request()).await.unwrap_err();
    assert!(failure.to_string().contains("more than 32 MiB"), "{failure}");
}

#[test]
fn clients_can_be_built_for_both_schemes() {
    let client = super::Client::default();
    for url in ["http://127.0.0.1:1", "https://example.com"] {
        assert!(client.get(&reqwest::Url::parse(url).unwrap()).is_ok(), "{url}");
    }
}

#[tokio::test]
async fn a_proxy_that_is_none_is_named_and_a_local_server_needs_none() {
    let proxy = ("http_proxy", "http://[broken");
    let failure = ask(&routes("http://127.0.0.1:1", &[proxy]), &TestSession::new(), &request()).await.unwrap_err();
    assert!(failure.to_string().contains("cannot use the proxy in http_proxy"), "{failure}");

    let (base, _requests) = server(vec![json("200 OK", GOOD)]).await;
    let nobody = ("http_proxy", "http://127.0.0.1:1");
    let reply = ask(&routes(&base, &[nobody]), &TestSession::new(), &request()).await.unwrap();
    assert_eq!(reply.text.as_ref(), "hello");
}

#[tokio::test]
async fn a_server_that_speaks_no_tls_is_told_from_one_that_is_down() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let secure = format!("https://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = stream.read(&mut [0; 4096]).await;
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });
    let failure = ask(&routes(&secure, &[("OPENAI_API_KEY", "k")]), &TestSession::new(), &request()).await.unwrap_err();
    let error = failure.as_any().downcast_ref::<ModelError>().unwrap();
    assert_eq!(error.kind, ModelErrorKind::Connection);
    assert!(error.message.contains("InvalidContentType"), "{error}");
}

#[tokio::test]
async fn thoughts_that_a_server_refuses_are_left_out_once() {
    let words = "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different \
        conversation. Remove the block.";
    let refused = serde_json::json!({"type": "error", "error": {"type": "invalid_request_error", "message": words}});
    let good = serde_json::json!({"id": "m", "model": "claude-fable-5-1", "role": "assistant", "type": "message",
        "content": [{"type": "thinking", "thinking": "Hm.", "signature": "new"}, {"type": "text", "text": "Fine."}],
        "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1}});
    let refusal = json("400 Bad Request", &refused.to_string());
    let table = || CapabilityTable::built_in().unwrap();
    let asked = |model: &str| {
        let thought = serde_json::json!({"role": "assistant", "content": [
            {"type": "redacted_thinking", "data": "old"}, {"type": "text", "text": "I look."}]});
        let thought = Message::from_data(&base::data::Data::from(thought)).unwrap();
        let messages = [Message::user("Look."), thought, Message::user("And?")].into_iter().map(Arc::new).collect();
        Request { messages, provider: Some("anthropic".into()), model: Some(model.into()), ..Request::default() }
    };
    // This model is not known to bind its thoughts, so the first request carries the old one.
    for (acts, outcome) in [
        (vec![refusal.clone(), json("200 OK", &good.to_string())], Some("Fine.")),
        (vec![refusal.clone(), refusal], None),
    ] {
        let (base, requests) = server(acts).await;
        let routes = Routes::new(table, move |name| match name {
            "ANTHROPIC_BASE_URL" => Some(base.clone()),
            "ANTHROPIC_API_KEY" => Some("key-of-a-test".to_owned()),
            _ => None,
        });
        let place = TestSession::new();
        let answered = ask(&routes, &place, &asked("claude-opus-4-8")).await;
        let sent: Vec<String> = requests.try_iter().collect();
        assert_eq!(sent.len(), 2, "{sent:#?}");
        assert!(sent[0].contains("redacted_thinking") && !sent[1].contains("redacted_thinking"));
        match outcome {
            Some(text) => {
                let reply = answered.unwrap();
                assert_eq!((&*reply.text, reply.thoughts_left_out()), (text, 1));
            }
            None => assert!(answered.unwrap_err().to_string().contains("Invalid `signature`")),
        }
    }
}
