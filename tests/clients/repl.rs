//! `harn repl` in a pseudo-terminal: PyPI `pexpect` types, PyPI `pyte` keeps the screen (`tests/repl/screen.py`).

use crate::harn::{environment, root, scratch};
use crate::packages::python;
use serde_json::json;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

const PROMPT: &str = "harn>";

/// A step of a session.
#[derive(Clone, Copy)]
enum Step<'a> {
    /// Types a line, and waits until the prompt is back.
    Line(&'a str),
    Type(&'a str),
    Key(&'a str),
    Paste(&'a str),
    /// Discards the input with Ctrl-C.
    Break,
    /// Waits until the screen shows a text.
    Wait(&'a str),
}

/// Runs a session in a folder and returns its screen.
fn screen(folder: &Path, steps: &[Step<'_>]) -> String {
    let mut lines = vec![json!(["wait", PROMPT])];
    for step in steps {
        match step {
            Step::Line(text) => lines.push(json!(["line", text])),
            Step::Type(text) => lines.push(json!(["type", text])),
            Step::Key(name) => lines.push(json!(["key", name])),
            Step::Paste(text) => lines.push(json!(["paste", text])),
            Step::Break => lines.push(json!(["break", ""])),
            Step::Wait(text) => lines.push(json!(["wait", text])),
        }
    }
    lines.push(json!(["key", "ctrl-d"]));
    let mut child = Command::new(python("repl", "tests/repl/requirements.txt"))
        .arg(root().join("tests/repl/screen.py"))
        .args([env!("CARGO_BIN_EXE_harn"), "repl"])
        .current_dir(folder)
        .env_clear()
        .envs(environment())
        .env("TERM", "xterm")
        .env("XDG_STATE_HOME", folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let screen = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}\n{screen}", String::from_utf8_lossy(&output.stderr));
    screen
}

#[test]
fn tab_completes_and_lists_candidates_with_their_signatures() {
    let folder = scratch("repl-complete");
    let screen = screen(
        &folder,
        &[
            Step::Line("let answer = {usage: 3, text: \"ok\"}"),
            Step::Type("answ"),
            Step::Key("tab"),
            Step::Wait("harn> answer"),
            Step::Line(".usage"),
            Step::Type("[1, 2].sort"),
            Step::Key("tab"),
            Step::Key("tab"),
            Step::Wait("sort_by("),
            Step::Line("().count"),
            Step::Type("shared_cell({key: \"k\", ini"),
            Step::Key("tab"),
            Step::Wait("initial:"),
            Step::Break,
            // The parameter of a function that is being typed.
            Step::Type("register_reminder_provider({\n  config: {longest: 3},\n  subscribes_to: [\"post_turn\"],\n"),
            Step::Type("  evaluate: { ctx ->\n    if ctx.session_"),
            Step::Key("tab"),
            Step::Wait("if ctx.session_id"),
            Step::Type(" == ctx.config.lon"),
            Step::Key("tab"),
            Step::Wait("ctx.config.longest"),
            Step::Break,
            Step::Type("register_session_hook(\"post_turn\", { event -> event.has_"),
            Step::Key("tab"),
            Step::Wait("event.has_tool_calls"),
            Step::Break,
            // A function and a namespace.
            Step::Type("transcript."),
            Step::Key("tab"),
            Step::Wait("inject_reminder("),
            Step::Break,
            Step::Type("agent_loop(\"go\", nil, {reminders: {max_s"),
            Step::Key("tab"),
            Step::Wait("max_share:"),
            Step::Break,
            Step::Type(":doc transcript.inject_reminder\n"),
            Step::Wait("Adds a pending reminder"),
            Step::Type(":rem"),
            Step::Key("tab"),
            Step::Wait(":reminders"),
            Step::Type("\n"),
            Step::Wait("no pending reminders"),
        ],
    );
    assert!(screen.contains("\n3\n") && screen.contains("\n2\n"), "{screen}");
}

#[test]
fn a_block_is_edited_as_a_whole_and_comes_back_from_the_history() {
    let folder = scratch("repl-history");
    let first = screen(
        &folder,
        &[Step::Type("fn twice(n) {\n"), Step::Type("  return n * 2\n"), Step::Line("}"), Step::Line("twice(4)")],
    );
    assert!(first.contains("\n8\n"), "{first}");
    // A second session reads the file of the first.
    let second = screen(
        &folder,
        &[
            Step::Key("up"),
            Step::Wait("twice(4)"),
            Step::Key("up"),
            Step::Wait("fn twice(n) {"),
            Step::Line(""),
            Step::Line("twice(21)"),
            Step::Key("ctrl-r"),
            Step::Type("fn tw"),
            Step::Wait("return n * 2"),
            Step::Line(""),
        ],
    );
    assert!(second.contains("\n42\n"), "{second}");
    let pasted = screen(&folder, &[Step::Paste("let a = 1\nlet b = a + 1"), Step::Line(""), Step::Line("a + b")]);
    assert!(pasted.contains("\n3\n"), "{pasted}");
}

#[test]
fn ctrl_c_ends_what_runs_and_keeps_the_session() {
    let folder = scratch("repl-interrupt");
    let screen = screen(
        &folder,
        &[
            Step::Line("let kept = 7"),
            Step::Type("println(\"run\" + \"ning\"); sleep(60s)\n"),
            Step::Wait("running"),
            Step::Key("ctrl-c"),
            Step::Wait("interrupted"),
            Step::Line("kept + 1"),
        ],
    );
    assert!(screen.contains("\n8\n"), "{screen}");
}

#[test]
fn a_loop_streams() {
    let folder = scratch("repl-stream");
    let screen = screen(
        &folder,
        &[
            Step::Line("llm_mock({text: \"streamed words\"})"),
            Step::Line("let r = agent_loop(\"go\", nil, {provider: \"mock\"})"),
            Step::Line("r.status"),
        ],
    );
    // The text comes from the view of the loop, since nothing prints it.
    assert!(screen.contains("streamed words") && screen.contains("\"done\""), "{screen}");
    assert_eq!(screen.matches("streamed words").count(), 2, "{screen}");
}

/// The screen of the guide is that of this session.
#[test]
fn the_guide_shows_the_screen_of_its_session() {
    let page = fs::read_to_string(root().join("docs/guide/repl.md")).unwrap();
    let shown = page.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap().to_owned();
    let folder = scratch("repl-guide");
    let typed: Vec<&str> = shown.lines().filter_map(|line| line.strip_prefix("harn> ")).collect();
    assert_eq!(typed.len(), 10, "the session has ten steps");
    let steps: Vec<Step<'_>> = typed.iter().map(|line| Step::Line(line)).collect();
    let screen = screen(&folder, &steps);
    let screen = screen.trim_end().trim_end_matches(PROMPT).trim_end();
    if std::env::var_os("UPDATE").is_some() && screen != shown.trim_end() {
        fs::write(root().join("docs/guide/repl.md"), page.replace(&shown, &format!("{screen}\n"))).unwrap();
    }
    assert_eq!(screen, shown.trim_end(), "UPDATE=1 writes the page");
}
