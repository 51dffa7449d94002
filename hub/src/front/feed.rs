//! [`EventFeed`]: the latest events, to resume subscriptions from.

use std::collections::VecDeque;

use prost::Message as _;

use crate::broker::RoutedEvent;

/// The latest events, bounded by number and size.
pub(super) struct EventFeed {
    events: VecDeque<(usize, RoutedEvent)>,
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

    pub(super) fn extend(&mut self, events: Vec<RoutedEvent>) {
        for event in events {
            let size = event.event.encoded_len();
            self.bytes += size;
            self.events.push_back((size, event));
        }
        while self.events.len() > self.most_events || self.bytes > self.most_bytes {
            let Some((size, event)) = self.events.pop_front() else { return };
            self.bytes -= size;
            self.dropped = event.number;
        }
    }

    /// Returns the events after a change; `None` if some of them are gone.
    pub(super) fn after(&self, number: u64) -> Option<impl Iterator<Item = &RoutedEvent>> {
        let start = self.events.partition_point(|(_, event)| event.number <= number);
        (self.dropped <= number).then(|| self.events.range(start..).map(|(_, event)| event))
    }

    /// Returns the number of the change with an event id.
    pub(super) fn number_of(&self, event_id: &str) -> Option<u64> {
        self.events.iter().rev().find(|(_, event)| event.event.event_id == event_id).map(|(_, event)| event.number)
    }
}
