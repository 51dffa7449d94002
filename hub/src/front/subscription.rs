//! [`EventSubscription`]: reading the events of a subscription.

use std::sync::Arc;

use crate::broker::query::read_cursor;
use crate::broker::{BrokerError, Caller, ErrorKind, MAX_ID_BYTES, RoutedEvent, SharedEvent};

use super::Hub;
use super::subscriber::{SubscribeRequest, Subscriber, SubscriptionEnd};

/// Maximum number of events that a subscription can buffer.
const MOST_CAPACITY: usize = 65_536;

/// An event, with the cursor after it.
#[derive(Debug, Clone, PartialEq)]
pub struct Delivery {
    /// The event.
    pub event: SharedEvent,
    /// Cursor to resume from. Events of higher priority may have been delivered earlier; they are delivered again.
    pub cursor: String,
}

/// An open subscription. Dropping it ends it.
pub struct EventSubscription {
    hub: Hub,
    id: u64,
    subscriber: Arc<Subscriber>,
}

impl EventSubscription {
    pub(super) fn open(
        hub: &Hub,
        caller: &Caller,
        request: SubscribeRequest,
    ) -> Result<EventSubscription, BrokerError> {
        match caller {
            Caller::Agent(agent_id) if *agent_id != request.agent_id => {
                let text = format!("`{agent_id}` cannot subscribe as `{}`", runtime::ids::shortened(&request.agent_id));
                return Err(BrokerError::new(ErrorKind::PermissionDenied, text));
            }
            _ if request.agent_id.is_empty() => return Err(BrokerError::invalid("`agent_id` is missing")),
            _ if request.agent_id.len() > MAX_ID_BYTES => {
                return Err(BrokerError::invalid(format!("`agent_id` is longer than {MAX_ID_BYTES} bytes")));
            }
            _ => {}
        }
        let mut state = hub.lock();
        if let Some(error) = &state.failed {
            return Err(error.clone());
        }
        let options = state.broker.options();
        let most = options.max_subscriptions;
        if state.subscribers.len() >= most {
            return Err(BrokerError::limit(format!("{most} subscriptions are open, which is the limit")));
        }
        let capacity = request.capacity.unwrap_or(options.subscription_events).clamp(1, MOST_CAPACITY);
        let past = match request.cursor.as_deref().filter(|cursor| !cursor.is_empty()) {
            None => None,
            Some(event_id) if event_id.starts_with("evt_") => Some(state.feed.number_of(event_id).ok_or_else(gone)?),
            Some(cursor) => Some(read_cursor(cursor)?),
        };
        if past.is_some_and(|number| state.feed.after(number).is_none()) {
            return Err(gone());
        }
        let last = state.broker.last_number();
        let agent_id = request.agent_id.clone();
        let subscriber = Arc::new(Subscriber::new(request, capacity, options, past.unwrap_or(last)));
        {
            let mut buffer = subscriber.lock();
            buffer.past = past;
            if past.is_none() && subscriber.is_for_tasks() {
                // Tasks that are not stored yet arrive as events.
                let mut unsettled = state.outbox.iter().filter_map(|command| command.events.first());
                let unsettled = unsettled.next().map_or(u64::MAX, |event| event.number);
                let waiting = state.broker.waiting_for(&agent_id);
                buffer.backlog = waiting.into_iter().filter(|number| *number < unsettled).collect();
                buffer.backlog_from = buffer.backlog.iter().copied().min().unwrap_or(u64::MAX);
            }
        }
        state.broker.attach(&agent_id);
        state.last_subscriber += 1;
        let id = state.last_subscriber;
        state.subscribers.insert(id, subscriber.clone());
        drop(state);
        Ok(EventSubscription { hub: hub.clone(), id, subscriber })
    }

    /// Waits for the next event.
    ///
    /// # Errors
    /// Fails if the subscription has ended; it stays ended.
    pub async fn next(&mut self) -> Result<Delivery, SubscriptionEnd> {
        let subscriber = self.subscriber.clone();
        loop {
            let changed = subscriber.changed.notified();
            if let Some(delivery) = self.try_next()? {
                return Ok(delivery);
            }
            changed.await;
        }
    }

    /// Returns the next event, if there is one.
    ///
    /// # Errors
    /// Fails if the subscription has ended.
    pub fn try_next(&mut self) -> Result<Option<Delivery>, SubscriptionEnd> {
        {
            let mut buffer = self.subscriber.lock();
            if let Some(end) = &buffer.ended {
                return Err(end.clone());
            }
            if buffer.past.is_none() && buffer.backlog.is_empty() {
                let now_ms = (self.hub.0.clock)();
                return Ok(buffer
                    .pop(now_ms)
                    .map(|event| Delivery { event: event.event.clone(), cursor: buffer.cursor() }));
            }
        }
        // The hub's lock comes before that of a buffer.
        let state = self.hub.lock();
        let mut buffer = self.subscriber.lock();
        if let Some(number) = buffer.past {
            let Some(mut events) = state.feed.after(number) else {
                let end = SubscriptionEnd::Overflow { cursor: buffer.cursor() };
                return Err(buffer.ended.insert(end).clone());
            };
            let next: Option<Arc<RoutedEvent>> = events.find(|event| self.subscriber.takes(event)).cloned();
            let Some(event) = next else {
                // All that comes from now on is offered.
                buffer.past = None;
                return Ok(None);
            };
            buffer.note_seen(event.number);
            buffer.past = Some(event.number);
            return Ok(Some(Delivery { event: event.event.clone(), cursor: buffer.cursor() }));
        }
        while let Some(number) = buffer.backlog.pop_front() {
            let event = state.broker.waiting_event(number, self.subscriber.agent_id());
            if let Some(event) = event.filter(|event| self.subscriber.takes(event)) {
                return Ok(Some(Delivery { event: event.event.clone(), cursor: buffer.cursor() }));
            }
        }
        let now_ms = (self.hub.0.clock)();
        Ok(buffer.pop(now_ms).map(|event| Delivery { event: event.event.clone(), cursor: buffer.cursor() }))
    }
}

impl Drop for EventSubscription {
    fn drop(&mut self) {
        let mut state = self.hub.lock();
        state.subscribers.remove(&self.id);
        state.broker.detach(self.subscriber.agent_id());
    }
}

fn gone() -> BrokerError {
    let text = "the events after the cursor were discarded; subscribe without a cursor, and read the tasks";
    BrokerError::new(ErrorKind::OutOfRange, text)
}
