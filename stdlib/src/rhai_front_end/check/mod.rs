//! Errors that are certain in a Rhai file, found before it runs, without guesses.
//!
//! - `scope`: the variables that are bound where; `functions`: the functions that can be called.
//! - `walk`, `expression`, `chain`, `call`, `closure`: one walk over Rhai's tree. It reports names and calls that lead
//!   nowhere, and writes down every call of a builtin as the language itself would have it, with the spans of this file.
//! - `bodies`: the statements of functions. `build`: the parts of the language's own tree. Its types and the lints of the builtins then judge the calls, so that
//!   an option, its spelling and its values have one judge in both languages.
//! - `template`: strings that look like templates.

mod bodies;
mod build;
mod call;
mod chain;
mod closure;
mod expression;
mod functions;
mod scope;
mod template;
mod visitor;

use super::RhaiFrontEnd;
use super::errors::diagnostics_of;
use super::errors::tokens::Tokens;
use functions::Functions;
use lang::builtins::Right;
use lang::diagnostic::Diagnostic;
use lang::source::SourceRef;
use rhai::{Engine, OptimizationLevel};
use visitor::TreeVisitor;

/// Returns the diagnostics that can be found without running.
pub(crate) fn check(front_end: &RhaiFrontEnd, source: &SourceRef, denied: &[Right]) -> Vec<Diagnostic> {
    let mut plain = Engine::new();
    // The tree as it is written: constants folded into one have no places any more.
    plain.set_optimization_level(OptimizationLevel::None);
    plain.set_max_expr_depths(front_end.engine().max_expr_depth(), front_end.engine().max_function_expr_depth());
    let ast = match plain.compile(super::script::text_of(source)) {
        Ok(ast) => ast,
        Err(error) => return diagnostics_of(&error, source),
    };
    let tokens = Tokens::of(source);
    let functions = Functions::of(&plain, front_end, &tokens);
    let mut walk = TreeVisitor::new(source, &tokens, &ast, &functions);
    walk.script();
    let (module, mut found) = walk.finish();
    lang::check::check_calls(source, &module, crate::table::registry(), denied, &mut found);
    found.sort_by_key(Diagnostic::position);
    found
}
