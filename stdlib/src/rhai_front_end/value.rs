//! Values of the language that Rhai has no type for.

use lang::value::Value;
use lang::vm::Raise;
use std::rc::Rc;

/// Such a value: a transcript, a set, a stream, an error. A clone is the same value.
#[derive(Clone)]
pub(crate) struct Opaque {
    value: Value,
    /// The error that it was caught as, with all that is known of it.
    raise: Option<Rc<Raise>>,
}

impl Opaque {
    pub(crate) fn new(value: Value) -> Self {
        Self { value, raise: None }
    }

    /// An error on its way through Rhai: `catch` sees the value, who lets it pass keeps the whole.
    pub(crate) fn error(raise: Box<Raise>) -> Self {
        Self { value: raise.to_value(), raise: Some(Rc::from(raise)) }
    }

    pub(crate) fn value(&self) -> &Value {
        &self.value
    }

    pub(crate) fn into_value(self) -> Value {
        self.value
    }

    /// The error that it was caught as.
    pub(crate) fn raise(&self) -> Option<&Rc<Raise>> {
        self.raise.as_ref()
    }
}
