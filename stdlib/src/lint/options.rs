//! The option `reminders` of a loop.

use super::literal;
use lang::ast::Expr;
use lang::check::CallView;
use lang::diagnostic::Diagnostic;
use runtime::reminder::ReminderError;
use runtime::reminder::providers::ReminderOptions;

/// Checks a literal `reminders` option.
pub(super) fn check(view: &CallView<'_>, arg: usize, found: &mut Vec<Diagnostic>) {
    let Some(reminders) = view.arg(arg).and_then(|e| view.dict(e)).and_then(|d| d.get("reminders")) else { return };
    let Some(data) = literal::data(view, reminders) else { return };
    match ReminderOptions::from_data(&data) {
        Err(error) => found.push(report(view, reminders, &error)),
        Ok(options) => {
            // Who is registered is known only at run time: each id that is named counts as known here.
            let named: Vec<&str> = options.providers.ids().collect();
            if let Err(error) = options.providers.check(&named) {
                found.push(report(view, reminders, &error));
            }
            configuration(view, reminders, &options, found);
        }
    }
}

fn configuration<'a>(view: &CallView<'a>, reminders: &'a Expr, options: &ReminderOptions, found: &mut Vec<Diagnostic>) {
    for (id, config) in options.config.as_dict().into_iter().flatten() {
        if let Err(error) = providers::reminder::check_config(id, config) {
            found.push(report(view, reminders, &error.under("config")));
        }
    }
}

/// The error at the part of the literal that its field path leads to.
fn report<'a>(view: &CallView<'a>, whole: &'a Expr, error: &ReminderError) -> Diagnostic {
    let mut at = whole.span;
    let mut e = whole;
    for part in error.field.split('.').filter(|p| !p.is_empty()) {
        let Some(dict) = view.dict(e) else { break };
        let Some(inner) = dict.get(part) else { break };
        at = inner.span;
        e = inner;
        if view.dict(inner).is_none()
            && let Some(span) = dict.key_span(part)
            && error.suggestion.is_some()
        {
            at = span;
        }
    }
    let mut d = Diagnostic::error(error.code.as_str(), error.message.clone()).label(view.source(), at, "here");
    if let Some(suggestion) = &error.suggestion {
        d = d.fix(at, suggestion.clone());
    }
    match &error.help {
        Some(help) => d.help(help.clone()),
        None => d,
    }
}
