//! Signals: the first one lets a run end in good order, the second one ends it at once. What is looked at is the order of
//! what was printed, the exit code and the log; never the time.

use crate::harn::{root, scratch};
use crate::wait::find;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

/// A script that runs.
struct Running {
    child: Child,
    out: BufReader<ChildStdout>,
    printed: String,
}

/// The result of an ended process.
struct InterruptedExit {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Running {
    /// Starts a script and waits until it has printed `go`.
    fn start(name: &str, options: &[&str], script: &str) -> Running {
        Self::start_file(name, "script.harn", options, script)
    }

    fn start_file(name: &str, file: &str, options: &[&str], script: &str) -> Running {
        let file = scratch(&format!("interrupt-{name}")).join(file);
        std::fs::write(&file, script).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
        command.arg("run").args(options).arg(&file).current_dir(root());
        command.env_clear().env("HARN_LLM_PROVIDER", "mock").env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let mut running = Running { child, out, printed: String::new() };
        running.until("go");
        running
    }

    /// Waits for a line.
    fn until(&mut self, line: &str) {
        loop {
            let mut read = String::new();
            let bytes = self.out.read_line(&mut read).unwrap();
            assert!(bytes > 0, "it ended before it printed `{line}`: {}", self.printed);
            self.printed.push_str(&read);
            if read.trim_end() == line {
                return;
            }
        }
    }

    fn send(&self, signal: &str) {
        let sent = Command::new("sh").args(["-c", &format!("kill -{signal} {}", self.child.id())]).status().unwrap();
        assert!(sent.success());
    }

    fn end(mut self) -> InterruptedExit {
        let mut out = std::mem::take(&mut self.printed);
        self.out.read_to_string(&mut out).unwrap();
        let mut err = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        InterruptedExit { code: self.child.wait().unwrap().code(), out, err }
    }
}

/// Returns the result of a script that is interrupted once.
fn interrupted(name: &str, signal: &str, script: &str) -> InterruptedExit {
    let running = Running::start(name, &[], script);
    running.send(signal);
    running.end()
}

#[test]
fn whatever_a_script_is_at_it_cleans_up_and_no_catch_sees_it() {
    let works = [
        ("compute", "while true {}"),
        ("sleep", "sleep(1000000)"),
        ("stdin", "read_line()"),
        ("exec", "exec(\"sleep\", \"1000\")"),
        ("tasks", "parallel each [1, 2] { n -> sleep(1000000) }"),
        ("channel", "let c = channel()\n  spawn { sleep(1000000) }\n  receive(c)"),
    ];
    for (name, work) in works {
        let script = format!(
            "defer {{ println(\"deferred\") }}\ntry {{\n  println(\"go\")\n  {work}\n}} catch e {{ println(\"caught\") }} \
             finally {{\n  sleep(1)\n  println(\"finally\")\n}}\nprintln(\"not reached\")\n"
        );
        for (signal, code) in [("INT", 130), ("TERM", 143)] {
            let ended = interrupted(name, signal, &script);
            assert_eq!(ended.out, "go\nfinally\ndeferred\n", "{name} {signal}: {}", ended.err);
            assert_eq!((ended.code, ended.err.as_str()), (Some(code), "interrupted\n"), "{name} {signal}");
        }
    }
}

#[test]
fn what_a_finally_throws_is_told_beside_the_exit_code_of_the_signal() {
    let works = [
        ("throws", "try { println(\"go\")\n  sleep(1000000) } finally { throw \"no space left\" }"),
        (
            "group-throws",
            "parallel each [1, 2] { n -> try { if n == 2 { println(\"go\") }\n  sleep(1000000) } finally { if n == 1 { throw \"no space left\" } } }",
        ),
    ];
    for (name, script) in works {
        let ended = interrupted(name, "INT", script);
        assert_eq!((ended.code, ended.out.as_str()), (Some(130), "go\n"), "{name}: {}", ended.err);
        assert!(ended.err.contains("interrupted") && ended.err.contains("no space left"), "{name}: {}", ended.err);
    }
}

#[test]
fn a_script_in_rhai_is_ended_whatever_it_is_at_and_catches_nothing_of_that() {
    let hook = "register_session_hook(\"session_start\", |e| { print(\"go\"); while true {} }); agent_loop(\"x\", (), \
                #{llm_caller: |a| \"y\", reminders: false});";
    let works = [
        ("compute", "print(\"go\"); while true {}"),
        ("sleep", "print(\"go\"); sleep(1000000);"),
        ("tasks", "print(\"go\"); parallel_each([1, 2], |n| sleep(1000000));"),
        ("closure", "[1].group_by(|n| { print(\"go\"); while true {} });"),
        ("hook", hook),
    ];
    for (name, work) in works {
        let script = format!("try {{ {work} }} catch {{ print(\"caught\"); }}\nprint(\"not reached\");\n");
        let running = Running::start_file(&format!("rhai-{name}"), "script.rhai", &[], &script);
        running.send("INT");
        let ended = running.end();
        assert_eq!(ended.out, "go\n", "{name}: {}", ended.err);
        assert_eq!(ended.code, Some(130), "{name}: {}", ended.err);
        assert!(ended.err.contains("interrupted"), "{name}: {}", ended.err);
    }
}

#[test]
fn a_loop_that_never_waits_is_ended() {
    let of_loop = "max_iterations: 100000000, max_nudges: 100000000, loop_until_done: true, reminders: false";
    let works = [
        ("loop.harn", format!("println(\"go\")\nagent_loop(\"x\", nil, {{{of_loop}, llm_caller: {{ asked -> \"more\" }}}})\n")),
        ("hook.harn", "register_session_hook(\"file_edited\", { event -> nil })\nprintln(\"go\")\nwhile true { notify_file_edited(\"a\") }\n".to_owned()),
        ("loop.rhai", format!("print(\"go\");\nagent_loop(\"x\", (), #{{{of_loop}, llm_caller: |asked| \"more\"}});\n")),
        ("hook.rhai", "register_session_hook(\"file_edited\", |event| ());\nprint(\"go\");\nwhile true { notify_file_edited(\"a\"); }\n".to_owned()),
    ];
    for (file, script) in works {
        let running = Running::start_file(&format!("restless-{file}"), file, &[], &script);
        running.send("INT");
        let ended = running.end();
        assert_eq!(ended.code, Some(130), "{file}: {}", ended.err);
        assert!(ended.err.contains("interrupted"), "{file}: {}", ended.err);
    }
}

const LOOP: &str = r#"
let tools = tool_define(tool_registry(), "slow", "Takes long.", {handler: { args ->
  println("go")
  try { sleep(1000000) } finally { println("tool cleaned up") }
}})
register_session_hook("session_end", { e -> println("end: ${e.final_status}") })
register_session_hook("session_start", { e -> {reminder: {body: "Mind the gap.", ttl_turns: 5}} })
llm_mock({text: "I begin \u{1b}[31mhere.\nAnd wait.", tool_calls: [{id: "c1", name: "slow", arguments: {}}]})
agent_loop("work", nil, {provider: "mock", session_id: "s1", tools: tools, reminders: {providers: []}})
println("not reached")
"#;

#[test]
fn a_running_loop_passes_its_end_and_its_result_so_far_is_told() {
    let ended = interrupted("loop", "INT", LOOP);
    assert_eq!(ended.out, "go\ntool cleaned up\nend: cancelled\n");
    assert_eq!(ended.code, Some(130));
    let wanted = "interrupted\n`agent` in session s1, turn 1: cancelled, while the tool `slow` was running\nits text so far:\n  \
                  I begin ␛[31mhere.\n  And wait.\n";
    assert_eq!(ended.err, wanted);
}

#[test]
fn text_that_was_seen_coming_in_is_not_told_again() {
    let running = Running::start("seen", &["--live", "always"], LOOP);
    running.send("INT");
    let ended = running.end();
    assert_eq!(ended.err.matches("And wait.").count(), 1, "{}", ended.err);
    assert!(ended.err.contains("interrupted\n`agent` in session s1, turn 1: cancelled"), "{}", ended.err);
}

#[test]
fn workers_and_parallel_loops_are_each_told_of() {
    let script = r#"
let caller = { asked ->
  if asked.turn == 1 { return {text: "said", tool_calls: [{id: "c", name: "slow", arguments: {}}]} }
  return "done"
}
let running = atomic(0)
let tools = tool_define(tool_registry(), "slow", "Takes long.", {handler: { args ->
  if atomic_add(running, 1) >= 1 { println("go") }
  sleep(1000000)
}})
let worker = spawn_agent({name: "digger", task: "dig", llm_caller: caller, tools: tools, reminders: false})
agent_loop("work", nil, {persona: "boss", llm_caller: caller, tools: tools, reminders: false})
"#;
    let ended = interrupted("workers", "INT", script);
    assert_eq!((ended.code, ended.out.as_str()), (Some(130), "go\n"), "{}", ended.err);
    for name in ["`digger`", "`boss`"] {
        let told = ended
            .err
            .lines()
            .filter(|line| line.starts_with(name) && line.ends_with("while the tool `slow` was running"));
        assert_eq!(told.count(), 1, "{}", ended.err);
    }
}

#[test]
fn under_format_json_standard_error_holds_json_alone() {
    let running = Running::start("json", &["--format", "json", "--live", "always"], LOOP);
    running.send("INT");
    let ended = running.end();
    let lines: Vec<serde_json::Value> = ended.err.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 1, "{}", ended.err);
    assert_eq!(lines[0]["interrupted"][0]["doing"], "while the tool `slow` was running");
    assert_eq!(lines[0]["interrupted"][0]["text"], "I begin \u{1b}[31mhere.\nAnd wait.");
}

/// Returns the number of records of a log that passes its integrity check.
fn records(log: &Path) -> i64 {
    let log = rusqlite::Connection::open(log).unwrap();
    let check: String = log.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
    log.query_row("SELECT count(*) FROM records", [], |row| row.get(0)).unwrap()
}

#[test]
fn the_log_is_whole_after_one_signal_and_sound_after_two() {
    for (name, signals) in [("one", 1), ("two", 2)] {
        let log = scratch(&format!("interrupt-log-{name}")).join("log.db");
        let option = format!("sqlite:{}", log.display());
        let script = LOOP.replace(r#"println("tool cleaned up")"#, "println(\"cleaning\")\n    while signals == 2 {}");
        let script = format!("let signals = {signals}\n{script}");
        let mut running = Running::start(&format!("log-{name}"), &["--event-log", &option], &script);
        running.send("INT");
        running.until("cleaning");
        if signals == 2 {
            running.send("INT");
        }
        let ended = running.end();
        assert_eq!(ended.code, Some(130), "{}", ended.err);
        assert_eq!(ended.out.contains("end: cancelled"), signals == 1, "{}", ended.out);
        assert!(records(&log) > 0);
    }
}

#[test]
fn what_a_script_has_started_ends_with_it() {
    child_ends("child", "sleep 1000");
}

#[cfg(target_os = "linux")]
#[test]
fn what_has_left_its_group_and_session_ends_with_it() {
    child_ends("child-setsid", "setsid sleep 1000");
    // The one in between is over: what it has started is an orphan.
    child_ends("child-orphan", "sh -c 'setsid sleep 1000 & echo $! > {0}.new; mv {0}.new {0}'");
}

/// Interrupts a script that waits for a shell with a child, and waits until the child is gone.
fn child_ends(name: &str, command: &str) {
    let file = scratch(&format!("interrupt-{name}-pid")).join("pid");
    let command = command.replace("{0}", &file.display().to_string());
    let tell = if command.contains("$!") { "" } else { "echo $! > {0}.new; mv {0}.new {0}; " };
    let tell = tell.replace("{0}", &file.display().to_string());
    let script = format!(
        "spawn {{\n  while !file_exists(\"{0}\") {{ sleep(5) }}\n  println(\"go\")\n}}\nexec(\"sh\", \"-c\", \"{command} & {tell}wait; \
         sleep 1000\")\n",
        file.display()
    );
    let ended = interrupted(name, "TERM", &script);
    assert_eq!(ended.code, Some(143), "{}", ended.err);
    let pid = std::fs::read_to_string(&file).unwrap();
    // It may exist for a moment: the signal is on its way, or the parent has not waited for it.
    let state = || std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    let is_over = |state: &str| state.is_empty() || state.contains(") Z");
    find("the end of the child", || Some(state()).filter(|state| is_over(state)).ok_or_else(state));
}
