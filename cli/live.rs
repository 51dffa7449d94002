//! The live view of `harn run`: the text of running loops as it arrives, and a status row, on
//! standard error, apart from the script's own output.
//!
//! - `view`: what is seen of the loops. `answer`: text that the script may print itself. `screen`: the rows at the foot of the terminal. `clean`: text that a terminal does
//!   not obey.

mod answer;
mod clean;
mod screen;
mod view;

use crate::report::{Format, wants_color};
use clap::ValueEnum;
use screen::ScreenSupport;
use std::io::{IsTerminal, Write};
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use stdlib::output::Terminal;
use stdlib::{Diagnostic, Live, Output};
use view::View;

/// The setting of the live view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LiveMode {
    /// If standard error is a terminal
    #[default]
    Auto,
    /// Always; if standard error is not a terminal, in whole lines and without a status line
    Always,
    /// Never
    Never,
}

/// The interval between two updates of the status.
const TICK: Duration = Duration::from_millis(250);
/// The width if the terminal's is unknown.
const WIDTH: usize = 80;

/// Shows loops at work.
pub(crate) struct LiveView {
    view: Arc<Mutex<View>>,
    /// Whether the script prints to the same terminal.
    shared: bool,
}

impl LiveView {
    /// One where people want it.
    pub(crate) fn new(when: LiveMode, format: Format) -> Option<Self> {
        let error = std::io::stderr();
        let is_terminal = error.is_terminal();
        let wanted = match when {
            LiveMode::Auto => is_terminal,
            LiveMode::Always => true,
            LiveMode::Never => false,
        };
        if !wanted || format == Format::Json {
            return None;
        }
        let cursor = is_terminal && std::env::var_os("TERM").is_some_and(|term| !term.is_empty() && term != "dumb");
        let able = ScreenSupport { cursor, color: cursor && wants_color(&error) };
        let shared = is_terminal && std::io::stdout().is_terminal();
        let view = Arc::new(Mutex::new(View::new(able, shared)));
        Some(Self { view, shared })
    }

    /// Returns the observer of the loops.
    pub(crate) fn live(&self) -> Live {
        let view = self.view.clone();
        let mut ticking = false;
        let ticker = std::cell::RefCell::new(move |view: &Arc<Mutex<View>>| {
            if !std::mem::replace(&mut ticking, true) {
                let view = Arc::downgrade(view);
                // Without a thread the status is redrawn only when text arrives.
                let _ = std::thread::Builder::new().name("status".to_owned()).spawn(move || tick(&view));
            }
        });
        Rc::new(move |sight| {
            let written = lock(&view).see(&sight, columns());
            write(&written);
            (ticker.borrow_mut())(&view);
        })
    }

    /// Returns the output that the script prints to.
    pub(crate) fn output(&self) -> Rc<dyn Output> {
        Rc::new(PrintBetweenRows { view: self.view.clone(), shared: self.shared })
    }

    /// Takes the rows away; what was left of a line is printed. An answer that `text` contains is left to it.
    pub(crate) fn end_before(&self, text: &str) {
        let mut view = lock(&self.view);
        write(&view.end(text));
    }
}

/// Redraws the status while a loop is running.
fn tick(view: &Weak<Mutex<View>>) {
    loop {
        std::thread::sleep(TICK);
        let Some(view) = view.upgrade() else { return };
        let mut view = lock(&view);
        if view.is_live() {
            write(&view.tick(columns()));
        }
    }
}

fn columns() -> usize {
    terminal_size::terminal_size_of(std::io::stderr()).map_or(WIDTH, |(width, _)| usize::from(width.0).max(1))
}

/// Writes to standard error; a closed standard error is ignored.
fn write(text: &str) {
    if !text.is_empty() {
        let mut error = std::io::stderr().lock();
        let _ = error.write_all(text.as_bytes()).and_then(|()| error.flush());
    }
}

/// Locks the view. No code panics while it holds the view.
fn lock(view: &Mutex<View>) -> MutexGuard<'_, View> {
    view.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints what the script prints between the rows.
struct PrintBetweenRows {
    view: Arc<Mutex<View>>,
    shared: bool,
}

impl PrintBetweenRows {
    /// `on_screen` says whether it goes where the rows are.
    fn print<T>(&self, on_screen: bool, text: &str, print: impl FnOnce(&Terminal) -> T) -> T {
        let mut view = lock(&self.view);
        if !on_screen {
            return print(&Terminal);
        }
        write(&view.before_print(text));
        let printed = print(&Terminal);
        write(&view.after_print(text, columns()));
        printed
    }
}

impl Output for PrintBetweenRows {
    fn out(&self, text: &str) -> std::io::Result<()> {
        self.print(self.shared, text, |terminal| terminal.out(text))
    }

    fn err(&self, text: &str) {
        self.print(true, text, |terminal| terminal.err(text));
    }

    fn diagnostic(&self, diagnostic: &Diagnostic) {
        self.print(true, "\n", |terminal| terminal.diagnostic(diagnostic));
    }
}
