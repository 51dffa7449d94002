//! Letting others have their turn on the thread.

use std::future::poll_fn;
use std::task::Poll;

/// Comes back once the others that can go on have done so.
pub(crate) async fn yield_once() {
    let mut waited = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut waited, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
