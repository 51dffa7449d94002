//! Text that a model wrote is shown as text: what a terminal would obey becomes a visible sign.

use stdlib::shown;
use unicode_width::UnicodeWidthChar;

/// A whole text, its line breaks made spaces.
pub(super) fn one_line(text: &str) -> String {
    text.chars().filter_map(|c| if c == '\n' { Some(' ') } else { shown(c) }).collect()
}

/// Columns of a text that was cleaned.
pub(super) fn columns(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// The beginning of a text that fits into so many columns.
pub(super) fn cut(text: &str, most: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > most {
            return &text[..at];
        }
    }
    text
}

/// Text that grows, given out line by line as the screen is wide.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The line that is not complete, cleaned.
    rest: String,
}

impl Lines {
    /// Takes more text in; the lines that are complete now. Long ones are broken between words where that is possible.
    pub(super) fn take(&mut self, text: &str, most: usize) -> Vec<String> {
        let mut done = Vec::new();
        for c in text.chars() {
            if c == '\n' {
                done.push(std::mem::take(&mut self.rest));
                continue;
            }
            self.rest.extend(shown(c));
        }
        while columns(&self.rest) > most {
            let fits = cut(&self.rest, most).len().max(self.rest.chars().next().map_or(1, char::len_utf8));
            let end = self.rest[..fits].rfind(' ').map_or(fits, |blank| blank + 1);
            let left = self.rest.split_off(end);
            done.push(std::mem::replace(&mut self.rest, left));
        }
        done
    }

    /// The line that is not complete; nothing is left of it here.
    pub(super) fn end(&mut self) -> Option<String> {
        let rest = std::mem::take(&mut self.rest);
        (!rest.is_empty()).then_some(rest)
    }

    /// The line that is not complete.
    pub(super) fn rest(&self) -> &str {
        &self.rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        let nasty = "a\x1b[31mred\x1b]0;title\x07 b\u{9b}2J c\rd\x7f\x08\u{202e}e\u{2066}";
        let mut lines = Lines::default();
        assert!(lines.take(nasty, 200).is_empty());
        assert_eq!(lines.rest(), "a␛[31mred␛]0;title␇ b\u{fffd}2J cd␡␈\u{fffd}e\u{fffd}");
        assert_eq!(one_line("a\nb\x1bc"), "a b␛c");
    }

    #[test]
    fn lines_are_broken_between_words() {
        let mut lines = Lines::default();
        assert_eq!(lines.take("one two three four", 10), ["one two "]);
        assert_eq!(lines.take("\nabcdefghijklmn\n", 10), ["three four", "abcdefghijklmn"]);
        assert_eq!(lines.take("abcdefghijklmn", 10), ["abcdefghij"]);
        assert_eq!(lines.end().as_deref(), Some("klmn"));
        assert_eq!(lines.end(), None);
        // A wide character where there is room for none still goes on.
        assert_eq!(lines.take("語語", 1), ["語", "語"]);
    }
}
