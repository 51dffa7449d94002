//! Number literals: `42`, `1_000`, `0xff`, `0b1010`, `3.14`, `1e-9`, `30s`.

use super::token::Token;

/// Why a number could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BadNumber {
    /// More than 64 bits.
    TooLarge,
    /// Letters that are no unit, at this offset.
    Letters(usize),
    /// `0x`, `0b` or an exponent without digits, or with wrong ones.
    Digits,
}

/// Returns the length of a number in `text` that begins with `head` (digits and letters).
pub(super) fn extent(text: &str, head: usize) -> usize {
    let bytes = text.as_bytes();
    let mut end = head;
    let decimal = |range: &[u8]| range.iter().all(|b| b.is_ascii_digit() || *b == b'_');
    if decimal(&bytes[..end]) && bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
        end += 1;
        end += word_len(&bytes[end..]);
    }
    let hex = bytes.starts_with(b"0x") || bytes.starts_with(b"0X");
    let exponent = matches!(bytes[end - 1], b'e' | b'E')
        && matches!(bytes.get(end), Some(b'+' | b'-'))
        && bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
    if exponent && !hex && decimal_mantissa(&bytes[..end - 1]) {
        end += 1;
        end += word_len(&bytes[end..]);
    }
    end
}

fn decimal_mantissa(bytes: &[u8]) -> bool {
    bytes.iter().all(|b| b.is_ascii_digit() || matches!(b, b'_' | b'.'))
}

fn word_len(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count()
}

/// The value of a number. `9223372036854775808` is read as the smallest int: only behind a `-` is it one, which the
/// parser sees to.
pub(super) fn read(text: &str) -> Result<Token<'static>, BadNumber> {
    let lower = text.get(..2).unwrap_or("");
    match lower {
        "0x" | "0X" => return radix(&text[2..], 16),
        "0b" | "0B" => return radix(&text[2..], 2),
        _ => {}
    }
    let digits = text.bytes().take_while(|b| b.is_ascii_digit() || *b == b'_').count();
    let rest = &text[digits..];
    if rest.starts_with(['.', 'e', 'E']) {
        return float(text);
    }
    let number = decimal(&text[..digits]);
    let unit: i128 = match rest {
        "" => {
            let value = number?;
            return if value == 1 << 63 { Ok(Token::Int(i64::MIN)) } else { fit(value) };
        }
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        "w" => 604_800_000,
        _ => return Err(BadNumber::Letters(digits)),
    };
    fit(number?.saturating_mul(unit))
}

fn fit(value: i128) -> Result<Token<'static>, BadNumber> {
    i64::try_from(value).map(Token::Int).map_err(|_| BadNumber::TooLarge)
}

fn decimal(digits: &str) -> Result<i128, BadNumber> {
    let mut value: i128 = 0;
    for digit in digits.bytes().filter(|b| *b != b'_') {
        value = value * 10 + i128::from(digit - b'0');
        if value > 1 << 64 {
            return Err(BadNumber::TooLarge);
        }
    }
    Ok(value)
}

fn radix(digits: &str, radix: u32) -> Result<Token<'static>, BadNumber> {
    let plain: String = digits.chars().filter(|c| *c != '_').collect();
    if plain.is_empty() || !plain.chars().all(|c| c.is_digit(radix)) {
        return Err(BadNumber::Digits);
    }
    i64::from_str_radix(&plain, radix).map(Token::Int).map_err(|_| BadNumber::TooLarge)
}

fn float(text: &str) -> Result<Token<'static>, BadNumber> {
    let plain: String = text.chars().filter(|c| *c != '_').collect();
    if let Ok(value) = plain.parse::<f64>() {
        return Ok(Token::Float(value));
    }
    let number = |b: u8| b.is_ascii_digit() || matches!(b, b'.' | b'_');
    let letters = text.bytes().take_while(|b| number(*b)).count();
    match &text[letters..] {
        "e" | "E" => Err(BadNumber::Digits),
        _ => Err(BadNumber::Letters(letters)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read() {
        for (text, value) in [
            ("42", 42),
            ("1_000", 1000),
            ("0xff", 255),
            ("0b1010", 10),
            ("500ms", 500),
            ("30s", 30_000),
            ("5m", 300_000),
            ("2h", 7_200_000),
            ("1d", 86_400_000),
            ("1w", 604_800_000),
            ("9223372036854775807", i64::MAX),
        ] {
            assert_eq!(read(text), Ok(Token::Int(value)), "{text}");
        }
        for (text, value) in [("3.25", 3.25), ("1e-9", 1e-9), ("1E5", 1e5), ("2.5e+3", 2500.0), ("1_0.5", 10.5)] {
            assert_eq!(read(text), Ok(Token::Float(value)), "{text}");
        }
    }

    #[test]
    fn bad_numbers_say_why() {
        for (text, why) in [
            ("5min", BadNumber::Letters(1)),
            ("1.5s", BadNumber::Letters(3)),
            ("1e", BadNumber::Digits),
            ("1ee", BadNumber::Letters(1)),
            ("0x", BadNumber::Digits),
            ("0b12", BadNumber::Digits),
            ("9223372036854775809", BadNumber::TooLarge),
            ("99999999999999999999999999999999999999999999", BadNumber::TooLarge),
            ("9223372036854775807w", BadNumber::TooLarge),
            ("0xffffffffffffffff", BadNumber::TooLarge),
        ] {
            assert_eq!(read(text), Err(why), "{text}");
        }
    }

    #[test]
    fn a_number_ends_before_a_field() {
        for (text, head, end) in
            [("42.foo", 2, 2), ("4.25x", 1, 5), ("1e-9+1", 2, 4), ("1..2", 1, 1), ("0x1e-5", 4, 4), ("1.5e-3", 1, 6)]
        {
            assert_eq!(extent(text, head), end, "{text}");
        }
    }
}
