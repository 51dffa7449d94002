//! Text that means nothing here, and habits from other languages that can be read anyway.

use super::scan::{Scanner, span};
use super::token::{Quote, Token};
use super::{LexCode, messages};
use crate::source::Span;

impl<'a> Scanner<'a> {
    /// A character that begins no token. Gives the end of what was read.
    pub(super) fn unreadable(&mut self, at: Span) -> usize {
        let text = &self.text[at.range()];
        if text.chars().all(char::is_alphanumeric) {
            self.foreign_name(at);
        } else if let Some(end) = self.curly_quoted(at).or_else(|| self.back_quoted(at)) {
            return end;
        } else {
            self.without_meaning(at);
        }
        at.end as usize
    }

    /// `“…”`, read as the string that was meant.
    fn curly_quoted(&mut self, at: Span) -> Option<usize> {
        let opens = |c| matches!(c, '“' | '„' | '«' | '‘');
        let closes = |c| matches!(c, '”' | '“' | '»' | '’');
        if !self.text[at.range()].starts_with(opens) {
            return None;
        }
        let rest = self.end_of_line_at(at.end);
        let line = &self.text[rest.range()];
        let len = line.find(closes)?;
        let quote = line[len..].chars().next().map_or(0, char::len_utf8);
        let end = at.end as usize + len + quote;
        self.wrong_quotes(span(at.start as usize, end), &line[..len], "a string in curly quotes");
        Some(end)
    }

    /// A template in backticks, read as the string that was meant.
    fn back_quoted(&mut self, at: Span) -> Option<usize> {
        let start = at.start as usize;
        let inside = self.text[start..].strip_prefix('`')?;
        let len = inside.find('`')?;
        let (inside, end) = (&inside[..len], start + len + 2);
        if !inside.contains('\n') {
            self.wrong_quotes(span(start, end), inside, "a template in backticks");
            return Some(end);
        }
        self.report.push(messages::long_template(self.source, span(start, end)));
        self.before_string(at);
        self.push(Token::Raw(inside), span(start, end));
        self.line_start = start + 1 + inside.rfind('\n').map_or(0, |i| i + 1);
        Some(end)
    }

    /// A run of characters without meaning is one finding.
    fn without_meaning(&mut self, at: Span) {
        let end = self.end_of_line_at(at.end);
        if let Some(damaged) = self.report.damaged.last_mut()
            && let Some(last) = self.report.diagnostics.last_mut()
            && last.code == LexCode::Character
            && damaged.end == end.end
            && let Some(label) = last.labels.first_mut()
            && label.span.end == at.start
        {
            label.span.end = at.end;
            messages::UNKNOWN_CHARACTERS.clone_into(&mut last.message);
            // The fix was for the first of them.
            last.fixes.clear();
            return;
        }
        self.report.push(messages::unknown_character(self.source, at));
        if self.report.damaged.last().is_none_or(|d| d.end != end.end) {
            self.report.damaged.push(Span::new(at.start, end.end));
        }
    }

    /// Letters beyond ASCII: the whole word stands as a name, so that nothing else is reported about it.
    fn foreign_name(&mut self, at: Span) {
        if !self.continues_name(at, true) {
            self.before_token(Token::Underscore, at.start as usize);
            self.report.push(messages::foreign_letters(self.source, at));
            self.push(Token::Ident(&self.text[at.range()]), at);
        }
    }

    /// ASCII letters and digits that touch such a name belong to it.
    pub(super) fn continues_foreign_name(&mut self, at: Span) -> bool {
        matches!(self.out.last(), Some(l) if l.span.end == at.start && matches!(l.token, Token::Ident(_)))
            && self.continues_name(at, false)
    }

    fn continues_name(&mut self, at: Span, foreign: bool) -> bool {
        let Some(last) = self.out.last().copied() else { return false };
        let is_name = matches!(last.token, Token::Ident(_) | Token::Kw(_) | Token::Underscore);
        if last.span.end != at.start || !is_name {
            return false;
        }
        let whole = last.span.to(at);
        if let Some(label) = self.report.diagnostics.last_mut().and_then(|d| d.labels.first_mut())
            && label.span == last.span
        {
            label.span = whole;
        } else if foreign {
            self.report.push(messages::foreign_letters(self.source, whole));
        } else {
            return false;
        }
        if let Some(last) = self.out.last_mut() {
            last.token = Token::Ident(&self.text[whole.range()]);
            last.span = whole;
        }
        true
    }

    /// From `start` to the end of its line.
    pub(super) fn end_of_line_at(&mut self, start: u32) -> Span {
        let start = start as usize;
        // Asked again and again on one long line, it must not be looked for each time.
        let known =
            self.line_rest.as_ref().filter(|rest| (rest.start..=rest.end).contains(&start)).map(|rest| rest.end);
        let end = known.unwrap_or_else(|| self.text[start..].find('\n').map_or(self.text.len(), |i| start + i));
        if known.is_none() {
            self.line_rest = Some(start..end);
        }
        span(start, end)
    }

    /// `# …`: a comment elsewhere.
    pub(super) fn hash(&mut self, at: Span) {
        self.report.push(messages::hash_comment(self.source, at));
    }

    /// `'…'`, read as the string that was meant.
    pub(super) fn single_quoted(&mut self, at: Span) {
        let inside = &self.text[at.start as usize + 1..at.end as usize - 1];
        self.wrong_quotes(at, inside, "a string in single quotes");
    }

    fn wrong_quotes(&mut self, at: Span, inside: &'a str, label: &str) {
        self.report.push(messages::wrong_quotes(self.source, at, inside, label));
        self.before_string(at);
        self.push(Token::Raw(inside), at);
    }

    fn before_string(&mut self, at: Span) {
        self.before_token(Token::StrStart(Quote::Plain), at.start as usize);
    }

    /// `===` and `!==`, read as `==` and `!=`.
    pub(super) fn triple_equals(&mut self, token: Token<'a>, at: Span) {
        let (written, meant, plain) = match token {
            Token::EqEqEq => ("===", "==", Token::EqEq),
            _ => ("!==", "!=", Token::NotEq),
        };
        self.report.push(messages::extra_sign(self.source, at, written, meant));
        self.push(plain, at);
    }
}
