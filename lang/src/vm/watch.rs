//! Time limit of a run, by the system's clock: a mocked clock does not stretch it.

use super::tasks::FutureKey;
use super::{Isolate, Local, Raise, RunCode, Task, Why};
use std::cell::Cell;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

/// When the run began, and whether it has been told that its time is up.
#[derive(Default)]
pub(super) struct Watch {
    began: Cell<Option<Instant>>,
    told: Cell<bool>,
}

/// Returns the time that a run may take beyond its limit to clean up: a tenth of the limit, within bounds.
fn grace(limit: Duration) -> Duration {
    (limit / 10).clamp(Duration::from_millis(100), Duration::from_secs(5))
}

impl Isolate {
    /// The run's time begins now.
    pub fn start_watch(&self) {
        self.watch().began.set(self.limits().time.map(|_| Instant::now()));
        self.watch().told.set(false);
    }

    /// The run's time is over: nobody looks at it any more.
    pub(super) fn end_watch(&self) {
        self.watch().began.set(None);
    }

    /// Refuses to begin work outside of the run once its time is over.
    ///
    /// # Errors
    /// [`RunCode::Time`].
    pub fn check_begin(&self) -> Result<(), Box<Raise>> {
        match (self.limits().time, self.watch().began.get()) {
            (Some(limit), Some(began)) if began.elapsed() > limit => Err(self.too_late(limit)),
            _ => Ok(()),
        }
    }

    fn too_late(&self, limit: Duration) -> Box<Raise> {
        Raise::error(RunCode::Time, format!("time limit of {} reached", shown(limit)))
            .help(self.limits().suggestions.time)
    }

    /// Looks at the watch: once the time is up a run is told by an error that it can catch, and then it is ended. A `loop` of
    /// the runtime, or what it has called, would take that error for a failure of its own: the main task is told in its place, and the
    /// result is true.
    pub(super) fn check_time(&self, in_loop: bool) -> Result<bool, Box<Raise>> {
        let (Some(limit), Some(began)) = (self.limits().time, self.watch().began.get()) else { return Ok(false) };
        let taken = began.elapsed();
        if taken <= limit {
            return Ok(false);
        }
        let mut raise = self.too_late(limit);
        if self.watch().told.replace(true) {
            if taken <= limit + grace(limit) {
                return Ok(false);
            }
            raise.why = Why::Exhausted;
        }
        if raise.why != Why::Exhausted
            && (in_loop || self.nesting().level() > 0)
            && let Some(main) = self.tasks().main()
        {
            main.interrupt_with(raise, false);
            return Ok(true);
        }
        Err(raise)
    }
}

/// A run whose time is watched. Dropping it ends the watch.
#[must_use]
pub struct Watched {
    isolate: Weak<Isolate>,
    timer: FutureKey,
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(isolate) = self.isolate.upgrade() {
            isolate.end_watch();
            isolate.tasks().remove(self.timer);
        }
    }
}

/// The run's time begins: its main task is told when it is up, wherever it waits, and is ended when it does not take the
/// hint. `sleep` waits by the system's clock. Nothing where it has all the time it wants.
pub fn watch_time(
    isolate: &Rc<Isolate>,
    root: &Rc<Task>,
    sleep: impl Fn(Duration) -> Local<()> + 'static,
) -> Option<Watched> {
    isolate.start_watch();
    let limit = isolate.limits().time?;
    let (run, main) = (Rc::downgrade(isolate), Rc::downgrade(root));
    let watch = async move {
        for (rest, ends) in [(limit, false), (grace(limit), true)] {
            sleep(rest + Duration::from_millis(1)).await;
            let (Some(isolate), Some(main)) = (run.upgrade(), main.upgrade()) else { return };
            if let Err(raise) = isolate.check_time(false) {
                main.interrupt_with(raise, ends);
            }
        }
    };
    let timer = isolate.tasks().add(Box::pin(watch), None);
    Some(Watched { isolate: Rc::downgrade(isolate), timer })
}

/// A duration as scripts write it.
fn shown(limit: Duration) -> String {
    let ms = limit.as_millis();
    [(3_600_000, "h"), (60_000, "m"), (1000, "s")]
        .into_iter()
        .find(|(unit, _)| ms >= *unit && ms.is_multiple_of(*unit))
        .map_or_else(|| format!("{ms}ms"), |(unit, name)| format!("{}{name}", ms / unit))
}
