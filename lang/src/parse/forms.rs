//! Statement forms of Kotlin, Swift and Rust that are nearly right, with how each is written here.

use super::ParseCode;
use super::error::Scene;
use super::failure::TokenClass;
use super::fixes;
use crate::diagnostic::Diagnostic;
use crate::diagnostic::fix::{Applicability, Edit};
use crate::foreign;
use crate::lex::token::{Kw, Token};
use crate::source::Span;

/// Returns the diagnostic of a form of another language.
pub(super) fn recognise(scene: &Scene<'_, '_>, at: Span) -> Option<Diagnostic> {
    let found = scene.found()?;
    let (before, before_at) = scene.before(1)?;
    of_tokens(scene, at, found, (before, before_at))
        .or_else(|| branch_without_braces(scene, before, at))
        .or_else(|| statement_word(scene))
}

fn of_tokens(
    scene: &Scene<'_, '_>,
    at: Span,
    found: Token<'_>,
    (before, before_at): (Token<'_>, Span),
) -> Option<Diagnostic> {
    match found {
        Token::Comma if scene.wants.has(TokenClass::In) => two_loop_variables(scene, at),
        Token::Kw(Kw::Let | Kw::Var | Kw::Const) => binding_as_condition(scene, before, at),
        Token::Colon if matches!(before, Token::Question | Token::Ternary) => Some(
            foreign_form(scene, "unsupported operator `?:`", before_at.to(at), "not an operator")
                .help("write `a ?? b` for a fallback if `a` is nil")
                .fix(before_at.to(at), if blank_before(scene, before_at) { "??" } else { " ??" }),
        ),
        Token::Bang if before.ends_operand() => Some(
            foreign_form(scene, "unsupported syntax: `!` after a value", at, "not part of the syntax")
                .help("provide a fallback with `x ?? default`, or check for nil first: `guard x != nil else { … }`"),
        ),
        Token::Question | Token::Ternary if before == Token::Kw(Kw::Try) => Some(
            foreign_form(scene, "unsupported syntax: `try?`", before_at.to(at), "not part of the syntax")
                .help("write `try { … }`, which returns `Ok(value)` or `Err(error)`"),
        ),
        Token::Ellipsis | Token::Dot if !scene.at_statement_start() => range(scene, found, before, before_at, at),
        Token::LBracket if matches!(before, Token::Colon | Token::Arrow) && scene.wants.has(TokenClass::Type) => {
            Some(list_type(scene, at))
        }
        Token::Colon if in_closure_parameters(scene) => Some(typed_closure(scene, at)),
        Token::LBody | Token::LClosure | Token::LDict => body_of_other_word(scene, before, before_at),
        Token::Assign if follows_case(scene) => Some(
            foreign_form(scene, "unsupported syntax: pattern in a condition", at, "not a comparison")
                .help("write `match x { Shape.Circle(r) -> … }`"),
        ),
        Token::Ident("as") if before.ends_operand() => Some(
            foreign_form(scene, "unknown operator `as`", at, "not an operator")
                .help("convert a value with `to_int(x)`, `to_float(x)` or `to_string(x)`"),
        ),
        Token::Ident(word @ ("throws" | "async" | "rethrows"))
            if before == Token::RParen && scene.wants.has(TokenClass::Body) =>
        {
            Some(
                foreign_form(scene, format!("unknown keyword `{word}`"), at, "not part of the syntax")
                    .help("remove it: every function can throw and wait")
                    .fix(Span::new(before_at.end, at.end), ""),
            )
        }
        _ if before == Token::Kw(Kw::Try) && scene.wants.has(TokenClass::Body) && super::expr::begins_expr(found) => Some(
            foreign_form(scene, "expected `{` after `try`", before_at, "missing `{`")
                .help("remove `try` to pass the error on, or write `try { … }`, which returns `Ok(value)` or `Err(error)`")
                .unsafe_fix(Span::new(before_at.start, at.start), ""),
        ),
        _ => None,
    }
}

fn foreign_form(scene: &Scene<'_, '_>, message: impl Into<String>, at: Span, label: &str) -> Diagnostic {
    Diagnostic::new(ParseCode::ForeignSyntax, message).label(scene.source, at, label)
}

/// Returns whether a blank is before a position.
fn blank_before(scene: &Scene<'_, '_>, at: Span) -> bool {
    scene.source.text()[..at.range().start].ends_with(char::is_whitespace)
}

/// Returns the token after the one that did not fit, and its place.
fn after<'a>(scene: &Scene<'_, 'a>, ahead: usize) -> Option<(Token<'a>, Span)> {
    scene.tokens.get(scene.at + ahead).copied()
}

/// `for k, v in d`
fn two_loop_variables(scene: &Scene<'_, '_>, at: Span) -> Option<Diagnostic> {
    let (Token::Ident(first), first_at) = scene.before(1)? else { return None };
    if !matches!(scene.before(2), Some((Token::Kw(Kw::For), _))) {
        return None;
    }
    let d = foreign_form(scene, "two names after `for`", at, "expected `in`")
        .help("write `for {key, value} in d` for a dict, and `for (i, x) in xs.enumerate()` for a list");
    let (Some((Token::Ident(second), second_at)), Some((Token::Kw(Kw::In), _))) = (after(scene, 1), after(scene, 2))
    else {
        return Some(d);
    };
    let line = scene.source.text()[second_at.range().end..].lines().next().unwrap_or("");
    let pattern = if line.contains(".enumerate()") || line.contains(".zip(") {
        format!("({first}, {second})")
    } else {
        let entry = |key: &str, name: &str| if key == name { key.to_owned() } else { format!("{key}: {name}") };
        format!("{{{}, {}}}", entry("key", first), entry("value", second))
    };
    Some(d.unsafe_fix(first_at.to(second_at), pattern))
}

/// `if let y = x`, `guard let y = x else`, `while let y = x`
fn binding_as_condition(scene: &Scene<'_, '_>, before: Token<'_>, at: Span) -> Option<Diagnostic> {
    let (word, help) = match before {
        Token::Kw(Kw::If) => ("if", "bind the value first: `let y = x`, then `if y != nil { … }`"),
        Token::Kw(Kw::Guard) => ("guard", "bind the value first: `let y = x`, then `guard y != nil else { … }`"),
        Token::Kw(Kw::While) => ("while", "write `for y in items { … }`, or test the value in a `while true { … }`"),
        _ => return None,
    };
    let message = format!("unsupported syntax: `{word} {}`", scene.source.slice(at));
    let d = foreign_form(scene, message, at, "not an expression").help(help);
    Some(d.fix_by_some(Applicability::Unsafe, bound_first(scene, word, at)))
}

/// Returns the edits that bind a value on a line before the statement that tests it.
fn bound_first(scene: &Scene<'_, '_>, word: &str, at: Span) -> Option<Vec<Edit>> {
    let (_, word_at) = scene.before(1)?;
    let begins = matches!(scene.before(2), None | Some((Token::Newline | Token::Semi | Token::LBody, _)));
    let (Some((Token::Ident(name), _)), Some((Token::Assign, _))) = (after(scene, 1), after(scene, 2)) else {
        return None;
    };
    if !begins || word == "while" {
        return None;
    }
    let text = scene.source.text();
    let line = text[..word_at.range().start].rsplit('\n').next()?;
    if !line.trim().is_empty() {
        return None;
    }
    let mut depth = 0usize;
    for (token, span) in scene.tokens.get(scene.at + 3..)? {
        let ends = matches!(token, Token::LBody | Token::LClosure | Token::LDict) && word == "if"
            || *token == Token::Kw(Kw::Else) && word == "guard";
        if depth == 0 && ends {
            let value_end = u32::try_from(text[..span.range().start].trim_end().len()).ok()?;
            let test = format!("\n{line}{word} {name} != nil ");
            return Some(vec![
                Edit::new(Span::new(word_at.start, at.start), ""),
                Edit::new(Span::new(value_end, span.start), test),
            ]);
        }
        if depth == 0 && matches!(token, Token::Newline | Token::Comma) {
            return None;
        }
        depth = if token.opens() { depth + 1 } else { depth - usize::from(token.closes()).min(depth) };
    }
    None
}

/// `0..<10`, `1...3`, `1..=3`, `1..3`
fn range(scene: &Scene<'_, '_>, found: Token<'_>, before: Token<'_>, before_at: Span, at: Span) -> Option<Diagnostic> {
    let (start, from) = match found {
        // A spread begins an element.
        Token::Ellipsis if before.ends_operand() => (at, scene.at + 1),
        Token::Dot if before == Token::Dot && scene.before(2).is_some_and(|(token, _)| token.ends_operand()) => {
            (before_at, scene.at + 1)
        }
        _ => return None,
    };
    let (sign, end, operand) = match scene.tokens.get(from).copied() {
        Some((Token::Lt, less)) => ("<", less, from + 1),
        Some((Token::Assign, equals)) => ("=", equals, from + 1),
        _ => ("", at, from),
    };
    let written = if found == Token::Ellipsis { "..." } else { ".." };
    let message = format!("unsupported syntax: range `{written}{sign}`");
    let d = foreign_form(scene, message, start.to(end), "not an operator")
        .help("write `1 to 5`, or `1 to 5 exclusive` without the last number");
    let (Some((last, last_at)), next) = (scene.tokens.get(operand).copied(), scene.tokens.get(operand + 1)) else {
        return Some(d);
    };
    let ends_there = next.is_none_or(|(token, _)| {
        matches!(token, Token::Newline | Token::LBody | Token::LClosure | Token::LDict | Token::Semi) || token.closes()
    });
    // `..` includes the end in some languages, and does not in others.
    if !matches!(last, Token::Ident(_) | Token::Int(_)) || !ends_there || (written, sign) == ("..", "") {
        return Some(d);
    }
    let mut edits = vec![Edit::new(Span::new(start.start, last_at.start), " to ")];
    if sign == "<" {
        edits.push(Edit::insert(last_at.end, " exclusive"));
    }
    Some(d.fix_by(Applicability::Safe, edits))
}

/// `let xs: [Int]`
fn list_type(scene: &Scene<'_, '_>, at: Span) -> Diagnostic {
    let d = foreign_form(scene, "expected a type, found `[`", at, "not a type")
        .help("write `list<int>` for a list, and `dict<string, int>` for a dict");
    match (after(scene, 1), after(scene, 2)) {
        (Some((Token::Ident(of), _)), Some((Token::RBracket, end))) => {
            d.fix(at.to(end), format!("list<{}>", foreign::type_name(of).unwrap_or(of)))
        }
        _ => d,
    }
}

/// Returns whether the failure is in the parentheses of `{ (x: int) -> … }`.
fn in_closure_parameters(scene: &Scene<'_, '_>) -> bool {
    let Some((index, Token::LParen, _)) = scene.opener() else { return false };
    let outer = index.checked_sub(1).and_then(|i| scene.tokens.get(i)).map(|(token, _)| *token);
    matches!(outer, Some(Token::LBody | Token::LClosure | Token::LDict))
        && matches!(scene.before(1), Some((Token::Ident(_), _)))
}

fn typed_closure(scene: &Scene<'_, '_>, at: Span) -> Diagnostic {
    let d = foreign_form(scene, "parameters of a closure in parentheses", at, "unexpected")
        .help("write the parameters without parentheses: `{ x: int -> … }`");
    let edits = scene.opener().and_then(|(index, _, open)| {
        let close = fixes::closer(scene, index)?;
        let follows = scene.tokens.iter().find(|(_, span)| span.start >= close.end)?;
        (follows.0 == Token::Arrow).then(|| vec![Edit::new(open, ""), Edit::new(close, "")])
    });
    d.fix_by_some(Applicability::Safe, edits)
}

/// `do { … } catch`, `repeat(3) { … }`, `when (x) { … }`: a body after a word that is not a keyword, or after its parentheses.
fn body_of_other_word(scene: &Scene<'_, '_>, before: Token<'_>, before_at: Span) -> Option<Diagnostic> {
    let index = match before {
        Token::RParen => scene.partner_before(1)?.0.checked_sub(1)?,
        Token::Ident(_) => scene.at.checked_sub(1)?,
        _ => return None,
    };
    let (Token::Ident(word), word_at) = *scene.tokens.get(index)? else { return None };
    let previous = index.checked_sub(1).and_then(|i| scene.tokens.get(i)).map(|(token, _)| *token);
    let begins = matches!(previous, None | Some(Token::Newline | Token::Semi | Token::LBody | Token::Assign));
    let is_method = matches!(previous, Some(Token::Dot | Token::QDot));
    let unknown = || foreign_form(scene, format!("unknown keyword `{word}`"), word_at, "not part of the syntax");
    match word {
        "do" if begins && before == Token::Ident(word) => {
            let end = fixes::closer(scene, scene.at);
            let follows = end.and_then(|end| scene.tokens.iter().find(|(_, span)| span.start >= end.end));
            let d = match follows {
                Some((Token::Kw(Kw::Catch), _)) => {
                    unknown().help("write `try { … } catch (e) { … }`").fix(word_at, "try")
                }
                _ => unknown().help("write `while c { … }`, or a block `{ … }` without a word"),
            };
            Some(d)
        }
        "repeat" if begins && before == Token::RParen => {
            let times = scene.source.slice(Span::new(word_at.end + 1, before_at.start)).trim();
            let d = foreign_form(scene, "unknown statement `repeat`", word_at, "not part of the syntax")
                .help("write `for i in 0 to 3 exclusive { … }` to repeat a body");
            let is_plain = !times.is_empty() && times.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            Some(if is_plain { d.fix(word_at.to(before_at), format!("for _ in 0 to {times} exclusive")) } else { d })
        }
        _ if begins && !is_method => Some(unknown().help(foreign::keyword(word)?.help)),
        // In a list of arguments, what follows the name of a method can only be its argument.
        _ if is_method && before == Token::Ident(word) && scene.wants.has(TokenClass::Comma) => {
            let (_, brace) = *scene.tokens.get(scene.at)?;
            let d = Diagnostic::new(ParseCode::TrailingClosure, "closure after a call")
                .label(scene.source, brace, "unexpected")
                .help("pass the closure between the parentheses: `xs.map({ x -> … })`");
            let edits = if scene.found() == Some(Token::LClosure) { fixes::closure_into_call(scene) } else { None };
            Some(d.fix_by_some(Applicability::Safe, edits))
        }
        _ => None,
    }
}

/// `if case .some(let x) = y`
fn follows_case(scene: &Scene<'_, '_>) -> bool {
    let begins = |token: &Token<'_>| matches!(token, Token::Newline | Token::Semi | Token::LBody);
    let line = scene.tokens[..scene.at].rsplit(|(token, _)| begins(token)).next().unwrap_or_default();
    let is_head = |pair: &[(Token<'_>, Span)]| {
        matches!(pair, [(Token::Kw(Kw::If | Kw::Guard | Kw::While), _), (Token::Ident("case"), _)])
    };
    line.windows(2).any(is_head)
}

/// `if (c) 1 else 2`
fn branch_without_braces(scene: &Scene<'_, '_>, before: Token<'_>, at: Span) -> Option<Diagnostic> {
    let found = scene.found()?;
    if before != Token::RParen || !scene.wants.has(TokenClass::Body) || found == Token::Newline {
        return None;
    }
    let (open, _) = scene.partner_before(1)?;
    let word = open.checked_sub(1).and_then(|i| scene.tokens.get(i)).map(|(token, _)| *token);
    if !matches!(word, Some(Token::Kw(Kw::If | Kw::While))) || !super::expr::begins_expr(found) {
        return None;
    }
    Some(
        Diagnostic::new(ParseCode::NoBody, format!("expected `{{` after `)`, found {}", scene.found_text()))
            .label(scene.source, at, "missing `{`")
            .help("enclose the body in braces: `if c { a } else { b }`; or write `c ? a : b` for a value"),
    )
}

/// `val x = 1`, `protocol P { … }`, `private fn f() { … }`: a word before a name or a declaration.
fn statement_word(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let (Token::Ident(word), span) = scene.before(1)? else { return None };
    let begins = matches!(scene.before(2), None | Some((Token::Newline | Token::Semi | Token::LBody, _)));
    if !begins || !scene.wants.has(TokenClass::Separator) || !matches!(scene.found()?, Token::Ident(_) | Token::Kw(_)) {
        return None;
    }
    let d = foreign_form(scene, format!("unknown keyword `{word}`"), span, "not part of the syntax");
    Some(match word {
        "val" => d.help("declare a name with `let`, or with `var` to assign to it again").fix(span, "let"),
        "protocol" | "trait" => d.help("declare an interface with `interface`").fix(span, "interface"),
        "extension" => d.help("add functions to a type with `impl`").fix(span, "impl"),
        "typealias" => d.help("name a type with `type`").fix(span, "type"),
        "object" | "companion" => d.help("write a dict, or a `struct` with its functions in `impl`"),
        "lateinit" | "lazy" => d.help("declare the variable with `var name = nil`, and assign to it later"),
        "private" | "internal" | "fileprivate" | "protected" => {
            d.help("remove it: if a file has `pub` names, only those are visible to other files")
        }
        "open" | "final" | "abstract" | "sealed" | "static" | "suspend" | "inline" | "mutating" | "indirect" => {
            d.help("remove it: the word has no counterpart")
        }
        _ => return None,
    })
}
