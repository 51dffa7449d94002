//! A REPL session: pieces of text that share their names, in either language.

use super::unset::names_of;
use super::{Engine, Evaluated};
use crate::failed_loop::{Told, last_words};
use crate::interrupt::CutShort;
use crate::rhai_front_end::{Session, Unread, is_rhai, names_of_builtins};
use lang::builtins::Builtin;
use lang::diagnostic::{Diagnostic, Severity};
use lang::resolve::Outer;
use lang::source::SourceRef;
use lang::value::{Value, inspect_within};
use lang::vm::{Context, Raise, Why, begin_anew};
use std::rc::Rc;

/// The name of the last value that a piece had.
pub(super) const LAST: &str = "_";

/// The result of a piece in a REPL session.
#[derive(Default)]
pub struct Piece {
    /// The value of its last expression as text; nothing for nil.
    pub value: Option<String>,
    /// Everything found.
    pub diagnostics: Vec<Diagnostic>,
    /// It fails only because it ends too early.
    pub incomplete: bool,
    /// It called `exit`.
    pub exit: Option<i32>,
    /// The loops that were cut short, if the piece was interrupted.
    pub interrupted: Option<Vec<CutShort>>,
}

impl Engine {
    /// Runs a piece of a session; its names stay.
    #[must_use]
    pub fn piece(&self, source: &SourceRef) -> Piece {
        if is_rhai(source) {
            if let Err(diagnostics) = self.start_packs(source) {
                return Piece { diagnostics, ..Piece::default() };
            }
            return match self.front_end().piece(self.session(), source) {
                Ok(piece) => {
                    self.isolate.start_watch();
                    let piece = self.came_to(self.call(piece, Vec::new()), Vec::new());
                    let session = self.session();
                    self.with_unset(source, piece, true, self.front_end().names_bound_by(source), |name| {
                        session.is_bound(name)
                    })
                }
                Err(Unread { incomplete, diagnostics }) => {
                    let piece = Piece { diagnostics, incomplete, ..Piece::default() };
                    self.with_unset(source, piece, false, Vec::new(), |name| self.session().is_bound(name))
                }
            };
        }
        let (piece, ran) = match self.evaluate(source) {
            Evaluated::Invalid { diagnostics, incomplete } => {
                (Piece { diagnostics, incomplete, ..Piece::default() }, false)
            }
            Evaluated::Ran { result, diagnostics } => (self.came_to(result, diagnostics), true),
        };
        self.with_unset(source, piece, ran, names_of(source), |name| self.has_value(name))
    }

    fn came_to(&self, result: Result<Value, Box<Raise>>, mut diagnostics: Vec<Diagnostic>) -> Piece {
        let (mut value, mut exit) = (None, None);
        match result {
            Ok(Value::Nil) => {}
            Ok(v) => {
                value = Some(inspect_within(&v, self.shown_depth.get()));
                self.keep_last(v);
            }
            Err(raise) => match raise.why {
                Why::Exit(code) => {
                    exit = Some(code);
                    diagnostics.extend(raise.clean_up.map(|raise| raise.to_diagnostic()));
                }
                Why::Cancelled | Why::Abandoned if self.world.is_interrupted() => {
                    diagnostics.extend(raise.clean_up.map(|raise| raise.to_diagnostic()));
                }
                _ => diagnostics.push(last_words(&raise)),
            },
        }
        // The piece has run: the next one can still look at the result.
        let unhandled = self.world.stop.failures.take(Told::SameReader).into_iter();
        diagnostics.extend(unhandled.map(|failed| failed.with_severity(Severity::Warning)));
        diagnostics.extend(self.settle_log());
        let interrupted = self.interrupted();
        if interrupted.is_some() {
            self.begin_anew();
        }
        Piece { value, diagnostics, incomplete: false, exit, interrupted }
    }

    /// Binds the name of the last value.
    fn keep_last(&self, value: Value) {
        let known = self.names.borrow().iter().find(|outer| outer.name == LAST).map(|outer| outer.slot);
        match known {
            Some(slot) => self.isolate.set_global(slot, value),
            None => self.bind(LAST, value),
        }
    }

    /// Sets the number of levels of nesting that the text of a piece's value shows.
    pub fn show_depth(&self, depth: usize) {
        self.shown_depth.set(depth);
    }

    /// Starts a new context, since the interrupted piece is over and the next is not.
    fn begin_anew(&self) {
        let context = Rc::<Context>::default();
        begin_anew(&self.isolate, &context.task);
        *self.context.borrow_mut() = context;
        if let Some(interrupt) = &self.world.stop.interrupt {
            interrupt.reset();
        }
    }

    /// Returns the state that the pieces in Rhai share.
    pub(super) fn session(&self) -> &Rc<Session> {
        self.session.get_or_init(|| Session::new(self.front_end(), self.constants()))
    }

    pub(super) fn remember(&self, globals: Vec<Outer>) {
        let mut names = self.names.borrow_mut();
        for new in globals {
            names.retain(|old| old.name != new.name);
            names.push(new);
        }
    }

    /// Names for completion: builtins with their namespaces, and those of the session.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let builtins = self.isolate.registry().all().filter(|row| !row.is_method()).map(Builtin::full_name);
        let bound = self.names.borrow();
        let bound = bound.iter().map(|o| o.name.to_string()).filter(|name| name != LAST);
        let mut names: Vec<String> = builtins.chain(bound).collect();
        names.sort();
        names
    }

    /// Returns the names that the session has bound.
    #[must_use]
    pub(crate) fn bound_names(&self) -> Vec<String> {
        let names = self.names.borrow();
        names.iter().map(|outer| outer.name.to_string()).filter(|name| name != LAST).collect()
    }

    /// Returns the names of a session in Rhai.
    #[must_use]
    pub fn names_in_rhai(&self) -> Vec<String> {
        // Before the first piece there is no session, and completion does not create one.
        let session = self.session.get().map(|session| session.names()).unwrap_or_default();
        let mut names: Vec<String> = names_of_builtins().chain(session).collect();
        names.sort();
        names.dedup();
        names
    }
}
