//! The codes in a log: `harn run x.harn 2>&1 | harn explain -`.

use std::io::{ErrorKind, Read, Result};

/// The longest text that can be a code.
const MAX_CODE: usize = 32;
/// The most different codes that are kept.
const MAX_CODES: usize = 1_000;

/// Returns the codes in a text, each once with the number of its occurrences, in the order in which they occur. The text is
/// read to its end in pieces, so it can be of any length.
///
/// # Errors
/// The text cannot be read.
pub(super) fn of(mut log: impl Read) -> Result<Vec<(String, u64)>> {
    let mut scanner = CodeScanner::default();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match log.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => buffer[..read].iter().for_each(|byte| scanner.take(*byte)),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    scanner.take(b' ');
    Ok(scanner.found)
}

/// Finds codes byte by byte.
#[derive(Default)]
struct CodeScanner {
    /// The current word, up to the length of a code.
    word: String,
    /// Whether the word is too long, or has a letter that no code has.
    is_other: bool,
    escape: EscapeState,
    found: Vec<(String, u64)>,
}

/// The position in a sequence that sets a colour.
#[derive(Default)]
enum EscapeState {
    #[default]
    Outside,
    /// After the escape character.
    Begun,
    /// After the bracket, until a letter ends the sequence.
    Parameters,
}

impl CodeScanner {
    fn take(&mut self, byte: u8) {
        let before = std::mem::take(&mut self.escape);
        match (before, byte) {
            (_, 0x1b) => {
                self.escape = EscapeState::Begun;
                return self.end_word();
            }
            (EscapeState::Begun, b'[') | (EscapeState::Parameters, b'0'..=b'9' | b';') => {
                self.escape = EscapeState::Parameters;
                return;
            }
            (EscapeState::Parameters, _) => return,
            _ => {}
        }
        match byte {
            b'A'..=b'Z' | b'0'..=b'9' | b'-' if self.word.len() < MAX_CODE => self.word.push(char::from(byte)),
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | 0x80.. => self.is_other = true,
            _ => self.end_word(),
        }
    }

    fn end_word(&mut self) {
        let word = std::mem::take(&mut self.word);
        let is_other = std::mem::take(&mut self.is_other);
        // A hyphen after a code is punctuation.
        let code = word.trim_end_matches('-');
        if is_other || !is_whole_code(code) {
            return;
        }
        if let Some((_, count)) = self.found.iter_mut().find(|(known, _)| known == code) {
            *count += 1;
        } else if self.found.len() < MAX_CODES {
            self.found.push((code.to_owned(), 1));
        }
    }
}

/// Returns whether a word is `HARN-FAMILY-NUMBER`.
fn is_whole_code(word: &str) -> bool {
    let parts: Vec<&str> = word.split('-').collect();
    let [name, family, number] = parts.as_slice() else { return false };
    *name == "HARN" && !family.is_empty() && number.len() == 3 && number.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(log: &[u8]) -> Vec<(String, u64)> {
        of(log).unwrap_or_default()
    }

    #[test]
    fn codes_are_found_in_pictures_in_json_and_in_colour() {
        let log = "\u{1b}[31merror\u{1b}[0m[HARN-NAM-001]: unknown\n{\"code\":\"HARN-RMD-005\"}\nHARN-NAM-001.";
        assert_eq!(found(log.as_bytes()), [("HARN-NAM-001".to_owned(), 2), ("HARN-RMD-005".to_owned(), 1)]);
        let colored = "\u{1b}[1;31mHARN-NAM-001\u{1b}[0mHARN-NAM-002";
        assert_eq!(found(colored.as_bytes()), [("HARN-NAM-001".to_owned(), 1), ("HARN-NAM-002".to_owned(), 1)]);
    }

    #[test]
    fn what_only_resembles_a_code_is_not_one() {
        assert_eq!(found(b"HARN-NAM-01 HARN_NAM-001 HARN-NAM-0011 xHARN-NAM-001 HARN-NAM HARN--001 \xff\xfe"), []);
        assert_eq!(found(&b"A".repeat(100_000)), []);
    }
}
