//! Failure of a rule: its place, and the tokens that were expected.
//!
//! chumsky records a failure at nearly every token, also where another alternative then succeeds, so this type is small
//! and plain data. It is given words in [`super::error`].

use super::input::In;
use crate::lex::token::{Kw, Token};
use crate::source::Span;
use chumsky::DefaultExpected;
use chumsky::error::{Error, LabelError};
use chumsky::util::MaybeRef;

/// A class of tokens that would have fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenClass {
    /// An expression.
    Expr,
    /// A pattern.
    Pattern,
    /// A type.
    Type,
    /// A name.
    Name,
    /// A declaration.
    Item,
    /// A string.
    Str,
    /// The `{` of a body.
    Body,
    /// The `{` of a closure.
    Closure,
    /// `->`
    Arrow,
    /// `=`
    Assign,
    /// `:`
    Colon,
    /// `,`
    Comma,
    /// `(`
    LParen,
    /// `)`
    RParen,
    /// `]`
    RBracket,
    /// `}`
    RBrace,
    /// `>`
    Gt,
    /// The end of the statement.
    Separator,
    /// `in`
    In,
    /// `from`
    From,
    /// `else`
    Else,
    /// `fn`
    Fn,
    /// Some operator.
    Operator,
}

/// A set of [`TokenClass`]s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wants(u32);

impl Wants {
    pub(super) const fn of(want: TokenClass) -> Self {
        Self(1 << want as u32)
    }

    /// All of `wants`.
    pub(super) fn all(wants: &[TokenClass]) -> Self {
        wants.iter().fold(Self::default(), |set, want| set.and(Self::of(*want)))
    }

    pub(super) const fn has(self, want: TokenClass) -> bool {
        self.0 & (1 << want as u32) != 0
    }

    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A mistake that the rules themselves find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// Assignment to what is no name or path.
    AssignTarget,
    /// `(a, b, c)`.
    NoTriple,
    /// `x exclusive` without `to`.
    ExclusiveWithoutRange,
    /// `import "${x}"`, a pattern with an interpolation.
    NotConstant,
    /// A rest that is not the last.
    RestNotLast,
    /// Two `catch`es.
    SecondCatch,
}

/// A failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ParseFailure {
    /// The token that did not fit, or what the problem is about.
    pub(super) span: Span,
    /// Tokens that were expected.
    pub(super) wants: Wants,
    /// Problem, if there is more to say than that a token does not fit.
    pub(super) problem: Option<Problem>,
}

impl ParseFailure {
    pub(super) fn wanted(want: TokenClass, span: Span) -> Self {
        Self { span, wants: Wants::of(want), problem: None }
    }

    pub(super) fn problem(problem: Problem, span: Span) -> Self {
        Self { span, wants: Wants::default(), problem: Some(problem) }
    }

    /// The text ends where something was missing.
    pub(super) fn is_at_end(&self, tokens: &[(Token<'_>, Span)], end: u32) -> bool {
        let last = tokens.last().map_or(0, |(_, s)| s.end);
        self.problem.is_none()
            && (self.span.start >= end || self.span.start >= last && self.span.start == self.span.end)
    }
}

fn class(token: Token<'_>) -> TokenClass {
    match token {
        Token::RParen => TokenClass::RParen,
        Token::RBracket => TokenClass::RBracket,
        Token::RBrace | Token::InterpEnd => TokenClass::RBrace,
        Token::LParen => TokenClass::LParen,
        Token::Comma => TokenClass::Comma,
        Token::Colon => TokenClass::Colon,
        Token::Arrow => TokenClass::Arrow,
        Token::Assign => TokenClass::Assign,
        Token::LBody => TokenClass::Body,
        Token::LClosure => TokenClass::Closure,
        Token::Gt => TokenClass::Gt,
        Token::Newline | Token::Semi => TokenClass::Separator,
        Token::StrStart(_) | Token::Raw(_) => TokenClass::Str,
        Token::Kw(Kw::In) => TokenClass::In,
        Token::Kw(Kw::From) => TokenClass::From,
        Token::Kw(Kw::Else) => TokenClass::Else,
        Token::Kw(Kw::Fn) | Token::AnonymousFn => TokenClass::Fn,
        _ => TokenClass::Operator,
    }
}

impl<'a> Error<'a, In<'a>> for ParseFailure {
    fn merge(self, other: Self) -> Self {
        match (self.problem, other.problem) {
            (Some(_), None) => self,
            (None, Some(_)) => other,
            _ if other.span.start > self.span.start => other,
            _ if other.span.start < self.span.start => self,
            _ => Self { wants: self.wants.and(other.wants), ..self },
        }
    }
}

impl<'a> LabelError<'a, In<'a>, DefaultExpected<'a, Token<'a>>> for ParseFailure {
    fn expected_found<E: IntoIterator<Item = DefaultExpected<'a, Token<'a>>>>(
        expected: E,
        _: Option<MaybeRef<'a, Token<'a>>>,
        span: Span,
    ) -> Self {
        let wants = expected.into_iter().fold(Wants::default(), |wants, one| match one {
            DefaultExpected::Token(token) => wants.and(Wants::of(class(*token))),
            DefaultExpected::EndOfInput => wants.and(Wants::of(TokenClass::Separator)),
            _ => wants,
        });
        Self { span, wants, problem: None }
    }
}

impl<'a> LabelError<'a, In<'a>, TokenClass> for ParseFailure {
    fn expected_found<E: IntoIterator<Item = TokenClass>>(
        expected: E,
        _: Option<MaybeRef<'a, Token<'a>>>,
        span: Span,
    ) -> Self {
        let wants = expected.into_iter().fold(Wants::default(), |wants, one| wants.and(Wants::of(one)));
        Self { span, wants, problem: None }
    }

    fn label_with(&mut self, label: TokenClass) {
        if self.problem.is_none() {
            self.wants = Wants::of(label);
        }
    }
}
