//! Method calls: which function a name means for a receiver, and changing the receiver where it lives.

use super::call::{Entered, NO_CLOSURE};
use super::fiber::Fiber;
use super::op::{IN_LIST, Reg};
use super::{ChangedPlace, Cx, MethodSite, Proto, Raise, access, record};
use crate::value::{Tag, Value};
use std::rc::Rc;

impl Fiber {
    /// Calls a method: that of a struct's or enum's `impl`, a dict's own function, else the builtin of the receiver's type.
    pub(super) fn call_method(
        &mut self,
        code: &Proto,
        at: Reg,
        argc: u8,
        dst: u16,
        site: u16,
    ) -> Result<Entered, Box<Raise>> {
        let site = &code.methods[usize::from(site)];
        let base = self.absolute(at);
        let argc = if argc == IN_LIST { self.unpack_arguments(base + 1) } else { usize::from(argc) };
        let receiver = &self.stack[base];
        if let Some(method) = record::method(receiver, &site.name) {
            let function = method.function;
            // A place whose function was never compiled, or was refused, is empty.
            let Some(proto) = self.isolate.function(usize::from(function)).filter(|proto| proto.verified.get()) else {
                return Ok(Entered::Value(Value::Nil));
            };
            let entry = if site.checked { 0 } else { proto.entry };
            // The quick way enters behind the checks of arguments.
            if method.exact == Some(argc) && entry == 0 {
                site.shape.set(record::shape(receiver));
                site.function.set(function);
            }
            self.enter_script((Rc::as_ptr(&proto), entry), NO_CLOSURE, base, argc + 1, dst, false)?;
            return Ok(Entered::Frame);
        }
        let own = match receiver {
            Value::Dict(d) => d.dict.get(&site.name).filter(|v| v.is_callable()).cloned(),
            Value::Host(h) => h.object().get(&site.name).filter(Value::is_callable),
            Value::Struct(s) => s.get(&site.name).filter(|v| v.is_callable()).cloned(),
            _ => None,
        };
        if let Some(callee) = own {
            // The callee takes the receiver's register, so that its captures live as long as its frame.
            self.stack[base] = callee.clone();
            return self.enter(&callee, base + 1, argc, dst, false);
        }
        let tag = receiver.tag();
        let row = match site.cache.get() {
            Some((cached, row)) if cached == tag && tag != Tag::Host => row,
            _ => {
                let Some(row) = access::find_method(self.isolate.registry(), receiver, &site.name) else {
                    return Err(access::no_method(
                        &Cx { isolate: &self.isolate, context: &self.context },
                        receiver,
                        &site.name,
                    ));
                };
                site.cache.set(Some((tag, row)));
                row
            }
        };
        self.enter_builtin(row, base, argc + 1, dst, false)
    }

    /// `x = x.method(…)`, or the same with a path in place of `x`, with the receiver held once; how many instructions to skip,
    /// none when it has to go the long way.
    pub(super) fn method_in_place(
        &mut self,
        code: &Proto,
        at: Reg,
        argc: u8,
        site: u16,
        place: u16,
    ) -> Result<i32, Box<Raise>> {
        let ChangedPlace { root, path, skip } = code.places[usize::from(place)];
        let Some(path) = path.map(|path| &code.paths[usize::from(path)]) else {
            let mut receiver = self.take_place(root);
            let is_done = self.change(&mut receiver, at, argc, &code.methods[usize::from(site)]);
            self.put_place(root, receiver);
            return Ok(if is_done? { i32::from(skip) } else { 0 });
        };
        let mut whole = self.take_place(root);
        // No builtin sees the variable: it is back in its place before another instruction runs.
        let first = self.absolute(0);
        let slot = path.own_slot(&mut whole, |reg| &self.stack[first + usize::from(reg)]);
        let taken = slot.map(std::mem::take);
        let is_done = match taken {
            Some(mut receiver) => {
                let is_done = self.change(&mut receiver, at, argc, &code.methods[usize::from(site)]);
                if let Some(slot) = path.own_slot(&mut whole, |reg| &self.stack[first + usize::from(reg)]) {
                    *slot = receiver;
                }
                is_done
            }
            None => Ok(false),
        };
        self.put_place(root, whole);
        Ok(if is_done? { i32::from(skip) } else { 0 })
    }

    /// Replaces a receiver by the result of its method. Returns false if the call has to go the long way; then, and after an
    /// error, the receiver is unchanged.
    fn change(&mut self, receiver: &mut Value, at: Reg, argc: u8, site: &MethodSite) -> Result<bool, Box<Raise>> {
        let base = self.absolute(at);
        let tag = receiver.tag();
        let own = match &*receiver {
            Value::Dict(d) => d.dict.contains(&site.name),
            Value::Struct(_) | Value::Variant(_) | Value::Host(_) => true,
            _ => false,
        };
        let row = match site.cache.get() {
            _ if own => None,
            Some((cached, row)) if cached == tag => Some(row),
            _ => self.isolate.registry().find(tag.module(), &site.name),
        };
        let Some(row) = row.filter(|row| row.pure) else { return Ok(false) };
        site.cache.set(Some((tag, row)));
        let (given, max) = (usize::from(argc) + 1, usize::from(row.arity.max));
        let super::native::BuiltinRun::Plain(function) = row.run else { return Ok(false) };
        if given < usize::from(row.arity.min) || (given > max && !row.arity.rest) {
            // The long way says what is wrong.
            return Ok(false);
        }
        let size = given.max(max);
        self.ensure(base + size + 1);
        self.stack[base] = std::mem::take(receiver);
        for value in &mut self.stack[base + given..base + size] {
            *value = Value::Nil;
        }
        let Self { isolate, context, stack, .. } = self;
        let result = function(&mut Cx { isolate, context }, &mut stack[base..base + size]);
        match result.and_then(|value| self.weigh().map(|()| value)) {
            Ok(value) => {
                self.clear(base, size);
                *receiver = value;
                Ok(true)
            }
            Err(raise) => {
                *receiver = std::mem::take(&mut self.stack[base]);
                Err(raise)
            }
        }
    }
}
