//! A cache of compiled schemas, so that a tool which many loops offer is compiled once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use base::data::Data;

use super::{Schema, SchemaError};

/// Maximum number of schemas kept. A program has fewer tools, and one that creates schemas as it runs must not grow by
/// them.
const MOST: usize = 256;

thread_local! {
    /// Compiled schemas by their JSON. A compiled schema depends on nothing else, so all callers can share it.
    static KEPT: RefCell<HashMap<String, Rc<Schema>>> = RefCell::default();
}

/// Returns the compiled schema, from this thread's cache if possible. Nil allows anything.
///
/// # Errors
/// See [`Schema::compile`].
pub fn compiled(source: &Data) -> Result<Rc<Schema>, SchemaError> {
    let empty = Data::empty_dict();
    let source = if source.is_nil() { &empty } else { source };
    let key = source.to_json();
    if let Some(known) = KEPT.with_borrow(|kept| kept.get(&key).cloned()) {
        return Ok(known);
    }
    let schema = Rc::new(Schema::compile(source)?);
    KEPT.with_borrow_mut(|kept| {
        if kept.len() >= MOST {
            kept.clear();
        }
        kept.insert(key, schema.clone());
    });
    Ok(schema)
}
