//! Where a run prints.

use lang::diagnostic::Diagnostic;
use lang::diagnostic::draw::draw;
use std::cell::RefCell;
use std::io::{IsTerminal, Write};

/// Where a run prints.
pub trait Output {
    /// Standard output.
    fn out(&self, text: &str);
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
    fn out(&self, text: &str) {
        // Nobody is left to be told when standard output is gone.
        let mut stdout = std::io::stdout().lock();
        let _ = stdout.write_all(text.as_bytes());
        let _ = stdout.flush();
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
    /// What went to standard output.
    #[must_use]
    pub fn stdout(&self) -> String {
        self.out.borrow().clone()
    }

    /// What went to standard error.
    #[must_use]
    pub fn stderr(&self) -> String {
        self.err.borrow().clone()
    }
}

impl Output for Captured {
    fn out(&self, text: &str) {
        self.out.borrow_mut().push_str(text);
    }

    fn err(&self, text: &str) {
        self.err.borrow_mut().push_str(text);
    }
}
