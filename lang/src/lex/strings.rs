//! The text of strings: escapes, and the indentation that `"""…"""` drops.

/// Why an escape could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadEscape {
    /// No escape is spelled so.
    Unknown,
    /// `\u` without braces, without hex digits, or beyond Unicode.
    Unicode,
}

/// Checks one escape, backslash included.
pub(super) fn check(escape: &str) -> Result<(), BadEscape> {
    let mut out = String::new();
    resolve(escape, &mut out).map(|_| ())
}

/// Writes what the escape at the start of `text` stands for and gives its length.
fn resolve(text: &str, out: &mut String) -> Result<usize, BadEscape> {
    let plain = match text.as_bytes().get(1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'\\') => '\\',
        Some(b'"') => '"',
        Some(b'$') => '$',
        Some(b'\n') => return Ok(2),
        Some(b'\r') if text[2..].starts_with('\n') => return Ok(3),
        Some(b'u') => {
            let digits = text[2..].strip_prefix('{').and_then(|t| t.split_once('}')).ok_or(BadEscape::Unicode)?.0;
            if digits.len() > 8 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
                return Err(BadEscape::Unicode);
            }
            let code = u32::from_str_radix(digits, 16).map_err(|_| BadEscape::Unicode)?;
            out.push(char::from_u32(code).ok_or(BadEscape::Unicode)?);
            return Ok(digits.len() + 4);
        }
        _ => return Err(BadEscape::Unknown),
    };
    out.push(plain);
    Ok(2)
}

/// The text with its escapes resolved; wrong ones, which the lexer has reported, stay as they are.
pub(crate) fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let taken = resolve(rest, &mut out).unwrap_or_else(|_| {
            out.push('\\');
            1
        });
        rest = &rest[taken..];
    }
    out.push_str(rest);
    out
}

/// Drops what `"""…"""` drops: the line break after the opener, the indentation that all lines share and the line break
/// before the closer. `pieces` are the texts around the interpolations.
pub(crate) fn dedent(pieces: &[&str]) -> Vec<String> {
    let mut texts: Vec<String> = pieces.iter().map(|p| p.replace("\r\n", "\n")).collect();
    let Some(first) = texts.first_mut() else { return texts };
    let opener_alone = blanks(first) < first.len() && first[blanks(first)..].starts_with('\n');
    if opener_alone {
        first.drain(..=blanks(first));
    }
    let last = texts.len() - 1;
    let indent = texts
        .iter()
        .enumerate()
        .flat_map(|(index, text)| line_starts(text, index == 0 && opener_alone).map(move |line| (index, line)))
        // Blank lines share nothing, but blanks before an interpolation are its indentation.
        .filter(|(index, line)| blanks(line) < line.len() || (*index < last && is_tail(&texts[*index], line)))
        .map(|(_, line)| blanks(line))
        .min()
        .unwrap_or(0);
    texts
        .iter()
        .enumerate()
        .map(|(index, text)| strip(text, indent, index == 0 && opener_alone, index == last))
        .collect()
}

/// Returns the number of blanks at the start of a text.
fn blanks(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\t']).len()
}

/// The lines of a piece that begin in it; the first does only where `fresh`.
fn line_starts(text: &str, fresh: bool) -> impl Iterator<Item = &str> {
    text.split('\n').skip(usize::from(!fresh))
}

/// Whether `line` is the end of `text`.
fn is_tail(text: &str, line: &str) -> bool {
    std::ptr::eq(text.as_bytes().as_ptr_range().end, line.as_bytes().as_ptr_range().end)
}

fn strip(text: &str, indent: usize, fresh: bool, closer: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for (number, line) in text.split('\n').enumerate() {
        let starts = number > 0 || fresh;
        if closer && starts && is_tail(text, line) && blanks(line) == line.len() {
            break;
        }
        if number > 0 {
            out.push('\n');
        }
        out.push_str(if starts { &line[blanks(line).min(indent)..] } else { line });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes() {
        assert_eq!(unescape(r#"a\n\t\r\\\"\$\u{1F600}b"#), "a\n\t\r\\\"$😀b");
        assert_eq!(check(r"\q"), Err(BadEscape::Unknown));
        assert_eq!(check(r"\u{110000}"), Err(BadEscape::Unicode));
        assert_eq!(check(r"\u{}"), Err(BadEscape::Unicode));
        assert_eq!(check(r"\u12"), Err(BadEscape::Unicode));
        assert_eq!(unescape("a\\\nb"), "ab");
    }

    #[test]
    fn indentation() {
        for (text, want) in [
            ("\n    a\n      b\n    ", "a\n  b"),
            ("\n    a\n\n    b\n", "a\n\nb"),
            ("\na\n  b\n  ", "a\n  b"),
            ("abc", "abc"),
            ("", ""),
            ("\n", ""),
            ("\n  ", ""),
            ("  ", "  "),
            ("a\n  b\n  ", "a\nb"),
            ("\r\n  a\r\n  b\r\n", "a\nb"),
            ("\n  a  \n", "a  "),
        ] {
            assert_eq!(dedent(&[text]), [want], "{text:?}");
        }
        assert_eq!(dedent(&["\n    ", " x\n      ", "\n    "]), ["", " x\n  ", ""]);
    }
}
