//! `cargo check`, `build`, `clippy`, `doc`, `test`, `nextest`.

use std::sync::LazyLock;

use base::data::Data;

use super::super::finding::Finding;
use super::{Pattern, diagnostic, pattern};

/// `error[E0425]: cannot find value …`, `warning: unused variable …`
static HEAD: Pattern = LazyLock::new(|| pattern(r"^(error|warning)(?:\[([^\]]+)\])?: (.+)$"));
/// ` --> src/lib.rs:3:5`
static PLACE: Pattern = LazyLock::new(|| pattern(r"^\s*(?:-->|╭▸) (\S.*?:\d+:\d+)$"));
/// Cargo's last lines of a failed run.
static FAILED: Pattern = LazyLock::new(|| {
    pattern(
        r"^(test result: FAILED\.|error: could not compile |error: (doc)?test failed|error: \d+ targets? failed|error: test run failed|error: aborting due to |error: failed to (parse manifest|load|resolve|select|read|get|run custom build)|error: no matching package|error: manifest path )",
    )
});
/// Cargo's last lines of a successful run.
static PASSED: Pattern = LazyLock::new(|| {
    pattern(r"^(test result: ok\.| +Finished |\s*Summary \[[^\]]*\] +\d+ tests? run: \d+ passed(?:,| \(|$))")
});
/// `test parser::tests::nested ... FAILED`
static TEST: Pattern = LazyLock::new(|| pattern(r"^test (.+?)(?: - should panic)? \.\.\. FAILED$"));
/// `        FAIL [   0.004s] lang parser::tests::nested`
static NEXTEST: Pattern =
    LazyLock::new(|| pattern(r"^\s+(?:FAIL|SIGABRT|SIGSEGV|TIMEOUT) \[ *[\d.]+s\] (?:\( *\d+/\d+\) )?(\S.*)$"));
/// `thread 'parser::tests::nested' (123) panicked at src/parser.rs:10:5:`
static PANIC: Pattern = LazyLock::new(|| pattern(r"^thread '(.+?)'(?: \(\d+\))? panicked at (\S+:\d+:\d+):?$"));
/// `running 2 tests`
static RUNNING: Pattern = LazyLock::new(|| pattern(r"^(?:running \d+ tests?|\s+Starting \d+ tests? across .*)$"));

pub(super) fn scan(lines: &[&str], warnings: bool) -> Vec<Finding> {
    let failed = lines.iter().any(|line| FAILED.is_match(line) || NEXTEST.is_match(line));
    let passed = !failed && lines.iter().any(|line| PASSED.is_match(line));
    let mut found = Vec::new();
    let mut ending = None;
    let mut tests_run = false;
    for (i, line) in lines.iter().enumerate() {
        // What the compiler has to say it says before; tests print what they like.
        tests_run |= RUNNING.is_match(line);
        if line.starts_with("{\"reason\":") {
            found.extend(message_of_json(line, warnings));
        } else if let Some(test) = TEST.captures(line).or_else(|| NEXTEST.captures(line)).filter(|_| !passed) {
            found.push(test_failure(&test[1], lines));
        } else if FAILED.is_match(line) {
            ending = Some(*line);
        } else if let Some(head) = HEAD.captures(line).filter(|_| !tests_run) {
            found.extend(head_of(&head, &lines[i + 1..], passed, warnings));
        }
    }
    if found.iter().all(|finding| finding.kind.as_ref() == Finding::WARNING) {
        found.extend(ending.map(|line| Finding::of_diagnostic(line, "")));
    }
    found
}

/// A diagnostic of the compiler has a place; `error: …` without one may be anything that a test prints.
fn head_of(head: &regex::Captures<'_>, below: &[&str], passed: bool, warnings: bool) -> Option<Finding> {
    let code = head.get(2).map_or("", |code| code.as_str());
    let next = below.iter().take(8).take_while(|line| !line.is_empty() && !HEAD.is_match(line));
    let place = next.filter_map(|line| PLACE.captures(line)).next()?;
    let bracket = if code.is_empty() { String::new() } else { format!("[{code}]") };
    let said = format!("{}{bracket}: {}", &head[1], &head[3]);
    match &head[1] {
        "error" if !passed => Some(diagnostic(&place[1], &said, code)),
        "warning" if warnings => Some(Finding::new(Finding::WARNING, &format!("{}: {said}", &place[1]))),
        _ => None,
    }
}

/// A test that fails, with what it panicked with where that is shown.
fn test_failure(name: &str, lines: &[&str]) -> Finding {
    let of_test = |found: &regex::Captures<'_>| name.ends_with(&found[1]);
    let at = lines.iter().position(|line| PANIC.captures(line).is_some_and(|found| of_test(&found)));
    let mut message = format!("test {name} failed");
    if let Some((at, found)) = at.and_then(|at| Some((at, PANIC.captures(lines[at])?))) {
        message.push_str(&format!(": panicked at {}", &found[2]));
        let blank = |line: &&&str| line.is_empty() || line.starts_with("note: ") || line.starts_with("stack backtrace");
        for line in lines[at + 1..].iter().take(3).take_while(|line| !blank(line)) {
            message.push_str(": ");
            message.push_str(line.trim());
        }
    }
    Finding::new(Finding::TEST_FAILURE, &message)
}

/// A line of `--message-format=json`.
fn message_of_json(line: &str, warnings: bool) -> Option<Finding> {
    let message = Data::from_json(line).ok()?.get("message").clone();
    let text = message.get("message").as_str()?;
    let code = message.at("code.code").as_str().unwrap_or_default();
    let span = message.get("spans").as_list().and_then(|spans| {
        let span = spans.iter().find(|span| span.get("is_primary").truthy())?;
        let part = |key: &str| span.get(key).to_text();
        Some(format!("{}:{}:{}", part("file_name"), part("line_start"), part("column_start")))
    })?;
    match message.get("level").as_str()? {
        "error" => Some(diagnostic(&span, text, code)),
        "warning" if warnings => Some(Finding::new(Finding::WARNING, &format!("{span}: {text}"))),
        _ => None,
    }
}

#[cfg(test)]
pub(super) fn patterns() -> Vec<&'static regex::Regex> {
    vec![&HEAD, &PLACE, &FAILED, &PASSED, &TEST, &NEXTEST, &PANIC, &RUNNING]
}
