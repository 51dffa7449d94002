//! Traces as a collector gets them: requests of OTLP are kept by a server here and decoded by the classes of PyPI
//! `opentelemetry-proto` (`tests/otel/decode.py`).

use crate::harn::{harn_in, root, scratch};
use crate::packages::python;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use serde_json::{Value, json};
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
    run_file("agent.harn", folder, args, env);
}

fn run_file(name: &str, folder: &Path, args: &[&str], env: &[(&str, &str)]) {
    let script = root().join("tests/otel").join(name).display().to_string();
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
    assert_eq!(traced.out, format!("7 spans of 1 trace sent to {}/v1/traces\n", exported.url));
    let spans = live.spans();
    assert_eq!(spans, exported.spans());
    let all = serde_json::to_string(&spans).unwrap();
    for text in ["secret-argument", "secret-answer", "secret-reminder", "done inside"] {
        assert!(all.contains(text), "{text} was asked for: {all}");
    }
}

/// The spans of `watched.harn`, each with its parent.
const WATCHED: [(&str, &str); 11] = [
    ("attempt 1", "chat claude-sonnet-5"),
    ("attempt 2", "chat claude-sonnet-5"),
    ("chat asked", "hook session_start"),
    ("chat claude-sonnet-5", "invoke_agent lead"),
    ("chat claude-sonnet-5", "invoke_agent lead"),
    ("execute_tool look", "invoke_agent lead"),
    ("hook pre_tool_use", "invoke_agent lead"),
    ("hook session_start", "invoke_agent lead"),
    ("invoke_agent lead", "run watched.harn"),
    ("provider watcher", "execute_tool look"),
    ("run watched.harn", ""),
];

#[test]
fn hooks_providers_and_attempts_are_below_the_spans_that_contain_them_and_fakes_are_ignored() {
    let (live, exported) = (Collector::start(), Collector::start());
    let folder = scratch("otel-watched");
    run_file("watched.harn", &folder, &["--otel", &live.url], &[]);
    let traced = harn_in(&folder, &["trace", "log.db", "--otel", &exported.url], b"", &[]);
    assert_eq!((traced.code, traced.err.as_str()), (Some(0), ""));
    let spans = live.spans();
    assert_eq!(spans, exported.spans());
    let name = |span: &Value| span["name"].as_str().unwrap().to_owned();
    let parent = |span: &Value| spans.iter().find(|other| other["id"] == span["parent"]).map_or_else(String::new, name);
    let mut found: Vec<_> = spans.iter().map(|span| (name(span), parent(span))).collect();
    let mut expected: Vec<_> =
        WATCHED.iter().map(|(name, parent)| ((*name).to_owned(), (*parent).to_owned())).collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    let failed: Vec<&Value> = spans.iter().filter(|span| span["status"] == "STATUS_CODE_ERROR").collect();
    assert_eq!((failed.len(), &failed[0]["attributes"]["error.type"]), (1, &"overloaded".into()), "{failed:?}");
    assert_eq!((&failed[0]["name"], &failed[0]["kind"]), (&"attempt 1".into(), &"SPAN_KIND_CLIENT".into()));
    let hook = &named(&spans, "hook pre_tool_use")["attributes"];
    assert_eq!((&hook["harn.hook.event"], &hook["harn.hook.name"]), (&"pre_tool_use".into(), &"look".into()));
    let provider = &named(&spans, "provider watcher")["attributes"];
    assert_eq!(
        (&provider["harn.provider.event"], &provider["harn.provider.reminders"]),
        (&"post_tool_use".into(), &1.into())
    );
    let all = serde_json::to_string(&spans).unwrap();
    assert!(!all.contains("fake") && !all.contains("secret-"), "{all}");
}

#[test]
fn prompts_and_answers_have_the_form_of_the_conventions_with_reminders_where_the_model_saw_them() {
    let (live, exported) = (Collector::start(), Collector::start());
    let folder = scratch("otel-content");
    let content = [("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")];
    run_file("watched.harn", &folder, &["--otel", &live.url], &content);
    let traced = harn_in(&folder, &["trace", "log.db", "--otel", &exported.url], b"", &content);
    assert_eq!((traced.code, traced.err.as_str()), (Some(0), ""));
    let spans = live.spans();
    assert_eq!(spans, exported.spans());
    let chats: Vec<&Value> = spans.iter().filter(|span| span["name"] == "chat claude-sonnet-5").collect();
    let json = |span: &Value, name: &str| -> Value {
        serde_json::from_str(span["attributes"][name].as_str().unwrap_or_else(|| panic!("{name}: {span}"))).unwrap()
    };
    let text = |text: &str| json!({"type": "text", "content": text});
    let reminder = |body: &str| format!("<system-reminder>\n{body}\n</system-reminder>");
    let system = format!("secret-system\n\n{}", reminder("secret-rule"));
    let task = json!({"role": "user", "parts": [text("secret-task")]});
    let call = json!({"type": "tool_call", "id": "call-1", "name": "look", "arguments": {"at": "secret-place"}});
    let result = json!({"type": "tool_call_response", "id": "call-1", "response": "secret-result"});
    for chat in &chats {
        assert_eq!(json(chat, "gen_ai.system_instructions"), json!([text(&system)]));
    }
    assert_eq!(json(chats[0], "gen_ai.input.messages"), json!([task]));
    assert_eq!(
        json(chats[0], "gen_ai.output.messages"),
        json!([{"role": "assistant", "parts": [call], "finish_reason": "tool_call"}])
    );
    assert_eq!(
        json(chats[1], "gen_ai.input.messages"),
        json!([
            {"role": "user", "parts": [text(&reminder("secret-hint")), text("secret-task")]},
            {"role": "assistant", "parts": [call]},
            {"role": "tool", "parts": [result]},
        ])
    );
    assert_eq!(
        json(chats[1], "gen_ai.output.messages"),
        json!([{"role": "assistant", "parts": [text("secret-answer")], "finish_reason": "stop"}])
    );
}

#[test]
fn every_log_line_of_a_run_names_the_run_of_its_trace() {
    let collector = Collector::start();
    let folder = scratch("otel-lines");
    let script = root().join("tests/otel/watched.harn").display().to_string();
    let args = ["run", &script, "--otel", &collector.url, "--log-format", "json"];
    let ran = harn_in(&folder, &args, b"", &[("HARN_LOG", "debug")]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let run_id = named(&collector.spans(), "run watched.harn")["attributes"]["harn.run.id"].clone();
    let lines: Vec<Value> = ran.err.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().any(|line| line["message"] == "attempt failed"), "{lines:?}");
    for line in &lines {
        assert_eq!(line["spans"][0], json!({"name": "run", "run_id": run_id}), "{line}");
    }
    let ran = harn_in(&folder, &["run", &script], b"", &[("HARN_LOG", "debug")]);
    assert!(ran.err.lines().count() > 0 && ran.err.lines().all(|line| line.contains(" run{run_id=\"")), "{}", ran.err);
}

#[test]
fn a_run_that_writes_its_activity_can_be_exported_later_and_each_run_is_a_trace() {
    let collector = Collector::start();
    let folder = scratch("otel-later");
    run(&folder, &["--activity"], &[]);
    run(&folder, &["--activity"], &[]);
    let traced = harn_in(&folder, &["trace", "log.db", "--otel", &collector.url], b"", &[]);
    assert_eq!(traced.out, format!("14 spans of 2 traces sent to {}/v1/traces\n", collector.url), "{}", traced.err);
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
