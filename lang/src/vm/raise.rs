//! Interruptions of a run: a thrown value, an error of the language, a cancellation, an exit.

use crate::advice::Subject;
use crate::diagnostic::code::CodeRef;
use crate::diagnostic::{Diagnostic, Label, Severity, TraceFrame};
use crate::source::{SourceRef, Span};
use crate::value::{Dict, Str, Tag, Value, brief, inspect};
use std::any::Any;
use std::rc::Rc;

/// Why a run is interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// `throw v`, or `Err` that nobody took.
    Thrown,
    /// An error found by the VM or a builtin.
    Error,
    /// Somebody gave the task up; `catch` does not see it.
    Cancelled,
    /// The deadline of that number passed; only its block sees it, and makes an error of it.
    Deadline(u64),
    /// Given up after the grace was over many times; nothing of it runs any more.
    Abandoned,
    /// Fuel or memory is used up; nothing sees it.
    Exhausted,
    /// `exit(code)`; `catch` does not see it.
    Exit(i32),
}

impl Why {
    /// Whether it ends more than the script's own code may decide: a clean-up cannot take it back.
    pub(super) const fn interrupts(self) -> bool {
        matches!(self, Self::Cancelled | Self::Deadline(_) | Self::Exit(_))
    }
}

/// Part of a call that an error is about; the VM turns it into a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// The call or operation as a whole.
    All,
    /// An argument, from 0; for a method the receiver is 0.
    Argument(usize),
    /// Called value.
    Callee,
}

/// An interruption on its way up.
#[derive(Clone)]
pub struct Raise {
    /// Why.
    pub why: Why,
    /// Value that `catch` binds; made from the message if it is nil.
    pub value: Value,
    /// Catalogue code.
    pub code: CodeRef,
    /// Headline: one phrase.
    pub message: String,
    /// Places; the first is the main one. Empty until the VM knows where.
    pub labels: Vec<Label>,
    /// Facts.
    pub notes: Vec<String>,
    /// Help texts.
    pub help: Vec<String>,
    /// Text of the main label.
    pub label: String,
    /// Arguments with their values as text; the VM makes a label `argument = value` of each.
    pub parts: Vec<(usize, String)>,
    /// Subject.
    pub about: About,
    /// Whether it is about a value that is nil.
    pub(crate) of_nil: bool,
    /// Whether the main label is set.
    pub located: bool,
    /// It was caught or held up before: the frames from that depth on are written down already.
    pub(crate) told: Option<usize>,
    /// Call stack, innermost first.
    pub trace: Vec<TraceFrame>,
    /// Error of the first clean-up that failed, if this is the interruption that it cleaned up after.
    pub clean_up: Option<Box<Raise>>,
    /// More entries of the error that `catch` binds.
    pub fields: Vec<(&'static str, Value)>,
    /// For the crate that made it.
    pub payload: Option<Rc<dyn RaisePayload>>,
}

/// Data that a crate attaches to the errors that it raises. It learns what becomes of them.
pub trait RaisePayload: Any {
    /// A script has caught the error: it continues, and may print nothing.
    fn caught(&self) {}

    /// The error became a diagnostic, which a person reads.
    fn reported(&self) {}

    /// For the crate that made it.
    fn as_any(&self) -> &dyn Any;
}

impl Raise {
    /// An error of the language or a builtin.
    pub fn error(code: impl Into<CodeRef>, message: impl Into<String>) -> Box<Self> {
        Box::new(Self {
            why: Why::Error,
            value: Value::Nil,
            code: code.into(),
            message: message.into(),
            labels: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
            label: String::new(),
            parts: Vec::new(),
            about: About::All,
            of_nil: false,
            located: false,
            told: None,
            trace: Vec::new(),
            clean_up: None,
            fields: Vec::new(),
            payload: None,
        })
    }

    /// `throw value`.
    #[must_use]
    pub fn thrown(value: Value) -> Box<Self> {
        let mut raise = Self::error(super::RunCode::Uncaught, "");
        raise.why = Why::Thrown;
        // An error that was caught and is thrown again keeps its words.
        let text = |key: &str| value.as_dict().and_then(|d| d.get_str(key)).filter(|v| says_something(v)).map(brief);
        raise.message = match text("message") {
            Some(message) => format!("uncaught error: {message}"),
            None => format!("uncaught error: {}", shown(&value)),
        };
        raise.value = value;
        raise
    }

    /// `exit(code)`.
    #[must_use]
    pub fn exit(code: i32) -> Box<Self> {
        let mut raise = Self::error(super::RunCode::Uncaught, format!("exit({code})"));
        raise.why = Why::Exit(code);
        raise
    }

    /// The task was given up.
    #[must_use]
    pub fn cancelled(reason: impl Into<String>) -> Box<Self> {
        let mut raise = Self::error(super::RunCode::Cancelled, reason);
        raise.why = Why::Cancelled;
        raise
    }

    /// Argument that it is about, and a short text for the label.
    #[must_use]
    pub fn about(mut self: Box<Self>, argument: usize, label: impl Into<String>) -> Box<Self> {
        self.about = About::Argument(argument);
        self.label = label.into();
        self
    }

    /// It is about what is called.
    #[must_use]
    pub fn about_callee(mut self: Box<Self>, label: impl Into<String>) -> Box<Self> {
        self.about = About::Callee;
        self.label = label.into();
        self
    }

    /// Notes whether it is about a value that is nil.
    #[must_use]
    pub(crate) fn of_nil(mut self: Box<Self>, of_nil: bool) -> Box<Self> {
        self.of_nil = of_nil;
        self
    }

    /// A few words for the label.
    #[must_use]
    pub fn labelled(mut self: Box<Self>, label: impl Into<String>) -> Box<Self> {
        self.label = label.into();
        self
    }

    /// A fact.
    #[must_use]
    pub fn note(mut self: Box<Self>, text: impl Into<String>) -> Box<Self> {
        self.notes.push(text.into());
        self
    }

    /// Adds a help text if there is one.
    #[must_use]
    pub(crate) fn help_by_some(self: Box<Self>, text: Option<impl Into<String>>) -> Box<Self> {
        match text {
            Some(text) => self.help(text),
            None => self,
        }
    }

    /// Adds a help text.
    #[must_use]
    pub fn help(mut self: Box<Self>, text: impl Into<String>) -> Box<Self> {
        self.help.push(text.into());
        self
    }

    /// Another entry of the error that `catch` binds.
    #[must_use]
    pub fn field(mut self: Box<Self>, name: &'static str, value: impl Into<Value>) -> Box<Self> {
        self.fields.push((name, value.into()));
        self
    }

    /// A second place.
    #[must_use]
    pub fn also(mut self: Box<Self>, source: &SourceRef, span: Span, text: impl Into<String>) -> Box<Self> {
        self.labels.push(Label { source: source.clone(), span, text: text.into() });
        self
    }

    /// Sets the main place, for errors that are about something other than the call at hand.
    #[must_use]
    pub fn at(mut self: Box<Self>, source: &SourceRef, span: Span) -> Box<Self> {
        self.locate(source, span);
        self
    }

    /// Puts the main place in front, once: the innermost place is where it happened.
    pub(crate) fn locate(&mut self, source: &SourceRef, span: Span) {
        if !self.located {
            self.located = true;
            let text = std::mem::take(&mut self.label);
            self.labels.insert(0, Label { source: source.clone(), span, text });
        }
    }

    /// Makes labels of the values of arguments, once: the innermost call is the one it is about.
    pub(crate) fn locate_parts(&mut self, source: &SourceRef, args: &[Span]) {
        /// Characters of an argument that a label repeats.
        const LONGEST: usize = 32;
        for (i, value) in std::mem::take(&mut self.parts) {
            let Some(span) = args.get(i) else { continue };
            let written = source.slice(*span);
            let is_short = written.chars().count() <= LONGEST && !written.contains('\n');
            let text = format!("{} = {value}", if is_short { written } else { "…" });
            // A variable that appears twice is shown once.
            if self.labels.iter().all(|label| label.text != text) {
                self.labels.push(Label { source: source.clone(), span: *span, text });
            }
        }
    }

    /// Value that `catch` binds.
    #[must_use]
    pub fn to_value(&self) -> Value {
        if self.why == Why::Thrown || !self.value.is_nil() {
            return self.value.clone();
        }
        let mut dict = Dict::new();
        dict.insert(Str::new("code"), Value::str(self.code.as_str()));
        dict.insert(Str::new("message"), Value::str(&self.message));
        for (name, value) in &self.fields {
            dict.insert(Str::new(name), value.clone());
        }
        if let Some(help) = self.help.first() {
            dict.insert(Str::new("help"), Value::str(help));
        }
        Value::dict(dict)
    }

    /// Converts the error to a diagnostic.
    #[must_use]
    pub fn to_diagnostic(&self) -> Diagnostic {
        // What was raised has ended something, whatever its code usually means.
        let mut d = Diagnostic::new(self.code, self.message.clone()).with_severity(Severity::Error);
        d.labels.clone_from(&self.labels);
        d.notes.clone_from(&self.notes);
        d.help.clone_from(&self.help);
        d.trace.clone_from(&self.trace);
        if let Some(payload) = &self.payload {
            payload.reported();
        }
        d
    }

    /// Returns the payload, if it has this type.
    #[must_use]
    pub fn payload_as<T: 'static>(&self) -> Option<&T> {
        self.payload.as_ref()?.as_any().downcast_ref()
    }
}

impl From<&Value> for Subject {
    fn from(value: &Value) -> Self {
        match value.tag() {
            Tag::Nil => Self::Nil,
            Tag::Int => Self::Int(if let Value::Int(n) = value { Some(*n) } else { None }),
            Tag::Str => Self::Text,
            Tag::Function => Self::Function,
            Tag::Iter | Tag::Generator | Tag::Stream => Self::Iterator,
            Tag::Variant if value.as_result().is_some() => Self::Result,
            Tag::Host if value.type_name() == TASK => Self::Task,
            _ => Self::Other,
        }
    }
}

/// The name of the type of what `spawn` returns.
pub(crate) const TASK: &str = "task";

/// Returns a thrown value for a message; a blank text in quotes, so that the message says something.
fn shown(value: &Value) -> String {
    match value {
        Value::Dict(_) | Value::List(_) => inspect(value),
        Value::Str(_) if !says_something(value) => inspect(value),
        other => brief(other),
    }
}

/// Returns whether a value is a text that is not blank.
fn says_something(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.trim().is_empty())
}

impl std::fmt::Debug for Raise {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} {}: {}", self.why, self.code, self.message)
    }
}
