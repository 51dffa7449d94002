//! A subscription as a stream of a response.

use std::pin::Pin;

use futures_util::future::ready;
use futures_util::stream::{once, unfold};
use futures_util::{Stream, StreamExt as _};
use tonic::{Request, Status};

use super::identity::text;
use super::status::{ORDER, ended};
use crate::proto::a2a::TaskState;
use crate::proto::agenthub::{
    AgentEvent, SubscribeToAgentEventsRequest, SubscribeToMessagesRequest, SubscribeToTasksRequest,
};
use crate::proto::worker::EventWithCursor;
use crate::proto::worker::subscribe_with_cursors_request::Selection;
use crate::{Delivery, DeliveryOrder, EventSubscription, SubscriptionKind};

/// The stream of a response.
pub(super) type ItemStream<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// The stream of a response of the published service.
pub(super) type EventStream = ItemStream<AgentEvent>;

/// Returns the agent and the events that a request selects.
pub(super) fn selected(selection: Selection) -> Result<(String, SubscriptionKind), Status> {
    Ok(match selection {
        Selection::Messages(SubscribeToMessagesRequest { agent_id, message_types, contexts }) => {
            (agent_id, SubscriptionKind::Messages { types: message_types, contexts })
        }
        Selection::Tasks(SubscribeToTasksRequest { agent_id, task_types, states }) => {
            (agent_id, SubscriptionKind::Tasks { types: task_types, states: task_states(&states)? })
        }
        Selection::Events(SubscribeToAgentEventsRequest { agent_id, event_types }) => {
            (agent_id, SubscriptionKind::Events { types: event_types })
        }
    })
}

/// Reads the states of a request.
pub(super) fn task_states(states: &[i32]) -> Result<Vec<TaskState>, Status> {
    let read = |state: &i32| {
        TaskState::try_from(*state).map_err(|_| Status::invalid_argument(format!("unknown task state {state}")))
    };
    states.iter().map(read).collect()
}

/// Reads the order that the metadata of a request names.
pub(super) fn order<R>(request: &Request<R>) -> Result<DeliveryOrder, Status> {
    match text(request, ORDER)?.as_deref() {
        None | Some("priority") => Ok(DeliveryOrder::Priority),
        Some("sequence") => Ok(DeliveryOrder::Sequence),
        Some(_) => Err(Status::invalid_argument(format!("invalid metadata `{ORDER}`: use `priority` or `sequence`"))),
    }
}

/// Returns the events of a subscription as the items of a stream.
pub(super) fn stream<T: Send + 'static>(subscription: EventSubscription, item: fn(&Delivery) -> T) -> ItemStream<T> {
    Box::pin(unfold(Some(subscription), move |subscription| next(subscription, item)))
}

async fn next<T>(
    subscription: Option<EventSubscription>,
    item: fn(&Delivery) -> T,
) -> Option<(Result<T, Status>, Option<EventSubscription>)> {
    let mut subscription = subscription?;
    Some(match subscription.next().await {
        Ok(delivery) => (Ok(item(&delivery)), Some(subscription)),
        Err(end) => (Err(ended(end)), None),
    })
}

pub(super) fn event_of(delivery: &Delivery) -> AgentEvent {
    (*delivery.event).clone()
}

/// Returns the events of a subscription with their cursors. The first item has the cursor of the beginning, so that a
/// client that loses its connection before the first event misses none.
pub(super) fn stream_with_cursors(subscription: EventSubscription) -> ItemStream<EventWithCursor> {
    let (cursor, complete) = subscription.cursor();
    let first = EventWithCursor { event: None, cursor, sequence: 0, complete };
    Box::pin(once(ready(Ok(first))).chain(stream(subscription, event_with_cursor)))
}

fn event_with_cursor(delivery: &Delivery) -> EventWithCursor {
    let Delivery { event, cursor, sequence, complete } = delivery;
    EventWithCursor { event: Some((**event).clone()), cursor: cursor.clone(), sequence: *sequence, complete: *complete }
}
