//! A session in Rhai: pieces of text, typed one after another, that share their names.

use super::RhaiFrontEnd;
use super::convert::{ConversionContext, to_dynamic};
use super::errors::{diagnostics_of, outcome_of, span_at};
use super::offer::name_in_rhai;
use super::once::Once;
use super::script::{Constants, call_of, call_of_main, first, text_of};
use super::task::described;
use crate::table::registry;
use lang::diagnostic::Diagnostic;
use lang::source::SourceRef;
use lang::value::Value;
use lang::vm::Outcome;
use rhai::{
    AST, Caches, GlobalRuntimeState, LexError, NativeCallContext, ParseError, ParseErrorType, Position, Scope, Stmt,
};
use std::cell::RefCell;
use std::rc::Rc;

/// The state that the pieces of a session share.
pub(crate) struct Session(RefCell<Names>);

struct Names {
    scope: Scope<'static>,
    /// The imports, and the functions of each piece, those of the newest last.
    global: GlobalRuntimeState,
}

/// A piece that cannot be run.
pub(crate) struct Unread {
    /// Whether it fails only because it ends too early.
    pub(crate) incomplete: bool,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl Session {
    /// One that knows the constants.
    pub(crate) fn new(front_end: &Rc<RhaiFrontEnd>, constants: Constants) -> Rc<Self> {
        let mut scope = Scope::new();
        for (name, value) in constants {
            scope.push_constant_dynamic(name, to_dynamic(value, front_end));
        }
        Rc::new(Self(RefCell::new(Names { scope, global: front_end.engine().new_global_runtime_state() })))
    }

    /// Lets go of what it holds: what a closure captured may hold the session's run.
    pub(crate) fn close(&self) {
        let mut shared = self.0.borrow_mut();
        shared.scope.clear();
        shared.global.lib.clear();
    }

    /// Returns whether a variable has a name.
    pub(crate) fn is_bound(&self, name: &str) -> bool {
        self.0.borrow().scope.contains(name)
    }

    /// The names of variables, functions and imports.
    pub(crate) fn names(&self) -> Vec<String> {
        let shared = self.0.borrow();
        let functions = shared.global.lib.iter().flat_map(|module| module.iter_script_fn_info());
        let functions =
            functions.map(|(.., name, _, _)| name.to_owned()).filter(|name| rhai::is_valid_identifier(name));
        let variables = shared.scope.iter_raw().map(|(name, ..)| name.to_owned());
        let imported = shared.global.iter_imports().map(|(name, _)| format!("{name}::"));
        functions.chain(variables).chain(imported).collect()
    }
}

/// The builtins, as scripts in Rhai write them.
pub(crate) fn builtins() -> impl Iterator<Item = String> {
    let rows = registry().all().filter(|row| !row.is_method()).map(|row| match row.module {
        "" => name_in_rhai(row.name),
        module => format!("{module}::{}", name_in_rhai(row.name)),
    });
    rows.chain(described().map(|(name, ..)| name.to_owned()))
}

impl RhaiFrontEnd {
    /// Returns the names of the variables that the statements of a piece declare.
    pub(crate) fn names_bound_by(&self, source: &SourceRef) -> Vec<String> {
        let Ok(ast) = self.engine().compile(text_of(source)) else { return Vec::new() };
        let declared = |stmt: &Stmt| if let Stmt::Var(var, ..) = stmt { Some(var.0.name.to_string()) } else { None };
        ast.statements().iter().filter_map(declared).collect()
    }

    /// Returns a piece of a session as a function of the run, which returns the value of its last
    /// expression.
    ///
    /// # Errors
    /// Returns the errors, and whether more input would fix them.
    pub(crate) fn piece(self: &Rc<Self>, session: &Rc<Session>, source: &SourceRef) -> Result<Value, Unread> {
        self.know(source);
        match self.engine().compile(text_of(source)) {
            Ok(mut ast) => {
                ast.set_source(source.name());
                Ok(self.function(session, ast, false))
            }
            Err(error) => {
                let incomplete = ends_too_early(&error, source);
                Err(Unread { incomplete, diagnostics: diagnostics_of(&error, source) })
            }
        }
    }
}

impl RhaiFrontEnd {
    /// A call of the `main` of a session's script, with those of the constants that it names, as a function of the run. It
    /// leaves no names behind.
    pub(crate) fn call_main(
        self: &Rc<Self>,
        session: &Rc<Session>,
        source: &SourceRef,
        params: &[String],
        constants: Constants,
    ) -> Value {
        let call = self.engine().compile(call_of_main(params, &constants)).unwrap_or_default();
        let mut ast = first(constants, self).merge(&call);
        ast.set_source(source.name());
        self.function(session, ast, true)
    }

    /// A call of another function of a session's script, as a function of the run.
    pub(crate) fn call_function(
        self: &Rc<Self>,
        session: &Rc<Session>,
        source: &SourceRef,
        function: &str,
        args: Vec<Value>,
    ) -> Value {
        let (call, constants) = call_of(function, args);
        let call = self.engine().compile(call).unwrap_or_default();
        let mut ast = first(constants, self).merge(&call);
        ast.set_source(source.name());
        self.function(session, ast, true)
    }

    fn function(self: &Rc<Self>, session: &Rc<Session>, ast: AST, passes: bool) -> Value {
        let piece = SessionPiece { front_end: self.clone(), session: session.clone(), ast, passes };
        Once::value(move || piece.run())
    }
}

/// Whether more text could mend it: a bracket, block or text is open at the end, or something is missing there.
fn ends_too_early(error: &ParseError, source: &SourceRef) -> bool {
    let end = source.text().trim_end().len();
    let at = span_at(source, error.position()).map_or(end, |span| span.start as usize);
    match error.err_type() {
        ParseErrorType::UnexpectedEOF => true,
        // Only a text in backticks goes on in the next line.
        ParseErrorType::BadInput(LexError::UnterminatedString) => source.text()[at..].starts_with('`'),
        ParseErrorType::BadInput(_) => false,
        _ => at >= end,
    }
}

/// A piece that will run once.
struct SessionPiece {
    front_end: Rc<RhaiFrontEnd>,
    session: Rc<Session>,
    ast: AST,
    /// It leaves no names behind.
    passes: bool,
}

/// The names while a piece runs with them. They come back also where its stack is unwound.
struct TakenNames<'a> {
    session: &'a Session,
    scope: Scope<'static>,
    /// The number of names that are kept.
    kept: usize,
}

impl Drop for TakenNames<'_> {
    fn drop(&mut self) {
        self.scope.rewind(self.kept);
        self.session.0.borrow_mut().scope = std::mem::take(&mut self.scope);
    }
}

impl SessionPiece {
    /// Runs the piece with Rhai's own evaluation: bytecode expects an empty scope, and pieces are
    /// short.
    fn run(self) -> Outcome {
        let Self { front_end, session, ast, passes } = self;
        let (scope, mut global) = {
            let mut shared = session.0.borrow_mut();
            // Its functions are known to what it stores, and stay known if it fails.
            if ast.has_functions() {
                shared.global.lib.push(ast.shared_lib().clone());
            }
            (std::mem::take(&mut shared.scope), shared.global.clone())
        };
        let kept = if passes { scope.len() } else { usize::MAX };
        let mut taken = TakenNames { session: &session, scope, kept };
        global.source = ast.source().map(Into::into);
        let mut caches = Caches::new();
        #[allow(deprecated)] // nothing else leaves imports behind
        let result =
            front_end.engine().eval_statements_raw(&mut global, &mut caches, &mut taken.scope, ast.statements());
        (global.level, global.scope_level) = (0, 0);
        session.0.borrow_mut().global = global.clone();
        let source = ast.source();
        let context = NativeCallContext::new_with_all_fields(front_end.engine(), "", source, &global, Position::NONE);
        let from = ConversionContext { front_end: &front_end, context: &context };
        outcome_of(result, from)
    }
}
