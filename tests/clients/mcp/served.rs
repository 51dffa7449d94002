//! `harn serve mcp`: the server of `examples/mcp`, used by the official clients, by the Inspector and by harn itself, over both
//! transports and in both versions.

use super::{prints, run};
use crate::harn::root;
use crate::packages::{node, python};
use crate::wait::{LIMIT, find, until};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

const HARN: &str = env!("CARGO_BIN_EXE_harn");
const SCRIPT: &str = "examples/mcp/orders.harn";
/// The packages of the clients for TypeScript: the release line of 2025-11-25, and that of 2026-07-28.
const NODE: [&str; 2] = ["@modelcontextprotocol/sdk@1.32.2", "@modelcontextprotocol/client@2.4.0"];
/// The package of the Inspector.
const INSPECTOR: [&str; 1] = ["@modelcontextprotocol/inspector@2.12.0"];
/// The versions without and with sessions.
const NEW: &str = "2026-07-28";
const OLD: &str = "2025-11-25";

/// A server over HTTP; it ends with the test.
struct HttpServer {
    child: Child,
    port: u16,
}

impl HttpServer {
    fn start(script: &str, options: &[&str], env: &[(&str, &str)]) -> HttpServer {
        let mut command = Command::new(HARN);
        command.current_dir(root()).args(["serve", "mcp", script, "--http", "127.0.0.1:0"]).args(options);
        command.envs(env.iter().copied()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("listening on http://127.0.0.1:") {
            line.clear();
            assert!(stderr.read_line(&mut line).unwrap() > 0, "the server does not listen");
        }
        let port = line.split("127.0.0.1:").nth(1).unwrap().split('/').next().unwrap().parse().unwrap();
        std::thread::spawn(move || stderr.lines().for_each(drop));
        HttpServer { child, port }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    /// Sends a request, and returns the whole response.
    fn send(&self, request: &str, headers: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        let length = body.len();
        let head = format!(
            "{request} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    /// Sends a request without a session.
    fn ask(&self, method: &str, params: Value, more: &str) -> String {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": with_meta(params)}).to_string();
        let name = body_name(&body);
        let headers = format!(
            "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: {NEW}\r\nMcp-Method: {method}\r\n{name}{more}"
        );
        self.send("POST /mcp", &headers, &body)
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn body_name(body: &str) -> String {
    let params = &serde_json::from_str::<Value>(body).unwrap()["params"];
    let name = params["name"].as_str().or_else(|| params["uri"].as_str());
    name.map(|name| format!("Mcp-Name: {name}\r\n")).unwrap_or_default()
}

/// Adds the description that a request without a session has of itself.
fn with_meta(mut params: Value) -> Value {
    let meta = params["_meta"].take();
    let mut own = json!({
        "io.modelcontextprotocol/protocolVersion": NEW,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
    });
    for (key, value) in meta.as_object().into_iter().flatten() {
        own[key] = value.clone();
    }
    params["_meta"] = own;
    params
}

/// A server over standard input and output.
struct StdioServer {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<Value>,
}

impl StdioServer {
    fn start(script: &str, options: &[&str]) -> StdioServer {
        let mut command = Command::new(HARN);
        command.current_dir(root()).args(["serve", "mcp", script]).args(options);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let input = child.stdin.take();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (sender, output) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let _ = sender.send(serde_json::from_str(&line).unwrap());
            }
        });
        StdioServer { child, input, output }
    }

    fn say(&mut self, message: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(format!("{message}\n").as_bytes()).unwrap();
        input.flush().unwrap();
    }

    fn request(&mut self, id: u32, method: &str, params: &Value) {
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
    }

    fn next(&self) -> Value {
        self.output.recv_timeout(LIMIT).expect("the server says nothing")
    }

    /// Sends a request without a session, and returns its result.
    fn ask(&mut self, id: u32, method: &str, params: Value) -> Value {
        self.request(id, method, &with_meta(params));
        loop {
            let message = self.next();
            if message["id"] == id {
                return message["result"].clone();
            }
        }
    }

    /// Closes the input, and returns the exit code.
    fn end(mut self) -> Option<i32> {
        drop(self.input.take());
        self.child.wait().unwrap().code()
    }
}

const PYTHON: &str = "\
['count_orders', 'find_orders', 'ship_order']
{'result': [{'id': 1, 'item': 'lamp', 'paid': True}]} False
{'result': 3}
True invalid arguments
Order 2 is shipped. [(0.25, 1.0, 'picked'), (0.5, 1.0, 'packed'), (0.75, 1.0, 'labelled'), (1.0, 1.0, 'handed over')]
order 9 not found
['orders://all']
['orders://{id}']
3: desk lamp
application/json
letter [('id', True), ('tone', False)]
Write a friendly letter about order 2.
resource `nowhere://1` not found
unknown tool `fnd_orders`; did you mean `find_orders`?
{'result': 1}
[('info', 'looking for lamp')]";

fn with_python(target: &[&str]) {
    let python = python("mcp-python", "tests/mcp/requirements.txt");
    for version in [OLD, NEW] {
        let mut command = Command::new(&python);
        command.current_dir(root()).args(["tests/mcp/clients/cases.py", version]).args(target);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let (first, rest) = out.split_once('\n').unwrap_or_else(|| panic!("{version}: {err}"));
        assert!(first.starts_with(version), "{first}");
        assert_eq!(rest.trim_end(), PYTHON, "{version}: {err}");
    }
}

#[test]
fn the_python_client_over_stdio_in_both_versions() {
    with_python(&[HARN, "serve", "mcp", SCRIPT]);
}

#[test]
fn the_python_client_over_http_in_both_versions() {
    let server = HttpServer::start(SCRIPT, &[], &[]);
    with_python(&[&server.url()]);
}

/// Runs the cases of the clients for TypeScript. `sdk` speaks 2025-11-25, and `client` both versions.
fn with_typescript(target: &[&str]) {
    let modules = node("mcp-clients", &NODE);
    for (sdk, version, unknown, end) in [
        ("sdk", OLD, "MCP error -32002: ", "created: Order 3 is shipped.\nshipped-2 3 orders; shipped-3 3 orders"),
        ("client", OLD, "", "shipped-2 3 orders"),
        // Reminders are events in this version.
        ("client", NEW, "", ""),
    ] {
        let mut command = Command::new("node");
        command.current_dir(root()).arg("tests/mcp/clients/cases.mjs").args(target);
        command.env("MODULES", &modules).env("SDK", sdk).env("VERSION", version);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let wanted = format!(
            "orders The orders of a shop, for MCP clients: `harn serve mcp orders.harn`.
count_orders find_orders ship_order
{{\"result\":[{{\"id\":1,\"item\":\"lamp\",\"paid\":true}}]}}
Order 2 is shipped. picked, packed, labelled
true
orders://all
3: desk lamp
Write a formal letter about order 2.
friendly formal
{unknown}resource `nowhere://1` not found
cancelled
{end}"
        );
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(out.trim_end(), wanted.trim_end(), "{sdk} {version}: {err}");
    }
}

#[test]
fn the_typescript_clients_over_stdio_in_both_versions() {
    with_typescript(&[HARN, "serve", "mcp", SCRIPT]);
}

#[test]
fn the_typescript_clients_over_http_in_both_versions() {
    let server = HttpServer::start(SCRIPT, &[], &[]);
    with_typescript(&[&server.url()]);
}

#[test]
fn the_inspector_uses_tools_resources_and_prompts() {
    let inspector = node("mcp-inspector", &INSPECTOR).join(".bin/mcp-inspector");
    let server = HttpServer::start(SCRIPT, &[], &[]);
    let url = server.url();
    for target in [&[HARN, "serve", "mcp", SCRIPT][..], &[&url]] {
        for (options, wanted) in [
            (&["--method", "tools/list"][..], "\"name\": \"ship_order\""),
            (&["--method", "tools/call", "--tool-name", "count_orders", "--tool-arg", "paid=true"], "\"result\": 1"),
            (&["--method", "resources/read", "--uri", "orders://3"], "3: desk lamp"),
            (
                &["--method", "prompts/get", "--prompt-name", "letter", "--prompt-args", "id=2"],
                "a friendly letter about order 2.",
            ),
        ] {
            let mut command = Command::new(&inspector);
            let output =
                command.current_dir(root()).arg("--cli").args(target).args(options).stdin(Stdio::null()).output();
            let output = output.unwrap();
            let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert!(output.status.success() && out.contains(wanted), "{options:?}: {out}\n{err}");
        }
    }
}

#[test]
fn a_reminder_of_a_tool_reaches_the_next_prompt_of_a_loop_in_both_versions() {
    for version in [OLD, NEW] {
        let script = format!(
            r#"let server = {{
  name: "shop", command: {HARN:?}, args: ["serve", "mcp", "{SCRIPT}"], protocol: "{version}", reminders: true,
}}
println(mcp.connect(server).protocol)
with_llm_script([llm_tool_call("shop__ship_order", {{id: 2}}), llm_text("ok")], {{ ->
  agent_loop("go", nil, {{provider: "mock", mcp_servers: [server], post_turn_callback: {{ turn -> sleep(2500) }}}})
  println(json_stringify(llm_mock_calls().last()).split("Order 2 is on its way").count - 1)
}})
let injected = event_log.read({{topic: "transcript.reminder.lifecycle"}}).filter({{ e ->
  e.kind == "transcript.reminder.injected"
}})
println(injected.map({{ e -> [e.payload.source, e.payload.tags, e.payload.dedupe_key, e.payload.ttl_turns] }}))
"#
        );
        let outcome = run(&format!("served-reminds-{version}"), &script, &[]);
        prints(&outcome, &format!("{version}\n1\n[[bridge, [orders, mcp:shop], shipped-2, 3]]"));
    }
}

const ASKS: &str = "tests/mcp/asks.harn";

/// The questions and the results of the client for Python, without the version in the first line.
const PYTHON_ASKED: &str = "\
Cancel order 7? ['answer'] accept
Why, if yes? ['answer'] accept
order 7: yes, too late
Cancel order 7? ['answer'] accept
Why, if yes? ['answer'] decline
order 7: yes, no reason
Cancel order 7? ['answer'] cancel
no answer
a? ['answer'] accept
b? ['answer'] accept
a1 b2
Who are you? ['answer'] accept
me
Whom? ['answer'] accept
Greet the crew
True `cancel_order` asks a question, and the client cannot answer: it lacks the capability `elicitation` or a stream of events";

const TYPESCRIPT_ASKED: &str = "\
Cancel order 7? yes
Why, if yes? too late
order 7: yes, too late
Cancel order 7? yes
Why, if yes? null
order 7: yes, no reason
Cancel order 7? null
no answer";

#[test]
fn the_official_clients_answer_questions_in_both_versions() {
    let python = python("mcp-python", "tests/mcp/requirements.txt");
    let modules = node("mcp-clients", &NODE);
    let server = HttpServer::start(ASKS, &[], &[]);
    let url = server.url();
    for target in [&[HARN, "serve", "mcp", ASKS][..], &[&url]] {
        for version in [OLD, NEW] {
            let mut command = Command::new(&python);
            command.current_dir(root()).args(["tests/mcp/clients/asks.py", version]).args(target);
            let output = command.stdin(Stdio::null()).output().unwrap();
            let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert_eq!(out.trim_end(), format!("{version}\n{PYTHON_ASKED}"), "{target:?}: {err}");
        }
        for (sdk, version) in [("sdk", OLD), ("client", OLD), ("client", NEW)] {
            let mut command = Command::new("node");
            command.current_dir(root()).arg("tests/mcp/clients/asks.mjs").args(target);
            command.env("MODULES", &modules).env("SDK", sdk).env("VERSION", version);
            let output = command.stdin(Stdio::null()).output().unwrap();
            let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert_eq!(out.trim_end(), TYPESCRIPT_ASKED, "{target:?} {sdk} {version}: {err}");
        }
    }
}

/// Returns the parameters of a call by a client that asks its user, and takes tasks if `extensions` has them.
fn asking(extensions: &Value, more: &Value) -> Value {
    let mut params = json!({"name": "cancel_order", "arguments": {"id": 7}});
    for (key, value) in more.as_object().unwrap() {
        params[key] = value.clone();
    }
    let capabilities = json!({"elicitation": {}, "extensions": extensions});
    params["_meta"] = json!({"io.modelcontextprotocol/clientCapabilities": capabilities});
    params
}

fn accepted(text: &str) -> Value {
    json!({"action": "accept", "content": {"answer": text}})
}

#[test]
fn a_request_state_continues_its_own_call_once() {
    let mut server = StdioServer::start(ASKS, &["--max-calls", "4"]);
    let asked = server.ask(1, "tools/call", asking(&json!({}), &json!({})));
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let question = &asked["inputRequests"]["answer"];
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["message"], "Cancel order 7?");
    assert_eq!(question["params"]["requestedSchema"]["required"], json!(["answer"]));
    let state = &asked["requestState"];
    // Without the answer, the same question is asked again.
    let again = server.ask(2, "tools/call", asking(&json!({}), &json!({"requestState": state})));
    assert_eq!((&again["inputRequests"], &again["requestState"]), (&asked["inputRequests"], state));
    let answer = json!({"requestState": state, "inputResponses": {"answer": accepted("yes")}});
    let refusal = |server: &mut StdioServer, id: u32, params: Value| {
        server.request(id, "tools/call", &with_meta(params));
        let message = server.next();
        assert_eq!((&message["id"], &message["error"]["code"]), (&json!(id), &json!(-32602)), "{message}");
        message["error"]["message"].as_str().unwrap().to_owned()
    };
    let mut other = asking(&json!({}), &answer);
    other["arguments"] = json!({"id": 8});
    assert!(refusal(&mut server, 3, other).contains("must be the one"));
    let second = server.ask(4, "tools/call", asking(&json!({}), &answer));
    assert_eq!(second["inputRequests"]["answer"]["params"]["message"], "Why, if yes?", "{second}");
    assert!(refusal(&mut server, 5, asking(&json!({}), &answer)).contains("unknown `requestState`"));
    let last = json!({"requestState": second["requestState"], "inputResponses": {"answer": {"action": "decline"}}});
    let done = server.ask(6, "tools/call", asking(&json!({}), &last));
    assert_eq!(
        (&done["resultType"], &done["content"][0]["text"]),
        (&json!("complete"), &json!("order 7: yes, no reason"))
    );
    // Half of the calls may wait: the oldest one ends, and others still run.
    let states: Vec<Value> = (10..20)
        .map(|id| server.ask(id, "tools/call", asking(&json!({}), &json!({})))["requestState"].clone())
        .collect();
    let with = |state: &Value| json!({"requestState": state, "inputResponses": {"answer": {"action": "cancel"}}});
    assert!(refusal(&mut server, 20, asking(&json!({}), &with(&states[7]))).contains("unknown `requestState`"));
    for (id, state) in [(21, &states[8]), (22, &states[9])] {
        let done = server.ask(id, "tools/call", asking(&json!({}), &with(state)));
        assert_eq!(done["content"][0]["text"], "no answer", "{done}");
    }
    assert_eq!(server.end(), Some(0));
}

#[test]
fn a_task_asks_and_continues_in_both_versions() {
    let mut server = StdioServer::start(ASKS, &["--task-after", "0"]);
    let tasks = || json!({"io.modelcontextprotocol/tasks": {}});
    // A call may ask before it becomes a task.
    let begun = (100..150)
        .map(|id| server.ask(id, "tools/call", asking(&tasks(), &json!({}))))
        .find(|begun| begun["resultType"] == "task")
        .expect("a call becomes a task");
    let id = begun["taskId"].clone();
    let mut number = 2;
    let mut until = |server: &mut StdioServer, status: &str| {
        find(status, || {
            let state = server.ask(number, "tasks/get", json!({"taskId": id}));
            number += 1;
            if state["status"] == status { Ok(state) } else { Err(state.to_string()) }
        })
    };
    let waiting = until(&mut server, "input_required");
    assert_eq!(waiting["inputRequests"]["question-1"]["params"]["message"], "Cancel order 7?", "{waiting}");
    for (round, text) in [(1, "yes"), (2, "late")] {
        let responses = json!({"question-0": accepted("unknown"), format!("question-{round}"): accepted(text)});
        server.ask(900 + round, "tasks/update", json!({"taskId": begun["taskId"], "inputResponses": responses}));
        if round == 1 {
            find("the second question", || {
                let state = until(&mut server, "input_required");
                if state["inputRequests"]["question-2"].is_null() { Err(state.to_string()) } else { Ok(()) }
            });
        }
    }
    let done = until(&mut server, "completed");
    assert_eq!(done["result"]["content"][0]["text"], "order 7: yes, late");
    assert_eq!(server.end(), Some(0));

    let mut server = StdioServer::start(ASKS, &[]);
    let capabilities = json!({"elicitation": {"form": {}}});
    server.request(1, "initialize", &json!({"protocolVersion": OLD, "capabilities": capabilities}));
    server.next();
    server.request(2, "tools/call", &json!({"name": "cancel_order", "arguments": {}, "task": {}}));
    let task = json!({"taskId": server.next()["result"]["task"]["taskId"]});
    server.request(3, "tasks/result", &task);
    for text in ["yes", "late"] {
        let question = server.next();
        assert_eq!(question["method"], "elicitation/create", "{question}");
        assert_eq!(question["params"]["_meta"]["io.modelcontextprotocol/related-task"], task);
        server.request(4, "tasks/get", &task);
        assert_eq!(server.next()["result"]["status"], "input_required");
        server.say(&json!({"jsonrpc": "2.0", "id": question["id"], "result": accepted(text)}).to_string());
    }
    let done = server.next();
    assert_eq!((&done["id"], &done["result"]["content"][0]["text"]), (&json!(3), &json!("order 1: yes, late")));
    // A call that is cancelled withdraws its question.
    server.request(5, "tools/call", &json!({"name": "cancel_order", "arguments": {}}));
    let question = server.next();
    server.say(r#"{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}"#);
    let withdrawn = server.next();
    assert_eq!(
        (&withdrawn["method"], &withdrawn["params"]["requestId"]),
        (&json!("notifications/cancelled"), &question["id"])
    );
    assert_eq!(server.end(), Some(0));
}

#[test]
fn harn_as_the_client_answers_questions_of_harn_in_both_versions() {
    for version in [OLD, NEW] {
        let script = format!(
            r#"fn reply(question) {{
  if question.message.contains("Why") {{ return {{answer: "too late"}} }}
  return {{answer: "yes"}}
}}
let shop = {{
  name: "shop", command: {HARN:?}, args: ["serve", "mcp", "{ASKS}"], protocol: "{version}", elicit: reply,
}}
println(mcp.connect(shop).protocol)
println(mcp.call_tool(shop, "cancel_order", {{id: 7}}).text)
"#
        );
        let outcome = run(&format!("served-asks-{version}"), &script, &[]);
        prints(&outcome, &format!("{version}\norder 7: yes, too late"));
    }
}

#[test]
fn a_long_call_becomes_a_task_that_is_polled_and_cancelled() {
    let mut server = StdioServer::start(SCRIPT, &["--task-after", "0"]);
    let call = |ms: u32| json!({"name": "ship_order", "arguments": {"id": 2, "step_ms": ms}});
    let begun = server.ask(1, "tools/call", call(100));
    assert_eq!((&begun["resultType"], &begun["status"]), (&json!("task"), &json!("working")), "{begun}");
    let task = json!({"taskId": begun["taskId"]});
    let mut id = 1;
    let state = find("the end of the task", || {
        id += 1;
        let state = server.ask(id, "tasks/get", task.clone());
        if state["status"] == "working" { Err(state.to_string()) } else { Ok(state) }
    });
    assert_eq!(
        (&state["status"], &state["statusMessage"], &state["result"]["content"][0]["text"]),
        (&json!("completed"), &json!("handed over"), &json!("Order 2 is shipped.")),
    );
    let long = server.ask(900, "tools/call", call(60_000));
    let task = json!({"taskId": long["taskId"]});
    server.ask(901, "tasks/cancel", task.clone());
    assert_eq!(server.ask(902, "tasks/get", task)["status"], "cancelled");
    // A client that does not take tasks waits for the result.
    let mut params = with_meta(call(0));
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    server.request(903, "tools/call", &params);
    let mut answer = server.next();
    while answer["id"] != 903 {
        answer = server.next();
    }
    assert_eq!(answer["result"]["resultType"], "complete");
    assert_eq!(server.end(), Some(0));
}

#[test]
fn reminders_are_events_that_can_be_listed_and_followed() {
    let mut server = StdioServer::start(SCRIPT, &[]);
    let list = server.ask(1, "events/list", json!({}));
    assert_eq!(
        (&list["events"][0]["name"], &list["events"][0]["delivery"]),
        (&json!("reminder"), &json!(["poll", "push"]))
    );
    server.request(2, "events/stream", &with_meta(json!({"name": "reminder", "arguments": {}, "cursor": null})));
    let active = server.next();
    assert_eq!(active["method"], "notifications/events/active");
    assert_eq!(active["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 2);
    server.request(3, "tools/call", &with_meta(json!({"name": "ship_order", "arguments": {"id": 1}})));
    let (mut event, mut answer) = (server.next(), server.next());
    if event["id"] == 3 {
        std::mem::swap(&mut event, &mut answer);
    }
    assert_eq!((&event["method"], &answer["id"]), (&json!("notifications/events/event"), &json!(3)));
    let reminder = &event["params"]["data"];
    assert_eq!((&reminder["dedupeKey"], &reminder["ttlTurns"]), (&json!("shipped-1"), &json!(3)));
    // The end of a stream that is given up is not answered.
    server.say(r#"{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}"#);
    let polled = server.ask(4, "events/poll", json!({"name": "reminder", "cursor": active["params"]["cursor"]}));
    assert_eq!(polled["events"][0]["eventId"], event["params"]["eventId"]);
    assert_eq!(server.end(), Some(0));
}

#[test]
fn what_is_not_a_request_is_refused_and_the_connection_goes_on() {
    let mut server = StdioServer::start(SCRIPT, &["--max-body", "1k"]);
    for (line, code) in [
        ("{".to_owned(), -32700),
        ("[]".to_owned(), -32600),
        (format!("\"{}\"", "x".repeat(2000)), -32600),
        (r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}"#.to_owned(), -32600),
        (r#"{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}"#.to_owned(), -32602),
        (r#"{"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {}}"#.to_owned(), -32602),
        (
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {
                "io.modelcontextprotocol/protocolVersion": "2030-01-01", "io.modelcontextprotocol/clientCapabilities": {}}}})
            .to_string(),
            -32022,
        ),
        (json!({"jsonrpc": "2.0", "id": 1, "method": "tools/lst", "params": with_meta(json!({}))}).to_string(), -32601),
    ] {
        server.say(&line);
        assert_eq!(server.next()["error"]["code"], code, "{line}");
    }
    let discovered = server.ask(2, "server/discover", json!({}));
    assert_eq!(discovered["supportedVersions"], json!([NEW]));
    assert!(discovered["capabilities"]["extensions"]["harn/reminders"].is_object(), "{discovered}");
    server.request(3, "initialize", &json!({"protocolVersion": "1999-01-01", "capabilities": {}}));
    let begun = server.next();
    assert_eq!(begun["result"]["protocolVersion"], OLD, "an unknown version is answered with the newest");
    assert!(begun["result"]["capabilities"]["experimental"]["harn/reminders"].is_object(), "{begun}");
    assert_eq!(server.end(), Some(0));
}

#[test]
fn errors_of_a_script_show_neither_source_nor_paths() {
    let folder = crate::harn::scratch("mcp-served-errors");
    let script = folder.join("broken.harn");
    std::fs::write(&script, "pub pipeline broken() {\n  throw \"the secret\"\n}\npub pipeline typed() -> int {\n  return json_parse(\"\\\"x\\\"\")\n}\n").unwrap();
    let mut server = StdioServer::start(script.to_str().unwrap(), &[]);
    let broken = server.ask(1, "tools/call", json!({"name": "broken"}));
    assert_eq!(
        (&broken["isError"], &broken["content"][0]["text"]),
        (&json!(true), &json!("`broken` failed with HARN-RUN-001"))
    );
    let typed = server.ask(2, "tools/call", json!({"name": "typed"}));
    assert_eq!(typed["isError"], json!(true), "{typed}");
    assert_eq!(server.end(), Some(0));
}

#[test]
fn http_checks_tokens_origins_headers_and_sizes() {
    let server =
        HttpServer::start(SCRIPT, &["--max-body", "4k"], &[("HARN_MCP_TOKEN", "a-token-that-is-hard-to-guess")]);
    let token = "Authorization: Bearer a-token-that-is-hard-to-guess\r\n";
    let starts = |response: &str, status: u16| {
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{status}: {response}");
    };
    starts(&server.ask("tools/list", json!({}), ""), 401);
    starts(&server.ask("tools/list", json!({}), "Authorization: Bearer wrong\r\n"), 401);
    starts(&server.ask("tools/list", json!({}), token), 200);
    starts(&server.ask("tools/list", json!({}), &format!("{token}Origin: https://evil.example\r\n")), 403);
    starts(&server.ask("tools/lst", json!({}), token), 404);
    starts(
        &server.ask("tools/call", json!({"name": "count_orders", "arguments": {"x": "y".repeat(5000)}}), token),
        413,
    );
    let json = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": with_meta(json!({}))}).to_string();
    let mismatch = server.send(
        "POST /mcp",
        &format!("{token}{json}MCP-Protocol-Version: {NEW}\r\nMcp-Method: tools/call\r\n"),
        &list,
    );
    starts(&mismatch, 400);
    assert!(mismatch.contains("-32020"), "{mismatch}");
    starts(
        &server.send("POST /mcp", &format!("{token}{json}"), r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#),
        400,
    );
    starts(
        &server.send(
            "POST /mcp",
            &format!("{token}{json}Mcp-Session-Id: x\r\n"),
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
        ),
        404,
    );
    starts(&server.send("POST /mcp", &format!("{token}Content-Type: text/plain\r\n"), "{}"), 415);
    starts(&server.send("GET /mcp", token, ""), 405);
    starts(&server.send("GET /other", token, ""), 404);
    starts(&server.send("GET /healthz", "", ""), 200);
    starts(&server.send("GET /readyz", "", ""), 200);
    starts(&server.send("GET /metrics", "", ""), 401);
    let metrics = server.send("GET /metrics", token, "");
    assert!(
        metrics.contains("harn_mcp_calls_running 0\n") && metrics.contains("harn_mcp_calls_running_limit 256\n"),
        "{metrics}"
    );
    let begun = server.send(
        "POST /mcp",
        &format!("{token}{json}"),
        &json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": OLD, "capabilities": {}}}).to_string(),
    );
    let session = begun.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap().trim().to_owned();
    let session = format!("{token}Mcp-Session-Id: {session}\r\n");
    starts(&server.send("DELETE /mcp", &session, ""), 204);
    starts(&server.send("DELETE /mcp", &session, ""), 404);
}

#[test]
fn a_session_over_http_ends_when_it_is_idle_and_an_address_has_a_share() {
    let server = HttpServer::start(SCRIPT, &["--session-idle", "500ms", "--max-peer-sessions", "2"], &[]);
    let json = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
    let params = json!({"protocolVersion": OLD, "capabilities": {}});
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string();
    let begin = || server.send("POST /mcp", json, &initialize);
    let session = |begun: &str| begun.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).map(str::to_owned);
    let (mut sessions, mut refused) = (Vec::new(), None);
    // Until a client that has its share gets another session because an earlier one has ended.
    until("a session ends", || {
        let begun = begin();
        match session(&begun) {
            Some(session) => sessions.push(session),
            None => refused = Some(begun),
        }
        refused.is_some() && sessions.len() >= 3
    });
    let refused = refused.unwrap();
    assert!(refused.starts_with("HTTP/1.1 429 ") && refused.contains("peer_sessions_full"), "{refused}");
    assert!(refused.contains("your IP address has 2 open"), "{refused}");
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let ended = server.send("POST /mcp", &format!("{json}Mcp-Session-Id: {}\r\n", sessions[0]), ping);
    assert!(ended.starts_with("HTTP/1.1 404 ") && ended.contains("begin with `initialize`"), "{ended}");
}

#[test]
fn a_public_address_needs_a_token() {
    let mut command = Command::new(HARN);
    command.current_dir(root()).args(["serve", "mcp", SCRIPT, "--http", "0.0.0.0:0"]).env_remove("HARN_MCP_TOKEN");
    let output = command.stdin(Stdio::null()).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && err.contains("HARN-MCP-202") && err.contains("HARN_MCP_TOKEN"), "{err}");
}

#[test]
fn what_cannot_be_served_is_reported_before_anything_is_read() {
    let folder = crate::harn::scratch("mcp-unservable");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let orders = root().join(SCRIPT).display().to_string();
    let file = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    for (script, options, said) in [
        (file("a.harn", "pipeline default(task) { return task }\n"), &[][..], "HARN-SRV-002"),
        (file("b.rhai", "const TOOLS = #{gone: #{}};\n"), &[], "`TOOLS.gone`: the script has no function `gone`"),
        (file("c.rhai", "const TOOLS = #{f: #{descripton: \"x\"}};\nfn f() {}\n"), &[], "did you mean `description`?"),
        (file("d.rhai", "const TOOLS = 7;\n"), &[], "HARN-SRV-003"),
        (orders.clone(), &["--http", &address], "HARN-MCP-201"),
        (orders, &["--http", "127.0.0.1:0", "--token", ""], "HARN-MCP-203"),
    ] {
        let output =
            Command::new(HARN).args(["serve", "mcp", &script]).args(options).stdin(Stdio::null()).output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && err.contains(said), "{said}: {err}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_client_that_disconnects_cancels_its_call_and_a_drain_waits_for_calls() {
    let mut server = HttpServer::start(SCRIPT, &["--drain", "20"], &[]);
    let running = |server: &HttpServer, wanted: u32| {
        // A call is counted before its session works on it.
        let lines = [format!("harn_mcp_calls_running {wanted}\n"), format!("harn_sessions_busy {wanted}\n")];
        let is_so = |metrics: &str| lines.iter().all(|line| metrics.contains(line));
        until(&format!("{wanted} calls"), || is_so(&server.send("GET /metrics", "", "")));
    };
    let request = |ms: u32| {
        let params = json!({"name": "ship_order", "arguments": {"id": 1, "step_ms": ms}});
        let mut params = with_meta(params);
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
        format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             MCP-Protocol-Version: {NEW}\r\nMcp-Method: tools/call\r\nMcp-Name: ship_order\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    stream.write_all(request(60_000).as_bytes()).unwrap();
    running(&server, 1);
    drop(stream);
    running(&server, 0);
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    stream.write_all(request(300).as_bytes()).unwrap();
    running(&server, 1);
    let pid = server.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.contains("Order 1 is shipped."), "{text}");
    assert_eq!(server.child.wait().unwrap().code(), Some(143));
}

#[test]
fn a_script_in_rhai_serves_the_same() {
    let mut server = StdioServer::start("examples/recipes/serve-mcp.rhai", &[]);
    let tools = server.ask(1, "tools/list", json!({}));
    assert_eq!(tools["tools"][0]["name"], "find_order", "{tools}");
    let found = server.ask(2, "tools/call", json!({"name": "find_order", "arguments": {"id": 2}}));
    assert_eq!(found["structuredContent"], json!({"id": 2, "item": "desk"}));
    let wrong = server.ask(3, "tools/call", json!({"name": "find_order", "arguments": {"id": "2"}}));
    assert_eq!(wrong["isError"], true);
    let read = server.ask(4, "resources/read", json!({"uri": "orders://1"}));
    assert_eq!(read["contents"][0]["text"], "1: lamp");
    let prompt = server.ask(5, "prompts/get", json!({"name": "letter", "arguments": {"id": "1"}}));
    assert_eq!(prompt["messages"][0]["content"]["text"], "Write a letter about order 1.");
    let polled = server.ask(6, "events/poll", json!({"name": "reminder"}));
    assert_eq!(polled["events"], json!([]));
    assert_eq!(server.end(), Some(0));
}
