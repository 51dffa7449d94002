//! Names of events, seams and steps in literals.

use lang::ast::{Expr, ExprKind};
use lang::check::CallView;
use lang::diagnostic::{Diagnostic, nearest};
use lang::vm::RunCode;
use runtime::events::{EventKind, IterationStep};
use runtime::reminder::bridge::Seam;

/// A literal name of an event that the builtin does not take.
pub(super) fn event<'a>(
    view: &CallView<'a>,
    name: &'a Expr,
    fits: fn(EventKind) -> bool,
    what: &str,
    found: &mut Vec<Diagnostic>,
) {
    let Some(text) = view.text(name) else { return };
    if EventKind::parse(text).is_ok_and(fits) {
        return;
    }
    let known: Vec<&str> = EventKind::ALL.iter().filter(|kind| fits(**kind)).map(|kind| kind.as_str()).collect();
    found.push(unknown(view, name, &format!("{what} event"), text, &known));
}

/// A literal name of an event that belongs to no step.
pub(super) fn of_step<'a>(view: &CallView<'a>, name: &'a Expr, found: &mut Vec<Diagnostic>) {
    match view.text(name).map(EventKind::parse) {
        Some(Ok(kind)) if kind.is_step() && !kind.has_step() => {
            let d = Diagnostic::new(RunCode::Value, format!("the event `{kind}` is not a step event"));
            found
                .push(d.label(view.source(), name.span, "not a step event").help("use `register_persona_hook` for it"));
        }
        _ => event(view, name, EventKind::has_step, "step", found),
    }
}

/// Literal names in a list of events.
pub(super) fn events<'a>(
    view: &CallView<'a>,
    list: &'a Expr,
    fits: fn(EventKind) -> bool,
    what: &str,
    found: &mut Vec<Diagnostic>,
) {
    if let ExprKind::List(items) = &view.follow(list).kind {
        items.iter().filter(|item| !item.spread).for_each(|item| event(view, &item.value, fits, what, found));
    }
}

/// Literal names of seams: one, or a list of them.
pub(super) fn seams<'a>(view: &CallView<'a>, kinds: &'a Expr, found: &mut Vec<Diagnostic>) {
    if let ExprKind::List(items) = &view.follow(kinds).kind {
        return items.iter().filter(|item| !item.spread).for_each(|item| seams(view, &item.value, found));
    }
    let Some(text) = view.text(kinds) else { return };
    if text != "*" && text.parse::<Seam>().is_err() {
        found.push(unknown(view, kinds, "seam", text, Seam::WORDS));
    }
}

/// A literal glob that fits no step, where it is plainly a name.
pub(super) fn step<'a>(view: &CallView<'a>, name: &'a Expr, found: &mut Vec<Diagnostic>) {
    let Some(text) = view.text(name) else { return };
    let is_name = text.chars().all(|c| c.is_alphanumeric() || c == '_');
    if is_name && text.parse::<IterationStep>().is_err() {
        found.push(unknown(view, name, "step", text, IterationStep::WORDS));
    }
}

/// Returns the diagnostic of an unknown word, with the nearest known one or else with all of them.
fn unknown<'a>(view: &CallView<'a>, at: &'a Expr, what: &str, word: &str, known: &[&str]) -> Diagnostic {
    let d =
        Diagnostic::new(RunCode::Value, format!("unknown {what} `{word}`")).label(view.source(), at.span, "unknown");
    match nearest(word, known.iter().copied()) {
        Some(near) => d.fix(at.span, format!("\"{near}\"")).help(format!("did you mean `{near}`?")),
        None => d.help(format!("the {what}s are {}", known.join(", "))),
    }
}
