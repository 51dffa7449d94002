//! The text of responses.

use serde::Serialize;

use crate::Id;

/// Writes the response with a result.
pub fn result(id: &Id, result: &impl Serialize) -> String {
    response(id, "result", result)
}

/// Writes the response with an error.
pub fn error(id: &Id, error: &impl Serialize) -> String {
    response(id, "error", error)
}

fn response(id: &Id, member: &str, value: &impl Serialize) -> String {
    // Only a map with keys that are not strings cannot be written.
    let value = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
    [r#"{"jsonrpc":"2.0","id":"#, id.as_json(), ",\"", member, "\":", &value, "}"].concat()
}
