//! Callbacks of builtins: from the return of one to the start of the next without leaving the window.

#![allow(unsafe_code)]

use super::fiber::{Exit, Fiber};
use super::native::Step;
use super::op::Reg;
use super::{Cx, Raise};
use crate::value::Value;
use std::mem::ManuallyDrop;
use std::ptr;
use std::rc::Rc;

/// Cost of a callback: a builtin that calls closures is a loop.
const CALLBACK: i64 = 8;

/// Outcome of a callback's return.
pub(super) enum Returned {
    /// It is not the common case, and nothing has happened.
    Rare,
    /// The frame on top goes on.
    On,
    /// The builtin is on top and wants something else.
    Left(Result<Step, Box<Raise>>),
}

impl Fiber {
    /// Gives the result in a register of the closure on top, or nil, to the builtin that called it. If the builtin calls a
    /// closure of the same code again with the same window, the frame is used again.
    #[inline(never)]
    pub(super) fn callback_returned(&mut self, result: Option<Reg>) -> Returned {
        let depth = self.frames.len();
        if depth < 2 || self.ticks < CALLBACK {
            return Returned::Rare;
        }
        debug_assert!(self.frames.len() >= 2, "a callback without a caller");
        // SAFETY: there are two frames, and nothing here adds or removes one while the pointers are used: what a builtin is given
        // does not reach them.
        let (frame, caller) = unsafe {
            let top = self.frames.as_mut_ptr().add(depth - 1);
            (&mut *top, &*top.sub(1))
        };
        let Some(native) = caller.machine() else { return Returned::Rare };
        if frame.owned || caller.wants_item {
            return Returned::Rare;
        }
        self.ticks -= CALLBACK;
        let (outer, width) = (caller.base, caller.window());
        let (base, proto) = (frame.base, frame.proto);
        // SAFETY: a script's function runs; the builtin's register holds its closure until the builtin goes on. The function's
        // window and that of the builtin lie in the stack, all of which is initialised, and the verifier lets no register pass
        // beyond `regs`. The reference into the window is the only one: the result was taken out of it.
        let (value, registers) = unsafe {
            let regs = usize::from((*proto).regs);
            debug_assert!(base + regs <= self.stack.len(), "a window outside of the stack");
            let window = self.stack.as_mut_ptr().add(base);
            let from = result.map(|src| window.add(usize::from(src)));
            // The word stays where it is meanwhile: read together with the tag, both would be one read of sixteen bytes.
            let tag = from.map(|from| Value::take_tag(from));
            Value::empty_all(window, regs);
            let value = match (tag, from) {
                (Some(tag), Some(from)) => Value::taken(tag, from),
                _ => Value::Nil,
            };
            debug_assert!(outer + width <= self.stack.len(), "a window outside of the stack");
            (value, std::slice::from_raw_parts_mut(self.stack.as_mut_ptr().add(outer), width))
        };
        let Self { isolate, context, .. } = self;
        // The common case has nothing to drop.
        let step = ManuallyDrop::new((native.resume)(&mut Cx { isolate, context }, registers, value));
        if let Ok(Step::Call { callee, args, argc }) = *step
            && outer + args == base
            && let Value::Closure(next) = &registers[callee]
            && ptr::eq(Rc::as_ptr(&next.proto), proto)
            && let params = usize::from(next.proto.params)
            && (argc == usize::from(next.proto.exact) || (argc > params && !next.proto.rest))
        {
            // The window had room for the same code a moment ago. Arguments beyond the parameters are left out.
            let (code, entry) = (&next.proto.code, next.proto.entry as usize);
            debug_assert!(entry < code.len(), "entry {entry}");
            // SAFETY: the verifier lets no entry pass that lies outside of the code.
            frame.pc = unsafe { code.as_ptr().add(entry) };
            frame.what = Rc::as_ptr(next).cast();
            if argc > params {
                self.clear(base + params, argc - params);
            }
            return Returned::On;
        }
        self.frames.pop();
        Returned::Left(ManuallyDrop::into_inner(step))
    }

    /// Carries out what the builtin on top wants after a callback; nothing when the loop goes on.
    #[inline(never)]
    pub(super) fn callback_left(&mut self, step: Result<Step, Box<Raise>>) -> Option<Exit> {
        let entered = step.and_then(|step| self.native_step(step));
        self.after(entered)
    }
}
