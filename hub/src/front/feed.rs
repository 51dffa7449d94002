//! [`EventFeed`]: the latest events, to resume subscriptions from.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::broker::RoutedEvent;

/// The latest events, bounded by number and memory.
pub(super) struct EventFeed {
    events: VecDeque<Arc<RoutedEvent>>,
    bytes: usize,
    most_events: usize,
    most_bytes: usize,
    /// Number of the last change of which an event was dropped.
    dropped: u64,
}

impl EventFeed {
    pub(super) fn new(most_events: usize, most_bytes: usize) -> EventFeed {
        EventFeed { events: VecDeque::new(), bytes: 0, most_events, most_bytes, dropped: 0 }
    }

    /// Returns the approximate memory of the events, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn extend(&mut self, events: Vec<Arc<RoutedEvent>>) {
        for event in events {
            self.bytes += event.memory;
            self.events.push_back(event);
        }
        while self.events.len() > self.most_events || self.bytes > self.most_bytes {
            let Some(event) = self.events.pop_front() else { return };
            self.bytes -= event.memory;
            self.dropped = event.number;
        }
    }

    /// Drops the events up to a change, of which some are missing.
    pub(super) fn begin_after(&mut self, number: u64) {
        while self.events.front().is_some_and(|event| event.number <= number) {
            let Some(event) = self.events.pop_front() else { break };
            self.bytes -= event.memory;
        }
        self.dropped = self.dropped.max(number);
    }

    /// Returns the events after a change; `None` if some of them are gone.
    pub(super) fn after(&self, number: u64) -> Option<impl Iterator<Item = &Arc<RoutedEvent>>> {
        let start = self.events.partition_point(|event| event.number <= number);
        (self.dropped <= number).then(|| self.events.range(start..))
    }

    /// Returns the number of the change with an event id.
    pub(super) fn number_of(&self, event_id: &str) -> Option<u64> {
        self.events.iter().rev().find(|event| event.event.id() == event_id).map(|event| event.number)
    }
}
