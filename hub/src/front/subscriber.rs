//! [`Subscriber`]: the buffer of a subscription, and the selection of its events.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::failures::{FailedOperation, report};
use tokio::sync::Notify;

use crate::broker::query::CursorSeal;
use crate::broker::{Audience, BrokerError, BrokerOptions, Channel, RoutedEvent, WeightedQueue};
use crate::proto::a2a::TaskState;

/// Number of events of an ended subscription that are freed when the next one is offered.
const DISCARDED: usize = 16;

/// The events of a subscription. Empty lists mean all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubscriptionKind {
    /// Messages.
    Messages {
        /// Event types.
        types: Vec<String>,
        /// Contexts.
        contexts: Vec<String>,
    },
    /// Tasks, their updates and artifacts.
    Tasks {
        /// Types of tasks: the event types of their first messages.
        types: Vec<String>,
        /// States.
        states: Vec<TaskState>,
    },
    /// All events, and registrations of agents.
    Events {
        /// Event types.
        types: Vec<String>,
    },
}

/// The order in which a subscription gets its events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DeliveryOrder {
    /// By priority; those of one lane in the order in which they happened.
    #[default]
    Priority,
    /// In the order in which they happened.
    Sequence,
}

/// A subscription to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscribeRequest {
    /// The agent.
    pub agent_id: String,
    /// The events.
    pub kind: SubscriptionKind,
    /// Cursor after which it resumes. In the order [`DeliveryOrder::Sequence`], the id of an event is a cursor too.
    pub cursor: Option<String>,
    /// The order of its events.
    pub order: DeliveryOrder,
    /// Maximum number of events in its buffer; `None` means that of the options.
    pub capacity: Option<usize>,
}

/// The reason a subscription ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SubscriptionEnd {
    /// The subscriber is too slow: its buffer is full.
    #[error("the subscriber is too slow: its buffer is full; resume from the cursor `{cursor}`")]
    Overflow {
        /// Cursor to resume from.
        cursor: String,
    },
    /// The hub ends.
    #[error("the hub is shutting down")]
    Closed,
    /// The hub failed.
    #[error(transparent)]
    Failed(BrokerError),
}

pub(super) struct Subscriber {
    agent_id: String,
    kind: SubscriptionKind,
    order: DeliveryOrder,
    capacity: usize,
    most_bytes: usize,
    state: Mutex<BufferState>,
    pub(super) changed: Notify,
}

pub(super) struct BufferState {
    /// Tasks that wait for the agent since before the subscription.
    pub(super) backlog: VecDeque<u64>,
    /// Smallest number of the backlog.
    pub(super) backlog_from: u64,
    /// Number of the change after which past events are read; `None` if all of them are.
    pub(super) past: Option<u64>,
    queue: WeightedQueue<Arc<RoutedEvent>>,
    bytes: usize,
    /// Largest number seen.
    seen: u64,
    seal: CursorSeal,
    pub(super) ended: Option<SubscriptionEnd>,
}

impl Subscriber {
    pub(super) fn new(
        request: SubscribeRequest,
        capacity: usize,
        options: &BrokerOptions,
        seal: CursorSeal,
        seen: u64,
    ) -> Subscriber {
        let state = BufferState {
            backlog: VecDeque::new(),
            backlog_from: u64::MAX,
            past: None,
            queue: WeightedQueue::new(options.ageing_ms),
            bytes: 0,
            seen,
            seal,
            ended: None,
        };
        Subscriber {
            agent_id: request.agent_id,
            kind: request.kind,
            order: request.order,
            capacity,
            most_bytes: options.subscription_bytes,
            state: Mutex::new(state),
            changed: Notify::new(),
        }
    }

    pub(super) fn agent_id(&self) -> &str {
        &self.agent_id
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, BufferState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn end(&self, why: SubscriptionEnd) {
        self.lock().ended.get_or_insert(why);
        self.changed.notify_one();
    }

    /// Buffers an event that the subscription selects. A full buffer ends the subscription.
    pub(super) fn offer(&self, event: &Arc<RoutedEvent>, now_ms: u64) {
        if !self.takes(event) {
            return;
        }
        let mut state = self.lock();
        // While past events are read, this one will be among them.
        if state.past.is_some() {
            return;
        }
        if state.ended.is_some() {
            state.discard();
            return;
        }
        let is_too_large = !state.queue.is_empty() && state.bytes + event.bytes > self.most_bytes;
        if state.queue.len() >= self.capacity || is_too_large {
            state.ended = Some(SubscriptionEnd::Overflow { cursor: state.cursor() });
            state.backlog.clear();
            let agent = base::ids::shortened(&self.agent_id);
            let message = format_args!("ended a subscription of `{agent}`: it was not read fast enough");
            report(FailedOperation::Delivery, "slow hub subscription", message);
        } else {
            state.push(event, self.order, now_ms);
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Returns whether the subscription selects an event.
    pub(super) fn takes(&self, event: &RoutedEvent) -> bool {
        let is_for_agent = match &event.audience {
            Audience::Agents(agents) => agents.contains(&self.agent_id),
            Audience::AllExcept(agent) => *agent != self.agent_id,
        };
        if !is_for_agent {
            return false;
        }
        let has = |list: &[String], value: &str| list.is_empty() || list.iter().any(|wanted| wanted == value);
        match &self.kind {
            SubscriptionKind::Messages { types, contexts } => {
                event.channel == Channel::Messages && has(types, event.event_type()) && has(contexts, &event.context_id)
            }
            SubscriptionKind::Tasks { types, states } => {
                event.channel == Channel::Tasks
                    && has(types, &event.task_type)
                    && (states.is_empty() || states.contains(&event.state))
            }
            SubscriptionKind::Events { types } => event.main && has(types, event.event_type()),
        }
    }

    pub(super) fn is_for_tasks(&self) -> bool {
        !matches!(self.kind, SubscriptionKind::Messages { .. })
    }
}

impl BufferState {
    fn push(&mut self, event: &Arc<RoutedEvent>, order: DeliveryOrder, now_ms: u64) {
        self.seen = self.seen.max(event.number);
        self.bytes += event.bytes;
        // The events of one lane keep their order.
        let lane = match order {
            DeliveryOrder::Priority => event.lane.clone(),
            DeliveryOrder::Sequence => Arc::from(""),
        };
        self.queue.push(event.number, lane, event.level(), now_ms, event.clone());
    }

    pub(super) fn note_seen(&mut self, number: u64) {
        self.seen = self.seen.max(number);
    }

    pub(super) fn pop(&mut self, now_ms: u64) -> Option<Arc<RoutedEvent>> {
        let event = self.queue.pop(now_ms)?;
        self.bytes -= event.bytes;
        Some(event)
    }

    /// Frees some events of a subscription that has ended. Freeing a full buffer at once would hold up the others.
    fn discard(&mut self) {
        (0..DISCARDED).for_each(|_| drop(self.pop(0)));
    }

    /// Returns the cursor after which nothing that was not delivered is missed.
    pub(super) fn cursor(&self) -> String {
        self.seal.cursor(self.complete())
    }

    /// Returns the number up to which everything was delivered. Events of higher priority may have been delivered after
    /// it.
    pub(super) fn complete(&self) -> u64 {
        let mut number = self.seen;
        if let Some(first) = self.queue.first_number() {
            number = number.min(first.saturating_sub(1));
        }
        if !self.backlog.is_empty() {
            number = number.min(self.backlog_from.saturating_sub(1));
        }
        self.past.unwrap_or(number).min(number)
    }
}
