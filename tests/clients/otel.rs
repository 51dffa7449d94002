//! Traces as a collector gets them: requests of OTLP are kept by a server here and decoded by the classes of PyPI
//! `opentelemetry-proto` (`tests/otel/decode.py`).

use crate::harn::{harn_in, root, scratch};
use crate::packages::python;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use serde_json::Value;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

type Bodies = Arc<Mutex<Vec<Bytes>>>;

/// A collector that keeps what it gets.
pub(crate) struct Collector {
    pub(crate) url: String,
    bodies: Bodies,
}

impl Collector {
    pub(crate) fn start() -> Collector {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let bodies = Bodies::default();
        let router = Router::new().route("/v1/traces", post(take)).with_state(bodies.clone());
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        // It ends with the process.
        std::thread::spawn(move || runtime.block_on(serve(listener, router)));
        Collector { url, bodies }
    }

    /// The spans that have come, by their names in order.
    pub(crate) fn spans(&self) -> Vec<Value> {
        let lines: String = self.bodies.lock().unwrap().iter().map(|body| format!("{}\n", hex(body))).collect();
        let mut child = Command::new(python("otel", "tests/otel/requirements.txt"))
            .arg(root().join("tests/otel/decode.py"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        writer.join().unwrap().unwrap();
        let mut spans: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
        spans.sort_by_key(|span| (span["start"].as_u64(), span["id"].to_string()));
        spans
    }
}

async fn take(State(bodies): State<Bodies>, headers: HeaderMap, body: Bytes) -> StatusCode {
    if headers.get("content-type").is_none_or(|found| found != "application/x-protobuf") {
        return StatusCode::UNSUPPORTED_MEDIA_TYPE;
    }
    bodies.lock().unwrap().push(body);
    StatusCode::OK
}

/// Serves a router; axum is built without its own server.
async fn serve(listener: tokio::net::TcpListener, router: Router) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { return };
        let service = hyper_util::service::TowerToHyperService::new(router.clone());
        let io = hyper_util::rt::TokioIo::new(stream);
        tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(io, service));
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn named<'a>(spans: &'a [Value], name: &str) -> &'a Value {
    let names: Vec<&Value> = spans.iter().map(|span| &span["name"]).collect();
    spans.iter().find(|span| span["name"] == name).unwrap_or_else(|| panic!("{name} is not among {names:?}"))
}

/// Runs the agent in a folder, with an event log there.
fn run(folder: &Path, args: &[&str], env: &[(&str, &str)]) {
    let script = root().join("tests/otel/agent.harn").display().to_string();
    let all: Vec<&str> = ["run", &script, "--event-log", "sqlite:log.db"].iter().chain(args).copied().collect();
    let ran = harn_in(folder, &all, b"", env);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
}

#[test]
fn each_span_is_named_and_has_its_parent() {
    let collector = Collector::start();
    run(&scratch("otel-named"), &["--otel", &collector.url], &[]);
    let spans = collector.spans();
    let id = |name: &str| named(&spans, name)["id"].clone();
    for (name, parent, kind) in [
        ("run agent.harn", Value::from(""), "SPAN_KIND_INTERNAL"),
        ("invoke_agent lead", id("run agent.harn"), "SPAN_KIND_INTERNAL"),
        ("chat big", id("invoke_agent lead"), "SPAN_KIND_CLIENT"),
        ("execute_tool ask", id("invoke_agent lead"), "SPAN_KIND_INTERNAL"),
        ("invoke_agent helper", id("execute_tool ask"), "SPAN_KIND_INTERNAL"),
        ("chat small", id("invoke_agent helper"), "SPAN_KIND_CLIENT"),
    ] {
        let span = named(&spans, name);
        assert_eq!((&span["parent"], &span["kind"]), (&parent, &Value::from(kind)), "{name}: {spans:#?}");
        assert_eq!(span["trace"], spans[0]["trace"], "{name}");
        assert!(span["start"].as_u64() <= span["end"].as_u64(), "{name}");
        assert_eq!(span["status"], "STATUS_CODE_UNSET", "{name}");
        assert_eq!((&span["scope"], &span["resource"]["service.name"]), (&"harn".into(), &"harn".into()));
    }
    assert_eq!(spans.len(), 7, "the lead asks its model twice: {spans:#?}");
    let chat = &named(&spans, "chat big")["attributes"];
    for (name, expected) in
        [("gen_ai.operation.name", "chat"), ("gen_ai.provider.name", "mock"), ("gen_ai.request.model", "big")]
    {
        assert_eq!(chat[name], expected, "{chat}");
    }
    assert!(chat["gen_ai.usage.input_tokens"].is_u64() && chat["gen_ai.conversation.id"].is_string(), "{chat}");
    let tool = &named(&spans, "execute_tool ask")["attributes"];
    assert_eq!((&tool["gen_ai.tool.name"], &tool["gen_ai.operation.name"]), (&"ask".into(), &"execute_tool".into()));
    let lead = named(&spans, "invoke_agent lead");
    let events: Vec<&str> = lead["events"].as_array().unwrap().iter().filter_map(|it| it["name"].as_str()).collect();
    assert!(events.contains(&"harn.reminder.fired") && events.contains(&"harn.reminder.expired"), "{events:?}");
    let all = serde_json::to_string(&spans).unwrap();
    assert!(!all.contains("secret-"), "no text leaves the process unless it is asked for: {all}");
}

#[test]
fn a_live_run_and_its_exported_log_have_the_same_spans() {
    let (live, exported) = (Collector::start(), Collector::start());
    let folder = scratch("otel-same");
    let content = [("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")];
    run(&folder, &["--otel", &live.url], &content);
    let traced = harn_in(&folder, &["trace", "log.db", "--otel", &exported.url], b"", &content);
    assert_eq!((traced.code, traced.err.as_str()), (Some(0), ""));
    assert_eq!(traced.out, format!("7 spans of 1 run sent to {}/v1/traces\n", exported.url));
    let spans = live.spans();
    assert_eq!(spans, exported.spans());
    let all = serde_json::to_string(&spans).unwrap();
    for text in ["secret-argument", "secret-answer", "secret-reminder", "done inside"] {
        assert!(all.contains(text), "{text} was asked for: {all}");
    }
}

#[test]
fn a_run_that_writes_its_activity_can_be_exported_later_and_each_run_is_a_trace() {
    let collector = Collector::start();
    let folder = scratch("otel-later");
    run(&folder, &["--activity"], &[]);
    run(&folder, &["--activity"], &[]);
    let traced = harn_in(&folder, &["trace", "log.db", "--otel", &collector.url], b"", &[]);
    assert_eq!(traced.out, format!("14 spans of 2 runs sent to {}/v1/traces\n", collector.url), "{}", traced.err);
    let mut traces: Vec<String> = collector.spans().iter().map(|span| span["trace"].to_string()).collect();
    traces.sort();
    traces.dedup();
    assert_eq!(traces.len(), 2);
}

#[test]
fn a_collector_that_is_away_is_reported_and_changes_no_exit_code() {
    let folder = scratch("otel-away");
    let script = root().join("tests/otel/agent.harn").display().to_string();
    let ran =
        harn_in(&folder, &["run", &script, "--event-log", "sqlite:log.db", "--otel", "http://127.0.0.1:9"], b"", &[]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("warning: could not export 7 spans to http://127.0.0.1:9/v1/traces: "), "{}", ran.err);
    let traced = harn_in(&folder, &["trace", "log.db", "--otel", "http://127.0.0.1:9"], b"", &[]);
    assert_eq!(traced.code, Some(1));
    assert!(traced.err.contains("could not export spans to http://127.0.0.1:9/v1/traces: "), "{}", traced.err);
    assert_eq!(traced.out, "");
    let ran = harn_in(&folder, &["run", "--otel", "nowhere", &script], b"", &[]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
}

#[test]
fn the_variables_of_opentelemetry_turn_it_on_and_off() {
    let collector = Collector::start();
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str());
    run(&scratch("otel-off"), &[], &[endpoint, ("OTEL_SDK_DISABLED", "true")]);
    assert!(collector.bodies.lock().unwrap().is_empty());
    run(&scratch("otel-on"), &[], &[endpoint, ("OTEL_SERVICE_NAME", "reviewer")]);
    let spans = collector.spans();
    assert_eq!((spans.len(), &spans[0]["resource"]["service.name"]), (7, &"reviewer".into()));
}
