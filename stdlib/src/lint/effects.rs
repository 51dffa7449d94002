//! Checks of reminders that a handler or provider returns in a literal.

use super::spec;
use crate::catalogue::from_core;
use lang::ast::{Expr, ExprKind};
use lang::check::{CallView, DictView};
use lang::diagnostic::Diagnostic;
use runtime::reminder::{ReminderCode, ReminderError};

/// The producer of a reminder.
pub(super) enum Producer {
    /// The script itself.
    Pipeline,
    /// A tool or session hook.
    Hook,
    /// A worker hook: it only observes.
    Worker,
    /// A provider.
    Provider(String),
}

impl Producer {
    /// A provider's malformed reminder is always 006, with the inner reason.
    pub(super) fn claim(&self, error: ReminderError) -> ReminderError {
        match self {
            Self::Provider(id) => error.of_provider(id),
            _ => error,
        }
    }
}

/// Checks the reminders in a returned literal, in any of the four shapes.
pub(super) fn check<'a>(view: &CallView<'a>, returned: &'a Expr, producer: &Producer, found: &mut Vec<Diagnostic>) {
    let returned = view.follow(returned);
    if let ExprKind::List(items) = &returned.kind {
        for item in items.iter().filter(|i| !i.spread) {
            check(view, &item.value, producer, found);
        }
        return;
    }
    let Some(dict) = view.dict(returned) else { return };
    if let Some(selector) = dict.get("clear").and_then(|selector| view.dict(selector)) {
        match producer {
            Producer::Worker => found.push(refused(view, &selector)),
            Producer::Hook => spec::check_selector(view, &selector, found),
            Producer::Pipeline | Producer::Provider(_) => {}
        }
    }
    if let Some(effects) = dict.get("effects") {
        return check(view, effects, producer, found);
    }
    let bare = match dict.get("reminder") {
        Some(inner) => match view.dict(inner) {
            Some(inner) => inner,
            None => return,
        },
        // A hook may return all sorts of dicts; only one with a body is a reminder.
        None if dict.get("body").is_some() || matches!(producer, Producer::Provider(_)) => dict,
        None => return,
    };
    match producer {
        Producer::Worker => found.push(refused(view, &bare)),
        _ => spec::check(view, &bare, producer, found),
    }
}

fn refused<'a>(view: &CallView<'a>, dict: &DictView<'a>) -> Diagnostic {
    Diagnostic::new(from_core(ReminderCode::HookEvent), "worker events cannot add reminders")
        .label(view.source(), dict.span, "this reminder would be rejected")
        .help("return it from a session, tool, step or persona hook")
}
