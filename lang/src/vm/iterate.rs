//! Iterators at work.
//!
//! An iterator keeps its registers to itself. To make an item it moves them onto the stack of the fiber that asks, as a
//! frame above the one that asked, and takes them away again when the item is there. So one loop runs everything, the
//! native stack does not grow with iterators in iterators, a wait inside one suspends the whole fiber, and a raise finds
//! its way through them like through any other frame.
#![allow(unsafe_code)]

use super::call::{Entered, NATIVE_TICK};
use super::fiber::{Fiber, Frame, Pending};
use super::native::{BuiltinRun, Step};
use super::op::{FAR, Op};
use super::{Cx, Proto, Raise, RunCode, access};
use crate::declaration::Builtin;
use crate::value::{Closure, Flavor, ItemSource, Iter, Status, Tag, Value};
use std::rc::Rc;

/// Outcome of an item that an iterator's machine has made.
pub(super) enum Yielded {
    /// The item, for this register of the frame on top.
    Item(Value, u16),
    /// The builtin below has taken it; this is what the builtin on top wants.
    Step(Step),
}

/// Outcome of a request to an iterator.
pub(super) enum Advanced {
    /// The item, or nothing at the end.
    Ready(Option<Value>),
    /// A script's frame is on top that will make it.
    Frame,
    /// A machine's frame is on top; this is what it wants first.
    Step(Step),
    /// It comes later.
    Wait(super::Wait),
}

impl Fiber {
    /// Asks the iterator in the absolute register `source` for its next item, on behalf of the frame on top. `dst` is
    /// that frame's register for it.
    pub(super) fn advance(&mut self, source: usize, dst: u16) -> Result<Advanced, Box<Raise>> {
        let Self { stack, .. } = self;
        let Value::Iter(iter) = &stack[source] else {
            return walked(access::item(&stack[source], 0)?.0);
        };
        match iter.status() {
            Status::Over => return Ok(Advanced::Ready(None)),
            Status::Running => return Err(running(iter)),
            Status::Ready => {}
        }
        if let ItemSource::Items { source, position } = &mut *iter.body().borrow_mut() {
            let (item, next) = access::item(source, *position)?;
            *position = next;
            if !matches!(item, access::IterItem::End) {
                return walked(item);
            }
        } else {
            let iter = iter.clone();
            return self.enter_iter(iter, dst);
        }
        iter.finish(Value::Nil);
        Ok(Advanced::Ready(None))
    }

    /// Moves an iterator's registers onto the stack, above the frame on top.
    fn enter_iter(&mut self, iter: Rc<Iter>, dst: u16) -> Result<Advanced, Box<Raise>> {
        self.check_depth()?;
        let owner = self.top();
        let base = owner + 1;
        iter.set_status(Status::Running);
        let mut body = iter.body().borrow_mut();
        let (frame, machine) = match &mut *body {
            ItemSource::Script { code, closure, pc, registers } => {
                self.ensure(base + registers.len() + 1);
                self.stack[base..base + registers.len()].swap_with_slice(registers);
                let closure = closure.as_ref().map_or(std::ptr::null(), Rc::as_ptr);
                let mut frame = Frame::script(Rc::as_ptr(code), closure, base, dst, false);
                debug_assert!(*pc < code.code.len(), "an iterator that goes on behind its end");
                // SAFETY: the function stopped there, behind an instruction that is not its last one.
                frame.pc = unsafe { code.code.as_ptr().add(*pc) };
                (frame, None)
            }
            ItemSource::Native { machine, registers } => {
                let window = registers.len();
                self.ensure(base + window + 1);
                self.stack[base..base + window].swap_with_slice(registers);
                (Frame::native(machine, base, window, dst), Some(*machine))
            }
            ItemSource::Items { .. } | ItemSource::Over(_) => return Ok(Advanced::Ready(None)),
        };
        drop(body);
        self.frames.push(Frame { owned: true, ..frame });
        self.stack[owner] = Value::Iter(iter);
        let Some(Builtin { run: BuiltinRun::Native(native), .. }) = machine else { return Ok(Advanced::Frame) };
        let window = self.frames.last().map_or(0, Frame::window);
        let Self { isolate, context, stack, .. } = self;
        (native.enter)(&mut Cx { isolate, context }, &mut stack[base..base + window]).map(Advanced::Step)
    }

    /// Gives the item that the iterator's machine on top has made to who asked for it. A builtin that wants the next item of the
    /// same iterator at once finds the machine in its place: its registers need not go to the iterator and come back.
    pub(super) fn yielded(&mut self, item: Value) -> Result<Yielded, Box<Raise>> {
        let [.., outer, inner] = self.frames.as_slice() else { return Ok(Yielded::Item(item, self.suspend())) };
        let (Some(taker), Some(maker)) = (outer.machine(), inner.machine()) else {
            return Ok(Yielded::Item(item, self.suspend()));
        };
        let (taken_by, made_by) = (outer.base..outer.base + outer.window(), inner.base..inner.base + inner.window());
        let Self { isolate, context, stack, .. } = self;
        let cx = &mut Cx { isolate, context };
        let step = (taker.item)(cx, &mut stack[taken_by.clone()], Some(item));
        if let Ok(Step::Next { source }) = step
            && let (Value::Iter(wanted), Value::Iter(iter)) =
                (&stack[taken_by.start + source], &stack[made_by.start - 1])
            && Rc::ptr_eq(wanted, iter)
            && self.ticks >= NATIVE_TICK
        {
            self.ticks -= NATIVE_TICK;
            return (maker.enter)(cx, &mut stack[made_by]).map(Yielded::Step);
        }
        self.suspend();
        step.map(Yielded::Step)
    }

    /// The first register that no frame uses.
    fn top(&self) -> usize {
        self.frames.last().map_or(0, |f| {
            // SAFETY: a frame's code is kept as long as the frame.
            f.base + if f.builtin().is_some() { f.window() } else { usize::from(unsafe { &*f.proto }.regs) }
        })
    }

    /// Takes the frame on top, which has made an item, away from the stack; its register for the item.
    pub(super) fn suspend(&mut self) -> u16 {
        let Some(frame) = self.frames.pop() else { return 0 };
        let Value::Iter(iter) = std::mem::take(&mut self.stack[frame.base - 1]) else { return frame.dst };
        match &mut *iter.body().borrow_mut() {
            ItemSource::Script { code, pc, registers, .. } => {
                *pc = frame.at(code) + 1;
                self.stack[frame.base..frame.base + registers.len()].swap_with_slice(registers);
            }
            ItemSource::Native { registers, .. } => {
                self.stack[frame.base..frame.base + registers.len()].swap_with_slice(registers);
            }
            ItemSource::Items { .. } | ItemSource::Over(_) => {}
        }
        iter.set_status(Status::Ready);
        frame.dst
    }

    /// Ends the iterator whose frame was at `base` and is gone.
    pub(super) fn finish_iter(&mut self, base: usize, result: Value) {
        if let Value::Iter(iter) = std::mem::take(&mut self.stack[base - 1]) {
            iter.finish(result);
        }
    }

    /// Makes an iterator of the frame on top, which takes its registers along; the iterator, and where it is wanted.
    pub(super) fn generator(&mut self, flavor: Flavor) -> (Value, u16) {
        let Some(frame) = self.frames.pop() else { return (Value::Nil, 0) };
        // SAFETY: both pointers came from `Rc::as_ptr`. The isolate, the caller's register or the fiber's root still holds what
        // they point to; one more count each for ours.
        let (code, closure) = unsafe {
            Rc::<Proto>::increment_strong_count(frame.proto);
            let closure = (!frame.closure().is_null()).then(|| {
                Rc::<Closure>::increment_strong_count(frame.closure());
                Rc::from_raw(frame.closure())
            });
            (Rc::from_raw(frame.proto), closure)
        };
        let pc = frame.at(&code) + 1;
        let window = &mut self.stack[frame.base..frame.base + usize::from(code.regs)];
        let registers = window.iter_mut().map(std::mem::take).collect();
        (self.isolate.iterator(flavor, ItemSource::Script { code, closure, pc, registers }), frame.dst)
    }

    /// The `for` of the frame on top has no more items.
    pub(super) fn end_loop(&mut self) {
        let Some(frame) = self.frames.last_mut() else { return };
        // SAFETY: a frame's code is kept as long as the frame.
        let code = unsafe { &*frame.proto };
        let at = frame.at(code);
        if let Some(Op::ForNext { by, .. }) = code.code.get(at) {
            let by = if *by == FAR { code.far(at) } else { i32::from(*by) };
            // SAFETY: `pc` stands behind the `ForNext`, and the verifier lets no jump leave the code.
            frame.pc = unsafe { frame.pc.offset(by as isize) };
            debug_assert!(code.code.as_ptr_range().contains(&frame.pc), "a jump out of the code");
        }
    }

    /// The next item for a `for`; the value is `Unbound` at the end.
    pub(super) fn next_item(&mut self, source: usize, dst: u16) -> Result<Entered, Box<Raise>> {
        match self.advance(source, dst)? {
            Advanced::Ready(item) => Ok(Entered::Value(item.unwrap_or(Value::Unbound))),
            Advanced::Frame => Ok(Entered::Frame),
            Advanced::Step(step) => self.native_step(step),
            Advanced::Wait(wait) => Ok(Entered::Wait(wait, Pending::Item)),
        }
    }

    /// Makes a list of the items of the iterator in the absolute register `source`, for the register `dst`.
    pub(super) fn drain(&mut self, source: usize, dst: u16) -> Result<Entered, Box<Raise>> {
        let base = self.top();
        self.ensure(base + 1);
        self.stack[base] = std::mem::take(&mut self.stack[source]);
        match self.isolate.registry().find(Tag::Iter.module(), "to_list") {
            Some(row) => self.enter_builtin(row, base, 1, dst, true),
            None => Ok(Entered::Value(Value::Nil)),
        }
    }
}

impl Drop for Fiber {
    fn drop(&mut self) {
        // What was making an item when the fiber was given up will never make another.
        while let Some(frame) = self.frames.pop() {
            if frame.owned {
                self.finish_iter(frame.base, Value::Nil);
            }
        }
    }
}

fn walked(item: access::IterItem) -> Result<Advanced, Box<Raise>> {
    Ok(match item {
        access::IterItem::Some(value) => Advanced::Ready(Some(value)),
        access::IterItem::End => Advanced::Ready(None),
        access::IterItem::Wait(wait) => Advanced::Wait(wait),
    })
}

#[cold]
fn running(iter: &Iter) -> Box<Raise> {
    let name = if iter.flavor() == Flavor::Iter { "iterator" } else { iter.flavor().name() };
    Raise::error(RunCode::Running, format!("this {name} is already producing an item"))
        .help(format!("create a second one; a {name} cannot iterate over itself"))
}
