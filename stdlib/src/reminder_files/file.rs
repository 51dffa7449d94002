//! One reminder file.

use super::code::{FileCode, FileScript};
use super::front_matter::{FrontMatter, YamlKey, YamlKind, YamlNode, offset, split};
use super::template::parts;
use crate::catalogue::from_core;
use crate::codes::ReminderFileCode;
use base::data::Data;
use globset::{Glob, GlobMatcher};
use lang::diagnostic::{Diagnostic, Severity, nearest};
use lang::source::{SourceRef, Span};
use lang::value::Value;
use lang::vm::Raise;
use runtime::events::EventKind;
use runtime::reminder::limits::max_body;
use runtime::reminder::{ReminderCode, ReminderError, ReminderField, ReminderSpec, Surface};
use std::sync::Arc;

/// The keys of the front matter that are not fields of a reminder.
const OWN: [&str; 3] = ["on", "when", "models"];

/// The fields of a reminder that a file gives in another way, or cannot give.
const NOT_HERE: [ReminderField; 4] =
    [ReminderField::Body, ReminderField::Bodies, ReminderField::When, ReminderField::Until];

/// A file that can be used.
pub(crate) struct ReminderFile {
    /// Its name in the folder, such as `tests.md`.
    pub(super) name: Arc<str>,
    /// Its text.
    pub(super) source: SourceRef,
    /// The event at which it is evaluated.
    pub(super) event: EventKind,
    models: Option<Vec<GlobMatcher>>,
    /// The reminder without its body.
    spec: ReminderSpec,
    /// The place of the body.
    body: Span,
    code: FileCode,
}

/// Returns the keys of the front matter.
fn keys() -> impl Iterator<Item = &'static str> + Clone {
    let fields = ReminderField::SPEC.iter().chain([&ReminderField::Expect]);
    OWN.into_iter().chain(fields.filter(|field| !NOT_HERE.contains(field)).map(|field| field.name(Surface::Script)))
}

impl ReminderFile {
    /// Reads a file. Without errors among the diagnostics there is a file.
    pub(super) fn read(name: &str, source: &SourceRef) -> (Option<ReminderFile>, Vec<Diagnostic>) {
        let front = match split(source) {
            Ok(front) => front,
            Err(found) => return (None, vec![found]),
        };
        let mut found = Vec::new();
        let event = event(source, &front, &mut found);
        let models = models(source, &front, &mut found);
        let spec = spec(source, &front, &mut found);
        let body = Span::new(offset(front.body.start), offset(front.body.end));
        if front.body.is_empty() {
            found.push(
                Diagnostic::new(from_core(ReminderCode::Shape), "missing body of the reminder")
                    .label(source, front.span, "nothing follows this front matter")
                    .help("write what the model should know after the second `---`"),
            );
        }
        let parts = parts(source, front.body.clone()).map_err(|wrong| found.push(wrong)).unwrap_or_default();
        let when = when(source, &front, &mut found);
        // Without a known event nothing is known about its payload.
        let checked = event.map(|event| {
            let script = FileScript::new(source, event, when, &parts, body);
            let (code, wrong) = FileCode::load(source, script);
            found.extend(wrong);
            code
        });
        found.sort_by_key(Diagnostic::position);
        if found.iter().any(|d| d.severity == Severity::Error) {
            return (None, found);
        }
        let made = event.zip(checked.flatten()).zip(spec).map(|((event, code), spec)| ReminderFile {
            name: name.into(),
            source: source.clone(),
            event,
            models,
            spec,
            body,
            code,
        });
        (made, found)
    }

    /// Returns the id of its provider.
    pub(super) fn id(&self) -> Arc<str> {
        runtime::reminder_providers::file_provider_id(&self.name)
    }

    /// Returns the reminder for an event; `None` if it does not apply, or its body is blank.
    ///
    /// # Errors
    /// Fails like its expressions, at their places in the file.
    pub(super) fn evaluate(&self, event: &Value, model: Option<&str>) -> Result<Option<ReminderSpec>, Box<Raise>> {
        let fits = |globs: &Vec<GlobMatcher>| model.is_some_and(|model| globs.iter().any(|glob| glob.is_match(model)));
        if !self.models.as_ref().is_none_or(fits) || !self.code.when(event)? {
            return Ok(None);
        }
        let body = self.code.body(event)?;
        if body.trim().is_empty() {
            return Ok(None);
        }
        if body.len() > max_body() {
            let message =
                format!("the body of a reminder file has {} bytes; at most {} are allowed", body.len(), max_body());
            let raise = Raise::error(from_core(ReminderCode::Shape), message).labelled("with its values filled in");
            return Err(raise.at(&self.source, self.body).help("shorten it, or the values in it"));
        }
        Ok(Some(ReminderSpec { body, ..self.spec.clone() }))
    }
}

/// Returns the value of a key, unless nothing is written after it.
fn entry<'a>(front: &'a FrontMatter, key: &str) -> Option<&'a (YamlKey, YamlNode)> {
    front.entries.iter().find(|(known, value)| known.text == key && !value.is_empty())
}

/// Reads `on`; a file without it is evaluated when a loop starts.
fn event(source: &SourceRef, front: &FrontMatter, found: &mut Vec<Diagnostic>) -> Option<EventKind> {
    let Some((_, value)) = entry(front, "on") else { return Some(EventKind::SessionStart) };
    let YamlKind::Scalar { text, .. } = &value.kind else {
        found.push(wrong(source, value.span, "`on` must be the name of an event", "write `on: session_start`"));
        return None;
    };
    let event = EventKind::parse(text).ok().filter(|event| event.is_for_providers());
    if event.is_none() {
        let known = || EventKind::ALL.iter().filter(|event| event.is_for_providers()).map(|event| event.as_str());
        let unknown = Diagnostic::new(ReminderFileCode::Invalid, format!("unknown event `{text}`"))
            .label(source, value.span, "unknown");
        found.push(match nearest(text, known()) {
            Some(near) => unknown.help(format!("did you mean `{near}`?")).fix(value.span, near),
            None => unknown.help(format!("the events are {}", known().collect::<Vec<_>>().join(", "))),
        });
    }
    event
}

/// Reads `models`: a glob or a list of globs.
fn models(source: &SourceRef, front: &FrontMatter, found: &mut Vec<Diagnostic>) -> Option<Vec<GlobMatcher>> {
    const HELP: &str = "write `models: [\"claude-*\", \"gpt-5*\"]`";
    let (_, value) = entry(front, "models")?;
    let items = match &value.kind {
        YamlKind::List(items) => items.as_slice(),
        _ => std::slice::from_ref(value),
    };
    let glob = |item: &YamlNode| -> Result<GlobMatcher, Box<Diagnostic>> {
        let data = item.to_data();
        let Some(text) = data.as_str().filter(|text| !text.trim().is_empty()) else {
            return Err(Box::new(wrong(source, item.span, "a model must be a name or a glob", HELP)));
        };
        let glob = Glob::new(text).map(|glob| glob.compile_matcher());
        glob.map_err(|error| Box::new(wrong(source, item.span, &format!("invalid glob: {}", error.kind()), HELP)))
    };
    let mut globs = Vec::with_capacity(items.len());
    for item in items {
        match glob(item) {
            Ok(glob) => globs.push(glob),
            Err(invalid) => found.push(*invalid),
        }
    }
    Some(globs)
}

/// Returns the place of the expression `when`.
fn when(source: &SourceRef, front: &FrontMatter, found: &mut Vec<Diagnostic>) -> Option<Span> {
    let (_, value) = entry(front, "when")?;
    match &value.kind {
        YamlKind::Scalar { text, at: Some(at), .. } => Some(Span::new(*at, at + offset(text.len()))),
        YamlKind::Scalar { .. } => {
            let help = "write it on one line, in single quotes if it contains `: ` or ` #`: `when: 'event.ok'`";
            found.push(wrong(source, value.span, "`when` must be on one line, without YAML escapes", help));
            None
        }
        _ => {
            found.push(wrong(source, value.span, "`when` must be an expression", "write `when: event.iteration > 3`"));
            None
        }
    }
}

/// Reads the fields of the reminder. Each error is removed and the rest read again, so that all are found.
fn spec(source: &SourceRef, front: &FrontMatter, found: &mut Vec<Diagnostic>) -> Option<ReminderSpec> {
    let mut data = Data::dict([("body", Data::from("?"))]);
    for (key, value) in front.entries.iter().filter(|(key, _)| !OWN.contains(&key.text.as_str())) {
        if keys().any(|known| known == key.text) {
            data.set(key.text.as_str(), value.to_data());
        } else {
            found.push(unknown(source, key));
        }
    }
    let mut errors = 0;
    loop {
        let error = match ReminderSpec::from_data(&data) {
            Ok(spec) => {
                if errors == 0 {
                    found.extend(unbounded(source, front, &spec));
                }
                return Some(spec);
            }
            Err(error) => error,
        };
        errors += 1;
        let field = error.field.split('.').next().unwrap_or_default().to_owned();
        let at = front.entries.iter().find(|(key, _)| key.text == field);
        found.push(invalid(source, at.map_or(front.span, |(_, value)| value.span), &error));
        if at.is_none() || errors > 16 {
            return None;
        }
        data.set(field.as_str(), Data::Nil);
    }
}

fn unknown(source: &SourceRef, key: &YamlKey) -> Diagnostic {
    let d = Diagnostic::new(from_core(ReminderCode::Shape), format!("unknown key `{}` in a reminder file", key.text))
        .label(source, key.span, "unknown");
    match key.text.as_str() {
        "body" => d.help("write the body after the second `---`"),
        "bodies" => d.help("write one file for each group of models, with `models`"),
        "until" => d.help("end it with `ttl_turns` or `max_times`, or write the reminder in a script"),
        text => match nearest(text, keys()) {
            Some(near) => d.did_you_mean(key.span, near, lang::diagnostic::fix::Applicability::of_name(text)),
            None => d.help(format!("the keys are {}", keys().collect::<Vec<_>>().join(", "))),
        },
    }
}

fn invalid(source: &SourceRef, span: Span, error: &ReminderError) -> Diagnostic {
    let d = Diagnostic::new(from_core(error.code), error.message.clone()).label(source, span, "this value");
    let d = match &error.suggestion {
        Some(near) => d.fix(span, near.clone()),
        None => d,
    };
    match &error.help {
        Some(help) => d.help(help.clone()),
        None => d,
    }
}

/// The warning for a reminder that never ends and is lost at a compaction.
fn unbounded(source: &SourceRef, front: &FrontMatter, spec: &ReminderSpec) -> Option<Diagnostic> {
    let ends = spec.ttl_turns.is_some() || spec.rules.as_ref().is_some_and(|rules| rules.max_times.is_some());
    (!ends && !spec.preserve_on_compact).then(|| {
        Diagnostic::new(from_core(ReminderCode::Unbounded), "this reminder has no finite TTL and is not preserved")
            .label(source, front.span, "never expires, and is discarded at the next compaction")
            .help("add `ttl_turns: 3`, or `preserve_on_compact: true` if it is meant to last")
    })
}

fn wrong(source: &SourceRef, span: Span, message: &str, help: &str) -> Diagnostic {
    Diagnostic::new(ReminderFileCode::Invalid, message).label(source, span, "this value").help(help)
}
