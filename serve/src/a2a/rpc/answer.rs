//! The text of a refusal, in the format of a version.

use a2a::Version;
use jsonrpc::Id;

use crate::a2a::error::RpcError;

/// Returns the JSON-RPC text of a refusal.
pub(crate) fn refused(id: &Id, fault: &RpcError, version: Version) -> String {
    jsonrpc::error(id, &fault.to_data(version))
}
