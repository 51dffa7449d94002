//! [`CountLimit`]: limits how many of something exist at one time.

use std::sync::Arc;

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
}
