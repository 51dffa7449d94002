//! The waits of a run for the outside, and its interruption meanwhile.

use super::Engine;
use crate::interrupt::Interrupt;
use base::call::LocalFuture;
use lang::vm::end_grace;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

/// The time that a stopped run has to clean up.
pub(super) const GRACE: Duration = Duration::from_millis(runtime::agent_loop::GRACE_MS);

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
            None => runtime.block_on(self.paced(future)),
        })
    }

    async fn interruptibly<T>(&self, interrupt: &Interrupt, work: impl Future<Output = T>) -> T {
        let thrown = async {
            interrupt.thrown().await;
            "interrupted"
        };
        self.until_told(thrown, work).await
    }

    /// Does work of the run, and pauses it while too many records of the run are on their way to the disk.
    async fn paced<T>(&self, work: impl Future<Output = T>) -> T {
        let (mut work, mut pause) = (pin!(work), LogPause::default());
        poll_fn(|cx| if pause.ends(self, cx) { work.as_mut().poll(cx) } else { Poll::Pending }).await
    }

    /// Waits for work of the run like [`Engine::paced`], and tells the run to stop when `told` resolves with a reason. Its
    /// grace period is then real time.
    pub(super) async fn until_told<T, R: AsRef<str>>(
        &self,
        told: impl Future<Output = R>,
        work: impl Future<Output = T>,
    ) -> T {
        let (mut work, mut told) = (pin!(work), pin!(told));
        let mut grace: Option<Pin<Box<tokio::time::Sleep>>> = None;
        let (mut is_told, mut pause) = (false, LogPause::default());
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
            // A run that was told to stop must get to it, whatever the disk does.
            if is_told || pause.ends(self, cx) { work.as_mut().poll(cx) } else { Poll::Pending }
        })
        .await
    }
}

/// The pause of a run while its log is behind.
#[derive(Default)]
struct LogPause(Option<LocalFuture<'static, ()>>);

impl LogPause {
    /// Returns whether the run may go on. If not, the task is woken once it may.
    fn ends(&mut self, engine: &Engine, cx: &mut Context<'_>) -> bool {
        let Some(pause) = self.0.take().or_else(|| engine.world.observers.log.room()) else { return true };
        let pause = self.0.insert(pause);
        let is_over = pause.as_mut().poll(cx).is_ready();
        if is_over {
            self.0 = None;
        }
        is_over
    }
}
