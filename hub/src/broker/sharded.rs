//! [`ShardedMap`]: a hash map that grows in small steps.
//!
//! A map that grows moves all its entries at once, which takes many milliseconds if they are hundreds of thousands, and
//! every caller of the hub waits meanwhile. The parts of this map grow one by one.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hash, RandomState};

/// Number of entries at which a map is divided.
const DIVIDED_AT: usize = 1_024;
/// Number of parts of a divided map; a power of two.
const SHARDS: usize = 256;

/// A hash map, of one part while it is small.
#[derive(Debug)]
pub(super) struct ShardedMap<K, V> {
    shards: Vec<HashMap<K, V>>,
    hasher: RandomState,
    len: usize,
}

impl<K: Hash + Eq, V> ShardedMap<K, V> {
    pub(super) fn new() -> ShardedMap<K, V> {
        ShardedMap { shards: vec![HashMap::new()], hasher: RandomState::new(), len: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    fn shard<Q: Hash + ?Sized>(&self, key: &Q) -> usize {
        match self.shards.len() {
            1 => 0,
            // The lowest bits, so the number is one of a part.
            count => usize::try_from(self.hasher.hash_one(key) & (count as u64 - 1)).unwrap_or(0),
        }
    }

    pub(super) fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.shards[self.shard(key)].get(key)
    }

    pub(super) fn get_mut<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let shard = self.shard(key);
        self.shards[shard].get_mut(key)
    }

    pub(super) fn contains_key<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.get(key).is_some()
    }

    pub(super) fn insert(&mut self, key: K, value: V) -> Option<V> {
        if self.shards.len() == 1 && self.len >= DIVIDED_AT {
            self.divide();
        }
        let shard = self.shard(&key);
        let before = self.shards[shard].insert(key, value);
        self.len += usize::from(before.is_none());
        before
    }

    pub(super) fn remove<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let shard = self.shard(key);
        let removed = self.shards[shard].remove(key);
        self.len -= usize::from(removed.is_some());
        removed
    }

    /// Returns the value of a key, which is created if it is missing.
    pub(super) fn get_or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        if self.shards.len() == 1 && self.len >= DIVIDED_AT {
            self.divide();
        }
        let shard = self.shard(&key);
        let (shard, len) = (&mut self.shards[shard], &mut self.len);
        shard.entry(key).or_insert_with(|| {
            *len += 1;
            V::default()
        })
    }

    fn divide(&mut self) {
        let whole = std::mem::replace(
            &mut self.shards,
            (0..SHARDS).map(|_| HashMap::with_capacity(DIVIDED_AT / SHARDS * 2)).collect(),
        );
        for (key, value) in whole.into_iter().flatten() {
            let shard = self.shard(&key);
            self.shards[shard].insert(key, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_map_before_and_after_it_is_divided() {
        let (mut map, mut model) = (ShardedMap::new(), HashMap::new());
        for step in 0..60_000_u64 {
            // Keys repeat, and each third step removes one.
            let key = step.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 20_011;
            if step % 3 == 2 {
                assert_eq!(map.remove(&key), model.remove(&key), "{step}");
            } else {
                assert_eq!(map.insert(key, step), model.insert(key, step), "{step}");
            }
            assert_eq!(map.len(), model.len());
        }
        assert!(map.len() > DIVIDED_AT, "{}", map.len());
        for key in 0..20_011 {
            assert_eq!((map.get(&key), map.contains_key(&key)), (model.get(&key), model.contains_key(&key)));
            if let Some(value) = map.get_mut(&key) {
                *value += 1;
            }
            assert_eq!(map.get(&key).copied(), model.get(&key).map(|value| value + 1));
        }
        let before = map.len();
        *map.get_or_default(1 << 40) += 7;
        *map.get_or_default(1 << 40) += 7;
        assert_eq!((map.get(&(1 << 40)), map.len()), (Some(&14), before + 1));
    }

    #[test]
    fn no_insertion_moves_more_than_a_small_part() {
        let mut map = ShardedMap::new();
        let mut most = 0;
        for key in 0..300_000_u64 {
            let before: Vec<usize> = map.shards.iter().map(HashMap::capacity).collect();
            // Only every so often: the check is slower than the map.
            if key % 64 == 0 {
                most = most.max(before.iter().copied().max().unwrap_or_default());
            }
            map.insert(key, ());
        }
        assert_eq!(map.len(), 300_000);
        assert!(most <= 7_168, "a part of {most} entries grows at once");
    }
}
