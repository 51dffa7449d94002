//! Replies of the broker as responses.

use tonic::{Response, Status};

use super::status::refusal;
use crate::broker::{BrokerError, Reply};
use crate::proto::agenthub::PublishResponse;

/// Returns the response to a publication.
pub(super) fn published(reply: Result<Reply, BrokerError>) -> Result<Response<PublishResponse>, Status> {
    match reply.map_err(refusal)? {
        Reply::Published(receipt) => {
            let event_id = receipt.event_id;
            Ok(Response::new(PublishResponse { success: true, error: String::new(), event_id }))
        }
        other => Err(unexpected(&other)),
    }
}

/// Returns the status for a reply that does not belong to the command: an error of the hub itself.
pub(super) fn unexpected(reply: &Reply) -> Status {
    tracing::error!(?reply, "unexpected reply of the broker");
    Status::internal("internal error: unexpected broker reply")
}
