//! [`Pattern`]: a filter that selects events for a handler. `*` or a glob over the tool's name (or the path of a file
//! event), `path == "value"`, `path =~ "regex"`, or a dotted path that must be true.

use std::fmt;

use globset::{Glob, GlobMatcher};
use regex::Regex;

use crate::hooks::HookEvent;

/// Maximum length of a pattern, in bytes. Parsing a regular expression needs about a hundred times its length in
/// memory.
const LONGEST: usize = 64 << 10;

/// A filter that selects events for a handler.
#[derive(Clone)]
pub struct Pattern {
    text: String,
    test: PatternTest,
}

#[derive(Clone)]
enum PatternTest {
    All,
    Glob(GlobMatcher),
    Equals(String, String),
    Regex(String, Regex),
    Truthy(String),
}

/// The reason a pattern is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid pattern {pattern:?}: {reason}")]
pub struct PatternError {
    /// The pattern.
    pub pattern: String,
    /// Description of the mistake.
    pub reason: String,
}

impl Pattern {
    /// Returns the pattern that matches everything.
    #[must_use]
    pub fn all() -> Pattern {
        Pattern { text: "*".to_owned(), test: PatternTest::All }
    }

    /// Parses a pattern.
    pub fn parse(text: &str) -> Result<Pattern, PatternError> {
        let error = |reason: String| PatternError { pattern: text.to_owned(), reason };
        if text.len() > LONGEST {
            let pattern: String = text.chars().take(40).chain(['…']).collect();
            return Err(PatternError { pattern, reason: format!("it is longer than {LONGEST} bytes") });
        }
        let trimmed = text.trim();
        let test = if let Some((path, value)) = trimmed.split_once("==") {
            let value = unquote(value).ok_or_else(|| error("write path == \"value\"".to_owned()))?;
            PatternTest::Equals(path.trim().to_owned(), value.to_owned())
        } else if let Some((path, value)) = trimmed.split_once("=~") {
            let value = unquote(value).ok_or_else(|| error("write path =~ \"regex\"".to_owned()))?;
            let regex = Regex::new(value).map_err(|fault| error(in_a_line(&fault.to_string())))?;
            PatternTest::Regex(path.trim().to_owned(), regex)
        } else if trimmed == "*" || trimmed.is_empty() {
            PatternTest::All
        } else if trimmed.contains('.') && trimmed.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.') {
            PatternTest::Truthy(trimmed.to_owned())
        } else {
            PatternTest::Glob(Glob::new(trimmed).map_err(|fault| error(fault.kind().to_string()))?.compile_matcher())
        };
        Ok(Pattern { text: trimmed.to_owned(), test })
    }

    /// Returns whether an event matches.
    #[must_use]
    pub fn matches(&self, event: &HookEvent<'_>) -> bool {
        match &self.test {
            PatternTest::All => true,
            PatternTest::Glob(_) => {
                let subject = ["tool.name", "tool_name", "tool", "path"].iter().map(|path| event.get(path));
                subject.into_iter().find_map(|value| value.as_shared_str()).is_some_and(|name| self.matches_name(&name))
            }
            PatternTest::Equals(path, value) => event.get(path).to_text().as_ref() == value,
            PatternTest::Regex(path, regex) => regex.is_match(&event.get(path).to_text()),
            PatternTest::Truthy(path) => event.get(path).truthy(),
        }
    }

    /// Returns whether a name matches, if the pattern is a glob.
    #[must_use]
    pub fn matches_name(&self, name: &str) -> bool {
        match &self.test {
            PatternTest::All => true,
            PatternTest::Glob(glob) => glob.is_match(name),
            _ => self.text == name,
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pattern({})", self.text)
    }
}

/// Returns a regex error on one line, without its diagram.
fn in_a_line(fault: &str) -> String {
    let last = fault.lines().last().unwrap_or(fault).trim();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

fn unquote(text: &str) -> Option<&str> {
    let text = text.trim();
    ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::EventKind;
    use crate::message::ToolCall;
    use base::data::Data;

    #[test]
    fn a_pattern_that_is_too_long_is_refused_unread() {
        let Err(refused) = Pattern::parse(&"x".repeat(LONGEST + 1)) else { panic!("it was read") };
        assert_eq!(refused.pattern, format!("{}…", "x".repeat(40)));
        assert!(Pattern::parse(&"x".repeat(1000)).is_ok());
    }

    #[test]
    fn every_form_is_read() {
        let call = ToolCall::new("1", "read_file", Data::dict([("path", Data::from("src/a.rs"))]));
        let event = HookEvent::PreToolUse { call: &call, iteration: 1 };
        for (pattern, wanted) in [
            ("*", true),
            ("read_*", true),
            ("write_*", false),
            ("tool.args.path == \"src/a.rs\"", true),
            ("tool.args.path =~ \"\\.py$\"", false),
            ("tool.args.path", true),
            ("tool.args.nothing", false),
        ] {
            assert_eq!(Pattern::parse(pattern).unwrap().matches(&event), wanted, "{pattern}");
        }
        assert!(Pattern::parse("a =~ \"(\"").unwrap_err().to_string().contains("unclosed group"));
        assert!(Pattern::parse("a == b").is_err());
        let edited = Data::dict([("path", Data::from("docs/x.md"))]);
        assert!(
            Pattern::parse("*.md").unwrap().matches(&HookEvent::Raw { kind: EventKind::FileEdited, payload: &edited })
        );
    }
}
