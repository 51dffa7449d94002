//! A text that is not what Rhai's grammar allows.

use super::place::SourcePlace;
use super::{habits, lex, names, slips};
use crate::codes::RhaiCode;
use lang::check::CheckCode;
use lang::diagnostic::Diagnostic;
use lang::lex::LexCode;
use lang::parse::ParseCode;
use lang::resolve::ResolveCode;
use lang::source::SourceRef;
use lang::vm::RunCode;
use rhai::{ParseErrorType, Position};

/// Returns the diagnostic of a text. Rhai stops at the first mistake.
pub(super) fn of(source: &SourceRef, error: &ParseErrorType, position: Position) -> Diagnostic {
    let place = SourcePlace::new(source, position);
    if let Some(found) = habits::of(&place).or_else(|| lex::in_a_number(&place, position)) {
        return found;
    }
    // Statements end in blocks only.
    if let Some(open) =
        place.bracket().filter(|open| place.text() == ";" && !matches!(place.tokens.text(*open), "{" | "${"))
        && let Some(open) = place.span_of(open)
    {
        return unclosed(&place, open);
    }
    grammar(&place, error).unwrap_or_else(|| meaning(&place, error))
}

/// Returns the diagnostic of a syntax error.
fn grammar(place: &SourcePlace<'_>, error: &ParseErrorType) -> Option<Diagnostic> {
    use ParseErrorType as E;
    Some(match error {
        E::UnexpectedEOF => cut_short(place),
        E::BadInput(error) => lex::of(place, error),
        E::MissingToken(token, why) => missing(place, token, why),
        E::UnknownOperator(sign) | E::MissingSymbol(sign) => lex::unexpected(place, sign),
        E::Reserved(word) => reserved(place, word),
        E::PropertyExpected => no_name(place, "a name"),
        E::VariableExpected => no_variable(place),
        E::FnMissingName => no_name(place, "the name of the function"),
        E::FnMissingParams(name) => place
            .error(ParseCode::Unexpected, format!("missing parameter list of `fn {name}`"), "expected `(`")
            .help(format!("write `fn {name}() {{ … }}`")),
        E::FnMissingBody(name) => {
            let what = if name.is_empty() { "the closure".to_owned() } else { format!("`fn {name}`") };
            place
                .error(ParseCode::NoBody, format!("missing body of {what}"), "expected `{`")
                .help("write the body in braces: `fn add(a, b) { a + b }`")
        }
        E::ExprExpected(what) => place.error(
            ParseCode::NoExpression,
            format!("expected {}, found {}", expression(what), place.found()),
            "not an expression",
        ),
        E::MalformedCapture(why) => {
            place.error(ParseCode::Unexpected, sentence(why, "invalid capture"), "not expected here")
        }
        E::MalformedIndexExpr(why) => place
            .error(CheckCode::Indexed, sentence(why, "invalid index"), "not an index")
            .help("arrays and strings are indexed by ints, maps by strings"),
        E::ExprTooDeep => place
            .error(LexCode::TooDeep, "expressions or blocks nested too deeply", "nested too deeply")
            .help("bind inner parts with `let`, or move them into functions"),
        _ => return None,
    })
}

/// Returns the diagnostic of a text that is grammatical but meaningless.
fn meaning(place: &SourcePlace<'_>, error: &ParseErrorType) -> Diagnostic {
    use ParseErrorType as E;
    match error {
        E::DuplicatedProperty(key) => place
            .error(ResolveCode::MemberTwice, format!("duplicate key `{key}` in this map"), "duplicate key")
            .help("remove one of them"),
        E::DuplicatedVariable(name) | E::VariableExists(name) => place
            .error(ResolveCode::Twice, format!("duplicate binding of `{name}`"), "bound again")
            .help("choose another name"),
        E::FnDuplicatedDefinition(name, parameters) => twice(place, name, *parameters),
        E::FnDuplicatedParam(name, param) => {
            let what = if name.is_empty() { "this closure".to_owned() } else { format!("`fn {name}`") };
            place.error(ResolveCode::Twice, format!("{what} has two parameters named `{param}`"), "duplicate parameter")
        }
        E::WrongSwitchIntegerCase => place
            .error(ParseCode::Unexpected, "numbers must come before ranges in a `switch`", "after a range")
            .help("move this arm up"),
        E::WrongSwitchDefaultCase => place
            .error(ParseCode::Unexpected, "`_` must be the last arm of a `switch`", "not the last")
            .help("move this arm down"),
        E::WrongSwitchCaseCondition => place
            .error(ParseCode::Unexpected, "this arm cannot have a condition", "not supported")
            .help("write an `if` in its body"),
        E::ForbiddenVariable(name) => place
            .error(ParseCode::ReservedWord, format!("`{name}` cannot be used as a name"), "reserved")
            .help("choose another name"),
        E::MismatchedType(wanted, given) => place.error(
            CheckCode::Type,
            format!("expected {}, found {}", expression(wanted), super::words::described(given)),
            "wrong type",
        ),
        E::WrongDocComment => place
            .error(ParseCode::NoDeclaration, "a `///` comment must be before a `fn`", "no function follows")
            .help("use `//` for an ordinary comment"),
        E::WrongFnDefinition => place
            .error(RhaiCode::Top, "functions must be declared at the top level of a file", "inside a block")
            .help("move it out of the block, or bind a closure: `let f = |x| x + 1;` and `f.call(1)`"),
        E::WrongExport => place
            .error(RhaiCode::Top, "`export` must be at the top level of a file", "inside a block")
            .help("move it out of the block"),
        E::AssignmentToConstant(name) => constant(place, name),
        E::AssignmentToInvalidLHS(_) => place
            .error(
                ParseCode::AssignTarget,
                "invalid assignment target",
                "only a variable, a field or an element can be assigned",
            )
            .help("bind the value first: `let x = …; x.a = 1;`"),
        E::VariableUndefined(name) => names::no_variable(place, name),
        E::ModuleUndefined(name) => names::no_namespace(place, name),
        E::TooManyFunctions => place.error(RunCode::Size, "too many functions in the file", "exceeds the limit"),
        E::LiteralTooLarge(what, most) => too_large(place, literal(what), *most),
        E::LoopBreak => {
            let word = if place.text() == "continue" { "continue" } else { "break" };
            place
                .error(ResolveCode::Misplaced, format!("`{word}` outside of a loop"), "not inside a loop")
                .help("a closure inside a loop is a separate function: leave it with `return`")
        }
        other => place.error(ParseCode::Unexpected, other.to_string(), "here"),
    }
}

fn cut_short(place: &SourcePlace<'_>) -> Diagnostic {
    if let Some(open) = place.tokens.unclosed_before(place.at) {
        return unclosed(place, open);
    }
    place.error(ParseCode::NoExpression, "unexpected end of file: expected an expression", "end of the file")
}

fn unclosed(place: &SourcePlace<'_>, open: lang::source::Span) -> Diagnostic {
    let bracket = place.source.slice(open);
    let close = match bracket {
        "(" => ")",
        "[" | "?[" => "]",
        _ => "}",
    };
    place
        .error_at(
            Some(open),
            LexCode::UnclosedBracket,
            format!("missing closing bracket for `{bracket}`"),
            "opened here",
        )
        .help(format!("add the closing `{close}`"))
}

fn missing(place: &SourcePlace<'_>, token: &str, why: &str) -> Diagnostic {
    if place.is_end()
        && let Some(open) = place.tokens.unclosed_before(place.at)
    {
        return unclosed(place, open);
    }
    if let Some(slip) = slips::sign(place.text()).filter(|_| place.text() != ";").or_else(|| reserved_slip(place)) {
        let wrong = place.error(
            ParseCode::Unexpected,
            format!("unexpected {}", place.found()),
            "not \
            expected here",
        );
        return lex::with_slip(place, wrong, &slip);
    }
    match token {
        ";" => no_semicolon(place),
        "," => no_comma(place),
        ")" | "]" => no_close(place, token),
        "}" => no_comma_or_brace(place),
        "{" if place.before(1) == "catch" => place
            .error(ParseCode::Unexpected, "the name of the error must be in parentheses", "expected `(`")
            .help(format!("write `catch ({}) {{ … }}`", place.text())),
        "{" => place
            .error(ParseCode::NoBody, format!("expected a body in braces, found {}", place.found()), "expected `{`")
            .help("write every body in braces, even a single statement"),
        "in" => place
            .error(ParseCode::Unexpected, format!("expected `in`, found {}", place.found()), "expected `in`")
            .help("write `for x in xs { … }`, or with an index `for (x, i) in xs { … }`"),
        "=>" => place
            .error(ParseCode::Unexpected, format!("expected `=>`, found {}", place.found()), "expected `=>`")
            .help("write an arm of a `switch` as `value => …`"),
        ":" => place
            .error(
                ParseCode::Unexpected,
                format!("expected `:` after the key, found {}", place.found()),
                "expected `:`",
            )
            .help("write each entry of a map as `key: value`, even if both have the same name"),
        "catch" => place
            .error(ParseCode::Unexpected, "missing `catch` after `try`", "expected `catch`")
            .help("write `try { … } catch (e) { … }`"),
        "as" => place.error(ParseCode::Unexpected, format!("expected `as`, found {}", place.found()), "expected `as`"),
        _ => place.error(
            ParseCode::Unexpected,
            format!("expected `{token}` {why}, found {}", place.found()),
            "not expected here",
        ),
    }
}

/// Returns the suggestion for a reserved word at the place; ordinary names that are merely
/// misplaced have none.
fn reserved_slip(place: &SourcePlace<'_>) -> Option<slips::Slip> {
    let word = place.text();
    matches!(word, "nil" | "null" | "var" | "case" | "default" | "new" | "await" | "async" | "yield")
        .then(|| slips::word(word))?
}

fn no_semicolon(place: &SourcePlace<'_>) -> Diagnostic {
    if place.text() == "{" && place.before(1) == ")" && place.on_the_same_line() {
        return place
            .error(ParseCode::TrailingClosure, "a block cannot follow a call", "the block starts here")
            .help("pass a closure as an ordinary argument: `f(|x| { … })`");
    }
    let at = place.end_before();
    let behind = if place.on_the_same_line() { format!(", and {} follows it", place.found()) } else { String::new() };
    let found = place
        .error_at(
            at,
            ParseCode::StatementEnd,
            format!("missing `;` after the previous statement{behind}"),
            "expected `;` before this",
        )
        .help("a line break does not end a statement in Rhai; only the last statement of a block needs no `;`");
    match at {
        Some(at) => found.fix(at, ";"),
        None => found,
    }
}

fn no_comma(place: &SourcePlace<'_>) -> Diagnostic {
    let close = place.bracket().map_or(")", |open| if place.tokens.text(open) == "(" { ")" } else { "]" });
    let found = place.error(
        ParseCode::ElementEnd,
        format!("expected `,` or `{close}` here, found {}", place.found()),
        "not expected here",
    );
    match place.end_before() {
        Some(at) => found.help("separate elements with `,`").fix(at, ","),
        None => found,
    }
}

fn no_comma_or_brace(place: &SourcePlace<'_>) -> Diagnostic {
    let in_map = place.bracket().is_some_and(|open| place.tokens.text(open) == "#{");
    if in_map {
        return place
            .error(
                ParseCode::ElementEnd,
                format!("expected `,` or `}}` here, found {}", place.found()),
                "not \
                expected here",
            )
            .help("write the entries of a map as `key: value`, separated by `,`");
    }
    place.error(ParseCode::Unexpected, format!("expected `}}` here, found {}", place.found()), "not expected here")
}

fn no_close(place: &SourcePlace<'_>, close: &str) -> Diagnostic {
    let found = place.error(
        ParseCode::Unexpected,
        format!("expected `{close}` here, found {}", place.found()),
        "not \
            expected here",
    );
    match place.bracket().and_then(|open| place.span_of(open)) {
        Some(open) => found.label(place.source, open, "opened here"),
        None => found,
    }
}

fn reserved(place: &SourcePlace<'_>, word: &str) -> Diagnostic {
    if let Some(slip) = slips::sign(word) {
        return lex::with_slip(
            place,
            place.error(lex::code_of(word), format!("Rhai does not support `{word}`"), "not part of Rhai"),
            &slip,
        );
    }
    let as_key = matches!(place.before(1), "#{" | ",") && place.tokens.text(place.at + 1) == ":";
    if as_key {
        let found = place
            .error(ParseCode::ReservedWord, format!("`{word}` is a reserved word in Rhai"), "reserved")
            .help(format!("put the key in quotes: `\"{word}\": …`"));
        return match place.span() {
            Some(span) => found.fix(span, format!("\"{word}\"")),
            None => found,
        };
    }
    let behind_dot = matches!(place.before(1), "." | "?.");
    if behind_dot {
        return place
            .error(ParseCode::ReservedWord, format!("`{word}` is a reserved word in Rhai"), "reserved")
            .help(format!("read it by its key: `x[\"{word}\"]`"));
    }
    let found = place.error(ParseCode::ReservedWord, format!("`{word}` is a reserved word in Rhai"), "reserved");
    match slips::word(word) {
        Some(slip) => lex::with_slip(place, found, &slip),
        None => found.help("choose another name"),
    }
}

fn no_name(place: &SourcePlace<'_>, what: &str) -> Diagnostic {
    if place.text() == "..." {
        return place
            .error(ParseCode::Unexpected, "Rhai does not support spreading into a map", "not expected here")
            .help("join maps with `+`: `a + #{b: 1}`");
    }
    place
        .error(ParseCode::NoName, format!("expected {what}, found {}", place.found()), "expected a name")
        .help("names consist of the letters A to Z, digits and `_`; write other keys in quotes")
}

fn no_variable(place: &SourcePlace<'_>) -> Diagnostic {
    if place.tokens.get(place.at).is_some_and(|token| token.kind == super::tokens::TokenKind::Word) {
        return place
            .error(ParseCode::ReservedWord, format!("{} cannot be used as a name", place.found()), "reserved")
            .help("choose another name");
    }
    place.error(
        ParseCode::NoPattern,
        format!("expected the name of a variable, found {}", place.found()),
        "expected a name",
    )
}

fn twice(place: &SourcePlace<'_>, name: &str, parameters: usize) -> Diagnostic {
    let of_it = |(other, count, _): &(&str, usize, lang::source::Span)| *other == name && *count == parameters;
    let mut spans = place.tokens.functions().into_iter().filter(of_it).map(|(.., span)| span);
    let (first, second) = (spans.next(), spans.next());
    let message = format!("duplicate function `{name}` with {}", super::words::parameters(parameters));
    let found = place
        .error_at(second.or(place.span()), ResolveCode::Twice, message, "defined again")
        .help("functions with the same name must differ in their number of parameters");
    match (first, second) {
        (Some(first), Some(_)) => found.label(place.source, first, "first definition"),
        _ => found,
    }
}

fn constant(place: &SourcePlace<'_>, name: &str) -> Diagnostic {
    if name.is_empty() {
        return place.error(
            ParseCode::AssignTarget,
            "invalid assignment target",
            "only a variable, a field or an element can be assigned",
        );
    }
    place
        .error(ResolveCode::Forbidden, format!("cannot assign to the constant `{name}`"), "assigned here")
        .help(format!("bind it with `let {name} = …`"))
}

/// A literal that is larger than this run allows.
pub(super) fn too_large(place: &SourcePlace<'_>, what: &str, most: usize) -> Diagnostic {
    place
        .error(RunCode::Size, format!("{what} can have at most {most} here"), "too large")
        .help("build it in pieces, or read it from a file")
}

fn literal(what: &str) -> &'static str {
    if what.contains("string") {
        "a string"
    } else if what.contains("map") {
        "a map"
    } else {
        "an array"
    }
}

fn expression(what: &str) -> String {
    match what {
        "" => "an expression".to_owned(),
        "a boolean" | "a boolean expression" => "a bool".to_owned(),
        what if what.starts_with("a ") || what.starts_with("an ") => what.to_owned(),
        what => format!("a {what}"),
    }
}

/// Returns Rhai's message as a sentence of ours: lower case, no full stop.
pub(super) fn sentence(said: &str, otherwise: &str) -> String {
    let mut chars = said.trim_end_matches('.').chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => otherwise.to_owned(),
    }
}
