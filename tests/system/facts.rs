//! Facts from outside: processes that share a store, files that another program changed, the
//! location of the store.

use crate::harn::{harn, harn_with_input, scratch};
use std::fs;
use std::path::Path;
use std::thread;

/// Writes a script; its path.
fn script(dir: &Path, name: &str, text: &str) -> String {
    let path = dir.join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

const COUNT: &str = "println(recall_facts(\"\").count)\n";

#[test]
fn processes_that_store_at_once_lose_nothing() {
    let dir = scratch("facts-processes");
    let root = dir.join("memory").to_str().unwrap().to_owned();
    let store = script(
        &dir,
        "store.harn",
        "for i in range(0, 40) {\n  store_fact({kind: \"claim\", claim: \"${i} of ${args()[0]} \" + \"word \".repeat(300), confidence: 0.5})\n}\n",
    );
    let run = |path: &str, nth: &str| harn_with_input(&["run", path, "--", nth], b"", &[("HARN_MEMORY_ROOT", &root)]);
    thread::scope(|scope| {
        let run = |nth: &'static str| run(&store, nth);
        let runs: Vec<_> = ["0", "1", "2"].map(|nth| scope.spawn(move || run(nth))).into();
        for outcome in runs.into_iter().map(|run| run.join().unwrap()) {
            assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""));
        }
    });
    let outcome = run(&script(&dir, "count.harn", COUNT), "");
    assert_eq!((outcome.out.as_str(), outcome.err.as_str()), ("120\n", ""));
    let file = dir.join("memory/project/facts/events.jsonl");
    assert_eq!(fs::read_to_string(file).unwrap().lines().count(), 120);
}

#[test]
fn a_line_that_is_no_record_is_reported_once_and_passed_over() {
    let dir = scratch("facts-rubbish");
    let root = dir.to_str().unwrap();
    let run = |name: &str, text: &str| {
        harn_with_input(&["run", &script(&dir, name, text)], b"", &[("HARN_MEMORY_ROOT", root)])
    };
    let stored = run("store.harn", "store_fact({kind: \"claim\", claim: \"one\", confidence: 1.0})\n");
    assert_eq!((stored.code, stored.err.as_str()), (Some(0), ""));
    let file = dir.join("project/facts/events.jsonl");
    let good = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{good}<<<<<<< ours\n{}", good.replace("one", "two"))).unwrap();

    let outcome = run("recall.harn", &COUNT.repeat(2));
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(0), "2\n2\n"));
    assert_eq!(outcome.drawn("warning"), 1, "{}", outcome.err);
    assert!(outcome.err.contains("HARN-FACT-007") && outcome.err.contains("line 2 of"), "{}", outcome.err);
    assert!(outcome.err.contains(file.to_str().unwrap()), "{}", outcome.err);

    // A loop says so too, in its result as well, and goes on with the other facts.
    let outcome = run(
        "loop.harn",
        "let result = agent_loop(\"one?\", nil, {provider: \"mock\"})\nprintln(result.status)\n\
         println(result.diagnostics.map({ d -> d.code }))\nprintln(llm_mock_calls()[0].system.contains(\"] one\"))\n",
    );
    assert_eq!(outcome.out, "done\n[HARN-FACT-007]\ntrue\n", "{}", outcome.err);
    assert_eq!(outcome.drawn("warning"), 1, "{}", outcome.err);
}

#[test]
fn a_torn_last_line_is_cut_off_with_a_word_about_it() {
    let dir = scratch("facts-torn");
    let root = dir.to_str().unwrap();
    let store = script(&dir, "store.harn", "store_fact({kind: \"claim\", claim: \"one\", confidence: 1.0})\n");
    let count = script(&dir, "count.harn", COUNT);
    let run = |path: &str| harn_with_input(&["run", path], b"", &[("HARN_MEMORY_ROOT", root)]);
    run(&store);
    let file = dir.join("project/facts/events.jsonl");
    let good = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{good}{}", &good[..good.len() / 2])).unwrap();
    let read = run(&count);
    assert_eq!((read.out.as_str(), read.err.as_str()), ("1\n", ""), "who only reads passes over it");
    let stored = run(&store);
    assert_eq!(stored.code, Some(0));
    assert!(stored.err.contains("HARN-FACT-007") && stored.err.contains("was removed"), "{}", stored.err);
    assert_eq!(run(&count).out, "1\n", "the facts are equal");
    assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), 2);
}

#[test]
fn without_the_right_to_read_no_file_is_read_for_a_reminder() {
    let dir = scratch("facts-denied");
    let root = dir.to_str().unwrap();
    let run = |args: &[&str]| harn_with_input(args, b"", &[("HARN_MEMORY_ROOT", root)]);
    let store = script(&dir, "store.harn", "store_fact({kind: \"claim\", claim: \"secret\", confidence: 1.0})\n");
    assert_eq!(run(&["run", &store]).code, Some(0));
    let ask = script(
        &dir,
        "ask.harn",
        "agent_loop(\"secret?\", nil, {provider: \"mock\"})\nprintln(json_stringify(llm_mock_calls()[0].system ?? \"\").contains(\"] secret\"))\n",
    );
    assert_eq!(run(&["run", &ask]).out, "true\n");
    assert_eq!(run(&["run", "--deny", "fs.read", &ask]).out, "false\n");
    let refused = run(&["run", "--deny", "fs.write", &store]);
    assert!(refused.err.contains("HARN-RUN-014"), "{}", refused.err);
}

#[test]
fn runs_of_the_tests_share_no_facts() {
    let dir = scratch("facts-apart");
    let store = script(&dir, "store.harn", "store_fact({kind: \"claim\", claim: \"one\", confidence: 1.0})\n");
    let count = script(&dir, "count.harn", COUNT);
    assert_eq!(harn(&["run", &store]).code, Some(0));
    assert_eq!(harn(&["run", &count]).out, "0\n");
}
