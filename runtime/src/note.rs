//! [`Note`]: a diagnostic that must not end the work (a provider that threw, a hint the route cannot honour). The core
//! collects it; the loop's driver shows it, and the loop's result lists it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use base::call::CallError;
use base::codes::{CodeRef, Severity};
use base::data::Data;

/// A diagnostic that must not end the work.
#[derive(Debug, Clone)]
pub struct Note {
    /// The diagnostic code, if there is one.
    pub code: Option<CodeRef>,
    /// Severity of the note.
    pub severity: Severity,
    /// The message, a whole sentence or phrase.
    pub message: String,
    /// Subject of the note: the id of a provider, the pattern of a hook, a route.
    pub about: Option<Arc<str>>,
    /// The error that was thrown; `stdlib` takes span and stack from it.
    pub fault: Option<Rc<dyn CallError>>,
}

impl Note {
    /// Creates a note about a fault.
    pub fn of_fault(about: impl Into<Arc<str>>, fault: Rc<dyn CallError>) -> Note {
        let (code, said) = (fault.code(), fault.to_string());
        // The code has a field of its own.
        let message =
            code.and_then(|code| said.strip_prefix(code.as_str())?.strip_prefix(": ")).unwrap_or(&said).to_owned();
        Note { code, severity: Severity::Error, message, about: Some(about.into()), fault: Some(fault) }
    }

    /// Converts the note to a dict for the loop's result.
    #[must_use]
    pub fn to_data(&self) -> Data {
        Data::dict_of_present([
            ("code", self.code.map(CodeRef::as_str).into()),
            ("severity", self.severity.as_str().into()),
            ("message", Data::from(self.message.as_str())),
            ("about", self.about.clone().into()),
        ])
    }
}

/// The notes of a piece of work, such as a loop with all its nested loops. A daemon may run for months, so at most
/// [`Notes::CAPACITY`] are kept; later ones are counted.
#[derive(Debug, Default)]
pub struct Notes {
    kept: RefCell<Vec<Note>>,
    dropped: Cell<usize>,
}

/// A position among the notes of a piece of work.
#[derive(Debug, Clone, Copy)]
pub struct NoteMark {
    kept: usize,
    dropped: usize,
}

impl Notes {
    /// Maximum number of notes kept.
    pub const CAPACITY: usize = 1_000;

    /// Adds a note.
    pub fn push(&self, note: Note) {
        let mut kept = self.kept.borrow_mut();
        match kept.len() < Self::CAPACITY {
            true => kept.push(note),
            false => self.dropped.set(self.dropped.get() + 1),
        }
    }

    /// Returns the position after the last note.
    pub(crate) fn mark(&self) -> NoteMark {
        NoteMark { kept: self.kept.borrow().len(), dropped: self.dropped.get() }
    }

    /// Returns the notes added after a position. The last one reports how many were dropped, if any.
    pub(crate) fn since(&self, mark: NoteMark) -> Vec<Note> {
        let kept = self.kept.borrow();
        let dropped = self.dropped.get().saturating_sub(mark.dropped);
        let last = (dropped > 0).then(|| Note {
            code: None,
            severity: Severity::Warning,
            message: format!("{dropped} more diagnostics were dropped; at most {} are kept", Self::CAPACITY),
            about: None,
            fault: None,
        });
        kept.get(mark.kept..).unwrap_or_default().iter().cloned().chain(last).collect()
    }

    /// Returns all notes. The last one reports how many were dropped, if any.
    #[must_use]
    pub fn all(&self) -> Vec<Note> {
        self.since(NoteMark { kept: 0, dropped: 0 })
    }

    /// Removes and returns all notes, like [`Notes::all`].
    pub fn take(&self) -> Vec<Note> {
        let all = self.all();
        self.kept.take();
        self.dropped.set(0);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(message: &str) -> Note {
        Note { code: None, severity: Severity::Info, message: message.to_owned(), about: None, fault: None }
    }

    #[test]
    fn notes_beyond_the_capacity_are_counted() {
        let notes = Notes::default();
        notes.push(note("first"));
        let mark = notes.mark();
        assert!(notes.since(mark).is_empty());
        (0..Notes::CAPACITY + 41).for_each(|n| notes.push(note(&n.to_string())));
        let since = notes.since(mark);
        assert_eq!(since.len(), Notes::CAPACITY, "all but the first, and the note of those that were dropped");
        assert_eq!((&*since[0].message, since.last().unwrap().severity), ("0", Severity::Warning));
        assert_eq!(since.last().unwrap().message, "42 more diagnostics were dropped; at most 1000 are kept");
        assert_eq!(notes.since(notes.mark()).len(), 0, "of those that were dropped before nothing is said again");
        assert_eq!((notes.take().len(), notes.all().len()), (Notes::CAPACITY + 1, 0));
    }
}
