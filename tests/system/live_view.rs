//! The live view of `harn run` on a terminal: what the person sees in the end.

use crate::harn::{environment, scratch};
use crate::wait::LIMIT;
use nix::pty::{Winsize, openpty};
use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;

/// Columns of the terminal.
const COLUMNS: u16 = 60;

/// Runs a script on a terminal. Returns its exit code and the lines that are left on the screen, without trailing blanks.
fn on_a_terminal(name: &str, script: &str) -> (Option<i32>, Vec<String>) {
    let path = scratch(&format!("live-view-{name}")).join("script.harn");
    fs::write(&path, script).unwrap();
    let size = Winsize { ws_row: 24, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 };
    let pty = openpty(Some(&size), None).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
    command.args(["run", "--seed", "1"]).arg(&path).env_clear().envs(environment()).env("TERM", "xterm");
    let [stdin, stdout, stderr] = [(); 3].map(|()| Stdio::from(pty.slave.try_clone().unwrap()));
    let mut child = command.stdin(stdin).stdout(stdout).stderr(stderr).spawn().unwrap();
    // Only the process holds the terminal now.
    drop((command, pty.slave));
    let mut master = fs::File::from(pty.master);
    let (sender, screen_of_it) = channel();
    thread::spawn(move || {
        let (mut written, mut buffer) = (Vec::new(), [0; 4096]);
        // Once the last process has closed the terminal, reading it is an error.
        while let Ok(count @ 1..) = master.read(&mut buffer) {
            written.extend_from_slice(&buffer[..count]);
        }
        // The test may have ended.
        let _ = sender.send(written);
    });
    let Ok(written) = screen_of_it.recv_timeout(LIMIT) else {
        child.kill().unwrap();
        panic!("harn did not end within {LIMIT:?}");
    };
    (child.wait().unwrap().code(), screen(&String::from_utf8(written).unwrap()))
}

/// Returns what a terminal shows after it has received a text.
fn screen(text: &str) -> Vec<String> {
    let (mut lines, mut row, mut column) = (vec![Vec::new()], 0, 0);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\r' => column = 0,
            '\n' => {
                row += 1;
                if row == lines.len() {
                    lines.push(Vec::new());
                }
            }
            '\u{1b}' => match sequence(&mut chars).as_str() {
                "2K" => lines[row].clear(),
                "1A" => row = row.saturating_sub(1),
                colour => assert!(colour.ends_with('m'), "unknown sequence {colour}"),
            },
            c => {
                if column == usize::from(COLUMNS) {
                    (row, column) = (row + 1, 0);
                    lines.resize(lines.len().max(row + 1), Vec::new());
                }
                let line = &mut lines[row];
                line.resize(line.len().max(column + 1), ' ');
                line[column] = c;
                column += 1;
            }
        }
    }
    let line = |line: Vec<char>| line.into_iter().collect::<String>().trim_end().to_owned();
    let mut shown: Vec<String> = lines.into_iter().map(line).collect();
    shown.truncate(shown.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1));
    shown
}

/// Returns the rest of an escape sequence, up to its first letter.
fn sequence(chars: &mut std::str::Chars<'_>) -> String {
    let mut sequence = String::new();
    for c in chars.by_ref().skip_while(|c| *c == '[') {
        sequence.push(c);
        if c.is_ascii_alphabetic() {
            break;
        }
    }
    sequence
}

/// A loop whose model writes these texts, the last of them as its answer.
fn looping(answer: &str) -> String {
    format!(
        "llm_mock({{text: \"I look first.\", tool_calls: [{{name: \"look\", arguments: {{}}}}]}})\n\
         llm_mock({{text: {answer}}})\n\
         tool look() -> string {{\n  description \"Looks.\"\n  \"nothing\"\n}}\n\
         let result = agent_loop(\"go\", nil, {{provider: \"mock\", reminders: false, tools: [look]}})\n"
    )
}

const ANSWER: &str =
    "\"The first line.\\nThe second line, which is longer than the terminal is wide, so it is broken.\"";

fn count(lines: &[String], part: &str) -> usize {
    lines.iter().filter(|line| line.contains(part)).count()
}

#[test]
fn an_answer_that_the_script_prints_is_on_the_screen_once() {
    for print in [
        "println(\"${result.status}: ${result.text}\")\n",
        "println(\"the answer:\")\nprintln(result.text)\n",
        "for line in result.text.lines() { println(line) }\n",
        "println(json_stringify({answer: result.text}))\n",
        "eprintln(result.text)\n",
    ] {
        let wide = print.replace(
            "result.text",
            "result.text.replace(\", which is longer than the terminal is wide, so it is broken\", \"\")",
        );
        let short = ANSWER.replace(", which is longer than the terminal is wide, so it is broken", "");
        let (code, lines) = on_a_terminal("printed", &format!("{}{wide}", looping(&short)));
        assert_eq!(code, Some(0), "{lines:#?}");
        for (part, times) in [("I look first.", 1), ("> look", 1), ("The first line.", 1), ("The second line", 1)] {
            assert_eq!(count(&lines, part), times, "{print}: {part}: {lines:#?}");
        }
    }
}

#[test]
fn an_answer_that_the_script_does_not_print_stays() {
    let broken = ["The first line.", "The second line, which is longer than the terminal is", "wide, so it is broken."];
    let (code, lines) = on_a_terminal("kept", &format!("{}println(\"saved\")\n", looping(ANSWER)));
    assert_eq!(code, Some(0), "{lines:#?}");
    assert_eq!(lines, [&["I look first.", "> look", "saved"][..], &broken].concat());
    // A question of the script comes after what the person is asked about.
    let asking = "print(\"Go on? \")\nprintln(\"yes\")\n";
    let (_, lines) = on_a_terminal("asked", &format!("{}{asking}", looping(ANSWER)));
    assert_eq!(lines, [&["I look first.", "> look"][..], &broken, &["Go on? yes"]].concat());
    // The answer of the first loop stays above what the second one does.
    let second = "llm_mock({text: \"Another answer.\"})\n\
                  println(agent_loop(\"go\", nil, {provider: \"mock\", reminders: false}).text)\n";
    let (_, lines) = on_a_terminal("second", &format!("{}{second}", looping(ANSWER)));
    assert_eq!(lines, [&["I look first.", "> look"][..], &broken, &["Another answer."]].concat());
}

#[test]
fn the_reason_of_a_failed_call_is_shown_whole() {
    let script = "llm_mock({tool_calls: [{name: \"look\", arguments: {path: \"a\"}}]})\nllm_mock({text: \"ok\"})\n\
        tool look(path: string) -> string {\n  description \"Looks.\"\n  throw \"REASON\"\n}\n\
        println((agent_loop(\"go\", nil, {provider: \"mock\", reminders: false, tools: [look]})?).text)\n";
    let words: Vec<String> = (1..=40).map(|number| format!("word{number}")).collect();
    let (code, lines) = on_a_terminal("reason", &script.replace("REASON", &format!("{}\\nlast", words.join(" "))));
    assert_eq!(code, Some(0), "{lines:#?}");
    let all = lines.join(" ");
    assert!(lines[0].starts_with("> look {\"path\":\"a\"} failed: word1 "), "{lines:#?}");
    for word in words.iter().map(String::as_str).chain(["  last"]) {
        assert_eq!(all.split(' ').filter(|shown| *shown == word.trim()).count(), 1, "{word}: {lines:#?}");
    }
    assert!(lines[1].starts_with("  word"), "{lines:#?}");
    assert_eq!(lines.last().map(String::as_str), Some("ok"), "{lines:#?}");
}

#[test]
fn a_request_that_is_tried_again_says_why() {
    let script = "llm_mock({error: {category: \"server\", message: \"REASON\"}})\nllm_mock({text: \"fine\"})\nmock_time(0)\n\
        println((agent_loop(\"go\", nil, {provider: \"mock\", reminders: false, llm_retries: 1})?).text)\n";
    let words: Vec<String> = (1..=40).map(|number| format!("word{number}")).collect();
    let (code, lines) = on_a_terminal("retried", &script.replace("REASON", &words.join(" ")));
    assert_eq!(code, Some(0), "{lines:#?}");
    assert!(lines[0].starts_with("(the request failed: word1 "), "{lines:#?}");
    let all = lines.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(all.ends_with(&format!("{}; asking the model again) fine", words.join(" "))), "{lines:#?}");
}

#[test]
fn a_failed_loop_says_why_once_on_a_terminal() {
    let script = "llm_mock({error: {category: \"server\", message: \"out of order\"}})\n\
        let result = agent_loop(\"go\", nil, {provider: \"mock\", reminders: false, llm_retries: 0})\n";
    for (end, code) in [
        ("println(\"${result.status}: ${result.text}\")\n", 1),
        ("println((result?).text)\n", 1),
        ("println(result.error.category)\n", 0),
    ] {
        let (exit, lines) = on_a_terminal("failed", &format!("{script}{end}"));
        assert_eq!(exit, Some(code), "{end}: {lines:#?}");
        assert_eq!(count(&lines, "out of order"), 1, "{end}: {lines:#?}");
    }
}
