//! Time limits of handlers and providers. Waiting is measured on the run's clock; computing is measured by the time it
//! keeps the thread busy, because a mocked clock does not advance meanwhile.

use std::any::Any;
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::{Duration, Instant};

use base::call::{Answer, CallError, CallErrorKind, Outcome, call_error};

use crate::cancel::Cancel;
use crate::scope::Scope;

/// A handler or provider exceeded its time limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("timed out after {ms} ms")]
pub struct TimedOut {
    /// The limit, in milliseconds.
    pub ms: u64,
}

impl CallError for TimedOut {
    fn kind(&self) -> CallErrorKind {
        CallErrorKind::Limit
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Time it may wait to clean up after it was told to stop, in milliseconds.
const GRACE_MS: u64 = 500;
/// Time it may compute during that clean-up.
const BUSY_GRACE: Duration = Duration::from_millis(50);

/// Waits for an answer within the scope's limit. When the limit is exceeded, `cancel` is cancelled, and after a short
/// grace period the work is dropped.
pub async fn with_timeout<T>(scope: &Scope, cancel: &Cancel, answer: Answer<'_, Outcome<T>>) -> Outcome<T> {
    let work = match answer {
        Answer::Now(outcome) => return outcome,
        Answer::Later(work) => work,
    };
    let ms = scope.hook_timeout_ms;
    let mut work = pin!(work);
    let mut alarm = scope.clock.alarm(scope.clock.now_ms().saturating_add(ms));
    let mut busy = Duration::ZERO;
    let mut told = false;
    let mut limit = Duration::from_millis(ms);
    let answered = poll_fn(|cx| {
        let began = Instant::now();
        if let Poll::Ready(outcome) = work.as_mut().poll(cx) {
            return Poll::Ready((!told).then_some(outcome));
        }
        busy += began.elapsed();
        if busy <= limit && alarm.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        if told {
            return Poll::Ready(None);
        }
        told = true;
        limit = busy + BUSY_GRACE;
        alarm = scope.clock.alarm(scope.clock.now_ms().saturating_add(GRACE_MS));
        cancel.cancel("timed out");
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
    answered.unwrap_or_else(|| Err(call_error(TimedOut { ms })))
}

/// Returns whether `thrown` reports an exceeded time limit.
#[must_use]
pub fn is_timeout(thrown: &Rc<dyn CallError>) -> bool {
    thrown.as_any().downcast_ref::<TimedOut>().is_some()
}
