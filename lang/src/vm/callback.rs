//! Callbacks of builtins: from the return of one to the start of the next without leaving the window.

#![allow(unsafe_code)]

use super::Cx;
use super::fiber::{Exit, Fiber, Frame};
use super::native::{BuiltinRun, Step};
use crate::declaration::Builtin;
use crate::value::Value;
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
    /// The loop ends.
    Exit(Exit),
}

impl Fiber {
    /// Gives the result in register `src` of the closure on top to the builtin that called it. If the builtin calls a
    /// closure of the same code again with the same window, the frame is used again.
    #[inline(never)]
    pub(super) fn callback_returned(&mut self, src: u16) -> Returned {
        let [.., caller, frame] = &self.frames[..] else { return Returned::Rare };
        let Some(Builtin { run: BuiltinRun::Native(native), .. }) = caller.builtin() else { return Returned::Rare };
        if frame.owned || caller.wants_item || self.ticks < CALLBACK {
            return Returned::Rare;
        }
        self.ticks -= CALLBACK;
        let (outer, width) = (caller.base, caller.window());
        let (base, proto) = (frame.base, frame.proto);
        // SAFETY: a script's function runs; the builtin's register holds its closure until the builtin goes on.
        let (regs, params, exact, rest) = unsafe {
            let code = &*proto;
            (usize::from(code.regs), usize::from(code.params), usize::from(code.exact), code.rest)
        };
        let value = std::mem::take(&mut self.stack[base + usize::from(src)]);
        self.frames.pop();
        self.clear(base, regs);
        let Self { isolate, context, stack, .. } = self;
        let step = (native.resume)(&mut Cx { isolate, context }, &mut stack[outer..outer + width], value);
        if let Ok(Step::Call { callee, args, argc }) = step
            && outer + args == base
            && (argc == exact || (argc > params && !rest))
            && let Value::Closure(next) = &self.stack[outer + callee]
            && ptr::eq(Rc::as_ptr(&next.proto), proto)
        {
            let closure = Rc::as_ptr(next);
            // The window had room for the same code a moment ago, and so had the frame. Arguments beyond the parameters are
            // left out.
            self.clear(base + params, argc.saturating_sub(params));
            self.frames.push(Frame::script(proto, closure, base, 0, false));
            return Returned::On;
        }
        let entered = step.and_then(|step| self.native_step(step));
        self.after(entered).map_or(Returned::On, Returned::Exit)
    }
}
