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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::RunOptions;
    use eventlog::{SharedLog as _, SqliteLog, SqliteOptions};
    use std::cell::Cell;
    use std::future::ready;
    use std::rc::Rc;
    use std::task::Waker;

    /// Polls work once and returns whether it is done.
    fn is_done(work: Pin<&mut impl Future>) -> bool {
        work.poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn a_run_pauses_while_its_log_is_behind_and_stops_nevertheless() {
        let folder = std::env::temp_dir().join(format!("harn-paced-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let log = SqliteLog::open(folder.join("events.db"), &SqliteOptions::default()).unwrap();
        let engine = Engine::new(RunOptions { log: Some(Rc::new(log.clone())), ..RunOptions::default() });
        let full = log.reserve_now(SqliteLog::QUEUE_RECORDS, 0);
        let steps = Cell::new(0);
        let step = || async { steps.set(steps.get() + 1) };
        let mut paused = pin!(engine.paced(step()));
        assert!(!is_done(paused.as_mut()) && steps.get() == 0);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        {
            let _entered = runtime.enter();
            assert!(!is_done(pin!(engine.until_told(std::future::pending::<&str>(), step()))));
            assert!(is_done(pin!(engine.until_told(ready("stop"), step()))));
        }
        assert_eq!(steps.get(), 1);
        drop(full);
        assert!(is_done(paused.as_mut()));
        assert_eq!(steps.get(), 2);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
