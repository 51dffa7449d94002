//! Dropping deep values without deep recursion.
//!
//! A list in a list in a list, a million deep, would overflow the native stack if each level dropped the next. Below a
//! fixed depth the children are put on a queue that the outermost drop empties.
#![allow(unsafe_code)]

use super::{Dict, Value};
use std::cell::{Cell, RefCell};
use std::ptr;

const DEPTH: u32 = 64;

thread_local! {
    static LEVEL: Cell<u32> = const { Cell::new(0) };
    static QUEUE: RefCell<Vec<Vec<Value>>> = const { RefCell::new(Vec::new()) };
}

/// Drops a value, however deep it is: for those outside this folder that own one.
pub(crate) fn release(value: Value) {
    drop_values(vec![value]);
}

/// Drops `values`, however deep they are.
pub(super) fn drop_values(mut values: Vec<Value>) {
    if !values.iter().any(Value::holds_values) {
        if !values.iter().any(Value::on_heap) {
            // SAFETY: what is not on the heap needs no drop.
            unsafe { values.set_len(0) };
        }
        return;
    }
    // Thread-locals are gone while a thread ends; what drops then is dropped plainly.
    let Ok(level) = LEVEL.try_with(Cell::get) else { return };
    if level >= DEPTH {
        let _ = QUEUE.try_with(|q| q.borrow_mut().push(values));
        return;
    }
    down(level, || drop(values));
}

/// Drops what a dict holds, however deep it is. What holds no other values goes with the dict itself.
pub(super) fn drop_entries(dict: &mut Dict) {
    if !dict.values().any(Value::holds_values) {
        return;
    }
    let Ok(level) = LEVEL.try_with(Cell::get) else { return };
    if level >= DEPTH {
        drop_values(dict.take_values());
        return;
    }
    down(level, || *dict = Dict::default());
}

/// Drops the values where they lie, however deep they are. The slice must not be used afterwards.
///
/// # Safety
/// See [`ptr::drop_in_place`].
pub(super) unsafe fn drop_slice(values: &mut [Value]) {
    let deep = values.iter().any(Value::holds_values);
    let level = if deep { LEVEL.try_with(Cell::get).unwrap_or(0) } else { 0 };
    if deep && level >= DEPTH {
        let taken = values.iter_mut().map(std::mem::take).collect();
        let _ = QUEUE.try_with(|q| q.borrow_mut().push(taken));
        return;
    }
    // SAFETY: the caller owns the values and does not use them afterwards; this runs once.
    let mut drop_it = || unsafe { ptr::drop_in_place(values) };
    if deep { down(level, drop_it) } else { drop_it() }
}

/// Drops something one level further down; the outermost level empties the queue.
fn down(level: u32, drop_it: impl FnOnce()) {
    let _ = LEVEL.try_with(|l| l.set(level + 1));
    drop_it();
    if level == 0 {
        while let Ok(Some(next)) = QUEUE.try_with(|q| q.borrow_mut().pop()) {
            drop(next);
        }
    }
    let _ = LEVEL.try_with(|l| l.set(level));
}
