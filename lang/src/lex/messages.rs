//! The messages of the lexer.

use super::numbers::BadNumber;
use super::pairs::OpenKind;
use super::strings::BadEscape;
use super::token::{Quote, Token};
use super::{LexCode, MAX_NESTING};
use crate::diagnostic::Diagnostic;
use crate::diagnostic::fix::{Applicability, Edit, closing_bracket};
use crate::source::{SourceRef, Span};

/// The nestings that are bounded.
pub(super) enum NestingLimit {
    Brackets,
    Expressions,
}

pub(super) fn too_deep(source: &SourceRef, at: Span, nesting: &NestingLimit) -> Diagnostic {
    let what = match nesting {
        NestingLimit::Brackets => "brackets",
        NestingLimit::Expressions => "expressions",
    };
    Diagnostic::new(LexCode::TooDeep, format!("{what} nested more than {MAX_NESTING} levels deep"))
        .label(source, at, "one level too many")
        .help("name the inner parts with `let`, or move them into functions")
}

pub(super) fn unclosed(source: &SourceRef, kind: OpenKind, opener: Span) -> Diagnostic {
    let written = source.slice(opener);
    Diagnostic::new(LexCode::UnclosedBracket, format!("unclosed `{written}`"))
        .label(source, opener, "opened here")
        .help(match kind {
            OpenKind::Paren => "add a `)`",
            OpenKind::Square => "add a `]`",
            OpenKind::Brace => "add a `}`",
            OpenKind::Interp => "close the interpolation with `}`; write `\\$` for a plain dollar sign",
            OpenKind::Str(_) => "add the closing quotes",
        })
}

pub(super) fn unclosed_string(source: &SourceRef, opener: Span, quote: Quote) -> Diagnostic {
    let written = source.slice(opener);
    let d = Diagnostic::new(LexCode::UnclosedString, "unclosed string").label(source, opener, "opened here").help(
        match quote {
            Quote::Plain => {
                format!("add `\"` before the end of the line, after `{written}`; use `\"\"\"` for multi-line text")
            }
            Quote::Triple => "close it with `\"\"\"`".to_owned(),
        },
    );
    if quote == Quote::Triple {
        return d;
    }
    // Brackets and commas may belong to the code after the string.
    let rest = &source.text()[opener.range().end..];
    let line = rest.lines().next().unwrap_or("").trim_end();
    let is_text = !line.contains(['(', ')', '[', ']', '{', '}', ',', ';', '"', '\\']);
    let end = opener.end + u32::try_from(line.len()).unwrap_or(0);
    let applicability = if is_text { Applicability::Safe } else { Applicability::Unsafe };
    d.fix_by(applicability, vec![Edit::insert(end, "\"")])
}

/// It is closed at the end of its line, which is a guess if anything follows.
pub(super) fn unclosed_comment(source: &SourceRef, opener: Span) -> Diagnostic {
    let rest = &source.text()[opener.range().end..];
    let (line, following) = rest.split_once('\n').unwrap_or((rest, ""));
    let end = opener.end + u32::try_from(line.trim_end().len()).unwrap_or(0);
    let applicability = if following.trim().is_empty() { Applicability::Safe } else { Applicability::Unsafe };
    Diagnostic::new(LexCode::UnclosedComment, "unclosed comment")
        .label(source, opener, "opened here")
        .help("close it with `*/`; comments nest, so each `/*` needs its own")
        .fix_by(applicability, vec![Edit::insert(end, " */")])
}

/// A closing bracket that does not match the innermost open one.
pub(super) fn wrong_closer(source: &SourceRef, at: Span, opener: Span, meant: Token<'_>) -> Diagnostic {
    let found = source.slice(at);
    Diagnostic::new(LexCode::UnmatchedBracket, format!("expected {meant}, found `{found}`"))
        .label(source, at, "does not match the open bracket")
        .label(source, opener, "opened here")
        .help(format!("write {meant}"))
        .fix(at, meant.to_string().trim_matches('`'))
}

/// A closing bracket where none is open.
pub(super) fn stray_closer(source: &SourceRef, at: Span) -> Diagnostic {
    let found = source.slice(at);
    Diagnostic::new(LexCode::UnmatchedBracket, format!("unmatched `{found}`"))
        .label(source, at, "no open bracket matches")
        .help(format!("remove the `{found}`, or add its opening bracket before it"))
        .unsafe_fix(at, "")
}

pub(super) fn bad_number(source: &SourceRef, at: Span, why: &BadNumber) -> Diagnostic {
    let text = source.slice(at);
    match why {
        BadNumber::TooLarge => Diagnostic::new(LexCode::NumberTooLarge, format!("`{text}` does not fit in an int"))
            .label(source, at, "more than 64 bits")
            .help("write it as a float, `1e19`, or as a string")
            .unsafe_fix(at, format!("{text}.0")),
        BadNumber::Letters(offset) => {
            let (digits, letters) = text.split_at(*offset);
            let d =
                Diagnostic::new(LexCode::NumberSuffix, format!("invalid suffix `{letters}` in the number `{text}`"))
                    .label(source, at, "not a unit of time");
            match unit(letters) {
                Some(unit) => {
                    let help = format!("write `{digits}{unit}`; the units are `ms s m h d w`");
                    d.help(help).fix(at, format!("{digits}{unit}"))
                }
                None => d.help("the units are `ms s m h d w`, after whole numbers; a name cannot begin with a digit"),
            }
        }
        BadNumber::Digits => Diagnostic::new(LexCode::NoDigits, format!("invalid number `{text}`"))
            .label(source, at, "missing or invalid digits")
            .help("write `0xff`, `0b1010` or `1e-9`"),
    }
}

/// The unit of time that a word means.
fn unit(word: &str) -> Option<&'static str> {
    Some(match word.to_ascii_lowercase().as_str() {
        "sec" | "secs" | "second" | "seconds" => "s",
        "min" | "mins" | "minute" | "minutes" => "m",
        "hr" | "hrs" | "hour" | "hours" => "h",
        "day" | "days" => "d",
        "week" | "weeks" => "w",
        "msec" | "millis" | "milliseconds" => "ms",
        _ => return None,
    })
}

pub(super) fn bad_escape(source: &SourceRef, at: Span, why: &BadEscape) -> Diagnostic {
    let text = source.slice(at);
    match why {
        BadEscape::Unknown => {
            let d = Diagnostic::new(LexCode::UnknownEscape, format!("unknown escape `{text}`")).label(
                source,
                at,
                "not an escape",
            );
            if text == "\\(" {
                let edits = interpolation(source.text(), at);
                return d.help("interpolate a value with `${…}`").fix_by_some(Applicability::Unsafe, edits);
            }
            let d = d.help(r#"the escapes are `\n \t \r \\ \" \$ \u{1F600}`; a backslash itself is `\\`, and `r"…"` has no escapes"#);
            let (applicability, instead) = escape_instead(text);
            d.fix_by(applicability, vec![Edit::new(at, instead)])
        }
        BadEscape::Unicode => Diagnostic::new(LexCode::UnicodeEscape, format!("invalid Unicode escape `{text}`"))
            .label(source, at, "not the number of a Unicode character")
            .help(r"write one to six hexadecimal digits in braces, `\u{1F600}`")
            .fix_by_some(Applicability::Safe, unicode_in_braces(source.text(), at)),
    }
}

/// Returns the edit that makes `\u{1F600}` of the `\uD83D\uDE00` of JSON, and `\u{e9}` of `\u00e9`.
fn unicode_in_braces(text: &str, at: Span) -> Option<Vec<Edit>> {
    let unit = |text: &str| {
        let digits = text.strip_prefix("\\u")?.get(..4)?;
        digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
    };
    let rest = text.get(at.range().start..)?;
    let first = unit(rest)?;
    let units = [Some(first), rest.get(6..).and_then(unit)];
    let is_pair = (0xd800..0xdc00).contains(&first);
    let mut decoded = char::decode_utf16(units.into_iter().flatten().take(if is_pair { 2 } else { 1 }));
    let escape = decoded.next()?.ok()?.escape_unicode().to_string();
    Some(vec![Edit::new(Span::new(at.start, at.start + if is_pair { 12 } else { 6 }), escape)])
}

/// Returns the edits that make `${x}` of `\(x)`.
fn interpolation(text: &str, at: Span) -> Option<Vec<Edit>> {
    let close = closing_bracket(text, at.end.checked_sub(1)?)?;
    let value = text.get(Span::new(at.end, close.start).range())?;
    (!value.contains(['"', '\n'])).then(|| vec![Edit::new(at, "${"), Edit::new(close, "}")])
}

/// Returns the meaning of an unknown escape: an escape of other languages, or a backslash of a regular expression.
fn escape_instead(text: &str) -> (Applicability, String) {
    match text {
        "\\'" | "\\`" => (Applicability::Safe, text[1..].to_owned()),
        "\\0" => (Applicability::Safe, "\\u{0}".to_owned()),
        "\\a" => (Applicability::Safe, "\\u{7}".to_owned()),
        "\\e" => (Applicability::Safe, "\\u{1b}".to_owned()),
        "\\f" => (Applicability::Safe, "\\u{c}".to_owned()),
        "\\v" => (Applicability::Safe, "\\u{b}".to_owned()),
        // A backspace elsewhere, the border of a word in a regular expression.
        "\\b" => (Applicability::Unsafe, "\\\\b".to_owned()),
        _ => {
            let of_regex = |c: char| c.is_ascii_punctuation() || matches!(c, 'd' | 'D' | 'w' | 'W' | 's' | 'S' | 'B');
            let applicability =
                if text.chars().skip(1).all(of_regex) { Applicability::Safe } else { Applicability::Unsafe };
            (applicability, format!("\\{text}"))
        }
    }
}

/// A string of one line in the quotes of another language.
pub(super) fn wrong_quotes(source: &SourceRef, at: Span, inside: &str, label: &str) -> Diagnostic {
    quotes(source, at, label).help(format!("write `\"{inside}\"`")).fix(at, format!("\"{inside}\""))
}

/// A template of several lines in backticks.
pub(super) fn long_template(source: &SourceRef, at: Span) -> Diagnostic {
    quotes(source, at, "a template in backticks")
        .help("write `\"\"\"…\"\"\"` for a multi-line string; `${…}` interpolates")
}

fn quotes(source: &SourceRef, at: Span, label: &str) -> Diagnostic {
    Diagnostic::new(LexCode::Quotes, "strings must be enclosed in double quotes").label(source, at, label)
}

/// The message for a run of several unknown characters.
pub(super) const UNKNOWN_CHARACTERS: &str = "unknown characters";

pub(super) fn unknown_character(source: &SourceRef, at: Span) -> Diagnostic {
    let text = source.slice(at);
    let shown: String = text.chars().flat_map(char::escape_debug).collect();
    let finding = Diagnostic::new(LexCode::Character, format!("unknown character `{shown}`")).label(
        source,
        at,
        "not part of the syntax",
    );
    let sign = text.chars().next().unwrap_or(' ');
    let finding = match character_help(sign) {
        Some(help) => finding.help(help),
        None => finding,
    };
    match character_instead(sign) {
        Some((applicability, instead)) => finding.fix_by(applicability, vec![Edit::new(at, instead)]),
        None => finding,
    }
}

/// Returns the replacement of an unknown character. `&` and `^` work on bits in other languages.
fn character_instead(c: char) -> Option<(Applicability, &'static str)> {
    Some(match c {
        '&' => (Applicability::Unsafe, "&&"),
        '^' => (Applicability::Unsafe, "**"),
        '–' | '—' | '−' => (Applicability::Safe, "-"),
        '\u{a0}' | '\u{202f}' => (Applicability::Safe, " "),
        '\u{200b}' => (Applicability::Safe, ""),
        '→' => (Applicability::Safe, "->"),
        '≠' => (Applicability::Safe, "!="),
        '≤' => (Applicability::Safe, "<="),
        '≥' => (Applicability::Safe, ">="),
        '×' => (Applicability::Safe, "*"),
        '…' => (Applicability::Safe, "..."),
        _ => return None,
    })
}

/// A comment that begins with `#`.
pub(super) fn hash_comment(source: &SourceRef, at: Span) -> Diagnostic {
    let sign = Span::new(at.start, at.start + 1);
    Diagnostic::new(LexCode::Character, "unknown character `#`")
        .label(source, sign, "not part of the syntax")
        .help("begin a comment with `//`")
        .fix(sign, "//")
}

/// Letters beyond ASCII.
pub(super) fn foreign_letters(source: &SourceRef, at: Span) -> Diagnostic {
    Diagnostic::new(LexCode::NameLetter, "invalid character in a name")
        .label(source, at, "only the letters A to Z, digits and `_` are allowed")
        .help("text in other alphabets must be in a string: \"…\"")
}

/// Adds the closing brackets that are missing at `end`. It is certain only on the line of the opening bracket.
pub(super) fn with_closers(d: Diagnostic, source: &SourceRef, opener: Span, end: u32, closers: &str) -> Diagnostic {
    let between = source.text().get(opener.range().start..end as usize).unwrap_or("");
    if between.contains('\n') {
        let closers = if closers.starts_with('}') { format!("\n{closers}") } else { closers.to_owned() };
        return d.fix_by(Applicability::Unsafe, vec![Edit::insert(end, closers)]);
    }
    d.fix_by(Applicability::Safe, vec![Edit::insert(end, closers)])
}

/// `===` and `!==`.
pub(super) fn extra_sign(source: &SourceRef, at: Span, written: &str, meant: &str) -> Diagnostic {
    Diagnostic::new(LexCode::ExtraSign, format!("unknown operator `{written}`"))
        .label(source, at, "one `=` too many")
        .help(format!("use `{meant}` to compare values"))
        .fix(at, meant)
}

fn character_help(c: char) -> Option<&'static str> {
    Some(match c {
        '“' | '”' | '„' | '«' | '»' => "enclose strings in straight quotes: \"…\"",
        '‘' | '’' | '\'' | '`' => "enclose strings in double quotes: \"…\"",
        '&' => "write `&&` for \"and\"",
        '^' => "write `**` for a power",
        '$' => "write the bare name of a variable; `${…}` is only for strings",
        '\\' => "`\\` joins a line with the next one, so it must be the last character of its line",
        '–' | '—' | '−' => "write `-` for a minus sign",
        '\u{a0}' | '\u{200b}' | '\u{202f}' => "replace this special space with an ordinary space",
        '→' => "write `->` for an arrow",
        '≠' => "write `!=` for \"not equal\"",
        '≤' => "write `<=` for \"at most\"",
        '≥' => "write `>=` for \"at least\"",
        '×' => "write `*` for \"times\"",
        '…' => "write `...` for three dots",
        _ => return None,
    })
}
