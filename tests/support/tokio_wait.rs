//! Waits of tests that run on tokio, by the rules of `wait.rs`.

use std::time::Duration;

use tokio::task::yield_now;
use tokio::time::{Instant, sleep};

/// The time after which a wait fails. It only bounds a hang: a busy machine needs a small part of it.
pub(crate) const LIMIT: Duration = Duration::from_secs(300);

/// The time between two looks.
const PAUSE: Duration = Duration::from_millis(5);

/// Looks until something is found. An error describes what is there instead.
pub(crate) async fn find<T>(what: &str, mut look: impl AsyncFnMut() -> Result<T, String>) -> T {
    let start = Instant::now();
    loop {
        match look().await {
            Ok(found) => return found,
            Err(seen) => assert!(start.elapsed() < LIMIT, "not within {LIMIT:?}: {what}; {seen}"),
        }
        sleep(PAUSE).await;
    }
}

/// Waits until a condition is true.
pub(crate) async fn until(what: &str, mut is_true: impl FnMut() -> bool) {
    find(what, async || if is_true() { Ok(()) } else { Err("it is not so".to_owned()) }).await;
}

/// Lets the other tasks of this thread run until they wait for something that they do not do themselves.
pub(crate) async fn others_wait() {
    for _ in 0..100 {
        yield_now().await;
    }
}
