//! Fixes of syntax errors: the tokens around a failure show the edit.

use super::error::Scene;
use super::failure::{Problem, TokenClass, Wants};
use crate::diagnostic::fix::{Applicability, Edit, closing_bracket};
use crate::lex::token::{Kw, Token};
use crate::source::Span;
use Applicability::{Safe, Unsafe};

/// Returns the fix of a mistake with an ordinary message.
pub(super) fn of(scene: &Scene<'_, '_>) -> Option<(Applicability, Vec<Edit>)> {
    let (found, at) = scene.tokens.get(scene.at).copied()?;
    let (before, before_at) = scene.before(1)?;
    let wants = scene.wants;
    let in_dict = scene.opener().is_some_and(|(_, token, _)| token == Token::LDict);
    let one = |applicability, edit| Some((applicability, vec![edit]));
    match found {
        // A variable of this name may exist already.
        Token::ColonAssign => {
            let begins = matches!(scene.before(2), None | Some((Token::Newline | Token::Semi | Token::LBody, _)));
            begins.then(|| (Unsafe, vec![Edit::insert(before_at.start, "let "), Edit::new(at, "=")]))
        }
        Token::FatArrow if wants.has(TokenClass::Arrow) => one(Safe, Edit::new(at, "->")),
        Token::Assign if in_dict => one(Safe, Edit::new(at, ":")),
        // `[0; 5]` repeats a value in another language.
        Token::Semi if wants.has(TokenClass::Comma) => one(Unsafe, Edit::new(at, ",")),
        Token::Plus | Token::Newline if before == Token::Plus && wants.has(TokenClass::Expr) => increment(scene),
        Token::Newline if wants.has(TokenClass::Body) => {
            Some((Unsafe, braced_lines(scene.source.text(), Span::new(before_at.end, before_at.end))?))
        }
        // A type that is not written is inferred.
        _ if matches!(before, Token::Colon | Token::Arrow) && wants_only(wants, TokenClass::Type) => {
            let start = scene.before(2)?.1.end;
            one(Unsafe, Edit::new(Span::new(start, before_at.end), ""))
        }
        Token::Assign if matches!(before, Token::Kw(Kw::Let | Kw::Var)) && wants_only(wants, TokenClass::Pattern) => {
            one(Unsafe, Edit::insert(at.start, "_ "))
        }
        _ if wants_only(wants, TokenClass::Item) => {
            one(Unsafe, Edit::new(Span::new(before_declaration(scene)?, at.start), ""))
        }
        _ if before == Token::Question && wants.has(TokenClass::Separator) => {
            one(Safe, Edit::insert(before_at.start, " "))
        }
        Token::StrStart(_) | Token::Raw(_)
            if wants.has(TokenClass::Separator) && matches!(before, Token::Ident(_)) && before_at.end < at.start =>
        {
            let end = string_end(scene)?;
            Some((Safe, vec![Edit::new(Span::new(before_at.end, at.start), "("), Edit::insert(end, ")")]))
        }
        _ if wants.has(TokenClass::Comma) && super::expr::begins_expr(found) => {
            let is_element = !matches!(before, Token::Ident(_)) || !wants.has(TokenClass::Colon) || in_dict;
            one(if is_element { Safe } else { Unsafe }, Edit::insert(before_at.end, ","))
        }
        Token::Kw(kw) if wants.has(TokenClass::Separator) && kw.begins_statement() => {
            one(Safe, Edit::insert(before_at.end, ";"))
        }
        _ => None,
    }
}

/// Returns whether that is what is missing: the message names the first of these.
fn wants_only(wants: Wants, class: TokenClass) -> bool {
    const NAMED_FIRST: [TokenClass; 4] = [TokenClass::Expr, TokenClass::Pattern, TokenClass::Type, TokenClass::Item];
    NAMED_FIRST.into_iter().find(|first| wants.has(*first)) == Some(class)
}

/// Returns the fix of a mistake that the grammar itself recognises.
pub(super) fn of_problem(problem: Problem, at: Span, text: &str) -> Option<Vec<Edit>> {
    let (before, written) = (text.get(..at.range().start)?.trim_end(), text.get(at.range())?);
    Some(match problem {
        Problem::ExclusiveWithoutRange => vec![Edit::insert(at.start, "0 to ")],
        // The path of an import would be another one.
        Problem::NotConstant if ["import", "from"].iter().any(|word| before.ends_with(word)) => return None,
        Problem::NotConstant => vec![Edit::new(at, written.replace("${", "\\${").replace("\\\\$", "\\$"))],
        Problem::RestNotLast => {
            let rest = text.get(at.range().end..)?;
            let next = rest.trim_start().strip_prefix(',')?.trim_start();
            let start = at.end + u32::try_from(rest.len() - next.len()).ok()?;
            let end = closer_of(text, start)?;
            let last = text.get(..end.range().start)?.trim_end().trim_end_matches(',').len();
            vec![
                Edit::new(Span::new(at.start, start), ""),
                Edit::insert(u32::try_from(last).ok()?, format!(", {written}")),
            ]
        }
        Problem::SecondCatch => {
            vec![Edit::new(Span::new(u32::try_from(before.len()).ok()?, at.end), "")]
        }
        Problem::AssignTarget | Problem::NoTriple => return None,
    })
}

/// Returns the bracket that closes the one around a position.
fn closer_of(text: &str, from: u32) -> Option<Span> {
    let mut at = from;
    loop {
        let rest = text.get(Span::new(at, at).range().start..)?;
        let next = rest.find(['(', '[', '{', ')', ']', '}', '"', '\n'])?;
        at += u32::try_from(next).ok()?;
        match rest.as_bytes()[next] {
            b'(' | b'[' | b'{' => at = closing_bracket(text, at)?.end,
            b'"' | b'\n' => return None,
            _ => return Some(Span::new(at, at + 1)),
        }
    }
}

/// Returns the start of the attributes or the `pub` before the failure, which belong to no declaration.
fn before_declaration(scene: &Scene<'_, '_>) -> Option<u32> {
    let mut back = 1;
    let mut start = None;
    loop {
        while matches!(scene.before(back), Some((Token::Newline, _))) {
            back += 1;
        }
        match scene.before(back) {
            Some((Token::Kw(Kw::Pub), at)) => {
                start = Some(at.start);
                back += 1;
            }
            Some((Token::RParen, _)) => {
                let (open, _) = scene.partner_before(back)?;
                back = scene.at - open + 1;
            }
            Some((Token::Ident(_), _)) => match scene.before(back + 1) {
                Some((Token::At, at)) => {
                    start = Some(at.start);
                    back += 2;
                }
                _ => return start,
            },
            _ => return start,
        }
    }
}

/// Returns the edits that enclose the lines after a header in braces: those that are indented more than it. `replaced` is the end
/// of the header: the colon of another language, or nothing.
pub(super) fn braced_lines(text: &str, replaced: Span) -> Option<Vec<Edit>> {
    let indent_of = |line: &str| line.len() - line.trim_start().len();
    let start = text.get(..replaced.range().start)?.rfind('\n').map_or(0, |at| at + 1);
    let header = text.get(start..replaced.range().start)?;
    let after = text.get(replaced.range().end..)?;
    let (tail, lines) = after.split_once('\n')?;
    if !tail.trim().is_empty() && !tail.trim_start().starts_with("//") {
        return None;
    }
    let mut end = None;
    let mut at = replaced.range().end + tail.len() + 1;
    for line in lines.split_inclusive('\n') {
        let is_blank = line.trim().is_empty();
        if !is_blank && indent_of(line) <= indent_of(header) {
            break;
        }
        at += line.len();
        if !is_blank {
            end = Some(at - (line.len() - line.trim_end().len()));
        }
    }
    let indent = &header[..indent_of(header)];
    let closing = Edit::insert(u32::try_from(end?).ok()?, format!("\n{indent}}}"));
    Some(vec![Edit::new(replaced, " {"), closing])
}

/// `x++`, at the end of a statement.
fn increment(scene: &Scene<'_, '_>) -> Option<(Applicability, Vec<Edit>)> {
    let first = (0..=2).find_map(|back| {
        let index = scene.at.checked_sub(back)?;
        let is_plus = |i: usize| scene.tokens.get(i).is_some_and(|(token, _)| *token == Token::Plus);
        (is_plus(index) && is_plus(index + 1)).then_some(index)
    })?;
    let both = scene.tokens[first].1.to(scene.tokens[first + 1].1);
    let ends = scene.tokens.get(first + 2).is_none_or(|(token, _)| super::recover::ends_statement(*token));
    (both.end - both.start == 2 && ends).then(|| (Safe, vec![Edit::new(both, " += 1")]))
}

/// Returns the end of the string that begins at the failure, if the statement ends there.
fn string_end(scene: &Scene<'_, '_>) -> Option<u32> {
    let mut depth = 0usize;
    for (index, (token, span)) in scene.tokens.iter().enumerate().skip(scene.at) {
        match token {
            Token::StrStart(_) => depth += 1,
            Token::StrEnd => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            let ends = scene.tokens.get(index + 1).is_none_or(|(token, _)| super::recover::ends_statement(*token));
            return ends.then_some(span.end);
        }
    }
    None
}

/// Returns the end of the bracket that opens at an index.
pub(super) fn closer(scene: &Scene<'_, '_>, opener: usize) -> Option<Span> {
    let mut depth = 0usize;
    for (token, span) in scene.tokens.get(opener..)? {
        if token.opens() {
            depth += 1;
        } else if token.closes() {
            depth -= 1;
            if depth == 0 {
                return (span.start < span.end).then_some(*span);
            }
        }
    }
    None
}

/// `f(xs) { x -> … }` and `f { x -> … }`: moves the closure between the parentheses.
pub(super) fn closure_into_call(scene: &Scene<'_, '_>) -> Option<Vec<Edit>> {
    let (_, opener) = scene.tokens.get(scene.at)?;
    let end = closer(scene, scene.at)?.end;
    let (before, before_at) = scene.before(1)?;
    let replaced = match before {
        Token::RParen => {
            let empty = matches!(scene.before(2), Some((Token::LParen, _)));
            Edit::new(Span::new(before_at.start, opener.start), if empty { "" } else { ", " })
        }
        _ => Edit::new(Span::new(before_at.end, opener.start), "("),
    };
    Some(vec![replaced, Edit::insert(end, ")")])
}

/// `lambda x: x + 1`: a closure, as far as the value goes.
pub(super) fn lambda(scene: &Scene<'_, '_>, word: Span) -> Option<Vec<Edit>> {
    let first = scene.tokens.partition_point(|(_, span)| span.start < word.end);
    let after = scene.tokens.get(first..)?;
    let params = after.iter().take_while(|(token, _)| matches!(token, Token::Ident(_) | Token::Comma)).count();
    let (Token::Colon, colon) = *after.get(params)? else { return None };
    let mut depth = 0usize;
    let mut end = None;
    for (token, span) in &after[params + 1..] {
        let ends = super::recover::ends_statement(*token) || *token == Token::Comma || token.closes();
        if depth == 0 && ends {
            break;
        }
        depth = if token.opens() { depth + 1 } else { depth - usize::from(token.closes()) };
        end = Some(span.end);
    }
    let opening = Edit::new(Span::new(word.start, after[0].1.start), "{ ");
    let arrow = Edit::new(colon, if params == 0 { "->" } else { " ->" });
    Some(vec![opening, arrow, Edit::insert(end?, " }")])
}

/// `not x`. It binds less tightly elsewhere than `!`: in front of more than a path or a call it is a guess.
pub(super) fn negation(scene: &Scene<'_, '_>, word: Span) -> (Applicability, Edit) {
    let index = scene.tokens.partition_point(|(_, span)| span.start < word.end);
    let Some((_, operand)) = scene.tokens.get(index) else { return (Unsafe, Edit::new(word, "!")) };
    let edit = Edit::new(Span::new(word.start, operand.start.max(word.end)), "!");
    let mut depth = 0usize;
    for (token, _) in scene.tokens.get(index..).unwrap_or_default() {
        match token {
            _ if depth == 0 && (token.closes() || matches!(token, Token::LBody | Token::LClosure)) => {
                return (Safe, edit);
            }
            Token::Newline | Token::Semi | Token::Comma | Token::AndAnd | Token::OrOr if depth == 0 => {
                return (Safe, edit);
            }
            Token::Ident("and" | "or") if depth == 0 => return (Safe, edit),
            _ if token.opens() => depth += 1,
            _ if token.closes() => depth -= 1,
            Token::Ident(_) | Token::Dot | Token::Underscore | Token::Kw(Kw::True | Kw::False | Kw::Nil) => {}
            _ if depth > 0 => {}
            _ => return (Unsafe, edit),
        }
    }
    (Safe, edit)
}
