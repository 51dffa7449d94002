//! Results for tools: a JSON object per line, one for each test and one at the end.

use crate::run::{FileResult, Status, Summary, TestResult};
use serde_json::{Value, json};
use stdlib::{Diagnostic, to_json};

/// Returns the lines of a file.
pub(super) fn file(file: &FileResult) -> String {
    let mut out = String::new();
    if file.broken || !file.diagnostics.is_empty() {
        let status = if file.broken { "broken" } else { "ok" };
        let line = json!({"event": "file", "file": file.file, "status": status, "diagnostics": diagnostics(&file.diagnostics)});
        out.push_str(&format!("{line}\n"));
    }
    for test in &file.tests {
        out.push_str(&format!("{}\n", of_test(&file.file, test)));
    }
    out
}

fn of_test(file: &str, test: &TestResult) -> Value {
    let difference = test.difference.as_ref().map(|d| json!({"expected": d.expected, "actual": d.actual}));
    json!({
        "event": "test",
        "file": file,
        "name": test.name,
        "line": test.line,
        "status": word(test.status),
        "duration_ms": u64::try_from(test.duration.as_millis()).unwrap_or(u64::MAX),
        "diagnostics": diagnostics(&test.diagnostics),
        "difference": difference,
        "output": test.output,
    })
}

/// Returns the word of a status.
pub(super) const fn word(status: Status) -> &'static str {
    match status {
        Status::Passed => "passed",
        Status::Failed => "failed",
        Status::UsedUp => "used_up",
        Status::NotRun => "not_run",
    }
}

fn diagnostics(found: &[Diagnostic]) -> Vec<Value> {
    found.iter().map(to_json).collect()
}

/// Returns the last line.
pub(super) fn end(summary: &Summary) -> String {
    let line = json!({
        "event": "summary",
        "ok": summary.is_success(),
        "files": summary.files,
        "passed": summary.passed,
        "failed": summary.failed,
        "not_run": summary.not_run,
        "broken": summary.broken,
    });
    format!("{line}\n")
}
