//! The progress of commands that take longer than a second: a line on standard error, if that is a terminal.

use crate::report::visible;
use std::io::{IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use unicode_width::UnicodeWidthChar;

/// The time after which the line appears.
const AFTER: Duration = Duration::from_secs(1);
/// The interval between two updates of the line.
const TICK: Duration = Duration::from_millis(100);
/// The width if the terminal's is unknown.
const WIDTH: usize = 80;

/// The line; it is removed when this is dropped.
pub(crate) struct ProgressLine {
    /// A verb: `formatting`.
    verb: &'static str,
    /// The number of steps, if known.
    total: Option<usize>,
    is_shown: bool,
    state: Mutex<ProgressState>,
}

struct ProgressState {
    done: usize,
    due: Instant,
    /// Whether the line is on the screen.
    is_drawn: bool,
}

impl ProgressLine {
    /// Starts to count. A command that does not own the process shows nothing.
    pub(crate) fn new(verb: &'static str, total: Option<usize>, owns_process: bool) -> Self {
        let is_shown = owns_process && std::io::stderr().is_terminal();
        let state = ProgressState { done: 0, due: Instant::now() + AFTER, is_drawn: false };
        Self { verb, total, is_shown, state: Mutex::new(state) }
    }

    /// Counts a step that begins, named for people.
    pub(crate) fn step(&self, name: &str) {
        if !self.is_shown {
            return;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.done += 1;
        let now = Instant::now();
        if now >= state.due {
            state.due = now + TICK;
            state.is_drawn = true;
            let columns = terminal_size::terminal_size_of(std::io::stderr());
            let width = columns.map_or(WIDTH, |(width, _)| usize::from(width.0));
            write(&format!("\r\u{1b}[2K{}", line(self.verb, state.done, self.total, name, width)));
        }
    }

    /// Removes the line and prints something else in its place. No step draws before that is printed.
    pub(crate) fn above(&self, print: impl FnOnce()) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::take(&mut state.is_drawn) {
            write("\r\u{1b}[2K");
        }
        print();
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.above(|| {});
    }
}

/// Writes to standard error; a closed standard error is ignored.
fn write(text: &str) {
    let mut error = std::io::stderr().lock();
    let _ = error.write_all(text.as_bytes()).and_then(|()| error.flush());
}

/// Returns the line, which leaves the last column free so that no terminal wraps it.
fn line(verb: &str, done: usize, total: Option<usize>, name: &str, width: usize) -> String {
    let of = total.map_or_else(String::new, |total| format!("/{total}"));
    let text = visible(&format!("{verb} {done}{of} {name}"));
    let mut used = 0;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used < width
    };
    text.chars().take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_fits_and_shows_names_as_text() {
        assert_eq!(line("formatting", 3, Some(12), "a.harn", 80), "formatting 3/12 a.harn");
        assert_eq!(line("formatting", 3, Some(12), "a.harn", 14), "formatting 3/");
        assert_eq!(line("formatting", 1, Some(1), "a\u{1b}[2Jb", 80), "formatting 1/1 a␛[2Jb");
        assert_eq!(line("checking", 1, Some(1), "漢字", 16), "checking 1/1 漢");
        assert_eq!(line("exporting", 7, None, "records", 80), "exporting 7 records");
    }
}
