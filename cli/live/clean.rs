//! Text that a model wrote is shown as text: what a terminal would obey becomes a visible sign.

use stdlib::shown;
use unicode_width::UnicodeWidthChar;

/// A whole text, its line breaks made spaces.
pub(super) fn one_line(text: &str) -> String {
    text.chars().filter_map(|c| if c == '\n' { Some(' ') } else { shown(c) }).collect()
}

/// A whole text in rows of at most so many columns, broken between words. All but the first are indented.
pub(super) fn wrapped(text: &str, most: usize) -> Vec<String> {
    const INDENT: usize = 2;
    // Wider rows cannot be counted.
    let most = most.clamp(1, 1 << 20);
    let mut rows: Vec<String> = Vec::new();
    for line in text.split('\n') {
        let mut lines = LineWrapper::default();
        let mut parts = lines.take(line, most.saturating_sub(INDENT).max(1));
        parts.extend(lines.end());
        for part in parts {
            let part = part.trim_end();
            rows.push(if rows.is_empty() { part.to_owned() } else { format!("{:INDENT$}{part}", "") });
        }
    }
    rows
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

/// Characters of a row, for each of its columns: marks that take no room would never fill it.
const CHARACTERS: usize = 4;

/// Text that grows, given out line by line as the screen is wide. Each character is looked at once, however long a line is.
#[derive(Debug, Default)]
pub(super) struct LineWrapper {
    /// The line that is not complete, cleaned.
    rest: String,
    columns: usize,
    characters: usize,
    /// Behind the last blank of it: bytes, columns and characters.
    blank: Option<(usize, usize, usize)>,
}

impl LineWrapper {
    /// Takes more text in; the lines that are complete now. Long ones are broken between words where that is possible.
    pub(super) fn take(&mut self, text: &str, most: usize) -> Vec<String> {
        let mut done = Vec::new();
        if self.columns > most {
            // The screen has become narrower.
            let rest = std::mem::take(self).rest;
            rest.chars().for_each(|c| self.push(c, most, &mut done));
        }
        let (whole, last) = text.rsplit_once('\n').map_or((None, text), |(whole, last)| (Some(whole), last));
        // What is complete is left to the terminal as it is.
        for line in whole.into_iter().flat_map(|whole| whole.split('\n')) {
            let mut row = std::mem::take(self).rest;
            row.extend(line.chars().filter_map(shown));
            done.push(row);
        }
        last.chars().filter_map(shown).for_each(|c| self.push(c, most, &mut done));
        done
    }

    /// Takes a character in; a row that has no room for it is done.
    fn push(&mut self, c: char, most: usize, done: &mut Vec<String>) {
        let width = c.width().unwrap_or(0);
        while !self.rest.is_empty() && (self.columns + width > most || self.characters >= most * CHARACTERS) {
            self.break_off(done);
        }
        self.rest.push(c);
        self.columns += width;
        self.characters += 1;
        if c == ' ' {
            self.blank = Some((self.rest.len(), self.columns, self.characters));
        }
        // A wide character that exceeds the row by itself.
        if self.columns > most {
            self.break_off(done);
        }
    }

    /// Moves the row up to its last blank to `done`, or all of it.
    fn break_off(&mut self, done: &mut Vec<String>) {
        let all = (self.rest.len(), self.columns, self.characters);
        let (bytes, columns, characters) = self.blank.take().unwrap_or(all);
        let left = self.rest.split_off(bytes);
        done.push(std::mem::replace(&mut self.rest, left));
        self.columns -= columns;
        self.characters -= characters;
    }

    /// The line that is not complete; nothing is left of it here.
    pub(super) fn end(&mut self) -> Option<String> {
        let rest = std::mem::take(self).rest;
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
        let mut lines = LineWrapper::default();
        assert!(lines.take(nasty, 200).is_empty());
        assert_eq!(lines.rest(), "a␛[31mred␛]0;title␇ b\u{fffd}2J cd␡␈\u{fffd}e\u{fffd}");
        assert_eq!(one_line("a\nb\x1bc"), "a b␛c");
    }

    #[test]
    fn lines_are_broken_between_words() {
        let mut lines = LineWrapper::default();
        assert_eq!(lines.take("one two three four", 10), ["one two "]);
        assert_eq!(lines.take("\nabcdefghijklmn\n", 10), ["three four", "abcdefghijklmn"]);
        assert_eq!(lines.take("abcdefghijklmn", 10), ["abcdefghij"]);
        assert_eq!(lines.end().as_deref(), Some("klmn"));
        assert_eq!(lines.end(), None);
        // A wide character where there is room for none still goes on.
        assert_eq!(lines.take("語語", 1), ["語", "語"]);
    }

    #[test]
    fn a_long_line_in_one_piece_is_looked_at_once() {
        let mut lines = LineWrapper::default();
        let text = "x".repeat(3_000_000);
        let rows = lines.take(&text, 79);
        assert_eq!((rows.len(), lines.rest().len()), (text.len() / 79, text.len() % 79));
        assert!(rows.iter().all(|row| row.len() == 79));
    }

    #[test]
    fn marks_that_take_no_room_fill_a_row_too() {
        let mut lines = LineWrapper::default();
        let mut given = 0;
        for _ in 0..1_000 {
            given += lines.take(&"\u{301}".repeat(100), 20).iter().map(|row| row.chars().count()).sum::<usize>();
            assert!(lines.rest().chars().count() <= 80);
        }
        assert_eq!(given + lines.rest().chars().count(), 100_000);
    }

    #[test]
    fn a_screen_that_became_narrower_breaks_what_was_coming() {
        let mut lines = LineWrapper::default();
        assert!(lines.take("one two three", 20).is_empty());
        assert_eq!(lines.take("!", 8), ["one two "]);
        assert_eq!(lines.rest(), "three!");
    }
}
