//! When to try again. The schedule is fixed (half a second, doubled each time, eight seconds at most) so that runs repeat
//! exactly; a server that names a time is obeyed. All waiting goes by the runtime's clock, and everything ends at once when
//! the work is cancelled or its deadline passes.

use runtime::model::{Delta, ModelError};
use runtime::seam::{Outcome, Scope, Stopped, fault};

/// The wait before the first retry, in milliseconds.
const FIRST_MS: u64 = 500;
/// The longest wait of our own schedule.
const LONGEST_MS: u64 = 8_000;
/// The longest wait that a server may ask for; beyond it the error is handed out, with the time in it.
const LONGEST_ASKED_MS: u64 = 60_000;

/// Tries until it works, the failure is none that a retry may mend, or the retries are used up.
pub(crate) async fn with_retries<T>(
    scope: &Scope,
    retries: u32,
    live: &dyn Fn(Delta<'_>),
    mut attempt: impl AsyncFnMut(u32) -> Result<T, ModelError>,
) -> Outcome<T> {
    let mut tried = 0;
    loop {
        scope.check().map_err(fault)?;
        let error = match stoppable(scope, attempt(tried)).await.map_err(fault)? {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        let wait = if tried < retries { wait_ms(&error, tried) } else { None };
        tried += 1;
        let Some(wait) = wait else { return Err(fault(after(error, tried))) };
        let until = scope.clock.now_ms().saturating_add(wait);
        stoppable(scope, scope.clock.sleep_until(until)).await.map_err(fault)?;
        live(Delta::Restart);
    }
}

/// Returns the wait after a failure, in milliseconds; `None` if a retry is useless.
fn wait_ms(error: &ModelError, tried: u32) -> Option<u64> {
    if !error.retryable {
        return None;
    }
    match error.retry_after_ms {
        Some(asked) => (asked <= LONGEST_ASKED_MS).then_some(asked),
        None => Some((FIRST_MS << tried.min(10)).min(LONGEST_MS)),
    }
}

fn after(error: ModelError, tried: u32) -> ModelError {
    if tried < 2 {
        return error;
    }
    ModelError { message: format!("{} (tried {tried} times)", error.message), ..error }
}

/// Waits for `work`, but no longer than until the scope is cancelled or its deadline passes. The work is dropped then.
async fn stoppable<T>(scope: &Scope, work: impl Future<Output = T>) -> Result<T, Stopped> {
    let deadline = async {
        match scope.deadline_ms {
            Some(at) => scope.clock.alarm(at).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        reason = scope.cancel.cancelled() => Err(Stopped::Cancelled(reason)),
        done = work => Ok(done),
        () = deadline => Err(Stopped::Deadline),
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;
    use std::task::{Context, Waker};

    use runtime::clock::ManualClock;
    use runtime::event_log::MemoryLog;
    use runtime::model::ModelErrorKind;
    use runtime::seam::Sort;

    use super::*;
    use crate::testing::{TestSession, block_on};

    fn error(kind: ModelErrorKind) -> ModelError {
        ModelError::new(kind, "no")
    }

    #[test]
    fn the_schedule_is_fixed_and_bounded() {
        let place = TestSession::new();
        let outcome: Outcome<()> =
            block_on(with_retries(&place.scope, 6, &|_| {}, async |_| Err(error(ModelErrorKind::Server))));
        assert!(outcome.unwrap_err().to_string().ends_with("(tried 7 times)"));
        assert_eq!(*place.clock.slept.borrow(), [500, 1000, 2000, 4000, 8000, 8000]);
    }

    #[test]
    fn what_a_retry_cannot_mend_is_final() {
        use ModelErrorKind as K;
        for kind in [K::Timeout, K::Auth, K::BadRequest, K::BadResponse, K::ContextWindow] {
            assert_eq!(wait_ms(&error(kind), 0), None, "{kind}");
        }
        for kind in [K::Connection, K::RateLimit, K::Overloaded, K::Server] {
            assert_eq!(wait_ms(&error(kind), 0), Some(FIRST_MS), "{kind}");
        }
        assert_eq!(wait_ms(&ModelError { retryable: false, ..error(K::Server) }, 0), None);
        assert_eq!(wait_ms(&error(K::Server), u32::MAX), Some(LONGEST_MS));
    }

    #[test]
    fn a_wait_ends_when_the_work_is_cancelled_or_its_deadline_passes() {
        for (by_deadline, sort) in [(false, Sort::Cancelled), (true, Sort::Deadline)] {
            let clock = ManualClock::new(0);
            let mut scope = Scope::new(Rc::new(clock.clone()), Rc::new(MemoryLog::default()));
            scope.deadline_ms = by_deadline.then_some(200);
            let work = with_retries(&scope, 5, &|_| {}, async |_| Err::<(), _>(error(ModelErrorKind::Server)));
            let mut work = std::pin::pin!(work);
            let mut cx = Context::from_waker(Waker::noop());
            assert!(work.as_mut().poll(&mut cx).is_pending(), "it waits for its second try");
            if by_deadline {
                clock.advance(200);
            } else {
                scope.cancel.cancel("enough");
            }
            assert_eq!(block_on(work).unwrap_err().sort(), sort);
        }
    }
}
