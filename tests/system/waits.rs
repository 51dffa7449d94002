//! Tests wait for events and not for a time: `tests/support/wait.rs` and `tests/support/tokio_wait.rs` contain the only loops
//! that sleep, and nothing is judged by the time that has passed.

use crate::harn::root;
use crate::names::sources;
use crate::plain_words::{parts, tests_at_end};
use std::fs;

/// The folders with tests, benches left out.
const FOLDERS: &[&str] = &[
    "a2a",
    "base",
    "cli",
    "embed",
    "eventlog",
    "fmt",
    "hub",
    "json",
    "jsonrpc",
    "lang",
    "lsp",
    "mcp",
    "providers",
    "runtime",
    "serve",
    "stdlib",
    "telemetry",
    "testing",
    "tests",
];

/// The files that sleep for all tests.
const HELPERS: &[&str] = &["tests/support/wait.rs", "tests/support/tokio_wait.rs"];

/// The words that only helpers contain: a pause, a time that has passed, and a limit of its own.
const WORDS: &[&str] = &["sleep(", "elapsed()", "recv_timeout(Duration"];

/// The other places: the file, the number of its lines with one of the words, and the reason.
const EXCEPTIONS: &[(&str, usize, &str)] = &[
    ("hub/tests/laws/compaction.rs", 1, "the clock is paused"),
    ("hub/tests/laws/delivery.rs", 2, "the clock is paused"),
    ("serve/src/a2a/rpc/stream/tests.rs", 4, "the clock is paused"),
    ("serve/src/drain.rs", 4, "the clock is paused"),
    ("serve/src/http/body.rs", 3, "the clock is paused"),
    ("serve/src/http/listener.rs", 4, "the clock is paused"),
    ("serve/src/host/tests/ask.rs", 1, "longer than the time of a prompt, which a question does not use"),
    ("serve/src/host/tests/sessions.rs", 1, "longer than the time after which a session is offered to all workers"),
    ("stdlib/src/engine/hosted/tests.rs", 1, "longer than the time of a prompt, which the next one has anew"),
    ("tests/clients/a2a/bad_input.rs", 1, "a client that sends a byte now and then"),
    ("tests/clients/acp/client.rs", 2, "the time that is left of a wait for a channel"),
    (
        "tests/clients/acp/interrupted.rs",
        2,
        "a model that says a word every 100 ms, and the most words that it can have said",
    ),
    ("tests/clients/acp/stalled.rs", 1, "the time of an answer without the time that its threads had no processor"),
    ("tests/clients/channels/rates.rs", 1, "a lower bound: a slow machine takes longer"),
    ("tests/clients/channels/rounds.rs", 1, "a kill at a random moment"),
    ("tests/clients/channels/sharing.rs", 1, "the period of a heartbeat"),
    ("tests/clients/hub/chaos.rs", 4, "the pace of a publisher, of workers and of kills at any moment"),
    ("tests/clients/hub/recovery.rs", 1, "a proxy that closes a connection later, so that the hub has sent more"),
    ("tests/clients/load.rs", 1, "the length of a load"),
    ("tests/clients/mcp/hostile.rs", 1, "a lower bound: a slow machine takes longer"),
    ("tests/clients/mcp/http.rs", 3, "servers that send something now and then, without an end"),
    ("tests/mutants/runner.rs", 1, "it is printed"),
    ("tests/system/model_server.rs", 1, "a server that sends something now and then, without an end"),
    ("tests/system/terminal.rs", 1, "the time that is left of a wait for a channel"),
    (
        "tests/system/test_command.rs",
        1,
        "longer than the time in which changes are one change: a shorter one proves less",
    ),
];

/// Returns where the tests of a file begin.
fn tests_of(name: &str, source: &str) -> Option<usize> {
    let is_test = name.ends_with("tests.rs") || name.split('/').any(|part| part == "tests" || part == "testing.rs");
    if is_test { Some(0) } else { tests_at_end(source) }
}

/// Returns the numbers of the lines of code that contain one of the words.
fn waits(code: &str) -> Vec<usize> {
    // A method that is called `sleep`, or a function that is defined, is another one.
    let is_other = |before: &str, word: &str| {
        before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
            || word == "sleep(" && (before.ends_with('.') || before.ends_with("fn "))
    };
    let is_wait = |line: &str, word: &str| line.match_indices(word).any(|(at, _)| !is_other(&line[..at], word));
    let lines = code.lines().enumerate();
    lines.filter(|(_, line)| WORDS.iter().any(|word| is_wait(line, word))).map(|(at, _)| at + 1).collect()
}

#[test]
fn tests_wait_for_events() {
    let (mut wrong, mut found) = (Vec::new(), Vec::new());
    for folder in FOLDERS {
        for file in sources(&root().join(folder)) {
            let name = file.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
            let source = fs::read_to_string(&file).unwrap();
            let Some(begin) = tests_of(&name, &source).filter(|_| !HELPERS.contains(&&*name)) else { continue };
            let before = source[..begin].matches('\n').count();
            let lines: Vec<usize> = waits(&parts(&source[begin..]).0).into_iter().map(|line| line + before).collect();
            let allowed = EXCEPTIONS.iter().find(|(allowed, ..)| *allowed == name).map_or(0, |(_, count, _)| *count);
            if lines.len() > allowed {
                wrong.push(format!("{name}: lines {lines:?}: wait for an event with `tests/support/wait.rs`"));
            }
            found.push((name, lines.len()));
        }
    }
    for (name, count, _) in EXCEPTIONS {
        let there = found.iter().find(|(file, _)| file == name).map_or(0, |(_, count)| *count);
        if there < *count {
            wrong.push(format!("{name}: {there} lines wait; change the exception for {count}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // The helpers are where the tests use them.
    assert!(HELPERS.iter().all(|helper| root().join(helper).exists()));
}

#[test]
fn a_wait_is_seen() {
    let source = "thread::sleep(a);\n// sleep(1)\nlet text = \"sleep(5)\n elapsed()\";\nsleep(b).await;\nassert!(now.elapsed() < c);\n";
    assert_eq!(waits(&parts(source).0), [1, 5, 6]);
    assert!(waits("fn sleep(cx: &mut Cx) {\nclock.sleep(5);\nget_sleep(1);\nsleep_until(2);\n").is_empty());
    assert_eq!(tests_of("base/src/lock.rs", "a\n#[cfg(test)]\nmod tests {\n"), Some(2));
    assert_eq!(tests_of("base/src/lock.rs", "a\n#[cfg(test)]\nmod tests;\n"), None);
    for name in [
        "hub/tests/laws/rows.rs",
        "serve/src/host/testing.rs",
        "lang/src/vm/tests.rs",
        "stdlib/src/engine/cached_tests.rs",
    ] {
        assert_eq!(tests_of(name, ""), Some(0), "{name}");
    }
}
