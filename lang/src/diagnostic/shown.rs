//! Text from anywhere (a model, a server, a file) is shown as text: what a terminal would obey becomes a visible sign.

use std::borrow::Cow;

/// A character as it may be shown; nothing for one that only confuses. Line breaks are not for here.
#[must_use]
pub fn shown(c: char) -> Option<char> {
    match c {
        '\t' => Some(' '),
        '\r' => None,
        // Control pictures: `␛` for escape.
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(c)),
        '\x7f' => Some('\u{2421}'),
        // C1 controls: some terminals take U+009B for the beginning of a sequence.
        '\u{80}'..='\u{9f}' => Some('\u{fffd}'),
        // They turn the direction of what follows them, our own rows included, or hide in it.
        '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' => {
            Some('\u{fffd}')
        }
        c => Some(c),
    }
}

/// Returns whether a terminal, an editor or a browser does something at a character instead of showing it: controls, and
/// those that turn the direction of text or are invisible.
#[must_use]
pub fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns a name from anywhere (a path, a key, a value) as one line that shows all of it: in quotes and with escapes if
/// it contains a character that [`is_obeyed`].
#[must_use]
pub fn one_line(name: &str) -> Cow<'_, str> {
    if !name.chars().any(is_obeyed) {
        return name.into();
    }
    let mut line = String::from("\"");
    for c in name.chars() {
        match c {
            c if is_obeyed(c) => line.extend(c.escape_default()),
            '"' | '\\' => line.extend(['\\', c]),
            c => line.push(c),
        }
    }
    line.push('"');
    line.into()
}

/// Whether a character turns the direction of the text around it, so that a reader sees another order than the machine.
#[must_use]
pub(crate) const fn turns_text(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text of several lines as it may be shown.
pub(super) fn clean(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| c == '\n' || shown(c) == Some(c)) {
        return text.into();
    }
    text.chars().filter_map(|c| if c == '\n' { Some(c) } else { shown(c) }).collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_is_left_but_line_breaks() {
        for c in (0..=0x10ffff).filter_map(char::from_u32) {
            assert!(shown(c).is_none_or(|c| !c.is_control()), "{c:?}");
        }
        assert_eq!(clean("a\x1b[31m\r\nb\u{202e}\x07"), "a␛[31m\nb\u{fffd}␇");
        assert!(matches!(clean("plain\nö"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_name_is_one_line_and_shows_all_of_it() {
        for c in (0..=0x10ffff).filter_map(char::from_u32) {
            assert!(one_line(&c.to_string()).chars().all(|c| !is_obeyed(c)), "{c:?}");
            assert!(is_obeyed(c) || (!turns_text(c) && shown(c) == Some(c)), "{c:?}");
        }
        assert_eq!(one_line("a\nb\r\u{202e}\"\\"), r#""a\nb\r\u{202e}\"\\""#);
        assert!(matches!(one_line(r#"plain "ö" \n"#), Cow::Borrowed(_)));
    }
}
