//! The modal scanner: cuts the text into lexemes and pairs the brackets ([`Pairs`] in `pairs.rs`).

use super::messages;
use super::numbers::{self, BadNumber};
use super::pairs::{OpenKind, Pairs};
use super::strings;
use super::text::Text;
use super::token::{Kw, Quote, Token};
use crate::diagnostic::Diagnostic;
use crate::source::{SourceRef, Span};
use logos::Logos;
use std::ops::Range;

/// A token with what layout wants to know about it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lexeme<'a> {
    /// Token of the lexeme.
    pub(super) token: Token<'a>,
    /// Span of the token.
    pub(super) span: Span,
    /// A line break lies before it.
    pub(super) on_new_line: bool,
    /// For an opening bracket: where in the list its closing one is.
    pub(super) mate: u32,
}

/// Result of [`scan`].
#[derive(Debug, Default)]
pub(super) struct Scanned<'a> {
    pub(super) lexemes: Vec<Lexeme<'a>>,
    pub(super) comments: Vec<Span>,
    pub(super) report: Report,
}

/// Report of the mistakes in a text.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) damaged: Vec<Span>,
    /// Openers that the text ends without closing.
    pub(super) unclosed: Vec<Span>,
    pub(super) incomplete: bool,
}

/// Past this many findings a text is no script; more would help nobody.
const MAX_FINDINGS: usize = 200;

impl Report {
    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < MAX_FINDINGS {
            self.diagnostics.push(diagnostic);
        }
    }
}

pub(super) struct Scanner<'a> {
    pub(super) source: &'a SourceRef,
    pub(super) text: &'a str,
    pub(super) out: Vec<Lexeme<'a>>,
    comments: Vec<Span>,
    pub(super) pairs: Pairs,
    pub(super) report: Report,
    /// A line break came since the last lexeme.
    line_break: bool,
    /// Position at which the current line begins.
    pub(super) line_start: usize,
    /// A stretch up to the end of a line, from when that was last asked for.
    pub(super) line_rest: Option<Range<usize>>,
    /// Too deep: the rest is not read.
    pub(super) stopped: bool,
    /// Index in `out` at which the current statement of the file begins.
    pub(super) statement: usize,
}

/// Cuts the whole text.
pub(super) fn scan(source: &SourceRef) -> Scanned<'_> {
    let text = source.text();
    let mut scanner = Scanner {
        source,
        text,
        out: Vec::with_capacity(text.len() / 4),
        comments: Vec::new(),
        pairs: Pairs::default(),
        report: Report::default(),
        line_break: false,
        line_start: 0,
        line_rest: None,
        stopped: false,
        statement: 0,
    };
    let mut at = if text.starts_with('\u{feff}') { 3 } else { 0 };
    if text[at..].starts_with("#!") {
        let end = text[at..].find('\n').map_or(text.len(), |i| at + i);
        scanner.comments.push(span(at, end));
        at = end;
    }
    while at < text.len() && !scanner.stopped {
        at = match scanner.pairs.top() {
            Some(OpenKind::Str(quote)) => scanner.string(at, quote),
            _ => scanner.code(at),
        };
    }
    scanner.finish();
    Scanned { lexemes: scanner.out, comments: scanner.comments, report: scanner.report }
}

/// Offsets fit: sources end at 4 GiB.
#[allow(clippy::cast_possible_truncation, reason = "sources end at 4 GiB")]
pub(super) const fn span(start: usize, end: usize) -> Span {
    Span::new(start as u32, end as u32)
}

impl<'a> Scanner<'a> {
    pub(super) fn push(&mut self, token: Token<'a>, span: Span) {
        self.out.push(Lexeme { token, span, on_new_line: self.line_break, mate: 0 });
        self.line_break = false;
    }

    /// Notes that the next token is on a new line.
    pub(super) fn note_line_break(&mut self) {
        self.line_break = true;
    }

    /// Returns the end of the last lexeme.
    pub(super) fn end(&self) -> u32 {
        self.out.last().map_or(0, |l| l.span.end)
    }

    /// Reads code up to a string, the end of an interpolation or the end of the text.
    fn code(&mut self, from: usize) -> usize {
        let mut lexer = Token::lexer(self.text);
        lexer.bump(from);
        while let Some(token) = lexer.next() {
            let range = lexer.span();
            let at = span(range.start, range.end);
            let Ok(token) = token else {
                let end = self.unreadable(at);
                lexer.bump(end - range.end);
                continue;
            };
            match token {
                Token::Ident(_) => self.word(at),
                Token::Number => {
                    let end = range.start + numbers::extent(&self.text[range.start..], range.len());
                    lexer.bump(end - range.end);
                    self.number(span(range.start, end));
                }
                Token::LineBreak => {
                    self.line_break = true;
                    self.line_start = range.end;
                    if self.end_of_line(range.start) {
                        return range.start;
                    }
                    continue;
                }
                Token::LineComment => {
                    self.comments.push(at);
                    let text = lexer.slice();
                    if text.starts_with("///") && !text.starts_with("////") {
                        self.push(Token::Doc(text), at);
                    }
                }
                Token::BlockComment => {
                    let end = self.block_comment(range.start);
                    self.comments.push(span(range.start, end));
                    lexer.bump(end - range.end);
                }
                Token::Hash => self.hash(at),
                Token::DoubleQuote | Token::TripleQuote => {
                    let quote = if matches!(token, Token::DoubleQuote) { Quote::Plain } else { Quote::Triple };
                    self.before_token(token, range.start);
                    self.open(OpenKind::Str(quote), Token::StrStart(quote), at);
                    return range.end;
                }
                Token::RawQuote => {
                    let end = self.raw_string(range.start);
                    lexer.bump(end - range.end);
                }
                Token::SingleQuoted => self.single_quoted(at),
                Token::EqEqEq | Token::NotEqEq => self.triple_equals(token, at),
                Token::LParen => self.open(OpenKind::Paren, token, at),
                Token::LBracket | Token::QBracket => self.open(OpenKind::Square, token, at),
                Token::LBody => self.open(OpenKind::Brace, token, at),
                Token::RParen => self.close(OpenKind::Paren, at),
                Token::RBracket => self.close(OpenKind::Square, at),
                Token::RBrace => {
                    self.close(OpenKind::Brace, at);
                    if matches!(self.pairs.top(), Some(OpenKind::Str(_))) {
                        return range.end;
                    }
                }
                _ => {
                    self.before_token(token, range.start);
                    self.push(token, at);
                }
            }
            if self.stopped {
                break;
            }
        }
        self.text.len()
    }

    fn word(&mut self, at: Span) {
        if self.continues_foreign_name(at) {
            return;
        }
        let text = &self.text[at.range()];
        let token = match Kw::lookup(text) {
            Some(kw) => Token::Kw(kw),
            None if text == "_" => Token::Underscore,
            None => Token::Ident(text),
        };
        self.before_token(token, at.start as usize);
        self.push(token, at);
    }

    /// Looks for brackets that must have ended on the line above, and for the beginning of a statement of the file.
    #[inline]
    pub(super) fn before_token(&mut self, token: Token<'a>, at: usize) {
        if self.line_break {
            self.begin_line(token, at);
        }
    }

    fn begin_line(&mut self, token: Token<'a>, at: usize) {
        self.close_what_the_line_shows_unclosed(token, at);
        if self.pairs.is_empty() {
            self.statement = self.out.len();
        }
    }

    /// A line of code ends; an interpolation in a one-line string must have ended too. True when it had not.
    fn end_of_line(&mut self, at: usize) -> bool {
        if self.pairs.top() != Some(OpenKind::Interp) || self.pairs.string_around() != Some(Quote::Plain) {
            return false;
        }
        self.unclosed_interpolation(at);
        true
    }

    /// A `-` that is a sign stands right before, not one that subtracts.
    fn behind_a_sign(&self) -> bool {
        let mut before = self.out.iter().rev().map(|lexeme| lexeme.token);
        matches!(before.next(), Some(Token::Minus)) && !before.next().is_some_and(Token::ends_operand)
    }

    fn number(&mut self, at: Span) {
        if self.continues_foreign_name(at) {
            return;
        }
        let text = &self.text[at.range()];
        self.before_token(Token::Number, at.start as usize);
        let read = match numbers::read(text) {
            // The smallest int has no positive twin.
            Ok(Token::Int(i64::MIN)) if !self.behind_a_sign() => Err(BadNumber::TooLarge),
            read => read,
        };
        let token = read.unwrap_or_else(|why| {
            self.report.push(messages::bad_number(self.source, at, &why));
            Token::Int(0)
        });
        self.push(token, at);
    }

    /// Skips `/* … */`, which nests, and gives its end.
    fn block_comment(&mut self, start: usize) -> usize {
        let bytes = self.text.as_bytes();
        let (mut at, mut depth) = (start + 2, 1usize);
        while depth > 0 {
            match bytes.get(at..at + 2) {
                Some(b"/*") => {
                    depth += 1;
                    at += 2;
                }
                Some(b"*/") => {
                    depth -= 1;
                    at += 2;
                }
                Some(_) => at += 1,
                None => {
                    let opener = span(start, start + 2);
                    self.report.push(messages::unclosed_comment(self.source, opener));
                    self.report.incomplete = true;
                    return bytes.len();
                }
            }
        }
        let text = &self.text[start..at];
        if text.starts_with("/**") && text.len() > 4 && !text.starts_with("/***") {
            self.push(Token::Doc(text), span(start, at));
        }
        if let Some(last) = text.rfind('\n') {
            self.line_break = true;
            self.line_start = start + last + 1;
        }
        at
    }

    /// Reads `r"…"` and gives its end.
    fn raw_string(&mut self, start: usize) -> usize {
        self.before_token(Token::RawQuote, start);
        let rest = &self.text[start + 2..];
        let len = rest.find(['"', '\n']).unwrap_or(rest.len());
        let inside = &rest[..len];
        let closed = rest[len..].starts_with('"');
        let end = start + 2 + len + usize::from(closed);
        if !closed {
            self.unclosed_string(span(start, start + 2), end, Quote::Plain);
        }
        self.push(Token::Raw(inside), span(start, end));
        end
    }

    /// Reads a string from `from`, which is behind its opener or behind an interpolation, to its end or to the next
    /// interpolation.
    fn string(&mut self, from: usize, quote: Quote) -> usize {
        let mut lexer = Text::lexer(self.text);
        lexer.bump(from);
        let mut upto = from;
        while let Some(piece) = lexer.next() {
            let range = lexer.span();
            match piece {
                Ok(Text::Quotes) => {
                    let run = range.len();
                    let needed = if quote == Quote::Plain { 1 } else { 3 };
                    if run >= needed {
                        // The last three of a longer run close; those before them are text.
                        let close = if quote == Quote::Plain { range.start } else { range.end - 3 };
                        self.string_text(from, close);
                        self.close_string(span(close, close + needed));
                        return close + needed;
                    }
                }
                Ok(Text::Interp) => {
                    self.string_text(from, range.start);
                    self.open(OpenKind::Interp, Token::InterpStart, span(range.start, range.end));
                    return range.end;
                }
                Ok(Text::LineBreak) if quote == Quote::Plain => break,
                Ok(Text::Join) if quote == Quote::Plain => {
                    upto = range.start + 1;
                    break;
                }
                Ok(Text::Escape | Text::Unicode) => self.escape(span(range.start, range.end)),
                Ok(Text::LineBreak | Text::Join) => self.line_start = range.end,
                Ok(Text::Plain) | Err(()) => {}
            }
            upto = range.end;
        }
        self.string_text(from, upto);
        self.end_unclosed_string(upto, quote);
        upto
    }

    fn string_text(&mut self, from: usize, to: usize) {
        if to > from {
            self.push(Token::StrText(&self.text[from..to]), span(from, to));
        }
    }

    fn escape(&mut self, at: Span) {
        if let Err(why) = strings::check(&self.text[at.range()]) {
            self.report.push(messages::bad_escape(self.source, at, &why));
        }
    }
}
