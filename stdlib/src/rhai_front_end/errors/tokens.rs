//! The tokens of a Rhai text with their bytes. Rhai says where a mistake begins, by line and column; a picture wants to
//! know where it ends, which bracket was open and which argument is meant.

use lang::source::{SourceRef, Span};
use rhai::Position;

/// The kind of a token, as far as diagnostics need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A name or keyword.
    Word,
    /// A number.
    Number,
    /// A string, a character, or a piece of text between two `${…}`.
    Text,
    /// A string whose end is missing.
    OpenText,
    /// `(`, `[`, `{`, `#{`, `?[`, `${`.
    Open,
    /// `)`, `]`, `}`.
    Close,
    /// Another sign.
    Sign,
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Span,
    /// The index of the matching bracket.
    partner: Option<usize>,
}

/// The tokens of a text.
pub(crate) struct Tokens<'a> {
    source: &'a SourceRef,
    all: Vec<Token>,
}

/// Rhai counts lines and columns in 16 bits; behind that it no longer says where.
const UNCOUNTED: usize = u16::MAX as usize;

/// Signs of more than one character, longer ones first.
const SIGNS: &[&str] = &[
    "...", "..=", "===", "!==", "**=", "<<=", ">>=", "#{", "?[", "?.", "??", "::", "=>", "->", "<-", "|>", "<|", ":=",
    "==", "!=", "<=", ">=", "&&", "||", "..", "**", "<<", ">>", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "++",
    "--",
];

impl<'a> Tokens<'a> {
    /// Reads a text; whatever it holds.
    pub(crate) fn of(source: &'a SourceRef) -> Self {
        let mut scan = Scan { text: source.text(), at: 0, all: Vec::new(), open: Vec::new() };
        scan.run();
        Self { source, all: scan.all }
    }

    /// The byte that a position of Rhai's means; nothing where it does not say.
    pub(crate) fn offset(&self, position: Position) -> Option<u32> {
        let (line, column) = (position.line()?, position.position().unwrap_or(1));
        if line >= UNCOUNTED || column >= UNCOUNTED {
            return None;
        }
        let text = self.source.text();
        let start = match line {
            1 => 0,
            _ => text.bytes().enumerate().filter(|(_, b)| *b == b'\n').nth(line - 2)?.0 + 1,
        };
        let within = text[start..].char_indices().nth(column - 1).map_or(text.len() - start, |(i, _)| i);
        u32::try_from(start + within).ok()
    }

    /// The index of the token that holds a byte, or of the first one behind it.
    pub(crate) fn index(&self, offset: u32) -> Option<usize> {
        let i = self.all.partition_point(|token| token.span.end <= offset);
        (i < self.all.len()).then_some(i)
    }

    /// The token at a position of Rhai's; at the end of the text, the end of the last one.
    pub(crate) fn span(&self, position: Position) -> Option<Span> {
        let offset = self.offset(position)?;
        Some(self.index(offset).map_or_else(|| self.end(), |i| self.all[i].span))
    }

    /// The end of what is written.
    pub(crate) fn end(&self) -> Span {
        self.all.last().map_or(Span::new(0, 0), |last| Span::new(last.span.end, last.span.end))
    }

    /// A token.
    pub(crate) fn get(&self, i: usize) -> Option<Token> {
        self.all.get(i).copied()
    }

    /// Returns the number of tokens.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// The text of a token; empty where there is none.
    pub(crate) fn text(&self, i: usize) -> &'a str {
        self.all.get(i).map_or("", |token| self.source.slice(token.span))
    }

    /// The token at a position.
    pub(crate) fn at(&self, position: Position) -> Option<usize> {
        self.index(self.offset(position)?)
    }

    /// The closing bracket of an opening one.
    pub(crate) fn partner(&self, i: usize) -> Option<usize> {
        self.all.get(i)?.partner
    }

    /// The innermost bracket that is open before a token and is never closed.
    pub(crate) fn unclosed_before(&self, i: usize) -> Option<Span> {
        let open = |token: &&Token| token.kind == TokenKind::Open && token.partner.is_none();
        self.all[..i.min(self.all.len())].iter().rev().find(open).map(|token| token.span)
    }

    /// A string whose end is missing.
    pub(crate) fn unclosed_text(&self) -> Option<Span> {
        self.all.iter().find(|token| token.kind == TokenKind::OpenText).map(|token| token.span)
    }

    /// Returns the span from a bracket to its partner.
    pub(crate) fn bracketed(&self, i: usize) -> Option<Span> {
        let close = self.all.get(self.partner(i)?)?;
        Some(Span::new(self.all[i].span.start, close.span.end))
    }

    /// The expression that begins with a token, up to the comma, semicolon or bracket that ends it.
    pub(crate) fn expression(&self, i: usize) -> Option<Span> {
        let first = self.all.get(i)?.span;
        let mut last = first;
        let mut next = if self.text(i) == "|" { self.parameters_end(i, self.all.len())? + 1 } else { i };
        while let Some(token) = self.all.get(next) {
            let end = self.partner(next).filter(|p| *p > next).unwrap_or(next);
            if matches!(self.text(next), "," | ";") || (token.kind == TokenKind::Close && end == next) {
                break;
            }
            last = self.all[end].span;
            next = end + 1;
        }
        Some(first.to(last))
    }

    /// The whole of a string in backticks that begins at a span.
    pub(crate) fn template(&self, first: Span) -> Option<Span> {
        let mut i = self.index(first.start)?;
        while self.text(i + 1) == "${" {
            i = self.partner(i + 1)? + 1;
        }
        Some(first.to(self.all.get(i)?.span))
    }

    /// The parts between a bracket and its partner that commas divide.
    pub(crate) fn parts(&self, open: usize) -> Vec<Span> {
        let Some(close) = self.partner(open) else { return Vec::new() };
        let mut parts = Vec::new();
        let mut part: Option<Span> = None;
        let mut i = open + 1;
        while i < close {
            let token = self.all[i];
            if self.text(i) == "," {
                parts.extend(part.take());
                i += 1;
                continue;
            }
            let bracket = self.partner(i).filter(|p| *p > i && *p < close);
            let last = bracket.or_else(|| part.is_none().then(|| self.parameters_end(i, close))?).unwrap_or(i);
            let span = Span::new(token.span.start, self.all[last].span.end);
            part = Some(part.map_or(span, |before| before.to(span)));
            i = last + 1;
        }
        parts.extend(part);
        parts
    }

    /// Returns the end of the parameters of a closure that begins here.
    fn parameters_end(&self, i: usize, close: usize) -> Option<usize> {
        (self.text(i) == "|").then(|| (i + 1..close).find(|j| self.text(*j) == "|"))?
    }

    /// Every name that the text binds somewhere: variables, parameters, loop variables.
    pub(crate) fn bound_names(&self) -> Vec<&'a str> {
        let mut names = Vec::new();
        for i in 0..self.all.len() {
            match self.text(i) {
                "let" | "const" | "for" | "catch" | "as" => {
                    let next = if self.text(i + 1) == "(" { i + 2 } else { i + 1 };
                    names.push(self.text(next));
                    if self.text(next + 1) == "," {
                        names.push(self.text(next + 2));
                    }
                }
                "fn" => names.extend(self.parts(i + 2).iter().map(|span| self.source.slice(*span))),
                "|" => {
                    let mut next = i + 1;
                    while self.all.get(next).is_some_and(|token| token.kind == TokenKind::Word) {
                        names.push(self.text(next));
                        next += if self.text(next + 1) == "," { 2 } else { 1 };
                    }
                }
                _ => {}
            }
        }
        names.retain(|name| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'));
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The name of the function whose body holds a token.
    pub(crate) fn function_around(&self, i: usize) -> Option<&'a str> {
        (0..i.min(self.all.len())).rev().filter(|head| self.text(*head) == "fn").find_map(|head| {
            let body = self.partner(head + 2)? + 1;
            (body < i && self.partner(body)? > i).then(|| self.text(head + 1))
        })
    }

    /// Returns the functions that the text defines: name, number of parameters, position of the
    /// name.
    pub(crate) fn functions(&self) -> Vec<(&'a str, usize, Span)> {
        let heads = (0..self.all.len()).filter(|i| self.text(*i) == "fn" && self.text(i + 2) == "(");
        heads.map(|i| (self.text(i + 1), self.parts(i + 2).len(), self.all[i + 1].span)).collect()
    }
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
    all: Vec<Token>,
    /// Indexes of brackets without a partner yet.
    open: Vec<usize>,
}

impl Scan<'_> {
    fn run(&mut self) {
        while let Some(c) = self.peek() {
            let start = self.at;
            match c {
                c if c.is_whitespace() => self.at += c.len_utf8(),
                '/' if self.ahead("//") => self.skip_line(),
                '/' if self.ahead("/*") => self.skip_comment(),
                '"' => self.quoted('"'),
                '\'' => self.quoted('\''),
                '`' => {
                    self.at += 1;
                    self.template(start);
                }
                '#' if self.raw_hashes().is_some() => self.raw(),
                'a'..='z' | 'A'..='Z' | '_' => self.word(),
                '0'..='9' => self.number(),
                '}' if self.closes_interpolation() => {
                    self.sign();
                    self.template(self.at);
                }
                _ => self.sign(),
            }
        }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn ahead(&self, what: &str) -> bool {
        self.text[self.at..].starts_with(what)
    }

    fn push(&mut self, kind: TokenKind, start: usize) {
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        self.all.push(Token { kind, span: Span::new(offset(start), offset(self.at)), partner: None });
    }

    fn skip_line(&mut self) {
        self.at += self.text[self.at..].find('\n').unwrap_or(self.text.len() - self.at);
    }

    fn skip_comment(&mut self) {
        let mut level = 0_usize;
        while let Some(c) = self.peek() {
            if self.ahead("/*") {
                level += 1;
                self.at += 2;
            } else if self.ahead("*/") {
                level -= 1;
                self.at += 2;
                if level == 0 {
                    return;
                }
            } else {
                self.at += c.len_utf8();
            }
        }
    }

    /// `"…"` or `'…'`: ends with its line at the latest, but for a `\` at its end.
    fn quoted(&mut self, quote: char) {
        let start = self.at;
        self.at += 1;
        while let Some(c) = self.peek() {
            match c {
                '\n' => return self.push(TokenKind::OpenText, start),
                '\\' => {
                    self.at += 1;
                    self.at += self.peek().map_or(0, char::len_utf8);
                    continue;
                }
                _ => {}
            }
            self.at += c.len_utf8();
            if c == quote {
                // Two quotes in a string are one of its characters.
                if quote == '"' && self.peek() == Some('"') {
                    self.at += 1;
                    continue;
                }
                return self.push(TokenKind::Text, start);
            }
        }
        self.push(TokenKind::OpenText, start);
    }

    /// The text of `` `…` `` up to its end or to a `${`.
    fn template(&mut self, start: usize) {
        while let Some(c) = self.peek() {
            if self.ahead("${") {
                self.push(TokenKind::Text, start);
                let open = self.at;
                self.at += 2;
                self.open.push(self.all.len());
                return self.push(TokenKind::Open, open);
            }
            self.at += c.len_utf8();
            if c == '`' {
                if self.peek() == Some('`') {
                    self.at += 1;
                    continue;
                }
                return self.push(TokenKind::Text, start);
            }
        }
        self.push(TokenKind::OpenText, start);
    }

    fn closes_interpolation(&self) -> bool {
        self.open
            .last()
            .is_some_and(|i| self.all[*i].span.range().len() == 2 && self.text[self.all[*i].span.range()] == *"${")
    }

    fn raw_hashes(&self) -> Option<usize> {
        let hashes = self.text[self.at..].bytes().take_while(|b| *b == b'#').count();
        (self.text.as_bytes().get(self.at + hashes) == Some(&b'"')).then_some(hashes)
    }

    /// `#"…"#`
    fn raw(&mut self) {
        let start = self.at;
        let hashes = self.raw_hashes().unwrap_or(1);
        self.at += hashes + 1;
        let end = format!("\"{}", "#".repeat(hashes));
        match self.text[self.at..].find(&end) {
            Some(length) => {
                self.at += length + end.len();
                self.push(TokenKind::Text, start);
            }
            None => {
                self.at = self.text.len();
                self.push(TokenKind::OpenText, start);
            }
        }
    }

    fn word(&mut self) {
        let start = self.at;
        self.at += self.text[start..].bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        self.push(TokenKind::Word, start);
    }

    fn number(&mut self) {
        let start = self.at;
        let bytes = self.text.as_bytes();
        while let Some(b) = bytes.get(self.at) {
            let fraction = *b == b'.' && bytes.get(self.at + 1).is_some_and(u8::is_ascii_digit);
            let exponent = matches!(b, b'+' | b'-')
                && matches!(bytes[self.at - 1], b'e' | b'E')
                && !self.text[start..].starts_with("0x")
                && bytes.get(self.at + 1).is_some_and(u8::is_ascii_digit);
            if !(b.is_ascii_alphanumeric() || *b == b'_' || fraction || exponent) {
                break;
            }
            self.at += 1;
        }
        self.push(TokenKind::Number, start);
    }

    fn sign(&mut self) {
        let start = self.at;
        let rest = &self.text[start..];
        let length = SIGNS
            .iter()
            .find(|sign| rest.starts_with(**sign))
            .map_or_else(|| rest.chars().next().map_or(1, char::len_utf8), |sign| sign.len());
        self.at += length;
        match &rest[..length] {
            "(" | "[" | "{" | "#{" | "?[" => {
                self.open.push(self.all.len());
                self.push(TokenKind::Open, start);
            }
            close @ (")" | "]" | "}") => {
                self.push(TokenKind::Close, start);
                self.close(close);
            }
            _ => self.push(TokenKind::Sign, start),
        }
    }

    /// Joins a closing bracket with the innermost open one of its kind; those between were never closed.
    fn close(&mut self, close: &str) {
        let fits = |open: &str| match close {
            ")" => open == "(",
            "]" => matches!(open, "[" | "?["),
            _ => matches!(open, "{" | "#{" | "${"),
        };
        let found = self.open.iter().rposition(|i| fits(&self.text[self.all[*i].span.range()]));
        let Some(found) = found else { return };
        let (open, close) = (self.open[found], self.all.len() - 1);
        self.open.truncate(found);
        self.all[open].partner = Some(close);
        self.all[close].partner = Some(open);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lang::source::Source;

    fn texts(text: &str) -> Vec<String> {
        let source = Source::new("t.rhai", text);
        let tokens = Tokens::of(&source);
        (0..tokens.len()).map(|i| tokens.text(i).to_owned()).collect()
    }

    #[test]
    fn tokens_of_all_kinds() {
        assert_eq!(
            texts("let a=#{b:1.5e-3};//x\n/* /* */ */c::d(\"x\"\"y\\\"\")"),
            ["let", "a", "=", "#{", "b", ":", "1.5e-3", "}", ";", "c", "::", "d", "(", "\"x\"\"y\\\"\"", ")"]
        );
        assert_eq!(texts("`a${b}c` #\"r\"x\"#"), ["`a", "${", "b", "}", "c`", "#\"r\"x\"#"]);
        assert_eq!(texts("0..5 x?.y?[1]"), ["0", "..", "5", "x", "?.", "y", "?[", "1", "]"]);
    }

    #[test]
    fn positions_count_characters_and_the_token_is_found() {
        let source = Source::new("t.rhai", "let ä = 1;\n\tlet größe = \"é\" + c;");
        let tokens = Tokens::of(&source);
        let span = tokens.span(Position::new(2, 20)).map(|span| source.slice(span));
        assert_eq!(span, Some("c"));
        assert_eq!(tokens.span(Position::new(9, 1)), None);
        assert_eq!(tokens.span(Position::NONE), None);
    }

    #[test]
    fn arguments_are_divided_by_commas_outside_of_brackets() {
        let source = Source::new("t.rhai", "f(a, #{b: 1, c: [2, 3]}, g(4, 5), |x, y| x + y)");
        let tokens = Tokens::of(&source);
        let parts: Vec<_> = tokens.parts(1).iter().map(|span| source.slice(*span)).collect();
        assert_eq!(parts, ["a", "#{b: 1, c: [2, 3]}", "g(4, 5)", "|x, y| x + y"]);
    }

    #[test]
    fn brackets_that_are_never_closed_are_known() {
        let source = Source::new("t.rhai", "f((1, 2);\ng(3)");
        let tokens = Tokens::of(&source);
        assert_eq!(tokens.unclosed_before(tokens.len()), Some(Span::new(1, 2)));
    }
}
