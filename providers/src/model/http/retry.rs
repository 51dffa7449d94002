//! Retries. Each wait is between half of a step and the whole of it; the steps are half a second, doubled each time, and at most
//! eight seconds. Where in between follows from the seed of the run, so that many clients do not come back at once and a
//! replayed run waits as the recorded one did. A server that names a time is obeyed. All waits go by the clock of the run, and
//! end when the work is cancelled or its deadline passes.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use base::call::{CallError as _, Outcome, call_error};
use runtime::model::{Delta, ModelError};
use runtime::scope::{Scope, Stopped};
use runtime::seam::Turn;
use tracing::Instrument as _;

/// The least wait before the first retry. With the jitter, a wait is less than twice as long.
const FIRST: Duration = Duration::from_millis(250);
/// The step after which waits grow no more.
const LAST: Duration = Duration::from_secs(4);
/// The longest wait that a server may ask for. If it asks for more, the error is returned with that time in it.
const LONGEST_ASKED_MS: u64 = 60_000;

/// Tries until an attempt succeeds, fails with an error that a retry cannot fix, or no retry is left.
pub(crate) async fn with_retries<T>(
    turn: Turn<'_>,
    retries: u32,
    live: &dyn Fn(Delta<'_>),
    mut attempt: impl AsyncFnMut(u32) -> Result<T, ModelError>,
) -> Outcome<T> {
    let scope = turn.scope;
    let mut tried = 0;
    let mut waits = None;
    loop {
        scope.check().map_err(call_error)?;
        let span = tracing::debug_span!("attempt", attempt = tried + 1);
        let activity = scope.enter();
        if let Some(activity) = &activity {
            activity.attempt_began(turn, tried + 1);
        }
        let answered = stoppable(scope, attempt(tried)).instrument(span.clone()).await;
        if let Some(activity) = &activity {
            activity.attempt_ended(turn, tried + 1, failure_of(&answered));
        }
        let error = match answered.map_err(call_error)? {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        span.in_scope(|| tracing::debug!(error = error.kind.as_str(), "attempt failed"));
        if let Some(charge) = &scope.charge {
            charge.attempt_failed(error.kind);
        }
        let jittered = || waits.get_or_insert_with(|| schedule(scope)).next();
        let wait = if tried < retries { wait_ms(&error, jittered) } else { None };
        tried += 1;
        let Some(wait) = wait else { return Err(call_error(after(error, tried))) };
        let until = scope.clock.now_ms().saturating_add(wait);
        stoppable(scope, scope.clock.sleep_until(until)).await.map_err(call_error)?;
        if let Some(charge) = &scope.charge {
            charge.again(&error.message).map_err(call_error)?;
        }
        live(Delta::Restart { why: &error.message });
    }
}

/// Returns the kind of the failure of an attempt, if it failed or was stopped.
fn failure_of<T>(answered: &Result<Result<T, ModelError>, Stopped>) -> Option<&'static str> {
    match answered {
        Ok(Ok(_)) => None,
        Ok(Err(error)) => Some(error.kind.as_str()),
        Err(stopped) => Some(stopped.kind().as_str()),
    }
}

/// Returns the waits of one call. Calls of one run that fail together wait for different times.
pub(crate) fn schedule(scope: &Scope) -> impl Iterator<Item = Duration> + use<> {
    let mut hasher = DefaultHasher::new();
    (scope.seed, scope.caller.path.name(), scope.clock.now_ms()).hash(&mut hasher);
    let builder = ExponentialBuilder::new().with_min_delay(FIRST).with_max_delay(LAST).without_max_times();
    builder.with_jitter().with_jitter_seed(hasher.finish()).build()
}

/// Returns how long to wait after a failure; `None` if a retry is of no use.
fn wait_ms(error: &ModelError, jittered: impl FnOnce() -> Option<Duration>) -> Option<u64> {
    if !error.retryable {
        return None;
    }
    match error.retry_after_ms {
        Some(asked) => (asked <= LONGEST_ASKED_MS).then_some(asked),
        None => jittered().and_then(|wait| u64::try_from(wait.as_millis()).ok()),
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

    use base::call::CallErrorKind;
    use base::clock::ManualClock;
    use eventlog::MemoryLog;
    use runtime::model::ModelErrorKind;

    use super::*;
    use crate::testing::{TestSession, block_on};

    fn error(kind: ModelErrorKind) -> ModelError {
        ModelError::new(kind, "no")
    }

    #[test]
    fn waits_double_are_bounded_and_follow_from_the_seed() {
        let slept = |seed| {
            let mut place = TestSession::new();
            place.scope.seed = seed;
            let outcome: Outcome<()> =
                block_on(with_retries(place.turn(), 6, &|_| {}, async |_| Err(error(ModelErrorKind::Server))));
            assert!(outcome.unwrap_err().to_string().ends_with("(tried 7 times)"));
            place.clock.slept.take()
        };
        let runs: Vec<_> = (0..50).map(slept).collect();
        for waits in &runs {
            let steps = [500, 1000, 2000, 4000, 8000, 8000];
            assert_eq!(waits.len(), steps.len());
            for (wait, step) in waits.iter().zip(steps) {
                assert!((step / 2..=step).contains(wait), "{waits:?}");
            }
        }
        let distinct: std::collections::BTreeSet<_> = runs.iter().collect();
        assert_eq!(distinct.len(), runs.len(), "each run waits for other times");
        assert_eq!(slept(7), runs[7], "and for the same ones if it is run again");
    }

    #[test]
    fn what_a_retry_cannot_mend_is_final() {
        use ModelErrorKind as K;
        for kind in [K::Timeout, K::Auth, K::BadRequest, K::BadResponse, K::ContextWindow] {
            assert_eq!(wait_ms(&error(kind), || Some(FIRST)), None, "{kind}");
        }
        for kind in [K::Connection, K::RateLimit, K::Overloaded, K::Server] {
            assert_eq!(wait_ms(&error(kind), || Some(FIRST)), Some(250), "{kind}");
        }
        assert_eq!(wait_ms(&ModelError { retryable: false, ..error(K::Server) }, || Some(FIRST)), None);
        assert_eq!(wait_ms(&ModelError { retry_after_ms: Some(7), ..error(K::Server) }, || Some(FIRST)), Some(7));
    }

    #[test]
    fn a_wait_ends_when_the_work_is_cancelled_or_its_deadline_passes() {
        for (by_deadline, sort) in [(false, CallErrorKind::Cancelled), (true, CallErrorKind::Deadline)] {
            let clock = ManualClock::new(0);
            let mut place = TestSession::new();
            place.scope = Scope::new(Rc::new(clock.clone()), Rc::new(MemoryLog::default()));
            place.scope.deadline_ms = by_deadline.then_some(200);
            let work = with_retries(place.turn(), 5, &|_| {}, async |_| Err::<(), _>(error(ModelErrorKind::Server)));
            let mut work = std::pin::pin!(work);
            let mut cx = Context::from_waker(Waker::noop());
            assert!(work.as_mut().poll(&mut cx).is_pending(), "it waits for its second try");
            if by_deadline {
                clock.advance(200);
            } else {
                place.scope.cancel.cancel("enough");
            }
            assert_eq!(block_on(work).unwrap_err().kind(), sort);
        }
    }
}
