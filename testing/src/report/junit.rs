//! Results as a JUnit document: a `testsuite` for each file.

use crate::difference::difference;
use crate::run::{FileResult, Status, TestResult};
use std::fmt::Write;
use std::time::Duration;
use stdlib::{Diagnostic, draw};

/// Returns the document.
pub(super) fn document(files: &[FileResult]) -> String {
    let all = || files.iter().flat_map(|file| &file.tests);
    let broken = files.iter().filter(|file| file.broken).count();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        out,
        "<testsuites tests=\"{}\" failures=\"{}\" errors=\"{broken}\" time=\"{}\">",
        all().count() + broken,
        all().filter(|test| is_failed(test)).count(),
        seconds(all().map(|test| test.duration).sum()),
    );
    files.iter().filter(|file| file.broken || !file.tests.is_empty()).for_each(|file| suite(&mut out, file));
    out.push_str("</testsuites>\n");
    out
}

fn is_failed(test: &TestResult) -> bool {
    matches!(test.status, Status::Failed | Status::UsedUp)
}

fn suite(out: &mut String, file: &FileResult) {
    let skipped = file.tests.iter().filter(|test| test.status == Status::NotRun).count();
    let _ = writeln!(
        out,
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{skipped}\" time=\"{}\">",
        attribute(&file.file),
        file.tests.len() + usize::from(file.broken),
        file.tests.iter().filter(|test| is_failed(test)).count(),
        usize::from(file.broken),
        seconds(file.tests.iter().map(|test| test.duration).sum()),
    );
    if file.broken {
        let name = attribute(&file.file);
        let _ = writeln!(out, "    <testcase classname=\"{name}\" name=\"(the file)\" time=\"0.000\">");
        problem(out, "error", &file.diagnostics, "");
        out.push_str("    </testcase>\n");
    }
    file.tests.iter().for_each(|test| case(out, file, test));
    out.push_str("  </testsuite>\n");
}

fn case(out: &mut String, file: &FileResult, test: &TestResult) {
    let (class, name, time) = (attribute(&file.file), attribute(&test.name), seconds(test.duration));
    let head = format!(
        "    <testcase classname=\"{class}\" name=\"{name}\" file=\"{class}\" line=\"{}\" time=\"{time}\"",
        test.line
    );
    if test.status == Status::Passed && test.output.is_empty() && test.diagnostics.is_empty() {
        let _ = writeln!(out, "{head}/>");
        return;
    }
    let _ = writeln!(out, "{head}>");
    match test.status {
        Status::Passed => {}
        Status::NotRun => out.push_str("      <skipped message=\"another test failed\"/>\n"),
        Status::Failed | Status::UsedUp => {
            let lines = test.difference.as_ref().map(|found| difference(&found.expected, &found.actual));
            problem(out, "failure", &test.diagnostics, &lines.unwrap_or_default());
        }
    }
    if !test.output.is_empty() {
        let _ = writeln!(out, "      <system-out>{}</system-out>", text(&test.output));
    }
    if test.status == Status::Passed && !test.diagnostics.is_empty() {
        let warnings: String = test.diagnostics.iter().map(|found| draw(found, false)).collect();
        let _ = writeln!(out, "      <system-err>{}</system-err>", text(&warnings));
    }
    out.push_str("    </testcase>\n");
}

fn problem(out: &mut String, element: &str, found: &[Diagnostic], more: &str) {
    let first = found.first();
    let message = first.map_or("failed", |found| found.message.as_str());
    let code = first.map_or_else(String::new, |found| found.code.to_string());
    let mut drawn: String = found.iter().map(|found| draw(found, false)).collect();
    drawn.push_str(more);
    let (message, code) = (attribute(message), attribute(&code));
    let _ = writeln!(out, "      <{element} message=\"{message}\" type=\"{code}\">{}</{element}>", text(&drawn));
}

fn seconds(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64())
}

/// Returns a text as the content of an element. Characters that XML cannot contain are replaced.
fn text(of: &str) -> String {
    let mut out = String::with_capacity(of.len());
    for c in of.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\n' | '\t' => out.push(c),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}

/// Returns a text as the value of an attribute.
fn attribute(of: &str) -> String {
    text(of).replace('"', "&quot;").replace('\n', "&#10;").replace('\t', "&#9;")
}
