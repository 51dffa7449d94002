//! [`Verdict`]: what a handler answers, read from whatever a script returned.
//!
//! A handler allows (`nil`, `true`), blocks (`false`, `{block: true, reason}`, `{decision: "deny", reason}`, `{deny: reason}`),
//! changes (`{modify: payload}`, `{args}`, `{result}`) or returns reminder effects: `{reminder, then?}`, `{effects: […]}`, a list, or a
//! bare spec. A malformed reminder does not take the decision with it: it is reported beside it.

use std::sync::Arc;

use crate::data::{Data, Entries};
use crate::reminder::{ReminderCode, ReminderError, ReminderSpec};

use super::EventKind;

/// What is to be done.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Decision {
    /// Go on.
    #[default]
    Allow,
    /// Do not.
    Block {
        /// Why.
        reason: Arc<str>,
    },
    /// Go on with this payload: changed arguments before a tool call, a changed result after it, a changed prompt.
    Modify(Data),
}

/// What a handler answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verdict {
    /// What is to be done.
    pub decision: Decision,
    /// Reminders to be added.
    pub effects: Vec<ReminderSpec>,
    /// Reminders that cannot be added, and why.
    pub malformed: Vec<ReminderError>,
}

impl Verdict {
    /// Go on.
    #[must_use]
    pub fn allow() -> Verdict {
        Verdict::default()
    }

    /// Do not.
    pub fn block(reason: impl Into<Arc<str>>) -> Verdict {
        Verdict { decision: Decision::Block { reason: reason.into() }, ..Verdict::default() }
    }

    /// Go on with another payload.
    #[must_use]
    pub fn modify(payload: Data) -> Verdict {
        Verdict { decision: Decision::Modify(payload), ..Verdict::default() }
    }

    /// Reads what a handler returned for an event.
    #[must_use]
    pub fn from_data(kind: EventKind, returned: &Data) -> Verdict {
        let mut verdict = Verdict::default();
        verdict.read(kind, returned, "");
        if kind.is_worker() && !(verdict.effects.is_empty() && verdict.malformed.is_empty()) {
            verdict.effects.clear();
            verdict.malformed = vec![worker_effect(kind)];
        }
        verdict
    }

    fn read(&mut self, kind: EventKind, returned: &Data, path: &str) {
        match returned {
            Data::Nil | Data::Bool(true) => {}
            Data::Bool(false) => self.decision = Decision::Block { reason: default_reason(kind) },
            Data::Str(text) if kind == EventKind::PostToolUse => {
                self.decision = Decision::Modify(Data::from(text));
            }
            Data::List(items) => self.read_effects(items, path),
            Data::Dict(entries) => self.read_dict(kind, entries, returned, path),
            other => self.malformed.push(ReminderError::new(
                ReminderCode::Shape,
                path,
                format!(
                    "a `{kind}` hook may return nil, a bool, a dict or a list of effects, got {}",
                    other.type_name()
                ),
            )),
        }
    }

    fn read_dict(&mut self, kind: EventKind, entries: &Entries, returned: &Data, path: &str) {
        if let Some(reminder) = entries.get("reminder") {
            self.read_spec(reminder, &join(path, "reminder"));
            if let Some(then) = entries.get("then") {
                self.read(kind, then, &join(path, "then"));
            }
            self.refuse_unknown(entries, &["reminder", "then"], path);
            return;
        }
        if let Some(effects) = entries.get("effects") {
            let inner = join(path, "effects");
            match effects.as_list() {
                Some(items) => self.read_effects(items, &inner),
                None => self.malformed.push(ReminderError::new(
                    ReminderCode::Shape,
                    inner,
                    format!("`effects` must be a list, got {}", effects.type_name()),
                )),
            }
        }
        if let Some(word) = unknown_decision(entries) {
            let message = format!("unknown `decision` {word:?}");
            let error = ReminderError::new(ReminderCode::Shape, join(path, "decision"), message);
            self.malformed.push(error.help("write \"allow\" or \"deny\""));
        }
        if let Some(decision) = read_decision(kind, entries) {
            self.decision = decision;
        } else if !entries.contains_key("effects") && looks_like_spec(kind, entries) {
            self.read_spec(returned, path);
        }
    }

    fn read_effects(&mut self, items: &[Data], path: &str) {
        for (index, item) in items.iter().enumerate() {
            let inner = join(path, &index.to_string());
            match item.as_dict() {
                Some(entries) if entries.contains_key("reminder") => {
                    self.read_spec(item.get("reminder"), &join(&inner, "reminder"));
                    self.refuse_unknown(entries, &["reminder"], &inner);
                }
                _ => self.read_spec(item, &inner),
            }
        }
    }

    fn read_spec(&mut self, data: &Data, path: &str) {
        match ReminderSpec::from_data(data) {
            Ok(spec) => self.effects.push(spec),
            Err(error) => self.malformed.push(error.under(path)),
        }
    }

    fn refuse_unknown(&mut self, entries: &Entries, known: &[&'static str], path: &str) {
        for key in entries.keys().filter(|key| !known.contains(&key.as_ref())) {
            self.malformed.push(
                ReminderError::new(
                    ReminderCode::Shape,
                    join(path, key),
                    format!("unknown key `{key}` beside `reminder`"),
                )
                .suggest(crate::words::nearest(key, known.iter().copied())),
            );
        }
    }
}

/// Reads the effects of a reminder provider: nil, a bare spec, `{reminder}`, `{effects}` or a list.
pub fn read_effects(returned: &Data) -> Result<Vec<ReminderSpec>, ReminderError> {
    let mut verdict = Verdict::default();
    match returned {
        Data::Nil => {}
        Data::List(items) => verdict.read_effects(items, ""),
        Data::Dict(entries) if entries.contains_key("reminder") => {
            verdict.read_effects(std::slice::from_ref(returned), "");
        }
        Data::Dict(entries) if entries.contains_key("effects") => match returned.get("effects").as_list() {
            Some(items) => verdict.read_effects(items, "effects"),
            None => verdict.read_spec(returned, ""),
        },
        other => verdict.read_spec(other, ""),
    }
    // A single `{reminder}` was read as a list of one; its path has no index.
    let strip = |mut error: ReminderError| {
        if matches!(returned, Data::Dict(_)) {
            error.field = error.field.strip_prefix("0.").unwrap_or(&error.field).to_owned();
        }
        error
    };
    verdict.malformed.into_iter().next().map_or(Ok(verdict.effects), |error| Err(strip(error)))
}

/// A decision that is none of those known. It must not pass for consent in silence.
fn unknown_decision(entries: &Entries) -> Option<&str> {
    let word = entries.get("decision")?.as_str().unwrap_or("");
    (!matches!(word, "allow" | "approve" | "deny" | "block")).then_some(word)
}

fn read_decision(kind: EventKind, entries: &Entries) -> Option<Decision> {
    let text = |key: &str| entries.get(key).and_then(Data::as_shared_str);
    let reason = || text("reason").unwrap_or_else(|| default_reason(kind));
    if entries.get("block").is_some_and(Data::truthy) {
        return Some(Decision::Block { reason: reason() });
    }
    match entries.get("deny") {
        Some(Data::Str(why)) => return Some(Decision::Block { reason: why.clone() }),
        Some(other) if other.truthy() => return Some(Decision::Block { reason: reason() }),
        _ => {}
    }
    match entries.get("decision").and_then(Data::as_str) {
        Some("deny" | "block") => return Some(Decision::Block { reason: reason() }),
        Some("allow" | "approve") => return Some(Decision::Allow),
        _ => {}
    }
    let modified = match kind {
        EventKind::PreToolUse => entries.get("args").or_else(|| entries.get("modify")),
        EventKind::PostToolUse => entries.get("result").or_else(|| entries.get("modify")),
        _ => entries.get("modify"),
    };
    modified.map(|payload| Decision::Modify(payload.clone()))
}

/// A dict without any word of a decision is meant as a reminder: with a `body`, or with a key that only reminders have. For
/// events whose handlers answer with an ordinary dict nothing else is guessed.
fn looks_like_spec(kind: EventKind, entries: &Entries) -> bool {
    let decides = ["block", "deny", "decision", "modify", "reason"].iter().any(|key| entries.contains_key(*key));
    let names_one = entries.keys().any(|key| ReminderSpec::KEYS.contains(&key.as_ref()));
    !decides && (names_one || !(kind.is_worker() || entries.is_empty()))
}

fn default_reason(kind: EventKind) -> Arc<str> {
    format!("a {kind} hook refused it").into()
}

/// The error of a worker hook that returned a reminder.
fn worker_effect(kind: EventKind) -> ReminderError {
    ReminderError::new(
        ReminderCode::HookEvent,
        "reminder",
        format!("a hook on `{kind}` cannot add reminders, it only observes"),
    )
    .help("return the reminder from a session, tool, step or persona hook")
}

fn join(path: &str, step: &str) -> String {
    if path.is_empty() { step.to_owned() } else { format!("{path}.{step}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: EventKind, json: &str) -> Verdict {
        Verdict::from_data(kind, &Data::from_json(json).unwrap())
    }

    #[test]
    fn all_four_shapes_of_effects_are_read() {
        for json in [
            r#"{"reminder":{"body":"x"}}"#,
            r#"{"effects":[{"body":"x"}]}"#,
            r#"[{"reminder":{"body":"x"}}]"#,
            r#"[{"body":"x"}]"#,
            r#"{"body":"x"}"#,
        ] {
            let verdict = read(EventKind::PostToolUse, json);
            assert_eq!(verdict.effects, [ReminderSpec::new("x")], "{json}");
            assert_eq!((verdict.decision, verdict.malformed), (Decision::Allow, vec![]), "{json}");
            assert_eq!(read_effects(&Data::from_json(json).unwrap()).unwrap(), [ReminderSpec::new("x")], "{json}");
        }
    }

    #[test]
    fn decisions_are_read_beside_reminders() {
        let deny = read(EventKind::PreToolUse, r#"{"reminder":{"body":"x","ttl":1},"then":{"deny":"no"}}"#);
        assert_eq!(deny.decision, Decision::Block { reason: "no".into() });
        assert_eq!(deny.malformed[0].field, "reminder.ttl");
        assert_eq!(
            read(EventKind::PreToolUse, r#"{"args":{"a":1}}"#).decision,
            Decision::Modify(Data::dict([("a", 1.into())]))
        );
        assert_eq!(read(EventKind::PostToolUse, r#""short""#).decision, Decision::Modify("short".into()));
        for json in ["false", r#"{"block":true,"reason":"r"}"#, r#"{"decision":"deny"}"#] {
            assert!(matches!(read(EventKind::UserPromptSubmit, json).decision, Decision::Block { .. }), "{json}");
        }
        assert_eq!(read(EventKind::PostTurn, "null"), Verdict::allow());
    }

    #[test]
    fn worker_events_refuse_reminders() {
        let verdict = read(EventKind::WorkerResumed, r#"{"reminder":{"body":"x"}}"#);
        assert_eq!(verdict.malformed[0].code, ReminderCode::HookEvent);
        assert!(verdict.effects.is_empty());
        assert_eq!(read(EventKind::WorkerResumed, r#"{"noted":true}"#), Verdict::allow());
    }

    #[test]
    fn a_misspelt_reminder_is_not_swallowed() {
        assert_eq!(read(EventKind::PostTurn, r#"{"bdy":"x"}"#).malformed[0].suggestion.as_deref(), Some("body"));
        assert_eq!(read(EventKind::PostTurn, "3").malformed.len(), 1);
        assert_eq!(read(EventKind::PreToolUse, r#"{"decision":"dney"}"#).malformed[0].field, "decision");
    }
}
