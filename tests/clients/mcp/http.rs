//! Servers behind a URL that do not follow the protocol.

use super::issuer::{Incoming, accept_raw};
use super::{prints, run};
use crate::harn::Outcome;
use base::data::Data;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Duration;

/// A server whose tool calls are answered by a function; everything else is answered as it should be.
struct OddServer {
    url: String,
    /// The methods of the requests, with the ids of their sessions.
    seen: Arc<Mutex<Vec<String>>>,
}

impl OddServer {
    fn start(answer: impl Fn(&str, &Incoming, &mut TcpStream) + Send + Sync + 'static) -> OddServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let seen = Arc::<Mutex<Vec<String>>>::default();
        let trace = seen.clone();
        accept_raw(listener, move |request, stream| {
            let message = Data::from_json(&request.body).unwrap_or_default();
            let method = message.get("method").as_str().unwrap_or(&request.method).to_owned();
            let session = request.headers.get("mcp-session-id").cloned().unwrap_or_default();
            let count = {
                let mut seen = trace.lock().unwrap();
                seen.push(format!("{method} {session}").trim().to_owned());
                seen.iter().filter(|line| line.starts_with("initialize")).count()
            };
            let id = message.get("id").to_json();
            match method.as_str() {
                "initialize" => {
                    let result = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"odd","version":"1"}}"#;
                    let more = format!("mcp-session-id: s{count}\r\n");
                    respond(stream, "200 OK", &more, "application/json", &answer_to(&id, result));
                }
                "tools/list" => {
                    let result = r#"{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}"#;
                    respond(stream, "200 OK", "", "application/json", &answer_to(&id, result));
                }
                "tools/call" => answer(&id, request, stream),
                "GET" if request.headers.contains_key("last-event-id") => answer(&id, request, stream),
                "GET" => respond(stream, "405 Method Not Allowed", "", "text/plain", ""),
                _ => respond(stream, "202 Accepted", "", "text/plain", ""),
            }
        });
        OddServer { url, seen }
    }

    fn call(&self, name: &str, more: &str) -> Outcome {
        let script = format!(
            "println(mcp.call_tool({{name: \"odd\", url: \"{}\", protocol: \"2025-11-25\"{more}}}, \"t\", {{}}).text)\n",
            self.url
        );
        run(&format!("http-{name}"), &script, &[])
    }

    fn seen(&self, method: &str) -> Vec<String> {
        self.seen.lock().unwrap().iter().filter(|line| line.starts_with(method)).cloned().collect()
    }
}

fn respond(stream: &mut TcpStream, status: &str, more: &str, kind: &str, body: &str) {
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n{more}\r\n",
        body.len()
    );
    let _ = stream.write_all(format!("{head}{body}").as_bytes());
}

fn answer_to(id: &str, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// The result of the tool.
const DONE: &str = r#"{"content":[{"type":"text","text":"done"}]}"#;

#[track_caller]
fn fails(outcome: &Outcome, code: &str, said: &str) {
    let text = outcome.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(outcome.code == Some(1) && text.contains(code) && text.contains(said), "{said}: {}", outcome.err);
}

#[test]
fn a_page_in_place_of_a_message_is_an_error() {
    let server = OddServer::start(|_, _, stream| {
        respond(stream, "200 OK", "", "text/html", "<html>Sign in to the hotel's network</html>");
    });
    fails(&server.call("page", ""), "HARN-MCP-107", "expected value at column 1: <html>Sign in to the hotel");
    // A message is one whatever its type is called.
    let server = OddServer::start(|id, _, stream| respond(stream, "200 OK", "", "text/plain", &answer_to(id, DONE)));
    prints(&server.call("plain", ""), "done");
}

#[test]
fn an_answer_to_another_request_is_not_taken() {
    let server = OddServer::start(|_, _, stream| {
        respond(stream, "200 OK", "", "application/json", &answer_to("4711", DONE));
    });
    fails(&server.call("id", ""), "HARN-MCP-107", "ended without an answer");
}

#[test]
fn a_stream_without_an_end_and_a_slow_body_time_out() {
    let endless = OddServer::start(|_, _, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n");
        let note = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}"#;
        while stream.write_all(format!("data: {note}\n\n").as_bytes()).is_ok() {
            sleep(Duration::from_millis(20));
        }
    });
    let slow = OddServer::start(|_, _, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n");
        while stream.write_all(b" ").is_ok() {
            sleep(Duration::from_millis(50));
        }
    });
    for (name, server) in [("endless", endless), ("slow", slow)] {
        fails(&server.call(name, ", timeout_ms: 700"), "HARN-MCP-106", "did not answer `tools/call` within 700 ms");
    }
}

/// Responds with events and ends the stream.
fn respond_events(stream: &mut TcpStream, events: &str) {
    respond(stream, "200 OK", "", "text/event-stream", events);
}

/// Starts a server that closes the stream of a call after its first event. `resumed` answers the requests for the rest: it gets the
/// id of the call, the last event that the client names, and the number of the request, from 1.
fn polled(retry: u32, resumed: impl Fn(&str, &str, usize, &mut TcpStream) + Send + Sync + 'static) -> OddServer {
    let call = Mutex::new((String::new(), 0));
    OddServer::start(move |id, request, stream| {
        let mut call = call.lock().unwrap();
        match request.headers.get("last-event-id") {
            None => {
                call.0 = id.to_owned();
                respond_events(stream, &format!("id: e1\nretry: {retry}\ndata:\n\n"));
            }
            Some(last) => {
                call.1 += 1;
                resumed(&call.0, last, call.1, stream);
            }
        }
    })
}

#[test]
fn a_stream_that_the_server_closes_is_resumed_until_the_answer() {
    let server = polled(10, |id, last, number, stream| match (number, last) {
        (1, "e1") => respond_events(stream, ": still working\n\n"),
        (2, "e1") => respond(stream, "503 Service Unavailable", "", "text/plain", ""),
        // The connection breaks off.
        (3, "e1") => {}
        (4, "e1") => respond_events(stream, "id: e2\ndata:\n\n"),
        (5, "e2") => respond_events(stream, &format!("data: {}\n\n", answer_to(id, DONE))),
        other => panic!("{other:?}"),
    });
    prints(&server.call("resumed", ""), "done");
    assert_eq!(server.seen("tools/call").len(), 1);
}

#[test]
fn a_stream_that_cannot_be_resumed_fails_the_call_and_does_not_repeat_it() {
    for status in ["405 Method Not Allowed", "404 Not Found"] {
        let server = polled(10, move |_, _, _, stream| respond(stream, status, "", "text/plain", ""));
        let said = format!("its stream cannot be resumed (HTTP status {})", &status[..3]);
        fails(&server.call("not-resumed", ""), "HARN-MCP-107", &said);
        assert_eq!(server.seen("tools/call").len(), 1);
    }
    let server = polled(600_000, |_, _, _, _| panic!("too early"));
    let outcome = server.call("late", ", timeout_ms: 700");
    fails(&outcome, "HARN-MCP-106", "did not answer `tools/call` within 700 ms");
    assert_eq!(server.seen("tools/call").len(), 1);
}

#[test]
fn an_event_that_cannot_be_read_fails_the_call_at_once() {
    for (event, said) in [
        (&b"data: {\"jsonrpc\":\"2.0\",\"result\":{\"n\":NaN}}\n\n"[..], "expected value"),
        (b"data: {\"text\":\"\xff\"}\n\n", "not UTF-8"),
        (b"data: hello\n\n", "expected value at column 1: hello"),
    ] {
        let server = OddServer::start(move |_, _, stream| {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n");
            let _ = stream.write_all(event);
            // The stream stays open until the client is gone.
            while stream.write_all(b":\n\n").is_ok() {
                sleep(Duration::from_millis(20));
            }
        });
        fails(&server.call("unreadable", ""), "HARN-MCP-107", said);
    }
}

#[test]
fn a_body_that_is_too_large_is_an_error() {
    let server = OddServer::start(|id, _, stream| {
        let text = "x".repeat(17 << 20);
        let result = format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#);
        respond(stream, "200 OK", "", "application/json", &answer_to(id, &result));
    });
    fails(&server.call("large", ""), "HARN-MCP-107", "is larger than 16 MiB");
    let server = OddServer::start(|_, _, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: ");
        let part = "x".repeat(1 << 20);
        for _ in 0..18 {
            let _ = stream.write_all(part.as_bytes());
        }
    });
    fails(&server.call("large-event", ""), "HARN-MCP-107", "is larger than 16 MiB");
}

#[test]
fn a_redirect_to_another_server_is_not_followed_with_the_credentials() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let elsewhere = format!("http://{}/mcp", listener.local_addr().unwrap());
    let reached = Arc::new(Mutex::new(0));
    let count = reached.clone();
    accept_raw(listener, move |_, stream| {
        *count.lock().unwrap() += 1;
        respond(stream, "200 OK", "", "application/json", "{}");
    });
    let target = elsewhere.clone();
    let server = OddServer::start(move |_, _, stream| {
        respond(stream, "307 Temporary Redirect", &format!("location: {target}\r\n"), "text/plain", "");
    });
    let outcome = server.call("redirect", ", headers: {authorization: \"Bearer secret\"}");
    fails(&outcome, "HARN-MCP-105", "refers to another server");
    assert!(outcome.err.contains(&elsewhere), "{}", outcome.err);
    assert_eq!(*reached.lock().unwrap(), 0);
}

#[test]
fn a_session_that_the_server_has_forgotten_is_opened_again_once() {
    let server =
        OddServer::start(|id, request, stream| match request.headers.get("mcp-session-id").map(String::as_str) {
            Some("s1") => respond(stream, "404 Not Found", "", "text/plain", ""),
            _ => respond(stream, "200 OK", "", "application/json", &answer_to(id, DONE)),
        });
    prints(&server.call("forgotten", ""), "done");
    assert_eq!(server.seen("tools/call"), ["tools/call s1", "tools/call s2"]);
    let server = OddServer::start(|_, _, stream| respond(stream, "404 Not Found", "", "text/plain", ""));
    fails(&server.call("always-forgotten", ""), "HARN-MCP-104", "ended the session");
    assert_eq!(server.seen("tools/call"), ["tools/call s1", "tools/call s2"], "not for ever");
}
