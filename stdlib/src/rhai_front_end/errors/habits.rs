//! Detection of constructs from Harn and other languages in a Rhai text, by the tokens around the
//! place where Rhai gave up.

use super::place::SourcePlace;
use super::tokens::TokenKind;
use lang::diagnostic::Diagnostic;
use lang::parse::ParseCode;

/// Returns a diagnostic for the whole construct, if the place looks like one.
pub(super) fn of(place: &SourcePlace<'_>) -> Option<Diagnostic> {
    let all = [closure, map, written_type, destructuring, default_value, word_operator, keyword];
    all.into_iter().find_map(|habit| habit(place))
}

/// `{ x -> x + 1 }`
fn closure(place: &SourcePlace<'_>) -> Option<Diagnostic> {
    if place.text() != "->" {
        return None;
    }
    let mut i = place.at;
    let mut params = Vec::new();
    while i > 0 {
        i -= 1;
        match place.tokens.text(i) {
            "{" => {
                params.reverse();
                let params = params.join(", ");
                let span = place.span_of(i)?.to(place.span()?);
                let close = place.tokens.partner(i).and_then(|close| place.span_of(close));
                let mut found = place
                    .error_at(
                        Some(span),
                        ParseCode::Unexpected,
                        "parameters of a Rhai closure must be between bars",
                        "starts a block",
                    )
                    .help(format!("write `|{params}| …`, or `|{params}| {{ … }}` for several statements"));
                if close.is_some() {
                    found = found.fix(span, format!("|{params}| {{"));
                }
                return Some(found);
            }
            "," => {}
            name if place.tokens.get(i)?.kind == TokenKind::Word => params.push(name),
            _ => return None,
        }
    }
    None
}

/// `{a: 1}`
fn map(place: &SourcePlace<'_>) -> Option<Diagnostic> {
    let key = place.tokens.get(place.at.checked_sub(1)?)?;
    let is_key = matches!(key.kind, TokenKind::Word | TokenKind::Text);
    let open = place.at.checked_sub(2)?;
    let empty = place.text() == "}" && place.before(1) == "{";
    let spread = place.text() == "..." && place.before(1) == "{";
    let open = match () {
        () if place.text() == ":" && is_key && place.tokens.text(open) == "{" => open,
        () if empty || spread => open + 1,
        () => return None,
    };
    let span = place.span_of(open)?;
    Some(
        place
            .error_at(Some(span), ParseCode::Unexpected, "a map must start with `#{`", "this starts a block")
            .help("write `#{key: value}`; plain braces enclose statements")
            .fix(span, "#{"),
    )
}

/// `let x: int = 1`, `fn f(a: int)`, `fn f() -> int`
fn written_type(place: &SourcePlace<'_>) -> Option<Diagnostic> {
    let is_name = place.tokens.get(place.at.checked_sub(1)?)?.kind == TokenKind::Word;
    let bound = matches!(place.before(2), "let" | "const");
    let parameter = || {
        let open = place.bracket()?;
        (place.tokens.text(open) == "(" && open >= 2 && place.tokens.text(open - 2) == "fn").then_some(())
    };
    let result = place.text() == "->" && place.before(1) == ")";
    if !(result || place.text() == ":" && is_name && (bound || parameter().is_some())) {
        return None;
    }
    Some(
        place
            .error(ParseCode::Unexpected, "Rhai does not support type annotations", "type annotation")
            .help("remove the type; `type_of(x)` returns it at run time"),
    )
}

/// `let {a, b} = x`
fn destructuring(place: &SourcePlace<'_>) -> Option<Diagnostic> {
    if !matches!(place.before(1), "let" | "const" | "for") || !matches!(place.text(), "{" | "[" | "#{" | "(") {
        return None;
    }
    if place.before(1) == "for" && place.text() == "(" {
        return None;
    }
    Some(
        place
            .error(ParseCode::NoPattern, "`let` binds a single name", "pattern")
            .help("bind the whole value, then its parts: `let a = x.a; let b = x[0];`"),
    )
}

/// `fn f(x = 1)`
fn default_value(place: &SourcePlace<'_>) -> Option<Diagnostic> {
    let open = place.bracket()?;
    if place.text() != "=" || place.tokens.text(open) != "(" || open < 2 || place.tokens.text(open - 2) != "fn" {
        return None;
    }
    let name = place.tokens.text(open - 1);
    Some(
        place
            .error(ParseCode::Unexpected, "Rhai does not support default values for parameters", "not supported")
            .help(format!("write a second `fn {name}` with fewer parameters that calls this one")),
    )
}

/// `a and b`, `0 to 5`, `elif`
fn word_operator(place: &SourcePlace<'_>) -> Option<Diagnostic> {
    let (message, help, instead) = match place.text() {
        "and" => ("unknown operator `and`", "write `a && b`", "&&"),
        "or" => ("unknown operator `or`", "write `a || b`; to replace `()`, write `a ?? b`", "||"),
        "to" => ("unknown operator `to`", "write `0..=5` to include the last number, `0..5` to exclude it", "..="),
        "elif" | "elsif" => ("expected `else if`", "write `} else if c {`", "else if"),
        _ if place.before(1) == "not" => {
            let span = place.span_of(place.at - 1);
            let found = place
                .error_at(span, ParseCode::Unexpected, "unknown operator `not`", "not part of Rhai")
                .help("write `!a`");
            return Some(match span {
                Some(span) => found.fix(span, "!"),
                None => found,
            });
        }
        _ => return None,
    };
    let found = place.error(ParseCode::Unexpected, message, "not part of Rhai").help(help);
    Some(match place.span() {
        Some(span) => found.fix(span, instead),
        None => found,
    })
}

/// Detects a statement or declaration that Rhai does not have: its first word comes just before the
/// place, and begins a statement.
fn keyword(place: &SourcePlace<'_>) -> Option<Diagnostic> {
    let i = place.at.checked_sub(1)?;
    let begins = i == 0 || matches!(place.before(2), ";" | "{" | "}") || !same_line(place, i);
    let word = place.tokens.text(i);
    let help = match word {
        "pipeline" => "the pipeline of a file is `fn main(task) { … }`, or its top-level code",
        "pub" => "other files can import every `fn` of a file: remove `pub`",
        "struct" | "enum" | "impl" | "interface" | "type" | "class" => {
            "Rhai does not support type declarations: use a map, `#{x: 1}`"
        }
        "tool" => "define a tool with `tool_define`",
        "guard" => "write `if !condition { return; }`",
        "require" => "write `if !condition { throw \"…\"; }`",
        "defer" => {
            "Rhai does not support `defer`: write the call after the statements, and in a `catch` if they \
            may fail"
        }
        "retry" => "write a loop around a `try { … } catch (e) { … }`",
        "deadline" | "parallel" | "select" | "mutex" => {
            "Rhai does not support this block; `harn doc --rhai` lists the builtins that you can call"
        }
        "gen" | "emit" => "Rhai does not support generators: fill an array with `push`",
        "import" => "write `import \"file\" as name;` and `name::function()`",
        "elif" | "elsif" => "write `} else if c {`",
        "print" | "println" | "log" | "echo" => "call it as a function: `print(…)`",
        "function" | "def" | "func" => "declare a function with `fn`",
        "unless" | "until" => "write `if !condition { … }`",
        "foreach" => "write `for x in xs { … }`",
        _ => return None,
    };
    if !begins || (word == "import" && place.text() != "{") {
        return None;
    }
    let message = if word == "import" {
        "`import` imports a whole file".to_owned()
    } else {
        format!("unknown Rhai statement `{word}`")
    };
    Some(place.error_at(place.span_of(i), ParseCode::Unexpected, message, "not part of Rhai").help(help))
}

fn same_line(place: &SourcePlace<'_>, i: usize) -> bool {
    let (Some(before), Some(here)) = (i.checked_sub(1).and_then(|i| place.span_of(i)), place.span_of(i)) else {
        return false;
    };
    !place.source.slice(lang::source::Span::new(before.end, here.start)).contains('\n')
}
