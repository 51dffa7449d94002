//! Reading a provider's configuration: a dict, or nil for none.

use std::sync::Arc;

use base::data::Data;
use base::words::nearest;
use runtime::reminder::ReminderError;

use super::config_error;

/// Rejects a value that is not a dict, and keys that are not in `known`.
pub(super) fn known_keys(id: &str, config: &Data, known: &[&str]) -> Result<(), ReminderError> {
    let entries = match config {
        Data::Nil => return Ok(()),
        Data::Dict(entries) => entries,
        other => {
            let message = format!("the configuration of `{id}` must be a dict, got {}", other.type_name());
            return Err(config_error(id, message).help(match known {
                [] => format!("remove `{id}`: it has no configuration"),
                [first, ..] => format!("write `{id}: {{{first}: …}}`"),
            }));
        }
    };
    let Some(unknown) = entries.keys().find(|key| !known.contains(&key.as_ref())) else { return Ok(()) };
    let error = config_error(format!("{id}.{unknown}"), format!("unknown configuration key `{unknown}` of `{id}`"));
    Err(match (nearest(unknown, known.iter().copied()), known) {
        (Some(near), _) => error.suggest(Some(near)),
        (None, []) => {
            config_error(format!("{id}.{unknown}"), format!("`{id}` has no configuration, got the key `{unknown}`"))
                .help("remove the key")
        }
        (None, known) => error.help(format!("known keys: {}", known.join(", "))),
    })
}

/// A whole number above zero, where the key is there.
pub(super) fn positive(id: &str, config: &Data, key: &str) -> Result<Option<u64>, ReminderError> {
    let value = config.get(key);
    if value.is_nil() {
        return Ok(None);
    }
    match value.as_int().and_then(|number| u64::try_from(number).ok()).filter(|number| *number > 0) {
        Some(number) => Ok(Some(number)),
        None => Err(wrong(id, key, "an integer above 0", value)),
    }
}

/// A number from `least` to `most`, where the key is there.
pub(super) fn number(id: &str, config: &Data, key: &str, least: f64, most: f64) -> Result<Option<f64>, ReminderError> {
    let value = config.get(key);
    if value.is_nil() {
        return Ok(None);
    }
    match value.as_float().filter(|number| (least..=most).contains(number)) {
        Some(number) => Ok(Some(number)),
        None => {
            let range =
                if most == f64::MAX { format!("of at least {least}") } else { format!("from {least} to {most}") };
            Err(wrong(id, key, &format!("a number {range}"), value))
        }
    }
}

/// A truth value, where the key is there.
pub(super) fn flag(id: &str, config: &Data, key: &str) -> Result<Option<bool>, ReminderError> {
    match config.get(key) {
        Data::Nil => Ok(None),
        Data::Bool(value) => Ok(Some(*value)),
        other => Err(wrong(id, key, "a bool", other)),
    }
}

/// Text that is not blank, where the key is there.
pub(super) fn text(id: &str, config: &Data, key: &str) -> Result<Option<Arc<str>>, ReminderError> {
    match config.get(key) {
        Data::Nil => Ok(None),
        Data::Str(text) if !text.trim().is_empty() => Ok(Some(text.clone())),
        other => Err(wrong(id, key, "a string that is not blank", other)),
    }
}

/// The value of a key that has two names.
pub(super) fn either<T: PartialEq>(
    id: &str,
    (name, value): (&str, Option<T>),
    (other_name, other): (&str, Option<T>),
) -> Result<Option<T>, ReminderError> {
    if value.is_some() && other.is_some() && value != other {
        let message = format!(
            "`{name}` and `{other_name}` of `{id}` have the same meaning and must have the same \
            value"
        );
        return Err(config_error(format!("{id}.{other_name}"), message).help(format!("remove `{other_name}`")));
    }
    Ok(value.or(other))
}

/// The error for a value that does not fit, with one that does.
pub(super) fn wrong(id: &str, key: &str, expected: &str, got: &Data) -> ReminderError {
    let message = format!("`{key}` of `{id}` must be {expected}, got {} {got}", got.type_name());
    let error = config_error(format!("{id}.{key}"), message);
    match example(key) {
        Some(example) => error.help(example),
        None => error,
    }
}

/// Returns an example of a valid entry for a key.
pub(super) fn example(key: &str) -> Option<String> {
    let (_, example) = EXAMPLES.iter().find(|(known, _)| *known == key)?;
    Some(format!("write `{key}: {example}`"))
}

/// Valid values of each key, as a script writes them.
const EXAMPLES: &[(&str, &str)] = &[
    ("context_window", "128000"),
    ("idle_seconds", "120"),
    ("seconds", "120"),
    ("max_findings", "5"),
    ("limit", "5"),
    ("text_scan", "false"),
    ("include_warnings", "true"),
    ("namespace", "\"project/facts\""),
    ("scope", "\"project\""),
    ("root", "\".harn/memory\""),
    ("max_facts", "8"),
    ("min_confidence", "0.6"),
    ("kind_filter", "[\"decision\", \"constraint\"]"),
    ("relevance_query", "\"signals and cancellation\""),
    ("refresh_ratio", "0.7"),
];
