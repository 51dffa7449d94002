//! [`StderrTail`]: the last lines that a server wrote to standard error.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::sync::Notify;

/// The number of bytes that are kept.
const KEPT: usize = 8 << 10;
/// The number of lines that a message shows, and of bytes.
const SHOWN_LINES: usize = 12;
const SHOWN_BYTES: usize = 2 << 10;

/// The last bytes of standard error.
#[derive(Default)]
pub(crate) struct StderrTail {
    kept: RefCell<VecDeque<u8>>,
    /// Notified at the end of the stream.
    ended: Notify,
}

impl StderrTail {
    /// Reads to the end, so that the server never waits for a reader.
    pub(crate) async fn read(&self, mut stream: impl AsyncRead + Unpin) {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = stream.read(&mut buffer).await {
            self.push(&buffer[..count]);
            // A server that never stops writing must leave the thread to others.
            tokio::task::yield_now().await;
        }
        self.ended.notify_one();
    }

    /// Waits until everything has been read. Only one caller can wait.
    pub(crate) async fn ended(&self) {
        self.ended.notified().await;
    }

    fn push(&self, bytes: &[u8]) {
        let mut kept = self.kept.borrow_mut();
        kept.extend(bytes);
        let over = kept.len().saturating_sub(KEPT);
        kept.drain(..over);
    }

    /// Returns the last lines, as text.
    pub(crate) fn text(&self) -> Arc<str> {
        let mut kept = self.kept.borrow_mut();
        let text = String::from_utf8_lossy(kept.make_contiguous());
        let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        let mut shown = lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n");
        if shown.len() > SHOWN_BYTES {
            let mut from = shown.len() - SHOWN_BYTES;
            while !shown.is_char_boundary(from) {
                from += 1;
            }
            shown = format!("…{}", &shown[from..]);
        }
        shown.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept() {
        let tail = StderrTail::default();
        for n in 0..5_000 {
            tail.push(format!("line {n}\n").as_bytes());
        }
        let text = tail.text();
        assert_eq!((text.lines().count(), text.lines().last()), (SHOWN_LINES, Some("line 4999")));
        let tail = StderrTail::default();
        tail.push("é".repeat(KEPT).as_bytes());
        assert!(tail.text().len() <= SHOWN_BYTES + 3 && tail.text().ends_with('é'));
    }
}
