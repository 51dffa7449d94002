//! Failure lines in the output of verification commands. A run that says that it passed has none, whatever its lines say:
//! tests print errors on purpose, and have names with `error` in them.

use std::sync::LazyLock;

use regex::Regex;

use super::command::{Command, Family};
use super::finding::{Finding, kind_of};

mod cargo;
mod go;
mod lines;
mod pytest;

/// A pattern that is made when it is first wanted.
type Pattern = LazyLock<Regex>;

/// A pattern that is written in this crate. A test makes them all, so none can fail here.
fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a test makes every pattern")
}

/// The failure lines of the output of these commands.
pub(super) fn scan(text: &str, commands: &[Command], warnings: bool) -> Vec<Finding> {
    static COLOUR: Pattern = LazyLock::new(|| pattern(r"\x1b\[[0-9;?]*[A-Za-z]"));
    let plain = if text.contains('\u{1b}') { COLOUR.replace_all(text, "") } else { text.into() };
    let lines: Vec<&str> = plain.lines().map(str::trim_end).collect();
    let mut found = Vec::new();
    let mut done: Vec<Family> = Vec::new();
    for command in commands {
        if done.contains(&command.family) {
            continue;
        }
        done.push(command.family);
        // `cargo check && cargo test`: a failing test is found by the one that runs tests.
        let of_family = || commands.iter().filter(|other| other.family == command.family);
        let tests = of_family().find(|other| other.tests).unwrap_or(command);
        for finding in of(command.family, &lines, warnings) {
            let by = if finding.kind.as_ref() == Finding::TEST_FAILURE { tests } else { command };
            found.push(finding.by(&by.text));
        }
    }
    found
}

fn of(family: Family, lines: &[&str], warnings: bool) -> Vec<Finding> {
    match family {
        Family::Cargo => cargo::scan(lines, warnings),
        Family::Pytest => pytest::scan(lines),
        Family::Go => go::scan(lines),
        Family::Harn => lines::harn(lines, warnings),
        Family::Tsc => lines::tsc(lines),
        Family::Mypy => lines::mypy(lines),
        Family::Pyright => lines::pyright(lines, warnings),
        Family::Eslint => lines::eslint(lines, warnings),
    }
}

/// Returns the command that wrote a text, if nothing else names it. Only endings that no other
/// program writes count.
pub(super) fn guess(text: &str) -> Option<Command> {
    static MARKS: LazyLock<[(Regex, Family, &str, bool); 5]> = LazyLock::new(|| {
        [
            (pattern(r"(?m)^test result: FAILED\. \d+ passed"), Family::Cargo, "cargo test", true),
            (pattern(r"(?m)^error: could not compile `"), Family::Cargo, "cargo check", false),
            (pattern(r"(?m)^=+ .*\d+ (failed|errors?)\b.* in [\d.]+s"), Family::Pytest, "pytest", true),
            (pattern(r"(?m)^FAIL\t\S+"), Family::Go, "go test", true),
            (pattern(r"(?m)^\S+\(\d+,\d+\): error TS\d+: "), Family::Tsc, "tsc", false),
        ]
    });
    let (_, family, text, tests) = MARKS.iter().find(|(mark, ..)| mark.is_match(text))?;
    Some(Command { family: *family, text: (*text).to_owned(), tests: *tests })
}

/// A finding with the kind that its words say.
fn diagnostic(place: &str, message: &str, code: &str) -> Finding {
    let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
    Finding::new(kind_of(message, code), &format!("{place}{message}"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_pattern_can_be_made() {
        // Dereferencing makes it.
        let all =
            [super::cargo::patterns(), super::pytest::patterns(), super::go::patterns(), super::lines::patterns()];
        assert_eq!(all.iter().flatten().filter(|pattern| !pattern.as_str().is_empty()).count(), 27);
        assert!(super::guess("").is_none());
    }
}
