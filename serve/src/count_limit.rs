//! [`CountLimit`]: limits how many of something exist at one time. [`KeyedLimit`]: the same for each owner.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A permit for one of them; dropping it returns it.
pub(crate) type CountPermit = OwnedSemaphorePermit;

/// A limit on how many of something exist at one time. Clones share the permits.
#[derive(Debug, Clone)]
pub(crate) struct CountLimit {
    most: u32,
    free: Arc<Semaphore>,
}

impl CountLimit {
    /// Creates `most` permits, at least one.
    pub(crate) fn new(most: u32) -> CountLimit {
        let most = most.max(1);
        CountLimit { most, free: Arc::new(Semaphore::new(most as usize)) }
    }

    /// Returns the number of permits.
    pub(crate) fn most(&self) -> usize {
        self.most as usize
    }

    /// Returns the number of taken permits.
    pub(crate) fn taken(&self) -> usize {
        self.most().saturating_sub(self.free.available_permits())
    }

    /// Takes a permit, or returns `None` if all are taken.
    pub(crate) fn take(&self) -> Option<CountPermit> {
        self.free.clone().try_acquire_owned().ok()
    }

    /// Waits until all permits are free.
    pub(crate) async fn all_free(&self) {
        // The semaphore is never closed.
        let _ = self.free.acquire_many(self.most).await;
    }
}

/// Returns the default limit of one owner from the limit of all: the others keep the rest.
pub(crate) fn share_of_one(most: usize) -> usize {
    most.div_ceil(2)
}

/// A limit on how many of something each owner has at one time. Clones share the counts.
#[derive(Debug, Clone)]
pub(crate) struct KeyedLimit {
    most: usize,
    /// The numbers of taken permits; owners without one have no entry.
    taken: Arc<Mutex<HashMap<Arc<str>, usize>>>,
}

/// A permit of an owner; dropping it returns it.
#[derive(Debug)]
pub(crate) struct KeyedPermit {
    limit: KeyedLimit,
    owner: Arc<str>,
}

impl KeyedLimit {
    /// Creates `most` permits for each owner, at least one.
    pub(crate) fn new(most: usize) -> KeyedLimit {
        KeyedLimit { most: most.max(1), taken: Arc::default() }
    }

    /// Locks the counts. Every operation leaves them consistent.
    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, usize>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of permits of each owner.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// Returns whether an owner has a free permit.
    pub(crate) fn has_room(&self, owner: &str) -> bool {
        self.lock().get(owner).is_none_or(|taken| *taken < self.most)
    }

    /// Takes a permit of an owner, or returns `None` if all of its permits are taken.
    pub(crate) fn take(&self, owner: &Arc<str>) -> Option<KeyedPermit> {
        let mut all = self.lock();
        let taken = all.entry(owner.clone()).or_default();
        if *taken >= self.most {
            return None;
        }
        *taken += 1;
        Some(KeyedPermit { limit: self.clone(), owner: owner.clone() })
    }
}

impl Drop for KeyedPermit {
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

    #[tokio::test]
    async fn a_place_is_free_again_once_it_is_dropped() {
        let permits = CountLimit::new(2);
        let (one, two) = (permits.take(), permits.take());
        assert!(one.is_some() && two.is_some() && permits.take().is_none());
        drop(one);
        assert!(permits.take().is_some());
        drop(two);
        permits.all_free().await;
    }
    #[test]
    fn an_owner_that_has_all_of_its_permits_takes_none_of_another() {
        let limit = KeyedLimit::new(2);
        let [a, b]: [Arc<str>; 2] = ["a".into(), "b".into()];
        let (one, two) = (limit.take(&a), limit.take(&a));
        assert!(one.is_some() && two.is_some() && limit.take(&a).is_none() && !limit.has_room(&a));
        assert!(limit.has_room(&b) && limit.take(&b).is_some());
        drop(one);
        assert!(limit.has_room(&a) && limit.take(&a).is_some());
        drop(two);
        assert!(limit.lock().is_empty(), "an owner without permits costs nothing");
    }
}
