//! The text of an answer. The id of a request comes back as it was written, so it is never read.

use runtime::data::Data;
use stdlib::a2a::Version;

use super::envelope::Id;
use crate::a2a::error::Fault;

/// A result.
pub(super) fn result(id: &Id, result: &Data) -> String {
    let id = id.as_json();
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{}}}"#, result.to_json())
}

/// A refusal.
pub(in crate::a2a) fn refused(id: &Id, fault: &Fault, version: Version) -> String {
    let id = id.as_json();
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{}}}"#, fault.to_data(version).to_json())
}
