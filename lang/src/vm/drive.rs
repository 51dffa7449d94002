//! Fibers as futures, and script functions that the runtime may call.

use super::tasks::wait_for;
use super::{Called, Context, Exit, Fiber, Isolate, On, Outcome, RuntimeStep, Wait, Why, nesting};
use crate::value::Value;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

/// Runs a fiber to its end.
///
/// # Errors
/// Cause of the interruption.
pub async fn drive(mut fiber: Fiber) -> Outcome {
    loop {
        match fiber.run() {
            Exit::Done(value) => return Ok(value),
            Exit::Raised(raise) => return Err(raise),
            Exit::Wait(wait) => wait_in(&mut fiber, wait).await,
            Exit::Yield => yield_once().await,
        }
    }
}

/// Waits for what a fiber asked for, and gives it what that came to. Waits that are over at once keep no one else waiting, and no
/// limit.
async fn wait_in(fiber: &mut Fiber, wait: Wait) {
    let mut result = wait_for(fiber, wait).await;
    let stopped = match fiber.isolate.step_of(RuntimeStep::Wait) {
        Ok(false) => None,
        Ok(true) => {
            yield_once().await;
            fiber.interrupt()
        }
        Err(raise) => Some(raise),
    };
    if let Some(raise) = stopped
        && result.as_ref().err().is_none_or(|own| matches!(own.why, Why::Thrown | Why::Error))
    {
        result = Err(raise);
    }
    fiber.wake(result);
}

/// Goes on with a fiber that has just come back to wait or to yield.
///
/// # Errors
/// Cause of the interruption.
pub async fn resume(mut fiber: Fiber, exit: Exit) -> Outcome {
    match exit {
        Exit::Done(value) => return Ok(value),
        Exit::Raised(raise) => return Err(raise),
        Exit::Wait(wait) => wait_in(&mut fiber, wait).await,
        Exit::Yield => yield_once().await,
    }
    drive(fiber).await
}

/// Lets the other tasks of the thread go first.
pub async fn yield_once() {
    let mut yielded = false;
    poll_fn(|cx| {
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// A script's function with the run it belongs to.
#[derive(Clone)]
pub struct Function {
    isolate: Rc<Isolate>,
    context: Rc<Context>,
    value: Value,
}

impl Function {
    /// `value` as a function of this run, or nothing when it cannot be called.
    #[must_use]
    pub fn new(isolate: &Rc<Isolate>, context: &Rc<Context>, value: Value) -> Option<Self> {
        value.is_callable().then(|| Self { isolate: isolate.clone(), context: context.clone(), value })
    }

    /// The function as a value.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The run it belongs to.
    #[must_use]
    pub fn isolate(&self) -> &Rc<Isolate> {
        &self.isolate
    }

    /// Registered value.
    #[must_use]
    pub fn context(&self) -> &Rc<Context> {
        &self.context
    }

    /// Calls it on a fiber of its own. Arguments beyond those it takes are left out. It sees the variables of the task that
    /// made it, and is cancelled with the task that calls it.
    #[must_use]
    pub fn call(&self, args: impl IntoIterator<Item = Value>) -> Called {
        self.call_in((*self.context).clone(), args)
    }

    /// Returns the value for another context.
    #[must_use]
    pub fn call_in(&self, mut context: Context, args: impl IntoIterator<Item = Value>) -> Called {
        if let Err(raise) = self.isolate.step_of(RuntimeStep::Call) {
            return Called::Now(Err(raise));
        }
        let nesting = self.isolate.nesting();
        if nesting.level() >= nesting::MOST {
            return Called::Now(Err(nesting::too_deep()));
        }
        if let Some(task) = self.isolate.tasks().current() {
            context.task = task;
        }
        let mut fiber = match Fiber::new(&self.isolate, &Rc::new(context), self.value.clone(), args) {
            Ok(fiber) => fiber,
            Err(raise) => return Called::Now(Err(raise)),
        };
        let _within = nesting.enter();
        match nesting::with_room(|| fiber.run()) {
            Exit::Done(value) => {
                fiber.recycle();
                Called::Now(Ok(value))
            }
            Exit::Raised(raise) => Called::Now(Err(raise)),
            exit => {
                let rest = nesting::polled_in(self.isolate.clone(), nesting.calls(), resume(fiber, exit));
                Called::Later(Wait::new(rest).on(On::Script))
            }
        }
    }
}
