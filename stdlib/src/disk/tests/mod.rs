//! Operations on a disk that answers late, or never.

mod snapshots;

use crate::disk::stall::Stalled;
use crate::engine::{Engine, RunOptions};
use crate::limits::RunLimits;
use crate::output::Captured;
use lang::source::Source;
use lang::vm::RunCode;
use std::rc::Rc;
use std::time::Duration;

/// Operations that wait even where the system has the file in memory.
const CALLS: [&str; 11] = [
    "read_file(\"no such file\")",
    "write_file(\"FOLDER/file\", \"text\")",
    "append_file(\"FOLDER/file\", \"text\")",
    "list_dir(\".\")",
    "mkdir(\"FOLDER/made\")",
    "delete_file(\"FOLDER/file\")",
    "recall_facts(\"no such fact\")",
    "invalidate_facts(\"no such fact\")",
    r#"agent_loop("task", json_parse("null"), json_parse("{\"resume_path\": \"no such file\"}"))"#,
    r#"agent_loop("task", json_parse("null"), json_parse("{\"persist_path\": \"FOLDER/loop\"}"))"#,
    r#"store_fact(json_parse("{\"kind\": \"claim\", \"claim\": \"c\", \"confidence\": 1}"), json_parse("{\"root\": \"FOLDER\"}"))"#,
];

fn scratch(name: &str) -> String {
    let folder = std::env::temp_dir().join(format!("harn-disk-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder.to_string_lossy().into_owned()
}

#[test]
fn a_disk_that_does_not_answer_ends_no_later_than_the_time_of_the_run() {
    let folder = scratch("time");
    let stalled = Stalled::new();
    for call in CALLS {
        let call = call.replace("FOLDER", &folder);
        for (name, text) in [("a.harn", format!("{call}\n")), ("a.rhai", format!("{call};"))] {
            let limits = RunLimits { time: Some(Duration::from_millis(200)), ..RunLimits::default() };
            let engine = Engine::new(RunOptions { limits, ..RunOptions::default() });
            let ran = engine.run(&Source::new(name, text));
            drop(engine);
            assert!(ran.diagnostics.iter().any(|found| found.code == RunCode::Time), "{call}: {:?}", ran.diagnostics);
        }
    }
    // Each run has ended although the disk has not answered.
    drop(stalled);
}

#[test]
fn other_tasks_go_on_and_a_task_that_waits_can_be_cancelled() {
    let folder = scratch("tasks");
    let stalled = Stalled::new();
    for call in CALLS {
        let call = call.replace("FOLDER", &folder);
        let text = format!("let waits = spawn {{ {call} }}\nsleep(20)\nprintln(\"on\")\ncancel(waits)\n");
        let output = Rc::new(Captured::default());
        let limits = RunLimits { time: Some(Duration::from_secs(30)), ..RunLimits::default() };
        let engine = Engine::new(RunOptions { limits, output: output.clone(), ..RunOptions::default() });
        let ran = engine.run(&Source::new("a.harn", text));
        assert_eq!((ran.exit_code, output.stdout()), (0, "on\n".to_owned()), "{call}: {:?}", ran.diagnostics);
    }
    drop(stalled);
}

/// Runs a loop whose model asks for two files at once, and returns how many reads were under way together.
fn reads_at_once(name: &str, parallel: bool) -> usize {
    let folder = scratch(name);
    for file in ["one", "two"] {
        std::fs::write(format!("{folder}/{file}"), file).unwrap();
    }
    let text = format!(
        "let tools = file_tools({{root: \"{folder}\"}})\nvar turn = 0\n\
         let result = agent_loop(\"read\", nil, {{tools: tools, parallel_tool_calls: {parallel}, llm_caller: {{ asked ->\n  \
         turn = turn + 1\n  if turn == 2 {{ return json_stringify(asked.messages) }}\n  return {{tool_calls: [\
         {{id: \"a\", name: \"read_file\", arguments: {{path: \"one\"}}}}, \
         {{id: \"b\", name: \"read_file\", arguments: {{path: \"two\"}}}}]}}\n}}}})\nprintln(result.text)\n"
    );
    let stalled = Stalled::new();
    let most_open = stalled.most_open();
    let disk = std::thread::spawn(move || {
        stalled.until_waiting(if parallel { 2 } else { 1 });
        drop(stalled);
    });
    let output = Rc::new(Captured::default());
    let engine = Engine::new(RunOptions { output: output.clone(), ..RunOptions::default() });
    let ran = engine.run(&Source::new("a.harn", text));
    assert_eq!(ran.exit_code, 0, "{:?}", ran.diagnostics);
    let out = output.stdout();
    assert!(out.contains("one") && out.contains("two"), "{out}");
    std::fs::remove_dir_all(folder).unwrap();
    disk.join().unwrap();
    most_open()
}

#[test]
fn two_slow_reads_of_one_answer_run_side_by_side_unless_they_may_not() {
    assert_eq!(reads_at_once("parallel", true), 2);
    assert_eq!(reads_at_once("serial", false), 1);
}

#[test]
fn operations_take_effect_in_the_order_in_which_they_are_asked_for() {
    let folder = scratch("order");
    let text = format!(
        "let tasks = range(0, 50).to_list().map({{ i -> spawn {{\n  append_file(\"{folder}/log\", \"${{i}} \")\n  \
         read_file(\"{folder}/log\").split(\" \").count - 1 }} }})\nprintln(tasks.map({{ t -> await(t) }}).sum(), \
         read_file(\"{folder}/log\"))\n"
    );
    let output = Rc::new(Captured::default());
    let engine = Engine::new(RunOptions { output: output.clone(), ..RunOptions::default() });
    let ran = engine.run(&Source::new("a.harn", text));
    assert_eq!(ran.exit_code, 0, "{:?}", ran.diagnostics);
    let all: String = (0..50).map(|i| format!("{i} ")).collect();
    assert!(output.stdout().ends_with(&format!(" {all}\n")), "{}", output.stdout());
}

#[test]
fn facts_are_stored_recalled_and_forgotten_in_the_order_of_the_calls() {
    let folder = scratch("facts");
    let text = format!(
        "let options = {{root: \"{folder}\"}}\nlet all = range(0, 20).to_list().map({{ i -> spawn {{ store_fact({{kind: \
         \"claim\", claim: \"word ${{i}}\", confidence: 1.0}}, options).id }} }})\nlet first = spawn {{ recall_facts(\"word\", \
         nil, 0.0, options).count }}\nlet ids = all.map({{ t -> await(t) }})\nlet forgotten = spawn {{ \
         invalidate_facts(ids[3], options).forgotten }}\nprintln(await(first), await(forgotten), recall_facts(\"word\", nil, \
         0.0, options).count, recall_facts(\"word\", nil, 0.0, options).count)\n"
    );
    let output = Rc::new(Captured::default());
    let engine = Engine::new(RunOptions { output: output.clone(), ..RunOptions::default() });
    let ran = engine.run(&Source::new("a.harn", text));
    assert_eq!((ran.exit_code, output.stdout()), (0, "20 1 19 19\n".to_owned()), "{:?}", ran.diagnostics);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn texts_of_many_parts_are_written_and_read_whole() {
    let folder = scratch("parts");
    let text = format!(
        "let text = \"0123456789abcdef\".repeat(1000000)\nwrite_file(\"{folder}/a\", text)\nappend_file(\"{folder}/a\", \
         text)\nlet read = read_file(\"{folder}/a\")\nprintln(read == text + text, read.count)\n"
    );
    let output = Rc::new(Captured::default());
    let engine = Engine::new(RunOptions { output: output.clone(), ..RunOptions::default() });
    let ran = engine.run(&Source::new("a.harn", text));
    assert_eq!((ran.exit_code, output.stdout()), (0, "true 32000000\n".to_owned()), "{:?}", ran.diagnostics);
    std::fs::remove_dir_all(folder).unwrap();
}
