//! Calls across a seam: how an answer is returned ([`Answer`]), how a failure is passed on ([`CallError`]), and where
//! work that waits for the disk runs ([`BlockingPool`]).

use std::any::Any;
use std::fmt;
use std::pin::Pin;
use std::rc::Rc;

use crate::codes::CodeRef;
use crate::words::words;

mod blocking;

pub use blocking::{BlockingPool, run_blocking};

/// A future that stays on its thread.
pub type LocalFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// An answer that is usually ready; only one that waits is boxed.
pub enum Answer<'a, T> {
    /// The callee did not wait.
    Now(T),
    /// The callee waits.
    Later(LocalFuture<'a, T>),
}

impl<'a, T> Answer<'a, T> {
    /// Returns the answer and waits for it if necessary.
    pub async fn get(self) -> T {
        match self {
            Answer::Now(value) => value,
            Answer::Later(future) => future.await,
        }
    }

    /// Returns the answer of a callee that does not wait.
    pub fn now(self) -> Option<T> {
        match self {
            Answer::Now(value) => Some(value),
            Answer::Later(_) => None,
        }
    }

    /// Creates an answer that waits.
    pub fn later(future: impl Future<Output = T> + 'a) -> Answer<'a, T> {
        Answer::Later(Box::pin(future))
    }
}

words! {
    /// The kind of a [`CallError`], by which the loop decides how to go on.
    pub enum CallErrorKind {
        /// A script threw.
        Script = "script",
        /// The work was cancelled.
        Cancelled = "cancelled",
        /// A deadline passed.
        Deadline = "deadline",
        /// A model route failed.
        Model = "model",
        /// A limit was reached (memory, depth, queue).
        Limit = "limit",
        /// Input that violates a rule of the core; it has a code.
        Invalid = "invalid",
        /// Reading or writing failed (event log, files).
        Io = "io",
    }
}

/// A failure of a script, a route or a provider. Opaque here; `stdlib` recovers its value and stack by
/// [`CallError::as_any`].
pub trait CallError: fmt::Debug + fmt::Display {
    /// Returns the kind of failure.
    fn kind(&self) -> CallErrorKind;
    /// Returns the concrete failure.
    fn as_any(&self) -> &dyn Any;
    /// Returns the diagnostic code, if the failure has one.
    fn code(&self) -> Option<CodeRef> {
        None
    }
}

/// A result that fails with the callee's error.
pub type Outcome<T> = Result<T, Rc<dyn CallError>>;

/// Converts a concrete failure to an outcome's failure.
pub fn call_error<F: CallError + 'static>(failure: F) -> Rc<dyn CallError> {
    Rc::new(failure)
}
