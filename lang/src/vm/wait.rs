//! Results of a builtin that must wait and of a call of a script's function.

use super::Raise;
use crate::value::{Str, Value};
use std::pin::Pin;

/// Outcome of a wait.
pub type Outcome = Result<Value, Box<Raise>>;

/// A future of this thread.
pub type Local<T> = Pin<Box<dyn Future<Output = T>>>;

/// The result of a builtin that may wait: there already, or later.
pub struct Wait {
    pub(super) state: WaitState,
    pub(super) on: On,
    pub(super) stop: Option<Stop>,
    /// Polling it takes something.
    pub(super) takes: bool,
}

/// Callback that tells work to end which must not be dropped half way.
pub(super) type Stop = Box<dyn FnOnce(&str)>;

pub(super) enum WaitState {
    Now(Outcome),
    Later(Local<Outcome>),
}

/// Event that ends a wait.
#[derive(Clone, Debug)]
pub enum On {
    /// Something outside the run: a socket, a process, a person. It may always come.
    Outside,
    /// The host's clock.
    Clock,
    /// A function of the script, which has waits of its own and sees cancellation by itself.
    Script,
    /// Another task: what is waited for as a message says it (`to receive from`), and its name.
    Task(&'static str, Option<Str>),
}

impl Wait {
    /// For something outside the run. It is dropped when the task is cancelled.
    pub fn new(future: impl Future<Output = Outcome> + 'static) -> Self {
        Self { state: WaitState::Later(Box::pin(future)), on: On::Outside, stop: None, takes: false }
    }

    /// Value that is already available.
    #[must_use]
    pub fn ready(result: Outcome) -> Self {
        Self { state: WaitState::Now(result), on: On::Outside, stop: None, takes: false }
    }

    /// For something else than the outside world.
    #[must_use]
    pub fn on(self, on: On) -> Self {
        Self { on, ..self }
    }

    /// Polling it takes something (a message), which must not be lost: it is not polled any more once the task is to end.
    /// Everything else that is done at that moment counts as done.
    #[must_use]
    pub fn taking(self) -> Self {
        Self { takes: true, ..self }
    }

    /// Work that must not be dropped half way: when the task is cancelled or a deadline passes, `stop` gets the reason, and
    /// the work has a short grace to come to its end.
    #[must_use]
    pub fn stopped_by(self, stop: impl FnOnce(&str) + 'static) -> Self {
        Self { stop: Some(Box::new(stop)), ..self }
    }

    /// Returns this as a separate future.
    #[must_use]
    pub fn into_local(self) -> Local<Outcome> {
        match self.state {
            WaitState::Now(result) => Box::pin(std::future::ready(result)),
            WaitState::Later(future) => future,
        }
    }

    /// The result, for those who wait outside any fiber.
    ///
    /// # Errors
    /// Cause of the interruption.
    pub async fn get(self) -> Outcome {
        match self.state {
            WaitState::Now(result) => result,
            WaitState::Later(future) => future.await,
        }
    }
}

/// Result of a call: usually the value itself, otherwise a future.
pub enum Called {
    /// It did not have to wait.
    Now(Outcome),
    /// It waits.
    Later(Wait),
}

impl Called {
    /// The result.
    ///
    /// # Errors
    /// Cause that interrupted the function.
    pub async fn get(self) -> Outcome {
        match self {
            Self::Now(result) => result,
            Self::Later(wait) => wait.get().await,
        }
    }
}
