//! The parameters of the extension's methods that name things.

use std::sync::Arc;

use base::data::Data;
use base::words::nearest;
use runtime::reminder::{ReminderCode, ReminderError};

use super::incoming::bad;

/// Checks that the parameters are an object with known keys only.
pub(super) fn check(params: &Data, known: &[&str]) -> Result<(), ReminderError> {
    let Some(given) = params.as_dict() else {
        return Err(bad("", format!("the parameters must be an object, got {}", params.type_name())));
    };
    let Some(key) = given.keys().find(|key| !known.contains(&key.as_ref())) else { return Ok(()) };
    let error = ReminderError::new(ReminderCode::Shape, key.as_ref(), format!("unknown parameter `{key}`"));
    Err(error.suggest(nearest(key, known.iter().copied())))
}

/// Reads a required id.
pub(super) fn id(params: &Data, field: &'static str, names: &str) -> Result<Arc<str>, ReminderError> {
    match params.get(field) {
        Data::Str(id) if !id.trim().is_empty() => Ok(id.clone()),
        Data::Str(_) => Err(bad(field, format!("`{field}` is empty"))),
        Data::Nil => Err(bad(field, format!("`{field}` is missing")).help(format!("name {names}"))),
        other => Err(bad(field, format!("`{field}` must be a string, got {}", other.type_name()))),
    }
}

/// Reads the metadata of a request: a dict, or nil.
pub(super) fn metadata(params: &Data) -> Result<Data, ReminderError> {
    match params.get("metadata") {
        given @ (Data::Nil | Data::Dict(_)) => Ok(given.clone()),
        other => Err(bad("metadata", format!("`metadata` must be an object, got {}", other.type_name()))),
    }
}
