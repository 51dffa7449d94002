//! Comments: each stays between the two tokens that it is between.

use super::Writer;
use lang::source::Span;

/// The separation of two tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sep {
    /// Nothing.
    None,
    /// A space.
    Space,
    /// Nothing, or a line break where the group is broken.
    Soft,
    /// A space, or a line break where the group is broken.
    Line {
        /// One empty line is kept.
        blank: bool,
    },
    /// A line break.
    Hard {
        /// One empty line is kept.
        blank: bool,
    },
}

impl Sep {
    const fn keeps_blank(self) -> bool {
        match self {
            Self::None | Self::Space | Self::Soft => false,
            Self::Line { blank } | Self::Hard { blank } => blank,
        }
    }
}

impl Writer<'_> {
    /// Separates the last token from the next one, and prints the comments between them.
    ///
    /// A comment gets a line break before or behind it only where the text has one: there a line break is harmless, since
    /// the same tokens are around it.
    pub(super) fn sep(&mut self, sep: Sep) {
        if self.cursor.comment().is_none() {
            let blank = sep.keeps_blank() && self.cursor.breaks_to(self.cursor.start()) > 1;
            self.separate(sep, blank);
            return;
        }
        let written = sep;
        let mut sep = sep;
        let keeps_blank = sep.keeps_blank();
        let mut must_break = false;
        let mut behind = 0;
        while let Some(comment) = self.cursor.comment() {
            let before = self.cursor.breaks_to(comment.start);
            let apart = self.cursor.is_apart(comment.start);
            self.cursor.take_comment();
            let next = self.cursor.comment().map_or(self.cursor.start(), |next| next.start);
            behind = self.cursor.breaks(comment.end, next);
            let is_line = self.is_line(comment);
            let blank = keeps_blank && before > 1;
            if must_break || (before > 0 && (is_line || behind > 0)) {
                self.doc.hard(blank);
                self.comment(comment);
                // One at the end of the line before stays there.
                must_break = is_line || behind > 0;
                if !must_break {
                    sep = Sep::Space;
                }
            } else if !is_line && behind == 0 {
                // Close to what follows.
                if sep == Sep::None && apart {
                    sep = Sep::Space;
                }
                self.separate(sep, blank);
                self.comment(comment);
                // Where nothing separates the tokens, the spaces around a comment are the author's.
                let close = written == Sep::None && !self.cursor.is_apart(next);
                sep = if close { Sep::None } else { Sep::Space };
            } else {
                self.doc.char(' ');
                self.comment(comment);
                must_break = is_line;
            }
        }
        let blank = keeps_blank && behind > 1;
        if must_break {
            self.doc.hard(blank);
            self.doc.ask();
        } else {
            self.separate(sep, blank);
        }
    }

    fn separate(&mut self, sep: Sep, blank: bool) {
        match sep {
            Sep::None => {}
            Sep::Space => self.doc.char(' '),
            Sep::Soft => self.doc.line(false, false),
            Sep::Line { .. } => self.doc.line(true, blank),
            Sep::Hard { .. } => self.doc.hard(blank),
        }
    }

    /// Prints the comments before the next token, which closes what they are in.
    pub(super) fn inner_comments(&mut self) {
        while let Some(comment) = self.cursor.comment() {
            let before = self.cursor.breaks_to(comment.start);
            self.cursor.take_comment();
            if before > 0 {
                self.doc.hard(before > 1);
                self.doc.break_all();
            } else {
                self.doc.char(' ');
            }
            self.comment(comment);
            if self.is_line(comment) {
                self.doc.break_all();
            }
        }
    }

    /// Prints a comment.
    fn comment(&mut self, comment: Span) {
        if self.is_line(comment) {
            self.doc.suffix(comment);
            return;
        }
        self.block_comment(comment);
    }

    /// Prints a comment between `/*` and `*/`. If each of its lines begins with `*`, they are aligned; else they stay as they are.
    pub(super) fn block_comment(&mut self, comment: Span) {
        let text = &self.cursor.text[comment.range()];
        let starred = text.lines().skip(1).all(|line| line.trim_start().starts_with('*'));
        if !starred || !text.contains('\n') {
            self.doc.text(self.cursor.text, comment);
            return;
        }
        let mut start = comment.start;
        for (number, line) in text.split('\n').enumerate() {
            let end = start + u32::try_from(line.len()).unwrap_or(0);
            if number == 0 {
                self.doc.suffix(Span::new(start, end));
            } else {
                self.doc.hard(false);
                self.doc.starred(Span::new(start, end));
            }
            start = end + 1;
        }
    }

    /// Returns whether a comment reaches to the end of its line.
    pub(super) fn is_line(&self, comment: Span) -> bool {
        !self.cursor.text[comment.range()].starts_with("/*")
    }
}
