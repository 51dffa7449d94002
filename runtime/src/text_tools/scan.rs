//! Finding blocks of calls in streamed text. Each byte is visited a bounded number of times.

use base::data::Data;

pub(super) const OPEN: &str = "<tool_call>";
pub(super) const CLOSE: &str = "</tool_call>";

/// Maximum number of closing tags inside of a call's string that are skipped.
const LOOKED_PAST: usize = 8;

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ScannedPiece {
    /// Text outside of calls.
    Text(String),
    /// The text between the tags.
    Call(String),
}

/// The state of a scan through the text.
#[derive(Debug)]
pub(super) struct Scanner {
    /// Text that cannot be classified before more arrives; inside of a block, all of it.
    held: String,
    /// Number of bytes of it that are processed. They are removed once per push instead of once per call.
    done: usize,
    in_block: bool,
    in_fence: bool,
    at_line_start: bool,
    /// The last processed byte.
    last: u8,
    /// Inside of a block: the position from which the closing tag is searched, and the number of skipped tags.
    looked_at: usize,
    looked_past: usize,
}

impl Default for Scanner {
    fn default() -> Scanner {
        Scanner {
            held: String::new(),
            done: 0,
            in_block: false,
            in_fence: false,
            at_line_start: true,
            last: b'\n',
            looked_at: 0,
            looked_past: 0,
        }
    }
}

impl Scanner {
    /// Adds text.
    pub(super) fn push(&mut self, text: &str, out: &mut Vec<ScannedPiece>) {
        self.held.push_str(text);
        loop {
            let moved = if self.in_block { self.block(out) } else { self.text(out) };
            if !moved {
                break;
            }
        }
        self.held.drain(..self.done);
        self.looked_at = self.looked_at.saturating_sub(self.done);
        self.done = 0;
    }

    /// Ends the scan. A block that was never closed counts as closed.
    pub(super) fn finish(mut self, out: &mut Vec<ScannedPiece>) {
        let held = std::mem::take(&mut self.held);
        if self.in_block {
            out.push(ScannedPiece::Call(held));
        } else {
            put_text(out, &held);
        }
    }

    /// Processes text outside of blocks. Returns whether a block begins.
    fn text(&mut self, out: &mut Vec<ScannedPiece>) -> bool {
        let bytes = self.held.as_bytes();
        let mut at = self.done;
        while let Some(&byte) = bytes.get(at) {
            let rest = &bytes[at..];
            if self.at_line_start && matches!(byte, b'`' | b'~') {
                let fence = [byte; 3];
                if rest.starts_with(&fence) {
                    self.in_fence = !self.in_fence;
                    (self.at_line_start, self.last) = (false, byte);
                    at += 3;
                    continue;
                }
                if fence.starts_with(rest) {
                    break;
                }
            }
            if byte == b'<' && !self.in_fence && self.last != b'`' {
                if rest.starts_with(OPEN.as_bytes()) {
                    put_text(out, &self.held[self.done..at]);
                    self.done = at + OPEN.len();
                    (self.in_block, self.looked_at, self.looked_past) = (true, self.done, 0);
                    return true;
                }
                if OPEN.as_bytes().starts_with(rest) {
                    break;
                }
            }
            self.at_line_start = byte == b'\n' || (self.at_line_start && matches!(byte, b' ' | b'\t'));
            self.last = byte;
            at += 1;
        }
        put_text(out, &self.held[self.done..at]);
        self.done = at;
        false
    }

    /// Processes text inside of a block. Returns whether the block ends.
    fn block(&mut self, out: &mut Vec<ScannedPiece>) -> bool {
        loop {
            let Some(found) = self.held[self.looked_at..].find(CLOSE) else {
                // The tag may be split between two pieces.
                let mut from = self.held.len().saturating_sub(CLOSE.len() - 1).max(self.looked_at);
                while !self.held.is_char_boundary(from) {
                    from -= 1;
                }
                self.looked_at = from;
                return false;
            };
            let end = self.looked_at + found;
            if self.looked_past < LOOKED_PAST && ends_in_a_string(&self.held[self.done..end]) {
                self.looked_past += 1;
                self.looked_at = end + CLOSE.len();
                continue;
            }
            let raw = self.held[self.done..end].to_owned();
            self.done = end + CLOSE.len();
            (self.in_block, self.at_line_start, self.last) = (false, false, b'>');
            out.push(ScannedPiece::Call(raw));
            return true;
        }
    }
}

/// Returns whether JSON text breaks off within a string, which happens if the closing tag is quoted.
fn ends_in_a_string(text: &str) -> bool {
    let (mut inside, mut escaped) = (false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if inside => escaped = true,
            b'"' => inside = !inside,
            _ => {}
        }
    }
    inside && Data::from_json(text.trim()).is_err()
}

fn put_text(out: &mut Vec<ScannedPiece>, text: &str) {
    if text.is_empty() {
        return;
    }
    match out.last_mut() {
        Some(ScannedPiece::Text(before)) => before.push_str(text),
        _ => out.push(ScannedPiece::Text(text.to_owned())),
    }
}
