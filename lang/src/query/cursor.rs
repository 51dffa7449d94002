//! The brackets around a position, read from the tokens before it.

use crate::lex::lex;
use crate::lex::token::{Kw, Token};
use crate::source::{Source, Span};

/// The surroundings of the end of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// Start of the word before the cursor, or of the text of the string that the cursor is in.
    pub word: usize,
    /// Whether the cursor is in the text of a string.
    pub in_string: bool,
    /// Whether the cursor is in a comment.
    pub in_comment: bool,
    /// The brackets around the cursor, from the innermost one.
    pub around: Vec<Surrounding>,
    /// The last token before the word: its text.
    pub before: String,
    /// Whether a statement begins with the word.
    pub begins_statement: bool,
    /// Whether the string is the path of an import, or the word is in its list of names.
    pub in_import: bool,
}

/// A bracket around the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Surrounding {
    /// The arguments of a call.
    Call {
        /// The called function.
        callee: Callee,
        /// Index of the argument, from 0.
        argument: usize,
        /// Start of the `(`.
        at: usize,
    },
    /// A dict.
    Dict {
        /// The key whose value the cursor is in; `None` where a key begins.
        key: Option<String>,
        /// The other keys before the cursor.
        keys: Vec<String>,
        /// The name before it: that of a struct literal.
        name: Option<String>,
    },
    /// A list.
    List,
    /// A body, a closure, an interpolation, parentheses around an expression.
    Other,
}

/// A called function, by what is written before the `(`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Callee {
    /// Its name.
    pub name: String,
    /// Start of the name.
    pub at: usize,
    /// The name before the dot, if there is one and it is only a name.
    pub namespace: Option<String>,
    /// Whether a dot is before the name.
    pub is_member: bool,
}

impl Cursor {
    /// Reads the surroundings of the end of a text.
    #[must_use]
    pub fn of(before: &str) -> Self {
        let source = Source::new("<cursor>", before);
        let lexed = lex(&source);
        // The lexer closes what is open with empty tokens.
        let is_written = |(_, span): &&(Token<'_>, Span)| span.start < span.end;
        let tokens: Vec<(Token<'_>, Span)> = lexed.tokens.iter().filter(is_written).copied().collect();
        let end = before.len();
        let in_comment = lexed.comments.last().is_some_and(|span| {
            span.end as usize == end && !(source.slice(*span).ends_with("*/") && source.slice(*span).len() > 3)
        });
        let mut open: Vec<usize> = Vec::new();
        for (index, (token, _)) in tokens.iter().enumerate() {
            if token.opens() || matches!(token, Token::StrStart(_)) {
                open.push(index);
            } else if token.closes() || *token == Token::StrEnd {
                open.pop();
            }
        }
        let mut cursor = Self { in_comment, word: word_start(before), ..Self::default() };
        let mut inside = tokens.len();
        if let Some(index) = open.last().copied().filter(|index| matches!(tokens[*index].0, Token::StrStart(_))) {
            cursor.in_string = true;
            cursor.word = tokens[index].1.range().end;
            open.pop();
            inside = index;
        } else if tokens.last().is_some_and(|(token, span)| is_word_token(*token) && span.range().end == end) {
            inside -= 1;
        }
        // Tokens from here on are the word itself.
        let tokens = &tokens[..inside];
        for index in open.into_iter().rev() {
            cursor.around.push(surrounding(before, tokens, index));
        }
        let last = tokens.last();
        cursor.before = last.map(|(_, span)| source.slice(*span).to_owned()).unwrap_or_default();
        let starts = |token: &Token<'_>| {
            matches!(
                token,
                Token::Newline | Token::Semi | Token::LBody | Token::Doc(_) | Token::Kw(Kw::Pub) | Token::RBrace
            )
        };
        let line = before[..cursor.word].rfind('\n').map_or(0, |i| i + 1);
        let first_of_line = before[line..cursor.word].trim().is_empty();
        let braces_only = !cursor.around.iter().any(|s| !matches!(s, Surrounding::Other));
        cursor.begins_statement = !cursor.in_string
            && (last.is_none() || last.is_some_and(|(token, _)| starts(token)) || (first_of_line && braces_only));
        cursor.in_import = is_import(tokens);
        cursor
    }

    /// Returns the innermost call, the index of the argument, and the keys from the argument to the cursor, outermost first.
    #[must_use]
    pub fn call(&self) -> Option<(&Callee, usize, Vec<&str>)> {
        let mut keys = Vec::new();
        for around in &self.around {
            match around {
                Surrounding::Call { callee, argument, .. } => {
                    keys.reverse();
                    return Some((callee, *argument, keys));
                }
                Surrounding::Dict { name: Some(_), .. } | Surrounding::Other => return None,
                Surrounding::Dict { key, .. } => keys.extend(key.as_deref()),
                Surrounding::List => keys.push("[]"),
            }
        }
        None
    }

    /// Returns the innermost key whose value the cursor is in.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        self.around.iter().find_map(|around| match around {
            Surrounding::Dict { key, .. } => Some(key.as_deref()),
            Surrounding::List => None,
            Surrounding::Call { .. } | Surrounding::Other => Some(None),
        })?
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn word_start(before: &str) -> usize {
    before.trim_end_matches(is_word).len()
}

fn is_word_token(token: Token<'_>) -> bool {
    matches!(token, Token::Ident(_) | Token::Kw(_) | Token::Underscore)
}

/// Describes the bracket at an index.
fn surrounding(text: &str, tokens: &[(Token<'_>, Span)], index: usize) -> Surrounding {
    let (before, inside) = (&tokens[..index], &tokens[index + 1..]);
    match tokens[index].0 {
        Token::LParen => match callee(before) {
            Some(callee) => {
                let at = tokens[index].1.range().start;
                Surrounding::Call { callee, argument: commas(inside), at }
            }
            None => Surrounding::Other,
        },
        Token::LBracket | Token::QBracket if !before.last().is_some_and(|(token, _)| token.ends_operand()) => {
            Surrounding::List
        }
        Token::LDict => dict(text, before, inside),
        Token::LBody | Token::LClosure if may_be_dict(text, before, inside) => dict(text, before, inside),
        _ => Surrounding::Other,
    }
}

/// Whether a `{` that the lexer takes for a body opens a dict or a struct literal: the text ends before that can be seen, or the
/// entry that is being written hides it.
fn may_be_dict(text: &str, before: &[(Token<'_>, Span)], inside: &[(Token<'_>, Span)]) -> bool {
    let is_value = matches!(
        before.last(),
        Some((
            Token::LParen | Token::Comma | Token::Colon | Token::LBracket | Token::Assign | Token::Kw(Kw::Return),
            _
        ))
    );
    let is_type =
        matches!(before.last(), Some((Token::Ident(name), _)) if name.starts_with(|c: char| c.is_ascii_uppercase()));
    let is_empty = inside.iter().all(|(token, _)| *token == Token::Newline);
    let is_key = |pair: &[(Token<'_>, Span)]| matches!(pair, [(Token::Ident(_), span), (Token::Colon, _)] if begins_line(text, *span));
    (is_value || is_type) && (is_empty || inside.windows(2).any(is_key))
}

fn dict(text: &str, before: &[(Token<'_>, Span)], inside: &[(Token<'_>, Span)]) -> Surrounding {
    let (mut depth, mut key, mut keys, mut at_start) = (0usize, None, Vec::new(), true);
    for (i, (token, _)) in inside.iter().enumerate() {
        match token {
            token if token.opens() || matches!(token, Token::StrStart(_)) => depth += 1,
            token if token.closes() || *token == Token::StrEnd => depth = depth.saturating_sub(1),
            Token::Comma if depth == 0 => {
                keys.extend(key.take());
                at_start = true;
                continue;
            }
            Token::Newline => continue,
            Token::Ident(name) if depth == 0 => {
                let is_key = matches!(inside.get(i + 1), Some((Token::Colon, _)));
                // A comma may be missing while the entry before is being written.
                if is_key && (at_start || begins_line(text, inside[i].1)) {
                    keys.extend(key.replace((*name).to_owned()));
                } else if at_start {
                    keys.push((*name).to_owned());
                }
            }
            _ => {}
        }
        at_start = false;
    }
    // A value that is over and not separated yet is still that of its key.
    let name = match before.last() {
        Some((Token::Ident(name), _)) => Some((*name).to_owned()),
        _ => None,
    };
    Surrounding::Dict { key, keys, name }
}

fn begins_line(text: &str, span: Span) -> bool {
    let before = text.get(..span.start as usize).unwrap_or("");
    before.trim_end_matches([' ', '\t', '\r']).ends_with('\n')
}

/// Returns the function whose name is at the end of the tokens.
fn callee(tokens: &[(Token<'_>, Span)]) -> Option<Callee> {
    let ((Token::Ident(name), span), before) = tokens.split_last()? else { return None };
    if matches!(before.last(), Some((Token::Kw(Kw::Fn | Kw::Tool | Kw::Pipeline), _))) {
        return None;
    }
    let is_member = matches!(before.last(), Some((Token::Dot | Token::QDot, _)));
    let namespace = match before {
        [.., (Token::Dot | Token::QDot, _), (Token::Ident(_), _), (Token::Dot, _)] => None,
        [.., (Token::Ident(namespace), _), (Token::Dot, _)] => Some((*namespace).to_owned()),
        _ => None,
    };
    Some(Callee { name: (*name).to_owned(), at: span.range().start, namespace, is_member })
}

/// Counts the commas that separate arguments.
fn commas(tokens: &[(Token<'_>, Span)]) -> usize {
    let (mut depth, mut commas) = (0usize, 0);
    for (token, _) in tokens {
        match token {
            token if token.opens() => depth += 1,
            token if token.closes() => depth = depth.saturating_sub(1),
            Token::Comma if depth == 0 => commas += 1,
            _ => {}
        }
    }
    commas
}

/// Whether the tokens end in an import that is not complete.
fn is_import(tokens: &[(Token<'_>, Span)]) -> bool {
    let statement = tokens.iter().rposition(|(token, _)| *token == Token::Kw(Kw::Import));
    let Some(start) = statement else { return false };
    tokens[start + 1..].iter().all(|(token, _)| {
        matches!(
            token,
            Token::Ident(_)
                | Token::Comma
                | Token::Newline
                | Token::LBody
                | Token::LDict
                | Token::LClosure
                | Token::RBrace
                | Token::Kw(Kw::From)
        )
    }) && tokens[start + 1..].iter().filter(|(token, _)| *token == Token::Newline).count() < 200
}
