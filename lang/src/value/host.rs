//! Values that the runtime hands out (`transcript`, sessions, streams …): opaque, immutable, read like dicts.

use super::{Str, Value};
use crate::source::{SourceRef, Span};
use crate::vm::{Cx, Raise, Wait};
use std::any::Any;
use std::rc::Rc;

/// What a host value must be able to do; one that says nothing but its name is opaque. Reads convert scalars and hand out child views; nothing is copied whole.
pub trait HostObject: Any {
    /// What `type_of` says.
    fn type_name(&self) -> &'static str;

    /// The value of a key, nothing when there is no such key.
    fn get(&self, _key: &str) -> Option<Value> {
        None
    }

    /// The value at an index, for host values that are lists.
    fn at(&self, _index: i64) -> Option<Value> {
        None
    }

    /// How many entries or elements, where that is known.
    fn size(&self) -> Option<usize> {
        None
    }

    /// The keys in bytewise order; empty for those that are lists.
    fn keys(&self) -> Vec<Str> {
        Vec::new()
    }

    /// Whether it reads like a list.
    fn is_list(&self) -> bool {
        false
    }

    /// The whole of it as an ordinary dict or list. Gives nothing for what cannot be written down (a stream).
    fn to_value(&self) -> Option<Value> {
        None
    }

    /// For `for` loops and `.next()`: nothing when it cannot be iterated.
    fn next(&self, _cx: &mut Cx<'_>) -> Option<Next> {
        None
    }

    /// Itself as a function, for those that can be called.
    fn callable(&self) -> Option<&dyn Callable> {
        None
    }

    /// For the crate that made it.
    fn as_any(&self) -> &dyn Any;
}

/// A host value that can be called like a closure: a function of another language.
pub trait Callable {
    /// Calls it. Arguments beyond those it takes are left out.
    ///
    /// # Errors
    /// What it raises before it has to wait; what comes later is in the wait.
    fn call(&self, cx: &mut Cx<'_>, args: Vec<Value>) -> Result<Wait, Box<Raise>>;

    /// How many arguments it takes, where that is known.
    fn parameters(&self) -> Option<usize> {
        None
    }

    /// Where it was written.
    fn place(&self) -> Option<(SourceRef, Span)> {
        None
    }
}

/// What an iteration step gave.
pub enum Next {
    /// An item, or nothing at the end.
    Ready(Result<Option<Value>, Box<Raise>>),
    /// The item comes later; the future gives a pair (item, true), or nil at the end.
    Later(Wait),
}

/// A host value: one thin pointer to a box, so that values stay 16 bytes.
pub struct HostBox {
    object: Box<dyn HostObject>,
}

impl HostBox {
    /// Wraps `object` as a value.
    pub fn value(object: impl HostObject) -> Value {
        Value::Host(Rc::new(Self { object: Box::new(object) }))
    }

    /// The object.
    #[must_use]
    pub fn object(&self) -> &dyn HostObject {
        &*self.object
    }

    /// The object as the type it was made from.
    #[must_use]
    pub fn downcast<T: 'static>(&self) -> Option<&T> {
        self.object.as_any().downcast_ref()
    }
}
