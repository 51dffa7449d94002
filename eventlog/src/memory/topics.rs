//! The topics of a log in memory, with the number of the last record of each.

use std::collections::HashMap;
use std::sync::Arc;

/// The topics that have records.
#[derive(Default)]
pub(super) struct TopicIndex {
    last_ids: Vec<(Arc<str>, u64)>,
    /// Index of each topic in the list.
    places: HashMap<Arc<str>, usize, foldhash::fast::RandomState>,
    /// Index of the last record's topic. The next record usually has the same topic, which saves hashing.
    recent: usize,
}

impl TopicIndex {
    /// Reserves `count` record numbers and returns the first.
    pub(super) fn next_ids(&mut self, topic: &Arc<str>, count: u64) -> u64 {
        if !self.last_ids.get(self.recent).is_some_and(|(recent, _)| Arc::ptr_eq(recent, topic)) {
            self.recent = self.place_of(topic);
        }
        let (_, last) = &mut self.last_ids[self.recent];
        let first = *last + 1;
        *last += count;
        first
    }

    fn place_of(&mut self, topic: &Arc<str>) -> usize {
        /// The runtime's own few topics come first and occur repeatedly.
        const FIRST: usize = 4;
        let own = self.last_ids.iter().take(FIRST).position(|(known, _)| Arc::ptr_eq(known, topic));
        if let Some(place) = own {
            return place;
        }
        if let Some(place) = self.places.get(topic) {
            return *place;
        }
        let place = self.last_ids.len();
        self.last_ids.push((topic.clone(), 0));
        self.places.insert(topic.clone(), place);
        place
    }

    /// Returns the number of the last record; `None` if there is none.
    pub(super) fn last_id(&self, topic: &str) -> Option<u64> {
        self.places.get(topic).and_then(|place| self.last_ids.get(*place)).map(|(_, last)| *last)
    }
}
