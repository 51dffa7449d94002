//! The output of a run.

use lang::diagnostic::Diagnostic;
use lang::diagnostic::draw::draw;
use std::cell::RefCell;
use std::io::{self, IsTerminal, Write};

/// The output of a run.
pub trait Output {
    /// Standard output.
    ///
    /// # Errors
    /// The system refuses it: the disk is full, or the reader is gone.
    fn out(&self, text: &str) -> io::Result<()>;
    /// Standard error.
    fn err(&self, text: &str);
    /// A diagnostic that does not end the run.
    fn diagnostic(&self, diagnostic: &Diagnostic) {
        self.err(&draw(diagnostic, false));
    }
}

/// The real thing.
pub struct Terminal;

impl Output for Terminal {
    fn out(&self, text: &str) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush())
    }

    fn err(&self, text: &str) {
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }

    fn diagnostic(&self, diagnostic: &Diagnostic) {
        let color = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
        self.err(&draw(diagnostic, color));
    }
}

/// Keeps what was printed.
#[derive(Default)]
pub struct Captured {
    out: RefCell<String>,
    err: RefCell<String>,
}

impl Captured {
    /// Returns the text of standard output.
    #[must_use]
    pub fn stdout(&self) -> String {
        self.out.borrow().clone()
    }

    /// Returns the text of standard error.
    #[must_use]
    pub fn stderr(&self) -> String {
        self.err.borrow().clone()
    }
}

impl Output for Captured {
    fn out(&self, text: &str) -> io::Result<()> {
        self.out.borrow_mut().push_str(text);
        Ok(())
    }

    fn err(&self, text: &str) {
        self.err.borrow_mut().push_str(text);
    }
}
