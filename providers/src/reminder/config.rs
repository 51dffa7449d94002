//! Reading a provider's configuration: a dict, or nil for none.

use runtime::data::Data;
use runtime::reminder::ReminderError;
use runtime::words::nearest;

use super::config_error;

/// Refuses what is no dict and keys that are not in `known`.
pub(super) fn known_keys(id: &str, config: &Data, known: &[&str]) -> Result<(), ReminderError> {
    let entries = match config {
        Data::Nil => return Ok(()),
        Data::Dict(entries) => entries,
        other => {
            let message = format!("the configuration of `{id}` must be a dict, got {}", other.type_name());
            return Err(config_error(id, message));
        }
    };
    let Some(unknown) = entries.keys().find(|key| !known.contains(&key.as_ref())) else { return Ok(()) };
    let error = config_error(format!("{id}.{unknown}"), format!("unknown configuration key `{unknown}` of `{id}`"));
    Err(match (nearest(unknown, known.iter().copied()), known) {
        (Some(near), _) => error.suggest(Some(near)),
        (None, []) => {
            config_error(format!("{id}.{unknown}"), format!("`{id}` takes no configuration, got the key `{unknown}`"))
                .help("leave the key out")
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
        None => Err(config_error(
            format!("{id}.{key}"),
            format!("`{key}` of `{id}` must be a whole number above 0, got {} {value}", value.type_name()),
        )),
    }
}
