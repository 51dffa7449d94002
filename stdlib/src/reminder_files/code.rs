//! The expressions of a reminder file as a script: `when` and the `${…}` of the body are functions of the event, whose
//! type is that of its payload. So they are checked like any script, and run without any capability.

use super::front_matter::offset;
use super::template::BodyPart;
use crate::capability::Capability;
use crate::options::PAYLOADS;
use crate::table::registry;
use lang::diagnostic::fix::{Edit, Fix};
use lang::diagnostic::{Diagnostic, Label, Severity};
use lang::script::{Options, load};
use lang::source::{Source, SourceRef, Span};
use lang::value::{Closure, Value, article};
use lang::vm::{Called, Context, Function, Isolate, Limits, NoHost, Raise, RunCode, Suggestions};
use runtime::events::EventKind;
use std::fmt::Write as _;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// Instructions that one evaluation may run.
const FUEL: u64 = 1_000_000;
/// Bytes of a value that it makes.
const VALUE_BYTES: usize = 1 << 20;
/// Calls inside of one another.
const DEPTH: usize = 200;

/// The suggestions of errors: a file has none of the settings of a run.
static OF_FILES: Suggestions = Suggestions {
    depth: "check for infinite recursion",
    fuel: "check for an infinite loop: an expression of a reminder file ends after a million instructions",
    memory: "check for a value that keeps growing",
    time: "make the expression shorter",
    right: "use only values of `event`: an expression of a reminder file has no capabilities",
};

/// A script made of the expressions of a file.
pub(super) struct FileScript {
    text: String,
    /// The bytes that are copied from the file, with their places there, in order.
    copied: Vec<(Range<u32>, u32)>,
    /// The place for what is found in the other bytes.
    elsewhere: Span,
}

impl FileScript {
    /// Writes the script: it returns the functions for `when`, if there is one, and for the body.
    pub(super) fn new(
        source: &SourceRef,
        event: EventKind,
        when: Option<Span>,
        body: &[BodyPart],
        whole: Span,
    ) -> Self {
        let payload = PAYLOADS.iter().find(|(name, _)| *name == event.as_str()).map_or("dict", |(_, ty)| ty);
        let mut script = Self { text: String::new(), copied: Vec::new(), elsewhere: when.unwrap_or(whole) };
        if let Some(when) = when {
            let _ = write!(script.text, "fn reminder_when(event: {payload}) -> bool {{\n  return (");
            script.copy(source, when.range());
            script.text.push_str("\n  )\n}\n");
        }
        let _ = write!(script.text, "fn reminder_body(event: {payload}) -> string {{\n  return \"");
        for part in body {
            match part {
                BodyPart::Text(text) => quote(text, &mut script.text),
                BodyPart::Expression(range) => {
                    script.text.push_str("${");
                    script.copy(source, range.clone());
                    script.text.push('}');
                }
            }
        }
        script.text.push_str("\"\n}\n");
        script.text.push_str(if when.is_some() {
            "return [reminder_body, reminder_when]\n"
        } else {
            "return [reminder_body]\n"
        });
        script
    }

    fn copy(&mut self, source: &SourceRef, range: Range<usize>) {
        let start = offset(self.text.len());
        self.text.push_str(&source.text()[range.clone()]);
        self.copied.push((start..offset(self.text.len()), offset(range.start)));
    }

    /// Returns the place in the file of a span of the script.
    fn place(&self, span: Span) -> Option<Span> {
        let (range, at) = self.copied.iter().find(|(range, _)| range.start <= span.start && span.end <= range.end)?;
        Some(Span::new(at + (span.start - range.start), at + (span.end - range.start)))
    }

    /// Returns a diagnostic of the script as one of the file; `None` for a remark about what was written around the
    /// expressions.
    fn in_file(&self, source: &SourceRef, script: &SourceRef, mut found: Diagnostic) -> Option<Diagnostic> {
        let label = |label: &Label| {
            let span = if Arc::ptr_eq(&label.source, script) { self.place(label.span)? } else { return None };
            Some(Label { source: source.clone(), span, text: label.text.clone() })
        };
        let labels: Vec<Label> = found.labels.iter().filter_map(label).collect();
        if labels.is_empty() && found.severity != Severity::Error {
            return None;
        }
        let edit = |edit: &Edit| Some(Edit { span: self.place(edit.span)?, replacement: edit.replacement.clone() });
        let fix = |fix: &Fix| {
            Some(Fix { applicability: fix.applicability, edits: fix.edits.iter().map(edit).collect::<Option<_>>()? })
        };
        found.fixes = found.fixes.iter().filter_map(fix).collect();
        found.labels = labels;
        found.trace.clear();
        if found.labels.is_empty() {
            let text = String::from("in this expression");
            found.labels.push(Label { source: source.clone(), span: self.elsewhere, text });
        }
        Some(found)
    }
}

/// Appends a text as a part of a string literal.
fn quote(text: &str, to: &mut String) {
    for c in text.chars() {
        match c {
            '"' => to.push_str("\\\""),
            '\\' => to.push_str("\\\\"),
            '$' => to.push_str("\\$"),
            '\n' => to.push_str("\\n"),
            '\r' => to.push_str("\\r"),
            '\t' => to.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(to, "\\u{{{:x}}}", u32::from(c));
            }
            c => to.push(c),
        }
    }
}

/// The functions of a file, in an isolate of their own: nothing in it leads to the run.
pub(super) struct FileCode {
    isolate: Rc<Isolate>,
    body: Function,
    when: Option<Function>,
    script: FileScript,
    /// The script as a source, to which errors point.
    text: SourceRef,
    source: SourceRef,
}

impl FileCode {
    /// Checks and compiles the script of a file. The diagnostics may contain warnings even if there is code.
    pub(super) fn load(source: &SourceRef, script: FileScript) -> (Option<FileCode>, Vec<Diagnostic>) {
        let limits = Limits {
            fuel: Some(FUEL),
            depth: DEPTH,
            value_bytes: VALUE_BYTES,
            memory: None,
            suggestions: &OF_FILES,
            ..Limits::default()
        };
        let denied = Capability::ALL.map(Capability::right).to_vec();
        let isolate = Isolate::new(registry(), Rc::new(NoHost), limits, denied);
        let text = Source::new(source.name(), script.text.clone());
        let loaded = load(&isolate, &text, Options::default());
        let found = loaded.diagnostics.into_iter().filter_map(|d| script.in_file(source, &text, d)).collect();
        let Some(unit) = loaded.unit else { return (None, found) };
        let context = Rc::<Context>::default();
        let main = Value::Closure(Rc::new(Closure { proto: unit.main, captures: Vec::new() }));
        let function = |value: Value| Function::new(&isolate, &context, value);
        let made = function(main).map(|main| main.call([]));
        let functions = match made {
            Some(Called::Now(Ok(value))) => value.as_list().map(<[Value]>::to_vec).unwrap_or_default(),
            _ => Vec::new(),
        };
        let mut functions = functions.into_iter().filter_map(function);
        let (body, when) = (functions.next(), functions.next());
        let code = body.map(|body| FileCode { isolate, body, when, script, text, source: source.clone() });
        (code, found)
    }

    /// Returns whether the file applies to an event.
    ///
    /// # Errors
    /// Fails like the expression, at its place in the file.
    pub(super) fn when(&self, event: &Value) -> Result<bool, Box<Raise>> {
        let Some(when) = &self.when else { return Ok(true) };
        match self.call(when, event)? {
            Value::Bool(holds) => Ok(holds),
            other => {
                let message = format!("`when` must be a bool, found {}", article(other.type_name()));
                Err(self.at(Raise::error(RunCode::Type, message), "this expression"))
            }
        }
    }

    /// Returns the body for an event.
    ///
    /// # Errors
    /// Fails like its expressions, at their places in the file.
    pub(super) fn body(&self, event: &Value) -> Result<Arc<str>, Box<Raise>> {
        let made = self.call(&self.body, event)?;
        Ok(made.as_str().unwrap_or_default().into())
    }

    fn call(&self, function: &Function, event: &Value) -> Result<Value, Box<Raise>> {
        self.isolate.refuel();
        match function.call([event.clone()]) {
            Called::Now(Ok(value)) => Ok(value),
            Called::Now(Err(raise)) => Err(self.raised(&raise)),
            Called::Later(_) => {
                Err(self
                    .at(Raise::error(RunCode::Outside, "an expression of a reminder file cannot wait"), "this file"))
            }
        }
    }

    /// Returns the error of an expression at its place in the file.
    fn raised(&self, raise: &Raise) -> Box<Raise> {
        let found = raise.to_diagnostic();
        let mut own = Raise::error(found.code, found.message.clone());
        own.help.clone_from(&found.help);
        own.notes.clone_from(&found.notes);
        let place =
            self.script.in_file(&self.source, &self.text, found).and_then(|found| found.labels.into_iter().next());
        match place {
            Some(Label { span, text, .. }) => own.labelled(text).at(&self.source, span),
            None => self.at(own, ""),
        }
    }

    fn at(&self, raise: Box<Raise>, label: &str) -> Box<Raise> {
        raise.labelled(label).at(&self.source, self.script.elsewhere)
    }
}
