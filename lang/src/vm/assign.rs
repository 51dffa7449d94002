//! Assignment to a path, its common case: every collection on it is held once and has the key.

use super::PathSite;
use crate::ast::BinaryOp;
use crate::value::Value;
use std::rc::Rc;

impl PathSite {
    /// Assigns to the path in `root`. `window` has the keys and then the value, and is empty afterwards. Returns false if it is
    /// not the common case; then nothing has changed.
    #[inline(never)]
    pub(super) fn assign_in_place(&self, root: &mut Value, window: &mut [Value]) -> bool {
        let Some((value, keys)) = window.split_last_mut() else { return false };
        let mut slot = root;
        for (key, hint) in keys.iter().zip(&self.hints) {
            let Some(found) = own_child(slot, key, hint) else { return false };
            slot = found;
        }
        let old = match self.op {
            None => std::mem::replace(slot, std::mem::take(value)),
            Some(op) => {
                let Some(result) = number(op, slot, value) else { return false };
                std::mem::replace(slot, result)
            }
        };
        for key in keys {
            if key.on_heap() {
                *key = Value::Nil;
            }
        }
        if old.on_heap() {
            drop(old);
        }
        true
    }
}

/// Returns the place of a key in a collection that is held once and has it.
#[inline(always)]
fn own_child<'a>(slot: &'a mut Value, key: &Value, hint: &std::cell::Cell<usize>) -> Option<&'a mut Value> {
    match (slot, key) {
        (Value::List(list), Value::Int(i)) => Rc::get_mut(list)?.items.get_mut(usize::try_from(*i).ok()?),
        (Value::Dict(dict), Value::Str(name)) => {
            let dict = &mut Rc::get_mut(dict)?.dict;
            let at = dict.position_near(name, hint.get())?;
            hint.set(at);
            dict.at_mut(at)
        }
        (Value::Struct(object), Value::Str(name)) => {
            let mut at = hint.get();
            if object.def().names().nth(at).is_none_or(|field| !field.same(name)) {
                at = object.def().position(name)?;
                hint.set(at);
            }
            object.own_values()?.get_mut(at)
        }
        _ => None,
    }
}

/// `a op b` of two ints or two floats, if it cannot fail.
#[inline(always)]
fn number(op: BinaryOp, a: &Value, b: &Value) -> Option<Value> {
    Some(match (a, b) {
        (Value::Float(a), Value::Float(b)) => Value::Float(match op {
            BinaryOp::Add => a + b,
            BinaryOp::Sub => a - b,
            BinaryOp::Mul => a * b,
            BinaryOp::Div => a / b,
            _ => return None,
        }),
        (Value::Int(a), Value::Int(b)) => Value::Int(match op {
            BinaryOp::Add => a.checked_add(*b)?,
            BinaryOp::Sub => a.checked_sub(*b)?,
            BinaryOp::Mul => a.checked_mul(*b)?,
            _ => return None,
        }),
        _ => return None,
    })
}
