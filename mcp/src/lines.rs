//! Lines of limited length from a byte stream.

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// A line, or what came in its place.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// The line is in the buffer, without its end.
    Whole,
    /// The line has more bytes than allowed; the rest of it was not read.
    TooLong,
    /// The input has ended.
    End,
}

/// Reads the next line into `line`, which is cleared first. A stream that cannot be read has ended. A last line without an
/// end counts.
pub(crate) async fn next_line(reader: &mut (impl AsyncBufRead + Unpin), line: &mut Vec<u8>, most: usize) -> Line {
    line.clear();
    loop {
        let Ok(bytes) = reader.fill_buf().await else { return Line::End };
        if bytes.is_empty() {
            return if line.is_empty() { Line::End } else { Line::Whole };
        }
        let end = memchr::memchr(b'\n', bytes);
        let taken = end.unwrap_or(bytes.len());
        if line.len() + taken > most {
            return Line::TooLong;
        }
        line.extend_from_slice(&bytes[..taken]);
        reader.consume(taken + usize::from(end.is_some()));
        if end.is_some() {
            return Line::Whole;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::BufReader;

    #[tokio::test]
    async fn lines_are_limited_and_the_last_one_needs_no_end() {
        let mut reader = BufReader::with_capacity(4, &b"one\n\nlonger\nend"[..]);
        let mut line = Vec::new();
        let mut found = Vec::new();
        loop {
            let got = next_line(&mut reader, &mut line, 6).await;
            if got != Line::Whole {
                assert_eq!(got, Line::End);
                break;
            }
            found.push(String::from_utf8(line.clone()).unwrap());
        }
        assert_eq!(found, ["one", "", "longer", "end"]);
        let mut reader = BufReader::with_capacity(4, &b"longer\n"[..]);
        assert_eq!(next_line(&mut reader, &mut line, 5).await, Line::TooLong);
    }
}
