//! The tokens and comments of a text, one after the other.

use lang::lex::token::Token;
use lang::source::Span;

/// A position in the tokens and comments of a text.
#[derive(Debug)]
pub(crate) struct Cursor<'a> {
    pub(crate) text: &'a str,
    tokens: &'a [(Token<'a>, Span)],
    at: usize,
    comments: &'a [Span],
    comment: usize,
    /// The end of what was taken last.
    end: u32,
}

/// The text behind the last token.
const NONE: (Token<'static>, Span) = (Token::Newline, Span { start: u32::MAX, end: u32::MAX });

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str, tokens: &'a [(Token<'a>, Span)], comments: &'a [Span]) -> Self {
        let mut cursor = Self { text, tokens, at: 0, comments, comment: 0, end: 0 };
        cursor.skip_separators();
        cursor
    }

    /// Returns the next token. Separators of statements are none: the tree says where they are.
    pub(crate) fn peek(&self) -> Token<'a> {
        self.tokens.get(self.at).unwrap_or(&NONE).0
    }

    /// Returns where the next token is; behind the end of the text if there is none.
    pub(crate) fn span(&self) -> Span {
        self.tokens.get(self.at).unwrap_or(&NONE).1
    }

    /// Returns where the next token begins, or the text ends.
    pub(crate) fn start(&self) -> u32 {
        self.span().start.min(u32::try_from(self.text.len()).unwrap_or(u32::MAX))
    }

    /// Returns the token behind the next one.
    pub(crate) fn second(&self) -> Token<'a> {
        let rest = self.tokens.get(self.at + 1..).unwrap_or(&[]);
        rest.iter().find(|(token, _)| !is_separator(*token)).unwrap_or(&NONE).0
    }

    /// Takes the next token and returns where it is. A string is taken as a whole.
    pub(crate) fn take(&mut self) -> Span {
        let Some(&(token, mut span)) = self.tokens.get(self.at) else { return Span::new(self.end, self.end) };
        self.at += 1;
        if matches!(token, Token::StrStart(_)) {
            span = span.to(self.rest_of_string());
        } else if matches!(token, Token::Doc(_) | Token::NotIn) {
            self.skip_comments(span.end);
        }
        self.end = span.end;
        self.skip_separators();
        span
    }

    /// Takes the tokens of a string behind its opener, with strings and comments in its interpolations.
    fn rest_of_string(&mut self) -> Span {
        let mut depth = 1;
        let mut last = Span::default();
        while depth > 0
            && let Some(&(token, span)) = self.tokens.get(self.at)
        {
            match token {
                Token::StrStart(_) => depth += 1,
                Token::StrEnd => depth -= 1,
                _ => {}
            }
            last = span;
            self.at += 1;
        }
        self.skip_comments(last.end);
        last
    }

    /// Leaves out the comments up to `end`, which were printed as part of a token.
    fn skip_comments(&mut self, end: u32) {
        while self.comments.get(self.comment).is_some_and(|comment| comment.start < end) {
            self.comment += 1;
        }
    }

    fn skip_separators(&mut self) {
        while self.tokens.get(self.at).is_some_and(|(token, _)| is_separator(*token)) {
            self.at += 1;
        }
    }

    /// Returns the next comment, if it is before the next token.
    pub(crate) fn comment(&self) -> Option<Span> {
        let comment = self.comments.get(self.comment)?;
        (comment.start < self.span().start).then_some(*comment)
    }

    /// Takes the next comment.
    pub(crate) fn take_comment(&mut self) {
        if let Some(comment) = self.comments.get(self.comment) {
            self.end = comment.end;
            self.comment += 1;
        }
    }

    /// Returns whether a comment is in a stretch of the text.
    pub(crate) fn has_comment_in(&self, span: Span) -> bool {
        let next = self.comments.partition_point(|comment| comment.start < span.start);
        self.comments.get(next).is_some_and(|comment| comment.start < span.end)
    }

    /// Returns how many lines end between what was taken last and `to`. A line break behind a backslash is none.
    pub(crate) fn breaks_to(&self, to: u32) -> usize {
        if self.end == 0 {
            // The text begins on a line of its own.
            return 1;
        }
        self.breaks(self.end, to)
    }

    /// Returns how many lines end between two places where no token is.
    pub(crate) fn breaks(&self, from: u32, to: u32) -> usize {
        let gap = self.text.get(from as usize..to as usize).unwrap_or("");
        let joined = |before: &str| before.trim_end_matches([' ', '\t']).ends_with('\\');
        gap.match_indices('\n').filter(|(at, _)| !joined(&gap[..*at])).count()
    }

    /// Returns whether something is between what was taken last and `to`.
    pub(crate) const fn is_apart(&self, to: u32) -> bool {
        self.end < to
    }

    /// Returns whether the next token is on another line than the last one.
    pub(crate) fn on_new_line(&self) -> bool {
        self.text.get(self.end as usize..self.start() as usize).is_some_and(|gap| gap.contains('\n'))
    }

    /// Returns whether a stretch of the text holds a line break.
    pub(crate) fn has_lines(&self, span: Span) -> bool {
        self.text[span.range()].contains('\n')
    }

    /// Returns the tokens in a stretch of the text.
    pub(crate) fn tokens_in(&self, stretch: Span) -> impl Iterator<Item = Token<'a>> {
        let first = self.tokens.partition_point(|(_, span)| span.start < stretch.start);
        let rest = self.tokens.get(first..).unwrap_or(&[]);
        rest.iter().take_while(move |(_, span)| span.start < stretch.end).map(|(token, _)| *token)
    }
}

fn is_separator(token: Token<'_>) -> bool {
    matches!(token, Token::Newline | Token::Semi)
}
