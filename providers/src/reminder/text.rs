//! Text of others in the bodies of reminders: bounded, and on one line where the body is made of lines.

use std::fmt::Write;

/// The text, cut at a character's border to at most `bytes` bytes; what is left out is counted.
pub(super) fn clip(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(bytes);
    let mut clipped = text[..end].trim_end().to_owned();
    let left = text[end..].chars().count();
    // Writing to a string cannot fail.
    let _ = write!(clipped, " … [{left} more characters]");
    clipped
}

/// The text on one line, blanks run together, cut to at most `bytes` bytes.
pub(super) fn line(text: &str, bytes: usize) -> String {
    // What is cut off anyway need not be looked at.
    let seen = &text[..text.floor_char_boundary(bytes.saturating_mul(4))];
    let mut line = String::with_capacity(seen.len().min(bytes));
    for word in seen.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if line.len() > bytes || seen.len() < text.len() {
        line.truncate(line.floor_char_boundary(bytes));
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut_between_characters() {
        assert_eq!(clip("short", 5), "short");
        assert_eq!(clip("grüße an alle", 4), "grü … [10 more characters]");
        assert_eq!(clip("grüße", 3), "gr … [3 more characters]");
    }

    #[test]
    fn a_line_has_no_breaks() {
        assert_eq!(line("  a\n\tb \u{1b}[31mc\r\n", 80), "a b [31mc");
        assert_eq!(line("one two three", 7), "one two…");
        assert_eq!(line(&"x ".repeat(100_000), 10).len(), 10 + '…'.len_utf8());
        assert_eq!(line("ü".repeat(50).as_str(), 5), "üü…");
    }
}
