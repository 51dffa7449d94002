//! `--budget` of a run, and budgets of requests to a server: what is refused is not sent, and retries count.

use crate::harn::{Outcome, harn, harn_with_input, scratch};
use crate::model_server::read_request;
use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Runs a script with `--budget`, and asks the mock.
fn run(name: &str, budget: &str, script: &str) -> Outcome {
    let path = scratch(&format!("budget-{name}")).join("script.harn");
    fs::write(&path, script).unwrap();
    harn(&["run", "--budget", budget, path.to_str().unwrap()])
}

#[test]
fn all_requests_of_a_run_share_its_budget() {
    let script = r#"
let one = { -> try { llm_call("hi", nil, {provider: "mock"}).text } catch e { e.code } }
println(one())
let asked = range(3).map({ n -> spawn { one() } })
println(asked.map({ task -> await(task) }))
let result = agent_loop("hi", nil, {provider: "mock", budget: {turns: 50}})
println(result.stop_reason, result.budget.spent.turns)
agent_loop("hi", nil, {provider: "mock"})?
"#;
    let ran = run("shared", "turns=3", script);
    assert_eq!(ran.out, "mock: hi\n[mock: hi, mock: hi, HARN-LLM-004]\nbudget 0\n", "{}", ran.err);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("error[HARN-LLM-004]: the agent loop ended early: the budget of 3 turns (`--budget`) is used up; spent: 3 turns on `mock`"), "{}", ran.err);
}

#[test]
fn a_loop_that_a_budget_ended_fails_the_run_unless_it_is_handled() {
    let script =
        "let result = agent_loop(\"hi\", nil, {provider: \"mock\", loop_until_done: true})\nprintln(result.text)\n";
    let ran = run("unhandled", "turns=0", script);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("the budget of 0 turns (`--budget`) is used up; nothing is spent"), "{}", ran.err);
    let handled = script.replace("result.text", "result.stop_reason");
    let ran = run("handled", "turns=0", &handled);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "budget\n"), "{}", ran.err);
}

#[test]
fn dollars_need_a_price() {
    let script = "println(llm_call(\"hi\", nil, {provider: \"mock\", model: \"MODEL\"}).cost_usd > 0.0)\n";
    let ran = run("priced", "usd=0.5", &script.replace("MODEL", "claude-sonnet-4-5"));
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "true\n"), "{}", ran.err);
    let ran = run("unpriced", "usd=0.5", &script.replace("MODEL", "own"));
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("error[HARN-LLM-005]: the price of `own` (mock) is unknown"), "{}", ran.err);
    assert!(ran.err.contains("help: add `price` to the model's row of `[[capabilities]]`"), "{}", ran.err);
}

#[test]
fn a_budget_that_cannot_be_read_is_an_error_of_the_command_line() {
    for (budget, part) in [
        ("usd=-1", "`usd` must be US dollars up to 1000000000"),
        ("usd=NaN", "found `NaN`"),
        ("dollars=1", "`dollars=1` is not a limit; use, for example, `usd=0.50,tokens=200000,turns=20`"),
        ("turns=1,turns=2", "`turns` is set twice"),
    ] {
        let ran = run("unread", budget, "println(1)");
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{budget}");
        assert!(ran.err.contains(part), "{budget}: {}", ran.err);
    }
}

/// Starts a server that is overloaded for the first requests, then answers with 1,000 tokens in and 100 out. Returns its port
/// and the number of requests so far.
fn server(overloaded: usize) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    // It ends with the process of the tests.
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            if !read_request(&stream) {
                continue;
            }
            let (status, body) = if count.fetch_add(1, Ordering::SeqCst) < overloaded {
                ("529 Overloaded", r#"{"error": {"message": "busy"}}"#)
            } else {
                let body = r#"{"id": "m", "type": "message", "role": "assistant", "model": "claude-haiku-4-5", "content": [{"type": "text", "text": "yes"}], "stop_reason": "end_turn", "usage": {"input_tokens": 1000, "output_tokens": 100}}"#;
                ("200 OK", body)
            };
            let head = format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nRetry-After: 0\r\n");
            let _ = write!(stream, "{head}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len());
        }
    });
    (port, asked)
}

/// Calls a model at the server until the budget is used up.
fn ask(name: &str, budget: &str, overloaded: usize) -> (Outcome, usize) {
    let (port, asked) = server(overloaded);
    let script = r#"
for n in 1 to 9 {
  println(llm_call("go", nil, {provider: "anthropic", model: "claude-haiku-4-5", max_tokens: 200, stream: false}).cost_usd)
}
"#;
    let path = scratch(&format!("budget-server-{name}")).join("script.harn");
    fs::write(&path, script).unwrap();
    let url = format!("http://127.0.0.1:{port}");
    let env = [("ANTHROPIC_BASE_URL", url.as_str()), ("ANTHROPIC_API_KEY", "a-key-that-opens-nothing")];
    let ran = harn_with_input(&["run", "--budget", budget, path.to_str().unwrap()], b"", &env);
    (ran, asked.load(Ordering::SeqCst))
}

#[test]
fn what_a_budget_refuses_reaches_no_server() {
    // 0.0015 for each answer, and at most about 0.00105 for a request.
    let (ran, asked) = ask("dollars", "usd=0.005", 0);
    assert_eq!((ran.out.as_str(), asked), ("0.0015\n0.0015\n0.0015\n", 3), "{}", ran.err);
    assert!(ran.err.contains("the budget of 0.005 USD (`--budget`) does not cover the next request"), "{}", ran.err);
    assert!(ran.err.contains("spent: 0.0045 USD on `claude-haiku-4-5` in 3 turns"), "{}", ran.err);
    assert!(ran.err.contains("help: raise `usd` of `--budget`, or lower `max_tokens`"), "{}", ran.err);
}

#[test]
fn a_retry_that_a_budget_does_not_cover_is_not_sent() {
    let (ran, asked) = ask("retries", "turns=2", 9);
    assert_eq!((ran.code, ran.out.as_str(), asked), (Some(1), "", 2), "{}", ran.err);
    assert!(ran.err.contains("the budget of 2 turns (`--budget`) is used up"), "{}", ran.err);
    assert!(ran.err.contains("the attempt before failed: "), "{}", ran.err);
    let (ran, asked) = ask("retried", "turns=4", 2);
    assert_eq!((ran.out.as_str(), asked), ("0.0015\n0.0015\n", 4), "{}", ran.err);
}
