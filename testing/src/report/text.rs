//! Results for people: a line for each test, then the failures in full, then the counts.

use crate::difference::difference;
use crate::run::{FileResult, Status, Summary, TestResult};
use std::fmt::Write;
use stdlib::{Severity, draw, shown};

/// Returns the lines of a file.
pub(super) fn file(file: &FileResult, shows_output: bool, color: bool) -> String {
    let mut out = String::new();
    if file.tests.is_empty() && file.diagnostics.is_empty() {
        return out;
    }
    let _ = writeln!(out, "{}", paint("1", &visible(&file.file), color));
    if file.broken {
        let _ = writeln!(out, "  {} cannot run", paint("1;31", "FAIL", color));
    }
    for test in &file.tests {
        let (hue, word) = match test.status {
            Status::Passed => ("32", "ok  "),
            Status::Failed | Status::UsedUp => ("1;31", "FAIL"),
            Status::NotRun => ("33", "skip"),
        };
        let _ = writeln!(out, "  {} {}", paint(hue, word, color), visible(&test.name));
        if test.status == Status::Passed {
            test.diagnostics.iter().for_each(|found| out.push_str(&indented(&draw(found, color), "    ")));
            if shows_output && !test.output.is_empty() {
                out.push_str(&printed(&test.output));
            }
        }
    }
    let warnings = file.diagnostics.iter().filter(|found| found.severity != Severity::Error);
    warnings.for_each(|found| out.push_str(&draw(found, color)));
    out
}

/// Returns the failures and the counts.
pub(super) fn end(files: &[FileResult], summary: &Summary, color: bool) -> String {
    let mut out = String::new();
    for file in files {
        if file.broken {
            out.push('\n');
            let errors = file.diagnostics.iter().filter(|found| found.severity == Severity::Error);
            errors.for_each(|found| out.push_str(&draw(found, color)));
        }
        let failed = |test: &&TestResult| matches!(test.status, Status::Failed | Status::UsedUp);
        file.tests.iter().filter(failed).for_each(|test| failure(&mut out, file, test, color));
    }
    out.push('\n');
    out.push_str(&counts(summary));
    out
}

fn failure(out: &mut String, file: &FileResult, test: &TestResult, color: bool) {
    let title = format!("{} > {}", visible(&file.file), visible(&test.name));
    let _ = writeln!(out, "\n{} {title}", paint("1;31", "FAIL", color));
    test.diagnostics.iter().for_each(|found| out.push_str(&draw(found, color)));
    if let Some(found) = &test.difference {
        out.push_str("  difference (- expected, + found):\n");
        for line in difference(&found.expected, &found.actual).lines() {
            let hue = match line.as_bytes().first() {
                Some(b'-') => "31",
                Some(b'+') => "32",
                _ => "0",
            };
            let _ = writeln!(out, "    {}", paint(hue, &visible(line), color));
        }
    }
    if !test.output.is_empty() {
        out.push_str("  output of the test:\n");
        out.push_str(&printed(&test.output));
    }
}

fn counts(summary: &Summary) -> String {
    let mut parts = vec![format!("{} passed", summary.passed)];
    if summary.failed > 0 {
        parts.push(format!("{} failed", summary.failed));
    }
    if summary.not_run > 0 {
        parts.push(format!("{} not run", summary.not_run));
    }
    let files = |count: usize| if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
    if summary.broken > 0 {
        parts.push(format!("{} that cannot run", files(summary.broken)));
    }
    format!("{} ({})\n", parts.join(", "), files(summary.files))
}

fn indented(text: &str, before: &str) -> String {
    text.lines().fold(String::new(), |mut out, line| {
        let _ = writeln!(out, "{before}{line}");
        out
    })
}

/// Returns what a test printed, as a terminal may show it.
fn printed(output: &str) -> String {
    indented(&output.lines().map(|line| visible(line) + "\n").collect::<String>(), "    │ ")
}

fn paint(code: &str, text: &str, color: bool) -> String {
    if color && code != "0" { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
}

/// Returns a text as a terminal may show it.
fn visible(text: &str) -> String {
    text.chars().filter_map(shown).collect()
}
