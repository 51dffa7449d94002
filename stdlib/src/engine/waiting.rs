//! The waits of a run for the outside, and its interruption meanwhile.

use super::Engine;
use crate::interrupt::Interrupt;
use lang::vm::end_grace;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

/// The time that a stopped run has to clean up.
pub(super) const GRACE: Duration = Duration::from_millis(runtime::stop::GRACE_MS);

impl Engine {
    pub(super) fn block_on<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        let runtime = self.runtime.get_or_init(|| {
            tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .event_interval(8)
                .build_local(Default::default())
                .ok()
        });
        let runtime = runtime.as_ref()?;
        Some(match &self.world.stop.interrupt {
            Some(interrupt) => runtime.block_on(self.interruptibly(interrupt, future)),
            None => runtime.block_on(future),
        })
    }

    async fn interruptibly<T>(&self, interrupt: &Interrupt, work: impl Future<Output = T>) -> T {
        let thrown = async {
            interrupt.thrown().await;
            "interrupted"
        };
        self.until_told(thrown, work).await
    }

    /// Waits for work of the run, and tells the run to stop when `told` resolves with a reason. Its
    /// grace period is then real time.
    pub(super) async fn until_told<T, R: AsRef<str>>(
        &self,
        told: impl Future<Output = R>,
        work: impl Future<Output = T>,
    ) -> T {
        let (mut work, mut told) = (pin!(work), pin!(told));
        let mut grace: Option<Pin<Box<tokio::time::Sleep>>> = None;
        let mut is_told = false;
        poll_fn(|cx| {
            if !is_told && let Poll::Ready(reason) = told.as_mut().poll(cx) {
                is_told = true;
                lang::vm::interrupt(&self.isolate, &self.context().task, reason.as_ref());
                grace = Some(Box::pin(tokio::time::sleep(GRACE)));
            }
            if grace.as_mut().is_some_and(|grace| grace.as_mut().poll(cx).is_ready()) {
                grace = None;
                end_grace(&self.isolate, &self.context().task);
            }
            work.as_mut().poll(cx)
        })
        .await
    }
}
