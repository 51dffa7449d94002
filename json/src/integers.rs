//! Integers of more than 64 bits. `serde_json` rounds them to a float.

use std::borrow::Cow;

/// The digits that an integer of more than 64 bits has at least.
const LEAST: usize = 19;

/// Returns whether a number of the text is an integer that fits neither `i64` nor `u64`.
#[must_use]
pub fn has_wide_integer(text: &str) -> bool {
    matches!(as_texts(text), Cow::Owned(_))
}

/// Returns the text with such integers as strings.
pub(crate) fn as_texts(text: &str) -> Cow<'_, str> {
    if !has_many_digits(text.as_bytes()) {
        return Cow::Borrowed(text);
    }
    let (mut fitted, mut copied) = (String::new(), 0);
    for (start, end) in (Numbers { bytes: text.as_bytes(), at: 0 }) {
        let number = &text[start..end];
        if is_wide(number) {
            fitted.push_str(&text[copied..start]);
            fitted.push('"');
            fitted.push_str(number);
            fitted.push('"');
            copied = end;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    fitted.push_str(&text[copied..]);
    Cow::Owned(fitted)
}

/// Returns whether the text has as many digits in a row as a wide integer, which most texts do not. Looks at few bytes.
fn has_many_digits(bytes: &[u8]) -> bool {
    let mut at = LEAST - 1;
    while let Some(byte) = bytes.get(at) {
        if byte.is_ascii_digit() {
            let before = bytes[..at].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
            let after = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).take(LEAST).count();
            if before + after >= LEAST {
                return true;
            }
        }
        at += LEAST;
    }
    false
}

/// Returns whether a number is an integer of JSON that is too wide.
fn is_wide(number: &str) -> bool {
    let digits = number.strip_prefix('-').unwrap_or(number);
    digits.len() >= LEAST
        && !digits.starts_with('0')
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && number.parse::<i64>().is_err()
        && number.parse::<u64>().is_err()
}

/// The ranges of the numbers in a text, which may be invalid.
struct Numbers<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Iterator for Numbers<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<(usize, usize)> {
        loop {
            match self.bytes.get(self.at)? {
                b'"' => self.skip_string(),
                b'-' | b'0'..=b'9' => {
                    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
                    let start = self.at;
                    self.at += self.bytes[start..].iter().take_while(is_part).count();
                    return Some((start, self.at));
                }
                _ => self.at += 1,
            }
        }
    }
}

impl Numbers<'_> {
    fn skip_string(&mut self) {
        self.at += 1;
        while let Some(byte) = self.bytes.get(self.at) {
            self.at += if *byte == b'\\' { 2 } else { 1 };
            if *byte == b'"' {
                return;
            }
        }
    }
}
