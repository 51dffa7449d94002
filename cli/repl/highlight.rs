//! Colors of Harn text, by its tokens.

use lang::lex::lex;
use lang::lex::token::Token;
use stdlib::Source;

/// Text that is longer is not colored: it is read again at each key.
const LONGEST: usize = 64 << 10;

const STRING: &str = "\u{1b}[32m";
const NUMBER: &str = "\u{1b}[36m";
const KEYWORD: &str = "\u{1b}[35m";
const COMMENT: &str = "\u{1b}[90m";
const PLAIN: &str = "\u{1b}[0m";

/// Returns the text with the escape codes of terminals. Nothing else in it changes.
pub(super) fn paint(text: &str) -> String {
    if text.len() > LONGEST {
        return text.to_owned();
    }
    let source = Source::new("<line>", text);
    let lexed = lex(&source);
    let tokens = lexed.tokens.iter().filter_map(|(token, span)| Some((*span, color(*token)?)));
    let comments = lexed.comments.iter().map(|span| (*span, COMMENT));
    let mut marks: Vec<_> = tokens.chain(comments).filter(|(span, _)| span.start < span.end).collect();
    marks.sort_by_key(|(span, _)| *span);
    let (mut out, mut at) = (String::with_capacity(text.len() * 2), 0);
    for (span, color) in marks {
        let range = span.range();
        // A token that another one covers has its color.
        let (Some(between), Some(inside)) = (text.get(at..range.start), text.get(range.clone())) else { continue };
        out.push_str(between);
        out.push_str(color);
        out.push_str(inside);
        out.push_str(PLAIN);
        at = range.end;
    }
    out.push_str(text.get(at..).unwrap_or(""));
    out
}

const fn color(token: Token<'_>) -> Option<&'static str> {
    match token {
        Token::Raw(_) | Token::StrStart(_) | Token::StrText(_) | Token::StrEnd => Some(STRING),
        Token::Int(_) | Token::Float(_) => Some(NUMBER),
        Token::Kw(_) | Token::AnonymousFn => Some(KEYWORD),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_escape_codes_are_added() {
        for text in ["let a = \"x ${1 + b} y\" // é", "", "f(\"open", "r\"raw\" + 5min", "}}} ] é ${"] {
            let painted = paint(text);
            let mut plain = painted.clone();
            for code in [STRING, NUMBER, KEYWORD, COMMENT, PLAIN] {
                plain = plain.replace(code, "");
            }
            assert_eq!(plain, text, "{painted:?}");
        }
        assert_eq!(paint("let a = 1"), format!("{KEYWORD}let{PLAIN} a = {NUMBER}1{PLAIN}"));
    }
}
