//! Evaluations: the example in both languages, honest exit codes, and what a variant changes.

use crate::diff::diff;
use crate::harn::{Outcome, harn_in, harn_with_input, root, scratch};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

const EXAMPLE: &str = "examples/eval";

fn example(language: &str, more: &[&str]) -> Outcome {
    let (script, variants) = (format!("{EXAMPLE}/fix.{language}"), format!("{EXAMPLE}/variants.toml"));
    let args = ["eval", &script, "--variants", &variants, "--runs", "20", "--seed", "1", "--parallel"];
    harn_with_input(&[&args[..], more].concat(), b"", &[("HARN_LLM_PROVIDER", "")])
}

#[test]
fn the_example_compares_the_agent_with_and_without_review() {
    let file = root().join(EXAMPLE).join("fix.out");
    let outcome = example("harn", &[]);
    assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""));
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&file, &outcome.out).unwrap();
    }
    let expected = fs::read_to_string(&file).unwrap();
    assert!(outcome.out == expected, "{}", diff(&expected, &outcome.out).unwrap_or_default());
    let rhai = example("rhai", &[]);
    assert!(rhai.out == expected, "{}\n{}", diff(&expected, &rhai.out).unwrap_or_default(), rhai.err);
    // The page of the reference shows it, too.
    let page = fs::read_to_string(root().join("docs/reference/eval.md")).unwrap();
    assert!(page.contains(&expected), "docs/reference/eval.md does not show\n{expected}");
    // With review more runs succeed, beyond the intervals.
    let json: Value = serde_json::from_str(&example("harn", &["--format", "json"]).out).unwrap();
    let success = |n: usize, bound: &str| json["variants"][n]["success"][bound].as_f64().unwrap();
    assert!(success(0, "low") > success(1, "high"), "{json}");
    assert_eq!(json["runs"].as_array().unwrap().len(), 120);
}

/// A folder with a script and a file of variants.
struct EvalCase(PathBuf);

impl EvalCase {
    fn new(name: &str, script: &str, variants: &str) -> EvalCase {
        let folder = scratch(&format!("eval-{name}"));
        fs::write(folder.join("main.harn"), script).unwrap();
        fs::write(folder.join("v.toml"), variants).unwrap();
        EvalCase(folder)
    }

    fn eval(&self, more: &[&str]) -> Outcome {
        let args = ["eval", "main.harn", "--variants", "v.toml"];
        harn_in(&self.0, &[&args[..], more].concat(), b"", &[("HARN_LLM_PROVIDER", "")])
    }

    fn json(&self, more: &[&str]) -> Value {
        let outcome = self.eval(&[&["--format", "json"], more].concat());
        serde_json::from_str(&outcome.out).unwrap_or_else(|_| panic!("{}{}", outcome.out, outcome.err))
    }
}

const ONE: &str = "[[variants]]\nname = \"only\"\n";

#[test]
fn a_run_with_an_error_fails_the_command_and_a_task_that_is_not_achieved_does_not() {
    for (script, code, outcome) in [
        ("pipeline default(task) { return 0 }\n", 0, "success"),
        ("pipeline default(task) { return 1 }\n", 0, "failure"),
        ("pipeline default(task) { throw \"boom\" }\n", 1, "error"),
        ("pipeline default(task) { agent_loop(\"x\", nil, {llm_caller: { a -> throw \"no\" }}) }\n", 1, "error"),
        ("pipeline default(task) { while true {} }\n", 1, "error"),
    ] {
        let case = EvalCase::new("codes", script, ONE);
        let ran = case.eval(&["--fuel", "100000"]);
        assert_eq!(ran.code, Some(code), "{script}: {}{}", ran.out, ran.err);
        let json = case.json(&["--fuel", "100000"]);
        assert_eq!(json["runs"][0]["outcome"], outcome, "{script}");
        assert_eq!(json["variants"][0]["success"]["count"], u64::from(outcome == "success"), "{script}");
        assert_eq!(ran.out.contains("ended with an error"), outcome == "error", "{script}: {}", ran.out);
    }
    let case = EvalCase::new("unfit", "let x = nope\n", ONE);
    let ran = case.eval(&[]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
    let case = EvalCase::new("plan", "println(1)\n", "[[variants]]\nname = \"a\"\nremindres = {}\n");
    let ran = case.eval(&[]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
    assert!(ran.err.contains("HARN-TST-009") && ran.err.contains("remindres"), "{}", ran.err);
}

#[test]
fn a_variant_changes_bodies_slots_lifetimes_and_providers() {
    let script = "pipeline default(task) {\n  let session = agent_session_open()\n  agent_session_inject_reminder(session, {body: \
                  \"script\", dedupe_key: \"mine\", ttl_turns: 1})\n  register_reminder_provider({id: \"other\", subscribes_to: \
                  [\"session_start\"], evaluate: { c -> {body: \"provider\", tags: [\"t\"], ttl_turns: 1} }})\n  let tools = \
                  tool_define(tool_registry(), \"step\", \"Steps.\", {handler: { a -> \"ok\" }, parameters: {}})\n  \
                  llm_mock({tool_calls: [{name: \"step\", arguments: {}}]})\n  llm_mock({text: \"Done.\"})\n  agent_loop(task, \
                  \"S\", {provider: \"mock\", session_id: session, tools: tools})?\n  let seen = llm_mock_calls().map({ c -> \
                  \"${c.system} / ${c.messages.map({ m -> m.content }).to_list()}\" }).to_list()\n  throw seen.join(\" | \")\n}\n";
    let variants = "[[tasks]]\nname = \"t\"\ntask = \"Go.\"\n[[variants]]\nname = \"plain\"\n[[variants]]\nname = \"off\"\nreminders = \
                    {enabled = false}\n[[variants]]\nname = \"changed\"\n[[variants.overrides]]\nkey = \"mi*\"\nset = {body = \
                    \"CHANGED\", ttl_turns = 2}\n[[variants.overrides]]\ntag = \"t\"\nproducer = \"oth*\"\nset = {body = \
                    \"ALSO\"}\n[[variants]]\nname = \"tail\"\nreminders = {placement = \"tail\", providers = [\"-other\"]}\n";
    let case = EvalCase::new("changes", script, variants);
    let json = case.json(&[]);
    let said = |n: usize| json["runs"][n]["error"].as_str().unwrap().to_owned();
    let turns = |n: usize| said(n).split(" | ").map(str::to_owned).collect::<Vec<_>>();
    assert!(turns(0)[0].contains("script") && turns(0)[0].contains("provider") && !turns(0)[1].contains("script"));
    assert!(turns(1)[0].contains("script") && !turns(1)[0].contains("provider"), "{}", said(1));
    assert!(turns(2).iter().all(|turn| turn.contains("CHANGED") && !turn.contains("script")), "{}", said(2));
    assert!(turns(2)[0].contains("ALSO") && !turns(2)[0].contains("provider"), "{}", said(2));
    let (system, rest) = turns(3)[0].split_once(" / ").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    assert!(!system.contains("script") && rest.contains("script") && !rest.contains("provider"), "{}", said(3));
}

#[test]
fn each_run_works_in_a_copy_of_its_folder() {
    let script = "pipeline default(task) {\n  append_file(\"n.txt\", \"x\")\n  let here = exec(\"cat\", \"n.txt\").stdout\n  return \
                  here == \"0x\" && read_file(\"sub/a.txt\") == \"a\" && file_tools({root: \".\"}) != nil ? 0 : 1\n}\n";
    let case = EvalCase::new("folder", script, &format!("[[tasks]]\nname = \"t\"\nfolder = \"work\"\n{ONE}"));
    fs::create_dir_all(case.0.join("work/sub")).unwrap();
    fs::write(case.0.join("work/n.txt"), "0").unwrap();
    fs::write(case.0.join("work/sub/a.txt"), "a").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", case.0.join("work/link")).unwrap();
    let json = case.json(&["--runs", "3"]);
    assert_eq!(json["variants"][0]["success"]["count"], 3, "{json}");
    assert_eq!(fs::read_to_string(case.0.join("work/n.txt")).unwrap(), "0");
}

#[test]
fn a_recorded_evaluation_is_replayed() {
    let script = "pipeline default(task) {\n  llm_mock({text: uuid(), input_tokens: 7, output_tokens: 2})\n  let r = agent_loop(task, \
                  nil, {provider: \"mock\"})?\n  throw r.text\n}\n";
    let case = EvalCase::new("recorded", script, &format!("[[tasks]]\nname = \"t\"\ntask = \"Go.\"\n{ONE}"));
    let first = case.json(&["--record", "rec", "--runs", "2"]);
    let again = case.json(&["--replay", "rec", "--runs", "2"]);
    assert_eq!(first["runs"], again["runs"]);
    assert_ne!(first["runs"][0]["error"], first["runs"][1]["error"]);
    assert_eq!(first["variants"][0]["tokens"]["mean"], 9.0);
    // All recordings were replayed.
    let more = case.eval(&["--replay", "rec", "--runs", "3"]);
    assert!(more.code == Some(1) && more.out.contains("run 3: HARN-REC-"), "{}", more.out);
}

#[test]
fn the_page_needs_nothing_else_and_shows_texts_as_texts() {
    let script = "pipeline default(task) { throw \"<script>alert(1)</script>\" }\n";
    let case = EvalCase::new("page", script, "[[variants]]\nname = \"a\"\ndescription = \"<b>bold</b>\"\n");
    let page = case.eval(&["--format", "html"]).out;
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    assert!(page.contains("default-src 'none'") && page.contains("&lt;b&gt;bold&lt;/b&gt;"), "{page}");
    for never in ["<script", "<b>", "http://", "https://", "src="] {
        assert!(!page.contains(never), "{never}");
    }
}
