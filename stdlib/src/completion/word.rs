//! Strings that are one of a few words.

use super::option::{OptionShape, builtin_of};
use super::{Completion, CompletionKind};
use crate::capability::Capability;
use lang::query::Cursor;
use providers::model::Provider;
use runtime::events::{EventKind, IterationStep};
use runtime::reminder::bridge::Seam;
use runtime::reminder_providers::ReminderProviders;

/// Returns the words that the string at the cursor may be.
pub(super) fn words(cursor: &Cursor) -> Vec<Completion> {
    let literals = OptionShape::at(cursor).map(|shape| shape.literals()).unwrap_or_default();
    if !literals.is_empty() {
        let what = cursor.key().unwrap_or("word");
        return literals.into_iter().map(|word| Completion::new(CompletionKind::Word, word, what)).collect();
    }
    if let Some(key) = cursor.key() {
        return of_key(key);
    }
    let Some((callee, argument, _)) = cursor.call() else { return Vec::new() };
    let Some(row) = builtin_of(callee) else { return Vec::new() };
    match (row.module, row.name, argument) {
        ("", "register_session_hook", 0) => events(EventKind::is_session),
        ("", "register_worker_hook", 0) => events(EventKind::is_worker),
        ("", "register_persona_hook", 1) => events(EventKind::is_step),
        ("", "register_step_hook", 1) => all(IterationStep::WORDS, "step"),
        ("", "register_step_hook", 2) => events(EventKind::has_step),
        ("", "register_checkpoint_hook", 0) => all(Seam::WORDS, "seam"),
        _ => Vec::new(),
    }
}

fn of_key(key: &str) -> Vec<Completion> {
    match key {
        "provider" => all(&Provider::ALL.map(Provider::as_str), "provider"),
        "providers" | "reminders" => all(ReminderProviders::CANONICAL, "reminder provider"),
        "subscribes_to" => events(EventKind::is_for_providers),
        "deny" | "capabilities" => {
            let names = Capability::ALL.iter().map(|capability| capability.right().name());
            names.map(|name| Completion::new(CompletionKind::Word, name, "capability")).collect()
        }
        _ => Vec::new(),
    }
}

fn all(words: &[&str], what: &str) -> Vec<Completion> {
    words.iter().map(|word| Completion::new(CompletionKind::Word, *word, what)).collect()
}

fn events(fits: fn(EventKind) -> bool) -> Vec<Completion> {
    let kinds = EventKind::ALL.iter().filter(|kind| fits(**kind));
    kinds.map(|kind| Completion::new(CompletionKind::Word, kind.as_str(), "event")).collect()
}
