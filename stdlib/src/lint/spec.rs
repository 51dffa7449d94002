//! A literal reminder.

use base::data::Data;

use super::effects::Producer;
use super::{literal, route};
use crate::catalogue::from_core;
use lang::ast::{Expr, ExprKind};
use lang::check::{CallView, DictView};
use lang::diagnostic::Diagnostic;
use lang::diagnostic::fix::{Applicability, added_element, braces_of};
use lang::source::Span;
use runtime::lifecycle::Selector;
use runtime::reminder::bridge::{MessagePayload, RemindPayload};
use runtime::reminder::{Reminder, ReminderCode, ReminderError, ReminderSpec};

/// Checks a literal reminder: its shape, its life, its route.
pub(super) fn check<'a>(view: &CallView<'a>, dict: &DictView<'a>, producer: &Producer, found: &mut Vec<Diagnostic>) {
    let errors = read(view, dict, |data| ReminderSpec::from_data(data).err());
    let sound = errors.is_empty();
    for error in errors {
        found.push(report(view, dict, ReminderSpec::KEYS, &producer.claim(error)));
    }
    if sound {
        unbounded(view, dict, found);
        route::user_block(view, dict, found);
    }
}

/// Checks what a host puts in: a reminder or a message.
pub(super) fn check_bridge<'a>(view: &CallView<'a>, dict: &DictView<'a>, found: &mut Vec<Diagnostic>) {
    let is_given = |key: &str| dict.get(key).is_some_and(|value| literal::data(view, value) != Some(Data::Nil));
    if is_given("body") || !is_given("content") && !is_given("text") {
        return check_sent(view, dict, found);
    }
    for error in read(view, dict, |data| MessagePayload::from_data(data).err()) {
        let key = first(&error.field).to_owned();
        let known = MessagePayload::is_key(&key).then_some(key.as_str());
        found.push(report(view, dict, known.as_slice(), &error));
    }
}

/// Checks a literal list of reminders that a child inherits.
pub(super) fn check_handed<'a>(view: &CallView<'a>, list: &'a Expr, found: &mut Vec<Diagnostic>) {
    let ExprKind::List(items) = &view.follow(list).kind else { return };
    let error_of = |data: &Data| {
        let error = Reminder::list_from_handed(&Data::list([data.clone()]), None, || "?".into()).err()?;
        let field = error.field.strip_prefix("0").unwrap_or(&error.field).trim_start_matches('.').to_owned();
        Some(ReminderError { field, ..error })
    };
    for item in items.iter().filter(|item| !item.spread) {
        let Some(dict) = view.dict(&item.value) else {
            let error = literal::data(view, &item.value).and_then(|data| error_of(&data));
            found.extend(error.map(|error| at(view, &item.value, "not a reminder", &error)));
            continue;
        };
        for error in read(view, &dict, error_of) {
            found.push(report(view, &dict, Reminder::HANDED_KEYS, &error));
        }
    }
}

/// Checks a literal reminder that is pushed or sent: all that is wrong with it, because nothing is delivered then. Its
/// life is bounded by the task or by the session that it is for.
pub(super) fn check_sent<'a>(view: &CallView<'a>, dict: &DictView<'a>, found: &mut Vec<Diagnostic>) {
    for error in read(view, dict, |data| RemindPayload::from_data(data).err()) {
        let key = first(&error.field).to_owned();
        let known = RemindPayload::is_key(&key).then_some(key.as_str());
        found.push(report(view, dict, known.as_slice(), &error));
    }
}

/// Checks a literal selector.
pub(super) fn check_selector<'a>(view: &CallView<'a>, dict: &DictView<'a>, found: &mut Vec<Diagnostic>) {
    for error in read(view, dict, |data| Selector::from_data(data).err()) {
        found.push(report(view, dict, Selector::KEYS, &error));
    }
}

/// Checks a literal event of a manually written reminder.
pub(super) fn check_event<'a>(view: &CallView<'a>, dict: &DictView<'a>, found: &mut Vec<Diagnostic>) {
    let is_reminder = dict.get("kind").and_then(|kind| view.text(kind)) == Some("system_reminder");
    let slot = dict.get("reminder");
    let inner = slot.and_then(|slot| view.dict(slot));
    // What is known only at run time may be a whole event, which is read as it is.
    if !is_reminder || !dict.complete || (slot.is_some() && !inner.as_ref().is_some_and(|inner| inner.complete)) {
        return;
    }
    if dict.get("id").is_some() && inner.as_ref().is_some_and(|inner| inner.get("id").is_some()) {
        return;
    }
    let names = |dict: &DictView<'a>| {
        Data::dict(dict.entries().map(|(key, _)| (key.text.as_str(), "?".into())).collect::<Vec<_>>())
    };
    let mut event = names(dict);
    if let Some(inner) = &inner {
        event.set("reminder", names(inner));
    }
    for error in Reminder::faults_by_hand(&event) {
        let at = inner.as_ref().filter(|_| error.field.starts_with("reminder.")).unwrap_or(dict);
        found.push(report(view, at, ReminderSpec::KEYS, &error));
    }
}

/// The keys of the text of a reminder or a message.
const TEXTS: [&str; 3] = ["body", "content", "text"];

/// Returns all errors of a literal: each one found is removed and the rest is read again. Values
/// known only at run time are left out, and a body that is present but unknown is taken to be
/// valid.
fn read<'a>(
    view: &CallView<'a>,
    dict: &DictView<'a>,
    mut error_of: impl FnMut(&Data) -> Option<ReminderError>,
) -> Vec<ReminderError> {
    let mut data = Data::empty_dict();
    for (key, value) in dict.entries() {
        match literal::data(view, value) {
            Some(value) => data.set(key.text.as_str(), value),
            // A selector or body of some value; a placeholder keeps "is missing" from being said.
            None if TEXTS.contains(&key.text.as_str()) || ["id", "tag", "dedupe_key"].contains(&key.text.as_str()) => {
                data.set(key.text.as_str(), Data::from("?"));
            }
            // An unknown key is wrong whatever its value.
            None if !ReminderSpec::KEYS.contains(&key.text.as_str()) => data.set(key.text.as_str(), Data::Nil),
            None => {}
        }
    }
    let mut errors = Vec::new();
    while let Some(error) = error_of(&data) {
        let key = first(&error.field).to_owned();
        let known = dict.get(&key).is_some();
        if !known && !dict.complete {
            // What is missing may be hidden behind a spread or a computed key.
            let hidden = if key == "body" { "body" } else { "id" };
            if !data.get(hidden).is_nil() {
                break;
            }
            data.set(hidden, Data::from("?"));
            continue;
        }
        if !known && explained(&errors, &key) {
            if key != "body" {
                break;
            }
            data.set("body", Data::from("?"));
            continue;
        }
        // A text that is wrong or missing counts as found. An unknown key, and one of two texts, is removed.
        let is_removed = error.code == ReminderCode::Shape || key == "text" && !data.get("content").is_nil();
        let was_body = key == "body" || TEXTS.contains(&key.as_str()) && !is_removed;
        errors.push(error);
        if was_body {
            data.set(key.as_str(), Data::from("?"));
        } else if known {
            data = without(&data, &key);
        }
        if errors.len() > 16 || (!known && !was_body) {
            break;
        }
    }
    errors
}

/// Whether an error found before says already why something is missing: a misspelt key is the missing one, and a selector
/// with a wrong part has no other. A dict with `clear` is meant to add none.
fn explained(before: &[ReminderError], missing: &str) -> bool {
    match missing {
        "" => !before.is_empty(),
        key => before.iter().any(|error| error.suggestion.as_deref() == Some(key) || error.field == "clear"),
    }
}

pub(super) fn without(data: &Data, key: &str) -> Data {
    let entries = data.as_dict().into_iter().flatten().filter(|(k, _)| k.as_ref() != key);
    Data::dict(entries.map(|(k, v)| (k.clone(), v.clone())).collect::<Vec<_>>())
}

pub(super) fn first(field: &str) -> &str {
    field.split('.').next().unwrap_or("")
}

/// The item of a list that a field path like `tags.1` ends in.
fn item<'a>(view: &CallView<'a>, value: &'a Expr, field: &str) -> Option<&'a Expr> {
    let ExprKind::List(items) = &view.follow(value).kind else { return None };
    let index: usize = field.rsplit('.').next()?.parse().ok()?;
    // Behind a spread the numbers are not those of the literal.
    let before = items.get(..=index)?;
    (!before.iter().any(|item| item.spread)).then(|| &before[index].value)
}

/// Words that mean `propagate: "all"` at a guess.
const FOR_CHILDREN: &[&str] = &["agents", "children", "descendants", "everyone", "subagents", "sub_agents", "workers"];

/// Returns the diagnostic at its place: an unknown key at the key, a wrong value at the value, a
/// missing one at the dict.
fn report<'a>(view: &CallView<'a>, dict: &DictView<'a>, keys: &[&str], error: &ReminderError) -> Diagnostic {
    let key = first(error.field.strip_prefix("reminder.").unwrap_or(&error.field));
    let unknown = !keys.contains(&key);
    let (span, label) = match (dict.get(key), dict.key_span(key)) {
        (Some(_), Some(span)) if unknown => (span, "unknown"),
        (Some(value), _) => (item(view, value, &error.field).unwrap_or(value).span, "this value"),
        _ => (dict.span, "in this dict"),
    };
    let mut d = plain(view, span, label, error);
    if let Some(suggestion) = &error.suggestion {
        let replacement = if unknown { suggestion.clone() } else { format!("\"{suggestion}\"") };
        d = d.fix(span, replacement);
    } else if error.code == ReminderCode::Propagate
        && dict.get(key).and_then(|value| view.text(value)).is_some_and(|word| FOR_CHILDREN.contains(&word))
    {
        d = d.unsafe_fix(span, "\"all\"");
    }
    d
}

/// Returns the diagnostic of an error at an expression.
pub(super) fn at<'a>(view: &CallView<'a>, e: &'a Expr, label: &str, error: &ReminderError) -> Diagnostic {
    plain(view, e.span, label, error)
}

fn plain(view: &CallView<'_>, span: Span, label: &str, error: &ReminderError) -> Diagnostic {
    let d = Diagnostic::new(from_core(error.code), error.message.clone()).label(view.source(), span, label);
    match &error.help {
        Some(help) => d.help(help.clone()),
        None => d,
    }
}

fn unbounded<'a>(view: &CallView<'a>, dict: &DictView<'a>, found: &mut Vec<Diagnostic>) {
    // A value known only at run time may be anything.
    let is_open = |key: &str| dict.get(key).is_some_and(|e| literal::data(view, e).is_none());
    if !dict.complete || is_open("ttl_turns") || is_open("preserve_on_compact") {
        return;
    }
    // Either of them ends it.
    if dict.get("max_times").is_some() || dict.get("until").is_some() {
        return;
    }
    let set = |key: &str| dict.get(key).and_then(|e| literal::data(view, e)).is_some_and(|d| d.truthy());
    if set("ttl_turns") || set("preserve_on_compact") {
        return;
    }
    let text = view.source().text();
    let added = braces_of(text, dict.span).and_then(|braces| added_element(text, braces, "ttl_turns: 3"));
    found.push(
        Diagnostic::new(from_core(ReminderCode::Unbounded), "this reminder has no finite TTL and is not preserved")
            .label(view.source(), dict.span, "never expires, and is discarded at the next compaction")
            .help("add `ttl_turns: 3`, or `preserve_on_compact: true` if it is meant to last")
            .fix_by_some(Applicability::Unsafe, added.map(|edit| vec![edit])),
    );
}
