//! The option `reminders` of a loop.

use super::literal;
use super::spec::{first, without};
use crate::bind::check_config;
use crate::capability::Capability;
use crate::catalogue::from_core;
use base::data::Data;
use base::words::nearest;
use lang::ast::{Expr, ExprKind};
use lang::check::CallView;
use lang::diagnostic::Diagnostic;
use runtime::reminder::{ReminderCode, ReminderError};
use runtime::reminder_providers::{ProviderList, ReminderOptions, ReminderProviders};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Returns the errors in a pack that a script names.
pub(crate) type PackCheck = fn(script: &Path, file: PathBuf) -> Vec<Diagnostic>;

/// The check of packs. Packs are scripts in Rhai, whose front end offers the builtins, and rows of builtins name their lints.
/// So the registry, which comes after all of them, sets the check.
static PACK_CHECK: OnceLock<PackCheck> = OnceLock::new();

/// Sets the check of packs, once a process.
pub(crate) fn check_packs_by(check: PackCheck) {
    let _ = PACK_CHECK.set(check);
}

/// Checks a literal `reminders` option.
pub(super) fn check(view: &CallView<'_>, arg: usize, found: &mut Vec<Diagnostic>) {
    let Some(reminders) = view.arg(arg).and_then(|e| view.dict(e)).and_then(|d| d.get("reminders")) else { return };
    let Some(mut data) = literal::data(view, reminders) else { return };
    let options = loop {
        match ReminderOptions::from_data(&data) {
            Ok(options) => break options,
            Err(error) => {
                found.push(report(view, reminders, &error));
                // The rest is read without the invalid key.
                let key = first(&error.field);
                if data.get(key).is_nil() {
                    return;
                }
                data = without(&data, key);
            }
        }
    };
    // Who is registered is known only at run time: each id that is named counts as known here.
    let named: Vec<&str> = options.providers.ids().collect();
    let misspelt = listed(view, reminders, &options);
    // How many there are is not known while it is not known which.
    match options.providers.check(&named) {
        Err(error) if misspelt.is_empty() => found.push(report(view, reminders, &error)),
        _ => found.extend(misspelt),
    }
    configuration(view, reminders, &options, found);
    packs(view, reminders, &options, found);
}

/// Packs that the option names, where the script is a file: theirs are beside it.
fn packs<'a>(view: &CallView<'a>, reminders: &'a Expr, options: &ReminderOptions, found: &mut Vec<Diagnostic>) {
    let script = Path::new(view.source().name());
    if options.packs.is_empty() || view.is_denied(Capability::FsRead) || !script.exists() {
        return;
    }
    let Some(check) = PACK_CHECK.get() else { return };
    let list = view.dict(reminders).and_then(|dict| dict.get("packs")).unwrap_or(reminders);
    for file in &options.packs {
        let path = script.parent().unwrap_or(Path::new("")).join(file.as_ref());
        found.extend(check(script, path).into_iter().map(|found| match found.labels.is_empty() {
            true => found.label(view.source(), list.span, "named here"),
            false => found,
        }));
    }
}

fn configuration<'a>(view: &CallView<'a>, reminders: &'a Expr, options: &ReminderOptions, found: &mut Vec<Diagnostic>) {
    let registered = registered(view);
    for (id, config) in options.config.as_dict().into_iter().flatten() {
        if registered.contains(&id.as_ref()) {
            if let Some(defaults) = defaults(view, id)
                && let Err(error) = check_config(id, &defaults, config)
            {
                found.push(report(view, reminders, &error.under("config")));
            }
            continue;
        }
        if let Some(error) = misspelt(id) {
            found.push(report(view, reminders, &error));
            continue;
        }
        if let Err(error) = providers::reminder::check_config(id, config) {
            found.push(report(view, reminders, &error.under("config")));
        }
    }
}

/// Ids in the list that are almost a canonical one's.
fn listed<'a>(view: &CallView<'a>, reminders: &'a Expr, options: &ReminderOptions) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let registered = registered(view);
    let prefix = if view.dict(reminders).is_some() { "providers." } else { "" };
    for (index, (adds, id)) in options.providers.entries().enumerate() {
        if registered.contains(&id) || ReminderProviders::CANONICAL.contains(&id) {
            continue;
        }
        let meant = ProviderList::meant(adds, id, ReminderProviders::CANONICAL.iter().copied());
        if meant.is_none() {
            continue;
        }
        let message = format!("unknown reminder provider `{id}`");
        let error = ReminderError::new(ReminderCode::Shape, format!("{prefix}{index}"), message);
        found.push(report(view, reminders, &error.suggest(meant.as_deref())));
    }
    found
}

/// The ids of the providers that this file registers.
fn registered<'a>(view: &CallView<'a>) -> Vec<&'a str> {
    view.calls_of("", "register_reminder_provider")
        .filter_map(|call| call.dict(call.arg(0)?)?.get("id").and_then(|id| call.text(id)))
        .collect()
}

/// Returns the configuration that a provider of this file lists, with the defaults, as far as they are literals.
fn defaults(view: &CallView<'_>, id: &str) -> Option<Data> {
    view.calls_of("", "register_reminder_provider").find_map(|call| {
        let dict = call.dict(call.arg(0)?)?;
        if dict.get("id").and_then(|written| call.text(written)) != Some(id) {
            return None;
        }
        let config = call.dict(dict.get("config")?)?;
        let value = |value| literal::data(&call, value).unwrap_or_default();
        let entries = || config.entries().map(|(key, e)| (key.text.as_str(), value(e)));
        config.complete.then(|| Data::dict(entries().collect::<Vec<_>>()))
    })
}

/// Returns the error for an id that is almost a canonical one. Any other id that is not registered
/// in this file may be registered elsewhere.
fn misspelt(id: &str) -> Option<ReminderError> {
    if ReminderProviders::CANONICAL.contains(&id) {
        return None;
    }
    let near = nearest(id, ReminderProviders::CANONICAL.iter().copied())?;
    let message = format!("unknown reminder provider `{id}` in `config`");
    Some(ReminderError::new(ReminderCode::Shape, format!("config.{id}"), message).suggest(Some(near)))
}

/// The error at the part of the literal that its field path leads to.
fn report<'a>(view: &CallView<'a>, whole: &'a Expr, error: &ReminderError) -> Diagnostic {
    let mut at = whole.span;
    let mut at_key = false;
    let mut e = whole;
    let mut parts = error.field.split('.').filter(|p| !p.is_empty()).peekable();
    while let Some(part) = parts.next() {
        if let (ExprKind::List(items), Ok(index)) = (&view.follow(e).kind, part.parse::<usize>()) {
            let Some(item) = items.get(index) else { break };
            at = item.value.span;
            e = &item.value;
            continue;
        }
        let Some(dict) = view.dict(e) else { break };
        let Some(inner) = dict.get(part) else { break };
        at = inner.span;
        e = inner;
        // The suggestion is for the key where it is near to it, else for the value.
        if parts.peek().is_none()
            && let Some(span) = dict.key_span(part)
            && error.suggestion.as_deref().is_some_and(|word| nearest(part, [word]).is_some())
        {
            at_key = true;
            at = span;
        }
    }
    let mut d = Diagnostic::new(from_core(error.code), error.message.clone()).label(view.source(), at, "here");
    if let Some(suggestion) = &error.suggestion {
        d = d.fix(at, if at_key { suggestion.clone() } else { format!("\"{suggestion}\"") });
    }
    match &error.help {
        Some(help) => d.help(help.clone()),
        None => d,
    }
}
