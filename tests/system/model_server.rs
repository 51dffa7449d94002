//! Model servers that are down, broken or something else altogether: a failed call is one diagnostic, a failed loop a
//! result whose reason is printed once, whatever the script does with it.

use crate::harn::{Outcome, harn_with_input, scratch};
use crate::wait::LIMIT;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// The behaviour of a server on a request.
#[derive(Debug, Clone, Copy)]
enum ServerBehaviour {
    /// No process listens.
    Down,
    /// It answers 500 each time.
    Failing,
    /// It answers with this status each time.
    Refusing(&'static str),
    /// Its answer is whole, but the JSON in it ends in the middle.
    HalfJson,
    /// It closes the connection in the middle of its answer.
    HalfAnswer,
    /// It closes the connection without an answer.
    Nothing,
    /// A web page, as of a proxy or of a wrong address.
    WebPage,
    /// JSON that is not a reply.
    OtherJson,
    /// It takes the request and keeps silent.
    Silent,
}

/// The servers, each with a phrase that the message must contain.
const SERVERS: [(ServerBehaviour, &str); 8] = [
    (ServerBehaviour::Down, "cannot connect to"),
    (ServerBehaviour::Failing, "answered 500 Internal Server Error: it broke"),
    (ServerBehaviour::HalfJson, "incomplete JSON"),
    (ServerBehaviour::HalfAnswer, "closed the connection in the middle of its response"),
    (ServerBehaviour::Nothing, "closed the connection without a response"),
    (ServerBehaviour::WebPage, "a web page instead of JSON"),
    (ServerBehaviour::OtherJson, "sent an invalid response"),
    (ServerBehaviour::Silent, "timed out after 300 ms"),
];

/// Provider, variable of its base URL, variable of its key.
const WIRES: [(&str, &str, &str); 5] = [
    ("anthropic", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
    ("openai", "OPENAI_BASE_URL", "OPENAI_API_KEY"),
    ("gemini", "GEMINI_BASE_URL", "GEMINI_API_KEY"),
    ("ollama", "OLLAMA_BASE_URL", "OLLAMA_API_KEY"),
    ("openai_compatible", "OPENAI_COMPATIBLE_BASE_URL", "OPENAI_COMPATIBLE_API_KEY"),
];

const KEY: &str = "a-key-that-opens-nothing";

impl ServerBehaviour {
    /// Returns the options of a call to it: no retries, and a short timeout only if no answer
    /// comes.
    fn options(self) -> String {
        let timeout_ms = if matches!(self, ServerBehaviour::Silent) { 300 } else { 30_000 };
        format!("{{llm_retries: 0, timeout_ms: {timeout_ms}}}")
    }

    /// Starts it. Returns its port and the number of requests so far.
    fn start(self) -> (u16, Arc<AtomicUsize>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(AtomicUsize::new(0));
        if !matches!(self, ServerBehaviour::Down) {
            let count = asked.clone();
            // It ends with the process of the tests.
            thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    let count = count.clone();
                    thread::spawn(move || self.serve(stream, &count));
                }
            });
        }
        (port, asked)
    }

    fn serve(self, mut stream: TcpStream, asked: &AtomicUsize) {
        if !read_request(&stream) {
            return;
        }
        asked.fetch_add(1, Ordering::SeqCst);
        let whole = |status: &str, kind: &str, body: &str| {
            let length = body.len();
            format!(
                "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            )
        };
        let half = r#"{"id": "msg_1", "content": [{"type": "te"#;
        let answer = match self {
            ServerBehaviour::Down | ServerBehaviour::Nothing => return,
            // The client closes the connection.
            ServerBehaviour::Silent => return drop(stream.read(&mut [0])),
            ServerBehaviour::Failing => {
                whole("500 Internal Server Error", "application/json", r#"{"error": {"message": "it broke"}}"#)
            }
            ServerBehaviour::Refusing(status) => {
                whole(status, "application/json", r#"{"error": {"message": "it broke"}}"#)
            }
            ServerBehaviour::HalfJson => whole("200 OK", "application/json", half),
            ServerBehaviour::HalfAnswer => {
                whole("200 OK", "application/json", half).replace("Content-Length: ", "Content-Length: 9")
            }
            ServerBehaviour::WebPage => {
                whole("200 OK", "text/html", "<!doctype html>\n<html><body><h1>It works!</h1></body></html>\n")
            }
            ServerBehaviour::OtherJson => whole("200 OK", "application/json", r#"{"hello": "world"}"#),
        };
        let _ = stream.write_all(answer.as_bytes());
    }
}

/// Reads head and body of a request to their end, for who closes with unread bytes resets the connection.
pub(crate) fn read_request(stream: &TcpStream) -> bool {
    let mut reader = BufReader::new(stream);
    let (mut length, mut line) = (0, String::new());
    loop {
        line.clear();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return false;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            return reader.read_exact(&mut vec![0; length]).is_ok();
        }
    }
}

/// Runs a script against a server; `wire` is a row of [`WIRES`].
fn run(name: &str, script: &str, wire: (&str, &str, &str), port: u16) -> Outcome {
    let path = scratch(&format!("model-server-{name}-{}", wire.0)).join("script.harn");
    fs::write(&path, script).unwrap();
    let url = format!("http://127.0.0.1:{port}");
    let env = [("HARN_LLM_PROVIDER", wire.0), (wire.1, url.as_str()), (wire.2, KEY)];
    harn_with_input(&["run", "--seed", "1", path.to_str().unwrap()], b"", &env)
}

#[test]
fn a_call_that_nobody_catches_is_one_diagnostic() {
    for (server, phrase) in SERVERS {
        let options = server.options();
        let script =
            format!("println(\"before\")\nlet reply = llm_call(\"Say hello.\", nil, {options})\nprintln(\"after\")\n");
        for wire in WIRES {
            let (port, asked) = server.start();
            let outcome = run("call", &script, wire, port);
            let place = format!("{server:?} on {}:\n{}", wire.0, outcome.err);
            assert_eq!(outcome.code, Some(1), "{place}");
            assert_eq!(outcome.out, "before\n", "{place}");
            assert_eq!(outcome.drawn("error"), 1, "{place}");
            assert!(outcome.err.contains(phrase) && outcome.err.contains("HARN-LLM-001"), "{phrase:?} in {place}");
            assert!(outcome.err.contains(&format!("{} at http://127.0.0.1:{port}", wire.0)), "{place}");
            assert!(outcome.err.contains("script.harn:2:"), "it points at the call: {place}");
            assert!(!outcome.err.contains("panicked") && !outcome.err.contains(KEY), "{place}");
            assert_eq!(asked.load(Ordering::SeqCst), usize::from(!matches!(server, ServerBehaviour::Down)), "{place}");
        }
    }
}

#[test]
fn a_call_that_is_caught_tells_what_happened() {
    for (server, phrase) in SERVERS {
        let script = format!(
            "try {{\n  llm_call(\"Say hello.\", nil, {})\n}} catch error {{\n  println(\"caught: ${{error}}\")\n}}\n\
             println(\"after\")\n",
            server.options()
        );
        let outcome = run("caught", &script, WIRES[0], server.start().0);
        assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{server:?}");
        assert!(outcome.out.starts_with("caught: ") && outcome.out.contains(phrase), "{server:?}: {}", outcome.out);
        assert!(outcome.out.ends_with("after\n"), "{server:?}: {}", outcome.out);
    }
}

#[test]
fn a_loop_ends_with_a_status_and_the_script_goes_on() {
    for (server, phrase) in SERVERS {
        let script = format!(
            "println(\"before\")\nlet result = agent_loop(\"Say hello.\", nil, {{stream: STREAM, ...{}}})\n\
             println(\"status: ${{result.status}}\")\nprintln(\"error: ${{result.error.message}}\")\n\
             println(\"answer: <${{result.visible_text}}>\")\n",
            server.options()
        );
        for (wire, stream) in WIRES.into_iter().flat_map(|wire| [(wire, false), (wire, true)]) {
            let (port, asked) = server.start();
            // If each line is a piece of the answer, JSON that is not a reply is an empty piece.
            let says_nothing = matches!(server, ServerBehaviour::OtherJson) && stream && wire.0 == "ollama";
            let phrase = if says_nothing { "ended its stream before the response was complete" } else { phrase };
            let outcome = run("loop", &script.replace("STREAM", &stream.to_string()), wire, port);
            let place = format!("{server:?} on {}, stream: {stream}:\n{}{}", wire.0, outcome.out, outcome.err);
            assert_eq!((outcome.code, outcome.drawn("warning")), (Some(0), 1), "{place}");
            assert!(outcome.err.contains(phrase) && !outcome.err.contains(KEY), "{place}");
            assert!(outcome.out.starts_with("before\nstatus: provider_error\nerror: "), "{place}");
            assert!(outcome.out.contains(phrase) && outcome.out.ends_with("answer: <>\n"), "{phrase:?} in {place}");
            assert!(asked.load(Ordering::SeqCst) < 2, "a broken server is not asked again: {place}");
        }
    }
}

/// Ways of using the result of a loop, each with the exit code, and the number of errors and of warnings.
const USES: [(&str, i32, usize, usize); 7] = [
    ("let result = LOOP\nprintln(\"${result.status}: ${result.text}\")\n", 1, 1, 0),
    ("let result = LOOP\nif result.status != \"done\" { println(\"no answer\") }\n", 1, 1, 0),
    ("LOOP\n", 1, 1, 0),
    ("let result = LOOP?\nprintln(result.text)\n", 1, 1, 0),
    ("println(unwrap(LOOP).text)\n", 1, 1, 0),
    ("println(try { (LOOP?).text } catch error { \"no answer\" })\n", 0, 0, 1),
    ("println(match LOOP { {status: \"done\", text} -> text, _ -> \"no answer\" })\n", 0, 0, 1),
];

#[test]
fn a_failed_loop_says_why_once_and_fails_the_run_unless_it_is_handled() {
    let refusing = [
        (ServerBehaviour::Refusing("401 Unauthorized"), "answered 401 Unauthorized: it broke; check ANTHROPIC_API_KEY"),
        (ServerBehaviour::Refusing("404 Not Found"), "answered 404 Not Found: it broke; check the model's name"),
        (ServerBehaviour::Refusing("502 Bad Gateway"), "answered 502 Bad Gateway: it broke"),
        (ServerBehaviour::Down, "cannot connect to"),
        (ServerBehaviour::HalfAnswer, "closed the connection in the middle of its response"),
    ];
    for (server, phrase) in refusing {
        let (port, _) = server.start();
        let asking = format!("agent_loop(\"Say hello.\", nil, {})", server.options());
        for (uses, code, errors, warnings) in USES {
            let outcome = run("uses", &uses.replace("LOOP", &asking), WIRES[0], port);
            let place = format!("{server:?}, {uses}:\n{}{}", outcome.out, outcome.err);
            assert_eq!(outcome.code, Some(code), "{place}");
            assert_eq!((outcome.drawn("error"), outcome.drawn("warning")), (errors, warnings), "{place}");
            assert_eq!(outcome.err.matches(phrase).count(), 1, "{place}");
            assert!(!outcome.err.contains(KEY), "{place}");
        }
    }
}

#[test]
fn reasons_are_diagnostics_in_json_too() {
    let script = "println(agent_loop(\"Say hello.\", nil, {llm_retries: 0}).error.category)\n";
    let path = scratch("model-server-json").join("script.harn");
    fs::write(&path, script).unwrap();
    let url = format!("http://127.0.0.1:{}", ServerBehaviour::Failing.start().0);
    let env = [("HARN_LLM_PROVIDER", "anthropic"), ("ANTHROPIC_BASE_URL", url.as_str()), ("ANTHROPIC_API_KEY", KEY)];
    let ran = harn_with_input(&["run", "--format", "json", path.to_str().unwrap()], b"", &env);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "server\n"), "{}", ran.err);
    let all: Vec<serde_json::Value> = ran
        .err
        .lines()
        .filter(|line| !line.starts_with("note: "))
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    assert_eq!(all.len(), 1, "{}", ran.err);
    assert_eq!((&all[0]["severity"], &all[0]["code"]), (&"warning".into(), &"HARN-LLM-001".into()), "{}", ran.err);
}

#[test]
fn only_what_may_pass_is_tried_again() {
    let script = "let result = agent_loop(\"Say hello.\", nil, {llm_retries: 1, timeout_ms: 30000})\n\
                  println(result.error.message)\n";
    for (server, times) in [(ServerBehaviour::Failing, 2), (ServerBehaviour::Nothing, 2), (ServerBehaviour::WebPage, 1)]
    {
        let (port, asked) = server.start();
        let outcome = run("retries", script, WIRES[1], port);
        assert_eq!(outcome.code, Some(0), "{server:?}: {}", outcome.err);
        assert_eq!(asked.load(Ordering::SeqCst), times, "{server:?}: {}", outcome.out);
        assert_eq!(outcome.out.contains("(tried 2 times)"), times == 2, "{server:?}: {}", outcome.out);
    }
}

/// The behaviours of a server within a stream that aimock does not support.
#[derive(Debug, Clone, Copy)]
enum StreamBehaviour {
    /// It says that it is overloaded.
    Error,
    /// It sends invalid JSON.
    Garbage,
    /// It sends nothing of substance, without an end.
    Endless,
    /// It sends its head and then nothing.
    Silent,
    /// It sends one event without an end.
    Huge,
}

/// The streams, each with the category of the error and a phrase of its message.
const STREAMS: [(StreamBehaviour, &str, &str); 5] = [
    (
        StreamBehaviour::Error,
        "overloaded",
        "aborted its response with an error: Overloaded; try again later, or raise `llm_retries`",
    ),
    (
        StreamBehaviour::Garbage,
        "bad_response",
        "streamed an event that is not JSON: {garbage}; check the server, or try again",
    ),
    (StreamBehaviour::Endless, "timeout", "timed out after 300 ms; raise `timeout_ms`"),
    (StreamBehaviour::Silent, "timeout", "timed out after 300 ms"),
    (StreamBehaviour::Huge, "bad_response", "streamed more than 16 MiB in one event"),
];

impl StreamBehaviour {
    /// Answers each request; sends a word once the other side has closed an answer that has no end.
    fn start(self, lines: bool) -> (u16, Receiver<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (closed, told) = channel();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let closed = closed.clone();
                thread::spawn(move || {
                    self.serve(stream, lines);
                    let _ = closed.send(());
                });
            }
        });
        (port, told)
    }

    fn serve(self, mut stream: TcpStream, lines: bool) {
        if !read_request(&stream) {
            return;
        }
        let kind = if lines { "application/x-ndjson" } else { "text/event-stream" };
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nConnection: close\r\n\r\n");
        let event = |json: &str| if lines { format!("{json}\n") } else { format!("data: {json}\n\n") };
        let _ = stream.write_all(head.as_bytes());
        match self {
            StreamBehaviour::Error => {
                let error = r#"{"type":"error","error":{"type":"overloaded_error","code":"overloaded","message":"Overloaded"}}"#;
                // This vendor says it in a word alone.
                let error = if lines { r#"{"error":{"message":"Overloaded","type":"overloaded"}}"# } else { error };
                let _ = stream.write_all(event(error).as_bytes());
            }
            StreamBehaviour::Garbage => drop(stream.write_all(event("{garbage}").as_bytes())),
            StreamBehaviour::Endless => {
                while stream.write_all(if lines { b"\n" } else { b": ping\n\n" }).is_ok() {
                    thread::sleep(Duration::from_millis(5));
                }
            }
            // Its end is all that the other side can still say.
            StreamBehaviour::Silent => {
                let _ = stream.read(&mut [0; 16]);
            }
            StreamBehaviour::Huge => {
                let _ = stream.write_all(if lines { b"\"" } else { b"data: \"" });
                while stream.write_all(&[b'x'; 1 << 16]).is_ok() {}
            }
        }
    }
}

#[test]
fn a_stream_that_goes_wrong_is_told_in_a_sentence_and_closed() {
    for (server, category, phrase) in STREAMS {
        let timeout_ms =
            if matches!(server, StreamBehaviour::Endless | StreamBehaviour::Silent) { 300 } else { 60_000 };
        let script = format!(
            "let result = agent_loop(\"Say hello.\", nil, {{stream: true, llm_retries: 1, timeout_ms: {timeout_ms}}})\n\
             println(result.status, result.error.category)\nprintln(result.error.message)\n\
             println(result.transcript.messages.map({{ m -> m.role }}))\n"
        );
        for wire in WIRES {
            let (port, closed) = server.start(wire.0 == "ollama");
            let outcome = run("stream", &script, wire, port);
            let place = format!("{server:?} on {}:\n{}{}", wire.0, outcome.out, outcome.err);
            assert_eq!((outcome.code, outcome.drawn("warning"), outcome.drawn("error")), (Some(0), 1, 0), "{place}");
            assert!(outcome.out.starts_with(&format!("provider_error {category}\n")), "{place}");
            assert!(outcome.out.contains(phrase) && outcome.out.ends_with("[user]\n"), "{phrase:?} in {place}");
            let again = matches!(server, StreamBehaviour::Error);
            assert_eq!(outcome.out.contains("(tried 2 times)"), again, "{place}");
            for _ in 0..=usize::from(again) {
                assert!(closed.recv_timeout(LIMIT).is_ok(), "it is still open: {place}");
            }
        }
    }
}
