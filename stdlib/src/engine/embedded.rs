//! The use of an engine by a Rust program: it binds values to names, evaluates texts, and calls
//! functions.

use super::{Engine, closure, errors};
use crate::failed_loop::Told;
use crate::rhai_front_end::is_rhai;
use lang::diagnostic::Diagnostic;
use lang::resolve::{Outer, Role};
use lang::script::Options;
use lang::source::SourceRef;
use lang::value::Value;
use lang::vm::Raise;

/// The outcome of [`Engine::evaluate`].
pub enum Evaluated {
    /// The text has errors, so it did not run. Text in Rhai is never evaluated.
    Invalid {
        /// All errors found.
        diagnostics: Vec<Diagnostic>,
        /// The text has an error only because it ends too early.
        incomplete: bool,
    },
    /// The text ran.
    Ran {
        /// The value of its last expression, or what it raised.
        result: Result<Value, Box<Raise>>,
        /// Errors that did not keep it from running.
        diagnostics: Vec<Diagnostic>,
    },
}

impl Engine {
    /// Binds a value to a name that later texts can read. A name that is bound already is bound anew.
    pub fn bind(&self, name: &str, value: Value) {
        let slot = self.isolate.add_globals(1);
        self.isolate.set_global(slot, value);
        self.types.borrow_mut().forget(name);
        self.remember(vec![Outer { name: name.into(), variable: false, slot, origin: None, builtin: None, def: None }]);
    }

    /// Whether a builtin has this name.
    #[must_use]
    pub fn is_builtin(&self, name: &str) -> bool {
        self.isolate.registry().find("", name).is_some()
    }

    /// Checks and runs a text in Harn for the value of its last expression; its names stay.
    #[must_use]
    pub fn evaluate(&self, source: &SourceRef) -> Evaluated {
        let invalid = |diagnostics, incomplete| Evaluated::Invalid { diagnostics, incomplete };
        if is_rhai(source) {
            return invalid(Vec::new(), false);
        }
        if let Err(diagnostics) = self.start_packs(source) {
            return invalid(diagnostics, false);
        }
        let parsed = lang::parse::parse(source);
        if parsed.incomplete {
            return invalid(parsed.diagnostics, true);
        }
        let outer = self.names.borrow().clone();
        let options = Options { outer: &outer, role: Role::Piece, ..Options::default() };
        let loaded = self.load(source, Options { session: Some(&self.types.borrow()), ..options });
        let diagnostics = errors(loaded.diagnostics);
        let Some(unit) = loaded.unit else { return invalid(diagnostics, false) };
        self.start_watch();
        let result = self.evaluate_files(&unit.before).and_then(|()| self.call(closure(&unit.main), Vec::new()));
        // Also after an error: what was bound before it stays.
        if let Some((exports, types)) = loaded.exported {
            self.types.borrow_mut().add(types, &exports, unit.globals.iter().map(|bound| &bound.name));
        }
        self.remember(unit.globals);
        Evaluated::Ran { result, diagnostics }
    }

    /// The value of a name: one that a text or [`Self::bind`] has bound, else a builtin, by its full name (`event_log.read`).
    #[must_use]
    pub fn value_of(&self, name: &str) -> Option<Value> {
        if let Some(bound) = self.names.borrow().iter().find(|outer| outer.name == name) {
            return Some(match bound.builtin {
                Some(row) => Value::Builtin(row),
                None => self.isolate.global(bound.slot),
            });
        }
        let (module, name) = name.rsplit_once('.').unwrap_or(("", name));
        self.isolate.registry().find(module, name).filter(|row| !row.is_method()).map(Value::Builtin)
    }

    /// Calls a function and waits until it returns. Its time is limited like that of a text.
    ///
    /// # Errors
    /// Returns the raise of the function.
    pub fn call_function(&self, function: Value, args: Vec<Value>) -> Result<Value, Box<Raise>> {
        self.start_watch();
        self.call(function, args)
    }

    /// Takes the errors of agent loops and workers that failed and that the script has not handled.
    #[must_use]
    pub fn take_unhandled_failures(&self) -> Vec<Diagnostic> {
        self.world.stop.failures.take(Told::OtherReader)
    }
}
