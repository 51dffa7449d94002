//! Texts with their lines: positions of the protocol on one side, byte offsets on the other.

use lang::source::{Source, SourceRef, Span};
use lsp_types::{Position, PositionEncodingKind, Range, TextDocumentContentChangeEvent};
use std::collections::BTreeMap;

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
    /// The code units of halves of characters, by the byte offsets of the U+FFFD in their place. An editor in UTF-16 may hold such
    /// a half between two edits.
    halves: BTreeMap<u32, u16>,
}

/// A change of a text.
#[derive(Debug)]
pub(crate) struct TextChange {
    /// The range that is replaced; `None` for the whole text.
    range: Option<Range>,
    text: String,
    /// The code units of the text if it has halves of characters; else empty.
    units: Vec<u16>,
}

impl TextChange {
    pub(crate) fn new(change: TextDocumentContentChangeEvent, units: Vec<u16>) -> Self {
        Self { range: change.range, text: change.text, units }
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.range.is_none()
    }

    fn units(&self) -> Vec<u16> {
        if self.units.is_empty() { self.text.encode_utf16().collect() } else { self.units.clone() }
    }
}

/// An end of a range.
#[derive(Clone, Copy)]
struct Edge {
    /// The offset of the character at the position.
    offset: u32,
    /// The character, if the position is between its halves.
    inside: Option<char>,
}

impl LinedText {
    pub(crate) fn new(source: SourceRef, encoding: Encoding) -> Self {
        let mut starts = vec![0];
        push_starts(source.text(), 0, &mut starts);
        Self { source, starts, encoding, halves: BTreeMap::new() }
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
    pub(crate) fn changed(&self, changes: Vec<TextChange>) -> Self {
        let mut current: Option<Self> = None;
        for change in changes {
            let before = current.as_ref().unwrap_or(self);
            current = Some(match change.range {
                None if change.units.is_empty() => before.with_text(change.text),
                None => before.with_text(String::new()).spliced_units(Edge::at(0), Edge::at(0), change.units()),
                Some(range) => before.replaced(range, &change),
            });
        }
        current.unwrap_or_else(|| self.with_text(self.text().to_owned()))
    }

    fn replaced(&self, range: Range, change: &TextChange) -> Self {
        if self.encoding == Encoding::Utf16 || !change.units.is_empty() || !self.halves.is_empty() {
            let (mut start, mut end) = (self.edge(range.start), self.edge(range.end));
            if (range.end.line, range.end.character) < (range.start.line, range.start.character) {
                std::mem::swap(&mut start, &mut end);
            }
            let has_half = start.inside.is_some() || end.inside.is_some() || !change.units.is_empty();
            if has_half || !self.halves.is_empty() {
                return self.spliced_units(start, end, change.units());
            }
        }
        self.spliced(self.nearest_span(range), &change.text)
    }

    /// Returns the end of a range at a position.
    fn edge(&self, position: Position) -> Edge {
        let offset = self.nearest_offset(position);
        let next = self.text()[offset as usize..].chars().next();
        let is_inside = |c: &char| {
            self.encoding == Encoding::Utf16
                && c.len_utf16() == 2
                && self.position(offset).character < position.character
        };
        Edge { offset, inside: next.filter(is_inside) }
    }

    /// Replaces code units: a range may end between the halves of a character, and a half may find its other one.
    fn spliced_units(&self, start: Edge, end: Edge, new: Vec<u16>) -> Self {
        let (mut from, mut to) = (start.offset, end.offset);
        let mut units = Vec::with_capacity(new.len() + 2);
        let half_before =
            from.checked_sub(offset32(REPLACEMENT.len())).and_then(|at| Some((at, *self.halves.get(&at)?)));
        match (start.inside, half_before) {
            (Some(split), _) => units.push(split.encode_utf16(&mut [0; 2])[0]),
            (None, Some((at, half))) => {
                from = at;
                units.push(half);
            }
            (None, None) => {}
        }
        units.extend(new);
        match (end.inside, self.halves.get(&to)) {
            (Some(split), _) => {
                to += offset32(split.len_utf8());
                units.push(split.encode_utf16(&mut [0; 2])[1]);
            }
            (None, Some(half)) => {
                to += offset32(REPLACEMENT.len());
                units.push(*half);
            }
            (None, None) => {}
        }
        let mut text = String::new();
        let mut halves: BTreeMap<u32, u16> = self.halves.range(..from).map(|(at, half)| (*at, *half)).collect();
        for decoded in char::decode_utf16(units) {
            if let Err(unpaired) = &decoded {
                halves.insert(from + offset32(text.len()), unpaired.unpaired_surrogate());
            }
            text.push(decoded.unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        let moved = |at: u32| at - to + from + offset32(text.len());
        halves.extend(self.halves.range(to..).map(|(at, half)| (moved(*at), *half)));
        Self { halves, ..self.spliced(Span::new(from, to.max(from)), &text) }
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
        Self { source: Source::new(self.source.name(), text), starts, encoding: self.encoding, halves: BTreeMap::new() }
    }
}

/// The text in place of half of a character.
const REPLACEMENT: &str = "\u{fffd}";

impl Edge {
    fn at(offset: u32) -> Self {
        Self { offset, inside: None }
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

    fn change(start: (u32, u32), end: (u32, u32), text: &str) -> TextChange {
        let range = Range::new(Position::new(start.0, start.1), Position::new(end.0, end.1));
        TextChange { range: Some(range), text: text.to_owned(), units: Vec::new() }
    }

    proptest::proptest! {
        #[test]
        fn edits_of_code_units_leave_the_text_of_the_editor(
            edits in proptest::collection::vec(
                (0_u32..12, 0_u32..12, proptest::collection::vec(proptest::sample::select(vec![0x61_u16, 0xe9, 0xd83d, 0xde80, 0xde81]), 0..4)),
                0..12,
            ),
        ) {
            // The editor holds code units on one line.
            let mut editor: Vec<u16> = "a🚀é".encode_utf16().collect();
            let mut server = text("a🚀é", Encoding::Utf16);
            for (start, end, units) in edits {
                let (start, end) = (start.min(end).min(offset32(editor.len())), start.max(end).min(offset32(editor.len())));
                let change = TextChange { units: units.clone(), ..change((0, start), (0, end), &String::from_utf16_lossy(&units)) };
                let has_half = char::decode_utf16(units.iter().copied()).any(|unit| unit.is_err());
                server = server.changed(vec![if has_half { change } else { TextChange { units: Vec::new(), ..change } }]);
                editor.splice(start as usize..end as usize, units);
                proptest::prop_assert_eq!(server.text(), String::from_utf16_lossy(&editor));
                proptest::prop_assert_eq!(&server.starts, &text(server.text(), Encoding::Utf16).starts);
            }
        }
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
