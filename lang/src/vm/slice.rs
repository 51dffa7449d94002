//! A slice of a fiber's run: how it begins, what it is given when it was waiting, and when it is over.
#![allow(unsafe_code)]

use super::call::Entered;
use super::fiber::{Exit, Fiber, Frame, Pending, SLICE};
use super::native::Step;
use super::op::Op;
use super::tasks::{self, Globals};
use super::{Meter, Raise};
use crate::value::Value;

impl Fiber {
    /// Runs until it is done, raised, must wait, or its slice is over.
    pub fn run(&mut self) -> Exit {
        self.ticks = self.slice();
        let outer = Globals::enter(&self.isolate, self.context.globals.as_ref());
        let exit = self.metered(|fiber| fiber.on_line(Self::go_metered));
        Globals::enter(&self.isolate, Some(&outer));
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

    /// Goes on; a walk that was stopped meanwhile ends in an error, whatever became of it.
    fn go_metered(&mut self) -> Exit {
        let exit = self.go();
        if !Meter::is_stopped() {
            return exit;
        }
        match (exit, self.stopped_walk()) {
            (Exit::Done(_), Some(raise)) => Exit::Raised(raise),
            (exit, _) => exit,
        }
    }

    pub(super) fn go(&mut self) -> Exit {
        if let Some(wait) = self.entry_wait.take() {
            return Exit::Wait(wait);
        }
        if let Some(argc) = self.entry_host.take() {
            return self.enter_host(argc);
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
            (Ok(value), Pending::Item) => {
                let item = if let Value::Pair(p) = value { p.first.clone() } else { Value::Unbound };
                let dst = self.frames.last().map_or(0, for_register);
                self.answer(item, dst)
            }
            (Ok(_), Pending::Next { source }) => {
                let source = source - self.frames.last().map_or(0, |f| f.base);
                let entered = self.native_step(Step::Next { source });
                self.after(entered)
            }
            (Ok(value), pending) => {
                let dst = if let Pending::Register(dst) = pending { dst } else { 0 };
                self.answer(value, dst)
            }
        }
    }

    /// Gives the frame on top the result of what it called.
    pub(super) fn answer(&mut self, value: Value, dst: u16) -> Option<Exit> {
        let entered = self.hand(value, dst);
        self.after(entered)
    }

    /// Looks at fuel, cancellation and the slice before the frame on top is given what it asked for.
    pub(super) fn pause(&mut self, value: Value, dst: u16) -> Option<Exit> {
        match self.slow_tick() {
            Ok(()) => {
                self.woken = Some(Ok(value));
                self.pending = Pending::Register(dst);
                Some(Exit::Yield)
            }
            Err(raise) => self.unwind(raise).err().map(Exit::Raised),
        }
    }

    /// Nothing when the loop goes on with the frame on top.
    pub(super) fn after(&mut self, entered: Result<Entered, Box<Raise>>) -> Option<Exit> {
        match entered {
            Ok(Entered::Frame) => None,
            Ok(Entered::Value(value)) => Some(Exit::Done(value)),
            Ok(Entered::Wait(wait, pending)) => {
                self.pending = pending;
                Some(Exit::Wait(wait))
            }
            Ok(Entered::Pause) => Some(Exit::Yield),
            Err(raise) => self.unwind(raise).err().map(Exit::Raised),
        }
    }

    /// Puts a value into a register of the script's frame on top; `Unbound` is the end of its `for`.
    pub(super) fn answer_script(&mut self, value: Value, dst: u16) {
        if matches!(value, Value::Unbound) {
            return self.end_loop();
        }
        let Some(frame) = self.frames.last() else { return };
        let at = frame.base + usize::from(dst);
        self.stack[at] = value;
    }

    /// The value of a capture of the running closure.
    pub(super) fn capture(&self, index: u16) -> Option<Value> {
        let closure = self.frames.last()?.closure();
        if closure.is_null() {
            return None;
        }
        // SAFETY: the caller's register, or the fiber's root, holds the closure while its frame is there.
        unsafe { &*closure }.captures.get(usize::from(index)).cloned()
    }

    /// Looks at fuel, cancellation and the slice.
    pub(super) fn slow_tick(&mut self) -> Result<(), Box<Raise>> {
        if let Some(raise) = Meter::is_stopped().then(|| self.stopped_walk()).flatten() {
            return Err(raise);
        }
        let used = self.slice.saturating_sub(self.ticks).max(0);
        let enough = self.isolate.burn(used.unsigned_abs());
        self.ticks = self.slice();
        if !enough {
            return Err(self.isolate.out_of_fuel());
        }
        if self.isolate.host().is_interrupted() {
            tasks::interrupt(&self.isolate, &self.context.task, "interrupted");
        }
        self.check_memory()?;
        if self.isolate.check_time(false)? {
            // The main task looks at it first.
            return Ok(());
        }
        self.interrupt().map_or(Ok(()), Err)
    }
}

/// The register for the item of the `for` at which a script's frame stands.
fn for_register(frame: &Frame) -> u16 {
    if frame.builtin().is_some() {
        return 0;
    }
    // SAFETY: a frame's code is kept as long as the frame.
    let code = unsafe { &*frame.proto };
    if let Some(Op::ForNext { dst, .. }) = code.code.get(frame.at(code)) { *dst } else { 0 }
}
