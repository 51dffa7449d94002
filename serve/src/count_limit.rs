//! [`CountLimit`]: limits how many of something exist at one time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// A limit on how many of something exist at one time. Clones share the permits.
#[derive(Debug, Clone)]
pub(crate) struct CountLimit {
    most: usize,
    taken: Arc<TakenPermits>,
}

#[derive(Debug, Default)]
struct TakenPermits {
    count: AtomicUsize,
    /// Notified when the last permit is returned.
    all_free: Notify,
}

/// A permit for one of them; dropping it returns it.
#[derive(Debug)]
pub(crate) struct CountPermit(Arc<TakenPermits>);

impl Drop for CountPermit {
    fn drop(&mut self) {
        if self.0.count.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.all_free.notify_waiters();
        }
    }
}

impl CountLimit {
    /// Creates `most` permits, at least one.
    pub(crate) fn new(most: u32) -> CountLimit {
        CountLimit { most: most.max(1) as usize, taken: Arc::default() }
    }

    /// Returns the number of permits.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// Returns the number of taken permits.
    pub(crate) fn taken(&self) -> usize {
        self.taken.count.load(Ordering::Acquire)
    }

    /// Takes a permit, or returns `None` if all are taken.
    pub(crate) fn take(&self) -> Option<CountPermit> {
        let count = &self.taken.count;
        let next = |taken: usize| (taken < self.most).then_some(taken + 1);
        count.fetch_update(Ordering::AcqRel, Ordering::Acquire, next).ok().map(|_| CountPermit(self.taken.clone()))
    }

    /// Waits until all permits are free. Permits can be taken meanwhile.
    pub(crate) async fn all_free(&self) {
        loop {
            // It is notified of what happens from now on, before it is polled.
            let notified = self.taken.all_free.notified();
            if self.taken() == 0 {
                return;
            }
            notified.await;
        }
    }
}

/// Returns the default limit of one owner from the limit of all: the others keep the rest.
pub(crate) fn share_of_one(most: usize) -> usize {
    most.div_ceil(2)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn a_place_is_free_again_once_it_is_dropped() {
        let permits = CountLimit::new(2);
        let (one, two) = (permits.take(), permits.take());
        assert!(one.is_some() && two.is_some() && permits.take().is_none());
        drop(one);
        assert!(permits.take().is_some());
        assert_eq!((permits.taken(), permits.most()), (1, 2));
        let mut all_free = std::pin::pin!(permits.all_free());
        assert!(all_free.as_mut().now_or_never().is_none());
        // Who waits counts as none and takes none.
        let three = permits.take().expect("one is free");
        assert_eq!(permits.taken(), 2);
        drop((two, three));
        assert!(all_free.now_or_never().is_some());
    }
}
