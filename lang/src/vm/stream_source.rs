//! [`StreamSource`]: where the items of a stream come from, for one reader at a time.

use super::{Outcome, Raise, RunCode, Wait};
use crate::value::Value;
use std::cell::RefCell;
use std::rc::Rc;

/// Source of a stream. A wait takes it out, and puts it back when the wait is over, also one that was given up.
pub struct StreamSource<T>(Rc<RefCell<Option<T>>>);

impl<T> StreamSource<T> {
    /// Creates a source that no one waits for.
    pub fn new(source: T) -> Self {
        Self(Rc::new(RefCell::new(Some(source))))
    }

    /// Returns what `look` finds in the source without a wait.
    ///
    /// # Errors
    /// Another task waits for the stream.
    pub fn look<R>(&self, look: impl FnOnce(&mut T) -> R) -> Result<R, Box<Raise>> {
        self.0.borrow_mut().as_mut().map(look).ok_or_else(taken_already)
    }

    /// Returns the result of `work`, which has the source to itself.
    ///
    /// # Errors
    /// The error of `work`, or another task waits for the stream.
    pub async fn with<R>(&self, work: impl AsyncFnOnce(&mut T) -> Result<R, Box<Raise>>) -> Result<R, Box<Raise>> {
        let mut taken = TakenSource { home: &self.0, source: self.0.borrow_mut().take() };
        match &mut taken.source {
            Some(source) => work(source).await,
            None => Err(taken_already()),
        }
    }

    /// Waits for the next item, as [`super::Next::Later`] returns it; `next` returns `None` at the end.
    pub async fn item(&self, next: impl AsyncFnOnce(&mut T) -> Result<Option<Value>, Box<Raise>>) -> Outcome {
        let item = self.with(next).await?;
        Ok(item.map_or(Value::Nil, |item| Value::pair(item, Value::Bool(true))))
    }

    /// Returns [`StreamSource::item`] as a wait for something outside of the run.
    pub fn wait(&self, next: impl AsyncFnOnce(&mut T) -> Result<Option<Value>, Box<Raise>> + 'static) -> Wait
    where
        T: 'static,
    {
        let source = self.clone();
        Wait::new(async move { source.item(next).await })
    }
}

impl<T> Clone for StreamSource<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

fn taken_already() -> Box<Raise> {
    Raise::error(RunCode::Value, "another task already waits for this stream")
}

/// Puts the source back.
struct TakenSource<'a, T> {
    home: &'a RefCell<Option<T>>,
    source: Option<T>,
}

impl<T> Drop for TakenSource<'_, T> {
    fn drop(&mut self) {
        if let Some(source) = self.source.take() {
            *self.home.borrow_mut() = Some(source);
        }
    }
}
