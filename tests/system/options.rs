//! Options as literals: what `check` accepts does not fail in a run because of its type.

use lang::ast::TypeKind;
use lang::diagnostic::Severity;
use lang::source::Source;
use std::rc::Rc;
use stdlib::limits::RunLimits;
use stdlib::{Captured, Engine, RunOptions};

/// Calls with a dict of options, and the named types of these. `OPTIONS` is the dict, without its braces.
const CALLS: &[(&str, &str)] = &[
    ("LlmOptions", "llm_call(\"Hello\", nil, {provider: \"mock\", OPTIONS})"),
    ("AgentLoopOptions", "agent_loop(\"Hello\", nil, {provider: \"mock\", OPTIONS})"),
    ("SubAgentOptions", "sub_agent_run(\"Hello\", {provider: \"mock\", OPTIONS})"),
    ("WorkerSpec", "wait_agent(spawn_agent({task: \"Hello\", provider: \"mock\", OPTIONS}))"),
    ("CompactOptions", "transcript_compact(transcript(), {OPTIONS})"),
    ("MockReply", "llm_mock({OPTIONS})"),
    ("ShellToolOptions", "shell_tool({root: \".\", allow: [\"true\"], OPTIONS})"),
    ("RecallOptions", "recall_facts(\"a\", nil, nil, {OPTIONS})"),
];

/// Values that are right for some options and wrong for others.
const VALUES: &[&str] =
    &["-1", "3", "1.5", "-0.5", "\"word\"", "true", "[3]", "[\"word\"]", "[]", "{zz: 1}", "{}", "{ -> 1 }"];

/// Returns the keys of a named type, and the words that each can be.
fn keys(name: &str) -> Vec<String> {
    let (_, text) = stdlib::registry().shape(name).unwrap_or_else(|| panic!("no type {name}"));
    let shape = lang::check::signature(&format!("shape() -> {text}")).and_then(|decl| decl.returns).unwrap();
    let TypeKind::Shape { fields, .. } = shape.kind else { panic!("{name} is not a shape") };
    fields.into_iter().map(|(name, _, _)| name.text.to_string()).collect()
}

/// Checks a script, and runs it if nothing was found. Returns the codes of the errors, and whether it ran.
fn codes(text: &str) -> (Vec<String>, bool) {
    let time = Some(std::time::Duration::from_secs(2));
    let limits = RunLimits { fuel: Some(20_000_000), time, ..RunLimits::default() };
    let output = Rc::new(Captured::default());
    let engine = Engine::new(RunOptions { limits, output, ..RunOptions::default() });
    let source = Source::new("options.harn", text);
    let errors = |found: &[lang::diagnostic::Diagnostic]| -> Vec<String> {
        let errors = found.iter().filter(|d| d.severity == Severity::Error);
        errors.map(|d| format!("{}: {}", d.code, d.message)).collect()
    };
    let found = errors(&engine.check(&source));
    if found.is_empty() { (errors(&engine.run(&source).diagnostics), true) } else { (found, false) }
}

#[test]
fn a_literal_option_that_check_accepts_has_the_right_type() {
    let mut failed = Vec::new();
    let (mut accepted, mut refused) = (0, 0);
    for (name, call) in CALLS {
        for key in keys(name) {
            for value in VALUES {
                // A daemon sleeps until it is woken, and files are not written here.
                let is_path = ["persist_path", "resume_path"].contains(&key.as_str()) && value.contains('"');
                if is_path || key == "daemon" && *value == "true" {
                    continue;
                }
                let text = format!("{}\n", call.replace("OPTIONS", &format!("{key}: {value}")));
                let (codes, ran) = codes(&text);
                if !ran {
                    refused += 1;
                    continue;
                }
                accepted += 1;
                failed.extend(
                    codes.iter().filter(|code| code.starts_with("HARN-TYP")).map(|code| format!("{text}  {code}")),
                );
            }
        }
    }
    println!("{accepted} accepted, {refused} refused");
    assert!(refused > accepted / 2, "{refused} refused, {accepted} accepted");
    assert!(failed.is_empty(), "{} options fail in the run:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn a_key_that_is_no_option_is_refused() {
    for (name, call) in CALLS {
        for key in keys(name) {
            let misspelt = format!("{key}x");
            let (codes, ran) = codes(&call.replace("OPTIONS", &format!("{misspelt}: nil")));
            assert!(!ran && codes.iter().any(|code| code.contains(&misspelt)), "{name}: {misspelt}: {codes:?}");
        }
    }
}
