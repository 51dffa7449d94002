//! [`KeyedLimit`]: limits how many of something each owner has at one time.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A limit on how many of something each owner has at one time. Clones share the counts.
#[derive(Debug)]
pub struct KeyedLimit<K: Eq + Hash> {
    most: usize,
    /// The numbers of taken permits; owners without one have no entry.
    taken: Arc<Mutex<HashMap<K, usize>>>,
}

impl<K: Eq + Hash> Clone for KeyedLimit<K> {
    fn clone(&self) -> KeyedLimit<K> {
        KeyedLimit { most: self.most, taken: self.taken.clone() }
    }
}

/// A permit of an owner; dropping it returns it.
#[derive(Debug)]
pub struct KeyedPermit<K: Eq + Hash> {
    limit: KeyedLimit<K>,
    owner: K,
}

impl<K: Eq + Hash> KeyedLimit<K> {
    /// Creates `most` permits for each owner, at least one.
    #[must_use]
    pub fn new(most: usize) -> KeyedLimit<K> {
        KeyedLimit { most: most.max(1), taken: Arc::default() }
    }

    /// Locks the counts. Every operation leaves them consistent.
    fn lock(&self) -> MutexGuard<'_, HashMap<K, usize>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of permits of each owner.
    #[must_use]
    pub fn most(&self) -> usize {
        self.most
    }

    /// Returns whether an owner has a free permit.
    pub fn has_room<Q: Eq + Hash + ?Sized>(&self, owner: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.lock().get(owner).is_none_or(|taken| *taken < self.most)
    }

    /// Takes a permit of an owner, or returns `None` if all of its permits are taken.
    #[must_use]
    pub fn take(&self, owner: K) -> Option<KeyedPermit<K>>
    where
        K: Clone,
    {
        let mut all = self.lock();
        let taken = all.entry(owner.clone()).or_default();
        if *taken >= self.most {
            return None;
        }
        *taken += 1;
        Some(KeyedPermit { limit: self.clone(), owner })
    }
}

impl<K: Eq + Hash> Drop for KeyedPermit<K> {
    fn drop(&mut self) {
        let mut all = self.limit.lock();
        let Some(taken) = all.get_mut(&self.owner) else { return };
        *taken -= 1;
        if *taken == 0 {
            all.remove(&self.owner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_that_has_all_of_its_permits_takes_none_of_another() {
        let limit = KeyedLimit::new(2);
        let (one, two) = (limit.take("a"), limit.take("a"));
        assert!(one.is_some() && two.is_some() && limit.take("a").is_none() && !limit.has_room("a"));
        assert!(limit.has_room("b") && limit.take("b").is_some());
        drop(one);
        assert!(limit.has_room("a") && limit.clone().take("a").is_some());
        drop(two);
        assert!(limit.lock().is_empty(), "an owner without permits costs nothing");
    }

    #[test]
    fn a_limit_has_at_least_one_permit() {
        let limit = KeyedLimit::new(0);
        let one = limit.take(1);
        assert!((limit.most(), one.is_some(), limit.take(1).is_none()) == (1, true, true));
    }
}
