//! The text of messages.

use serde::Serialize;

use crate::Id;

/// Writes a request.
pub fn request(id: &Id, method: &str, params: &impl Serialize) -> String {
    [r#"{"jsonrpc":"2.0","id":"#, id.as_json(), ",\"method\":", &json(method), ",\"params\":", &json(params), "}"]
        .concat()
}

/// Writes a notification.
pub fn notification(method: &str, params: &impl Serialize) -> String {
    [r#"{"jsonrpc":"2.0","method":"#, &json(method), ",\"params\":", &json(params), "}"].concat()
}

/// Writes the response with a result.
pub fn result(id: &Id, result: &impl Serialize) -> String {
    response(id, "result", result)
}

/// Writes the response with an error.
pub fn error(id: &Id, error: &impl Serialize) -> String {
    response(id, "error", error)
}

fn response(id: &Id, member: &str, value: &impl Serialize) -> String {
    [r#"{"jsonrpc":"2.0","id":"#, id.as_json(), ",\"", member, "\":", &json(value), "}"].concat()
}

fn json(value: &(impl Serialize + ?Sized)) -> String {
    // Only a map with keys that are not strings cannot be written.
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}
