//! Dropping deep values without deep recursion.
//!
//! A list in a list in a list, a million deep, would overflow the native stack if each level dropped the next. Below a
//! fixed depth the children are put on a queue that the outermost drop empties.

use super::Value;
use std::cell::{Cell, RefCell};

const DEPTH: u32 = 64;

thread_local! {
    static LEVEL: Cell<u32> = const { Cell::new(0) };
    static QUEUE: RefCell<Vec<Vec<Value>>> = const { RefCell::new(Vec::new()) };
}

/// Drops `values`, however deep they are.
pub(super) fn drop_values(values: Vec<Value>) {
    if !values.iter().any(Value::holds_values) {
        return;
    }
    // Thread-locals are gone while a thread ends; what drops then is dropped plainly.
    let Ok(level) = LEVEL.try_with(Cell::get) else { return };
    if level >= DEPTH {
        let _ = QUEUE.try_with(|q| q.borrow_mut().push(values));
        return;
    }
    let _ = LEVEL.try_with(|l| l.set(level + 1));
    drop(values);
    if level == 0 {
        while let Ok(Some(next)) = QUEUE.try_with(|q| q.borrow_mut().pop()) {
            drop(next);
        }
    }
    let _ = LEVEL.try_with(|l| l.set(level));
}
