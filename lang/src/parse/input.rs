//! Types and smallest pieces that the rules of the grammar share.

use super::failure::{ParseFailure, TokenClass, Wants};
use crate::ast::{Block, Expr, ExprKind, Name, NodeId, NodeIds, Pattern, PatternKind, Stmt, TypeExpr, TypeKind};
use crate::lex::token::{Kw, Token};
use crate::source::Span;
use chumsky::input::{Input, InputRef, ValueInput};
use chumsky::prelude::*;
use std::cell::Cell;
use std::convert::Infallible;
use std::ops::Range;

/// The tokens as chumsky reads them. What `split_token_span` gives does the same, but its type holds so many others
/// that the compiler spends minutes on the grammar.
#[derive(Clone, Copy, Debug)]
pub(super) struct In<'a> {
    tokens: &'a [(Token<'a>, Span)],
    /// Span of the end of the text.
    end: Span,
}

impl<'a> In<'a> {
    pub(super) fn new(tokens: &'a [(Token<'a>, Span)], end: u32) -> Self {
        Self { tokens, end: Span::new(end, end) }
    }
}

#[allow(unsafe_code, reason = "the trait says who may call these; nothing in them is unsafe")]
impl<'a> Input<'a> for In<'a> {
    type Span = Span;
    type Token = Token<'a>;
    type MaybeToken = Token<'a>;
    type Cursor = usize;
    type Cache = Self;

    fn begin(self) -> (usize, Self) {
        (0, self)
    }

    fn cursor_location(cursor: &usize) -> usize {
        *cursor
    }

    #[inline]
    unsafe fn next_maybe(cache: &mut Self, cursor: &mut usize) -> Option<Token<'a>> {
        let (token, _) = cache.tokens.get(*cursor)?;
        *cursor += 1;
        Some(*token)
    }

    #[inline]
    unsafe fn span(cache: &mut Self, range: Range<&usize>) -> Span {
        let first = cache.tokens.get(*range.start).map_or(cache.end, |(_, span)| *span);
        match range.end.checked_sub(1).and_then(|last| cache.tokens.get(last)) {
            Some((_, last)) if range.end > range.start => Span::new(first.start, last.end),
            // A rule that took nothing stands before the next token.
            _ => Span::new(first.start, first.start),
        }
    }
}

#[allow(unsafe_code, reason = "as above")]
impl<'a> ValueInput<'a> for In<'a> {
    #[inline]
    unsafe fn next(cache: &mut Self, cursor: &mut usize) -> Option<Token<'a>> {
        let (token, _) = cache.tokens.get(*cursor)?;
        *cursor += 1;
        Some(*token)
    }
}

/// Input of a rule that is written by hand.
pub(super) type RuleInput<'a, 'b> = InputRef<'a, 'b, In<'a>, Ex>;
/// Error type of the rules.
pub(super) type Ex = extra::Err<ParseFailure>;
/// A named rule. Boxed, so that no type grows with the grammar.
pub(super) type GrammarRule<'a, T> = Boxed<'a, 'a, In<'a>, T, Ex>;

/// State that the rules share while one text is parsed.
#[derive(Debug, Default)]
pub(super) struct ParseState {
    /// The ids of the nodes.
    ids: NodeIds,
    /// Span at which an expression first exceeded the depth limit.
    pub(super) too_deep: Cell<Option<Span>>,
}

impl ParseState {
    /// Returns the next id.
    #[inline]
    pub(super) fn id(&self) -> NodeId {
        self.ids.next()
    }

    /// Makes a name.
    #[inline]
    pub(super) fn name(&self, text: &str, span: Span) -> Name {
        Name { text: text.into(), span, id: self.id() }
    }

    /// Makes a pattern.
    pub(super) fn pattern(&self, kind: PatternKind, span: Span) -> Pattern {
        Pattern { kind, span, id: self.id() }
    }

    /// Makes a written type.
    pub(super) fn ty(&self, kind: TypeKind, span: Span) -> TypeExpr {
        TypeExpr { kind, span, id: self.id() }
    }

    /// Makes a block.
    pub(super) fn block(&self, stmts: Vec<Stmt>, span: Span) -> Block {
        Block { stmts, span, id: self.id() }
    }

    /// Makes an expression without parts.
    #[inline]
    pub(super) fn leaf(&self, kind: ExprKind, span: Span) -> Expr {
        Expr::leaf(kind, span, self.id())
    }

    /// Makes an expression; remembers where one was too deep.
    pub(super) fn node(&self, kind: ExprKind, span: Span) -> Expr {
        let expr = Expr::new(kind, span, self.id());
        if matches!(expr.kind, ExprKind::TooDeep) && self.too_deep.get().is_none() {
            self.too_deep.set(Some(span));
        }
        expr
    }
}

impl chumsky::span::Span for Span {
    type Context = ();
    type Offset = u32;

    fn new((): (), range: Range<u32>) -> Self {
        Self { start: range.start, end: range.end }
    }

    fn context(&self) {}

    fn start(&self) -> u32 {
        self.start
    }

    fn end(&self) -> u32 {
        self.end
    }
}

/// One reserved word.
pub(super) fn kw<'a>(kw: Kw) -> impl Parser<'a, In<'a>, (), Ex> + Clone {
    just(Token::Kw(kw)).ignored()
}

/// One token.
pub(super) fn tok<'a>(token: Token<'a>) -> impl Parser<'a, In<'a>, (), Ex> + Clone {
    just(token).ignored()
}

/// A word that is reserved only here.
pub(super) fn word<'a>(word: &'static str) -> impl Parser<'a, In<'a>, (), Ex> + Clone {
    select! { Token::Ident(text) if text == word => () }
}

/// A name.
pub(super) fn name<'a>(cx: &'a ParseState) -> impl Parser<'a, In<'a>, Name, Ex> + Clone {
    select! { Token::Ident(text) = e => cx.name(text, e.span()) }.labelled(TokenClass::Name)
}

/// A name, or `_`.
pub(super) fn name_or_blank<'a>(cx: &'a ParseState) -> impl Parser<'a, In<'a>, Name, Ex> + Clone {
    select! {
        Token::Ident(text) = e => cx.name(text, e.span()),
        Token::Underscore = e => cx.name("_", e.span()),
    }
    .labelled(TokenClass::Name)
}

/// The failure of a rule for which the next token is not one of `wants`. The furthest failure so far wins, as it does where a
/// combinator fails.
#[cold]
pub(super) fn missed<'a>(inp: &mut RuleInput<'a, '_>, wants: Wants) -> ParseFailure {
    let failed = inp.parse(custom(|inp: &mut RuleInput<'a, '_>| Err::<Infallible, _>(unexpected(inp, wants))));
    match failed {
        Ok(never) => match never {},
        Err(failure) => failure,
    }
}

/// The failure for which the next token is not one of `wants`, whatever failed before.
#[cold]
fn unexpected(inp: &mut RuleInput<'_, '_>, wants: Wants) -> ParseFailure {
    let start = inp.cursor();
    if inp.peek().is_some() {
        inp.skip();
    }
    ParseFailure { span: inp.span_since(&start), wants, problem: None }
}

/// Takes the next token if it fits; otherwise `want` was missing.
#[inline]
pub(super) fn take<'a>(
    inp: &mut RuleInput<'a, '_>,
    fits: fn(Token<'a>) -> bool,
    want: TokenClass,
) -> Result<(), ParseFailure> {
    if inp.peek().is_some_and(fits) {
        inp.skip();
        return Ok(());
    }
    Err(missed(inp, Wants::of(want)))
}

/// Notes that the rule at hand could go on with one of `wants`, for the message in case that nothing else fits.
pub(super) fn note<'a>(inp: &mut RuleInput<'a, '_>, wants: Wants) {
    // What is optional never fails.
    let _ = inp.parse(custom(|inp: &mut RuleInput<'a, '_>| Err::<(), _>(unexpected(inp, wants))).or_not());
}

/// Notes how something optional failed, as [`note`] does.
#[cold]
pub(super) fn note_failure<'a>(inp: &mut RuleInput<'a, '_>, failure: ParseFailure) {
    let _ = inp.parse(custom(|_: &mut RuleInput<'a, '_>| Err::<(), _>(failure)).or_not());
}

/// Does the same, unless the next token ends an element or a bracket: that fits.
#[inline]
pub(super) fn note_inside(inp: &mut RuleInput<'_, '_>, wants: Wants) {
    if inp.peek().is_none_or(|token| !matches!(token, Token::Comma) && !token.closes()) {
        note(inp, wants);
    }
}

/// Returns a rule that applies `rule` where the next token is one of its first ones.
pub(super) fn when<'a, T: 'a>(first: fn(Token<'a>) -> bool, rule: GrammarRule<'a, T>) -> GrammarRule<'a, T> {
    custom(move |inp: &mut RuleInput<'a, '_>| match inp.peek() {
        Some(token) if first(token) => inp.parse(&rule),
        _ => Err(unexpected(inp, Wants::default())),
    })
    .boxed()
}

/// Returns a rule that applies the one of `rules` that the next token chooses; if it chooses none, `want` is reported missing.
///
/// A failure inside of the rule counts as one at its first token, so this must not be the first thing that something
/// labelled looks at.
pub(super) fn by_token<'a, T: 'a, const N: usize>(
    rules: [GrammarRule<'a, T>; N],
    choose: fn(Token<'a>) -> Option<usize>,
    want: TokenClass,
) -> GrammarRule<'a, T> {
    custom(move |inp: &mut RuleInput<'a, '_>| match inp.peek().and_then(choose).and_then(|chosen| rules.get(chosen)) {
        Some(rule) => inp.parse(rule),
        None => Err(unexpected(inp, Wants::of(want))),
    })
    .boxed()
}

/// Line breaks and semicolons, at least one.
pub(super) fn separators<'a>() -> impl Parser<'a, In<'a>, (), Ex> + Clone {
    one_of([Token::Newline, Token::Semi]).repeated().at_least(1).ignored()
}

/// Skips line breaks and semicolons. Returns whether there were any.
pub(super) fn skip_separators(inp: &mut RuleInput<'_, '_>) -> bool {
    let mut any = false;
    while matches!(inp.peek(), Some(Token::Newline | Token::Semi)) {
        inp.skip();
        any = true;
    }
    any
}

/// Line breaks, semicolons and commas, any number.
pub(super) fn member_separators<'a>() -> impl Parser<'a, In<'a>, (), Ex> + Clone {
    one_of([Token::Newline, Token::Semi, Token::Comma]).repeated().ignored()
}
