//! Colour for terminals.

use std::io::IsTerminal;

/// Paints text, or leaves it alone.
#[derive(Clone, Copy)]
pub(super) struct Paint {
    on: bool,
}

impl Paint {
    /// Colour where the stream is a terminal whose owner wants it.
    pub(super) fn of(to: &impl IsTerminal) -> Paint {
        Paint { on: super::is_colourful(to) }
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.on { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    pub(super) fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    pub(super) fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    /// Colours a beginning.
    pub(super) fn green(self, text: &str) -> String {
        self.wrap("32", text)
    }

    /// Colours a request.
    pub(super) fn blue(self, text: &str) -> String {
        self.wrap("34", text)
    }

    /// Colours an end.
    pub(super) fn magenta(self, text: &str) -> String {
        self.wrap("35", text)
    }

    /// Colours a failure.
    pub(super) fn red(self, text: &str) -> String {
        self.wrap("31", text)
    }

    /// A hint.
    pub(super) fn cyan(self, text: &str) -> String {
        self.wrap("36", text)
    }
}
