//! The document: what is printed, where lines may break, and what breaks together.
//!
//! A document is a flat list of operations with the widths that they have on one line, so that the layout finds out in
//! constant time whether a group fits.

use lang::source::Span;
use unicode_width::UnicodeWidthStr;

/// The number of a group.
pub(crate) type GroupId = u32;

/// One operation of a document.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    /// A stretch of the source within one line.
    Text(Span),
    /// A stretch of the source with line breaks, which is printed as it is.
    Lines(Span),
    /// A comment up to the end of its line: it takes no width, since a line break follows in any case.
    Suffix(Span),
    /// A line of a block comment that begins with `*`, which is indented like the others.
    Starred(Span),
    /// A space or a comma.
    Char(char),
    /// A line break where the group is broken, else a space or nothing.
    Line {
        /// A space where the group is not broken.
        space: bool,
        /// An empty line before it where the group is broken.
        blank: bool,
    },
    /// A line break.
    Hard {
        /// An empty line before it.
        blank: bool,
    },
    /// Printed where the group is broken.
    IfBroken(char),
    /// Printed where the group is not broken.
    IfFlat(char),
    /// A group begins.
    Open(GroupId),
    /// The innermost group ends.
    Close,
    /// Deeper from here on, where the group is broken.
    Indent,
    /// The end of that.
    Dedent,
}

/// The way in which a group breaks when it does not fit on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// At each of its lines.
    All,
    /// At each of its lines that does not fit.
    Fill,
    /// Elements in brackets: if only the last one breaks, the brackets stay close to it.
    Hug,
    /// Operands or calls: at each line, unless only an operand breaks.
    Chain,
    /// At none of its lines: breaking there would not help.
    Never,
}

/// A group: it is printed on one line if it fits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    /// Its `Open`.
    pub(crate) start: u32,
    /// Its `Close`.
    pub(crate) end: u32,
    /// A line break is in it, so that it cannot be on one line.
    pub(crate) broken: bool,
    /// A line break is in it before its last element.
    pub(crate) broken_early: bool,
    /// The first group of its last element, and where that element begins.
    pub(crate) last_element: (GroupId, u32),
    /// The author has broken it at its own lines.
    pub(crate) asked: bool,
    /// The first `Lines` in it.
    pub(crate) lines: u32,
    /// The operation behind its opening bracket.
    pub(crate) head: u32,
    pub(crate) style: Style,
    /// The group of its last element, if that can break in place of this one.
    pub(crate) last: Option<GroupId>,
}

/// A document that is being built.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) ops: Vec<Op>,
    /// The width of what is before each operation, on one line, and at last that of all.
    pub(crate) widths: Vec<u32>,
    pub(crate) groups: Vec<Group>,
    width: u32,
    open: Vec<GroupId>,
    /// The number of line breaks so far that cannot be avoided.
    breaks: u32,
}

impl Default for Document {
    fn default() -> Self {
        Self { ops: Vec::new(), widths: vec![0], groups: Vec::new(), width: 0, open: Vec::new(), breaks: 0 }
    }
}

impl Document {
    /// Empties it, to build the next one.
    pub(crate) fn clear(&mut self) {
        self.ops.clear();
        self.widths.truncate(1);
        self.groups.clear();
        self.width = 0;
    }

    /// Returns the index of the next operation.
    pub(crate) fn next(&self) -> u32 {
        u32::try_from(self.ops.len()).unwrap_or(u32::MAX)
    }

    /// Returns the id of the next group.
    pub(crate) fn next_group(&self) -> GroupId {
        u32::try_from(self.groups.len()).unwrap_or(u32::MAX)
    }

    /// Returns how many line breaks cannot be avoided so far: a part that raises it cannot be on one line.
    pub(crate) const fn breaks(&self) -> u32 {
        self.breaks
    }

    fn push(&mut self, op: Op, width: u32) {
        self.ops.push(op);
        self.width = self.width.saturating_add(width);
        self.widths.push(self.width);
    }

    /// Adds a stretch of the source.
    pub(crate) fn text(&mut self, source: &str, span: Span) {
        let text = &source[span.range()];
        let (first, op) = match text.split_once('\n') {
            None => (text, Op::Text(span)),
            Some((first, _)) => {
                let at = self.next();
                for group in &self.open {
                    let lines = &mut self.groups[*group as usize].lines;
                    *lines = at.min(*lines);
                }
                (first, Op::Lines(span))
            }
        };
        self.push(op, width(first));
    }

    /// Adds a comment that ends its line.
    pub(crate) fn suffix(&mut self, span: Span) {
        self.push(Op::Suffix(span), 0);
    }

    /// Adds a line of a block comment that begins with `*`.
    pub(crate) fn starred(&mut self, span: Span) {
        self.push(Op::Starred(span), 0);
    }

    /// Adds a space or a comma.
    pub(crate) fn char(&mut self, c: char) {
        self.push(Op::Char(c), 1);
    }

    /// Adds a comma for groups that are broken.
    pub(crate) fn if_broken(&mut self, c: char) {
        self.push(Op::IfBroken(c), 0);
    }

    /// Adds a comma for groups that are not broken.
    pub(crate) fn if_flat(&mut self, c: char) {
        self.push(Op::IfFlat(c), 1);
    }

    /// Adds a place where the group can break.
    pub(crate) fn line(&mut self, space: bool, blank: bool) {
        self.push(Op::Line { space, blank }, u32::from(space));
    }

    /// Adds a line break.
    pub(crate) fn hard(&mut self, blank: bool) {
        self.push(Op::Hard { blank }, 0);
        self.must_break();
    }

    /// Makes the innermost group break.
    pub(crate) fn must_break(&mut self) {
        self.breaks += 1;
        if let Some(group) = self.open.last() {
            self.groups[*group as usize].broken = true;
        }
    }

    /// Makes the innermost group break at its own lines.
    pub(crate) fn ask(&mut self) {
        self.must_break();
        self.wish();
    }

    /// Makes the innermost group break at its own lines if it does not fit on a line.
    pub(crate) fn wish(&mut self) {
        if let Some(group) = self.open.last() {
            self.groups[*group as usize].asked = true;
        }
    }

    /// Makes the innermost group break at its own lines, even if it would break in its last element.
    pub(crate) fn break_all(&mut self) {
        self.ask();
        if let Some(group) = self.open.last() {
            self.groups[*group as usize].broken_early = true;
        }
    }

    /// Returns whether the author has broken the group at its own lines.
    pub(crate) fn is_asked(&self, group: GroupId) -> bool {
        self.groups[group as usize].asked
    }

    /// Notes that the opening bracket of the innermost group is printed.
    pub(crate) fn opened(&mut self) {
        let head = self.next();
        if let Some(group) = self.open.last() {
            let group = &mut self.groups[*group as usize];
            if group.head == group.start + 1 {
                group.head = head;
            }
        }
    }

    /// Begins a group.
    pub(crate) fn open(&mut self, style: Style) -> GroupId {
        let id = self.next_group();
        let group = Group {
            start: self.next(),
            end: 0,
            broken: false,
            broken_early: false,
            last_element: (id, self.next()),
            asked: false,
            lines: u32::MAX,
            head: self.next() + 1,
            style,
            last: None,
        };
        self.groups.push(group);
        self.open.push(id);
        self.push(Op::Open(id), 0);
        id
    }

    /// Ends the innermost group.
    pub(crate) fn close(&mut self) {
        let Some(id) = self.open.pop() else { return };
        let end = self.next();
        self.push(Op::Close, 0);
        let group = &mut self.groups[id as usize];
        group.end = end;
        if group.broken
            && let Some(outer) = self.open.last()
        {
            self.groups[*outer as usize].broken = true;
        }
    }

    /// Notes that the last element of the innermost group comes next.
    pub(crate) fn last_comes(&mut self) {
        let first = (self.next_group(), self.next());
        if let Some(group) = self.open.last() {
            let group = &mut self.groups[*group as usize];
            group.broken_early = group.broken;
            group.last_element = first;
        }
    }

    /// Lets the last element of the group break in its place.
    pub(crate) fn set_last(&mut self, group: GroupId, last: GroupId) {
        self.groups[group as usize].last = Some(last);
    }

    /// Sets how a group breaks, which only its parts show.
    pub(crate) fn set_style(&mut self, group: GroupId, style: Style) {
        self.groups[group as usize].style = style;
    }

    /// Deeper from here on, where the group is broken.
    pub(crate) fn indent(&mut self) {
        self.push(Op::Indent, 0);
    }

    /// Ends the last `indent`.
    pub(crate) fn dedent(&mut self) {
        self.push(Op::Dedent, 0);
    }
}

/// Returns the columns that a text takes.
pub(crate) fn width(text: &str) -> u32 {
    let columns = if text.is_ascii() { text.len() } else { text.width() };
    u32::try_from(columns).unwrap_or(u32::MAX)
}
