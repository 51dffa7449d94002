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
                        "a closure of Rhai has its parameters between bars",
                        "begins a block",
                    )
                    .help(format!("write `|{params}| …`, or `|{params}| {{ … }}` where it has statements"));
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
            .error_at(Some(span), ParseCode::Unexpected, "a map begins with `#{`", "this opens a block")
            .help("write `#{key: value}`; braces alone hold statements")
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
            .error(ParseCode::Unexpected, "Rhai has no written types", "a type begins here")
            .help("leave the type out; `type_of(x)` tells it while the script runs"),
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
            .error(ParseCode::NoPattern, "`let` binds one name", "a pattern begins here")
            .help("bind the whole and take it apart: `let a = x.a; let b = x[0];`"),
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
            .error(ParseCode::Unexpected, "parameters of Rhai have no default values", "not here")
            .help(format!("write a second `fn {name}` with fewer parameters that calls this one")),
    )
}

/// `a and b`, `0 to 5`, `elif`
fn word_operator(place: &SourcePlace<'_>) -> Option<Diagnostic> {
    let (message, help, instead) = match place.text() {
        "and" => ("`and` is written `&&`", "write `a && b`", "&&"),
        "or" => ("`or` is written `||`", "write `a || b`; where `()` is to be replaced, `a ?? b`", "||"),
        "to" => ("a range is written `0..5`", "write `0..=5` with the last, `0..5` without it", "..="),
        "elif" | "elsif" => ("`elif` is written `else if`", "write `} else if c {`", "else if"),
        _ if place.before(1) == "not" => {
            let span = place.span_of(place.at - 1);
            let found =
                place.error_at(span, ParseCode::Unexpected, "`not` is written `!`", "not known").help("write `!a`");
            return Some(match span {
                Some(span) => found.fix(span, "!"),
                None => found,
            });
        }
        _ => return None,
    };
    let found = place.error(ParseCode::Unexpected, message, "not known").help(help);
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
        "pipeline" => "the pipeline of a file is `fn main(task) { … }`, or what stands at its top",
        "pub" => "every `fn` of a file can be used by those that import it: leave `pub` out",
        "struct" | "enum" | "impl" | "interface" | "type" | "class" => {
            "Rhai has no declared types: make a map, `#{x: 1}`"
        }
        "tool" => "a tool is made with `tool_define`",
        "guard" => "write `if !condition { return; }`",
        "require" => "write `if !condition { throw \"…\"; }`",
        "defer" => "Rhai has no `defer`: write it behind the statements, and in a `catch` where they may fail",
        "retry" => "write a loop around a `try { … } catch (e) { … }`",
        "deadline" | "parallel" | "select" | "mutex" => {
            "Rhai has no such block; builtins of harn can be called: see `harn doc --rhai`"
        }
        "gen" | "emit" => "Rhai has no generators: fill an array with `push`",
        "import" => "write `import \"file\" as name;` and `name::function()`",
        "elif" | "elsif" => "write `} else if c {`",
        "print" | "println" | "log" | "echo" => "call it: `print(…)`",
        "function" | "def" | "func" => "a function is declared by `fn`",
        "unless" | "until" => "write `if !condition { … }`",
        "foreach" => "write `for x in xs { … }`",
        _ => return None,
    };
    if !begins || (word == "import" && place.text() != "{") {
        return None;
    }
    let message = if word == "import" {
        "`import` brings a whole file".to_owned()
    } else {
        format!("Rhai has no statement `{word}`")
    };
    Some(place.error_at(place.span_of(i), ParseCode::Unexpected, message, "not known").help(help))
}

fn same_line(place: &SourcePlace<'_>, i: usize) -> bool {
    let (Some(before), Some(here)) = (i.checked_sub(1).and_then(|i| place.span_of(i)), place.span_of(i)) else {
        return false;
    };
    !place.source.slice(lang::source::Span::new(before.end, here.start)).contains('\n')
}
