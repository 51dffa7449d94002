//! A subscription as a stream of a response.

use std::pin::Pin;

use futures_util::Stream;
use futures_util::stream::unfold;
use tonic::{Request, Response, Status};

use super::identity::{Authenticate, identify};
use super::status::{CURSOR, ended, refusal};
use crate::proto::agenthub::AgentEvent;
use crate::{EventSubscription, Hub, SubscribeRequest, SubscriptionKind};

/// The stream of a response.
pub(super) type EventStream = Pin<Box<dyn Stream<Item = Result<AgentEvent, Status>> + Send>>;

/// Subscribes an agent by the metadata of its request.
pub(super) fn subscribe<R>(
    hub: &Hub,
    authenticate: &dyn Authenticate,
    request: &Request<R>,
    agent_id: String,
    kind: SubscriptionKind,
) -> Result<Response<EventStream>, Status> {
    let caller = identify(authenticate, request.metadata()).map_err(|status| *status)?;
    let cursor = match request.metadata().get(CURSOR) {
        None => None,
        Some(cursor) => {
            let text = cursor.to_str();
            let text = text.map_err(|_| Status::invalid_argument(format!("invalid metadata `{CURSOR}`")))?;
            Some(text.to_owned())
        }
    };
    let subscribed = SubscribeRequest { agent_id, kind, cursor, capacity: None };
    let subscription = hub.subscribe(&caller, subscribed).map_err(refusal)?;
    Ok(Response::new(events(subscription)))
}

fn events(subscription: EventSubscription) -> EventStream {
    Box::pin(unfold(Some(subscription), next))
}

async fn next(
    subscription: Option<EventSubscription>,
) -> Option<(Result<AgentEvent, Status>, Option<EventSubscription>)> {
    let mut subscription = subscription?;
    Some(match subscription.next().await {
        Ok(delivery) => (Ok((*delivery.event).clone()), Some(subscription)),
        Err(end) => (Err(ended(end)), None),
    })
}
