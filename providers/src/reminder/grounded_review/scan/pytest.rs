//! `pytest`.

use std::sync::LazyLock;

use super::super::finding::{Finding, kind_of};
use super::{Pattern, pattern};

/// `FAILED tests/test_a.py::test_b - AssertionError: …` in the summary.
static SUMMARY: Pattern = LazyLock::new(|| pattern(r"^(FAILED|ERROR) (\S+\.py\S*(?:\[.*?\])?)(?: - (.*))?$"));
/// `tests/test_a.py::test_b FAILED   [ 50%]`
static VERBOSE: Pattern = LazyLock::new(|| {
    pattern(r"^(?:\[gw\d+\] \[ *\d+%\] (?:FAILED|ERROR) (\S+::.+)|(\S+::.+?) (?:FAILED|ERROR) +\[ *\d+%\])$")
});
/// `==== 1 failed, 2 passed in 0.12s ====`
static LAST: Pattern = LazyLock::new(|| {
    pattern(
        r"^(?:=+ )?((?:\d+ (?:passed|failed|errors?|skipped|xfailed|xpassed|warnings?|deselected|rerun|subtests passed)(?:, )?)+|no tests ran) in [\d.]+s?.*$",
    )
});
/// Errors of pytest before any test runs.
static USAGE: Pattern = LazyLock::new(|| {
    pattern(
        r"^(?:ERROR: (?:usage|file or directory not found|not found|found no collectors|Wrong expression)|INTERNALERROR> \w+(?:\.\w+)*Error)",
    )
});

/// A count of failures in such a line; `1 xfailed` is none.
static FAILURES: Pattern = LazyLock::new(|| pattern(r"\b\d+ (?:failed|errors?)\b"));
/// `E   SyntaxError: invalid syntax`
static CAUSE: Pattern = LazyLock::new(|| pattern(r"^E +(\w*(?:Error|Exception|Exit)\b.*)$"));

pub(super) fn scan(lines: &[&str]) -> Vec<Finding> {
    // The last summary counts: tests of test runners print such lines too.
    let last = lines.iter().rev().find_map(|line| LAST.captures(line).map(|found| found[1].to_owned()));
    let began = last.as_deref() != Some("no tests ran");
    if began && last.as_ref().is_some_and(|last| !FAILURES.is_match(last)) {
        return Vec::new();
    }
    let mut found: Vec<Finding> =
        summary(lines).iter().filter_map(|line| SUMMARY.captures(line)).map(|found| of(&found, lines)).collect();
    if found.is_empty() {
        found.extend(lines.iter().filter_map(|line| VERBOSE.captures(line)).filter_map(|found| {
            let name = found.get(1).or_else(|| found.get(2))?;
            Some(Finding::new(Finding::TEST_FAILURE, &format!("{} failed", name.as_str())))
        }));
    }
    found.extend(lines.iter().filter(|line| USAGE.is_match(line)).take(1).map(|line| Finding::of_diagnostic(line, "")));
    if found.is_empty() && began {
        found.extend(last.map(|last| Finding::new(Finding::TEST_FAILURE, &last)));
    }
    found
}

/// The lines of the short summary, or all where its head was cut off.
fn summary<'a, 'b>(lines: &'a [&'b str]) -> &'a [&'b str] {
    let head = lines.iter().rposition(|line| line.contains(" short test summary info "));
    &lines[head.map_or(0, |head| head + 1)..]
}

fn of(found: &regex::Captures<'_>, lines: &[&str]) -> Finding {
    let said = found.get(3).map(|said| said.as_str()).or_else(|| cause(&found[2], lines)).unwrap_or_default();
    let (verb, colon) =
        (if &found[1] == "ERROR" { "error" } else { "failed" }, if said.is_empty() { "" } else { ": " });
    let kind = match kind_of(said, "") {
        Finding::DIAGNOSTIC => Finding::TEST_FAILURE,
        kind => kind,
    };
    Finding::new(kind, &format!("{} {verb}{colon}{said}", &found[2]))
}

/// Returns why a file could not be collected: the summary does not say.
fn cause<'a>(file: &str, lines: &[&'a str]) -> Option<&'a str> {
    let head = format!(" ERROR collecting {file} ");
    let at = lines.iter().position(|line| line.contains(&head))?;
    let section = lines[at + 1..].iter().take_while(|line| !line.contains(" ERROR collecting "));
    section.filter_map(|line| CAUSE.captures(line)).last().and_then(|found| Some(found.get(1)?.as_str()))
}

#[cfg(test)]
pub(super) fn patterns() -> Vec<&'static regex::Regex> {
    vec![&SUMMARY, &VERBOSE, &LAST, &USAGE, &FAILURES, &CAUSE]
}
