//! Values that the host of the language hands out: opaque, immutable, read like dicts.

use super::{Str, Value};
use crate::later::{Machine, ThisCrate};
use std::any::Any;
use std::rc::Rc;

/// Interface of host values; one that implements only its name is opaque. Reads convert scalars and return child views;
/// nothing is copied as a whole.
pub trait HostObject: Any {
    /// Returns the name that `type_of` returns.
    fn type_name(&self) -> &'static str;

    /// The value of a key, nothing when there is no such key.
    fn get(&self, _key: &str) -> Option<Value> {
        None
    }

    /// The value at an index, for host values that are lists.
    fn at(&self, _index: i64) -> Option<Value> {
        None
    }

    /// Returns the number of entries or elements, if it is known.
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
    fn next(&self) -> Option<<ThisCrate as Machine>::Next> {
        None
    }

    /// For `.try_next()`: an iterator that waits until it knows whether the next item is there, and ends if it is not. `None` if
    /// [`HostObject::next`] knows at once.
    fn attempt(&self) -> Option<Value> {
        None
    }

    /// A pattern of a `match` asks for its keys.
    fn matched(&self) {}

    /// Itself as a function, for those that can be called.
    fn callable(&self) -> Option<&<ThisCrate as Machine>::Callable<'_>> {
        None
    }

    /// For the crate that made it.
    fn as_any(&self) -> &dyn Any;
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
