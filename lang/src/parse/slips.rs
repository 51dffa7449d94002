//! Habits from other languages, and the mistakes that everybody makes: what was meant, and how it is written here.

use super::error::Scene;
use super::failure::Want;
use crate::diagnostic::Diagnostic;
use crate::lex::token::{Kw, Token};
use crate::source::Span;

/// A mistake with a message of its own.
pub(super) fn recognise(scene: &Scene<'_, '_>, at: Span) -> Option<Diagnostic> {
    let found = scene.found()?;
    let before = scene.before(1).map(|(t, _)| t);
    let wants = scene.wants;
    let head = wants.has(Want::Body) || wants.has(Want::Else);
    match found {
        Token::Assign if head && !wants.has(Want::Separator) => Some(
            Diagnostic::error("HARN-PAR-019", "`=` assigns, and a condition compares")
                .label(scene.source, at, "assignment in a condition")
                .help("write `==`")
                .fix(at, "=="),
        ),
        Token::LClosure | Token::LBody
            if !head
                && (wants.has(Want::Separator) && matches!(before, Some(Token::RParen | Token::Ident(_)))
                    || wants.has(Want::Comma) && found == Token::LClosure && before == Some(Token::RParen)) =>
        {
            Some(
                Diagnostic::error("HARN-PAR-016", "a closure behind a call is not part of the call")
                    .label(scene.source, at, "not expected here")
                    .help("there are no trailing closures: put it between the parentheses, `f(xs, { x -> … })`"),
            )
        }
        Token::Kw(kw) if wants_name(scene) => Some(
            Diagnostic::error("HARN-PAR-018", format!("`{}` is a reserved word", kw.text()))
                .label(scene.source, at, "cannot be a name")
                .help(format!("choose another name, for instance `{}_`", kw.text())),
        ),
        _ => None,
    }
}

fn wants_name(scene: &Scene<'_, '_>) -> bool {
    let wants = scene.wants;
    let binds = match scene.before(1) {
        Some((Token::Kw(Kw::Let | Kw::Var | Kw::Const | Kw::For), _)) => true,
        Some((Token::Comma | Token::LParen, _)) => wants.has(Want::Pattern) && !wants.has(Want::Expr),
        _ => false,
    };
    let declares = matches!(
        scene.before(1),
        Some((
            Token::Kw(Kw::Fn | Kw::Struct | Kw::Enum | Kw::Interface | Kw::Impl | Kw::Type | Kw::Tool | Kw::Pipeline),
            _
        ))
    );
    (wants.has(Want::Pattern) && binds) || (wants.has(Want::Name) && declares)
}

/// What to do about a mistake with an ordinary message.
pub(super) fn help(scene: &Scene<'_, '_>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let found = scene.found();
    let before = scene.before(1).map(|(t, _)| t);
    if let Some(Token::Ident(word)) = found
        && let Some(help) = foreign_word(word)
    {
        out.push(help.to_owned());
    }
    if let Some(Token::Ident(word)) = before
        && out.is_empty()
        && let Some(help) = foreign_word(word)
    {
        out.push(help.to_owned());
    }
    if out.is_empty() {
        out.extend(for_tokens(scene, before, found).map(str::to_owned));
    }
    out
}

/// A word that means something in another language.
fn foreign_word(word: &str) -> Option<&'static str> {
    Some(match word {
        "function" | "func" | "def" | "fun" | "sub" => "functions are declared with `fn name(…) { … }`",
        "elif" | "elsif" | "elseif" => "write `else if`",
        "and" => "\"and\" is written `&&`",
        "or" => "\"or\" is written `||`",
        "not" => "\"not\" is written `!`",
        "is" => "values are compared with `==`, types with `type_of(x) == \"int\"`",
        "mut" => "a name that may be assigned again is declared with `var`",
        "switch" | "case" | "when" => "write `match x { 1 -> … }`",
        "class" => "write `struct`, with its functions in `impl`",
        "foreach" | "loop" | "do" | "until" => "the loops are `for x in xs { … }` and `while c { … }`",
        "unless" => "write `if !(…) { … }`",
        "async" => "every function may wait; tasks begin with `spawn { … }`",
        "await" => "`await` is a function: `await(task)`",
        "export" | "public" => "names are exported with `pub`",
        "use" | "require" | "include" => "files are read with `import \"path\"`",
        "new" => "write `Point {x: 1, y: 2}`",
        "del" | "delete" => "`d.remove(key)` gives the dict without the key",
        "then" => "bodies stand in braces: `if c { … } else { … }`",
        "instanceof" | "typeof" => "the type of a value is `type_of(x)`",
        _ => return None,
    })
}

fn for_tokens(scene: &Scene<'_, '_>, before: Option<Token<'_>>, found: Option<Token<'_>>) -> Option<&'static str> {
    let wants = scene.wants;
    let opener = scene.opener().map(|(_, token, _)| token);
    let found = found?;
    Some(match found {
        Token::ColonAssign => "write `let x = …` for a new name and `x = …` to assign",
        Token::FatArrow => "an arrow is written `->`",
        Token::Assign if opener == Some(Token::LDict) => "in a dict a key and its value are joined by `:`",
        Token::Plus | Token::Newline if before == Some(Token::Plus) && wants.has(Want::Expr) => {
            "there is no `++`: write `x += 1`"
        }
        Token::Kw(Kw::Fn) if wants.has(Want::Expr) => "a function without a name is a closure: `{ x -> … }`",
        Token::LBody if wants.has(Want::In) && before == Some(Token::RParen) => {
            "write `for x in xs { … }`, without parentheses"
        }
        Token::Kw(Kw::Else) if scene.at_statement_start() => "`else` follows the `}` of an `if` or a `guard`",
        Token::Kw(Kw::In | Kw::To) if scene.at_statement_start() => {
            "to go on with the line above, end that line with `\\`"
        }
        Token::Assign | Token::PlusAssign | Token::MinusAssign | Token::StarAssign | Token::SlashAssign
            if wants.has(Want::Comma) || wants.has(Want::Separator) =>
        {
            "an assignment is a statement of its own and has no value; to compare, write `==`"
        }
        Token::Kw(Kw::Catch | Kw::Finally) if scene.at_statement_start() => "it follows the `}` of a `try`",
        Token::Semi if wants.has(Want::Comma) => "elements are separated by `,`",
        Token::Bar if wants.has(Want::Expr) || wants.has(Want::Separator) => {
            "a closure is `{ x -> … }`, \"or\" is `||`, and a pipe is `|>`"
        }
        Token::At if wants.has(Want::Expr) => "attributes stand before declarations",
        Token::Dot if before == Some(Token::Dot) => "a range is written `1 to 5`",
        Token::Int(_) | Token::Float(_) if before == Some(Token::Dot) => "elements are read with `[0]`",
        Token::LBody | Token::LClosure if wants.has(Want::Expr) => "the condition or value before the `{` is missing",
        _ if before == Some(Token::Question) && wants.has(Want::Separator) => {
            "for `c ? a : b` put a space before the `?`; without one it unwraps a result"
        }
        Token::StrStart(_) | Token::Raw(_) if wants.has(Want::Separator) && matches!(before, Some(Token::Ident(_))) => {
            "arguments stand in parentheses: `f(\"text\")`"
        }
        Token::Colon if wants.has(Want::Separator) && opener == Some(Token::LBody) => {
            "this `{` begins a block; a dict as the value of an arm or a body stands in parentheses, `({a: 1})`"
        }
        Token::Arrow if wants.has(Want::Separator) && opener == Some(Token::LBody) => {
            "this `{` begins a block; a closure as the value of an arm or a body stands in parentheses, `({ x -> … })`"
        }
        Token::LDict if wants.has(Want::Separator) && matches!(before, Some(Token::Ident(_))) => {
            "a call is `f({a: 1})`; the names of structs begin with a capital letter"
        }
        Token::Ident(_) if wants.has(Want::Comma) && wants.has(Want::Colon) && opener != Some(Token::LDict) => {
            "put a `,` between two names, and a `:` between a name and its type"
        }
        _ if wants.has(Want::Comma) && super::expr::begins_expr(found) => "put a `,` between the two",
        _ if wants.has(Want::Separator) && super::expr::begins_expr(found) => {
            "begin a new line, or put a `;` between the two"
        }
        Token::Newline if wants.has(Want::Body) => "the body begins with `{`",
        _ => return None,
    })
}
