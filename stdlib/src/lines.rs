//! [`LineBuffer`]: lines of text that comes in pieces: from a file, a server, a program.

use lang::vm::{Raise, RunCode};

/// Bytes of the longest line.
pub(crate) const LONGEST_LINE: usize = 16 << 20;

/// Bytes that have come and are not a line yet.
#[derive(Default)]
pub(crate) struct LineBuffer {
    bytes: Vec<u8>,
    /// The start of the next line.
    start: usize,
    /// The bytes before have no line end after the start.
    searched: usize,
    /// The number of the last line, from 1.
    number: u64,
    ended: bool,
}

impl LineBuffer {
    /// Takes a piece in.
    pub(crate) fn push(&mut self, piece: &[u8]) {
        // What was read is dropped when it is most of the buffer, so that each byte moves a few times at most.
        if self.start > self.bytes.len() / 2 {
            self.bytes.drain(..self.start);
            self.searched -= self.start;
            self.start = 0;
        }
        self.bytes.extend_from_slice(piece);
    }

    /// Says that no more pieces come.
    pub(crate) fn end(&mut self) {
        self.ended = true;
    }

    /// Whether all lines were read, and no more come.
    pub(crate) fn is_over(&self) -> bool {
        self.ended && self.start == self.bytes.len()
    }

    /// Returns the next line without its end, if all of it has come. `source` is where it comes from, for errors: a line that is
    /// not UTF-8 is skipped with one, and after one that is too long nothing follows.
    pub(crate) fn next(&mut self, source: &str) -> Result<Option<String>, Box<Raise>> {
        match self.next_bytes(source)? {
            None => Ok(None),
            Some(line) => match std::str::from_utf8(line) {
                Ok(text) => Ok(Some(text.to_owned())),
                Err(e) => {
                    let (byte, number) = (e.valid_up_to(), self.number);
                    let message =
                        format!("line {number} of {source} is not UTF-8 text: byte {byte} does not start a character");
                    Err(Raise::error(RunCode::Outside, message)
                        .field("line", i64::try_from(number).unwrap_or(i64::MAX)))
                }
            },
        }
    }

    /// Does the same for a line of any bytes.
    pub(crate) fn next_bytes(&mut self, source: &str) -> Result<Option<&[u8]>, Box<Raise>> {
        let found = self.bytes[self.searched..].iter().position(|byte| *byte == b'\n');
        let end = found.map(|at| self.searched + at);
        self.searched = self.bytes.len();
        let (from, to) = (self.start, end.unwrap_or(self.bytes.len()));
        if to - from > LONGEST_LINE {
            let number = self.number + 1;
            *self = Self { ended: true, number, ..Self::default() };
            let message = format!("line {number} of {source} is longer than {} MiB", LONGEST_LINE >> 20);
            return Err(Raise::error(RunCode::Outside, message));
        }
        if end.is_none() && (!self.ended || from == to) {
            return Ok(None);
        }
        let next = end.map_or(to, |end| end + 1);
        (self.start, self.searched) = (next, next);
        self.number += 1;
        let line = &self.bytes[from..to];
        Ok(Some(match end {
            Some(_) => line.strip_suffix(b"\r").unwrap_or(line),
            None => line,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lines of a text that comes in pieces of some bytes.
    fn lines(text: &[u8], size: usize) -> Vec<Result<String, String>> {
        let (mut buffer, mut lines) = (LineBuffer::default(), Vec::new());
        let mut pieces = text.chunks(size);
        while !buffer.is_over() {
            match buffer.next("f") {
                Ok(Some(line)) => lines.push(Ok(line)),
                Ok(None) => match pieces.next() {
                    Some(piece) => buffer.push(piece),
                    None => buffer.end(),
                },
                Err(raise) => lines.push(Err(raise.message.clone())),
            }
        }
        lines
    }

    #[test]
    fn lines_do_not_depend_on_the_pieces() {
        for (text, wanted) in [
            ("", &[][..]),
            ("\n", &[""]),
            ("one", &["one"]),
            ("one\ntwo\r\n\nthree\n", &["one", "two", "", "three"]),
            ("ä\n€uro\r", &["ä", "€uro\r"]),
        ] {
            for size in 1..8 {
                let wanted: Vec<_> = wanted.iter().map(|line| Ok((*line).to_owned())).collect();
                assert_eq!(lines(text.as_bytes(), size), wanted, "{text:?} by {size}");
            }
        }
    }

    #[test]
    fn a_line_of_other_bytes_is_an_error_with_its_number() {
        let wrong = "line 2 of f is not UTF-8 text: byte 1 does not start a character";
        assert_eq!(
            lines(b"one\na\xff\nthree", 3),
            [Ok("one".to_owned()), Err(wrong.to_owned()), Ok("three".to_owned())]
        );
    }

    #[test]
    fn a_line_without_an_end_ends_the_text() {
        let text = [b"one\n".to_vec(), vec![b'x'; LONGEST_LINE + 1], b"\ntwo".to_vec()].concat();
        for size in [1 << 20, text.len()] {
            let found = lines(&text, size);
            assert_eq!(found[1], Err("line 2 of f is longer than 16 MiB".to_owned()));
            assert_eq!(found.len(), 2);
        }
        let text = [vec![b'x'; LONGEST_LINE], b"\ntwo".to_vec()].concat();
        assert_eq!(lines(&text, 1 << 20).len(), 2);
    }
}
