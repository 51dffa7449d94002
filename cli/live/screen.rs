//! The rows at the foot of the terminal: the line that is coming in, and the status. They are wiped before anything else is
//! printed and drawn again behind it.

use super::clean::cut;
use std::fmt::Write;

/// The capabilities of a terminal.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScreenSupport {
    /// The cursor can be moved; else only whole lines are printed.
    pub(super) cursor: bool,
    /// Colours are wanted.
    pub(super) color: bool,
}

/// The rows of the live view. Every change returns the text that the terminal must receive.
#[derive(Debug)]
pub(super) struct Screen {
    able: ScreenSupport,
    /// The number of rows that are drawn.
    drawn: usize,
    /// The script's own output has ended in the middle of a line.
    open: bool,
    coming: String,
    status: String,
}

impl Screen {
    /// Creates a screen with nothing drawn.
    pub(super) fn new(able: ScreenSupport) -> Self {
        Self { able, drawn: 0, open: false, coming: String::new(), status: String::new() }
    }

    /// Sets the texts of the rows; an empty status hides its row. Returns whether anything changed.
    pub(super) fn set(&mut self, coming: &str, status: &str) -> bool {
        let changed = self.coming != coming || self.status != status;
        coming.clone_into(&mut self.coming);
        status.clone_into(&mut self.status);
        changed
    }

    /// Takes the rows away.
    pub(super) fn wipe(&mut self, out: &mut String) {
        for row in 0..std::mem::take(&mut self.drawn) {
            out.push_str(if row == 0 { "\r\x1b[2K" } else { "\x1b[1A\x1b[2K" });
        }
    }

    /// Prints a line above the rows, which must be wiped.
    pub(super) fn line(&mut self, name: &str, text: &str, out: &mut String) {
        if std::mem::take(&mut self.open) {
            out.push('\n');
        }
        let _ = match (name.is_empty(), self.able.color) {
            (true, _) => writeln!(out, "{text}"),
            (false, false) => writeln!(out, "{name} | {text}"),
            (false, true) => writeln!(out, "\x1b[36m{name} |\x1b[0m {text}"),
        };
    }

    /// The script has printed this; the rows were wiped.
    pub(super) fn printed(&mut self, text: &str) {
        if let Some(last) = text.chars().next_back() {
            self.open = last != '\n';
        }
    }

    /// Draws the rows again, unless a line of the script is open: it may go on.
    pub(super) fn draw(&mut self, columns: usize, out: &mut String) {
        if !self.able.cursor || self.open || self.status.is_empty() {
            return;
        }
        // The last column stays free: some terminals would go on in the next row.
        let most = columns.saturating_sub(1);
        if !self.coming.is_empty() {
            let _ = writeln!(out, "{}", cut(&self.coming, most));
            self.drawn += 1;
        }
        let status = cut(&self.status, most);
        let _ = if self.able.color { write!(out, "\x1b[2m{status}\x1b[0m") } else { write!(out, "{status}") };
        self.drawn += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: ScreenSupport = ScreenSupport { cursor: true, color: false };

    fn step(screen: &mut Screen, change: impl FnOnce(&mut Screen, &mut String)) -> String {
        let mut out = String::new();
        screen.wipe(&mut out);
        change(screen, &mut out);
        screen.draw(20, &mut out);
        out
    }

    #[test]
    fn rows_are_wiped_before_a_line_and_drawn_behind_it() {
        let mut screen = Screen::new(PLAIN);
        screen.set("", "turn 1");
        assert_eq!(step(&mut screen, |_, _| {}), "turn 1");
        screen.set("hello wor", "turn 1");
        assert_eq!(step(&mut screen, |_, _| {}), "\r\x1b[2Khello wor\nturn 1");
        screen.set("", "turn 1");
        assert_eq!(
            step(&mut screen, |screen, out| screen.line("", "hello world", out)),
            "\r\x1b[2K\x1b[1A\x1b[2Khello world\nturn 1"
        );
        screen.set("", "");
        assert_eq!(step(&mut screen, |_, _| {}), "\r\x1b[2K");
        assert_eq!(step(&mut screen, |_, _| {}), "");
    }

    #[test]
    fn an_open_line_of_the_script_is_left_alone_until_text_comes() {
        let mut screen = Screen::new(PLAIN);
        screen.set("", "turn 1");
        screen.printed("working…");
        assert_eq!(step(&mut screen, |_, _| {}), "");
        assert_eq!(step(&mut screen, |screen, out| screen.line("a", "text", out)), "\na | text\nturn 1");
        screen.printed("x\n");
        assert_eq!(step(&mut screen, |_, _| {}), "\r\x1b[2Kturn 1");
    }

    #[test]
    fn rows_are_as_wide_as_the_terminal_at_most() {
        let mut screen = Screen::new(PLAIN);
        screen.set("", "a status that is much too long");
        assert_eq!(step(&mut screen, |_, _| {}), "a status that is mu");
        let mut narrow = Screen::new(PLAIN);
        narrow.set("coming", "status");
        let mut out = String::new();
        narrow.draw(5, &mut out);
        assert_eq!(out, "comi\nstat");
        let mut dumb = Screen::new(ScreenSupport { cursor: false, color: false });
        dumb.set("coming", "status");
        assert_eq!(step(&mut dumb, |screen, out| screen.line("", "whole", out)), "whole\n");
    }
}
