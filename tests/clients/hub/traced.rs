//! One trace from the sender over the hub to the worker.

use super::RunningHub;
use super::http::{ask, start_worker};
use crate::harn::{harn_in, scratch};
use crate::otel::Collector;
use serde_json::Value;
use std::fs;

/// A worker whose loop works for one task, with the trace of its sender.
const WORKER: &str = r#"
let worker = hub.connect(env("HUB_URL")).register({name: "worker"})
println("ready")
let task = worker.claim("", {wait_ms: 60000})
agent_loop(task.text, nil, {session_id: task.session(), persona: "worker", llm_caller: { asked -> "done" }})
task.complete("done")
println(task.trace_id)
"#;

/// A sender whose loop asks the worker by a tool.
const SENDER: &str = r#"
let client = hub.connect(env("HUB_URL"), {agent: "client"})
let tools = tool_define(tool_registry(), "delegate", "Delegates", {
  parameters: {},
  handler: { args -> client.request("count", {to: "worker", type: "counting"}).text },
})
agent_loop("go", nil, {
  persona: "sender",
  tools: tools,
  llm_caller: { asked ->
    asked.turn == 1 ? {tool_calls: [{id: "c", name: "delegate", arguments: {}}]} : "done"
  },
})
"#;

fn named<'a>(spans: &'a [Value], name: &str) -> &'a Value {
    let names: Vec<&Value> = spans.iter().map(|span| &span["name"]).collect();
    spans.iter().find(|span| span["name"] == name).unwrap_or_else(|| panic!("{name} is not among {names:?}"))
}

#[test]
fn a_trace_goes_from_the_sender_over_the_hub_to_the_worker() {
    let folder = scratch("hub-traced");
    let (live, later) = (Collector::start(), Collector::start());
    let hub = RunningHub::start(&folder, &["--store", "sqlite:hub.db", "--otel", &live.url]);
    fs::write(folder.join("sender.harn"), SENDER).unwrap();
    let worker = start_worker(&folder, WORKER, &hub, &["--otel", &live.url]);
    let url = format!("http://{}", hub.grpc);
    let sent = harn_in(&folder, &["run", "sender.harn", "--otel", &live.url], b"", &[("HUB_URL", &url)]);
    assert_eq!((sent.code, sent.err.as_str()), (Some(0), ""));
    let output = worker.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(hub.stop(), Some(143));
    let spans = live.spans();
    let tool = named(&spans, "execute_tool delegate");
    let id = |name: &str| named(&spans, name)["id"].clone();
    let requests = ["agenthub.AgentHub/PublishMessage", "task counting", "attempt 1"];
    for (name, parent, kind) in [
        (requests[0], tool["id"].clone(), "SPAN_KIND_SERVER"),
        (requests[1], id(requests[0]), "SPAN_KIND_INTERNAL"),
        (requests[2], id(requests[1]), "SPAN_KIND_CONSUMER"),
        ("invoke_agent worker", id(requests[0]), "SPAN_KIND_INTERNAL"),
    ] {
        let span = named(&spans, name);
        assert_eq!((&span["parent"], &span["kind"]), (&parent, &Value::from(kind)), "{name}: {spans:#?}");
        assert_eq!(span["trace"], tool["trace"], "{name}");
    }
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(printed.lines().last(), tool["trace"].as_str(), "{printed}");
    let task = named(&spans, "task counting");
    assert_eq!(
        (&task["attributes"]["harn.hub.state"], &task["attributes"]["harn.hub.attempts"], &task["status"]),
        (&"completed".into(), &1.into(), &"STATUS_CODE_UNSET".into()),
        "{task}"
    );
    // The log of the hub has the same spans of tasks.
    let traced = harn_in(&folder, &["trace", "hub.db", "--otel", &later.url], b"", &[]);
    assert_eq!(traced.out, format!("2 spans of 1 trace sent to {}/v1/traces\n", later.url), "{}", traced.err);
    for span in later.spans() {
        assert_eq!(&span, named(&spans, span["name"].as_str().unwrap()));
    }
}

#[test]
fn a_span_has_the_code_of_the_error_of_its_request() {
    let folder = scratch("hub-traced-error");
    let live = Collector::start();
    let hub = RunningHub::start(&folder, &["--store", "memory", "--otel", &live.url]);
    let unknown = r#"{"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {"id": "none"}}"#;
    let answer = ask(&hub, "POST / HTTP/1.1\r\nContent-Type: application/json", unknown);
    assert!(answer.contains("-32001"), "{answer}");
    assert_eq!(hub.stop(), Some(143));
    let spans = live.spans();
    let span = named(&spans, "tasks/get");
    assert_eq!(span["attributes"]["error.type"], "-32001", "{span}");
}
