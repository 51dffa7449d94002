//! Runs that grow without bound: whatever grows, the run ends with its diagnostic, and no `catch`
//! stops it. The exact end depends on the allocator, so there are no expected files of it.

use crate::harn::{harn, scratch};
use std::fs;
use std::process::Command;

/// Scripts that want all the memory there is.
const GREEDY: &[(&str, &str)] = &[
    ("string", "var text = \"ab\"\nwhile true { text = text + text }"),
    ("interpolation", "var text = \"ab\"\nwhile true { text = \"${text}${text}\" }"),
    ("list", "var items = []\nwhile true { items = items.push(\"item ${items.count}\") }"),
    ("list-doubled", "var items = [1]\nwhile true { items += items }"),
    ("spread", "var items = [1]\nwhile true { items = [...items, ...items] }"),
    ("dict", "var seen = {}\nvar n = 0\nwhile true {\n  seen[\"key ${n}\"] = n\n  n += 1\n}"),
    ("set", "var seen = set()\nvar n = 0\nwhile true {\n  seen = seen.add(n)\n  n += 1\n}"),
    ("copies", "let base = (1 to 100000).to_list()\nvar copies = []\nwhile true { copies += [base + [0]] }"),
    ("slices", "let base = (1 to 100000).to_list()\nvar slices = []\nwhile true { slices = slices.push(base[1:]) }"),
    ("paths", "var d = {rows: []}\nwhile true { d.rows = d.rows + [\"x\".repeat(100000)] }"),
    ("flat-map", "var xs = [1, 2]\nwhile true { xs = xs.flat_map({ x -> [x, x, x] }) }"),
    (
        "closures",
        "var kept = []\nfor n in 1 to 100000000 {\n  let text = \"${n}\".repeat(1000)\n  kept = kept.push({ -> text })\n}",
    ),
    ("recursion", "fn down(n) { return 1 + down(n + 1) }\ndown(0)"),
    ("chars", "let text = \"x\".repeat(20000000)\nprintln(text.chars().count)"),
    ("json", "let text = \"[\" + \"0,\".repeat(12000000) + \"0]\"\nprintln(json_parse(text).count)"),
];

#[test]
fn whatever_grows_ends_with_the_limit_of_memory() {
    let dir = scratch("limits-memory");
    for (name, script) in GREEDY {
        let path = dir.join(format!("{name}.harn"));
        let caught = format!(
            "println(\"before\")\ntry {{\n{script}\n}} catch {{ println(\"caught\") }} finally {{ println(\"finally\") }}\n"
        );
        fs::write(&path, caught).unwrap();
        let args = ["run", "--max-memory", "32m", "--max-depth", "100000000", path.to_str().unwrap()];
        let outcome = harn(&args);
        assert_eq!((outcome.code, outcome.out.as_str()), (Some(3), "before\n"), "{name}: {}", outcome.err);
        assert_eq!(outcome.drawn("error"), 1, "{name}: {}", outcome.err);
        assert!(
            outcome.err.contains("HARN-LIM-001") && outcome.err.contains("--max-memory"),
            "{name}: {}",
            outcome.err
        );
    }
}

#[test]
fn the_limit_of_memory_is_that_of_what_is_held() {
    let path = scratch("limits-held").join("held.harn");
    // Two gigabytes pass through, in every way in which a value can go.
    let script = "var total = 0\nvar kept = []\nfor i in 1 to 2000 {\n  let text = \"x\".repeat(1000000)\n  kept = [text]\n  \
                  total += kept[0].count\n}\nprintln(total)\n";
    fs::write(&path, script).unwrap();
    let outcome = harn(&["run", "--max-memory", "16m", path.to_str().unwrap()]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(0), "2000000000\n"), "{}", outcome.err);
}

/// Each holds a value of nearly all the memory there is, and then asks for a copy of it.
const COPIES: &[(&str, &str)] = &[
    ("uppercase", "let text = \"x\".repeat(60000000)\nprintln(text.uppercase().count)"),
    ("reverse", "let text = \"x\".repeat(60000000)\nprintln(text.reverse().count)"),
    ("substring", "let text = \"x\".repeat(60000000)\nprintln(text.substring(1).count)"),
    ("replace", "let text = \"x\".repeat(60000000)\nprintln(text.replace(\"y\", \"z\").count)"),
    ("trim", "let text = \"x\".repeat(59999999) + \" \"\nprintln(text.trim().count)"),
    ("to-bytes", "let text = \"x\".repeat(60000000)\nprintln(text.to_bytes().count)"),
    (
        "list-reverse",
        "let items = (1 to 3500000).to_list()\nlet same = items\nprintln(same.reverse().count, items.count)",
    ),
    ("list-push", "let items = (1 to 3500000).to_list()\nlet more = items.push(1)\nprintln(more.count, items.count)"),
    ("sort", "let items = (1 to 3500000).to_list()\nlet sorted = items.sort()\nprintln(sorted.count, items.count)"),
];

/// Room is asked for before a copy is made, so that no run holds its limit twice for a moment.
#[cfg(target_os = "linux")]
#[test]
fn a_copy_that_does_not_fit_is_not_made() {
    // What the process itself takes.
    const OWN_KIB: u32 = 30 << 10;
    let dir = scratch("limits-copies");
    for (name, script) in COPIES {
        let path = dir.join(format!("{name}.harn"));
        fs::write(&path, script).unwrap();
        // Beyond this an allocation fails, and the process with it.
        let limited = format!(
            "ulimit -c 0; ulimit -d {}; exec '{}' run --max-memory 64m '{}'",
            (64 << 10) + OWN_KIB,
            env!("CARGO_BIN_EXE_harn"),
            path.display()
        );
        let output = Command::new("sh").args(["-c", &limited]).output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(3) && err.contains("HARN-LIM-001"), "{name}: {:?} {err}", output.status);
    }
}

#[test]
fn sizes_and_times_are_read_with_their_units() {
    let path = scratch("limits-units").join("empty.harn");
    fs::write(&path, "").unwrap();
    let path = path.to_str().unwrap();
    for (option, value) in
        [("--max-memory", "64 MiB"), ("--max-memory", "1g"), ("--timeout", "500ms"), ("--timeout", "1h")]
    {
        assert_eq!(harn(&["run", option, value, path]).code, Some(0), "{option} {value}");
    }
    for (option, value) in [("--max-memory", "64 apples"), ("--timeout", "10"), ("--max-depth", "0"), ("--fuel", "0")] {
        let outcome = harn(&["run", option, value, path]);
        assert_eq!(outcome.code, Some(2), "{option} {value}: {}", outcome.err);
    }
}

/// Programs that never wait for anything, although each of them calls what may wait: `GROW` is a text, long where memory is to run out.
const RESTLESS: &[(&str, &str)] = &[
    (
        "tools.harn",
        "let tools = tool_define(tool_registry(), \"look\", \"Looks.\", {handler: { args -> GROW }})\n\
         agent_loop(\"go\", nil, {max_iterations: 100000000, max_repeats: 0, tools: tools, reminders: false, llm_caller: { asked ->\n  \
         {tool_calls: [{id: \"c\", name: \"look\", arguments: {}}]}\n}})\n",
    ),
    (
        "until-done.harn",
        "agent_loop(\"go\", nil, {max_iterations: 100000000, max_nudges: 100000000, loop_until_done: true, reminders: false, \
         llm_caller: { asked -> GROW }})\n",
    ),
    (
        "hook.harn",
        "register_session_hook(\"file_edited\", { event -> nil })\nvar texts = []\nwhile true {\n  \
         notify_file_edited(\"a\")\n  texts = texts.push(GROW + \"${texts.count}\")\n}\n",
    ),
    ("mock.harn", "while true {\n  llm_mock({text: GROW})\n  llm_call(\"q\", nil, {provider: \"mock\"})\n}\n"),
    (
        "recursion.harn",
        "fn again() {\n  return agent_loop(GROW, nil, {reminders: false, llm_caller: { asked -> again() }})\n}\nagain()\n",
    ),
    (
        "sub-agents.harn",
        "fn again() {\n  return sub_agent_run(GROW, {reminders: false, llm_caller: { asked ->\n    again()\n    again()\n    \"\"\n  \
         }})\n}\nwhile true { again() }\n",
    ),
    (
        "tools.rhai",
        "let tools = tool_define(tool_registry(), \"look\", \"Looks.\", #{handler: |args| GROW});\n\
         agent_loop(\"go\", (), #{max_iterations: 100000000, max_repeats: 0, tools: tools, reminders: false, llm_caller: |asked| \
         #{tool_calls: [#{id: \"c\", name: \"look\", arguments: #{}}]}});\n",
    ),
    (
        "until-done.rhai",
        "agent_loop(\"go\", (), #{max_iterations: 100000000, max_nudges: 100000000, loop_until_done: true, reminders: false, \
         llm_caller: |asked| GROW});\n",
    ),
    (
        "hook.rhai",
        "register_session_hook(\"file_edited\", |event| ());\nlet texts = [];\nwhile true {\n  notify_file_edited(\"a\");\n  \
         texts.push(GROW + texts.len());\n}\n",
    ),
    ("mock.rhai", "while true {\n  llm_mock(#{text: GROW});\n  llm_call(\"q\", (), #{provider: \"mock\"});\n}\n"),
    (
        "recursion.rhai",
        "fn again() { agent_loop(GROW, (), #{reminders: false, llm_caller: |asked| again()}) }\nagain();\n",
    ),
];

/// Runs each of them under a limit.
fn restless(limit: &[&str], grow: [&str; 2], ends_with: &str) {
    let dir = scratch(&format!("limits-restless{}", limit[0]));
    for (name, script) in RESTLESS {
        // A call outside of a session keeps nothing of its answer, so its memory does not grow.
        if limit[0] == "--max-memory" && name.starts_with("mock.") {
            continue;
        }
        let path = dir.join(name);
        let grow = grow[usize::from(name.ends_with(".rhai"))];
        fs::write(&path, script.replace("GROW", grow)).unwrap();
        let outcome = harn(&[&["run"], limit, &[path.to_str().unwrap()]].concat());
        assert!(outcome.err.contains(ends_with), "{name} {limit:?}: {:?} {}", outcome.code, outcome.err);
        assert_eq!(outcome.code, Some(3), "{name} {limit:?}: {}", outcome.err);
    }
}

#[test]
fn loops_that_never_wait_end_in_time() {
    restless(&["--timeout", "1s"], ["\"x\"", "\"x\""], "HARN-LIM-002");
}

#[test]
fn loops_that_never_wait_use_fuel() {
    restless(&["--fuel", "200000"], ["\"x\"", "\"x\""], "fuel");
}

#[test]
fn loops_that_never_wait_keep_to_their_memory() {
    let long = "\"x\".repeat(1000000)";
    restless(&["--max-memory", "64m"], [long, long], "HARN-LIM-001");
}

/// Scripts that would take far more than the limit in one step.
const GULPS: &[(&str, &str)] = &[
    ("string", "var text = \"ab\"\nwhile true { text = text + text }"),
    ("append", "var text = \"x\".repeat(40000000)\nlet copy = text\ntext += \"y\"\nprintln(copy.count + text.count)"),
    ("interpolation", "var text = \"ab\"\nwhile true { text = \"${text}${text}\" }"),
    ("list-doubled", "var items = [1]\nwhile true { items += items }"),
    ("spread", "var items = [1]\nwhile true { items = [...items, ...items] }"),
    (
        "copy-on-write",
        "let items = (1 to 3000000).to_list()\nvar copy = items\ncopy[0] = 5\nprintln(items.count + copy.count)",
    ),
    ("repeated", "let text = \"x\".repeat(60000000)\nlet more = text * 2\nprintln(more.count)"),
];

#[cfg(target_os = "linux")]
#[test]
fn memory_is_asked_for_before_it_is_taken() {
    // What the process itself has, its stacks included; and what the limit allows, with a fifth more for what is not counted.
    let most = 24 * 1024 + 64 * 1024 * 12 / 10;
    let dir = scratch("limits-gulps");
    for (name, script) in GULPS {
        let path = dir.join(format!("{name}.harn"));
        fs::write(&path, format!("{script}\n")).unwrap();
        // The system refuses more than that, and the process would be aborted.
        let line = format!("ulimit -d {most}; exec \"$0\" run --max-memory 64m \"$1\"");
        let run = Command::new("sh").args(["-c", &line, env!("CARGO_BIN_EXE_harn")]).arg(&path).output().unwrap();
        let err = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(3), "{name}: {err}");
        assert!(err.contains("HARN-LIM-001"), "{name}: {err}");
    }
}
