//! Helpers shared by the crate's tests.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Runs a future that never really waits for anything outside.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut cx = Context::from_waker(Waker::noop());
    for _ in 0..100_000 {
        if let Poll::Ready(value) = future.as_mut().poll(&mut cx) {
            return value;
        }
    }
    panic!("the future never became ready");
}
