//! One session, from its opening to its end, on its worker.

use std::sync::Arc;

use super::worker::Open;
use super::{HostError, Peer, Served};

/// Lives a session.
pub(super) async fn live(open: Open, _served: Served, _peer: Arc<dyn Peer>) {
    let _ = open.answer.send(Err(HostError::Stopping));
}
