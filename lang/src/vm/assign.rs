//! Changes in place, the common case: assignment to a path on which every collection is held once and has the key, and appending to
//! a text that is held once.
#![allow(unsafe_code)]

use super::context::LARGE;
use super::fiber::Fiber;
use super::op::{Op, Reg};
use super::{KeySource, PathSite, Raise};
use crate::ast::BinaryOp;
use crate::value::Value;
use std::cell::Cell;
use std::rc::Rc;

impl PathSite {
    /// Assigns the value in register `src` to the path, which begins in register `root`; a plain assignment takes the value.
    /// Returns false if it is not the common case; then nothing has changed.
    ///
    /// # Safety
    /// `base` is the window of the running function, whose code has this site and was verified.
    #[inline(never)]
    pub(super) unsafe fn assign_in_place(&self, base: *mut Value, root: Reg, src: Reg) -> bool {
        debug_assert!(root != src && self.registers().all(|key| key != root), "a path that changes its own operands");
        // SAFETY: the verifier lets no register pass beyond the window, all of which is initialised, and the variable is in
        // another register than the keys and the value.
        let (root, value) = unsafe { (&mut *base.add(root.into()), base.add(src.into())) };
        // SAFETY: as above.
        let Some(slot) = self.own_slot(root, |reg| unsafe { &*base.add(usize::from(reg)) }) else { return false };
        match self.op {
            // SAFETY: as above. No reference to a key is used from here on.
            None => slot.store(std::mem::take(unsafe { &mut *value })),
            // SAFETY: as above.
            Some(op) => return update(op, slot, unsafe { &*value }),
        }
        true
    }

    /// Returns the place of the path in the variable's value, if every collection on the way is held once and has the key.
    #[inline(always)]
    pub(super) fn own_slot<'a, 'k>(
        &self,
        root: &'a mut Value,
        register: impl Fn(Reg) -> &'k Value,
    ) -> Option<&'a mut Value> {
        let mut slot = root;
        for key in &self.keys {
            slot = match &key.source {
                KeySource::Register(reg) => own_item(slot, register(*reg), &key.hint),
                KeySource::Name(name) => own_child(slot, name, &key.hint),
            }?;
        }
        Some(slot)
    }
}

impl Fiber {
    /// Carries out `text = text + more` with a short text and one that is held once. Returns false if `op` is something else;
    /// then nothing has changed.
    ///
    /// # Safety
    /// `base` is the window of the running function, whose code has this instruction and was verified.
    #[inline(never)]
    pub(super) unsafe fn append_in_place(&mut self, base: *mut Value, op: Op) -> Result<bool, Box<Raise>> {
        let Op::Add { dst, a, b } = op else { return Ok(false) };
        if dst != a || a == b {
            return Ok(false);
        }
        debug_assert!(!base.is_null(), "a window without registers");
        // SAFETY: the verifier lets no register pass beyond the window, all of which is initialised; these are two registers.
        let (text, more) = unsafe { (&mut *base.add(a.into()), &*base.add(b.into())) };
        if let (Value::Str(text), Value::Str(more)) = (text, more)
            && text.is_unique()
            && more.len() < LARGE
            && text.len() + more.len() <= self.isolate.limits().value_bytes
        {
            text.push_str(more);
            self.weigh()?;
            return Ok(true);
        }
        Ok(false)
    }
}

/// Does what [`own_child`] does, first for lists.
#[inline(always)]
fn own_item<'a>(slot: &'a mut Value, key: &Value, hint: &Cell<usize>) -> Option<&'a mut Value> {
    match (slot, key) {
        (Value::List(list), Value::Int(i)) => Rc::get_mut(list)?.items.get_mut(usize::try_from(*i).ok()?),
        (slot, key) => own_child(slot, key, hint),
    }
}

/// Returns the place of a name in a collection that is held once and has it.
#[inline(always)]
fn own_child<'a>(slot: &'a mut Value, key: &Value, hint: &Cell<usize>) -> Option<&'a mut Value> {
    match (slot, key) {
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

/// `slot op= value` of two ints or two floats, if it cannot fail.
#[inline(always)]
fn update(op: BinaryOp, slot: &mut Value, value: &Value) -> bool {
    match (slot, value) {
        (Value::Float(a), Value::Float(b)) => match op {
            BinaryOp::Add => *a += b,
            BinaryOp::Sub => *a -= b,
            BinaryOp::Mul => *a *= b,
            BinaryOp::Div => *a /= b,
            _ => return false,
        },
        (Value::Int(a), Value::Int(b)) => {
            let result = match op {
                BinaryOp::Add => a.checked_add(*b),
                BinaryOp::Sub => a.checked_sub(*b),
                BinaryOp::Mul => a.checked_mul(*b),
                _ => None,
            };
            let Some(result) = result else { return false };
            *a = result;
        }
        _ => return false,
    }
    true
}
