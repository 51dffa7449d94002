//! The layout: decides for each group of a document whether it fits on the line, and prints it.

use crate::document::{Document, Group, GroupId, Op, Style, width};

/// Spaces of one level.
const INDENT: usize = 2;

/// The way in which a group is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// On one line.
    Flat,
    /// At its lines.
    Broken,
    /// At a line only if what follows does not fit.
    Filled,
    /// Its own lines are not broken. Groups before `free` are flat, the others decide for themselves; `breaks` must break.
    Loose { free: GroupId, breaks: Option<GroupId> },
}

/// Prints documents one behind the other.
pub(crate) struct Printer<'a> {
    source: &'a str,
    out: String,
    width: u32,
    column: u32,
    indent: usize,
    /// Line breaks that are still to be written: no line ends in spaces, and no text in empty lines.
    pending: u8,
    modes: Vec<(Mode, GroupId)>,
}

impl<'a> Printer<'a> {
    pub(crate) fn new(source: &'a str, width: u32) -> Self {
        Self {
            source,
            out: String::with_capacity(source.len() + source.len() / 8),
            width,
            column: 0,
            indent: 0,
            pending: 0,
            modes: Vec::new(),
        }
    }

    /// Returns the text, which ends in a line break unless it is empty.
    pub(crate) fn finish(mut self) -> String {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out
    }

    /// Prints a document.
    pub(crate) fn print(&mut self, doc: &Document) {
        for (at, op) in doc.ops.iter().enumerate() {
            let mode = self.modes.last().map_or(Mode::Broken, |(mode, _)| *mode);
            match *op {
                Op::Text(span) => {
                    self.write(&self.source[span.range()], doc.widths[at + 1] - doc.widths[at]);
                }
                Op::Lines(span) => {
                    let text = &self.source[span.range()];
                    self.write(text, 0);
                    self.column = width(text.rsplit('\n').next().unwrap_or(text));
                }
                Op::Suffix(span) => self.write(self.source[span.range()].trim_end(), 0),
                Op::Starred(span) => {
                    self.write(" ", 1);
                    let text = self.source[span.range()].trim();
                    self.write(text, width(text));
                }
                Op::Char(c) => self.char(c),
                Op::Line { space, blank } => {
                    let breaks = match mode {
                        Mode::Broken => true,
                        Mode::Filled => !self.next_item_fits(doc, at),
                        Mode::Flat | Mode::Loose { .. } => false,
                    };
                    if breaks {
                        self.line_break(blank);
                    } else if space {
                        self.char(' ');
                    }
                }
                Op::Hard { blank } => self.line_break(blank),
                Op::IfBroken(c) => {
                    if matches!(mode, Mode::Broken | Mode::Filled) {
                        self.char(c);
                    }
                }
                Op::IfFlat(c) => {
                    if mode == Mode::Flat {
                        self.char(c);
                    }
                }
                Op::Open(group) => {
                    let mode = self.mode(doc, group, mode);
                    self.modes.push((mode, group));
                }
                Op::Close => {
                    self.modes.pop();
                }
                Op::Indent => {
                    if matches!(mode, Mode::Broken | Mode::Filled) {
                        self.indent += INDENT;
                    }
                }
                Op::Dedent => {
                    if matches!(mode, Mode::Broken | Mode::Filled) {
                        self.indent -= INDENT;
                    }
                }
            }
        }
    }

    fn line_break(&mut self, blank: bool) {
        self.pending = self.pending.max(1 + u8::from(blank));
    }

    fn char(&mut self, c: char) {
        // The indentation of a line is not the space before its text.
        if c == ' ' && self.pending > 0 {
            return;
        }
        self.end_lines();
        self.out.push(c);
        self.column += 1;
    }

    fn write(&mut self, text: &str, columns: u32) {
        self.end_lines();
        self.out.push_str(text);
        self.column += columns;
    }

    fn end_lines(&mut self) {
        if self.pending == 0 {
            return;
        }
        if !self.out.is_empty() {
            // A space before a line break that came later is none of the text.
            while self.out.ends_with(' ') {
                self.out.pop();
            }
            for _ in 0..self.pending {
                self.out.push('\n');
            }
        }
        self.pending = 0;
        self.out.extend(std::iter::repeat_n(' ', self.indent));
        self.column = u32::try_from(self.indent).unwrap_or(u32::MAX);
    }

    /// Returns the columns that are left on the line.
    fn room(&self) -> u32 {
        let column = if self.pending > 0 { u32::try_from(self.indent).unwrap_or(u32::MAX) } else { self.column };
        self.width.saturating_sub(column)
    }

    fn mode(&self, doc: &Document, id: GroupId, outer: Mode) -> Mode {
        let group = &doc.groups[id as usize];
        let must_not_be_flat = match outer {
            Mode::Flat => return Mode::Flat,
            // What is before the element that breaks is on its line.
            Mode::Loose { free, .. } if id < free => return Mode::Flat,
            Mode::Loose { breaks, .. } => breaks == Some(id),
            Mode::Broken | Mode::Filled => false,
        };
        if !group.broken && !must_not_be_flat && self.fits(doc, group) {
            return Mode::Flat;
        }
        match group.style {
            Style::Fill => Mode::Filled,
            Style::Hug => match group.last {
                _ if group.broken_early => Mode::Broken,
                Some(last) if self.room_to(doc, group, doc.groups[last as usize].head) => {
                    Mode::Loose { free: last, breaks: Some(last) }
                }
                // What is before an element that would break of itself must not: the next time, the elements would be
                // on lines of their own.
                None if group.broken && !group.asked && self.room_to(doc, group, group.last_element.1) => {
                    Mode::Loose { free: group.last_element.0, breaks: None }
                }
                _ => Mode::Broken,
            },
            Style::Chain if group.broken && !group.asked => Mode::Loose { free: id, breaks: None },
            Style::All | Style::Chain => Mode::Broken,
            Style::Never if group.asked && group.broken => Mode::Broken,
            Style::Never => Mode::Loose { free: id, breaks: None },
        }
    }

    /// Returns whether everything of a group fits on the line up to an operation.
    fn room_to(&self, doc: &Document, group: &Group, end: u32) -> bool {
        doc.widths[end as usize] - doc.widths[group.start as usize] <= self.room()
    }

    fn fits(&self, doc: &Document, group: &Group) -> bool {
        let room = self.room();
        let before = doc.widths[group.start as usize];
        if group.lines != u32::MAX {
            // What follows is on another line.
            return doc.widths[group.lines as usize + 1] - before <= room;
        }
        let inside = doc.widths[group.end as usize] - before;
        inside <= room && self.tail_fits(doc, group.end as usize + 1, room - inside)
    }

    /// Returns whether what follows on the line fits too, up to the next place where it can break.
    fn tail_fits(&self, doc: &Document, from: usize, room: u32) -> bool {
        let base = doc.widths[from];
        let mut outer = self.modes.len();
        // The groups that begin behind it can break.
        let mut inner = 0usize;
        for (op, at) in doc.ops[from..].iter().zip(from..) {
            if doc.widths[at] - base > room {
                return false;
            }
            match op {
                Op::Open(_) => inner += 1,
                Op::Close if inner > 0 => inner -= 1,
                Op::Close => outer = outer.saturating_sub(1),
                Op::Hard { .. } => return true,
                Op::Line { .. } => {
                    let mode = outer.checked_sub(1).map_or(Mode::Broken, |i| self.modes[i].0);
                    if inner > 0 || matches!(mode, Mode::Broken | Mode::Filled) {
                        return true;
                    }
                }
                Op::Lines(_) => return doc.widths[at + 1] - base <= room,
                _ => {}
            }
        }
        doc.widths[doc.ops.len()] - base <= room
    }

    /// Returns whether the element behind the line at `at` fits on the line, in a group that is filled.
    fn next_item_fits(&self, doc: &Document, at: usize) -> bool {
        let Op::Line { space: true, .. } = doc.ops[at] else { return false };
        let next = doc.ops[at + 1..].iter().position(|op| matches!(op, Op::Line { .. } | Op::Close));
        let end = next.map_or(doc.ops.len() - 1, |next| at + 1 + next);
        // One more for the comma behind the last element.
        doc.widths[end] - doc.widths[at] < self.room()
    }
}
