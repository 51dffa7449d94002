//! Errors of one language in the other.
//!
//! Errors of Rhai get the codes and words of the same mistake in the language itself, at the token
//! concerned.
//!
//! - [`outcome_of`], [`raise_of`], [`to_rhai`]: results and errors of a run, both ways. [`diagnostics_of`]: a text that cannot be read.
//! - `parse`, `lex`, `habits`: what is wrong with a text; `habits` knows constructs of harn and of other languages.
//! - `run`, `calls`, `names`: what fails while a script runs; `trace`: who called whom.
//! - `words`, `slips`: types and sentences; words that mean something elsewhere.
//! - `place`, `tokens`: from line and column to the token, its brackets and arguments.

pub(super) mod calls;
mod habits;
mod lex;
pub(super) mod names;
mod parse;
pub(super) mod place;
mod run;
mod slips;
pub(super) mod tokens;
mod trace;
pub(super) mod words;

use super::convert::{ConversionContext, to_value};
use super::value::Opaque;
use lang::diagnostic::Diagnostic;
use lang::source::{SourceRef, Span};
use lang::vm::{Outcome, Raise, Why};
use rhai::{Dynamic, EvalAltResult, ParseError, Position};

/// An error of the run on its way through Rhai. What nothing may catch there ends the script.
pub(super) fn to_rhai(raise: Box<Raise>) -> Box<EvalAltResult> {
    match raise.why {
        Why::Thrown | Why::Error => EvalAltResult::ErrorRuntime(Dynamic::from(Opaque::error(raise)), Position::NONE),
        _ => EvalAltResult::ErrorTerminated(terminated(raise), Position::NONE),
    }
    .into()
}

/// The error of the run that passes through Rhai as this one.
pub(super) fn raised_in(error: &EvalAltResult) -> Option<std::rc::Rc<Raise>> {
    match error {
        EvalAltResult::ErrorInFunctionCall(_, _, inner, _) | EvalAltResult::ErrorInModule(_, inner, _) => {
            raised_in(inner)
        }
        EvalAltResult::ErrorRuntime(value, _) | EvalAltResult::ErrorTerminated(value, _) => {
            value.read_lock::<Opaque>().and_then(|opaque| opaque.raise().cloned())
        }
        _ => None,
    }
}

/// Returns the token that ends a script, with its reason.
pub(super) fn terminated(raise: Box<Raise>) -> Dynamic {
    Dynamic::from(Opaque::error(raise))
}

/// Returns the outcome of Rhai code, as the run has it.
pub(super) fn outcome_of(result: Result<Dynamic, Box<EvalAltResult>>, from: ConversionContext<'_>) -> Outcome {
    match result {
        Ok(value) => to_value(value, from),
        Err(error) => Err(raise_of(*error, from)),
    }
}

/// An error of Rhai as one of the run; one of the run that only passed through comes back as it was.
pub(super) fn raise_of(error: EvalAltResult, from: ConversionContext<'_>) -> Box<Raise> {
    let (error, told) = trace::ErrorTrace::of(error, from);
    let mut raise = match error {
        EvalAltResult::ErrorRuntime(value, _) | EvalAltResult::ErrorTerminated(value, _) => {
            match value.read_lock::<Opaque>().and_then(|opaque| opaque.raise().cloned()) {
                Some(raise) => Box::new((*raise).clone()),
                None => to_value(value, from).map_or_else(|raise| raise, Raise::thrown),
            }
        }
        EvalAltResult::Exit(value, _) => Raise::exit(exit_code(&value)),
        other => own(&other, told.source.as_ref(), from),
    };
    told.add_to(&mut raise);
    raise
}

/// An error that Rhai itself found.
fn own(error: &EvalAltResult, source: Option<&SourceRef>, from: ConversionContext<'_>) -> Box<Raise> {
    let nowhere = lang::source::Source::new("", "");
    let (source, at) = match source {
        Some(source) => (source, error.position()),
        None => (&nowhere, Position::NONE),
    };
    match run::of(error, source, at, from.front_end.engine()) {
        Some(found) => raise_from(found),
        None => Raise::error(lang::vm::RunCode::Value, parse::sentence(&error.to_string(), "the script failed")),
    }
}

/// A finding as an error of the run.
pub(super) fn raise_from(found: Diagnostic) -> Box<Raise> {
    let mut raise = Raise::error(found.code, found.message);
    raise.located = !found.labels.is_empty();
    raise.labels = found.labels;
    raise.notes = found.notes;
    raise.help = found.help;
    raise
}

/// Returns the exit code of `exit(value)`.
pub(super) fn exit_code(value: &Dynamic) -> i32 {
    match value.as_int() {
        Ok(code) => i32::try_from(code).ok().filter(|code| (0..=255).contains(code)).unwrap_or(255),
        Err(_) => 0,
    }
}

/// Returns the diagnostics of a file.
pub(super) fn diagnostics_of(error: &ParseError, source: &SourceRef) -> Vec<Diagnostic> {
    vec![parse::of(source, error.err_type(), error.position())]
}

/// The token at a position.
pub(super) fn span_at(source: &SourceRef, at: Position) -> Option<Span> {
    tokens::Tokens::of(source).span(at)
}
