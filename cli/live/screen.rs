//! The rows at the foot of the terminal: the text that is not printed yet, and the status. They are wiped before anything else is
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
    /// Rows of text that may still change.
    coming: Vec<String>,
    status: String,
}

impl Screen {
    /// Creates a screen with nothing drawn.
    pub(super) fn new(able: ScreenSupport) -> Self {
        Self { able, drawn: 0, open: false, coming: Vec::new(), status: String::new() }
    }

    /// Sets the texts of the rows; an empty status hides its row. Returns whether anything changed.
    pub(super) fn set(&mut self, coming: Vec<String>, status: &str) -> bool {
        let changed = self.coming != coming || self.status != status;
        self.coming = coming;
        status.clone_into(&mut self.status);
        changed
    }

    /// Takes the rows away.
    pub(super) fn wipe(&mut self, out: &mut String) {
        for row in 0..std::mem::take(&mut self.drawn) {
            out.push_str(if row == 0 { "\r\x1b[2K" } else { "\x1b[1A\x1b[2K" });
        }
    }

    /// Returns whether rows can be drawn and taken away again.
    pub(super) const fn has_rows(&self) -> bool {
        self.able.cursor
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
        if !self.able.cursor || self.open {
            return;
        }
        // The last column stays free: some terminals would go on in the next row.
        let most = columns.saturating_sub(1);
        for row in &self.coming {
            let between = if self.drawn == 0 { "" } else { "\n" };
            let _ = write!(out, "{between}{}", cut(row, most));
            self.drawn += 1;
        }
        if !self.status.is_empty() {
            let between = if self.drawn == 0 { "" } else { "\n" };
            let status = cut(&self.status, most);
            let (dim, plain) = if self.able.color { ("\x1b[2m", "\x1b[0m") } else { ("", "") };
            let _ = write!(out, "{between}{dim}{status}{plain}");
            self.drawn += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: ScreenSupport = ScreenSupport { cursor: true, color: false };

    fn rows(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

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
        screen.set(rows(&[]), "turn 1");
        assert_eq!(step(&mut screen, |_, _| {}), "turn 1");
        screen.set(rows(&["hello wor"]), "turn 1");
        assert_eq!(step(&mut screen, |_, _| {}), "\r\x1b[2Khello wor\nturn 1");
        screen.set(rows(&[]), "turn 1");
        assert_eq!(
            step(&mut screen, |screen, out| screen.line("", "hello world", out)),
            "\r\x1b[2K\x1b[1A\x1b[2Khello world\nturn 1"
        );
        screen.set(rows(&["kept", "rows"]), "");
        assert_eq!(step(&mut screen, |_, _| {}), "\r\x1b[2Kkept\nrows");
        screen.set(rows(&[]), "");
        assert_eq!(step(&mut screen, |_, _| {}), "\r\x1b[2K\x1b[1A\x1b[2K");
        assert_eq!(step(&mut screen, |_, _| {}), "");
    }

    #[test]
    fn an_open_line_of_the_script_is_left_alone_until_text_comes() {
        let mut screen = Screen::new(PLAIN);
        screen.set(rows(&[]), "turn 1");
        screen.printed("working…");
        assert_eq!(step(&mut screen, |_, _| {}), "");
        assert_eq!(step(&mut screen, |screen, out| screen.line("a", "text", out)), "\na | text\nturn 1");
        screen.printed("x\n");
        assert_eq!(step(&mut screen, |_, _| {}), "\r\x1b[2Kturn 1");
    }

    #[test]
    fn rows_are_as_wide_as_the_terminal_at_most() {
        let mut screen = Screen::new(PLAIN);
        screen.set(rows(&[]), "a status that is much too long");
        assert_eq!(step(&mut screen, |_, _| {}), "a status that is mu");
        let mut narrow = Screen::new(PLAIN);
        narrow.set(rows(&["coming"]), "status");
        let mut out = String::new();
        narrow.draw(5, &mut out);
        assert_eq!(out, "comi\nstat");
        let mut dumb = Screen::new(ScreenSupport { cursor: false, color: false });
        dumb.set(rows(&["coming"]), "status");
        assert_eq!(step(&mut dumb, |screen, out| screen.line("", "whole", out)), "whole\n");
    }
}
