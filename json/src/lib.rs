//! JSON from outside: answers of models, messages of peers and editors, texts that a script parses. A text is read strictly;
//! only if that fails it is repaired, so a valid one costs no more than with `serde_json`.
//!
//! - [`from_str`], [`from_slice`], [`read_with`]: an unpaired surrogate escape is U+FFFD, an integer of more than 64 bits is
//!   the text of its digits.
//! - [`PieceJoiner`], [`from_piece`]: halves of a character in two neighbouring pieces of a stream.
//! - [`units_at`]: the code units of a string, for a receiver that needs the halves themselves.

mod integers;
mod joiner;
mod surrogates;

use std::borrow::Cow;

use serde::de::{DeserializeOwned, Error as _};
pub use serde_json::Error;

pub use integers::has_wide_integer;
pub use joiner::{PieceJoiner, units_at};
pub use surrogates::has_unpaired;

/// Reads a text.
///
/// # Errors
/// It is not JSON, or not what the type demands.
pub fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    read_with(text, |text| serde_json::from_str(text))
}

/// Reads a piece of a stream. Returns `None` if it has half of a character: then it has to pass through a [`PieceJoiner`].
///
/// # Errors
/// It is not JSON, or not what the type demands.
pub fn from_piece<T: DeserializeOwned>(text: &str) -> Result<Option<T>, Error> {
    match serde_json::from_str(&integers::as_texts(text)) {
        Ok(value) => Ok(Some(value)),
        Err(_) if has_unpaired(text) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns a text in which nothing is left to repair, for a reader of several values in a row.
#[must_use]
pub fn repaired(text: &str) -> Cow<'_, str> {
    let text = integers::as_texts(text);
    surrogates::replaced(&text).map_or(text, Cow::Owned)
}

/// Reads a text in UTF-8.
///
/// # Errors
/// It is not UTF-8, not JSON, or not what the type demands.
pub fn from_slice<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    match std::str::from_utf8(bytes) {
        Ok(text) => from_str(text),
        Err(error) => Err(Error::custom(format_args!("byte {} is not valid UTF-8", error.valid_up_to()))),
    }
}

/// Reads a text with a strict reader, which may be called a second time, with a repaired text.
///
/// # Errors
/// The error of the reader. Its line and column are those of the text, except after an integer of more than 64 bits on
/// the same line.
pub fn read_with<T>(text: &str, mut read: impl FnMut(&str) -> Result<T, Error>) -> Result<T, Error> {
    let text = integers::as_texts(text);
    read(&text).or_else(|error| match surrogates::replaced(&text) {
        Some(repaired) => read(&repaired),
        None => Err(error),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn half_of_a_character_loses_no_document() {
        for (text, value) in [
            (r#"{"a": "x\ud83d", "b": 1}"#, json!({"a": "x\u{fffd}", "b": 1})),
            (r#"["\ude80\ud83d", "\ud83d\ude80"]"#, json!(["\u{fffd}\u{fffd}", "🚀"])),
            (r#""\ud83d\ud83d\ude80\ude80""#, json!("\u{fffd}🚀\u{fffd}")),
            (r#""\ud83d\u0041 \uD83D\n \\ud83d \\\ud83d""#, json!("\u{fffd}A \u{fffd}\n \\ud83d \\\u{fffd}")),
            (r#"{"k\udc00": {"k\ud800": []}}"#, json!({"k\u{fffd}": {"k\u{fffd}": []}})),
        ] {
            assert_eq!(from_str::<Value>(text).unwrap(), value, "{text}");
            assert_eq!(from_slice::<Value>(text.as_bytes()).unwrap(), value, "{text}");
        }
    }

    #[test]
    fn a_text_of_several_values_is_repaired_as_a_whole() {
        let text = r#"{"a": "\ud83d"} 123456789012345678901 "\ud83d\ude80""#;
        assert_eq!(repaired(text), r#"{"a": "\ufffd"} "123456789012345678901" "\ud83d\ude80""#);
        assert!(matches!(repaired(r#"{"a": "\n1"} 2"#), Cow::Borrowed(_)));
    }

    #[test]
    fn a_piece_with_half_of_a_character_has_to_be_joined() {
        assert_eq!(from_piece::<Value>(r#"["\ud83d\ude80"]"#).unwrap(), Some(json!(["🚀"])));
        assert_eq!(from_piece::<Value>(r#"["\ud83d"]"#).unwrap(), None);
        assert_eq!(from_piece::<Value>("[123456789012345678901]").unwrap(), Some(json!(["123456789012345678901"])));
        assert!(from_piece::<Value>("[NaN]").is_err());
    }

    #[test]
    fn an_integer_of_more_than_64_bits_is_its_digits() {
        let wide = "123456789012345678901234567890";
        for (text, value) in [
            (wide.to_owned(), json!(wide)),
            (format!("[-{wide}, 1]"), json!([format!("-{wide}"), 1])),
            ("18446744073709551616".to_owned(), json!("18446744073709551616")),
            ("18446744073709551615".to_owned(), json!(u64::MAX)),
            ("[-9223372036854775808, -9223372036854775809]".to_owned(), json!([i64::MIN, "-9223372036854775809"])),
            (
                format!(r#"{{"{wide}": "a {wide} \" {wide}", "n": {wide}}}"#),
                json!({wide: format!("a {wide} \" {wide}"), "n": wide}),
            ),
            (format!("[{wide}, \"\\ud83d\"]"), json!([wide, "\u{fffd}"])),
            (format!("[{}]", "9".repeat(400)), json!(["9".repeat(400)])),
        ] {
            assert_eq!(from_str::<Value>(&text).unwrap(), value, "{text}");
        }
        for float in ["0.1234567890123456789012345", "12345678901234567890123.5", "12345678901234567890123e2", "1e30"] {
            assert!(from_str::<Value>(float).unwrap().is_f64(), "{float}");
        }
    }

    #[test]
    fn invalid_text_stays_invalid_and_keeps_its_place() {
        for text in [
            "",
            "{",
            "NaN",
            "[Infinity]",
            "{'a': 1}",
            r#""\ud83""#,
            r#""\ud83d"#,
            "[01]",
            "1e999",
            "[\"\\ud83d\", NaN]",
        ] {
            assert!(from_str::<Value>(text).is_err(), "{text}");
        }
        let error = from_str::<Value>("[\"\\ud83d\",\n NaN]").unwrap_err();
        assert_eq!((error.line(), error.column()), (2, 2), "{error}");
        let error = from_slice::<Value>(b"{\"a\": \"\xff\"}").unwrap_err();
        assert!(error.to_string().starts_with("byte 7 is not valid UTF-8"), "{error}");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_as_the_strict_reader_does_or_repaired(text in r#"([\[\]{}",:\\u0-9deaD83n .-]|\\ud83d|\\ude80|[0-9]{17,22}){0,24}"#) {
            let strict = serde_json::from_str::<Value>(&text);
            let tolerant = from_str::<Value>(&text);
            if let (Ok(strict), Ok(tolerant)) = (&strict, &tolerant) {
                proptest::prop_assert!(strict == tolerant || has_wide_integer(&text));
            }
            proptest::prop_assert!(strict.is_err() || tolerant.is_ok());
        }

        #[test]
        fn units_of_utf16_are_read_as_the_standard_library_reads_them(units in proptest::collection::vec(0xd7fe_u16..0xe002, 0..8)) {
            let escaped: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
            proptest::prop_assert_eq!(from_str::<String>(&format!("\"{escaped}\"")).unwrap(), String::from_utf16_lossy(&units));
        }
    }
}
