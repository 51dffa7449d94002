//! [`WeightedQueue`]: four priorities that share a queue 8:4:2:1, with ageing, and lanes whose items keep their order.
//!
//! The levels are served by stride scheduling: each has a pass that grows by `1 / weight` when it is served, and the
//! level with the smallest pass is next. No level starves, and an idle one saves up nothing. In addition, an item that
//! waits longer than the ageing time rises by one level.
//!
//! Only the first item of a lane can be taken. It has the highest priority of its lane, so that an urgent item does not
//! wait at the priority of the items before it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Level;
use super::sharded::ShardedMap;

/// Growth of the pass of each level, from low to critical: inversely proportional to the weights 1, 2, 4 and 8.
const STRIDES: [u64; 4] = [120, 60, 30, 15];
/// Maximum number of items that rise from one level at a time.
const RISES: usize = 32;

/// Items by priority, in lanes. Numbers identify items and define their order.
#[derive(Debug)]
pub(crate) struct WeightedQueue<T> {
    ageing_ms: u64,
    items: BTreeMap<u64, QueuedItem<T>>,
    lanes: ShardedMap<Arc<str>, Lane>,
    /// Numbers of the first items of all lanes, by current level.
    heads: [BTreeSet<u64>; 4],
    /// These items by the time since which they have their level, except those of the highest one.
    rising: [BTreeSet<(u64, u64)>; 3],
    passes: [u64; 4],
    /// Pass of the level that was served last.
    served: u64,
    /// Number of items by their own priority.
    depths: [usize; 4],
}

#[derive(Debug)]
struct QueuedItem<T> {
    item: T,
    lane: Arc<str>,
    level: Level,
    /// Current level, at least that of the item itself; meaningful for first items.
    current: usize,
    /// Time since which the item has its current level.
    since_ms: u64,
}

#[derive(Debug, Default)]
struct Lane {
    numbers: BTreeSet<u64>,
    depths: [usize; 4],
}

impl Lane {
    fn highest(&self) -> usize {
        self.depths.iter().rposition(|count| *count > 0).unwrap_or(0)
    }
}

impl<T> WeightedQueue<T> {
    /// Creates an empty queue. An item rises by one level after `ageing_ms`.
    #[must_use]
    pub(crate) fn new(ageing_ms: u64) -> WeightedQueue<T> {
        WeightedQueue {
            ageing_ms: ageing_ms.max(1),
            items: BTreeMap::new(),
            lanes: ShardedMap::new(),
            heads: Default::default(),
            rising: Default::default(),
            passes: [0; 4],
            served: 0,
            depths: [0; 4],
        }
    }

    /// Returns the number of items.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns whether it has no items.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the number of items of each priority, from low to critical.
    #[must_use]
    pub(crate) fn depths(&self) -> [usize; 4] {
        self.depths
    }

    /// Returns the smallest number of an item.
    #[must_use]
    pub(crate) fn first_number(&self) -> Option<u64> {
        self.items.keys().next().copied()
    }

    /// Adds an item. An item with a smaller number than others of its lane is placed before them; an item whose number
    /// is queued already is ignored.
    pub(crate) fn push(&mut self, number: u64, lane: impl Into<Arc<str>>, level: Level, now_ms: u64, item: T) {
        if self.items.contains_key(&number) {
            return;
        }
        let lane: Arc<str> = lane.into();
        let entry = self.lanes.get_or_default(lane.clone());
        let earlier = entry.numbers.first().copied();
        entry.numbers.insert(number);
        entry.depths[level as usize] += 1;
        self.depths[level as usize] += 1;
        let current = level as usize;
        self.items.insert(number, QueuedItem { item, lane, level, current, since_ms: now_ms });
        match earlier {
            Some(head) if head < number => self.lift(head, level as usize, now_ms),
            Some(head) => {
                self.leave(head);
                self.make_head(number, now_ms);
            }
            None => self.make_head(number, now_ms),
        }
    }

    /// Removes an item by its number.
    pub(crate) fn remove(&mut self, number: u64, now_ms: u64) -> Option<T> {
        self.leave(number);
        let found = self.items.remove(&number)?;
        self.depths[found.level as usize] -= 1;
        let mut next = None;
        if let Some(lane) = self.lanes.get_mut(&found.lane) {
            lane.numbers.remove(&number);
            lane.depths[found.level as usize] -= 1;
            next = lane.numbers.first().copied();
            if next.is_none() {
                self.lanes.remove(&found.lane);
            }
        }
        if let Some(next) = next
            && !self.heads[self.items[&next].current].contains(&next)
        {
            self.make_head(next, now_ms);
        }
        Some(found.item)
    }

    /// Chooses the next item that `accepts` takes, without removing it. At most `scan` items of each level are tried.
    pub(crate) fn choose(&mut self, now_ms: u64, scan: usize, mut accepts: impl FnMut(&T) -> bool) -> Option<u64> {
        self.age(now_ms);
        let mut order = [3, 2, 1, 0];
        // The sort is stable: of equal passes, the higher level is first.
        order.sort_by_key(|level| self.passes[*level]);
        order.into_iter().find_map(|level| {
            self.heads[level].iter().take(scan).copied().find(|number| accepts(&self.items[number].item))
        })
    }

    /// Removes a chosen item and charges its level.
    pub(crate) fn take(&mut self, number: u64, now_ms: u64) -> Option<T> {
        let level = self.items.get(&number)?.current;
        self.served = self.passes[level];
        self.passes[level] += STRIDES[level];
        self.remove(number, now_ms)
    }

    /// Removes and returns the next item.
    pub(crate) fn pop(&mut self, now_ms: u64) -> Option<T> {
        let number = self.choose(now_ms, 1, |_| true)?;
        self.take(number, now_ms)
    }

    /// Returns the present level of an item, and the time since which it has it.
    pub(crate) fn level_of(&self, number: u64) -> Option<(usize, u64)> {
        self.items.get(&number).map(|queued| (queued.current, queued.since_ms))
    }

    /// Adds an item that had a level since a time when it was saved.
    pub(crate) fn restore(
        &mut self,
        number: u64,
        lane: impl Into<Arc<str>>,
        level: Level,
        (current, since_ms): (usize, u64),
        item: T,
    ) {
        self.push(number, lane, level, since_ms, item);
        let Some(queued) = self.items.get(&number) else { return };
        if self.heads[queued.current].contains(&number) {
            self.lift(number, current.min(3), since_ms);
        }
    }

    /// Returns the pass of each level, and that of the level that was served last.
    pub(crate) fn shares(&self) -> ([u64; 4], u64) {
        (self.passes, self.served)
    }

    /// Sets the passes.
    pub(crate) fn set_shares(&mut self, passes: [u64; 4], served: u64) {
        (self.passes, self.served) = (passes, served);
    }

    /// Returns all items in the order of their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.items.iter().map(|(number, queued)| (*number, &queued.item))
    }

    fn make_head(&mut self, number: u64, now_ms: u64) {
        let Some(queued) = self.items.get_mut(&number) else { return };
        let inherited = self.lanes.get(&queued.lane).map_or(0, Lane::highest);
        queued.current = queued.current.max(inherited);
        queued.since_ms = now_ms;
        let current = queued.current;
        self.enter(number, current, now_ms);
    }

    fn enter(&mut self, number: u64, level: usize, since_ms: u64) {
        if self.heads[level].is_empty() {
            self.passes[level] = self.passes[level].max(self.served + STRIDES[level]);
        }
        self.heads[level].insert(number);
        if let Some(rising) = self.rising.get_mut(level) {
            rising.insert((since_ms, number));
        }
    }

    /// Removes an item from the first items, if it is one.
    fn leave(&mut self, number: u64) {
        let Some(queued) = self.items.get(&number) else { return };
        self.heads[queued.current].remove(&number);
        if let Some(rising) = self.rising.get_mut(queued.current) {
            rising.remove(&(queued.since_ms, number));
        }
    }

    /// Raises a first item to a level, if it is below.
    fn lift(&mut self, number: u64, level: usize, now_ms: u64) {
        if self.items.get(&number).is_none_or(|queued| queued.current >= level) {
            return;
        }
        self.leave(number);
        if let Some(queued) = self.items.get_mut(&number) {
            queued.current = level;
            queued.since_ms = now_ms;
        }
        self.enter(number, level, now_ms);
    }

    fn age(&mut self, now_ms: u64) {
        for level in (0..3).rev() {
            for _ in 0..RISES {
                let Some((since_ms, number)) = self.rising[level].first().copied() else { break };
                if now_ms.saturating_sub(since_ms) < self.ageing_ms {
                    break;
                }
                self.lift(number, level + 1, now_ms);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(each: u64) -> WeightedQueue<Level> {
        let mut queue = WeightedQueue::new(1_000_000);
        for number in 0..each * 4 {
            let level = Level::ALL[usize::try_from(number % 4).unwrap()];
            queue.push(number, number.to_string(), level, 0, level);
        }
        queue
    }

    #[test]
    fn the_levels_share_by_their_weights_and_critical_is_first() {
        let mut queue = filled(100);
        let order: Vec<Level> = (0..75).filter_map(|_| queue.pop(0)).collect();
        assert_eq!(order[0], Level::Critical);
        let count = |wanted: Level| order.iter().filter(|level| **level == wanted).count();
        assert_eq!(Level::ALL.map(count), [5, 10, 20, 40]);
        assert_eq!(queue.len(), 325);
    }

    #[test]
    fn an_idle_level_saves_nothing() {
        let mut queue = WeightedQueue::new(1_000_000);
        (0..100).for_each(|number| queue.push(number, number.to_string(), Level::Low, 0, Level::Low));
        (0..50).for_each(|_| assert_eq!(queue.pop(0), Some(Level::Low)));
        (100..200).for_each(|number| queue.push(number, number.to_string(), Level::Critical, 0, Level::Critical));
        let low = (0..45).filter_map(|_| queue.pop(0)).filter(|level| *level == Level::Low).count();
        assert!((4..=6).contains(&low), "{low} of 45");
    }

    #[test]
    fn a_low_item_rises_with_its_age() {
        let mut queue = WeightedQueue::new(10);
        queue.push(1, "a", Level::Low, 0, Level::Low);
        for number in 2..1_000 {
            queue.push(number, number.to_string(), Level::Critical, 35, Level::Critical);
        }
        // Three rises of 10 ms each make it critical, and it has the smallest number there.
        assert_eq!(queue.pop(10), Some(Level::Critical));
        assert_eq!(queue.pop(20), Some(Level::Critical));
        assert_eq!(queue.pop(30), Some(Level::Low));
    }

    #[test]
    fn an_item_that_waits_for_a_short_time_does_not_hold_up_the_ageing_of_others() {
        let mut queue = WeightedQueue::new(10);
        (100..200).for_each(|number| queue.push(number, number.to_string(), Level::Low, 0, number));
        // Tasks with smaller numbers return to the queue later.
        (0..50).for_each(|number| queue.push(number, number.to_string(), Level::Low, 9, number));
        assert_eq!(queue.choose(10, 0, |_| true), None);
        assert_eq!((queue.level_of(100), queue.level_of(0)), (Some((1, 10)), Some((0, 9))));
    }

    #[test]
    fn a_lane_keeps_its_order_and_inherits_its_highest_priority() {
        let mut queue = WeightedQueue::new(1_000_000);
        queue.push(1, "context", Level::Low, 0, 1);
        queue.push(2, "context", Level::Critical, 0, 2);
        queue.push(3, "other", Level::High, 0, 3);
        assert_eq!([queue.pop(0), queue.pop(0), queue.pop(0), queue.pop(0)], [Some(1), Some(2), Some(3), None]);
        // An item that returns is first again.
        queue.push(5, "context", Level::Medium, 0, 5);
        queue.push(4, "context", Level::Medium, 0, 4);
        assert_eq!([queue.pop(0), queue.pop(0)], [Some(4), Some(5)]);
        assert_eq!((queue.len(), queue.lanes.len()), (0, 0));
    }
}
