//! Gives failures their words: the one place that knows what chumsky reports and what a person reads.

use super::failure::{ParseFailure, Problem, TokenClass, Wants};
use super::{ParseCode, fixes, slips};
use crate::diagnostic::Diagnostic;
use crate::diagnostic::fix::{Applicability, Edit};
use crate::lex::token::{Kw, Token};
use crate::source::{SourceRef, Span};

/// A failure with what stands around it.
pub(super) struct Scene<'t, 'a> {
    pub(super) source: &'t SourceRef,
    pub(super) tokens: &'t [(Token<'a>, Span)],
    /// Index in `tokens` of the token that did not fit.
    pub(super) at: usize,
    pub(super) wants: Wants,
}

impl<'t, 'a> Scene<'t, 'a> {
    fn new(failure: &ParseFailure, source: &'t SourceRef, tokens: &'t [(Token<'a>, Span)]) -> Self {
        let mut at = tokens.partition_point(|(_, span)| span.start < failure.span.start);
        // A line break stands where the token before it ends, which is where the next one may begin.
        while tokens.get(at).is_some_and(|(_, span)| span.end < failure.span.end && span.start == failure.span.start) {
            at += 1;
        }
        Self { source, tokens, at, wants: failure.wants }
    }

    /// The token that did not fit; nothing at the end of the text.
    pub(super) fn found(&self) -> Option<Token<'a>> {
        self.tokens.get(self.at).map(|(t, _)| *t)
    }

    /// The token `back` places before it.
    pub(super) fn before(&self, back: usize) -> Option<(Token<'a>, Span)> {
        self.at.checked_sub(back).and_then(|i| self.tokens.get(i)).copied()
    }

    /// The innermost bracket that is open there, and its index.
    pub(super) fn opener(&self) -> Option<(usize, Token<'a>, Span)> {
        let mut depth = 0usize;
        for (index, (token, span)) in self.tokens[..self.at.min(self.tokens.len())].iter().enumerate().rev() {
            if token.closes() {
                depth += 1;
            } else if token.opens() {
                if depth == 0 {
                    return Some((index, *token, *span));
                }
                depth -= 1;
            }
        }
        None
    }

    /// The opening partner of the closing bracket `back` places before it, with its index.
    pub(super) fn partner_before(&self, back: usize) -> Option<(usize, Span)> {
        let closer = self.at.checked_sub(back)?;
        if !self.tokens.get(closer)?.0.closes() {
            return None;
        }
        let mut depth = 0usize;
        for (index, (token, span)) in self.tokens[..=closer].iter().enumerate().rev() {
            if token.closes() {
                depth += 1;
            } else if token.opens() {
                depth -= 1;
                if depth == 0 {
                    return Some((index, *span));
                }
            }
        }
        None
    }

    /// At the beginning of a statement.
    pub(super) fn at_statement_start(&self) -> bool {
        matches!(self.before(1), None | Some((Token::Newline | Token::Semi | Token::LBody, _)))
    }

    /// Returns the name in messages of the token that was found.
    pub(super) fn found_text(&self) -> String {
        match self.found() {
            None => "the end of the text".to_owned(),
            Some(token @ (Token::Int(_) | Token::Float(_))) => {
                let text = self.source.slice(self.tokens[self.at].1);
                if text.len() > 20 { token.to_string() } else { format!("`{text}`") }
            }
            Some(token) => token.to_string(),
        }
    }

    /// ` after …`, where something stands before it that is worth naming.
    fn after(&self) -> String {
        match self.before(1) {
            Some((token @ (Token::StrEnd | Token::Raw(_)), _)) => format!(" after {token}"),
            Some((Token::Newline | Token::Semi | Token::Doc(_) | Token::Damaged, _)) | None => String::new(),
            Some((_, span)) => {
                let text = self.source.slice(span);
                if text.is_empty() || text.len() > 24 { String::new() } else { format!(" after `{text}`") }
            }
        }
    }
}

/// The diagnostic for a failure.
pub(super) fn explain(failure: &ParseFailure, source: &SourceRef, tokens: &[(Token<'_>, Span)]) -> Diagnostic {
    if let Some(problem) = failure.problem {
        return explain_problem(problem, failure.span, source);
    }
    let scene = Scene::new(failure, source, tokens);
    if let Some(slip) = slips::recognise(&scene, failure.span) {
        return slip;
    }
    let (code, message, label) = words(&scene);
    let mut diagnostic = match missing_comma(&scene, failure.span) {
        Some(end) => Diagnostic::new(code, message).label(source, end, "missing `,`"),
        None => Diagnostic::new(code, message).label(source, failure.span, label),
    };
    if closes_bracket(&scene)
        && let Some((index, token, span)) = scene.opener()
    {
        diagnostic = diagnostic.label(source, span, format!("{} opened here", opener_name(&scene, index, token)));
    }
    if let Some(help) = slips::help(&scene) {
        diagnostic = diagnostic.help(help);
    }
    if let Some((applicability, edits)) = fixes::of(&scene) {
        diagnostic = diagnostic.fix_by(applicability, edits);
    }
    diagnostic
}

/// The end of the element before an element on a later line: the comma belongs there.
fn missing_comma(scene: &Scene<'_, '_>, at: Span) -> Option<Span> {
    let (_, before) = scene.before(1)?;
    let begins_element = super::expr::begins_expr(scene.found()?);
    let on_later_line = before.end < at.start && scene.source.slice(Span::new(before.end, at.start)).contains('\n');
    let wanted = closes_bracket(scene) && scene.wants.has(TokenClass::Comma);
    (wanted && begins_element && on_later_line).then(|| Span::new(before.end, before.end))
}

/// The code, the message and the main label.
fn words(scene: &Scene<'_, '_>) -> (ParseCode, String, String) {
    let found = scene.found_text();
    let wants = scene.wants;
    let after = scene.after();
    let expected = |what: &str| format!("expected {what}{after}, found {found}");
    let unexpected = "unexpected".to_owned();
    if wants.has(TokenClass::Expr) {
        if scene.at_statement_start() {
            return (ParseCode::Unexpected, format!("expected a statement, found {found}"), unexpected);
        }
        return (ParseCode::NoExpression, expected("an expression"), "missing expression".to_owned());
    }
    if wants.has(TokenClass::Pattern) {
        return (ParseCode::NoPattern, expected("a name or a pattern"), "missing name or pattern".to_owned());
    }
    if wants.has(TokenClass::Type) {
        return (ParseCode::NoType, expected("a type"), "missing type".to_owned());
    }
    if wants.has(TokenClass::Item) {
        return (ParseCode::NoDeclaration, expected("a declaration"), "missing declaration".to_owned());
    }
    if closes_bracket(scene) {
        let list = wants_text(wants);
        let name = scene.opener().map_or("the list", |(index, token, _)| opener_name(scene, index, token));
        let message = if wants.has(TokenClass::Comma) {
            format!("expected {list} in {name}, found {found}")
        } else {
            format!("expected {list} to close {name}, found {found}")
        };
        return (ParseCode::ElementEnd, message, unexpected);
    }
    if wants.has(TokenClass::Body) || wants.has(TokenClass::Closure) {
        let what = if wants.has(TokenClass::Else) { "`else`" } else { "`{`" };
        return (ParseCode::NoBody, expected(what), format!("missing {what}"));
    }
    if wants.has(TokenClass::Name) {
        return (ParseCode::NoName, expected("a name"), "missing name".to_owned());
    }
    let list = wants_text(wants);
    if list == "the end of the statement" {
        let message = format!("expected the end of the statement, found {found}");
        return (ParseCode::StatementEnd, message, "the previous statement has not ended".to_owned());
    }
    if list.is_empty() {
        return (ParseCode::Unexpected, format!("unexpected {found}"), unexpected);
    }
    (ParseCode::Unexpected, expected(&list), unexpected)
}

/// Something between brackets went on where a comma or the closer was due.
fn closes_bracket(scene: &Scene<'_, '_>) -> bool {
    let closer = [TokenClass::RParen, TokenClass::RBracket, TokenClass::RBrace].into_iter().any(|w| scene.wants.has(w));
    let more = [TokenClass::Expr, TokenClass::Pattern, TokenClass::Type, TokenClass::Item]
        .into_iter()
        .any(|w| scene.wants.has(w));
    let key = scene.wants.has(TokenClass::Name) && !scene.wants.has(TokenClass::Comma);
    closer && !more && !key
}

/// Returns the expected tokens as a list; operators are left out, because they would nearly always fit.
fn wants_text(wants: Wants) -> String {
    const NAMED: [(TokenClass, &str); 16] = [
        (TokenClass::Comma, "`,`"),
        (TokenClass::RParen, "`)`"),
        (TokenClass::RBracket, "`]`"),
        (TokenClass::RBrace, "`}`"),
        (TokenClass::Gt, "`>`"),
        (TokenClass::Colon, "`:`"),
        (TokenClass::Assign, "`=`"),
        (TokenClass::Arrow, "`->`"),
        (TokenClass::LParen, "`(`"),
        (TokenClass::Body, "`{`"),
        (TokenClass::In, "`in`"),
        (TokenClass::From, "`from`"),
        (TokenClass::Else, "`else`"),
        (TokenClass::Fn, "`fn`"),
        (TokenClass::Str, "a string"),
        (TokenClass::Name, "a name"),
    ];
    let separator = wants.has(TokenClass::Separator);
    let mut list: Vec<&str> = NAMED.iter().filter(|(want, _)| wants.has(*want)).map(|(_, text)| *text).collect();
    if wants.has(TokenClass::Comma) {
        // An element might go on in many ways; that it may end is what counts.
        list.retain(|text| matches!(*text, "`,`" | "`)`" | "`]`" | "`}`" | "`>`"));
    }
    if list.len() > 1 {
        list.retain(|text| *text != "`(`");
    }
    if separator {
        // What could also go on is worth less than that it may end here.
        list = vec!["the end of the statement"];
    }
    match list.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [init @ .., last] => format!("{} or {last}", init.join(", ")),
    }
}

/// Names the construct that the bracket at `index` opens.
fn opener_name(scene: &Scene<'_, '_>, index: usize, token: Token<'_>) -> &'static str {
    let before = index.checked_sub(1).map(|i| scene.tokens[i].0);
    let word = index.checked_sub(2).map(|i| scene.tokens[i].0);
    let behind_operand = before.is_some_and(Token::ends_operand);
    match token {
        Token::LParen if matches!(word, Some(Token::Kw(Kw::Fn | Kw::Tool | Kw::Pipeline))) => "the parameters",
        Token::LParen if before == Some(Token::AnonymousFn) => "the parameters",
        Token::LParen if behind_operand => "the call",
        Token::LParen => "the parentheses",
        Token::LBracket if behind_operand => "the index",
        Token::QBracket => "the index",
        Token::LBracket => "the list",
        Token::LDict if matches!(before, Some(Token::Ident(_))) => "the struct",
        Token::LDict if matches!(before, Some(Token::Kw(_))) => "the pattern",
        Token::LDict => "the dict",
        Token::LBody if matches!(word, Some(Token::Kw(Kw::Struct))) => "the struct",
        Token::LBody if matches!(word, Some(Token::Kw(Kw::Enum))) => "the enum",
        Token::LClosure => "the closure",
        Token::InterpStart => "the interpolation",
        _ => "the block",
    }
}

fn explain_problem(problem: Problem, span: Span, source: &SourceRef) -> Diagnostic {
    let (code, message, label, help) = match problem {
        Problem::AssignTarget => (
            ParseCode::AssignTarget,
            "invalid assignment target",
            "not a variable or a path that begins at one",
            "write `x = …`, `d.key = …` or `xs[0] = …`; to compare, write `==`",
        ),
        Problem::NoTriple => (
            ParseCode::Pair,
            "a pair has exactly two values",
            "more than two",
            "use a list `[a, b, c]` or a dict `{a, b, c}` for more",
        ),
        Problem::ExclusiveWithoutRange => {
            (ParseCode::Exclusive, "`exclusive` without a range", "not a range", "write `1 to 5 exclusive`")
        }
        Problem::NotConstant => (
            ParseCode::ConstantString,
            "expected a string without `${…}`",
            "not constant",
            "write the text itself; write `\\$` for a dollar sign",
        ),
        Problem::RestNotLast => (
            ParseCode::RestNotLast,
            "`...` must be last in a pattern",
            "followed by another part",
            "move it to the end",
        ),
        Problem::SecondCatch => (
            ParseCode::SecondCatch,
            "a `try` can have only one `catch`",
            "second `catch`",
            "distinguish the errors with `match` inside the first one",
        ),
    };
    let d = Diagnostic::new(code, message).label(source, span, label).help(help);
    match problem {
        Problem::NoTriple => {
            let brackets = [Span::new(span.start, span.start + 1), Span::new(span.end.saturating_sub(1), span.end)];
            let edits = brackets.into_iter().zip(["[", "]"]).map(|(at, text)| Edit::new(at, text)).collect();
            d.fix_by(Applicability::Safe, edits)
        }
        _ => d.fix_by_some(Applicability::Unsafe, fixes::of_problem(problem, span, source.text())),
    }
}

/// An expression deeper than the tree may be.
pub(super) fn too_deep(source: &SourceRef, span: Span) -> Diagnostic {
    let message = format!("expression nested more than {} levels deep", crate::ast::MAX_DEPTH);
    Diagnostic::new(ParseCode::TooDeep, message)
        .label(source, Span::new(span.start, span.start), "begins here")
        .help("build it in steps, for instance with a list and a loop")
}
