//! Errors of a pack, for people.

use super::budget::Budget;
use super::builtins::GRANTED;
use super::data::{PackConverter, PackValueError};
use super::meter::{Limit, Meter};
use crate::codes::PackCode;
use crate::convert::to_value;
use crate::table::registry;
use lang::diagnostic::TraceFrame;
use lang::diagnostic::code::CodeRef;
use lang::source::{SourceRef, Span};
use lang::vm::Raise;
use rhai::{Dynamic, EvalAltResult, ParseError, Position};

/// The pack and provider that an error belongs to.
pub(super) struct PackSubject<'a> {
    /// The pack's text; its name is the pack's.
    pub(super) source: &'a SourceRef,
    /// The provider; nothing while the pack is loaded.
    pub(super) provider: Option<&'a str>,
    /// The span that is shown if no nearer one is known.
    pub(super) place: Span,
    pub(super) meter: &'a Meter,
}

impl PackSubject<'_> {
    fn subject(&self) -> String {
        match self.provider {
            Some(id) => format!("the reminder provider `{id}` of the pack `{}`", self.source.name()),
            None => format!("the pack `{}`", self.source.name()),
        }
    }

    /// It used up its budget.
    pub(super) fn over(&self, limit: Limit, at: Option<Span>) -> Box<Raise> {
        let budget: &Budget = self.meter.budget();
        let message = format!("{} exceeded its limit of {}", self.subject(), limit.describe(budget));
        let raise = Raise::error(PackCode::Budget, message).labelled("stopped here").help(format!(
            "make it cheaper, or raise its limit: `{}` of the pack under `[providers]` in harn.toml",
            limit.key()
        ));
        self.at(raise, at)
    }

    /// The interpreter itself failed.
    pub(super) fn panicked(&self) -> Box<Raise> {
        self.at(
            Raise::error(PackCode::Failed, format!("{} caused an internal error of the interpreter", self.subject())),
            None,
        )
    }

    /// Returns the error for a returned value that is not data.
    pub(super) fn no_data(&self, what: &str, at: Option<Span>) -> Box<Raise> {
        let raise = Raise::error(PackCode::Failed, format!("{} returned {what}", self.subject()))
            .labelled("by this function")
            .help("return nothing, a reminder `#{body: \"…\"}`, or a list of reminders");
        self.at(raise, at)
    }

    /// Returns the raise for a reminder with an expectation.
    pub(super) fn judges(&self, at: Span) -> Box<Raise> {
        let raise = Raise::error(PackCode::Refused, format!("{} cannot set `expect`", self.subject()))
            .labelled("by this function")
            .help("remove `expect`: a pack does not decide that a model is asked");
        self.at(raise, Some(at))
    }

    fn at(&self, raise: Box<Raise>, at: Option<Span>) -> Box<Raise> {
        // A pack is always named with a place.
        raise.at(self.source, at.unwrap_or(self.place))
    }

    /// Returns the raise for an uncaught error.
    pub(super) fn error(&self, error: EvalAltResult) -> Box<Raise> {
        let (error, trace) = innermost(error, self.source);
        let at = span_at(self.source, error.position());
        let limit = self.meter.hit().or_else(|| limit_of(&error));
        let mut raise = match (limit, error) {
            (Some(limit), _) => self.over(limit, at),
            (None, EvalAltResult::ErrorRuntime(value, _)) => self.thrown(&value, at),
            (None, EvalAltResult::ErrorParsing(kind, _)) => {
                self.at(Raise::error(PackCode::Refused, kind.to_string()).labelled("not permitted in a pack"), at)
            }
            (None, EvalAltResult::ErrorFunctionNotFound(signature, _)) => self.at(self.not_there(&signature), at),
            (None, mut other) => {
                other.set_position(Position::NONE);
                let message = format!("{} failed: {}", self.subject(), first_small(&other.to_string()));
                self.at(Raise::error(PackCode::Failed, message).labelled("here"), at)
            }
        };
        raise.trace.extend(trace);
        raise
    }

    /// A function that a pack does not have.
    fn not_there(&self, signature: &str) -> Box<Raise> {
        let name = signature.split([' ', '(']).next().unwrap_or(signature);
        let Some(row) = registry().all().find(|row| row.name == name && !row.is_method()) else {
            let message = format!("{} failed: unknown function `{signature}`", self.subject());
            return Raise::error(PackCode::Failed, message).labelled("unknown with these arguments");
        };
        let raise = Raise::error(PackCode::Refused, format!("{} cannot use `{name}`", self.subject())).labelled(
            "not permitted \
                in a pack",
        );
        match row.caps.first() {
            Some(right) if GRANTED.contains(&name) => raise.help(format!(
                "grant the capability in harn.toml: `packs = [{{file = \"…\", allow = [\"{}\"]}}]`",
                right.name()
            )),
            _ => raise.help("a pack computes reminders from its input only"),
        }
    }

    /// Returns the raise for a thrown value: a text, or a map with `message`.
    fn thrown(&self, value: &Dynamic, at: Option<Span>) -> Box<Raise> {
        let data = match PackConverter::new(self.meter.budget()).outward(value) {
            Ok(data) => data,
            Err(PackValueError::Over(limit)) => return self.over(limit, at),
            Err(PackValueError::NoData(_) | PackValueError::TooDeep) => "the thrown value is not data".into(),
        };
        let said = data.get("message").as_str().map_or_else(|| data.to_text(), Into::into);
        // The script wrote the code.
        let code = data.get("code").as_str().and_then(crate::catalogue::find);
        let message = format!("{} failed: {said}", self.subject());
        let mut raise =
            Raise::error(code.map_or(PackCode::Failed.code(), CodeRef::new), message).labelled("thrown here");
        raise.value = to_value(&data);
        self.at(raise, at)
    }
}

/// Returns the raise for a pack with invalid syntax.
pub(super) fn unreadable(error: &ParseError, source: &SourceRef) -> Box<Raise> {
    let said = error.err_type().to_string();
    let (code, message) = match error.err_type() {
        rhai::ParseErrorType::Reserved(word) => (PackCode::Refused, format!("a pack cannot use `{word}`")),
        rhai::ParseErrorType::BadInput(rhai::LexError::ImproperSymbol(word, _))
            if ["eval", "import", "export"].contains(&word.as_str()) =>
        {
            (PackCode::Refused, format!("a pack cannot use `{word}`"))
        }
        _ => (PackCode::Load, format!("the pack `{}` is not valid Rhai: {}", source.name(), first_small(&said))),
    };
    Raise::error(code, message).labelled("here").at(source, span_at(source, error.position()).unwrap_or_default())
}

/// Returns the limit that the interpreter itself has found.
fn limit_of(error: &EvalAltResult) -> Option<Limit> {
    Some(match error {
        EvalAltResult::ErrorTooManyOperations(_) => Limit::Operations,
        EvalAltResult::ErrorStackOverflow(_) => Limit::Depth,
        EvalAltResult::ErrorDataTooLarge(what, _) if what.starts_with("Length") => Limit::String,
        EvalAltResult::ErrorDataTooLarge(..) => Limit::Elements,
        _ => return None,
    })
}

/// The error itself, and the functions that it came out of, innermost first.
fn innermost(mut error: EvalAltResult, source: &SourceRef) -> (EvalAltResult, Vec<TraceFrame>) {
    let mut trace = Vec::new();
    let error = loop {
        error = match error {
            EvalAltResult::ErrorInFunctionCall(name, _, inner, at) => {
                let name = if name.starts_with("anon$") { "<closure>".to_owned() } else { name };
                let place = span_at(source, at).map(|span| (source.clone(), span));
                trace.push(TraceFrame::new(name, place));
                *inner
            }
            EvalAltResult::ErrorInModule(_, inner, _) => *inner,
            other => break other,
        };
    };
    trace.reverse();
    (error, trace)
}

/// Rhai begins its sentences with a capital.
fn first_small(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) if !chars.as_str().starts_with(char::is_uppercase) => first.to_lowercase().chain(chars).collect(),
        _ => text.to_owned(),
    }
}

/// The word at a position of Rhai, or the one character.
pub(super) fn span_at(source: &SourceRef, at: Position) -> Option<Span> {
    let (line, column) = (at.line()?, at.position().unwrap_or(1));
    let text = source.text();
    let start = text.split_inclusive('\n').take(line - 1).map(str::len).sum::<usize>();
    let rest = text.get(start..)?;
    let offset = rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.len(), |(i, _)| i);
    let rest = &rest[offset..];
    let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    let length = if word == 0 { rest.chars().next().map_or(0, char::len_utf8) } else { word };
    let from = u32::try_from(start + offset).ok()?;
    Some(Span::new(from, from + u32::try_from(length).ok()?))
}
