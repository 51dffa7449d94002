//! Waiting for work that may be stopped before it is done.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use crate::scope::{Scope, Stopped};

/// Time that work has to notice that it is being stopped and to clean up, in milliseconds.
pub const GRACE_MS: u64 = 2_000;

/// Waits for `work`, at most until cancellation or deadline plus `grace_ms`. A result that is ready together with the
/// signal counts.
pub async fn until_stopped<T>(scope: &Scope, grace_ms: u64, work: impl Future<Output = T>) -> Result<T, Stopped> {
    let mut work = pin!(work);
    let mut stop = pin!(stopped(scope));
    let why = poll_fn(|cx| match work.as_mut().poll(cx) {
        Poll::Ready(value) => Poll::Ready(Ok(value)),
        Poll::Pending => stop.as_mut().poll(cx).map(Err),
    })
    .await;
    let stopped = match why {
        Ok(value) => return Ok(value),
        Err(stopped) if grace_ms == 0 => return Err(stopped),
        Err(stopped) => stopped,
    };
    let mut over = scope.clock.alarm(scope.clock.now_ms().saturating_add(grace_ms));
    poll_fn(|cx| match work.as_mut().poll(cx) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => over.as_mut().poll(cx).map(|()| None),
    })
    .await
    .ok_or(stopped)
}

/// Waits until the work must stop.
pub async fn stopped(scope: &Scope) -> Stopped {
    let mut cancelled = pin!(scope.cancel.cancelled());
    let mut deadline = scope.deadline_ms.map(|at| scope.clock.alarm(at));
    poll_fn(|cx| {
        if let Poll::Ready(reason) = cancelled.as_mut().poll(cx) {
            return Poll::Ready(Stopped::Cancelled(reason));
        }
        match deadline.as_mut().map(|deadline| deadline.as_mut().poll(cx)) {
            Some(Poll::Ready(())) => Poll::Ready(Stopped::Deadline),
            _ => Poll::Pending,
        }
    })
    .await
}
