//! `go test`, `go vet`, `go build`.

use std::sync::LazyLock;

use base::data::Data;

use super::super::finding::Finding;
use super::{Pattern, diagnostic, pattern};

/// `--- FAIL: TestX (0.00s)`, indented for subtests
static TEST: Pattern = LazyLock::new(|| pattern(r"^( *)--- FAIL: (\S+) \([\d.]+s\)$"));
/// `FAIL    example.com/a    0.003s`, `FAIL    example.com/a [build failed]`
static PACKAGE: Pattern = LazyLock::new(|| pattern(r"^FAIL\t(\S+)(?: \[(build failed|setup failed)\]|\t[\d.]+s)?$"));
/// `ok      example.com/a    0.003s`
static OK: Pattern = LazyLock::new(|| pattern(r"^ok  \t\S+"));
/// `./a.go:3:2: undefined: foo`
static COMPILER: Pattern =
    LazyLock::new(|| pattern(r"^(?:vet: )?((?:\./|\.\./|/|[A-Za-z]:\\)?[^\s:]+\.go:\d+(?::\d+)?): (.+)$"));
/// `# example.com/a`, before what the compiler or `vet` says of a package
static HEAD: Pattern = LazyLock::new(|| pattern(r"^# \S+"));
/// Failures of the command itself.
static TOOL: Pattern = LazyLock::new(|| {
    pattern(
        r"^(?:go: .*(?:cannot find|no required module|errors parsing|not in std|cannot match|build failed).*|panic: .+)$",
    )
});

pub(super) fn scan(lines: &[&str]) -> Vec<Finding> {
    if lines.iter().any(|line| line.starts_with("{\"Time\":") || line.starts_with("{\"Action\":")) {
        return lines.iter().filter_map(|line| event(line)).collect();
    }
    let mut found: Vec<Finding> = Vec::new();
    // How many findings there were when the output of the present package began.
    let mut before = 0;
    let mut compiled = false;
    for (i, line) in lines.iter().enumerate() {
        if OK.is_match(line) {
            // A package that passes prints what it likes.
            found.truncate(before);
        } else if let Some(package) = PACKAGE.captures(line) {
            if found.len() == before {
                found.push(Finding::new(Finding::TEST_FAILURE, &format!("package {} failed", &package[1])));
            }
            before = found.len();
        } else if let Some(test) = TEST.captures(line) {
            // A test that has failing subtests fails with them.
            let inner = lines
                .get(i + 1)
                .and_then(|next| next.strip_prefix(&test[1]))
                .is_some_and(|next| next.starts_with("    --- "));
            if !inner {
                found.push(test_failure(&test[2], lines.get(i + 1)));
            }
        } else if HEAD.is_match(line) {
            compiled = true;
        } else if let Some(place) = COMPILER.captures(line).filter(|_| compiled || line.starts_with("vet: ")) {
            found.push(diagnostic(&place[1], &place[2], ""));
        } else if TOOL.is_match(line) {
            found.push(Finding::of_diagnostic(line, ""));
        } else if !line.is_empty() {
            compiled = false;
        }
    }
    found
}

/// The line below says why: `    a_test.go:10: got 1, want 2`.
fn test_failure(name: &str, below: Option<&&str>) -> Finding {
    let why =
        below.filter(|line| line.starts_with(' ') && line.contains(".go:")).map(|line| format!(": {}", line.trim()));
    Finding::new(Finding::TEST_FAILURE, &format!("{name} failed{}", why.unwrap_or_default()))
}

/// A line of `go test -json`.
fn event(line: &str) -> Option<Finding> {
    let event = Data::from_json(line).ok()?;
    let name = event.get("Test").as_str().filter(|_| event.get("Action").as_str() == Some("fail"))?;
    Some(Finding::new(Finding::TEST_FAILURE, &format!("{} {name} failed", event.get("Package").to_text())))
}

#[cfg(test)]
pub(super) fn patterns() -> Vec<&'static regex::Regex> {
    vec![&TEST, &PACKAGE, &OK, &COMPILER, &HEAD, &TOOL]
}
