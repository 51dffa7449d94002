//! Decides what a `{` opens: a body, a closure or a dict.
//!
//! Meaning of a `{`. Where the grammar requires a body, it is one. Where an expression can begin, the tokens after it
//! decide, in this order: `params ->` (a closure), then `}`, `key:`, `...`, `[expr]:`, `name,` or `name}` (a dict), else a
//! block.

use super::layout::{Head, Layout, Lines, OpenBracket};
use super::token::{Kw, Token};

/// Decides what the `{` of an expression opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BraceKind {
    Closure,
    Dict,
    Block,
}

/// The token and the frame for the `{` at `at`.
pub(super) fn open(layout: &mut Layout<'_, '_>, at: usize) -> (Token<'static>, OpenBracket) {
    let prev = layout.prev();
    let behind_operand = prev.is_some_and(Token::ends_operand);
    match prev {
        Some(Token::Kw(Kw::Else | Kw::Try | Kw::Finally | Kw::Spawn | Kw::Defer | Kw::Mutex)) => {
            return body(layout, Lines::Statements);
        }
        Some(Token::Kw(Kw::Select)) => return body(layout, Lines::Select),
        Some(Token::Arrow) if layout.frame().lines == Lines::Arms && layout.head().is_none() => {
            return (Token::LBody, layout.arm_body());
        }
        _ => {}
    }
    if let Some(found) = layout.head().and_then(|head| for_head(layout, head, at)) {
        return found;
    }
    if behind_operand {
        return behind(layout, at);
    }
    if layout.holds_patterns(at) {
        return dict(layout, true);
    }
    expression(layout, at)
}

/// The body that a waiting word demands, unless the `{` belongs to what stands before that body.
fn for_head(layout: &mut Layout<'_, '_>, head: Head, at: usize) -> Option<(Token<'static>, OpenBracket)> {
    let prev = layout.prev()?;
    match head {
        Head::Function => {
            let of_type = matches!(prev, Token::Arrow | Token::Lt | Token::Comma | Token::Bar | Token::Colon);
            if of_type {
                return Some(dict(layout, true));
            }
            layout.heads.pop();
            Some(body(layout, Lines::Statements))
        }
        Head::Members | Head::Methods => {
            layout.heads.pop();
            Some(body(layout, if head == Head::Members { Lines::Members } else { Lines::Statements }))
        }
        Head::Names => {
            layout.heads.pop();
            Some(dict(layout, true))
        }
        Head::Control(kw) => {
            let options = kw == Kw::Parallel && prev == Token::Ident("with");
            if prev == Token::Kw(Kw::For) && layout.peek(skip(layout, at)) == Some(Token::Kw(Kw::In)) {
                return Some(dict(layout, true));
            }
            let missing = matches!(prev, Token::Kw(_)) && !prev.ends_operand() && kind(layout, at) == BraceKind::Block;
            if options || !(prev.ends_operand() || missing || kw == Kw::Catch) {
                return None;
            }
            layout.heads.pop();
            Some(match kw {
                Kw::Match => body(layout, Lines::Arms),
                Kw::Parallel => closure(layout, kind(layout, at) == BraceKind::Closure),
                _ => body(layout, Lines::Statements),
            })
        }
    }
}

/// Behind an operand: a struct's fields, an arm's body, or a mistake that is read as what it looks like.
fn behind(layout: &mut Layout<'_, '_>, at: usize) -> (Token<'static>, OpenBracket) {
    let waiting = layout.head().is_some();
    match layout.prev() {
        Some(Token::Ident(name)) if !waiting && name.starts_with(|c: char| c.is_ascii_uppercase()) => {
            let pattern = layout.holds_patterns(at);
            dict(layout, pattern)
        }
        _ if layout.frame().lines == Lines::Select => body(layout, Lines::Statements),
        _ => expression(layout, at),
    }
}

fn expression(layout: &mut Layout<'_, '_>, at: usize) -> (Token<'static>, OpenBracket) {
    match kind(layout, at) {
        BraceKind::Closure => closure(layout, true),
        BraceKind::Dict => dict(layout, false),
        BraceKind::Block => body(layout, Lines::Statements),
    }
}

fn body(layout: &Layout<'_, '_>, lines: Lines) -> (Token<'static>, OpenBracket) {
    (Token::LBody, OpenBracket::new(lines, layout.heads.len()))
}

fn dict(layout: &Layout<'_, '_>, pattern: bool) -> (Token<'static>, OpenBracket) {
    (Token::LDict, OpenBracket::dict(pattern, layout.heads.len()))
}

fn closure(layout: &Layout<'_, '_>, parameters: bool) -> (Token<'static>, OpenBracket) {
    (Token::LClosure, OpenBracket::closure(parameters, layout.heads.len()))
}

/// Looks ahead from the `{` at `at`.
fn kind(layout: &Layout<'_, '_>, at: usize) -> BraceKind {
    if is_closure(layout, at + 1) {
        BraceKind::Closure
    } else if is_dict(layout, at + 1) {
        BraceKind::Dict
    } else {
        BraceKind::Block
    }
}

/// Behind the bracket or string that opens at `at`.
fn skip(layout: &Layout<'_, '_>, at: usize) -> usize {
    let lexeme = layout.lexemes[at];
    if lexeme.token.opens() { (lexeme.mate as usize).max(at) + 1 } else { at + 1 }
}

fn is_dict(layout: &Layout<'_, '_>, at: usize) -> bool {
    let Some(first) = layout.peek(at) else { return false };
    let behind = skip(layout, at);
    let next = layout.peek(behind);
    match first {
        Token::RBrace | Token::Ellipsis => true,
        Token::Ident(_) | Token::Kw(_) => match next {
            Some(Token::Colon) => true,
            Some(Token::Question) => layout.peek(behind + 1) == Some(Token::Colon),
            Some(Token::Comma | Token::RBrace) => matches!(first, Token::Ident(_)),
            Some(Token::Assign) => separated_by_comma(layout, behind),
            _ => false,
        },
        Token::StrStart(_) | Token::Raw(_) | Token::LBracket | Token::Int(_) => next == Some(Token::Colon),
        _ => false,
    }
}

/// `{a = 1, b = 2}`: a dict with the wrong sign.
fn separated_by_comma(layout: &Layout<'_, '_>, mut at: usize) -> bool {
    while let Some(lexeme) = layout.lexemes.get(at) {
        match lexeme.token {
            Token::Comma => return true,
            Token::RBrace | Token::Semi => return false,
            _ if lexeme.on_new_line => return false,
            _ => at = skip(layout, at),
        }
    }
    false
}

/// `->`, or parameters and then `->`.
fn is_closure(layout: &Layout<'_, '_>, mut at: usize) -> bool {
    loop {
        if layout.peek(at) == Some(Token::Ellipsis) {
            at += 1;
        }
        match layout.peek(at) {
            Some(Token::Arrow) => return true,
            Some(Token::Ident(_) | Token::Underscore | Token::LBody | Token::LBracket | Token::LParen) => {
                at = skip(layout, at);
            }
            _ => return false,
        }
        if layout.peek(at) == Some(Token::Colon) {
            at = skip_type(layout, at + 1);
        }
        if layout.peek(at) == Some(Token::Assign) {
            at = skip_default(layout, at + 1);
        }
        match layout.peek(at) {
            Some(Token::Arrow) => return true,
            Some(Token::Comma) => at += 1,
            _ => return false,
        }
    }
}

/// Tells whether the `fn` at `at` begins a function without a name, and not the type of one: a body comes after its parameters, and
/// after its result type if it has one.
pub(super) fn is_function(layout: &Layout<'_, '_>, at: usize) -> bool {
    if layout.peek(at + 1) != Some(Token::LParen) {
        return false;
    }
    let mut behind = skip(layout, at + 1);
    if layout.peek(behind) == Some(Token::Arrow) {
        let Some(after) = after_type(layout, behind + 1) else { return false };
        behind = after;
    }
    layout.lexemes.get(behind).is_some_and(|lexeme| lexeme.token == Token::LBody && !lexeme.on_new_line)
}

/// Behind the whole type that begins at `at`; nothing if none does.
fn after_type(layout: &Layout<'_, '_>, mut at: usize) -> Option<usize> {
    loop {
        at = match layout.peek(at)? {
            Token::Kw(Kw::Fn) => {
                let arrow = skip(layout, at + 1);
                if layout.peek(arrow) != Some(Token::Arrow) {
                    return None;
                }
                // The result is a type again.
                at = arrow + 1;
                continue;
            }
            Token::Ident(_) | Token::Kw(Kw::Nil) if layout.peek(at + 1) == Some(Token::Lt) => {
                after_angles(layout, at + 1)?
            }
            Token::Ident(_)
            | Token::Kw(Kw::Nil)
            | Token::LBody
            | Token::LParen
            | Token::StrStart(_)
            | Token::Raw(_) => skip(layout, at),
            _ => return None,
        };
        while layout.peek(at) == Some(Token::Question) {
            at += 1;
        }
        if layout.peek(at) != Some(Token::Bar) {
            return Some(at);
        }
        at += 1;
    }
}

/// Behind the `>` that closes the `<` at `at`.
fn after_angles(layout: &Layout<'_, '_>, mut at: usize) -> Option<usize> {
    let mut open = 0usize;
    loop {
        match layout.peek(at)? {
            Token::Lt => open += 1,
            Token::Gt => open -= 1,
            Token::Semi | Token::RBrace | Token::RParen | Token::RBracket => return None,
            _ => {}
        }
        at = skip(layout, at);
        if open == 0 {
            return Some(at);
        }
    }
}

fn skip_type(layout: &Layout<'_, '_>, mut at: usize) -> usize {
    let mut angles = 0usize;
    while let Some(token) = layout.peek(at) {
        match token {
            Token::Kw(Kw::Fn) if layout.peek(at + 1) == Some(Token::LParen) => {
                at = skip(layout, at + 1);
                if layout.peek(at) != Some(Token::Arrow) {
                    return at;
                }
            }
            Token::Lt => angles += 1,
            Token::Gt => angles = angles.saturating_sub(1),
            Token::Comma if angles > 0 => {}
            Token::Ident(_)
            | Token::Kw(Kw::Nil)
            | Token::Bar
            | Token::Question
            | Token::StrStart(_)
            | Token::Raw(_)
            | Token::LBody
            | Token::LParen => {}
            _ => return at,
        }
        at = skip(layout, at);
    }
    at
}

fn skip_default(layout: &Layout<'_, '_>, mut at: usize) -> usize {
    while let Some(lexeme) = layout.lexemes.get(at) {
        match lexeme.token {
            Token::Comma | Token::Arrow | Token::RBrace | Token::Semi => return at,
            _ if lexeme.on_new_line => return at,
            _ => at = skip(layout, at),
        }
    }
    at
}
