//! Pairs brackets, strings and interpolations while scanning.
//!
//! Balancing of the scanner's brackets. A closing bracket without an opening one is left out; an opening one that is never
//! closed gets its partner where the text shows that it should have ended: at another closing bracket, at a line that can
//! only begin a statement, at the end of the text.

use super::messages::{self, NestingLimit};
use super::scan::{Scanner, span};
use super::token::{Kw, Quote, Token};
use super::{LexCode, MAX_NESTING};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// Kind of an open bracket or string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenKind {
    /// `(`
    Paren,
    /// `[`
    Square,
    /// `{`
    Brace,
    /// `${`
    Interp,
    /// `"`
    Str(Quote),
}

impl OpenKind {
    /// Returns the text of the closing bracket; nothing for strings and interpolations.
    const fn bracket(self) -> Option<&'static str> {
        match self {
            Self::Paren => Some(")"),
            Self::Square => Some("]"),
            Self::Brace => Some("}"),
            Self::Interp | Self::Str(_) => None,
        }
    }

    const fn closer(self) -> Token<'static> {
        match self {
            Self::Paren => Token::RParen,
            Self::Square => Token::RBracket,
            Self::Brace => Token::RBrace,
            Self::Interp => Token::InterpEnd,
            Self::Str(_) => Token::StrEnd,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Opener {
    kind: OpenKind,
    /// Index of the opener in the list of lexemes.
    index: usize,
    /// Position at which its line begins.
    line: usize,
}

/// The stack of what is open.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    stack: Vec<Opener>,
    /// Closers that were guessed before their time: the real ones are not reported when they come.
    early: Vec<OpenKind>,
    brackets: usize,
}

impl Pairs {
    pub(super) fn top(&self) -> Option<OpenKind> {
        self.stack.last().map(|e| e.kind)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.stack.is_empty()
    }

    /// The string whose interpolation is innermost.
    pub(super) fn string_around(&self) -> Option<Quote> {
        self.stack.iter().rev().find_map(|e| match e.kind {
            OpenKind::Str(quote) => Some(quote),
            _ => None,
        })
    }
}

impl<'a> Scanner<'a> {
    pub(super) fn open(&mut self, kind: OpenKind, token: Token<'a>, at: Span) {
        if !matches!(kind, OpenKind::Str(_)) {
            if self.pairs.brackets >= MAX_NESTING {
                self.too_deep(at);
                return;
            }
            self.pairs.brackets += 1;
        }
        if kind == OpenKind::Brace && self.opens_body_in_parameters(at) {
            self.pop_unclosed();
        }
        if !matches!(kind, OpenKind::Interp) {
            self.before_token(token, at.start as usize);
        }
        self.pairs.stack.push(Opener { kind, index: self.out.len(), line: self.line_start });
        self.push(token, at);
    }

    /// Nothing behind this point can be trusted, and nothing before it in the same statement is whole.
    pub(super) fn too_deep(&mut self, at: Span) {
        self.report.push(messages::too_deep(self.source, at, &NestingLimit::Brackets));
        self.out.truncate(self.statement);
        self.pairs = Pairs::default();
        self.stopped = true;
    }

    /// Closes the innermost opener with a token at `at`.
    fn pop(&mut self, at: Span) {
        let Some(entry) = self.pairs.stack.pop() else { return };
        if !matches!(entry.kind, OpenKind::Str(_)) {
            self.pairs.brackets -= 1;
        }
        let closer = self.out.len();
        self.push(entry.kind.closer(), at);
        self.out[entry.index].mate = u32::try_from(closer).unwrap_or(u32::MAX);
    }

    pub(super) fn close_string(&mut self, at: Span) {
        self.pop(at);
    }

    /// Closes the innermost opener where the text should have, and says so.
    fn pop_unclosed(&mut self) {
        let Some(entry) = self.pairs.stack.last().copied() else { return };
        let opener = self.out[entry.index].span;
        let end = self.end();
        if !self.string_cut_off_behind(opener) {
            let finding = messages::unclosed(self.source, entry.kind, opener);
            self.report.push(match entry.kind.bracket() {
                Some(closer) => messages::with_closers(finding, self.source, opener, end, closer),
                None => finding,
            });
        }
        self.report.damaged.push(Span::new(opener.start, end));
        self.pairs.early.push(entry.kind);
        self.pop(Span::new(end, end));
    }

    /// A string or interpolation that was never closed has swallowed the rest of its line, closing brackets included:
    /// one mistake.
    fn string_cut_off_behind(&self, opener: Span) -> bool {
        let cuts =
            |d: &&Diagnostic| d.code == LexCode::UnclosedString || self.text[d.position() as usize..].starts_with("${");
        self.report.diagnostics.iter().filter(cuts).any(|d| {
            let at = d.position();
            at >= opener.end && !self.source.slice(Span::new(opener.end, at)).contains('\n')
        })
    }

    /// A closing bracket.
    pub(super) fn close(&mut self, kind: OpenKind, at: Span) {
        if let Some(above) = self.partner(kind) {
            for _ in 0..above {
                self.pop_unclosed();
            }
            self.pop(at);
            return;
        }
        match self.pairs.top() {
            Some(open @ (OpenKind::Paren | OpenKind::Square)) if !self.forgiven(kind) => self.wrong_closer(open, at),
            Some(OpenKind::Paren | OpenKind::Square) => {}
            _ if self.forgiven(kind) => {}
            _ => self.stray(at),
        }
    }

    /// Returns the number of unclosed openers above the partner, or `None` if there is no partner.
    fn partner(&self, kind: OpenKind) -> Option<usize> {
        for (above, entry) in self.pairs.stack.iter().rev().enumerate() {
            match (kind, entry.kind) {
                (a, b) if a == b => return Some(above),
                (OpenKind::Brace, OpenKind::Interp) => return Some(above),
                (_, OpenKind::Paren | OpenKind::Square) => {}
                // `f({a: 1)` lacks a `}`; a `)` some lines below its `{` is more likely one too many.
                (_, OpenKind::Brace) => {
                    if entry.line != self.line_start {
                        return None;
                    }
                }
                (_, OpenKind::Interp | OpenKind::Str(_)) => return None,
            }
        }
        None
    }

    fn forgiven(&mut self, kind: OpenKind) -> bool {
        let found = self.pairs.early.iter().rposition(|k| *k == kind);
        found.map(|i| self.pairs.early.remove(i)).is_some()
    }

    /// `foo(1]`: read as the closer that fits.
    fn wrong_closer(&mut self, open: OpenKind, at: Span) {
        let opener = self.pairs.stack.last().map_or(at, |e| self.out[e.index].span);
        self.report.push(messages::wrong_closer(self.source, at, opener, open.closer()));
        self.pairs.early.push(open);
        self.pop(at);
    }

    fn stray(&mut self, at: Span) {
        if let Some(last) = self.report.diagnostics.last_mut()
            && last.code == LexCode::UnmatchedBracket
            && let Some(label) = last.labels.first_mut()
            && self.text[label.span.end as usize..at.start as usize].trim().is_empty()
        {
            label.span.end = at.end;
            return;
        }
        self.report.push(messages::stray_closer(self.source, at));
        self.report.damaged.push(at);
    }

    /// On a new line: what is open there although the line shows that it should not be.
    pub(super) fn close_what_the_line_shows_unclosed(&mut self, token: Token<'a>, at: usize) {
        while matches!(self.pairs.top(), Some(OpenKind::Paren | OpenKind::Square)) {
            if !self.begins_statement(token, at) && !self.is_out_of_place(token, at) {
                return;
            }
            self.pop_unclosed();
            // What follows is on a new line still.
            self.note_line_break();
        }
    }

    /// Whether the `{` at `at` is that of a body whose parameters are not closed: `fn f(a, b {` at the end of a line.
    fn opens_body_in_parameters(&self, at: Span) -> bool {
        let Some(opener) = self.pairs.stack.last().filter(|opener| opener.kind == OpenKind::Paren) else {
            return false;
        };
        let before = |n: usize| opener.index.checked_sub(n).map(|index| self.out[index].token);
        let declares = matches!(
            (before(2), before(1)),
            (Some(Token::Kw(Kw::Fn | Kw::Tool | Kw::Pipeline)), Some(Token::Ident(_)))
        );
        // The `{` of a default value is not that of the body.
        let parameter = self.out[opener.index + 1..].iter().rev().take_while(|lexeme| lexeme.token != Token::Comma);
        let ends = parameter
            .clone()
            .next()
            .is_some_and(|lexeme| lexeme.token.ends_operand() || matches!(lexeme.token, Token::Gt | Token::Question));
        let rest = self.text[at.end as usize..].split('\n').next().unwrap_or("").trim();
        declares
            && ends
            && !parameter.clone().any(|lexeme| lexeme.token == Token::Assign)
            && (rest.is_empty() || rest.starts_with("//"))
    }

    /// A word that no expression holds; `type:` may be a parameter with a bad name.
    fn begins_statement(&self, token: Token<'a>, at: usize) -> bool {
        let Token::Kw(kw) = token else { return false };
        let statement = kw.begins_statement() || kw == Kw::Return;
        let behind = self.text[at + kw.text().len()..].trim_start_matches(' ');
        // A function without a name is an expression.
        statement && !behind.starts_with(':') && !(kw == Kw::Fn && behind.starts_with('('))
    }

    /// An operand behind an operand, on a line that is not indented deeper than the line of the opener and does not close it.
    fn is_out_of_place(&self, token: Token<'a>, at: usize) -> bool {
        let operand = match token {
            Token::Ident(name) => !matches!(name, "not" | "with"),
            Token::Kw(kw) => !matches!(kw, Kw::In | Kw::To | Kw::Exclusive | Kw::Else | Kw::Catch | Kw::Finally),
            Token::Underscore | Token::Number | Token::DoubleQuote | Token::TripleQuote | Token::RawQuote => true,
            _ => false,
        };
        let behind_operand = self.out.last().is_some_and(|l| l.token.ends_operand());
        let Some(entry) = self.pairs.stack.last() else { return false };
        let is_left = self.indent(self.line_start) <= self.indent(entry.line);
        operand && behind_operand && is_left && !self.closes_in_line(entry.kind, at)
    }

    /// Whether the line that goes on at `at` has the closing bracket of an opener before it.
    fn closes_in_line(&self, kind: OpenKind, at: usize) -> bool {
        let mut depth = 0usize;
        for c in self.text[at..].chars().take_while(|c| *c != '\n').take(1000) {
            match c {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' if depth == 0 => return kind.bracket().is_some_and(|closer| closer.starts_with(c)),
                ')' | ']' | '}' => depth -= 1,
                _ => {}
            }
        }
        false
    }

    /// Returns the indentation of the line that begins at `start`; deeper ones are cut to a maximum.
    fn indent(&self, start: usize) -> usize {
        self.text[start..].bytes().take(1000).take_while(|b| matches!(b, b' ' | b'\t')).count()
    }

    pub(super) fn unclosed_string(&mut self, opener: Span, end: usize, quote: Quote) {
        self.report.push(messages::unclosed_string(self.source, opener, quote));
        self.report.damaged.push(span(opener.start as usize, end));
    }

    /// The innermost string ends at `at` without its quotes.
    pub(super) fn end_unclosed_string(&mut self, at: usize, quote: Quote) {
        let Some(entry) = self.pairs.stack.last().copied() else { return };
        let opener = self.out[entry.index].span;
        self.pop(span(at, at));
        let in_line = self.pairs.string_around() == Some(Quote::Plain);
        if quote == Quote::Plain && in_line {
            // `"a ${b"`: what looks like the beginning of a string was the end of the one around it.
            self.unclosed_interpolation(at);
            return;
        }
        self.unclosed_string(opener, at, quote);
        self.report.incomplete |= quote == Quote::Triple && at == self.text.len();
    }

    /// A line ends inside `"…${`: closes everything down to that string.
    pub(super) fn unclosed_interpolation(&mut self, at: usize) {
        let mut outer = None;
        let end = span(at, at);
        while self.pairs.string_around() == Some(Quote::Plain) {
            if let Some(entry) = self.pairs.stack.last()
                && entry.kind == OpenKind::Interp
            {
                outer = Some(self.out[entry.index].span);
            }
            self.pop(end);
        }
        if let Some(opener) = outer {
            self.report.push(messages::unclosed(self.source, OpenKind::Interp, opener));
            let rest = self.end_of_line_at(opener.start);
            self.report.damaged.push(rest);
        }
    }

    /// The text ends: what is still open is one finding, at the innermost.
    pub(super) fn finish(&mut self) {
        let open: Vec<(OpenKind, Span)> = self.pairs.stack.iter().map(|e| (e.kind, self.out[e.index].span)).collect();
        let brackets = || open.iter().rev().filter(|(kind, _)| !matches!(kind, OpenKind::Str(_)));
        if let Some((kind, opener)) = brackets().next() {
            let mut finding = messages::unclosed(self.source, *kind, *opener);
            for (_, outer) in brackets().skip(1).take(2) {
                finding = finding.label(self.source, *outer, "also unclosed");
            }
            if !self.string_cut_off_behind(*opener) {
                let closers: Option<String> = open.iter().rev().map(|(kind, _)| kind.bracket()).collect();
                if let (Some(closers), Some((_, outermost))) = (closers, open.first()) {
                    finding = messages::with_closers(finding, self.source, *outermost, self.end(), &closers);
                }
                self.report.push(finding);
                self.report.incomplete = true;
            }
        } else if let Some((OpenKind::Str(quote), opener)) = open.last() {
            self.unclosed_string(*opener, self.text.len(), *quote);
            self.report.incomplete |= *quote == Quote::Triple;
        }
        self.report.unclosed = open.into_iter().map(|(_, opener)| opener).collect();
        let end = self.text.len();
        while !self.pairs.is_empty() {
            self.pop(span(end, end));
        }
    }
}
