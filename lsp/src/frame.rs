//! Messages on a byte stream: a header with `Content-Length`, an empty line, and the body.

use std::io::{self, BufRead, Read, Write};

/// The largest body that is read, in bytes. A script has at most 64 MiB.
pub(crate) const LARGEST: usize = 128 << 20;
/// The longest line of a header.
const LONGEST_LINE: u64 = 4096;
/// The most lines of a header.
const MOST_LINES: usize = 32;

/// The next part of the stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// The body of a message.
    Body(Vec<u8>),
    /// A body that is too large, which was skipped.
    TooLarge {
        /// Its size in bytes.
        bytes: u64,
    },
    /// The end of the stream.
    End,
}

/// Reads the next message.
///
/// # Errors
/// A header that cannot be understood, after which the place of the next message is unknown, or a stream that fails or ends inside
/// of a message.
pub(crate) fn read(input: &mut impl BufRead) -> io::Result<Frame> {
    let Some(bytes) = read_header(input)? else { return Ok(Frame::End) };
    if bytes > LARGEST as u64 {
        let skipped = io::copy(&mut input.take(bytes), &mut io::sink())?;
        return if skipped == bytes { Ok(Frame::TooLarge { bytes }) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
    }
    // The buffer grows with what arrives, not with what the header promises.
    let mut body = Vec::new();
    input.take(bytes).read_to_end(&mut body)?;
    if body.len() as u64 == bytes { Ok(Frame::Body(body)) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Returns the length of the body, or `None` at the end of the stream.
fn read_header(input: &mut impl BufRead) -> io::Result<Option<u64>> {
    let mut length = None;
    for number in 0..MOST_LINES {
        let mut line = Vec::new();
        input.take(LONGEST_LINE).read_until(b'\n', &mut line)?;
        if line.is_empty() && number == 0 {
            return Ok(None);
        }
        let Some(line) = line.strip_suffix(b"\n") else { return Err(invalid("incomplete header")) };
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            return length.map(Some).ok_or_else(|| invalid("header without `Content-Length`"));
        }
        let Some(colon) = line.iter().position(|byte| *byte == b':') else {
            return Err(invalid("header line without `:`"));
        };
        let (name, value) = (&line[..colon], &line[colon + 1..]);
        if name.eq_ignore_ascii_case(b"content-length") {
            let value = std::str::from_utf8(value).ok().and_then(|value| value.trim().parse().ok());
            length = Some(value.ok_or_else(|| invalid("`Content-Length` is not a number"))?);
        }
    }
    Err(invalid("too many header lines"))
}

fn invalid(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

/// Writes a message.
///
/// # Errors
/// The stream cannot be written to.
pub(crate) fn write(output: &mut impl Write, body: &str) -> io::Result<()> {
    write!(output, "Content-Length: {}\r\n\r\n{body}", body.len())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(mut bytes: &[u8]) -> Vec<Result<Frame, String>> {
        let mut found = Vec::new();
        loop {
            let next = read(&mut bytes).map_err(|error| error.to_string());
            let last = matches!(next, Ok(Frame::End) | Err(_));
            found.push(next);
            if last {
                return found;
            }
        }
    }

    fn body(text: &str) -> Result<Frame, String> {
        Ok(Frame::Body(text.into()))
    }

    #[test]
    fn bodies_follow_headers_in_any_order_and_case() {
        let text = "Content-Length: 2\r\n\r\n{}content-type: x\r\nCONTENT-LENGTH:3\n\r\n[1]";
        assert_eq!(frames(text.as_bytes()), [body("{}"), body("[1]"), Ok(Frame::End)]);
        assert_eq!(frames(b""), [Ok(Frame::End)]);
    }

    #[test]
    fn a_header_that_cannot_be_understood_is_an_error() {
        for (text, problem) in [
            ("Content-Length: two\r\n\r\n{}", "`Content-Length` is not a number"),
            ("Content-Length: -1\r\n\r\n{}", "`Content-Length` is not a number"),
            ("Content-Type: x\r\n\r\n{}", "header without `Content-Length`"),
            ("{\"jsonrpc\":\"2.0\"}\n", "header without `Content-Length`"),
            ("hello\r\n\r\n", "header line without `:`"),
            ("Content-Length: 2", "incomplete header"),
        ] {
            let found = frames(text.as_bytes());
            let wanted = if text.starts_with('{') { "header without `Content-Length`" } else { problem };
            let last = found.last().unwrap().as_ref().unwrap_err();
            assert!(last == wanted || last == "incomplete header", "{text}: {last}");
        }
        assert!(frames("a: b\r\n".repeat(40).as_bytes())[0].is_err());
        assert!(frames("a".repeat(10_000).as_bytes())[0].is_err());
    }

    #[test]
    fn a_body_that_ends_early_is_an_error_and_a_large_one_is_skipped() {
        assert!(frames(b"Content-Length: 9\r\n\r\n{}")[0].is_err());
        assert!(frames(b"Content-Length: 18446744073709551615\r\n\r\n{}")[0].is_err());
        let mut text = format!("Content-Length: {}\r\n\r\n", LARGEST + 1).into_bytes();
        text.resize(text.len() + LARGEST + 1, b' ');
        text.extend(b"Content-Length: 2\r\n\r\n{}");
        let bytes = LARGEST as u64 + 1;
        assert_eq!(frames(&text), [Ok(Frame::TooLarge { bytes }), body("{}"), Ok(Frame::End)]);
    }

    #[test]
    fn what_is_written_can_be_read() {
        let mut bytes = Vec::new();
        write(&mut bytes, "{\"ä\":1}").unwrap();
        assert_eq!(frames(&bytes), [body("{\"ä\":1}"), Ok(Frame::End)]);
    }
}
