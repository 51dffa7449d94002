//! Errors of Rhai's tokenizer.

use super::place::SourcePlace;
use super::slips;
use super::tokens::TokenKind;
use lang::diagnostic::Diagnostic;
use lang::diagnostic::code::CodeRef;
use lang::lex::LexCode;
use lang::parse::ParseCode;
use lang::resolve::ResolveCode;
use rhai::{LexError, Position};

/// A mistake below the grammar.
pub(super) fn of(place: &SourcePlace<'_>, error: &LexError) -> Diagnostic {
    match error {
        LexError::UnexpectedInput(found) => unexpected(place, found),
        LexError::UnterminatedString => unclosed(place),
        LexError::StringTooLong(most) => super::parse::too_large(place, "a string", *most),
        LexError::MalformedEscapeSequence(escape) => escape_of(place, escape),
        LexError::MalformedNumber(text) => number(place, text),
        LexError::MalformedChar(text) => character(place, text),
        LexError::MalformedIdentifier(name) => place
            .error(LexCode::NameLetter, format!("invalid name `{name}`"), "not a name")
            .help("names consist of the letters A to Z, digits and `_`, with at least one letter"),
        LexError::ImproperSymbol(symbol, why) => symbol_of(place, symbol, why),
        LexError::Runtime(why) => place.error(ParseCode::Unexpected, why.clone(), "here"),
        other => place.error(ParseCode::Unexpected, other.to_string(), "here"),
    }
}

/// Returns the error for a token that is not allowed here.
pub(super) fn unexpected(place: &SourcePlace<'_>, found: &str) -> Diagnostic {
    if place.is_end() {
        return place.error(
            ParseCode::NoExpression,
            "unexpected end of file: expected an expression",
            "end of the file",
        );
    }
    if matches!(found, ")" | "]" | "}") {
        return place
            .error(LexCode::UnmatchedBracket, format!("unexpected closing `{found}`"), "no matching opening bracket")
            .help("remove it, or add the opening bracket");
    }
    if !found.is_ascii() {
        return place
            .error(LexCode::Character, format!("unexpected character `{found}`"), "not part of Rhai")
            .help("names consist of the letters A to Z, digits and `_`; strings and comments can contain any text");
    }
    let wrong = place.error(
        ParseCode::Unexpected,
        format!("unexpected {}", place.found()),
        "not expected \
        here",
    );
    match slips::sign(found).or_else(|| slips::word(found)) {
        Some(slip) => with_slip(place, wrong, &slip),
        None => wrong,
    }
}

/// Adds what is known of a slip.
pub(super) fn with_slip(place: &SourcePlace<'_>, mut found: Diagnostic, slip: &slips::Slip) -> Diagnostic {
    if let (Some(instead), Some(span)) = (slip.instead, place.span()) {
        found = found.fix(span, instead);
    }
    found.help(slip.help)
}

fn unclosed(place: &SourcePlace<'_>) -> Diagnostic {
    let span = place.tokens.unclosed_text().or(place.span());
    let text = span.map_or("", |span| place.source.slice(span));
    let (message, help) = match text.chars().next() {
        Some('\'') => ("unterminated character", "a character is written `'x'`, a string `\"…\"`"),
        Some('`') => ("unterminated string", "end it with a backtick"),
        Some('#') => ("unterminated string", "end it with `\"#`, with as many `#` as at its start"),
        _ => ("unterminated string", "end it with `\"` on the same line; write multi-line strings in backticks"),
    };
    // The first line of it is enough.
    let first = span.map(|span| {
        let length = text.find('\n').unwrap_or(text.len());
        lang::source::Span::new(span.start, span.start + u32::try_from(length).unwrap_or(0))
    });
    place.error_at(first, LexCode::UnclosedString, message, "opened here").help(help)
}

fn escape_of(place: &SourcePlace<'_>, escape: &str) -> Diagnostic {
    let span = place.span().map(|token| {
        let within = place.source.slice(token).find(escape);
        let at = within.and_then(|at| u32::try_from(at).ok()).map(|at| token.start + at);
        at.map_or(token, |at| lang::source::Span::new(at, at + u32::try_from(escape.len()).unwrap_or(0)))
    });
    let unicode = escape.starts_with("\\x") || escape.starts_with("\\u") || escape.starts_with("\\U");
    if unicode {
        return place
            .error_at(span, LexCode::UnicodeEscape, format!("`{escape}` is not a Unicode character"), "not a character")
            .help("write `\\x41`, `\\u0041` or `\\U0001F600`, with all of the digits");
    }
    place
        .error_at(span, LexCode::UnknownEscape, format!("invalid escape `{escape}`"), "unknown escape")
        .help("the escapes are `\\n`, `\\t`, `\\r`, `\\\\`, `\\\"` and `\\u…`; `#\"…\"#` has none")
}

/// A number that runs into letters or digits of another kind: Rhai ends it there and wonders what follows.
pub(super) fn in_a_number(place: &SourcePlace<'_>, position: Position) -> Option<Diagnostic> {
    let token = place.tokens.get(place.at)?;
    if token.kind != TokenKind::Number || place.tokens.offset(position)? <= token.span.start {
        return None;
    }
    let text = place.text();
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    if matches!(unit, "ms" | "s" | "m" | "h" | "d" | "w") {
        return Some(
            place
                .error(
                    LexCode::NumberSuffix,
                    format!("`{text}` is not a number in Rhai"),
                    "Rhai does not support \
                    units",
                )
                .help("write durations as milliseconds: `30s` is `30 * 1000`"),
        );
    }
    Some(number(place, text))
}

fn number(place: &SourcePlace<'_>, text: &str) -> Diagnostic {
    let text = if text.is_empty() { place.text() } else { text };
    if text.trim_start_matches('-').chars().all(|c| c.is_ascii_digit() || c == '_') {
        return place
            .error(LexCode::NumberTooLarge, format!("`{text}` is too large for an int"), "too large")
            .help("an int has 64 bits; write a larger number as a float");
    }
    place
        .error(LexCode::NoDigits, format!("`{text}` is not a number"), "not a number")
        .help("write `0xff`, `0b101`, `0o17`, `1_000` or `1.5e3`")
}

fn character(place: &SourcePlace<'_>, text: &str) -> Diagnostic {
    let span = place.span();
    let written = span.map_or("", |span| place.source.slice(span));
    let inner = written.trim_matches('\'');
    let found = place.error(
        LexCode::Quotes,
        format!("`'{text}'` is not a single character"),
        "single quotes enclose \
        one character",
    );
    if inner.is_empty() {
        return found.help("write the empty string as `\"\"`");
    }
    let found = found.help(format!("write a string in double quotes: `\"{inner}\"`"));
    match span {
        Some(span) if written.ends_with('\'') => found.fix(span, format!("\"{inner}\"")),
        _ => found,
    }
}

/// The code of an operator that Rhai does not have.
pub(super) fn code_of(symbol: &str) -> CodeRef {
    if matches!(symbol, "===" | "!==") { LexCode::ExtraSign.into() } else { ParseCode::Unexpected.into() }
}

fn symbol_of(place: &SourcePlace<'_>, symbol: &str, why: &str) -> Diagnostic {
    if let Some(slip) = slips::sign(symbol) {
        let code = code_of(symbol);
        let message = match slip.instead {
            Some(_) if code == LexCode::ExtraSign => format!("unknown operator `{symbol}`"),
            _ => format!("Rhai does not support `{symbol}`"),
        };
        return with_slip(place, place.error(code, message, "not part of Rhai"), &slip);
    }
    match symbol {
        "=" => {
            let found = place
                .error(ParseCode::AssignInCondition, "`=` is an assignment, not an expression", "not an expression")
                .help("compare with `==`, or assign in a separate statement");
            match place.span() {
                Some(span) => found.fix(span, "=="),
                None => found,
            }
        }
        "this" => place
            .error(ResolveCode::Undefined, "`this` outside of a function", "not in a function")
            .help("`this` is the receiver of a function: `fn shout() { this += \"!\" }` and `s.shout()`"),
        "!" => place
            .error(ParseCode::Unexpected, "unexpected `!` after the name of a function", "not expected here")
            .help("remove the `!`"),
        "::" => place
            .error(ParseCode::Unexpected, "`::` must be between a namespace and its function", "not expected here")
            .help("read a field with a dot: `x.field`"),
        _ if why.is_empty() => {
            place.error(ParseCode::Unexpected, format!("unexpected `{symbol}`"), "not expected here")
        }
        _ => place.error(ParseCode::Unexpected, format!("unexpected `{symbol}`: {why}"), "not expected here"),
    }
}
