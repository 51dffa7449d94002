//! The calls in Rhai that led to an error, and the position of the failing call.

use super::super::convert::ConversionContext;
use super::tokens::{TokenKind, Tokens};
use lang::diagnostic::TraceFrame;
use lang::source::{SourceRef, Span};
use lang::vm::{About, Raise};
use rhai::{EvalAltResult, Position};

/// The maximum number of frames.
const MOST: usize = 64;

/// The location and the calls from the layers around an error.
pub(super) struct ErrorTrace {
    /// The file in which it happened.
    pub(super) source: Option<SourceRef>,
    /// The position.
    at: Position,
    /// The calls, innermost first.
    frames: Vec<TraceFrame>,
}

impl ErrorTrace {
    /// Takes the layers off an error.
    pub(super) fn of(error: EvalAltResult, from: ConversionContext<'_>) -> (EvalAltResult, Self) {
        let mut error = error;
        let mut file = from.context.fn_source().map(str::to_owned);
        let mut function =
            if from.context.fn_name() == "main" { "<main>".to_owned() } else { title(from.context.fn_name()) };
        let mut frames = Vec::new();
        loop {
            error = match error {
                EvalAltResult::ErrorInFunctionCall(name, source, inner, at) => {
                    let place = from.front_end.place(file.as_deref(), at);
                    if !is_made_up(&name, place.as_ref()) {
                        push(&mut frames, TraceFrame::new(function, place));
                    }
                    function = title(&name);
                    if !source.is_empty() {
                        file = Some(source);
                    }
                    *inner
                }
                EvalAltResult::ErrorInModule(name, inner, at) => {
                    push(&mut frames, TraceFrame::new("import", from.front_end.place(file.as_deref(), at)));
                    function = "<main>".to_owned();
                    file = Some(name);
                    *inner
                }
                other => {
                    error = other;
                    break;
                }
            }
        }
        let at = error.position();
        push(&mut frames, TraceFrame::new(function, from.front_end.place(file.as_deref(), at)));
        // Who called from outside of Rhai tells that by itself.
        if frames.len() > 1 && frames.first().is_some_and(|frame| frame.at.is_none()) {
            frames.remove(0);
        }
        frames.reverse();
        let source = file.as_deref().and_then(|name| from.front_end.source(name));
        (error, Self { source, at, frames })
    }

    /// Says where an error happened, unless it knows, and who called.
    pub(super) fn add_to(self, raise: &mut Box<Raise>) {
        if let (Some(source), false) = (&self.source, raise.located)
            && let Some(span) = about(source, self.at, raise.about)
        {
            let placeholder = Raise::error(raise.code, "");
            let bare = std::mem::replace(raise, placeholder);
            *raise = bare.at(source, span);
        }
        raise.trace.extend(self.frames.into_iter().take(MOST));
    }
}

/// Adds a frame below those that are there; a recursion is one line.
fn push(frames: &mut Vec<TraceFrame>, frame: TraceFrame) {
    match frames.last_mut() {
        Some(last) if last.repeats(&frame) => last.times += 1,
        _ => frames.push(frame),
    }
}

/// A function as its author named it.
fn title(name: &str) -> String {
    if name.is_empty() || name.contains('$') { "<closure>".to_owned() } else { name.to_owned() }
}

/// Returns whether the frame is the generated call of `fn main`, which is in no file.
fn is_made_up(name: &str, place: Option<&(SourceRef, Span)>) -> bool {
    name == "main" && place.is_none_or(|(source, span)| source.slice(*span) != "main")
}

/// The part of a call that an error is about.
fn about(source: &SourceRef, at: Position, about: About) -> Option<Span> {
    let tokens = Tokens::of(source);
    let start = tokens.at(at)?;
    let here = tokens.get(start)?.span;
    if tokens.text(start) == "import" {
        return tokens.get(start + 1).map(|path| path.span);
    }
    let mut name = start;
    while tokens.text(name + 1) == "::" {
        name += 2;
    }
    if tokens.text(name + 1) != "(" || tokens.get(name)?.kind != TokenKind::Word {
        return Some(here);
    }
    let whole = tokens.bracketed(name + 1).map_or(here, |args| here.to(args));
    let argument = match about {
        About::Argument(i) => argument(&tokens, start, name, i),
        About::Callee => Some(here.to(tokens.get(name)?.span)),
        About::All => None,
    };
    let fits = |span: &Span| !source.slice(*span).contains('\n');
    Some(argument.or(Some(whole).filter(fits)).unwrap_or(here))
}

/// An argument of the call; the receiver of a method is the first.
fn argument(tokens: &Tokens<'_>, start: usize, name: usize, i: usize) -> Option<Span> {
    let args = tokens.parts(name + 1);
    if !matches!(start.checked_sub(1).map(|dot| tokens.text(dot)), Some("." | "?.")) {
        return args.get(i).copied();
    }
    let Some(i) = i.checked_sub(1) else {
        let last = start.checked_sub(2)?;
        let first = tokens.partner(last).filter(|open| *open < last).unwrap_or(last);
        return Some(tokens.get(first)?.span.to(tokens.get(last)?.span));
    };
    args.get(i).copied()
}
