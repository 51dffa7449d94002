//! [`EventSubscription`]: reading the events of a subscription.

use std::sync::Arc;

use crate::broker::{BrokerError, Caller, ErrorKind, MAX_ID_BYTES, RoutedEvent, SharedEvent};

use super::Hub;
use super::subscriber::{BufferState, DeliveryOrder, SubscribeRequest, Subscriber, SubscriptionEnd};

/// Maximum number of events that a subscription can buffer.
const MOST_CAPACITY: usize = 65_536;

/// An event, with the cursor after it.
#[derive(Debug, Clone, PartialEq)]
pub struct Delivery {
    /// The event.
    pub event: SharedEvent,
    /// Cursor to resume from. It skips nothing that was not delivered. Events of higher priority that were delivered
    /// before others are delivered again.
    pub cursor: String,
    /// Number of the change of the event.
    pub sequence: u64,
    /// Number of the change up to which everything was delivered: that of the cursor.
    pub complete: u64,
}

impl Delivery {
    fn of(event: SharedEvent, sequence: u64, buffer: &BufferState) -> Delivery {
        Delivery { event, sequence, cursor: buffer.cursor(), complete: buffer.complete() }
    }
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
                let text = format!("`{agent_id}` cannot subscribe as `{}`", base::ids::shortened(&request.agent_id));
                return Err(BrokerError::new(ErrorKind::PermissionDenied, text));
            }
            _ if request.agent_id.is_empty() => return Err(BrokerError::invalid("missing `agent_id`")),
            _ if request.agent_id.len() > MAX_ID_BYTES => {
                return Err(BrokerError::invalid(format!("`agent_id` is longer than {MAX_ID_BYTES} bytes")));
            }
            _ => {}
        }
        let mut state = hub.lock();
        if let Some(error) = &state.failed {
            return Err(error.clone());
        }
        if !state.broker.knows(&request.agent_id) {
            return Err(BrokerError::unregistered(&request.agent_id));
        }
        let options = state.broker.options();
        let most = options.max_subscriptions;
        if state.subscribers.len() >= most {
            return Err(BrokerError::limit(format!("too many subscriptions: the limit is {most}")));
        }
        let capacity = request.capacity.unwrap_or(options.subscription_events).clamp(1, MOST_CAPACITY);
        let last = state.broker.last_number();
        let past = match request.cursor.as_deref().filter(|cursor| !cursor.is_empty()) {
            None => None,
            // By priority, others that happened earlier may not have been delivered before it.
            Some(event_id) if event_id.starts_with("evt_") && request.order == DeliveryOrder::Priority => {
                return Err(BrokerError::invalid(
                    "an event id is a cursor only in the order `sequence`; use the cursor of the event",
                ));
            }
            Some(event_id) if event_id.starts_with("evt_") => Some(state.feed.number_of(event_id).ok_or_else(gone)?),
            Some(cursor) => {
                let number = state.seal.read(cursor)?.filter(|number| *number <= last);
                Some(number.ok_or_else(foreign)?)
            }
        };
        if past.is_some_and(|number| state.feed.after(number).is_none()) {
            return Err(gone());
        }
        // Changes that are not stored yet arrive as events.
        let unsettled = state.outbox.iter().find_map(|command| command.events.first()).map(|event| event.number);
        let settled = unsettled.map_or(last, |number| number.saturating_sub(1));
        let (agent_id, order) = (request.agent_id.clone(), request.order);
        let subscriber = Arc::new(Subscriber::new(request, capacity, options, state.seal, past.unwrap_or(settled)));
        {
            let mut buffer = subscriber.lock();
            buffer.past = past;
            if past.is_none() && subscriber.is_for_tasks() {
                let mut waiting = state.broker.waiting_for(&agent_id);
                waiting.retain(|number| *number <= settled);
                if order == DeliveryOrder::Sequence {
                    waiting.sort_unstable();
                }
                buffer.backlog = waiting.into();
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

    /// Returns the cursor at present, and the number of its change.
    #[must_use]
    pub fn cursor(&self) -> (String, u64) {
        let buffer = self.subscriber.lock();
        (buffer.cursor(), buffer.complete())
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
                let now_ms = self.hub.0.time.now_ms();
                let next = buffer.pop(now_ms);
                return Ok(next.map(|event| Delivery::of(event.event.clone(), event.number, &buffer)));
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
            return Ok(Some(Delivery::of(event.event.clone(), event.number, &buffer)));
        }
        while let Some(number) = buffer.backlog.pop_front() {
            let event = state.broker.waiting_event(number, self.subscriber.agent_id());
            if let Some(event) = event.filter(|event| self.subscriber.takes(event)) {
                return Ok(Some(Delivery::of(event.event.clone(), event.number, &buffer)));
            }
        }
        let now_ms = self.hub.0.time.now_ms();
        let next = buffer.pop(now_ms);
        Ok(next.map(|event| Delivery::of(event.event.clone(), event.number, &buffer)))
    }
}

impl Drop for EventSubscription {
    fn drop(&mut self) {
        let mut state = self.hub.lock();
        state.subscribers.remove(&self.id);
        state.broker.detach(self.subscriber.agent_id());
    }
}

fn foreign() -> BrokerError {
    let text = "the cursor is not one of this hub, or of its time before a restart without a store; subscribe without a \
        cursor, and read the tasks";
    BrokerError::new(ErrorKind::OutOfRange, text)
}

fn gone() -> BrokerError {
    let text = "the events after the cursor were discarded; subscribe without a cursor, and read the tasks";
    BrokerError::new(ErrorKind::OutOfRange, text)
}
