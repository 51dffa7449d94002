//! [`Places`]: limits how many of something exist at one time.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A taken place; dropping it frees it.
pub(super) type Place = OwnedSemaphorePermit;

/// A limit on how many of something exist at one time. Clones share the places.
#[derive(Debug, Clone)]
pub(super) struct Places {
    most: u32,
    free: Arc<Semaphore>,
}

impl Places {
    /// Creates `most` places, at least one.
    pub(super) fn new(most: u32) -> Places {
        let most = most.max(1);
        Places { most, free: Arc::new(Semaphore::new(most as usize)) }
    }

    /// Returns the number of places.
    pub(super) fn most(&self) -> usize {
        self.most as usize
    }

    /// Returns the number of taken places.
    pub(super) fn taken(&self) -> usize {
        self.most().saturating_sub(self.free.available_permits())
    }

    /// Takes a place, or returns `None` if all are taken.
    pub(super) fn take(&self) -> Option<Place> {
        self.free.clone().try_acquire_owned().ok()
    }

    /// Waits until all places are free.
    pub(super) async fn all_free(&self) {
        // The semaphore is never closed.
        let _ = self.free.acquire_many(self.most).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_place_is_free_again_once_it_is_dropped() {
        let places = Places::new(2);
        let (one, two) = (places.take(), places.take());
        assert!(one.is_some() && two.is_some() && places.take().is_none());
        drop(one);
        assert!(places.take().is_some());
        drop(two);
        places.all_free().await;
    }
}
