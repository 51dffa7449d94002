//! A type as a value: what `Finding` is where a value stands, and `list<Finding>` in an option.

use super::decode::{self, DecodeOptions, Decoded};
use super::type_test::{WrittenTypes, fits};
use super::{Isolate, Raise, TypeTest};
use crate::value::{Closure, HostBox, HostObject, Str, Value};
use std::any::Any;
use std::rc::Rc;

/// A written type. It reads like its JSON Schema, a dict.
pub struct TypeValue {
    table: WrittenTypes,
    /// The type, an entry of the table.
    root: usize,
    schema: Value,
}

impl TypeValue {
    /// Name of the type of these values.
    pub const TYPE_NAME: &'static str = "type";

    /// Returns the value of a type, with its JSON Schema.
    #[must_use]
    pub fn value(table: WrittenTypes, root: usize, schema: Value) -> Value {
        HostBox::value(Self { table, root, schema })
    }

    /// Returns its JSON Schema; an empty dict allows anything.
    #[must_use]
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// Returns the type as a script would write it.
    #[must_use]
    pub fn written(&self) -> String {
        self.test().written(&self.table.tests)
    }

    /// Returns the function that computes a default, by its number in [`Decoded::Defaults`].
    #[must_use]
    pub fn default_function(isolate: &Isolate, number: u32) -> Option<Value> {
        let proto = isolate.function(number as usize).filter(|proto| proto.verified.get())?;
        Some(Value::Closure(Rc::new(Closure { proto, captures: Vec::new() })))
    }

    /// Whether a value has this type.
    #[must_use]
    pub fn has(&self, value: &Value) -> bool {
        fits(&self.table.tests, self.test(), value)
    }

    /// Makes a value of this type from data.
    ///
    /// # Errors
    /// Names the first place that does not fit, or says which limit of the run was reached.
    pub fn decode(&self, data: &Value, options: DecodeOptions<'_>) -> Result<Decoded, Box<Raise>> {
        decode::decode(&self.table, self.test(), data, options)
    }

    fn test(&self) -> &TypeTest {
        // The compiler writes the entry; a table without it takes no value.
        self.table.tests.get(self.root).unwrap_or(&TypeTest::Never)
    }
}

impl HostObject for TypeValue {
    fn type_name(&self) -> &'static str {
        Self::TYPE_NAME
    }

    fn get(&self, key: &str) -> Option<Value> {
        self.schema.as_dict()?.get_str(key).cloned()
    }

    fn size(&self) -> Option<usize> {
        self.schema.as_dict().map(crate::value::Dict::len)
    }

    fn keys(&self) -> Vec<Str> {
        self.schema.as_dict().map(|dict| dict.iter().map(|(key, _)| key.clone()).collect()).unwrap_or_default()
    }

    fn to_value(&self) -> Option<Value> {
        Some(self.schema.clone())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
