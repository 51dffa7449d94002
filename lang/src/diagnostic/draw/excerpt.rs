//! The lines of a source that a picture shows, long ones cut around what they show.

use super::super::shown::turns_text;
use crate::source::{SourceRef, Span};
use std::fmt::Write as _;
use std::ops::Range;

/// A line longer than this is cut.
const LONGEST: usize = 300;
/// Number of columns kept on both sides of a mark in a line that is cut.
const MARGIN: usize = 60;
/// Above the first mark no more empty lines than this are made.
const MOST_ABOVE: usize = 10_000;
/// Between two marks no more lines than this are kept.
const MOST_LINES: usize = 500;

/// A stretch of the source and where it is in the excerpt.
struct Piece {
    from: Range<usize>,
    to: usize,
}

/// A part of a source as ariadne sees it.
pub(super) struct Excerpt {
    name: String,
    source: ariadne::Source<String>,
    pieces: Vec<Piece>,
    len: usize,
    /// Lines above that it lacks.
    hidden: usize,
    /// Line and column of the first span, if its line was cut.
    cut: Option<(u32, u32)>,
}

impl Excerpt {
    /// The lines that hold the ends of `spans`, and those between.
    pub(super) fn new(source: &SourceRef, spans: &[Span]) -> Self {
        let text = source.text();
        let marks: Vec<usize> = spans.iter().flat_map(|s| ends(text, *s)).collect();
        let first = marks.iter().min().copied().unwrap_or(0);
        let last = marks.iter().max().copied().unwrap_or(0);
        let mut at = text[..first].rfind('\n').map_or(0, |i| i + 1);
        // Empty lines in place of those above, so that the margin shows the true numbers; past a limit they only cost
        // time, and the numbers are put in afterwards.
        let above = source.position(u32::try_from(at).unwrap_or(u32::MAX)).line as usize - 1;
        let hidden = if above > MOST_ABOVE { above } else { 0 };
        let mut out = "\n".repeat(above - hidden);
        let mut built = Self {
            name: super::clean(source.name()).into_owned(),
            source: ariadne::Source::from(String::new()),
            pieces: Vec::new(),
            len: 0,
            hidden: 0,
            cut: None,
        };
        let mut lines = 0;
        loop {
            let end = text[at..].find('\n').map_or(text.len(), |i| at + i);
            let inside: Vec<usize> = marks.iter().copied().filter(|m| (at..=end).contains(m)).collect();
            lines += 1;
            let kept = if inside.is_empty() && lines > MOST_LINES { at..at } else { window(text, at..end, &inside) };
            if kept != (at..end) && spans.first().is_some_and(|s| inside.contains(&ends(text, *s)[0])) {
                let position = source.position(spans[0].start);
                built.cut = Some((position.line, position.column));
            }
            built.push_line(&mut out, text, at..end, kept);
            if end >= last || end >= text.len() {
                break;
            }
            at = end + 1;
        }
        built.len = out.len();
        built.source = ariadne::Source::from(out).with_display_line_offset(hidden);
        built.hidden = hidden;
        built
    }

    fn push_line(&mut self, out: &mut String, text: &str, line: Range<usize>, kept: Range<usize>) {
        if kept.start > line.start {
            out.push('…');
        }
        let mut from = kept.start;
        for (i, c) in text[kept.clone()].char_indices().filter(|(_, c)| turns_text(*c)) {
            let at = kept.start + i;
            self.push_piece(out, text, from..at);
            from = at + c.len_utf8();
            self.pieces.push(Piece { from: at..from, to: out.len() });
            out.extend(c.escape_unicode());
        }
        self.push_piece(out, text, from..kept.end);
        if kept.end < line.end {
            out.push('…');
        }
        // Room for a mark at the end of the line.
        out.push_str(" \n");
    }

    fn push_piece(&mut self, out: &mut String, text: &str, from: Range<usize>) {
        self.pieces.push(Piece { from: from.clone(), to: out.len() });
        out.extend(text[from].chars().map(plain));
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn source(&self) -> &ariadne::Source<String> {
        &self.source
    }

    /// A span of the source in the excerpt; never empty, never outside.
    pub(super) fn map(&self, span: Span) -> Range<usize> {
        let start = self.offset(span.start as usize);
        let end = if span.end > span.start { self.offset(span.end as usize) } else { start };
        let end = if end > start { end } else { start + self.width(start) };
        start..end.min(self.len)
    }

    /// Returns the number of bytes of the character at `at`.
    fn width(&self, at: usize) -> usize {
        self.source.text().get(at..).and_then(|t| t.chars().next()).map_or(1, char::len_utf8)
    }

    fn offset(&self, at: usize) -> usize {
        let index = self.pieces.partition_point(|p| p.from.start <= at).saturating_sub(1);
        let Some(piece) = self.pieces.get(index) else { return 0 };
        let inside = at.clamp(piece.from.start, piece.from.end) - piece.from.start;
        let offset = piece.to + inside;
        let text = self.source.text();
        text.floor_char_boundary(offset.min(text.len()))
    }

    /// Puts the true numbers of lines in the margin of a picture that shows this excerpt alone.
    pub(super) fn correct_lines(&self, body: String) -> String {
        let number = |line: &str| {
            let (margin, _) = line.split_once('│')?;
            margin.trim().parse::<usize>().ok()
        };
        let last = body.lines().filter_map(number).max().unwrap_or(0);
        if self.hidden == 0 || last == 0 {
            return body;
        }
        let width = (last + self.hidden).to_string().len();
        let wider = width - last.to_string().len();
        let mut out = String::new();
        for line in body.lines() {
            let _ = match (number(line), line.split_once('│')) {
                (Some(n), Some((_, rest))) => writeln!(out, " {:>width$} │{rest}", n + self.hidden),
                _ if line.starts_with('─') => writeln!(out, "{}{line}", "─".repeat(wider)),
                _ => writeln!(out, "{:wider$}{line}", ""),
            };
        }
        out
    }

    /// Puts the true column in the picture's `name:line:column`, where the line was cut.
    pub(super) fn correct_column(&self, body: String) -> String {
        let Some((line, column)) = self.cut else { return body };
        let mut place = String::new();
        let _ = write!(place, "{}:{line}:", self.name);
        let Some(at) = body.find(&place).map(|i| i + place.len()) else { return body };
        let digits = body[at..].bytes().take_while(u8::is_ascii_digit).count();
        format!("{}{column}{}", &body[..at], &body[at + digits..])
    }
}

/// The two ends of a span, inside the text and between characters.
fn ends(text: &str, span: Span) -> [usize; 2] {
    let start = text.floor_char_boundary((span.start as usize).min(text.len()));
    let last = (span.end as usize).min(text.len()).saturating_sub(1);
    [start, text.floor_char_boundary(last.max(start))]
}

/// Returns the part to keep of a line with marks.
fn window(text: &str, line: Range<usize>, marks: &[usize]) -> Range<usize> {
    if line.len() <= LONGEST {
        return line;
    }
    let first = marks.iter().min().copied().unwrap_or(line.start);
    let last = marks.iter().max().copied().unwrap_or(line.start).min(first + LONGEST);
    let start = first.saturating_sub(MARGIN).max(line.start);
    let end = (last + MARGIN).min(line.end);
    text.floor_char_boundary(start)..text.floor_char_boundary(end)
}

/// A character that is as wide in bytes, but neither breaks the line nor speaks to the terminal.
const fn plain(c: char) -> char {
    match c {
        '\t' => '\t',
        '\0'..='\x1f' | '\x7f' => ' ',
        '\u{80}'..='\u{9f}' => '\u{a0}',
        '\u{2028}' | '\u{2029}' => '\u{2003}',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;

    fn shown(text: &str, span: Span) -> String {
        let source = Source::new("t", text);
        let excerpt = Excerpt::new(&source, &[span]);
        let range = excerpt.map(span);
        excerpt.source.text()[range].to_owned()
    }

    #[test]
    fn spans_keep_their_text() {
        assert_eq!(shown("let ä = 1\nlet b = ä\n", Span::new(19, 21)), "ä");
        assert_eq!(shown("a\nb\nc", Span::new(2, 3)), "b");
        assert_eq!(shown("abc", Span::new(3, 3)), " ");
        assert_eq!(shown("", Span::new(0, 0)), " ");
        assert_eq!(shown("a\n", Span::new(2, 2)), " ");
        assert_eq!(shown("a", Span::new(90, 99)), " ");
    }

    #[test]
    fn long_lines_are_cut() {
        let text = format!("{}MARK{}", "ä".repeat(50_000), "x".repeat(50_000));
        let span = Span::new(100_000, 100_004);
        let source = Source::new("t", text);
        let excerpt = Excerpt::new(&source, &[span]);
        assert_eq!(&excerpt.source.text()[excerpt.map(span)], "MARK");
        assert!(excerpt.source.text().len() < 300, "{}", excerpt.source.text().len());
        assert_eq!(excerpt.cut, Some((1, 50_001)));
    }
}
