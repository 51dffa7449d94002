//! Checks of the answers of any server that speaks JSON-RPC.

use serde::de::IgnoredAny;
use serde_json::Value;

/// The number of answers of each kind.
pub(crate) struct Answers {
    pub(crate) errors: usize,
    pub(crate) results: usize,
}

/// Reads a message; `None` if it is JSON with a number that no float holds. A server repeats the id of a request as it was
/// written.
///
/// # Errors
/// It is not JSON.
pub(crate) fn read(text: &[u8]) -> Result<Option<Value>, String> {
    match (serde_json::from_slice(text), serde_json::from_slice::<IgnoredAny>(text)) {
        (Ok(message), _) => Ok(Some(message)),
        (Err(_), Ok(_)) => Ok(None),
        (Err(error), Err(_)) => Err(format!("{error}: {}", String::from_utf8_lossy(text))),
    }
}

/// Counts answers.
///
/// # Errors
/// Returns a message that is neither a request, nor a result, nor an error with a code and a message.
pub(crate) fn answers(messages: &[Value]) -> Result<Answers, String> {
    let mut found = Answers { errors: 0, results: 0 };
    for message in messages {
        let error = &message["error"];
        match () {
            () if message["jsonrpc"] != "2.0" => return Err(format!("not JSON-RPC: {message}")),
            () if message["method"].is_string() => {}
            () if message.get("result").is_some() => found.results += 1,
            () if error["code"].is_i64() && error["message"].as_str().is_some_and(|text| !text.is_empty()) => {
                found.errors += 1;
            }
            () => return Err(format!("an error without a code or a message: {message}")),
        }
    }
    Ok(found)
}
