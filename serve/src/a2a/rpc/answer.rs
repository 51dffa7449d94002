//! The text of a refusal, in the spelling of a version.

use a2a::Version;
use jsonrpc::Id;

use crate::a2a::error::Fault;

/// Writes a refusal.
pub(in crate::a2a) fn refused(id: &Id, fault: &Fault, version: Version) -> String {
    jsonrpc::error(id, &fault.to_data(version))
}
