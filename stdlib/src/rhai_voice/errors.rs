//! Errors of one language in the other.

use super::convert::{From, to_value};
use super::value::Opaque;
use lang::diagnostic::Severity::Error;
use lang::diagnostic::code::Code;
use lang::diagnostic::{Diagnostic, Label, TraceFrame};
use lang::source::{SourceRef, Span};
use lang::vm::{Raise, Why, codes};
use rhai::{Dynamic, EvalAltResult, ParseError, Position};

/// A script in Rhai that cannot be read as one.
pub(crate) const SYNTAX: &str = "HARN-RHAI-001";
/// An error that Rhai found while running.
pub(crate) const RUNTIME: &str = "HARN-RHAI-002";

/// The rows.
pub(crate) static CODES: &[Code] = &[
    Code {
        code: SYNTAX,
        severity: Error,
        title: "a script in Rhai that cannot be read",
        meaning: "The file's name ends with `.rhai`, and its text is not what Rhai's grammar allows. Nothing is run.",
        fails: "",
        mended: "",
    },
    Code {
        code: RUNTIME,
        severity: Error,
        title: "an error of a script in Rhai",
        meaning: "Rhai found while running that something cannot be done; the message says what.",
        fails: "",
        mended: "",
    },
];

/// An error of the run on its way through Rhai. What nothing may catch there ends the script.
pub(super) fn to_rhai(raise: Box<Raise>) -> Box<EvalAltResult> {
    match raise.why {
        Why::Thrown | Why::Error => EvalAltResult::ErrorRuntime(Dynamic::from(Opaque::error(raise)), Position::NONE),
        _ => EvalAltResult::ErrorTerminated(terminated(raise), Position::NONE),
    }
    .into()
}

/// What ends a script, as the token that says why.
pub(super) fn terminated(raise: Box<Raise>) -> Dynamic {
    Dynamic::from(Opaque::error(raise))
}

/// An error of Rhai as one of the run; one of the run that only passed through comes back as it was.
pub(super) fn raise_of(error: EvalAltResult, from: From<'_>) -> Box<Raise> {
    let (mut error, mut trace) = (error, Vec::new());
    let mut file = from.context.fn_source().map(str::to_owned);
    loop {
        error = match error {
            EvalAltResult::ErrorInFunctionCall(name, source, inner, at) => {
                let place = from.voice.place(file.as_deref(), at);
                trace.push(TraceFrame::new(name, place));
                if !source.is_empty() {
                    file = Some(source);
                }
                *inner
            }
            EvalAltResult::ErrorInModule(name, inner, _) => {
                file = Some(name);
                *inner
            }
            other => break error_of(other, file.as_deref(), trace, from),
        }
    }
}

fn error_of(error: EvalAltResult, file: Option<&str>, trace: Vec<TraceFrame>, from: From<'_>) -> Box<Raise> {
    let at = error.position();
    let mut raise = match error {
        EvalAltResult::ErrorRuntime(value, _) | EvalAltResult::ErrorTerminated(value, _) => {
            let known = value.read_lock::<Opaque>().and_then(|opaque| opaque.raise().cloned());
            match known {
                Some(raise) => Box::new((*raise).clone()),
                None => match to_value(value, from) {
                    Ok(value) => Raise::thrown(value),
                    Err(raise) => raise,
                },
            }
        }
        EvalAltResult::Exit(value, _) => Raise::exit(exit_code(&value)),
        EvalAltResult::ErrorStackOverflow(_) => Raise::error(codes::DEPTH, "calls are nested too deep")
            .help("a recursion without an end is the usual reason; `--max-depth` allows more"),
        other => {
            let mut bare = other;
            bare.set_position(Position::NONE);
            Raise::error(RUNTIME, bare.to_string())
        }
    };
    if let Some((source, span)) = from.voice.place(file, at) {
        raise = raise.at(&source, span);
    }
    raise.trace.extend(trace.into_iter().rev());
    raise
}

/// What `exit(value)` says.
pub(super) fn exit_code(value: &Dynamic) -> i32 {
    match value.as_int() {
        Ok(code) => i32::try_from(code).ok().filter(|code| (0..=255).contains(code)).unwrap_or(255),
        Err(_) => 0,
    }
}

/// What is wrong with a file.
pub(super) fn diagnostics_of(error: &ParseError, source: &SourceRef) -> Vec<Diagnostic> {
    let mut found = Diagnostic::error(SYNTAX, error.err_type().to_string());
    if let Some(span) = span_at(source, error.position()) {
        found.labels.push(Label { source: source.clone(), span, text: String::new() });
    }
    vec![found]
}

/// The character at a position.
pub(super) fn span_at(source: &SourceRef, at: Position) -> Option<Span> {
    let (line, column) = (at.line()?, at.position().unwrap_or(1));
    let text = source.text();
    let start = text.split_inclusive('\n').take(line - 1).map(str::len).sum::<usize>();
    let rest = text.get(start..)?;
    let offset = rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.len(), |(i, _)| i);
    let length = rest.get(offset..).and_then(|r| r.chars().next()).map_or(0, char::len_utf8);
    let from = u32::try_from(start + offset).ok()?;
    Some(Span::new(from, from + u32::try_from(length).ok()?))
}
