//! [`Verdict`]: a handler's answer, read from the value that a script returned.
//!
//! A handler allows (`nil`, `true`), blocks (`false`, `{block: true, reason}`, `{decision: "deny", reason}`, `{deny:
//! reason}`), changes (`{modify: payload}`, `{args}`, `{result}`) or returns reminder effects: `{reminder, then?}`,
//! `{clear: selector}`, `{effects: […]}`, a list, or a bare spec; a decision may accompany the effects. A malformed
//! reminder is reported and does not invalidate the decision. For a tool call or a prompt that can be refused, an
//! unreadable answer refuses it.

use std::sync::Arc;

use base::data::{Data, Entries};
use base::words::nearest;

use crate::events::EventKind;
use crate::lifecycle::Selector;
use crate::lifecycle::archive::CompactOptions;
use crate::reminder::misnomer::CLEAR;
use crate::reminder::{ReminderCode, ReminderError, ReminderSpec};

use super::action::new_prompt;

/// A handler's decision.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Decision {
    /// Goes on.
    #[default]
    Allow,
    /// Does not go on.
    Block {
        /// The reason.
        reason: Arc<str>,
    },
    /// Goes on with this payload: changed arguments before a tool call, a changed result after it, a changed prompt.
    Modify(Data),
}

/// A handler's answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verdict {
    /// The decision of any handler; the event reads its own action from it.
    pub(crate) decision: Decision,
    /// Pending reminders to clear before any is added.
    pub clears: Vec<Selector>,
    /// Reminders to add.
    pub effects: Vec<ReminderSpec>,
    /// Reminders that cannot be added or cleared, with the reasons.
    pub malformed: Vec<ReminderError>,
    /// Changes that cannot be made, in words for the handler's author.
    pub unusable: Vec<String>,
    /// Number of reminders that were not examined because there were too many.
    pub(super) refused: usize,
}

impl Verdict {
    /// Maximum number of reminders in one answer.
    pub const MOST: usize = 64;
    /// Number of malformed reminders after which the rest is not examined.
    pub const MOST_MALFORMED: usize = 8;

    /// Returns a verdict that goes on.
    #[must_use]
    pub fn allow() -> Verdict {
        Verdict::default()
    }

    /// Reads a handler's answer to an event.
    #[must_use]
    pub fn from_data(kind: EventKind, returned: &Data) -> Verdict {
        let mut verdict = Verdict::default();
        verdict.read(kind, returned, "");
        verdict.tell_refused();
        let has_effects = !(verdict.effects.is_empty() && verdict.clears.is_empty() && verdict.malformed.is_empty());
        if kind.is_worker() && has_effects {
            verdict.clears.clear();
            verdict.effects.clear();
            verdict.malformed = vec![worker_effect(kind)];
        }
        verdict
    }

    fn read(&mut self, kind: EventKind, returned: &Data, path: &str) {
        match returned {
            Data::Nil | Data::Bool(true) => {}
            Data::Bool(false) => self.decide(Decision::Block { reason: default_reason(kind) }),
            Data::Str(text) if kind == EventKind::PostToolUse => self.decide(Decision::Modify(Data::from(text))),
            Data::List(items) => self.read_list(kind, items, path),
            Data::Dict(entries) => self.read_dict(kind, entries, returned, path),
            other => {
                let text = if kind == EventKind::PostToolUse { "a string, " } else { "" };
                let message = format!(
                    "a `{kind}` hook may return nil, a bool, {text}a dict or a list of effects, got {}",
                    other.type_name()
                );
                self.unreadable(kind, &message);
                self.blame(ReminderError::new(ReminderCode::Shape, path, message));
            }
        }
    }

    /// Reports the refused reminders as one mistake instead of thousands.
    fn tell_refused(&mut self) {
        if self.refused == 0 {
            return;
        }
        let refused = self.refused;
        let message = if self.effects.len() >= Self::MOST {
            format!("one result can contain at most {} reminders; {refused} more were ignored", Self::MOST)
        } else {
            format!("after {} malformed reminders in one result, {refused} more were not read", Self::MOST_MALFORMED)
        };
        self.malformed.push(ReminderError::new(ReminderCode::Shape, "", message).help("return fewer reminders"));
    }

    /// Records a malformed reminder. Beyond a limit they are only counted.
    fn blame(&mut self, error: ReminderError) {
        if self.malformed.len() >= Self::MOST_MALFORMED {
            self.refused += 1;
        } else {
            self.malformed.push(error);
        }
    }

    /// Returns whether a change can be made. An invalid change of a prompt counts as a refusal; a compaction goes on
    /// unchanged.
    fn check_change(&mut self, kind: EventKind, payload: &Data) -> bool {
        let why = match kind {
            EventKind::UserPromptSubmit if new_prompt(payload).is_none() => {
                let given = payload.as_dict().into_iter().flatten().map(|(key, _)| key.as_ref());
                let near = nearest("prompt", given).map_or_else(String::new, |near| format!(" (you wrote `{near}`)"));
                format!("`modify` of a prompt must be a string or contain a string `prompt`{near}")
            }
            EventKind::PreCompact => match CompactOptions::default().modified(payload) {
                Ok(_) => return true,
                Err(why) => why,
            },
            _ => return true,
        };
        self.unreadable(kind, &why);
        self.unusable.push(why);
        false
    }

    /// Keeps the stricter of two decisions.
    fn decide(&mut self, decision: Decision) {
        match (&self.decision, &decision) {
            (Decision::Block { .. }, _) | (_, Decision::Allow) => {}
            _ => self.decision = decision,
        }
    }

    /// Records an unreadable answer. A guard that fails does not allow the call.
    fn unreadable(&mut self, kind: EventKind, why: &str) {
        if matches!(kind, EventKind::PreToolUse | EventKind::UserPromptSubmit) {
            self.decide(Decision::Block {
                reason: format!("the result of a `{kind}` hook is not a decision: {why}").into(),
            });
        }
    }

    fn read_dict(&mut self, kind: EventKind, entries: &Entries, returned: &Data, path: &str) {
        // The common answer, which needs no further search.
        if let (1, Some(reminder)) = (entries.len(), entries.get("reminder")) {
            return self.read_spec(reminder, &join(path, "reminder"));
        }
        if let Some(reminder) = entries.get("reminder") {
            self.read_spec(reminder, &join(path, "reminder"));
        }
        if let Some(selector) = entries.get("clear") {
            match Selector::from_data(selector) {
                Ok(_) if self.clears.len() >= Self::MOST => self.refused += 1,
                Ok(selector) => self.clears.push(selector),
                Err(error) => self.blame(error.under(&join(path, "clear"))),
            }
        }
        if let Some(effects) = entries.get("effects") {
            let inner = join(path, "effects");
            match effects.as_list() {
                Some(items) => self.read_list(kind, items, &inner),
                None => self.blame(ReminderError::new(
                    ReminderCode::Shape,
                    inner,
                    format!("`effects` must be a list, got {}", effects.type_name()),
                )),
            }
        }
        if let Some(then) = entries.get("then") {
            self.read(kind, then, &join(path, "then"));
        }
        if let Some(word) = unknown_decision(entries) {
            let message = format!("unknown `decision` {word:?}");
            self.unreadable(kind, &message);
            let error = ReminderError::new(ReminderCode::Shape, join(path, "decision"), message);
            self.blame(error.help("write \"allow\" or \"deny\""));
        }
        let decision = read_decision(kind, entries);
        let decides = decision.is_some();
        match decision {
            Some(Decision::Modify(payload)) if !self.check_change(kind, &payload) => {}
            Some(decision) => self.decide(decision),
            None => {}
        }
        let holds_effects = EFFECTS.iter().any(|key| entries.contains_key(key));
        let bare = !decides && !holds_effects && looks_like_spec(entries);
        if bare {
            self.read_spec(returned, path);
        }
        self.refuse_unknown(kind, entries, decides, bare, path);
    }

    /// Reports unknown keys. Without a decision next to them one of them may be a misspelt decision.
    fn refuse_unknown(&mut self, kind: EventKind, entries: &Entries, decides: bool, bare: bool, path: &str) {
        let known = || answer_keys(kind).chain(EFFECTS);
        let is_spec = |key: &str| bare && ReminderSpec::KEYS.contains(&key);
        let means_nothing = |key: &&str| !known().any(|known| known == *key) && !is_spec(key);
        let unknown: Vec<&str> = entries.keys().map(AsRef::as_ref).filter(means_nothing).collect();
        // Values read as reminders have been reported already, and observers may answer anything.
        let tells = !bare && !kind.is_worker();
        if unknown.len() > 1 && unknown.len() == entries.len() {
            let message = format!("the result of a `{kind}` hook has no effect: {}", listed(&unknown));
            self.unreadable(kind, &message);
            if tells {
                self.blame(ReminderError::new(ReminderCode::Shape, path, message).help(OBSERVER));
            }
            return;
        }
        for key in unknown {
            let message = format!("unknown key `{key}` in the result of a `{kind}` hook");
            if !decides {
                self.unreadable(kind, &message);
            }
            if tells {
                let near = nearest(key, known().chain(ReminderSpec::KEYS.iter().copied()));
                let error = ReminderError::new(ReminderCode::Shape, join(path, key), message);
                self.blame(error.suggest(near).or_help(OBSERVER));
            }
        }
        let alone = entries.contains_key("reason") && !decides && kind.can_be_vetoed();
        if alone && !entries.contains_key("decision") && !entries.contains_key("then") {
            let message = format!("a `reason` without a decision in the result of a `{kind}` hook");
            self.unreadable(kind, &message);
            let error = ReminderError::new(ReminderCode::Shape, join(path, "reason"), message);
            self.blame(error.help("write `{block: true, reason: \"…\"}` or `{deny: \"…\"}`"));
        }
    }

    /// Reads a handler's list: effects and decisions.
    fn read_list(&mut self, kind: EventKind, items: &[Data], path: &str) {
        for (index, item) in items.iter().enumerate() {
            let inner = join(path, &index.to_string());
            match item.as_dict() {
                Some(entries) if !entries.is_empty() => self.read_dict(kind, entries, item, &inner),
                _ => self.read_spec(item, &inner),
            }
        }
    }

    /// Reads a provider's list, which contains no decision.
    fn read_effects(&mut self, items: &[Data], path: &str) {
        for (index, item) in items.iter().enumerate() {
            self.read_effect(item, &join(path, &index.to_string()));
        }
    }

    fn read_effect(&mut self, item: &Data, path: &str) {
        let Some(entries) = item.as_dict().filter(|entries| entries.contains_key("reminder")) else {
            return self.read_spec(item, path);
        };
        self.read_spec(item.get("reminder"), &join(path, "reminder"));
        for key in entries.keys().filter(|key| key.as_ref() != "reminder") {
            let message = format!("unknown key `{key}` next to `reminder`");
            let error = ReminderError::new(ReminderCode::Shape, join(path, key), message);
            self.blame(if key.as_ref() == "clear" { error.help(CLEAR) } else { error });
        }
    }

    fn read_spec(&mut self, data: &Data, path: &str) {
        if self.effects.len() >= Self::MOST || self.malformed.len() >= Self::MOST_MALFORMED {
            self.refused += 1;
            return;
        }
        match ReminderSpec::from_data(data) {
            Ok(spec) => self.effects.push(spec),
            Err(error) => self.blame(error.under(path)),
        }
    }
}

/// The effects that a provider returned: each reminder is separate, so a malformed one does not invalidate the others.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProviderEffects {
    /// Reminders to add.
    pub specs: Vec<ReminderSpec>,
    /// The reminders that cannot be added, and why.
    pub malformed: Vec<ReminderError>,
}

/// Reads the effects of a reminder provider: nil, a bare spec, `{reminder}`, `{effects}` or a list.
#[must_use]
pub fn read_effects(returned: &Data) -> ProviderEffects {
    let mut verdict = Verdict::default();
    match returned {
        Data::Nil => {}
        Data::List(items) => verdict.read_effects(items, ""),
        other => match other.get("effects").as_list() {
            Some(items) if other.get("reminder").is_nil() => verdict.read_effects(items, "effects"),
            _ => verdict.read_effect(other, ""),
        },
    }
    verdict.tell_refused();
    ProviderEffects { specs: verdict.effects, malformed: verdict.malformed }
}

/// The keys of an answer that concern reminders.
const EFFECTS: [&str; 4] = ["reminder", "clear", "effects", "then"];

/// Returns the keys of an answer, effects excluded.
fn answer_keys(kind: EventKind) -> impl Iterator<Item = &'static str> {
    let own = match kind {
        EventKind::PreToolUse => Some("args"),
        EventKind::PostToolUse => Some("result"),
        _ => None,
    };
    ["block", "deny", "decision", "reason", "modify"].into_iter().chain(own)
}

/// Returns an unknown decision, which must not silently pass for consent.
fn unknown_decision(entries: &Entries) -> Option<&str> {
    let word = entries.get("decision")?.as_str().unwrap_or("");
    (!matches!(word, "allow" | "approve" | "deny" | "block")).then_some(word)
}

/// Returns the decision in a dict; `None` if it has no key of a decision.
fn read_decision(kind: EventKind, entries: &Entries) -> Option<Decision> {
    let text = |key: &str| entries.get(key).and_then(Data::as_shared_str).filter(|text| !text.trim().is_empty());
    let given = |key: &str| entries.get(key).filter(|value| !value.is_nil());
    let reason = || text("reason").unwrap_or_else(|| default_reason(kind));
    if entries.get("block").is_some_and(Data::truthy) {
        return Some(Decision::Block { reason: reason() });
    }
    match entries.get("deny") {
        Some(Data::Str(_)) => return Some(Decision::Block { reason: text("deny").unwrap_or_else(reason) }),
        Some(other) if other.truthy() => return Some(Decision::Block { reason: reason() }),
        _ => {}
    }
    if matches!(entries.get("decision").and_then(Data::as_str), Some("deny" | "block")) {
        return Some(Decision::Block { reason: reason() });
    }
    let modified = match kind {
        EventKind::PreToolUse => given("args").or_else(|| given("modify")),
        EventKind::PostToolUse => given("result").or_else(|| given("modify")),
        _ => given("modify"),
    };
    if let Some(payload) = modified {
        return Some(Decision::Modify(payload.clone()));
    }
    // `{deny: nil}`, `{block: false}` and the like: the handler decided to allow.
    let allows = matches!(entries.get("decision").and_then(Data::as_str), Some("allow" | "approve"));
    let decided = answer_keys(kind).filter(|key| !matches!(*key, "decision" | "reason"));
    (allows || decided.into_iter().any(|key| entries.contains_key(key))).then_some(Decision::Allow)
}

/// Returns whether a dict is meant as a reminder: it has no word of a decision and a key that only reminders have.
/// Nothing else is guessed, because it may be a misspelt decision.
fn looks_like_spec(entries: &Entries) -> bool {
    let decides = ["block", "deny", "decision", "modify", "reason"].iter().any(|key| entries.contains_key(key));
    let names_one = entries.keys().any(|key| ReminderSpec::KEYS.contains(&key.as_ref()));
    !decides && names_one
}

/// Returns the reason that is shown if a handler refuses without one.
pub(crate) fn default_reason(kind: EventKind) -> Arc<str> {
    format!("refused by a {kind} hook").into()
}

/// Returns the error of a worker hook that returned a reminder.
fn worker_effect(kind: EventKind) -> ReminderError {
    ReminderError::new(
        ReminderCode::HookEvent,
        "reminder",
        format!("a hook on `{kind}` only observes and cannot add reminders"),
    )
    .help("return the reminder from a session, tool, step or persona hook")
}

/// The most common meaningless answer is the value of the handler's last expression.
const OBSERVER: &str = "end a handler that only observes with `nil`; write a reminder as `{reminder: {body: …}}`";

/// Returns the first few keys of a dict.
fn listed(keys: &[&str]) -> String {
    let few: Vec<String> = keys.iter().take(4).map(|key| format!("`{key}`")).collect();
    let more = if keys.len() > few.len() { ", …" } else { "" };
    format!("a dict with {}{more}", few.join(", "))
}

fn join(path: &str, step: &str) -> String {
    if path.is_empty() { step.to_owned() } else { format!("{path}.{step}") }
}

#[cfg(test)]
mod tests;
