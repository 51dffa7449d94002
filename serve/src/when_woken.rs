//! [`WhenWoken`]: polls a future only after it has woken its task.
//!
//! A task that waits for several things polls all of them whenever one of them is ready. A connection that gets an event
//! would poll its timers and its end each time, which costs more than the event.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::task::AtomicWaker;

/// A future that is polled only after it has woken its task. Polling it at other times is cheap.
pub(crate) struct WhenWoken<T> {
    future: Pin<Box<dyn Future<Output = T> + Send + Sync>>,
    flag: Arc<WakeFlag>,
    /// Sets the flag.
    waker: Waker,
}

/// Set when the future wakes its task.
struct WakeFlag {
    /// Whether the future must be polled.
    is_set: AtomicBool,
    task: AtomicWaker,
}

impl<T> WhenWoken<T> {
    pub(crate) fn new(future: impl Future<Output = T> + Send + Sync + 'static) -> WhenWoken<T> {
        // The first poll gives the future its waker.
        let flag = Arc::new(WakeFlag { is_set: AtomicBool::new(true), task: AtomicWaker::new() });
        WhenWoken { future: Box::pin(future), waker: Waker::from(flag.clone()), flag }
    }
}

impl<T> Future for WhenWoken<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        // Before the check, so that a flag that is set from now on wakes this task again.
        self.flag.task.register(cx.waker());
        if !self.flag.is_set.swap(false, Ordering::AcqRel) {
            return Poll::Pending;
        }
        let this = &mut *self;
        this.future.as_mut().poll(&mut Context::from_waker(&this.waker))
    }
}

impl Wake for WakeFlag {
    fn wake(self: Arc<WakeFlag>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<WakeFlag>) {
        self.is_set.store(true, Ordering::Release);
        self.task.wake();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use futures_util::FutureExt as _;
    use tokio::sync::Notify;

    use super::*;

    #[tokio::test]
    async fn a_future_is_polled_at_first_and_when_it_wakes() {
        let (polls, notify) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
        let counted = {
            let (polls, notify) = (polls.clone(), notify.clone());
            let mut notified = Box::pin(async move { notify.notified().await });
            std::future::poll_fn(move |cx| {
                polls.fetch_add(1, Ordering::Relaxed);
                notified.as_mut().poll(cx)
            })
        };
        let mut future = WhenWoken::new(counted);
        for _ in 0..3 {
            assert!((&mut future).now_or_never().is_none());
            assert_eq!(polls.load(Ordering::Relaxed), 1);
        }
        notify.notify_one();
        assert!((&mut future).now_or_never().is_some());
        assert_eq!(polls.load(Ordering::Relaxed), 2);
    }

    #[tokio::test]
    async fn the_task_that_polled_last_is_woken() {
        let notify = Arc::new(Notify::new());
        let mut future = WhenWoken::new(notify.clone().notified_owned());
        assert!((&mut future).now_or_never().is_none());
        let waits = tokio::spawn(future);
        tokio::task::yield_now().await;
        notify.notify_waiters();
        tokio::time::timeout(crate::tokio_wait::LIMIT, waits).await.expect("it is woken").unwrap();
    }
}
