//! A slice of a fiber's run: how it begins, what it is given when it was waiting, and when it is over.
#![allow(unsafe_code)]

use super::call::Entered;
use super::fiber::{Exit, Fiber, Pending, SLICE};
use super::{Raise, codes};
use crate::value::Value;

impl Fiber {
    /// Runs until it is done, raised, must wait, or its slice is over.
    pub fn run(&mut self) -> Exit {
        self.ticks = self.slice();
        let exit = self.go();
        // What was not used up is not charged.
        self.isolate.burn(u64::try_from(self.slice - self.ticks.max(0)).unwrap_or(0));
        self.slice = 0;
        self.ticks = 0;
        exit
    }

    /// Instructions until the next look at fuel and cancellation; no more than there is fuel.
    pub(super) fn slice(&mut self) -> i64 {
        self.slice = self.isolate.fuel_left().map_or(SLICE, |left| SLICE.min(i64::try_from(left).unwrap_or(SLICE)));
        self.slice
    }

    pub(super) fn go(&mut self) -> Exit {
        if let Some(wait) = self.entry_wait.take() {
            return Exit::Wait(wait);
        }
        if let Some(result) = self.woken.take()
            && let Some(exit) = self.deliver(result)
        {
            return exit;
        }
        if self.frames.is_empty() {
            return Exit::Done(Value::Nil);
        }
        self.dispatch()
    }

    /// Puts what a wait gave where it is awaited.
    pub(super) fn deliver(&mut self, result: Result<Value, Box<Raise>>) -> Option<Exit> {
        let pending = std::mem::replace(&mut self.pending, Pending::Nothing);
        match (result, pending) {
            (Err(raise), _) => self.unwind(raise).err().map(Exit::Raised),
            (Ok(value), Pending::Item { dst, end }) => {
                if let Some(frame) = self.frames.last_mut() {
                    match value {
                        Value::Pair(p) => {
                            let at = frame.base + usize::from(dst);
                            self.stack[at] = p.first.clone();
                        }
                        // SAFETY: the loop's end lies in the same code.
                        _ => frame.pc = unsafe { frame.pc.offset(end as isize) },
                    }
                }
                None
            }
            (Ok(value), pending) => {
                let dst = if let Pending::Register(dst) = pending { dst } else { 0 };
                self.answer(value, dst)
            }
        }
    }

    /// Gives the frame on top the result of what it called.
    pub(super) fn answer(&mut self, mut value: Value, dst: u16) -> Option<Exit> {
        loop {
            let Some(frame) = self.frames.last() else { return Some(Exit::Done(value)) };
            if frame.native.is_none() {
                let at = frame.base + usize::from(dst);
                self.stack[at] = value;
                return None;
            }
            let to = frame.dst;
            match self.resume_native(value) {
                Ok(Entered::Frame) => return None,
                Ok(Entered::Value(result)) => {
                    // The builtin's frame is gone; its result goes to whoever called it.
                    value = result;
                    if self.frames.last().is_none_or(|f| f.native.is_none()) {
                        return self.answer_script(value, to);
                    }
                }
                Ok(Entered::Wait(wait)) => {
                    self.pending = Pending::Register(0);
                    return Some(Exit::Wait(wait));
                }
                Err(raise) => return self.unwind(raise).err().map(Exit::Raised),
            }
        }
    }

    pub(super) fn answer_script(&mut self, value: Value, dst: u16) -> Option<Exit> {
        let Some(frame) = self.frames.last() else { return Some(Exit::Done(value)) };
        let at = frame.base + usize::from(dst);
        self.stack[at] = value;
        None
    }

    /// The value of a capture of the running closure.
    pub(super) fn capture(&self, index: u16) -> Option<Value> {
        let closure = self.frames.last()?.closure;
        if closure.is_null() {
            return None;
        }
        // SAFETY: the caller's register, or the fiber's root, holds the closure while its frame is there.
        unsafe { &*closure }.captures.get(usize::from(index)).cloned()
    }

    /// Looks at fuel, cancellation and the slice.
    pub(super) fn slow_tick(&mut self) -> Result<(), Box<Raise>> {
        let used = self.slice.saturating_sub(self.ticks).max(0);
        let enough = self.isolate.burn(used.unsigned_abs());
        self.ticks = self.slice();
        if !enough {
            let mut raise = Raise::error(codes::FUEL, "the run used up its fuel");
            raise.why = super::Why::Exhausted;
            return Err(raise.help("give it more with `--fuel N`, or look for a loop without an end"));
        }
        if self.context.cancel.is_set() {
            return Err(Raise::cancelled(format!("cancelled: {}", self.context.cancel.reason())));
        }
        Ok(())
    }
}
