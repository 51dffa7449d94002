//! Fibers as futures, and script functions that the runtime may call.

use super::{Context, Exit, Fiber, Isolate, Raise, codes};
use crate::value::Value;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

/// What a builtin that must wait hands back: a future of its result.
pub struct Wait(pub Pin<Box<dyn Future<Output = Result<Value, Box<Raise>>>>>);

impl Wait {
    /// From any future.
    pub fn new(future: impl Future<Output = Result<Value, Box<Raise>>> + 'static) -> Self {
        Self(Box::pin(future))
    }
}

/// Runs a fiber to its end.
///
/// # Errors
/// What interrupted it.
pub async fn drive(mut fiber: Fiber) -> Result<Value, Box<Raise>> {
    loop {
        match fiber.run() {
            Exit::Done(value) => return Ok(value),
            Exit::Raised(raise) => return Err(raise),
            Exit::Wait(wait) => {
                let result = wait.0.await;
                fiber.wake(result);
            }
            Exit::Yield => yield_once().await,
        }
    }
}

/// Lets the other tasks of the thread go first.
async fn yield_once() {
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

/// How deep fibers may wait for one another: each level costs the native stack a few kilobytes while it is polled.
const NESTING: u32 = 32;

/// A script's function with the run it belongs to.
#[derive(Clone)]
pub struct Function {
    isolate: Rc<Isolate>,
    context: Rc<Context>,
    value: Value,
}

/// What a call gave: usually its result at once, else a future of it.
pub enum Called {
    /// It did not have to wait.
    Now(Result<Value, Box<Raise>>),
    /// It waits.
    Later(Wait),
}

impl Called {
    /// The result.
    ///
    /// # Errors
    /// What interrupted the function.
    pub async fn get(self) -> Result<Value, Box<Raise>> {
        match self {
            Self::Now(result) => result,
            Self::Later(wait) => wait.0.await,
        }
    }
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

    /// What it was registered with.
    #[must_use]
    pub fn context(&self) -> &Rc<Context> {
        &self.context
    }

    /// The same function with another context.
    #[must_use]
    pub fn with_context(&self, context: Rc<Context>) -> Self {
        Self { context, ..self.clone() }
    }

    /// Calls it on a fiber of its own. Arguments beyond those it takes are left out.
    #[must_use]
    pub fn call(&self, args: impl IntoIterator<Item = Value>) -> Called {
        let mut context = (*self.context).clone();
        context.depth += 1;
        if context.depth > NESTING {
            return Called::Now(Err(Raise::error(
                codes::DEPTH,
                format!("functions called by the runtime are nested more than {NESTING} deep"),
            )
            .help("a hook, tool or provider probably starts what calls it again")));
        }
        let mut fiber = match Fiber::new(&self.isolate, &Rc::new(context), self.value.clone(), args) {
            Ok(fiber) => fiber,
            Err(raise) => return Called::Now(Err(raise)),
        };
        match fiber.run() {
            Exit::Done(value) => Called::Now(Ok(value)),
            Exit::Raised(raise) => Called::Now(Err(raise)),
            Exit::Wait(wait) => Called::Later(Wait::new(async move {
                let result = wait.0.await;
                fiber.wake(result);
                drive(fiber).await
            })),
            Exit::Yield => Called::Later(Wait::new(async move {
                yield_once().await;
                drive(fiber).await
            })),
        }
    }
}
