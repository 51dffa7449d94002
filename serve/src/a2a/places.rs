//! [`Places`]: how many of something may be at one time.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A place that is taken, until this is dropped.
pub(super) type Place = OwnedSemaphorePermit;

/// How many of something may be at one time. Clones are the same places.
#[derive(Debug, Clone)]
pub(super) struct Places {
    most: u32,
    free: Arc<Semaphore>,
}

impl Places {
    /// So many places, at least one.
    pub(super) fn new(most: u32) -> Places {
        let most = most.max(1);
        Places { most, free: Arc::new(Semaphore::new(most as usize)) }
    }

    /// How many there are.
    pub(super) fn most(&self) -> usize {
        self.most as usize
    }

    /// How many are taken.
    pub(super) fn taken(&self) -> usize {
        self.most().saturating_sub(self.free.available_permits())
    }

    /// Takes a place; nothing where all are taken.
    pub(super) fn take(&self) -> Option<Place> {
        self.free.clone().try_acquire_owned().ok()
    }

    /// Ready once no place is taken.
    pub(super) async fn all_free(&self) {
        // It is never closed.
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
