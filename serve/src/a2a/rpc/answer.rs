//! The text of an answer. The id of a request comes back as it was written, so it is never read.

use serde::Serialize;
use stdlib::a2a::Version;

use super::envelope::Id;
use crate::a2a::error::Fault;

/// A result.
pub(super) fn result(id: &Id, result: &impl Serialize) -> String {
    // What is answered can always be written: no key in it is anything but a text.
    let result = serde_json::to_string(result).unwrap_or_else(|_| "null".to_owned());
    [r#"{"jsonrpc":"2.0","id":"#, id.as_json(), r#","result":"#, &result, "}"].concat()
}

/// A refusal.
pub(in crate::a2a) fn refused(id: &Id, fault: &Fault, version: Version) -> String {
    let fault = fault.to_data(version).to_json();
    [r#"{"jsonrpc":"2.0","id":"#, id.as_json(), r#","error":"#, &fault, "}"].concat()
}
