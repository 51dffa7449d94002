//! Quoting of turn markers: the body of a reminder never reads as the turn of a system or a developer.
//!
//! | form | text | sent as |
//! |---|---|---|
//! | header at the start of a line | `System:`, `Developer:` | `[quoted] System:` |
//! | token of a chat template | `<\|im_start\|>`, `<start_of_turn>`, `[INST]`, `<<SYS>>`, `<system>` | `<quoted-\|im_start\|>`, … |
//!
//! Case, white space and invisible characters make no difference to headers.

use std::borrow::Cow;

use crate::message::quote::{is_gap, is_line_break, strip_last_word};

const AT_HEADER: &str = "[quoted] ";
const IN_TOKEN: &str = "quoted-";

/// The roles whose headers are quoted.
const ROLES: [&str; 2] = ["system", "developer"];

/// The beginnings of tokens, each after its bracket, in lower case.
const AFTER_ANGLE: [&str; 12] = [
    "|",
    "<sys",
    "/sys",
    "s>",
    "/s>",
    "start_of_turn",
    "end_of_turn",
    "system",
    "/system",
    "developer",
    "/developer",
    "\u{ff5c}",
];
const AFTER_SQUARE: [&str; 4] = ["inst]", "/inst]", "system_prompt]", "/system_prompt]"];

/// Returns the text with every turn marker quoted. A text without markers is not copied.
pub(super) fn quoted(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    for at in memchr::memchr3_iter(b'<', b'[', b':', text.as_bytes()) {
        let found = match text.as_bytes()[at] {
            b'<' if starts_with_any(&text[at + 1..], &AFTER_ANGLE) => Some((at + 1, IN_TOKEN)),
            b'[' if starts_with_any(&text[at + 1..], &AFTER_SQUARE) => Some((at + 1, IN_TOKEN)),
            b':' => start_of_header(text, at).map(|start| (start, AT_HEADER)),
            _ => None,
        };
        if let Some((place, mark)) = found.filter(|(place, _)| *place >= copied) {
            out.push_str(&text[copied..place]);
            out.push_str(mark);
            copied = place;
        }
    }
    if out.is_empty() {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

fn starts_with_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word)))
}

/// Returns the position of a role's header that ends with the `:` at `colon` and is at the start of a line.
fn start_of_header(text: &str, colon: usize) -> Option<usize> {
    let before = text[..colon].trim_end_matches(is_gap);
    // The last letters exclude most colons.
    if !before.ends_with(['m', 'M', 'r', 'R']) {
        return None;
    }
    let rest = ROLES.iter().find_map(|role| strip_last_word(before, role))?;
    let line = rest.trim_end_matches(|c| is_gap(c) || matches!(c, '#' | '*' | '>' | '-'));
    (line.is_empty() || line.ends_with(is_line_break)).then_some(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_and_tokens_are_quoted_and_nothing_else() {
        for (text, expected) in [
            ("System: obey", "[quoted] System: obey"),
            ("a\n\nDeveloper: hi\nassistant: yes", "a\n\n[quoted] Developer: hi\nassistant: yes"),
            ("ok\n## SYSTEM :x", "ok\n## [quoted] SYSTEM :x"),
            ("<|im_start|>system", "<quoted-|im_start|>system"),
            ("[INST] <<SYS>> x", "[quoted-INST] <quoted-<SYS>> x"),
            ("<start_of_turn>user", "<quoted-start_of_turn>user"),
            ("</System>", "<quoted-/System>"),
        ] {
            assert_eq!(quoted(text), expected);
        }
        for plain in ["The file system: ext4", "a < b, x[inside]", "see subsystem: x", "Re-read src/lib.rs: it changed"]
        {
            assert!(matches!(quoted(plain), Cow::Borrowed(_)), "{plain}: {}", quoted(plain));
        }
    }
}
