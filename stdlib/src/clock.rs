//! The clock of a run: the system's, or one that only moves when somebody sleeps or advances it.

use runtime::clock::{Clock, ManualClock};
use runtime::seam::Local;
use std::cell::RefCell;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// When a seeded run begins: 2025-01-01T00:00:00Z.
const SEEDED_START_MS: u64 = 1_735_689_600_000;

/// A clock that can be mocked while it runs.
pub(crate) struct RunClock {
    mocked: RefCell<Option<ManualClock>>,
}

impl RunClock {
    /// The system's clock.
    pub(crate) fn system() -> Self {
        Self { mocked: RefCell::new(None) }
    }

    /// A clock that stands still but for sleeping.
    pub(crate) fn fixed() -> Self {
        Self { mocked: RefCell::new(Some(ManualClock::new(SEEDED_START_MS))) }
    }

    /// Stands still from now on.
    pub(crate) fn mock(&self, now_ms: u64) {
        *self.mocked.borrow_mut() = Some(ManualClock::new(now_ms));
    }

    /// Follows the system again.
    pub(crate) fn unmock(&self) {
        *self.mocked.borrow_mut() = None;
    }

    /// Moves mocked time; false where time is not mocked.
    pub(crate) fn advance(&self, ms: u64) -> bool {
        let mocked = self.mocked.borrow().clone();
        mocked.is_some_and(|clock| {
            clock.advance(ms);
            true
        })
    }
}

impl Clock for RunClock {
    fn now_ms(&self) -> u64 {
        match &*self.mocked.borrow() {
            Some(clock) => clock.now_ms(),
            None => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
                u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
            }
        }
    }

    fn sleep_until(&self, at_ms: u64) -> Local<'_, ()> {
        let now = self.now_ms();
        // Mocked time passes by being slept through.
        if self.advance(at_ms.saturating_sub(now)) {
            return Box::pin(std::future::ready(()));
        }
        Box::pin(tokio::time::sleep(Duration::from_millis(at_ms.saturating_sub(now))))
    }
}
