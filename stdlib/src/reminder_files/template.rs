//! The body of a reminder file: text with `${…}`.

use super::front_matter::offset;
use crate::codes::ReminderFileCode;
use lang::diagnostic::Diagnostic;
use lang::source::{SourceRef, Span};
use std::ops::Range;

/// A part of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BodyPart {
    /// Text.
    Text(String),
    /// An expression, as its bytes in the file.
    Expression(Range<usize>),
}

/// Splits a body into its parts. `\${` stands for `${`.
///
/// # Errors
/// Fails if an expression is not closed.
#[allow(clippy::result_large_err)] // once a file
pub(super) fn parts(source: &SourceRef, body: Range<usize>) -> Result<Vec<BodyPart>, Diagnostic> {
    let text = &source.text()[..body.end];
    let (mut parts, mut plain, mut at) = (Vec::new(), String::new(), body.start);
    while let Some(found) = text[at..].find("${").map(|found| at + found) {
        let before = &text[at..found];
        if let Some(kept) = before.strip_suffix('\\') {
            plain.push_str(kept);
            plain.push_str("${");
            at = found + 2;
            continue;
        }
        plain.push_str(before);
        let Some(end) = closing_brace(text, found + 2) else {
            let place = Span::new(offset(found), offset(found + 2));
            return Err(Diagnostic::new(ReminderFileCode::Invalid, "missing closing `}`")
                .label(source, place, "opened here")
                .help("close the expression, or write `\\${` for the two characters"));
        };
        if !plain.is_empty() {
            parts.push(BodyPart::Text(std::mem::take(&mut plain)));
        }
        parts.push(BodyPart::Expression(found + 2..end));
        at = end + 1;
    }
    plain.push_str(&text[at..]);
    if !plain.is_empty() {
        parts.push(BodyPart::Text(plain));
    }
    Ok(parts)
}

/// Returns the position of the brace that closes one before `from`. Braces in strings do not count.
fn closing_brace(text: &str, from: usize) -> Option<usize> {
    /// The surroundings of a position.
    #[derive(PartialEq)]
    enum Inside {
        Braces,
        Text,
    }
    let bytes = text.as_bytes();
    let mut open = vec![Inside::Braces];
    let mut at = from;
    while at < bytes.len() {
        let in_text = open.last() == Some(&Inside::Text);
        match bytes[at] {
            b'\\' if in_text => at += 1,
            b'"' if in_text => drop(open.pop()),
            b'"' => open.push(Inside::Text),
            b'$' if in_text && bytes.get(at + 1) == Some(&b'{') => {
                open.push(Inside::Braces);
                at += 1;
            }
            b'{' if !in_text => open.push(Inside::Braces),
            b'}' if !in_text => {
                open.pop();
                if open.is_empty() {
                    return Some(at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use lang::source::Source;

    fn read(text: &str) -> Option<Vec<String>> {
        let source = Source::new("a.md", text);
        let parts = parts(&source, 0..text.len()).ok()?;
        let show = |part: &BodyPart| match part {
            BodyPart::Text(text) => format!("'{text}'"),
            BodyPart::Expression(range) => text[range.clone()].to_owned(),
        };
        Some(parts.iter().map(show).collect())
    }

    #[test]
    fn expressions_end_at_their_own_brace() {
        let all = |text: &str| read(text).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(all("no"), ["'no'"]);
        assert_eq!(all("a ${x} b${y}"), ["'a '", "x", "' b'", "y"]);
        assert_eq!(all("${ {a: \"}\"}.a }"), [" {a: \"}\"}.a "]);
        assert_eq!(all("${\"${f({b: 1})} \\\" }\"}!"), ["\"${f({b: 1})} \\\" }\"", "'!'"]);
        assert_eq!(all("cost \\${x} $5 ${x}"), ["'cost ${x} $5 '", "x"]);
        assert_eq!(read("${x"), None);
        assert_eq!(read("${\"}"), None);
        assert_eq!(all(""), Vec::<String>::new());
    }
}
