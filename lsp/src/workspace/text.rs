//! Texts with their lines: positions of the protocol on one side, byte offsets on the other.

use lang::source::{Source, SourceRef, Span};
use lsp_types::{Position, PositionEncodingKind, Range, TextDocumentContentChangeEvent};

/// The unit in which a client counts the columns of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Encoding {
    Utf8,
    #[default]
    Utf16,
    Utf32,
}

impl Encoding {
    /// Returns the cheapest of those that a client offers.
    pub(crate) fn best_of(offered: Option<&[PositionEncodingKind]>) -> Self {
        let offers = |kind: &PositionEncodingKind| offered.is_some_and(|offered| offered.contains(kind));
        if offers(&PositionEncodingKind::UTF8) {
            Self::Utf8
        } else if offers(&PositionEncodingKind::UTF32) && !offers(&PositionEncodingKind::UTF16) {
            Self::Utf32
        } else {
            Self::Utf16
        }
    }

    pub(crate) const fn kind(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
            Self::Utf32 => PositionEncodingKind::UTF32,
        }
    }

    fn len(self, c: char) -> usize {
        match self {
            Self::Utf8 => c.len_utf8(),
            Self::Utf16 => c.len_utf16(),
            Self::Utf32 => 1,
        }
    }

    /// Returns the number of units of a text.
    pub(crate) fn width(self, text: &str) -> u32 {
        let width = if text.is_ascii() { text.len() } else { text.chars().map(|c| self.len(c)).sum() };
        offset32(width)
    }
}

fn offset32(offset: usize) -> u32 {
    // Texts end at 4 GiB.
    u32::try_from(offset).unwrap_or(u32::MAX)
}

/// A text with the starts of its lines. A line ends with `\n`, `\r\n` or `\r`.
#[derive(Debug)]
pub(crate) struct LinedText {
    source: SourceRef,
    /// Starts of all lines; the first is 0.
    starts: Vec<u32>,
    encoding: Encoding,
}

impl LinedText {
    pub(crate) fn new(source: SourceRef, encoding: Encoding) -> Self {
        let mut starts = vec![0];
        push_starts(source.text(), 0, &mut starts);
        Self { source, starts, encoding }
    }

    pub(crate) fn source(&self) -> &SourceRef {
        &self.source
    }

    pub(crate) fn text(&self) -> &str {
        self.source.text()
    }

    /// Returns the bytes of a line, without its line break.
    fn line_span(&self, line: u32) -> Option<Span> {
        let start = *self.starts.get(line as usize)?;
        let end = self.starts.get(line as usize + 1).copied().unwrap_or_else(|| offset32(self.text().len()));
        let text = self.source.slice(Span::new(start, end));
        let text = text.strip_suffix('\n').unwrap_or(text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        Some(Span::new(start, start + offset32(text.len())))
    }

    /// Returns the text of a line, without its line break.
    pub(crate) fn line(&self, line: u32) -> Option<&str> {
        self.line_span(line).map(|span| self.source.slice(span))
    }

    /// Returns the line of a byte offset, from 0.
    pub(crate) fn line_of(&self, offset: u32) -> u32 {
        offset32(self.starts.partition_point(|start| *start <= offset).saturating_sub(1))
    }

    /// Returns the position of a byte offset. An offset inside of a line break is at the end of its line.
    pub(crate) fn position(&self, offset: u32) -> Position {
        let offset = offset.min(offset32(self.text().len()));
        let line = self.line_of(offset);
        let span = self.line_span(line).unwrap_or_default();
        let mut end = offset.min(span.end) as usize;
        while !self.text().is_char_boundary(end) {
            end -= 1;
        }
        let before = self.text().get(span.start as usize..end).unwrap_or("");
        Position::new(line, self.encoding.width(before))
    }

    /// Returns the range of some bytes.
    pub(crate) fn range(&self, span: Span) -> Range {
        Range::new(self.position(span.start), self.position(span.end))
    }

    /// Returns the byte offset of a position, or `None` if the text has no such line. A column after the end of the line means its
    /// end, one inside of a character its beginning.
    pub(crate) fn offset(&self, position: Position) -> Option<u32> {
        let span = self.line_span(position.line)?;
        let line = self.source.slice(span);
        let column = position.character as usize;
        if line.is_ascii() {
            return Some(span.start + offset32(column.min(line.len())));
        }
        let mut units = 0;
        for (at, c) in line.char_indices() {
            units += self.encoding.len(c);
            if units > column {
                return Some(span.start + offset32(at));
            }
        }
        Some(span.end)
    }

    /// Returns the byte offset of a position; a line after the last one means the end of the text.
    fn nearest_offset(&self, position: Position) -> u32 {
        self.offset(position).unwrap_or_else(|| offset32(self.text().len()))
    }

    /// Returns the bytes of a range in the text, as [`Self::nearest_offset`] finds its ends. Reversed ends are exchanged.
    pub(crate) fn nearest_span(&self, range: Range) -> Span {
        let (start, end) = (self.nearest_offset(range.start), self.nearest_offset(range.end));
        Span::new(start.min(end), start.max(end))
    }

    /// Returns the range of the whole text.
    pub(crate) fn whole(&self) -> Range {
        self.range(Span::new(0, offset32(self.text().len())))
    }

    /// Returns the text after some changes, which are made one after the other. Ranges outside of the text are cut off.
    pub(crate) fn changed(&self, changes: Vec<TextDocumentContentChangeEvent>) -> Self {
        let mut current: Option<Self> = None;
        for change in changes {
            let before = current.as_ref().unwrap_or(self);
            current = Some(match change.range {
                None => before.with_text(change.text),
                Some(range) => before.spliced(before.nearest_span(range), &change.text),
            });
        }
        current.unwrap_or_else(|| self.with_text(self.text().to_owned()))
    }

    fn with_text(&self, text: String) -> Self {
        Self::new(Source::new(self.source.name(), text), self.encoding)
    }

    fn spliced(&self, span: Span, new: &str) -> Self {
        let old = self.text();
        let (before, after) = (&old[..span.range().start], &old[span.range().end..]);
        let text = [before, new, after].concat();
        // The lines that end before the change stay, unless it separates or joins `\r` and `\n`.
        let first = self.line_of(span.start).saturating_sub(1) as usize;
        let mut starts = self.starts[..=first].to_vec();
        let from = starts[first] as usize;
        push_starts(&text[from..], from, &mut starts);
        Self { source: Source::new(self.source.name(), text), starts, encoding: self.encoding }
    }
}

/// Adds the starts of all lines of a text but the first; the text begins at an offset.
fn push_starts(text: &str, offset: usize, starts: &mut Vec<u32>) {
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        if *byte == b'\n' || *byte == b'\r' && bytes.get(at + 1) != Some(&b'\n') {
            starts.push(offset32(offset + at + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str, encoding: Encoding) -> LinedText {
        LinedText::new(Source::new("t", text), encoding)
    }

    fn change(start: (u32, u32), end: (u32, u32), text: &str) -> TextDocumentContentChangeEvent {
        let range = Range::new(Position::new(start.0, start.1), Position::new(end.0, end.1));
        TextDocumentContentChangeEvent { range: Some(range), range_length: None, text: text.to_owned() }
    }

    #[test]
    fn columns_are_counted_in_the_unit_of_the_client() {
        let written = "a\nlet 👍é = 1\r\nb\rc";
        for (encoding, column) in [(Encoding::Utf8, 10), (Encoding::Utf16, 7), (Encoding::Utf32, 6)] {
            let text = text(written, encoding);
            assert_eq!(text.starts.len(), 4);
            let at = offset32(written.find(" =").unwrap());
            assert_eq!(text.position(at), Position::new(1, column));
            assert_eq!(text.offset(Position::new(1, column)), Some(at));
            let inside = if encoding == Encoding::Utf32 { 10 } else { 6 };
            assert_eq!(text.offset(Position::new(1, 5)), Some(inside), "inside of a character: its beginning");
            assert_eq!(text.offset(Position::new(1, 99)), Some(offset32(written.find('\r').unwrap())));
            assert_eq!(text.offset(Position::new(4, 0)), None);
            assert_eq!(text.line(3), Some("c"));
        }
    }

    #[test]
    fn changes_are_made_one_after_the_other() {
        let old = text("one\ntwo\n", Encoding::Utf16);
        let new =
            old.changed(vec![change((0, 3), (1, 0), "\r"), change((1, 0), (1, 3), "é"), change((1, 1), (9, 9), "\n!")]);
        assert_eq!(new.text(), "one\ré\n!");
        assert_eq!(new.starts, text(new.text(), Encoding::Utf16).starts);
        assert_eq!(old.changed(vec![change((1, 2), (0, 1), "")]).text(), "oo\n", "reversed ends are exchanged");
    }

    #[test]
    fn a_change_between_carriage_return_and_line_feed_makes_two_lines_and_one_again() {
        let old = text("a\r\nb", Encoding::Utf8);
        // Positions cannot be between the two, so the change is made by bytes.
        let apart = old.spliced(Span::new(2, 2), "x");
        assert_eq!(apart.starts, text("a\rx\nb", Encoding::Utf8).starts);
        let joined = apart.spliced(Span::new(2, 3), "");
        assert_eq!(joined.starts, old.starts);
    }
}
