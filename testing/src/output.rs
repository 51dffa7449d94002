//! The output of a test: kept, and shown if it fails. Problems that did not end the test are kept apart.

use std::cell::{Cell, RefCell};
use std::io;
use stdlib::{Diagnostic, Output, Severity, draw};

/// Bytes that are kept of the output of one test.
const MOST: usize = 256 << 10;
/// Problems that are kept of one test; further ones are part of its output.
const MOST_NOTED: usize = 20;

/// The output of a test, both streams in the order of writing.
#[derive(Default)]
pub(crate) struct TestOutput {
    text: RefCell<String>,
    cut: Cell<usize>,
    /// Problems that handlers and providers reported.
    noted: RefCell<Vec<Diagnostic>>,
}

impl TestOutput {
    /// Returns what was printed, with a last line about what was left out.
    pub(crate) fn text(&self) -> String {
        let text = self.text.borrow();
        match self.cut.get() {
            0 => text.clone(),
            cut => format!("{text}\n… {cut} more bytes\n"),
        }
    }

    /// Takes what handlers, providers and the mock model reported, as warnings.
    pub(crate) fn take_noted(&self) -> Vec<Diagnostic> {
        self.noted.take()
    }

    fn put(&self, text: &str) {
        let mut kept = self.text.borrow_mut();
        let room = MOST.saturating_sub(kept.len());
        let end = text.floor_char_boundary(room.min(text.len()));
        kept.push_str(&text[..end]);
        self.cut.set(self.cut.get().saturating_add(text.len() - end));
    }
}

impl Output for TestOutput {
    fn out(&self, text: &str) -> io::Result<()> {
        self.put(text);
        Ok(())
    }

    fn err(&self, text: &str) {
        self.put(text);
    }

    fn diagnostic(&self, diagnostic: &Diagnostic) {
        let mut noted = self.noted.borrow_mut();
        if diagnostic.severity == Severity::Info || noted.len() >= MOST_NOTED {
            return self.put(&draw(diagnostic, false));
        }
        noted.push(Diagnostic { severity: Severity::Warning, ..diagnostic.clone() });
    }
}
