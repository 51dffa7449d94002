//! Answers in pieces over a real connection; the server is that of the other tests.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use base::call::Outcome;
use base::data::Data;
use runtime::message::ToolSpec;
use runtime::model::{Delta, ModelError, ModelErrorKind, ModelReply, Request};
use runtime::seam::Model;

use super::tests::{Act, GOOD, answer, json, request, routes, server};
use crate::testing::{TestSession, waits};
use crate::wait::LIMIT;

const HELLO: &str =
    r#"{"id":"c1","model":"gpt-4o","choices":[{"index":0,"delta":{"role":"assistant","content":"hel"}}]}"#;
const WORLD: &str = r#"{"choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}]}"#;
const USAGE: &str = r#"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}"#;

fn events(data: &[&str]) -> String {
    data.iter().map(|data| format!("data: {data}\n\n")).collect()
}

/// Returns a stream without a length: it ends with the connection.
fn stream(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{body}")
}

/// A stream in one chunk that says it is not the last.
fn unended(body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n{length:x}\r\n{body}\r\n"
    )
}

struct ReportedDeltas {
    outcome: Outcome<ModelReply>,
    deltas: Vec<String>,
    slept: Vec<u64>,
    requests: Vec<String>,
}

impl ReportedDeltas {
    fn reply(&self) -> &ModelReply {
        self.outcome.as_ref().unwrap()
    }

    fn error(&self) -> &ModelError {
        self.outcome.as_ref().unwrap_err().as_any().downcast_ref().unwrap()
    }
}

async fn ask(acts: Vec<Act>) -> ReportedDeltas {
    ask_for(acts, Request { stream: true, ..request() }).await
}

async fn ask_for(acts: Vec<Act>, request: Request) -> ReportedDeltas {
    let (base, requests) = server(acts).await;
    let place = TestSession::new();
    let deltas = RefCell::new(Vec::new());
    let live = |delta: Delta<'_>| {
        deltas.borrow_mut().push(match delta {
            Delta::Restart { .. } => "Restart".to_owned(),
            other => format!("{other:?}"),
        });
    };
    let outcome = routes(&base, &[]).call(place.turn(), &request, &live).get().await;
    let slept = place.clock.slept.borrow().clone();
    ReportedDeltas { outcome, deltas: deltas.into_inner(), slept, requests: requests.try_iter().collect() }
}

fn content(text: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"{text}"}}}}]}}"#)
}

const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;

#[tokio::test]
async fn halves_of_a_character_in_two_events_are_one() {
    for (pieces, deltas, text) in [
        (&[r"a \ud83d", r"\ude80 b"][..], &["a ", "🚀 b"][..], "a 🚀 b"),
        (&[r"a \ud83d", r"b\ud83d", r"\ude80"], &["a \u{fffd}", "b", "🚀"], "a \u{fffd}b🚀"),
        (&[r"\ude80a", r"b\ud83d"], &["\u{fffd}a", "b\u{fffd}"], "\u{fffd}ab\u{fffd}"),
    ] {
        let pieces: Vec<String> = pieces.iter().map(|piece| content(piece)).collect();
        let mut data: Vec<&str> = pieces.iter().map(String::as_str).collect();
        data.extend([STOP, USAGE, "[DONE]"]);
        let deltas: Vec<String> = deltas.iter().map(|delta| format!("Text({delta:?})")).collect();
        for act in [stream(&events(&data)), unended(&events(&data))] {
            let asked = ask(vec![Act::Say(act)]).await;
            assert_eq!((&*asked.reply().text, &asked.deltas), (text, &deltas));
        }
        // The held event comes out also if the stream breaks off.
        let cut: Vec<&str> = data[..pieces.len()].to_vec();
        let error = ask(vec![Act::Say(stream(&events(&cut)))]).await;
        assert_eq!(error.deltas.iter().filter(|delta| delta.starts_with("Text")).count(), deltas.len());
        assert_eq!(error.error().kind, ModelErrorKind::Connection);
    }
}

#[tokio::test]
async fn a_tool_with_a_schema_that_is_too_large_is_not_sent() {
    let schema = Data::dict([(
        "properties",
        Data::dict([("a", Data::dict([("enum", Data::list([Data::from("x".repeat(200_000))]))]))]),
    )]);
    let tools = vec![ToolSpec::new("small", "", Data::empty_dict()), ToolSpec::new("large", "", schema)];
    let request = Request { tools: Arc::new(tools), ..request() };
    let asked = ask_for(vec![json("200 OK", GOOD)], request.clone()).await;
    assert!(asked.requests[0].contains("small") && !asked.requests[0].contains("large"), "{}", asked.requests[0]);
    let tool_choice = Data::dict([("name", Data::from("large"))]);
    let forced = ask_for(vec![], Request { tool_choice, ..request }).await;
    assert_eq!(forced.error().kind, ModelErrorKind::BadRequest);
    assert!(forced.error().message.contains("cannot be offered: its schema has"), "{}", forced.error().message);
}

#[tokio::test]
async fn half_of_a_character_in_a_whole_answer_is_replaced() {
    let body = GOOD.replace("hello", r"hell\ud83d");
    assert_eq!(ask_for(vec![json("200 OK", &body)], request()).await.reply().text.as_ref(), "hell\u{fffd}");
}

#[tokio::test]
async fn pieces_are_told_as_they_come_and_the_reply_is_that_of_the_whole() {
    let pieces = ask(vec![Act::Say(stream(&events(&[HELLO, WORLD, USAGE, "[DONE]"])))]).await;
    assert_eq!(pieces.deltas, ["Text(\"hel\")", "Text(\"lo\")"]);
    let body = pieces.requests[0].split_once("\r\n\r\n").unwrap().1;
    assert!(body.ends_with(r#""stream_options":{"include_usage":true},"stream":true}"#), "{body}");
    let whole = ask_for(vec![json("200 OK", GOOD)], request()).await;
    assert_eq!(whole.deltas, ["Text(\"hello\")"]);
    assert_eq!(format!("{:?}", pieces.reply()), format!("{:?}", whole.reply()));
}

#[tokio::test]
async fn an_answer_in_one_piece_is_taken_whatever_was_asked_for() {
    let told = ask(vec![json("200 OK", GOOD)]).await;
    assert_eq!((told.reply().text.as_ref(), told.deltas.as_slice()), ("hello", &["Text(\"hello\")".to_owned()][..]));
}

#[tokio::test]
async fn what_matters_is_that_the_answer_is_whole_not_how_its_stream_ends() {
    for (act, tokens) in [
        // No usage, no mark.
        (Act::Say(stream(&events(&[HELLO, WORLD]))), 0),
        // The connection breaks behind the last word.
        (Act::SayAndClose(unended(&events(&[HELLO, WORLD, USAGE]))), 3),
        // Rubbish behind it, and an error that comes too late.
        (Act::Say(stream(&events(&[HELLO, WORLD, USAGE, "rubbish"]))), 3),
        (Act::Say(stream(&events(&[HELLO, WORLD, r#"{"error":{"message":"too late"}}"#]))), 0),
        // It stays open for ever.
        (Act::SayAndWait(unended(&events(&[HELLO, WORLD, USAGE, "[DONE]"]))), 3),
        // It stays open for ever, and no mark says that this was all.
        (Act::SayAndWait(unended(&events(&[HELLO, WORLD, USAGE]))), 3),
    ] {
        let told = ask(vec![act]).await;
        assert_eq!(told.reply().text.as_ref(), "hello");
        assert_eq!(told.reply().usage.input_tokens, tokens);
        assert!(told.slept.is_empty());
    }
}

#[tokio::test]
async fn a_stream_that_breaks_is_void_and_tried_again() {
    let whole = Act::Say(stream(&events(&[HELLO, WORLD, USAGE, "[DONE]"])));
    for broken in [
        // In the middle of the answer, in the middle of an event.
        Act::Say(stream(&events(&[HELLO]))),
        Act::SayAndClose(unended(&events(&[HELLO]))),
        Act::Say(stream(&format!("{}data: {}", events(&[HELLO]), &WORLD[..30]))),
    ] {
        let told = ask(vec![broken, whole.clone()]).await;
        assert_eq!(told.reply().text.as_ref(), "hello");
        assert_eq!(told.deltas, ["Text(\"hel\")", "Restart", "Text(\"hel\")", "Text(\"lo\")"]);
        assert_eq!(told.slept, waits(1));
        assert_eq!(told.requests[0], told.requests[1]);
    }
    let before = ask(vec![Act::Say(String::new()), whole]).await;
    assert_eq!(before.deltas, ["Restart", "Text(\"hel\")", "Text(\"lo\")"]);
}

#[tokio::test]
async fn what_went_wrong_with_a_stream_is_told_in_a_sentence() {
    use ModelErrorKind as K;
    let overloaded = r#"{"error":{"message":"Overloaded.","type":"overloaded_error"}}"#;
    let coded = r#"{"error":{"message":"slow down","code":429}}"#;
    let long = r#"{"error":{"message":"too long","code":"context_length_exceeded"}}"#;
    let of_vllm = r#"{"object":"error","message":"This model's maximum context length is 10 tokens","type":"BadRequestError","code":400}"#;
    let named = stream("event: error\ndata: {\"message\":\"no more\"}\n\n");
    for (answer, kind, part) in [
        (
            stream(&events(&[HELLO])),
            K::Connection,
            "ended its stream before the response was complete; check the server",
        ),
        (unended(&events(&[HELLO])), K::Connection, "closed the connection in the middle of its response: "),
        (
            stream(&events(&[HELLO, overloaded])),
            K::Overloaded,
            "aborted its response with an error: Overloaded; try again",
        ),
        (stream(&events(&[coded])), K::RateLimit, "with an error: slow down; wait, or send fewer requests"),
        (stream(&events(&[long])), K::ContextWindow, "with an error: too long; shorten the transcript"),
        (stream(&events(&[of_vllm])), K::ContextWindow, "with an error: This model's maximum context length is 10"),
        // The mark alone ends nothing.
        (stream("data: [DONE]\n\n"), K::Connection, "ended its stream before the response was complete"),
        (stream(&events(&[r#"{"choices":[]}"#, "[DONE]"])), K::Connection, "ended its stream before"),
        (named, K::Server, "with an error: no more; try again later"),
        (stream(&events(&[HELLO, "{\"choices\": [{"])), K::BadResponse, "an event with incomplete JSON: {\"choices\""),
        (stream(&events(&["hello"])), K::BadResponse, "an event that is not JSON: hello; check the server"),
        (stream("data: \u{0}\n\n"), K::BadResponse, "an event that is not JSON"),
        (stream(""), K::BadResponse, "sent an empty response"),
        (stream(": nothing\n\n"), K::BadResponse, "a response that is not JSON (content type text/event-stream)"),
        (stream("<!doctype html>\n<p>hi</p>"), K::BadResponse, "a web page instead of JSON: <!doctype html>"),
        (stream("data: <html>\n\n"), K::BadResponse, "streamed a web page instead of JSON"),
    ] {
        let once = Request { retries: Some(0), stream: true, ..request() };
        let told = ask_for(vec![Act::Say(answer)], once).await;
        let error = told.error();
        assert_eq!(error.kind, kind, "{error}");
        assert!(error.message.contains(part), "{part:?}: {error}");
        assert!(error.message.starts_with("openai at http://127.0.0.1:"), "{error}");
    }
    let told = ask(vec![json("529 Overloaded", r#"{"error":{"message":"busy"}}"#); 3]).await;
    assert_eq!((told.error().kind, told.slept.as_slice()), (K::Overloaded, &waits(2)[..]));
    assert!(told.error().message.contains("answered 529: busy; try again later"), "{}", told.error());
}

#[tokio::test]
async fn a_stream_has_its_limits() {
    let line = "x".repeat(64 << 10);
    let huge = stream(&format!("data: \"{}\"\n\n", line.repeat((super::chunks::MAX_EVENT >> 16) + 1)));
    let told = ask(vec![Act::Say(huge)]).await;
    assert!(told.error().message.contains("more than 16 MiB in one event"), "{}", told.error());
    let endless = stream(&format!("data: {{\"x\":\"{line}\"}}\n\n").repeat((super::MAX_BODY >> 16) + 1));
    let told = ask(vec![Act::Say(endless)]).await;
    assert!(told.error().message.contains("more than 32 MiB"), "{}", told.error());
    assert!(told.slept.is_empty(), "it would come again");
    let small = format!("data: [{}0]\n\n", "0,".repeat(1_000_000));
    let told = ask(vec![Act::Say(stream(&small))]).await;
    assert!(told.error().message.contains("more than 1000000 values in one document"), "{}", told.error());
}

#[tokio::test]
async fn a_stream_that_falls_silent_has_run_out_of_time() {
    let (base, _requests) = server(vec![Act::SayAndWait(unended(&events(&[HELLO])))]).await;
    let place = TestSession::new();
    let routes = routes(&base, &[]);
    let route = routes.choose(None, None).unwrap();
    let mut body = route.body(&request()).unwrap();
    let pieces = crate::model::stream::ask_for_pieces(runtime::capabilities::WireFormat::OpenaiChat, &mut body);
    let post = super::Post {
        endpoint: route.endpoint.as_ref().unwrap(),
        body: body.to_string().into_bytes(),
        timeout_ms: 60_000,
        retries: 2,
        stall: Duration::from_millis(50),
        pieces: Some(pieces),
        failure: |_| None,
    };
    let told = RefCell::new(0);
    let live = |_: Delta<'_>| *told.borrow_mut() += 1;
    let failure = super::post(&routes.client, place.turn(), &post, &live).await.err().unwrap();
    let error = failure.as_any().downcast_ref::<ModelError>().unwrap();
    assert_eq!(error.kind, ModelErrorKind::Timeout);
    assert!(error.message.contains("sent nothing for 0 s in the middle of its response"), "{error}");
    assert_eq!(told.into_inner(), 1, "told, and not tried again");
    assert_eq!(super::stall(300_000), Duration::from_secs(120));
    assert_eq!(super::stall(1_000), Duration::from_secs(60));
}

#[tokio::test]
async fn who_no_longer_wants_an_answer_closes_the_connection() {
    let (base, requests) = server(vec![Act::SayAndWait(unended(&events(&[HELLO])))]).await;
    let place = TestSession::new();
    let (routes, request) = (routes(&base, &[]), Request { stream: true, ..request() });
    {
        let live = |_: Delta<'_>| place.scope.cancel.cancel("enough");
        let outcome = routes.call(place.turn(), &request, &live).get().await;
        assert_eq!(outcome.unwrap_err().kind(), base::call::CallErrorKind::Cancelled);
    }
    let seen =
        tokio::task::spawn_blocking(move || (requests.recv_timeout(LIMIT).is_ok(), requests.recv_timeout(LIMIT)));
    assert_eq!(seen.await.unwrap(), (true, Ok("closed".to_owned())));
}

#[tokio::test]
async fn a_date_to_wait_for_is_read_by_the_servers_own_clock() {
    let headers = "date: Sun, 06 Nov 1994 08:49:37 GMT\r\nretry-after: Sun, 06 Nov 1994 08:49:40 GMT\r\n";
    let told =
        ask(vec![answer("429 Too Many Requests", headers, ""), Act::Say(stream(&events(&[HELLO, WORLD, "[DONE]"])))])
            .await;
    assert_eq!((told.reply().text.as_ref(), told.slept.as_slice()), ("hello", &[3000][..]));
    let past = "retry-after: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
    let told = ask(vec![answer("503 Service Unavailable", past, ""), json("200 OK", GOOD)]).await;
    assert_eq!(told.slept, [0]);
}
