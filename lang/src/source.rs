//! Source texts and positions in them.

use std::fmt;
use std::sync::{Arc, OnceLock};

/// A half-open range of bytes in one source text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The bytes `start..end`.
    #[must_use]
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// The smallest span that covers both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Returns the span as a range of indexes.
    #[must_use]
    pub const fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

/// One source text: a file, a line typed into the REPL, a code block.
#[derive(Debug)]
pub struct Source {
    name: String,
    text: String,
    /// Whether diagnostics must not show the text: the file does not belong to whom they are shown to.
    is_foreign: bool,
    /// Starts of all lines but the first, computed when a position is first requested.
    lines: OnceLock<Vec<u32>>,
}

/// Sources are shared by diagnostics, programs and stack traces.
pub type SourceRef = Arc<Source>;

/// A position as people count it, both from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Character in the line, from 1.
    pub column: u32,
}

impl Source {
    /// A source called `name` in diagnostics. Texts end at 4 GiB; what is behind is cut off by the loader before.
    #[must_use]
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> SourceRef {
        Arc::new(Self { name: name.into(), text: text.into(), is_foreign: false, lines: OnceLock::new() })
    }

    /// Creates a source whose text diagnostics do not show.
    #[must_use]
    pub fn foreign(name: impl Into<String>, text: impl Into<String>) -> SourceRef {
        Arc::new(Self { name: name.into(), text: text.into(), is_foreign: true, lines: OnceLock::new() })
    }

    /// Returns whether diagnostics must not show the text.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        self.is_foreign
    }

    /// Returns the name in diagnostics, usually the path as the user gave it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text of `span`; empty when the span does not fit.
    #[must_use]
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// Returns the starts of all lines but the first.
    fn line_starts(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            let breaks = self.text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
            breaks.map(|(i, _)| u32::try_from(i + 1).unwrap_or(u32::MAX)).collect()
        })
    }

    /// Line of a byte offset, from 1.
    #[must_use]
    pub fn line(&self, offset: u32) -> u32 {
        let end = (offset as usize).min(self.text.len());
        let above = self.line_starts().partition_point(|start| *start as usize <= end);
        u32::try_from(above + 1).unwrap_or(u32::MAX)
    }

    /// Line and column of a byte offset.
    #[must_use]
    pub fn position(&self, offset: u32) -> Position {
        let end = (offset as usize).min(self.text.len());
        let starts = self.line_starts();
        let above = starts.partition_point(|start| *start as usize <= end);
        let line_start = above.checked_sub(1).map_or(0, |i| starts[i] as usize);
        let line = above + 1;
        // Continuation bytes of UTF-8 are not characters of their own.
        let column = self.text.as_bytes()[line_start..end].iter().filter(|&&b| b & 0xC0 != 0x80).count() + 1;
        Position { line: u32::try_from(line).unwrap_or(u32::MAX), column: u32::try_from(column).unwrap_or(u32::MAX) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_not_bytes() {
        let source = Source::new("t", "let ä = 1\nlet b = ä");
        assert_eq!(source.position(0), Position { line: 1, column: 1 });
        assert_eq!(source.position(7), Position { line: 1, column: 7 });
        assert_eq!(source.position(19), Position { line: 2, column: 9 });
    }
}
