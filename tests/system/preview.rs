//! The output of `harn preview`: what is shown is what a server receives.

use crate::diff::diff;
use crate::harn::{harn, harn_in, harn_with_input, root, scratch};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

/// Provider, variable of its base URL, variable of its key.
const WIRES: [(&str, &str, &str); 5] = [
    ("anthropic", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
    ("openai", "OPENAI_BASE_URL", "OPENAI_API_KEY"),
    ("gemini", "GEMINI_BASE_URL", "GEMINI_API_KEY"),
    ("ollama", "OLLAMA_BASE_URL", "OLLAMA_API_KEY"),
    ("openai_compatible", "OPENAI_COMPATIBLE_BASE_URL", "OPENAI_COMPATIBLE_API_KEY"),
];

/// Starts a server that keeps the bodies of requests and answers none of them.
fn recording_server() -> (u16, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (received, bodies) = channel();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut length, mut line) = (0, String::new());
            while line != "\r\n" {
                line.clear();
                if reader.read_line(&mut line).unwrap_or(0) == 0 {
                    break;
                }
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
            }
            let mut body = vec![0; length];
            if reader.read_exact(&mut body).is_ok() {
                let _ = received.send(String::from_utf8(body).unwrap());
            }
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}");
        }
    });
    (port, bodies)
}

fn json(args: &[&str], env: &[(&str, &str)]) -> Value {
    let outcome = harn_with_input(&[&["preview", "--format", "json"], args].concat(), b"", env);
    assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{}", outcome.out);
    serde_json::from_str(&outcome.out).unwrap()
}

#[test]
fn the_body_of_a_preview_is_what_a_server_receives() {
    let dir = scratch("preview-bytes");
    let own = dir.join("own.harn");
    fs::write(&own, SCRIPT).unwrap();
    for script in ["examples/quickstart.harn", own.to_str().unwrap()] {
        for (provider, base, key) in WIRES {
            let (port, bodies) = recording_server();
            let url = format!("http://127.0.0.1:{port}");
            let env = [("HARN_LLM_PROVIDER", provider), (base, url.as_str()), (key, "a-key")];
            harn_with_input(&["run", "--seed", "1", script], b"", &env);
            let received = bodies.try_recv().unwrap_or_else(|_| panic!("{provider}: no request of {script}"));
            // Without a key and without a server.
            let shown = json(&["--seed", "1", "--provider", provider, script], &[("HARN_LLM_PROVIDER", provider)]);
            let request = &shown["requests"][0];
            assert_eq!(request["body"].to_string(), received, "{provider}: {script}");
            assert_eq!(request["bytes"].as_u64(), Some(received.len() as u64));
            assert!(request["reminder_bytes"].as_u64().unwrap() > 0, "{provider}: {script}");
        }
    }
}

/// An agent with all kinds of slots, quotes and line breaks in its texts.
const SCRIPT: &str = r#"
register_session_hook("session_start", { event ->
  return {reminder: {body: "Say \"so\"\nand stop.", tags: ["style"], ttl_turns: 2, role_hint: "developer"}}
})
register_session_hook("session_start", { event ->
  return {reminder: {body: "Only src/.", dedupe_key: "scope", role_hint: "user_block"}}
})
tool look(path: string) -> string {
  description "Looks."
  write_file("written.txt", path)
  "text"
}
agent_loop("What is there?", "You look.", {tools: [look], thinking: "low", stream: true})
"#;

#[test]
fn the_quick_start_for_three_providers_is_as_expected() {
    let path = root().join("tests/preview/quickstart.txt");
    let line = ["preview", "--seed", "1", "--provider", "anthropic,openai,gemini", "examples/quickstart.harn"];
    let shown = harn(&line);
    assert_eq!((shown.code, shown.err.as_str()), (Some(0), ""));
    if std::env::var_os("UPDATE").is_some_and(|set| set == "1") {
        return fs::write(&path, shown.out).unwrap();
    }
    let wanted = fs::read_to_string(&path).unwrap();
    assert!(diff(&wanted, &shown.out).is_none(), "{}", diff(&wanted, &shown.out).unwrap_or_default());
}

#[test]
fn wide_terminals_show_providers_side_by_side() {
    let line = ["preview", "--seed", "1", "--provider", "anthropic,gemini", "examples/quickstart.harn", "--width"];
    let wide = harn(&[&line[..], &["160"]].concat()).out;
    let first = wide.lines().next().unwrap();
    assert!(first.contains("anthropic · ") && first.contains(" │ gemini · "), "{wide}");
    assert!(wide.lines().all(|line| line.chars().count() <= 160), "{wide}");
    let narrow = harn(&[&line[..], &["60"]].concat()).out;
    assert!(!narrow.contains('│') && narrow.lines().all(|line| line.chars().count() <= 60), "{narrow}");
}

#[test]
fn later_requests_are_compared_with_those_before_them() {
    let shown = json(&["--seed", "1", "--turns", "9", "--provider", "anthropic", "examples/quickstart.harn"], &[]);
    let requests = shown["requests"].as_array().unwrap();
    assert_eq!(requests.len(), 4, "the quick start makes as many requests as its script has replies");
    assert!(requests[0]["shared_prefix_bytes"].is_null());
    for request in &requests[1..] {
        let shared = request["shared_prefix_bytes"].as_u64().unwrap();
        assert!(shared > 0 && shared < request["prompt_bytes"].as_u64().unwrap(), "{request:#}");
    }
    // Tools do not run, and the model is told so.
    assert!(requests[1]["body"].to_string().contains("`read_file` was not run"), "{:#}", requests[1]);
}

#[test]
fn a_preview_reaches_nothing_outside() {
    let dir = scratch("preview-outside");
    for denied in ["write_file(\"a\", \"b\")", "exec(\"touch\", \"a\")", "http_get(\"http://127.0.0.1:9/\")"] {
        let script = format!("{denied}\nagent_loop(\"go\", nil, {{}})\n");
        let shown = harn_in(&dir, &["preview", "-e", &script], b"", &[]);
        assert!(shown.code == Some(1) && shown.err.contains("HARN-RUN-014"), "{denied}: {}{}", shown.out, shown.err);
        assert!(shown.err.contains("no request to preview"), "{denied}: {}", shown.err);
    }
    let allowed = "write_file(\"a\", \"b\")\nagent_loop(\"go\", nil, {})\n";
    let shown = harn_in(&dir, &["preview", "--allow", "fs.write", "-e", allowed], b"", &[]);
    assert_eq!((shown.code, shown.err.as_str()), (Some(0), ""), "{}", shown.out);
    fs::remove_file(dir.join("a")).unwrap();
    let tools = "let registry = {}\nlet s = shell_tool({root: \".\", allow: [\"touch\"]})\n\
                 with_llm_script([llm_tool_call(\"shell\", {command: \"touch made\"}), llm_text(\"ok\")], { ->\n\
                 agent_loop(\"go\", nil, {provider: \"mock\", tools: [s]})\n})\n";
    let shown = harn_in(&dir, &["preview", "--turns", "2", "-e", tools], b"", &[]);
    assert_eq!((shown.code, shown.err.as_str()), (Some(0), ""), "{}", shown.out);
    assert!(shown.out.contains("was not run"), "{}", shown.out);
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
    // No key is needed, no server is asked.
    let shown = harn_in(
        &dir,
        &["preview", "--event-log", "sqlite:log.db", "-e", "agent_loop(\"go\", nil, {})"],
        b"",
        &[("HARN_LLM_PROVIDER", "openai")],
    );
    assert!(shown.code == Some(0) && shown.out.starts_with("openai · "), "{}{}", shown.out, shown.err);
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
}

#[test]
fn a_script_without_a_request_is_an_error() {
    for (script, why) in [
        ("println(1)", "no request to preview"),
        ("throw \"no\"", "uncaught error: no"),
        ("let x =", "HARN-PAR-"),
        ("agent_loop(\"go\", nil, {llm_caller: { a -> \"done\" }})", "loops with `llm_caller` send none"),
        ("agent_loop(\"go\", nil, {tool_choice: \"atuo\".trim()})", "did you mean \"auto\"?"),
    ] {
        let shown = harn(&["preview", "-e", script]);
        assert_eq!((shown.code, shown.out.as_str()), (Some(1), ""), "{script}: {}", shown.err);
        assert!(shown.err.contains(why), "{script}: {}", shown.err);
    }
    assert_eq!(harn(&["preview", "--provider", "opnai", "-e", "1"]).code, Some(2));
    assert_eq!(harn(&["preview"]).code, Some(2));
    // What was sent before a failure is shown, and the failure is one.
    let failing = "llm_call(\"hello\", nil, {provider: \"mock\"})\nthrow \"after\"\n";
    let shown = harn(&["preview", "--turns", "2", "-e", failing]);
    assert!(shown.code == Some(1) && shown.out.contains("hello") && shown.err.contains("after"), "{}", shown.err);
}

#[test]
fn hostile_texts_are_shown_as_text() {
    let shown = harn(&["preview", "-e", "agent_loop(\"a\\u{1b}[31mb\", nil, {})"]);
    assert!(shown.code == Some(0) && !shown.out.contains('\u{1b}') && shown.out.contains("[31mb"), "{}", shown.out);
}

#[test]
fn scripts_in_rhai_are_previewed() {
    let shown = harn(&["preview", "--rhai", "-e", "agent_loop(\"hello\", (), #{});"]);
    assert!(shown.code == Some(0) && shown.out.contains("hello"), "{}{}", shown.out, shown.err);
}

/// A loop whose provider needs a capability, and reacts to what a tool does.
const PROVIDERS: &str = r#"
register_reminder_provider({
  id: "date",
  subscribes_to: ["session_start"],
  evaluate: { ctx -> {body: exec("date").stdout, ttl_turns: 1} },
})
register_reminder_provider({
  id: "edits",
  subscribes_to: ["file_edited"],
  evaluate: { ctx -> {body: "Edited: ${ctx.payload.path}.", ttl_turns: 1} },
})
tool edit(path: string) -> string {
  description "Edits a file."
  notify_file_edited(path)
  "edited"
}
with_llm_script([llm_tool_call("edit", {path: "a.rs"}), llm_text("Done.")], { ->
  agent_loop("Edit a.rs.", nil, {provider: "mock", tools: [edit]})
})
"#;

#[test]
fn problems_of_providers_are_shown_beside_the_requests() {
    let shown = harn(&["preview", "-e", PROVIDERS]);
    assert_eq!(shown.code, Some(0), "{}{}", shown.out, shown.err);
    for part in ["error[HARN-RUN-014]", "`date`", "`--allow process` lets the script"] {
        assert!(shown.err.contains(part), "{part}: {}", shown.err);
    }
    let allowed = harn(&["preview", "--allow", "process", "-e", PROVIDERS]);
    assert_eq!((allowed.code, allowed.err.as_str()), (Some(0), ""), "{}", allowed.out);
    assert!(allowed.out.contains("reminders (1, "), "{}", allowed.out);
}

#[test]
fn tools_run_if_they_are_named() {
    let preview = |args: &[&str]| {
        let args = [&["preview", "--allow", "process", "--turns", "2", "-e", PROVIDERS], args].concat();
        let shown = harn(&args);
        assert_eq!(shown.code, Some(0), "{}{}", shown.out, shown.err);
        (shown.out, shown.err)
    };
    let (out, err) = preview(&[]);
    assert!(!out.contains("Edited: a.rs.") && out.contains("was not run") && err.is_empty(), "{out}{err}");
    let (out, err) = preview(&["--run-tools", "edit"]);
    assert!(out.contains("Edited: a.rs.") && !out.contains("was not run") && err.is_empty(), "{out}{err}");
    let (_, err) = preview(&["--run-tools", "edti"]);
    assert!(err.contains("no loop of this preview offers the tool `edti`"), "{err}");
}

#[test]
fn fewer_requests_than_asked_for_are_noted() {
    let shown = harn(&["preview", "--allow", "process", "--turns", "5", "-e", PROVIDERS]);
    assert_eq!(shown.code, Some(0), "{}{}", shown.out, shown.err);
    assert_eq!(shown.err, "note: the script ended after 2 requests; 5 were asked for\n");
}
