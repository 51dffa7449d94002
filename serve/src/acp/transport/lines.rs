//! [`LineSplitter`]: splits a byte stream into lines, with a limit on their length.

use jsonrpc::{Id, IdScanner, ScannedId};

use super::envelope::RULES;

/// A line of input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum InputLine {
    /// Its text.
    Text(String),
    /// Invalid UTF-8. It is not repaired: that would silently change the peer's text.
    NoText {
        /// The position of the first invalid byte, from 1.
        byte: usize,
        /// The id of the line.
        id: ScannedId,
    },
    /// A line that exceeded the limit and was skipped.
    TooLong {
        /// Its length in bytes, without the line end.
        bytes: usize,
        /// The id of the line.
        id: ScannedId,
    },
}

impl InputLine {
    /// Returns the number of bytes that it holds in memory.
    pub(crate) fn held(&self) -> usize {
        match self {
            InputLine::Text(text) => text.len(),
            InputLine::NoText { .. } | InputLine::TooLong { .. } => 0,
        }
    }
}

/// Splits input into lines. Blank lines are skipped.
#[derive(Debug)]
pub(crate) struct LineSplitter {
    limit: usize,
    /// The current line so far.
    held: Vec<u8>,
    /// The number of bytes already skipped of a line that is too long.
    skipped: usize,
    /// Looks for an id in what is skipped.
    scanner: IdScanner,
}

impl LineSplitter {
    /// Creates a splitter for lines of at most `limit` bytes.
    pub(crate) fn new(limit: usize) -> LineSplitter {
        LineSplitter { limit, held: Vec::new(), skipped: 0, scanner: IdScanner::default() }
    }

    /// Reads a chunk, and passes each complete line to `take`.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], mut take: impl FnMut(InputLine)) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.add(&bytes[..end]);
            if let Some(line) = self.line() {
                take(line);
            }
            bytes = &bytes[end + 1..];
        }
        self.add(bytes);
    }

    /// Returns the last line if the input ended without a line end.
    pub(crate) fn finish(&mut self) -> Option<InputLine> {
        self.line()
    }

    fn add(&mut self, piece: &[u8]) {
        if self.skipped > 0 || self.held.len() + piece.len() > self.limit {
            self.skipped += self.held.len() + piece.len();
            self.scanner.feed(&std::mem::take(&mut self.held));
            self.scanner.feed(piece);
        } else {
            self.held.extend_from_slice(piece);
        }
    }

    fn line(&mut self) -> Option<InputLine> {
        let skipped = std::mem::take(&mut self.skipped);
        if skipped > 0 {
            let id = std::mem::take(&mut self.scanner).found(&RULES);
            return Some(InputLine::TooLong { bytes: skipped, id });
        }
        let mut line = std::mem::take(&mut self.held);
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        Some(match String::from_utf8(line) {
            Ok(text) => InputLine::Text(text),
            Err(error) => {
                let byte = error.utf8_error().valid_up_to() + 1;
                let mut scanner = IdScanner::default();
                scanner.feed(error.as_bytes());
                InputLine::NoText { byte, id: scanner.found(&RULES) }
            }
        })
    }
}

/// Returns the id of a request that cannot be read.
pub(crate) fn request_id(bytes: &[u8]) -> Option<Id> {
    let mut scanner = IdScanner::default();
    scanner.feed(bytes);
    scanner.request_id(&RULES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(limit: usize, pieces: &[&[u8]]) -> Vec<InputLine> {
        let mut splitter = LineSplitter::new(limit);
        let mut lines = Vec::new();
        for piece in pieces {
            splitter.feed(piece, |line| lines.push(line));
        }
        lines.extend(splitter.finish());
        lines
    }

    fn no_id() -> ScannedId {
        ScannedId { id: Id::null(), is_answer: false }
    }

    fn text(text: &str) -> InputLine {
        InputLine::Text(text.to_owned())
    }

    #[test]
    fn lines_are_the_same_wherever_the_input_is_cut() {
        let input = "{\"a\": \"ä\"}\r\n\n  \r\n{}\n\"half".as_bytes();
        let whole = split(64, &[input]);
        assert_eq!(whole, [text("{\"a\": \"ä\"}"), text("{}"), text("\"half")]);
        for cut in 0..=input.len() {
            assert_eq!(split(64, &[&input[..cut], &input[cut..]]), whole, "cut at {cut}");
        }
        let bytes: Vec<&[u8]> = input.chunks(1).collect();
        assert_eq!(split(64, &bytes), whole);
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_and_the_next_one_is_not() {
        let input = b"123456789\n12345678\n1234567890123\nok\n123456789";
        let long = |bytes| InputLine::TooLong { bytes, id: no_id() };
        let whole = [long(9), text("12345678"), long(13), text("ok"), long(9)];
        assert_eq!(split(8, &[input]), whole);
        for cut in 0..=input.len() {
            assert_eq!(split(8, &[&input[..cut], &input[cut..]]), whole, "cut at {cut}");
        }
    }

    #[test]
    fn what_is_skipped_is_not_held() {
        let mut splitter = LineSplitter::new(16);
        for _ in 0..1_000 {
            splitter.feed(&[b'x'; 1024], |line| panic!("{line:?}"));
            assert!(splitter.held.capacity() <= 16, "{}", splitter.held.capacity());
        }
        assert_eq!(splitter.finish(), Some(InputLine::TooLong { bytes: 1_024_000, id: no_id() }));
    }

    #[test]
    fn bytes_that_are_no_text_are_told_with_their_place() {
        assert_eq!(
            split(64, &[b"{\"a\": \"\xff\"}\n\xc3\n"]),
            [InputLine::NoText { byte: 8, id: no_id() }, InputLine::NoText { byte: 1, id: no_id() }]
        );
    }

    #[test]
    fn a_request_that_is_not_held_keeps_its_id() {
        let input = b"{\"id\":7,\"method\":\"a\",\"params\":{}}\n{\"method\":\"b\",\"params\":{},\"id\":\"x\"}\n{\"method\":\"c\"}";
        for cut in 0..=input.len() {
            let ids: Vec<_> = split(8, &[&input[..cut], &input[cut..]])
                .into_iter()
                .map(|line| match line {
                    InputLine::TooLong { id, .. } => id.id.as_json().to_owned(),
                    other => panic!("{other:?}"),
                })
                .collect();
            assert_eq!(ids, ["7", "\"x\"", "null"], "cut at {cut}");
        }
    }

    #[test]
    fn an_end_without_a_line_gives_none() {
        assert_eq!(split(8, &[b"a\n"]), [text("a")]);
        assert_eq!(split(8, &[b"a\n \r"]), [text("a")]);
        assert_eq!(split(8, &[]), []);
    }
}
