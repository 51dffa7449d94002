//! The run as what drives the loops of the core.

use crate::fault::Thrown;
use base::call::{Answer, Outcome};
use lang::vm::{Isolate, RuntimeStep, end_run, yield_once};
use runtime::scope::Driver;
use std::rc::{Rc, Weak};

/// A run: its limits hold in the loops of the core as in a script.
pub(crate) struct RunDriver(Weak<Isolate>);

impl RunDriver {
    /// The driver of a run.
    pub(crate) fn of(isolate: &Rc<Isolate>) -> Self {
        Self(Rc::downgrade(isolate))
    }
}

impl Driver for RunDriver {
    fn before_iteration(&self) -> Answer<'static, Outcome<()>> {
        let Some(isolate) = self.0.upgrade() else { return Answer::Now(Ok(())) };
        match isolate.step_of(RuntimeStep::Iteration) {
            Ok(false) => Answer::Now(Ok(())),
            Ok(true) => Answer::later(async {
                yield_once().await;
                Ok(())
            }),
            Err(raise) => {
                // The starter of the loop may handle its failure as a result.
                end_run(&isolate, &raise);
                Answer::Now(Err(Thrown::fault(raise)))
            }
        }
    }
}
