//! Checks of reminders that a handler or provider returns in a literal.

use base::data::Data;

use super::{literal, spec};
use crate::catalogue::from_core;
use crate::codes::AgentCode;
use lang::ast::{Expr, ExprKind};
use lang::check::{CallView, DictView};
use lang::diagnostic::fix::{Applicability, rename_key};
use lang::diagnostic::{Diagnostic, nearest};
use runtime::events::EventKind;
use runtime::hooks::Verdict;
use runtime::reminder::{ReminderCode, ReminderError, ReminderSpec};

/// The producer of a reminder.
pub(super) enum Producer {
    /// The script itself.
    Pipeline,
    /// A tool or session hook.
    Hook,
    /// A worker hook: it only observes.
    Worker,
    /// A provider, with its id if that is known.
    Provider(Option<String>),
}

impl Producer {
    /// A provider's malformed reminder is always 006, with the inner reason.
    pub(super) fn claim(&self, error: ReminderError) -> ReminderError {
        match self {
            Self::Provider(Some(id)) => error.of_provider(id),
            Self::Provider(None) => ReminderError {
                code: ReminderCode::Provider,
                message: format!("a reminder provider returned a malformed reminder: {}", error.message),
                ..error
            },
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
    let Some(dict) = view.dict(returned) else {
        if let (Producer::Provider(_), Some(error)) = (producer, no_reminder(returned)) {
            found.push(spec::at(view, returned, "not a reminder", &producer.claim(error)));
        }
        return;
    };
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

/// Checks the change of a prompt or a compaction in a returned literal.
pub(super) fn check_change<'a>(view: &CallView<'a>, kind: EventKind, returned: &'a Expr, found: &mut Vec<Diagnostic>) {
    let Some(change) = view.dict(view.follow(returned)).and_then(|dict| dict.get("modify")) else { return };
    let Some(data) = literal::data(view, change) else { return };
    let verdict = Verdict::from_data(kind, &Data::dict(vec![("modify", data)]));
    let Some(why) = verdict.unusable.first() else { return };
    let d = Diagnostic::new(AgentCode::Unusable, format!("invalid result of a `{kind}` hook: {why}"));
    let keys = view.dict(change);
    let mut names = keys.iter().flat_map(DictView::entries).map(|(key, _)| key);
    found.push(match names.find(|key| kind == EventKind::UserPromptSubmit && is_near(&key.text, "prompt")) {
        Some(key) => d
            .label(view.source(), key.span, "unknown")
            .help("did you mean `prompt`?")
            .fix_by(Applicability::Safe, vec![rename_key(view.source().text(), key.span, "prompt")]),
        None => d.label(view.source(), change.span, "invalid change"),
    });
}

fn is_near(written: &str, name: &str) -> bool {
    nearest(written, [name]).is_some()
}

/// Returns the error of a literal that is not a reminder.
fn no_reminder(returned: &Expr) -> Option<ReminderError> {
    let data = match returned.kind {
        ExprKind::Str(_) => Data::from("text"),
        ExprKind::Bool(value) => value.into(),
        ExprKind::Int(value) => value.into(),
        ExprKind::Float(value) => value.into(),
        _ => return None,
    };
    ReminderSpec::from_data(&data).err()
}

fn refused<'a>(view: &CallView<'a>, dict: &DictView<'a>) -> Diagnostic {
    Diagnostic::new(from_core(ReminderCode::HookEvent), "worker events cannot add reminders")
        .label(view.source(), dict.span, "this reminder would be rejected")
        .help("return it from a session, tool, step or persona hook")
}
