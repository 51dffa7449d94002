//! [`Console`]: the printed output of a run.

use crate::fault::as_diagnostic;
use crate::output::Output;
use lang::vm::Raise;
use runtime::note::Note;
use runtime::seen_texts::SeenTexts;
use std::cell::RefCell;
use std::io;
use std::rc::Rc;

/// Maximum number of texts that are remembered as shown.
const MAX_SHOWN: usize = 4_096;

/// The output of a run. It shows each note once, and keeps the first error of writing to standard output.
pub(crate) struct Console {
    pub(crate) output: Rc<dyn Output>,
    /// The first error of writing to standard output.
    unwritten: RefCell<Option<io::Error>>,
    /// Notes shown once each.
    shown: RefCell<SeenTexts>,
}

impl Console {
    pub(super) fn new(output: Rc<dyn Output>) -> Console {
        Console { output, unwritten: RefCell::default(), shown: RefCell::new(SeenTexts::new(MAX_SHOWN)) }
    }

    /// Prints to standard output. An error ends the run.
    pub(super) fn print(&self, text: &str) -> Result<(), Box<Raise>> {
        self.output.out(text).map_err(|error| {
            let raise = Raise::exit(exit_code_of(&error));
            self.unwritten.borrow_mut().get_or_insert(error);
            raise
        })
    }

    /// Returns whether writing to standard output failed.
    pub(crate) fn has_unwritten(&self) -> bool {
        self.unwritten.borrow().is_some()
    }

    /// Takes the first error of writing to standard output.
    pub(crate) fn take_unwritten(&self) -> Option<io::Error> {
        self.unwritten.borrow_mut().take()
    }

    /// Shows a note on standard error, each one once.
    pub(crate) fn show(&self, note: &Note) {
        let key = format!("{:?} {:?} {}", note.code, note.about, note.message);
        if self.shown.borrow_mut().insert(key) {
            self.output.diagnostic(&as_diagnostic(note));
        }
    }

    /// Prints a text on standard error once.
    pub(crate) fn say_once(&self, text: &str) {
        if self.shown.borrow_mut().insert(text.to_owned()) {
            self.output.err(&format!("{text}\n"));
        }
    }
}

/// Returns the exit code of a run that could not write to standard output. If the reader is gone, it is that of a
/// process that the signal ends: 128 and its number.
pub(crate) fn exit_code_of(unwritten: &io::Error) -> i32 {
    const SIGPIPE: i32 = 13;
    if unwritten.kind() == io::ErrorKind::BrokenPipe { 128 + SIGPIPE } else { 1 }
}
