//! Checkers whose every finding is a line of its own.

use std::sync::LazyLock;

use regex::Captures;

use super::super::finding::Finding;
use super::{Pattern, diagnostic, pattern};

/// `error[HARN-NAM-001]: …`
static HARN: Pattern = LazyLock::new(|| pattern(r"^(error|warning)\[(HARN-[A-Z]+-\d{3})\]: (.+)$"));
/// `╭─[ a.harn:1:9 ]`
static HARN_PLACE: Pattern = LazyLock::new(|| pattern(r"╭─\[ ?(\S+:\d+:\d+) ?\]"));
/// `src/a.ts(3,5): error TS2304: …`, `src/a.ts:3:5 - error TS2304: …`, `error TS5083: …`
static TSC: Pattern = LazyLock::new(|| pattern(r"^(?:(\S.*?)(?:\((\d+,\d+)\):|:(\d+:\d+) -) )?error (TS\d+): (.+)$"));
/// `a.py:3: error: Name "x" is not defined  [name-defined]`
static MYPY: Pattern = LazyLock::new(|| pattern(r"^(\S.*?\.pyi?:\d+(?::\d+)?): error: (.+?)(?:  \[([\w-]+)\])?$"));
/// `  /a.py:3:5 - error: "x" is not defined (reportUndefinedVariable)`
static PYRIGHT: Pattern =
    LazyLock::new(|| pattern(r"^\s*(\S.*?:\d+:\d+) - (error|warning)(?: TS\d+)?: (.+?)(?: \((report\w+)\))?$"));
/// `  3:5  error  'x' is not defined  no-undef`
static ESLINT: Pattern = LazyLock::new(|| pattern(r"^\s+(\d+:\d+) +(error|warning) +(.+?)(?:  +(\S+))?$"));
/// The file above such lines.
static ESLINT_FILE: Pattern =
    LazyLock::new(|| pattern(r"^(?:/|\./|[A-Za-z]:\\)?\S*\.[cm]?[jt]sx?$|^\S+\.(?:vue|svelte)$"));

fn group<'a>(found: &Captures<'a>, i: usize) -> &'a str {
    found.get(i).map_or("", |group| group.as_str())
}

fn warning(place: &str, message: &str) -> Finding {
    Finding::new(Finding::WARNING, &format!("{place}: warning: {message}"))
}

pub(super) fn harn(lines: &[&str], warnings: bool) -> Vec<Finding> {
    let of = |(i, line): (usize, &&str)| {
        let found = HARN.captures(line)?;
        let place = lines[i + 1..].iter().take(2).find_map(|line| HARN_PLACE.captures(line));
        let place = place.map(|place| group(&place, 1)).unwrap_or_default();
        let said = format!("{}[{}]: {}", &found[1], &found[2], &found[3]);
        match &found[1] {
            "error" => Some(diagnostic(place, &said, &found[2])),
            _ => warnings.then(|| Finding::new(Finding::WARNING, &format!("{place}: {said}"))),
        }
    };
    lines.iter().enumerate().filter_map(of).collect()
}

pub(super) fn tsc(lines: &[&str]) -> Vec<Finding> {
    let of = |line: &&str| {
        let found = TSC.captures(line)?;
        let at = format!("{}{}", group(&found, 2).replace(',', ":"), group(&found, 3));
        let place = if at.is_empty() { String::new() } else { format!("{}:{at}", group(&found, 1)) };
        Some(diagnostic(&place, &format!("error {}: {}", &found[4], &found[5]), &found[4]))
    };
    lines.iter().filter_map(of).collect()
}

pub(super) fn mypy(lines: &[&str]) -> Vec<Finding> {
    let of = |line: &&str| {
        let found = MYPY.captures(line)?;
        Some(diagnostic(&found[1], &format!("error: {}", &found[2]), group(&found, 3)))
    };
    lines.iter().filter_map(of).collect()
}

pub(super) fn pyright(lines: &[&str], warnings: bool) -> Vec<Finding> {
    let of = |line: &&str| {
        let found = PYRIGHT.captures(line)?;
        match &found[2] {
            "error" => Some(diagnostic(&found[1], &format!("error: {}", &found[3]), group(&found, 4))),
            _ => warnings.then(|| warning(&found[1], &found[3])),
        }
    };
    lines.iter().filter_map(of).collect()
}

pub(super) fn eslint(lines: &[&str], warnings: bool) -> Vec<Finding> {
    let mut file = "";
    let mut all = Vec::new();
    for line in lines {
        if ESLINT_FILE.is_match(line) {
            file = line;
        } else if let Some(found) = ESLINT.captures(line).filter(|_| !file.is_empty()) {
            let place = format!("{file}:{}", &found[1]);
            match &found[2] {
                "error" => all.push(diagnostic(&place, &format!("error: {}", &found[3]), group(&found, 4))),
                _ if warnings => all.push(warning(&place, &found[3])),
                _ => {}
            }
        }
    }
    all
}

#[cfg(test)]
pub(super) fn patterns() -> Vec<&'static regex::Regex> {
    vec![&HARN, &HARN_PLACE, &TSC, &MYPY, &PYRIGHT, &ESLINT, &ESLINT_FILE]
}
