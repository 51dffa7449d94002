//! [`Finding`]: one thing that a verifier or the runtime has found.

use std::collections::BTreeSet;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use crate::reminder::text;

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    /// The kind of evidence.
    pub(super) kind: Arc<str>,
    /// The finding, on one line.
    message: String,
    /// The command that found it.
    pub(super) command: Option<String>,
}

impl Finding {
    /// A failure inside a tool.
    pub(super) const TOOL_ERROR: &str = "tool_error";
    /// A text that cannot be parsed.
    pub(super) const PARSE_ERROR: &str = "parse_error";
    /// A name that nothing defines.
    pub(super) const UNDEFINED_NAME: &str = "undefined_name";
    /// A diagnostic of another kind.
    pub(super) const DIAGNOSTIC: &str = "diagnostic";
    /// A diagnostic that is a warning.
    pub(super) const WARNING: &str = "warning";
    /// A test that fails.
    pub(super) const TEST_FAILURE: &str = "test_failure";
    /// A verification command that failed and did not say more.
    pub(super) const COMMAND_FAILURE: &str = "command_failure";

    /// A finding whose message is put on one line and kept short.
    pub(super) fn new(kind: &str, message: &str) -> Finding {
        Finding { kind: text::line(kind, 64).into(), message: text::line(message, 400), command: None }
    }

    /// A finding with a kind that follows from what is said.
    pub(super) fn of_diagnostic(message: &str, code: &str) -> Finding {
        Finding::new(kind_of(message, code), message)
    }

    /// Returns the finding with the command that found it.
    pub(super) fn by(self, command: &str) -> Finding {
        Finding { command: Some(text::line(command, 160)), ..self }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "verified:{} {}", self.kind, self.message)?;
        match &self.command {
            Some(command) => write!(f, " (command={command})"),
            None => Ok(()),
        }
    }
}

/// Distinct findings. All are counted, the first ones are kept.
#[derive(Debug, Default)]
pub(super) struct Findings {
    first: Vec<(i64, Finding)>,
    seen: BTreeSet<i64>,
}

impl Findings {
    /// The maximum number of kept findings: more than one reminder lists.
    const KEPT: usize = 64;

    pub(super) fn push(&mut self, finding: Finding) {
        let mut hasher = DefaultHasher::new();
        finding.to_string().hash(&mut hasher);
        let mark = hasher.finish().cast_signed();
        if self.seen.insert(mark) && self.first.len() < Self::KEPT {
            self.first.push((mark, finding));
        }
    }

    /// Returns the number of findings, including those that are not kept.
    pub(super) fn len(&self) -> usize {
        self.seen.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// The first ones.
    pub(super) fn first(&self) -> impl Iterator<Item = &Finding> {
        self.first.iter().map(|(_, finding)| finding)
    }

    /// Returns the hashes by which findings are recognized.
    pub(super) fn marks(&self) -> impl Iterator<Item = i64> {
        self.seen.iter().copied()
    }

    /// Leaves out those that are known.
    pub(super) fn forget(&mut self, known: &BTreeSet<i64>) {
        self.seen.retain(|mark| !known.contains(mark));
        self.first.retain(|(mark, _)| !known.contains(mark));
    }
}

impl Extend<Finding> for Findings {
    fn extend<I: IntoIterator<Item = Finding>>(&mut self, findings: I) {
        findings.into_iter().for_each(|finding| self.push(finding));
    }
}

/// Codes by which verifiers say that a name is not defined.
const UNDEFINED_CODES: &[&str] = &[
    "E0405",
    "E0412",
    "E0422",
    "E0425",
    "E0426",
    "E0432",
    "E0433", // rustc
    "TS2304",
    "TS2552",
    "2304",
    "2552", // tsc
    "F821",
    "no-undef",
    "name-defined",
    "reportUndefinedVariable",
    "undefined-variable",
    "E0602", // python, eslint
    "HARN-NAM-001",
    "UndeclaredName",
    "UndeclaredImportedName", // harn, gopls
];

/// The phrases for undefined names in messages.
const UNDEFINED_WORDS: &[&str] = &[
    "undefined: ",
    "undefined name",
    "undefined variable",
    "undeclared name",
    "is not defined",
    "cannot find name",
    "cannot find value",
    "nameerror",
];

/// Words by which they say that a text cannot be parsed.
const PARSE_WORDS: &[&str] = &[
    "syntax error",
    "syntaxerror",
    "parse error",
    "parsing error",
    "failed to parse",
    "unexpected token",
    "unclosed delimiter",
    "closing delimiter",
    ", found '", // the parser of Go
    "indentationerror",
    "taberror",
];

/// Returns the kind of a diagnostic.
pub(super) fn kind_of(message: &str, code: &str) -> &'static str {
    if UNDEFINED_CODES.contains(&code) {
        return Finding::UNDEFINED_NAME;
    }
    // TypeScript's syntax errors are numbered from 1000 to 1999.
    let typescript_syntax = code.strip_prefix("TS1").is_some_and(|rest| rest.len() == 3);
    if typescript_syntax || code.starts_with("HARN-PAR") || code.starts_with("HARN-LEX") || code == "syntax" {
        return Finding::PARSE_ERROR;
    }
    let message = message.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    if says(UNDEFINED_WORDS) {
        Finding::UNDEFINED_NAME
    } else if says(PARSE_WORDS) {
        Finding::PARSE_ERROR
    } else {
        Finding::DIAGNOSTIC
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_one_line_that_names_kind_and_command() {
        let finding = Finding::new(Finding::TEST_FAILURE, "a::b\n  failed").by("cargo test");
        assert_eq!(finding.to_string(), "verified:test_failure a::b failed (command=cargo test)");
        assert_eq!(Finding::new("type check", "x").to_string(), "verified:type check x");
        assert!(Finding::new("k", &"x".repeat(9_000)).to_string().len() < 450);
    }

    #[test]
    fn the_kind_follows_from_code_or_words() {
        for (message, code, kind) in [
            ("cannot find value `x` in this scope", "E0425", "undefined_name"),
            ("./a.go:3:2: undefined: foo", "", "undefined_name"),
            ("Name \"x\" is not defined", "name-defined", "undefined_name"),
            ("';' expected.", "TS1005", "parse_error"),
            ("Type 'string' is not assignable", "TS2322", "diagnostic"),
            ("E   SyntaxError: invalid syntax", "", "parse_error"),
            ("expected `;`", "HARN-PAR-001", "parse_error"),
            ("mismatched types", "E0308", "diagnostic"),
        ] {
            assert_eq!(kind_of(message, code), kind, "{message} {code}");
        }
    }
}
