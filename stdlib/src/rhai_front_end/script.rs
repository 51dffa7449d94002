//! A parsed file, and running it: its top level, then its `fn main`.

use super::RhaiFrontEnd;
use super::convert::{ConversionContext, to_dynamic};
use super::errors::{diagnostics_of, outcome_of};
use super::once::Once;
use crate::codes::ServedCode;
use lang::diagnostic::Diagnostic;
use lang::source::SourceRef;
use lang::value::Value;
use lang::vm::Outcome;
use rhai::grain::{Compiler, SharedProgram, Vm};
use rhai::{AST, ASTFlags, Dynamic, Expr, Ident, Module, NativeCallContext, Position, Scope, Stmt};
use std::borrow::Cow;
use std::rc::Rc;

/// The constant at the top of a file that says what `@resumable` says of a pipeline in Harn.
const RESUMABLE: &str = "RESUMABLE";

/// A parsed file.
pub(crate) struct RhaiScript {
    source: SourceRef,
    ast: AST,
}

/// The names and values in scope of a script.
pub(crate) type Constants = Vec<(&'static str, Value)>;

impl RhaiFrontEnd {
    /// Parses a file.
    ///
    /// # Errors
    /// Returns the errors in the source.
    pub(crate) fn parse(&self, source: &SourceRef) -> Result<RhaiScript, Vec<Diagnostic>> {
        self.know(source);
        match self.engine().compile(text_of(source)) {
            Ok(mut ast) => {
                ast.set_source(source.name());
                Ok(RhaiScript { source: source.clone(), ast })
            }
            Err(error) => Err(diagnostics_of(&error, source)),
        }
    }

    /// Returns a script as a function of the run: its top level, and then its `fn main` with the
    /// constants that it names, whose result it returns. A `return` at the top level ends it.
    pub(crate) fn pipeline(self: &Rc<Self>, mut script: RhaiScript, constants: Constants) -> Value {
        let last = script.main().map_or_else(|| "()".to_owned(), |params| call_of_main(&params, &constants));
        // One program, so that closures made in `main` are known to the same library.
        script.ast = first(constants, self).merge(&script.ast);
        if let Ok(last) = self.engine().compile(last) {
            script.ast = script.ast.merge(&last);
        }
        script.ast.set_source(script.source.name());
        let run = Pipeline { front_end: self.clone(), source: script.source, ast: script.ast };
        Once::value(move || run.run())
    }
}

/// The text as Rhai reads it: a first line for the shell is a comment, of the same length.
pub(super) fn text_of(source: &SourceRef) -> Cow<'_, str> {
    match source.text().strip_prefix("#!") {
        // A third slash would make documentation of it.
        Some(rest) => Cow::Owned(match rest.strip_prefix(['/', '!']) {
            Some(rest) => format!("// {rest}"),
            None => format!("//{rest}"),
        }),
        None => Cow::Borrowed(source.text()),
    }
}

/// Bytes of the longest file that is compiled to Rhai's bytecode. The compiler compares each constant with all before it; a
/// longer one is evaluated as it was parsed, and does the same.
const LONGEST_COMPILED: usize = 64 << 10;

/// Whether a file is compiled before it runs.
pub(super) fn is_compiled(source: &SourceRef) -> bool {
    source.text().len() <= LONGEST_COMPILED
}

/// The constants as statements before all others. They cannot wait in the scope: what the bytecode's `for (x, i) in xs` counts
/// it writes to a slot from the start of the scope, not from that of the frame.
pub(super) fn first(constants: Constants, front_end: &Rc<RhaiFrontEnd>) -> AST {
    let statements = constants.into_iter().map(|(name, value)| {
        let ident = Ident { name: name.into(), pos: Position::NONE };
        let value = Expr::DynamicConstant(Box::new(to_dynamic(value, front_end)), Position::NONE);
        Stmt::Var(Box::new((ident, value, None)), ASTFlags::CONSTANT, Position::NONE)
    });
    AST::new(statements, Module::new())
}

/// The names of the constants that are the arguments of a call from outside.
const ARGUMENTS: [&str; 16] = [
    "_a0", "_a1", "_a2", "_a3", "_a4", "_a5", "_a6", "_a7", "_a8", "_a9", "_a10", "_a11", "_a12", "_a13", "_a14",
    "_a15",
];

/// The maximum number of parameters of a function that is called from outside.
pub(super) const MAX_ARGUMENTS: usize = ARGUMENTS.len();

/// The call of a function with these arguments, and the constants that it names.
pub(super) fn call_of(function: &str, args: Vec<Value>) -> (String, Constants) {
    let names = &ARGUMENTS[..args.len().min(MAX_ARGUMENTS)];
    (format!("{function}({})", names.join(", ")), names.iter().copied().zip(args).collect())
}

/// The call of a `fn main` of these parameters.
pub(super) fn call_of_main(params: &[String], constants: &Constants) -> String {
    let known = |name: &String| constants.iter().any(|(constant, _)| constant == name);
    let args: Vec<&str> = params.iter().map(|name| if known(name) { name.as_str() } else { "()" }).collect();
    format!("main({})", args.join(", "))
}

impl RhaiScript {
    /// The parameters of its `fn main`.
    pub(crate) fn main(&self) -> Option<Vec<String>> {
        self.params_of("main")
    }

    /// The parameters of a function.
    pub(super) fn params_of(&self, name: &str) -> Option<Vec<String>> {
        let found = self.ast.iter_functions().find(|function| function.name == name && function.this_type.is_none())?;
        Some(found.params.iter().map(|name| (*name).to_owned()).collect())
    }

    /// The value of a constant at the top level, with its place: `None` inside if it is not a literal.
    pub(super) fn constant(&self, name: &str) -> Option<(Option<Dynamic>, Position)> {
        self.ast.statements().iter().find_map(|statement| match statement {
            Stmt::Var(var, flags, at) if flags.contains(ASTFlags::CONSTANT) && var.0.name == name => {
                Some((var.1.get_literal_value(None), *at))
            }
            _ => None,
        })
    }

    pub(super) fn source(&self) -> &SourceRef {
        &self.source
    }

    /// Whether its `fn main` may run again where a process ended in the middle of it: what the constant [`RESUMABLE`] at its
    /// top says.
    ///
    /// # Errors
    /// It says something else than `true` or `false`.
    pub(crate) fn is_resumable(&self) -> Result<bool, Vec<Diagnostic>> {
        let Some((value, at)) = self.constant(RESUMABLE) else { return Ok(false) };
        match value.and_then(|value| value.as_bool().ok()) {
            Some(says) => Ok(says),
            None => {
                let message = format!("`{RESUMABLE}` must be `true` or `false`");
                let line = at.line().map_or(String::new(), |line| format!(" (line {line})"));
                let help =
                    format!("write `const {RESUMABLE} = true;` at the top level of `{}`{line}", self.source.name());
                Err(vec![Diagnostic::new(ServedCode::Unservable, message).help(help)])
            }
        }
    }
}

/// A script that will run once.
struct Pipeline {
    front_end: Rc<RhaiFrontEnd>,
    source: SourceRef,
    ast: AST,
}

impl Pipeline {
    fn run(self) -> Outcome {
        let Self { front_end, source, ast } = self;
        let mut scope = Scope::new();
        let (result, global) = if is_compiled(&source) {
            let program: SharedProgram = Compiler::new().compile(&ast).into_shared();
            let mut vm = Vm::new(front_end.engine());
            (vm.eval_with_callbacks(&mut scope, &program), vm.into_global_state())
        } else {
            let result = front_end.engine().eval_ast_with_scope::<Dynamic>(&mut scope, &ast);
            (result, front_end.engine().new_global_runtime_state())
        };
        let context = NativeCallContext::new_with_all_fields(
            front_end.engine(),
            "main",
            Some(source.name()),
            &global,
            Position::NONE,
        );
        let from = ConversionContext { front_end: &front_end, context: &context };
        outcome_of(result, from)
    }
}
