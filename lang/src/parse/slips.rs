//! Habits from other languages, and the mistakes that everybody makes: what was meant, and how it is written here.

use super::error::Scene;
use super::failure::TokenClass;
use super::{ParseCode, fixes, forms};
use crate::diagnostic::fix::{Applicability, Edit};
use crate::diagnostic::{Diagnostic, nearest};
use crate::foreign;
use crate::lex::token::{Kw, Token};
use crate::source::Span;

/// A mistake with a message of its own.
pub(super) fn recognise(scene: &Scene<'_, '_>, at: Span) -> Option<Diagnostic> {
    let found = scene.found()?;
    if let Some(form) = forms::recognise(scene, at) {
        return Some(form);
    }
    let before = scene.before(1).map(|(t, _)| t);
    let wants = scene.wants;
    let head = wants.has(TokenClass::Body) || wants.has(TokenClass::Else);
    match found {
        Token::Assign if head && !wants.has(TokenClass::Separator) => Some(
            Diagnostic::new(ParseCode::AssignInCondition, "expected a comparison, found `=`")
                .label(scene.source, at, "assignment in a condition")
                .help("write `==` to compare")
                .fix(at, "=="),
        ),
        Token::LClosure | Token::LBody
            if !head
                && (wants.has(TokenClass::Separator) && matches!(before, Some(Token::RParen | Token::Ident(_)))
                    || wants.has(TokenClass::Comma) && found == Token::LClosure && before == Some(Token::RParen)) =>
        {
            let d = Diagnostic::new(ParseCode::TrailingClosure, "closure after a call")
                .label(scene.source, at, "unexpected")
                .help("pass the closure between the parentheses, `f(xs, { x -> … })`");
            // Another body is not a closure, so that it would not be one between the parentheses.
            let edits = if found == Token::LClosure { fixes::closure_into_call(scene) } else { None };
            Some(d.fix_by_some(Applicability::Safe, edits))
        }
        Token::Colon if head && !wants.has(TokenClass::Separator) => Some(colon_for_body(scene, at)),
        Token::Assign | Token::Colon if names_argument(scene, before) => {
            let span = scene.before(1).map_or(at, |(_, name)| name.to(at));
            let d = foreign_syntax(scene, "named arguments are not supported", span, "named argument")
                .help("pass arguments by position: `f(1, 2)`; pass options as one dict: `f({a: 1})`");
            Some(match scene.opener() {
                Some((_, _, opener)) => d.label(scene.source, opener, "call opened here"),
                None => d,
            })
        }
        Token::StrStart(_) | Token::Raw(_) => prefixed_string(scene, at).or_else(|| foreign_word(scene, at)),
        Token::Kw(Kw::If)
            if (wants.has(TokenClass::Separator) || wants.has(TokenClass::Comma))
                && !scene.at_statement_start()
                && before.is_some_and(Token::ends_operand) =>
        {
            let message = "unsupported syntax: condition after the value";
            let d = foreign_syntax(scene, message, at, "the condition must come first");
            Some(d.help("write `condition ? a : b`, or `if condition { a } else { b }`"))
        }
        Token::Kw(Kw::For) if scene.opener().is_some_and(|(_, token, _)| token == Token::LBracket) => {
            let d = foreign_syntax(scene, "unsupported syntax: list comprehension", at, "not part of the syntax");
            Some(d.help("write `xs.map({ x -> … })`, or `xs.filter({ x -> … }).map({ x -> … })` with a condition"))
        }
        Token::Ident(_) if before == Some(Token::Kw(Kw::Import)) => {
            let d = foreign_syntax(scene, "expected a path in quotes after `import`", at, "not a path");
            Some(d.help(
                "write `import \"file\"` to import your own file; builtins such as `json_parse` need no \
                import",
            ))
        }
        Token::Kw(Kw::From) if scene.at_statement_start() => {
            let d = foreign_syntax(scene, "an import must begin with `import`", at, "unexpected");
            Some(d.help("write `import {a, b} from \"file\"`"))
        }
        Token::FatArrow if wants.has(TokenClass::Separator) || wants.has(TokenClass::Comma) => {
            let d = foreign_syntax(scene, "unsupported syntax: arrow function", at, "not part of the syntax");
            Some(d.help("write a closure as `{ x -> … }`"))
        }
        Token::LBody | Token::LClosure if wants.has(TokenClass::In) && before == Some(Token::RParen) => {
            let open = scene.partner_before(1)?;
            let d = foreign_syntax(scene, "unsupported form of `for`", open.1, "unexpected");
            let binds_one = matches!(
                scene.tokens.get(open.0 + 1..open.0 + 3),
                Some([(Token::Ident(_) | Token::Underscore, _), (Token::Kw(Kw::In), _)])
            );
            let edits = scene
                .before(1)
                .filter(|_| binds_one)
                .map(|(_, close)| vec![Edit::new(open.1, ""), Edit::new(close, "")]);
            Some(
                d.fix_by_some(Applicability::Safe, edits)
                    .help("write `for x in xs { … }`, or `for i in range(3) { … }` to count"),
            )
        }
        Token::Ident(_) if wants.has(TokenClass::RParen) && catches(scene) => {
            let d = foreign_syntax(scene, "expected a name, then `:` and a type", at, "unexpected");
            Some(d.help("write `catch (e)`, or `catch (e: Type)` for errors of one type"))
        }
        Token::Kw(kw) if wants_name(scene) => Some(
            Diagnostic::new(ParseCode::ReservedWord, format!("`{}` is a reserved word", kw.text()))
                .label(scene.source, at, "not allowed as a name")
                .help(format!("choose another name, for instance `{}_`", kw.text()))
                .unsafe_fix(at, format!("{}_", kw.text())),
        ),
        Token::Ident(_) => foreign_word(scene, at).or_else(|| misspelt_word(scene)),
        _ => foreign_word(scene, at),
    }
}

/// A mistake of somebody who writes another language as well.
fn foreign_syntax(scene: &Scene<'_, '_>, message: impl Into<String>, at: Span, label: &str) -> Diagnostic {
    Diagnostic::new(ParseCode::ForeignSyntax, message).label(scene.source, at, label)
}

/// `for …:`, `if …:`, `fn f(): int`: a colon where a body begins.
fn colon_for_body(scene: &Scene<'_, '_>, at: Span) -> Diagnostic {
    let declares = scene.partner_before(1).is_some_and(|(open, _)| {
        let word = |back: usize| open.checked_sub(back).and_then(|i| scene.tokens.get(i)).map(|(token, _)| *token);
        matches!(word(2), Some(Token::Kw(Kw::Fn | Kw::Tool | Kw::Pipeline)))
    });
    let rest = scene.source.text().get(at.range().end..).and_then(|rest| rest.lines().next()).unwrap_or("").trim();
    let on_this_line = !rest.is_empty() && !rest.starts_with("//");
    if declares && on_this_line {
        return foreign_syntax(scene, "expected `->` before the result type", at, "unexpected")
            .help("write `fn name(…) -> int { … }`")
            .fix(at, " ->");
    }
    foreign_syntax(scene, "expected `{`, found `:`", at, "missing `{`")
        .help("enclose the body in braces: `if c { … }`, `for x in xs { … }`")
        .fix_by_some(Applicability::Unsafe, fixes::braced_lines(scene.source.text(), at))
}

/// `name =` or `name:` right after the `(` or a `,` of a call.
fn names_argument(scene: &Scene<'_, '_>, before: Option<Token<'_>>) -> bool {
    let Some((index, Token::LParen, _)) = scene.opener() else { return false };
    let word = |back: usize| index.checked_sub(back).and_then(|i| scene.tokens.get(i)).map(|(token, _)| *token);
    let declares = matches!(word(2), Some(Token::Kw(Kw::Fn | Kw::Tool | Kw::Pipeline)));
    scene.wants.has(TokenClass::Comma)
        && matches!(before, Some(Token::Ident(_) | Token::Kw(_)))
        && matches!(scene.before(2), Some((Token::LParen | Token::Comma, _)))
        && word(1).is_some_and(Token::ends_operand)
        && !declares
}

/// Inside the parentheses of a `catch`.
fn catches(scene: &Scene<'_, '_>) -> bool {
    let Some((index, Token::LParen, _)) = scene.opener() else { return false };
    let word = index.checked_sub(1).and_then(|i| scene.tokens.get(i)).map(|(token, _)| *token);
    word == Some(Token::Kw(Kw::Catch))
}

/// `f"…"`: a letter that touches a string.
fn prefixed_string(scene: &Scene<'_, '_>, at: Span) -> Option<Diagnostic> {
    let (Token::Ident(prefix), span) = scene.before(1)? else { return None };
    if span.end != at.start || prefix.len() > 2 {
        return None;
    }
    let d = foreign_syntax(scene, format!("unknown string prefix `{prefix}`"), span, "not part of the syntax");
    Some(match prefix {
        // `{name}` must become `${name}`.
        "f" | "F" | "fr" | "rf" => {
            d.help("remove the prefix: every string interpolates, as in `\"hello ${name}\"`").unsafe_fix(span, "")
        }
        _ => d.help("write `\"…\"`, or `r\"…\"` for a string without escapes"),
    })
}

/// A word that is a keyword elsewhere: the token that does not fit, or the name before it.
fn foreign_word(scene: &Scene<'_, '_>, at: Span) -> Option<Diagnostic> {
    let before = match scene.before(1) {
        Some((Token::Ident(word), span)) => foreign::keyword(word).map(|instead| (word, span, instead)),
        _ => None,
    };
    let found = match scene.found() {
        Some(Token::Ident(word)) => foreign::keyword(word).map(|instead| (word, at, instead)),
        _ => None,
    };
    let (word, span, instead) = found.or(before)?;
    let mut help = instead.help;
    if word == "new" && matches!(scene.before(2), Some((Token::Kw(Kw::Throw), _))) {
        help = "throw any value: `throw \"text\"` or `throw {kind: \"value\"}`";
    }
    let d = foreign_syntax(scene, format!("unknown keyword `{word}`"), span, "not part of the syntax").help(help);
    Some(match instead.fix {
        Some("!") => {
            let (applicability, edit) = fixes::negation(scene, span);
            d.fix_by(applicability, vec![edit])
        }
        Some(text) => d.fix(span, text),
        None if word == "lambda" => d.fix_by_some(Applicability::Safe, fixes::lambda(scene, span)),
        None => d,
    })
}

/// `pipline main`: a name at the start of a statement that is nearly a keyword, and a name behind it.
fn misspelt_word(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    const BEFORE_NAMES: &[Kw] = &[
        Kw::Const,
        Kw::Enum,
        Kw::Fn,
        Kw::Guard,
        Kw::If,
        Kw::Impl,
        Kw::Interface,
        Kw::Let,
        Kw::Match,
        Kw::Pipeline,
        Kw::Return,
        Kw::Struct,
        Kw::Throw,
        Kw::Tool,
        Kw::Type,
        Kw::Var,
        Kw::While,
    ];
    let (Token::Ident(word), span) = scene.before(1)? else { return None };
    let begins = matches!(scene.before(2), None | Some((Token::Newline | Token::Semi | Token::LBody, _)));
    if !begins || !scene.wants.has(TokenClass::Separator) {
        return None;
    }
    let meant = nearest(word, BEFORE_NAMES.iter().map(|kw| kw.text()))?;
    Some(
        Diagnostic::new(ParseCode::StatementEnd, format!("unknown keyword `{word}`"))
            .label(scene.source, span, "not a keyword")
            .help(format!("did you mean `{meant}`?"))
            .fix(span, meant),
    )
}

fn wants_name(scene: &Scene<'_, '_>) -> bool {
    let wants = scene.wants;
    let binds = match scene.before(1) {
        Some((Token::Kw(Kw::Let | Kw::Var | Kw::Const | Kw::For), _)) => true,
        Some((Token::Comma | Token::LParen, _)) => wants.has(TokenClass::Pattern) && !wants.has(TokenClass::Expr),
        _ => false,
    };
    let declares = matches!(
        scene.before(1),
        Some((
            Token::Kw(Kw::Fn | Kw::Struct | Kw::Enum | Kw::Interface | Kw::Impl | Kw::Type | Kw::Tool | Kw::Pipeline),
            _
        ))
    );
    (wants.has(TokenClass::Pattern) && binds) || (wants.has(TokenClass::Name) && declares)
}

/// Returns the help for a mistake with an ordinary message.
pub(super) fn help(scene: &Scene<'_, '_>) -> Option<&'static str> {
    let before = scene.before(1).map(|(t, _)| t);
    for_tokens(scene, before, scene.found())
}

fn for_tokens(scene: &Scene<'_, '_>, before: Option<Token<'_>>, found: Option<Token<'_>>) -> Option<&'static str> {
    let wants = scene.wants;
    let opener = scene.opener().map(|(_, token, _)| token);
    let found = found?;
    Some(match found {
        Token::ColonAssign => "write `let x = …` to bind a new name, or `x = …` to assign",
        Token::FatArrow => "write `->` for an arrow",
        Token::Assign if opener == Some(Token::LDict) => "write `:` between a key and its value",
        Token::Plus | Token::Newline if before == Some(Token::Plus) && wants.has(TokenClass::Expr) => "write `x += 1`",
        Token::Kw(Kw::Fn) if wants.has(TokenClass::Expr) => {
            "write a function without a name as `fn(x) { … }`, or as a closure: `{ x -> … }`"
        }
        Token::Kw(Kw::Else) if scene.at_statement_start() => "`else` must follow the `}` of an `if` or a `guard`",
        Token::Kw(Kw::In | Kw::To) if scene.at_statement_start() => "end the line above with `\\` to continue it here",
        Token::Assign | Token::PlusAssign | Token::MinusAssign | Token::StarAssign | Token::SlashAssign
            if wants.has(TokenClass::Comma) || wants.has(TokenClass::Separator) =>
        {
            "write the assignment as a separate statement; write `==` to compare"
        }
        Token::Kw(Kw::Catch | Kw::Finally) if scene.at_statement_start() => "it must follow the `}` of a `try`",
        Token::Semi if wants.has(TokenClass::Comma) => "separate the elements with `,`",
        Token::Bar if wants.has(TokenClass::Expr) || wants.has(TokenClass::Separator) => {
            "write a closure as `{ x -> … }`, \"or\" as `||` and a pipe as `|>`"
        }
        Token::At if wants.has(TokenClass::Expr) => "put attributes before a declaration",
        Token::Dot if before == Some(Token::Dot) => "write a range as `1 to 5`",
        Token::Int(_) | Token::Float(_) if before == Some(Token::Dot) => "read an element with `[0]`",
        Token::LBody | Token::LClosure if wants.has(TokenClass::Expr) => "add the condition or value before the `{`",
        _ if before == Some(Token::Question) && wants.has(TokenClass::Separator) => {
            "put a space before the `?` of `c ? a : b`; without one it unwraps a Result"
        }
        Token::StrStart(_) | Token::Raw(_)
            if wants.has(TokenClass::Separator) && matches!(before, Some(Token::Ident(_))) =>
        {
            "enclose the arguments in parentheses: `f(\"text\")`"
        }
        Token::Colon if wants.has(TokenClass::Separator) && opener == Some(Token::LBody) => {
            "this `{` begins a block; enclose a dict in parentheses: `({a: 1})`"
        }
        Token::Arrow if wants.has(TokenClass::Separator) && opener == Some(Token::LBody) => {
            "this `{` begins a block; enclose a closure in parentheses: `({ x -> … })`"
        }
        Token::LDict if wants.has(TokenClass::Separator) && matches!(before, Some(Token::Ident(_))) => {
            "write a call as `f({a: 1})`; the name of a struct begins with a capital letter"
        }
        Token::Ident(_)
            if wants.has(TokenClass::Comma) && wants.has(TokenClass::Colon) && opener != Some(Token::LDict) =>
        {
            "put a `,` between two names, and a `:` between a name and its type"
        }
        _ if wants.has(TokenClass::Comma) && super::expr::begins_expr(found) => "put a `,` between them",
        _ if wants.has(TokenClass::Separator) && super::expr::begins_expr(found) => {
            "begin a new line, or put a `;` between them"
        }
        Token::Newline if wants.has(TokenClass::Body) => "begin the body with `{`",
        _ => return None,
    })
}
