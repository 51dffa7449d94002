//! A fiber: registers, frames, and where to go on.
#![allow(unsafe_code)]

use super::caught::Caught;
use super::native::{BuiltinRun, Native};
use super::op::Op;
use super::tasks::Noticed;
use super::{Context, Isolate, Proto, Raise, Wait};
use crate::declaration::Builtin;
use crate::source::{SourceRef, Span};
use crate::value::{Closure, Value};
use std::ptr;
use std::rc::Rc;

/// Registers and frames of a fiber that has returned.
pub(super) type Spare = (Vec<Value>, Vec<Frame>);

/// Registers a new fiber starts with: little, for ten thousand tasks that wait hold them.
const FIRST_REGISTERS: usize = 8;

/// Why [`Fiber::run`] came back.
pub enum Exit {
    /// The function returned.
    Done(Value),
    /// It was interrupted and nothing took it.
    Raised(Box<Raise>),
    /// It must wait; [`Fiber::wake`] with what the wait gave, then run again.
    Wait(Wait),
    /// Its slice is over; run again when others have had their turn.
    Yield,
}

/// One call that is not finished.
pub(super) struct Frame {
    /// Instruction at which it continues.
    pub(super) pc: *const Op,
    /// The function's code; null for a builtin's frame.
    pub(super) proto: *const Proto,
    /// Captures of the function, null if there are none; for a builtin's frame, the builtin.
    pub(super) what: *const (),
    /// Start of its window.
    pub(super) base: usize,
    /// Registers of a builtin's window.
    pub(super) window: u32,
    /// The caller's register for the result.
    pub(super) dst: u16,
    /// The caller is a script, which goes on as soon as it has the result.
    pub(super) plain: bool,
    /// It makes an item of an iterator, which lies in the register before its window.
    pub(super) owned: bool,
    /// A builtin's frame that waits for an item, not for the result of a call.
    pub(super) wants_item: bool,
}

/// Continuation for the value of a wait.
#[derive(Clone, Copy)]
pub(super) enum Pending {
    /// Nothing is awaited.
    Nothing,
    /// It is the result of the call for this register.
    Register(u16),
    /// It is an item of a host value, for the frame on top: a pair (item, true), or nil at the end.
    Item,
    /// The builtin on top goes on by asking the iterator in this register.
    Next { source: usize },
}

/// One line of execution.
pub struct Fiber {
    pub(super) isolate: Rc<Isolate>,
    pub(super) context: Rc<Context>,
    /// All of it is always initialised; what no window holds is nil or harmless.
    pub(super) stack: Vec<Value>,
    pub(super) frames: Vec<Frame>,
    /// Number of frames that fit without a check of their limit and of the vector's capacity.
    pub(super) room: usize,
    pub(super) pending: Pending,
    /// Value of the wait.
    pub(super) woken: Option<Result<Value, Box<Raise>>>,
    /// A builtin that was called directly and waits.
    pub(super) entry_wait: Option<Wait>,
    /// A function of another language that is called when the fiber runs, with so many arguments.
    pub(super) entry_host: Option<usize>,
    /// Instructions left of this slice.
    pub(super) ticks: i64,
    /// Instructions in this slice.
    pub(super) slice: i64,
    /// The function at the bottom, kept alive.
    pub(super) root: Value,
    /// Errors that may be thrown again.
    pub(super) caught: Vec<Caught>,
    /// Signals of its task that it has seen.
    pub(super) noticed: Noticed,
    /// Number of interruptions by its call's own switch.
    pub(super) halted: u16,
}

/// Instructions in a slice: about 100 µs.
pub(super) const SLICE: i64 = 50_000;

impl Fiber {
    /// A fiber that will call `function` with `args`; more than it takes are left out.
    ///
    /// # Errors
    /// When `function` cannot be called, or wants more arguments.
    pub fn new(
        isolate: &Rc<Isolate>,
        context: &Rc<Context>,
        function: Value,
        args: impl IntoIterator<Item = Value>,
    ) -> Result<Self, Box<Raise>> {
        let mut fiber = Self::idle(isolate, context);
        fiber.start(function, args)?;
        Ok(fiber)
    }

    /// A fiber that runs nothing: work of the crate above waits in its place.
    pub(super) fn idle(isolate: &Rc<Isolate>, context: &Rc<Context>) -> Self {
        let (stack, frames) =
            isolate.take_spare().unwrap_or_else(|| (vec![Value::Nil; FIRST_REGISTERS], Vec::with_capacity(2)));
        Self {
            isolate: isolate.clone(),
            context: context.clone(),
            stack,
            frames,
            room: 0,
            pending: Pending::Nothing,
            woken: None,
            entry_wait: None,
            entry_host: None,
            ticks: 0,
            slice: 0,
            root: Value::Nil,
            caught: Vec::new(),
            noticed: context.task.noticed(),
            halted: 0,
        }
    }

    /// Makes a finished fiber call another function.
    ///
    /// # Errors
    /// Does what [`Self::new`] does.
    pub fn start(&mut self, function: Value, args: impl IntoIterator<Item = Value>) -> Result<(), Box<Raise>> {
        let mut argc = 0;
        for arg in args {
            if argc == self.stack.len() {
                self.stack.resize(argc * 2, Value::Nil);
            }
            self.stack[argc] = arg;
            argc += 1;
        }
        self.root = function;
        self.enter_root(argc)
    }

    /// Leaves registers and frames to the next fiber, once the function has returned: handlers and tools are called again and
    /// again, and tasks that wait must not hold large ones.
    pub(super) fn recycle(mut self) {
        const MOST_REGISTERS: usize = 256;
        if self.frames.is_empty() && self.stack.len() <= MOST_REGISTERS {
            let spare = (std::mem::take(&mut self.stack), std::mem::take(&mut self.frames));
            self.isolate.leave_spare(spare);
        }
    }

    /// Gives the fiber what it waited for.
    pub fn wake(&mut self, result: Result<Value, Box<Raise>>) {
        self.woken = Some(result);
    }

    /// Carried value.
    #[must_use]
    pub fn context(&self) -> &Rc<Context> {
        &self.context
    }

    /// Current cause of the interruption.
    pub(super) fn interrupt(&mut self) -> Option<Box<Raise>> {
        let found = self.interruption();
        self.note_line();
        found
    }

    fn interruption(&mut self) -> Option<Box<Raise>> {
        if let Some(raise) = self.context.task.interrupt(&mut self.noticed, self.isolate.nesting()) {
            return Some(raise);
        }
        let halt = self.context.halt.as_ref()?;
        // What interrupts the whole task has interrupted this call already.
        if self.context.task.is_ending(self.isolate.nesting()) { None } else { halt.interrupt(&mut self.halted) }
    }

    /// Returns the current source position.
    pub(super) fn place(&self) -> Option<(SourceRef, Span)> {
        let frame = self.frames.iter().rev().find(|f| !f.proto.is_null())?;
        // SAFETY: a frame's code is kept as long as the frame.
        let code = unsafe { &*frame.proto };
        let span = code.spans.get(frame.at(code)).copied()?;
        Some((code.source.clone()?, span))
    }

    pub(super) fn ensure(&mut self, registers: usize) {
        if registers > self.stack.len() {
            let size = registers.max(self.stack.len() * 2);
            self.stack.resize(size, Value::Nil);
        }
    }

    /// Drops what the registers of a finished window hold.
    pub(super) fn clear(&mut self, base: usize, size: usize) {
        for value in &mut self.stack[base..base + size] {
            if value.on_heap() {
                *value = Value::Nil;
            }
        }
    }
}

impl Frame {
    #[inline(always)]
    pub(super) fn script(proto: *const Proto, closure: *const Closure, base: usize, dst: u16, plain: bool) -> Self {
        // SAFETY: protos are kept by the isolate or by a closure that a lower window holds.
        let pc = unsafe { (*proto).code.as_ptr() };
        Self { pc, proto, what: closure.cast(), base, window: 0, dst, plain, owned: false, wants_item: false }
    }

    pub(super) fn native(builtin: &'static Builtin, base: usize, window: usize, dst: u16) -> Self {
        Self {
            pc: ptr::null(),
            proto: ptr::null(),
            what: ptr::from_ref(builtin).cast(),
            base,
            window: u32::try_from(window).unwrap_or(u32::MAX),
            dst,
            plain: false,
            owned: false,
            wants_item: false,
        }
    }

    /// The builtin whose frame it is.
    #[inline(always)]
    pub(super) fn builtin(&self) -> Option<&'static Builtin> {
        // SAFETY: a frame without code was made by `native`.
        self.proto.is_null().then(|| unsafe { &*self.what.cast::<Builtin>() })
    }

    /// The machine whose frame it is.
    #[inline(always)]
    pub(super) fn machine(&self) -> Option<&'static Native> {
        match self.builtin()?.run {
            BuiltinRun::Native(machine) => Some(machine),
            BuiltinRun::Plain(_) | BuiltinRun::Waits(_) => None,
        }
    }

    /// The running closure; null for a function that was called by its number.
    #[inline(always)]
    pub(super) fn closure(&self) -> *const Closure {
        self.what.cast()
    }

    /// Registers of a builtin's window.
    pub(super) fn window(&self) -> usize {
        self.window as usize
    }

    /// The number of the instruction that is running (the one before `pc`).
    pub(super) fn at(&self, proto: &Proto) -> usize {
        let pcs = proto.code.as_ptr_range();
        debug_assert!(pcs.contains(&self.pc) || self.pc == pcs.end, "a frame outside of its code");
        // SAFETY: `pc` points into the function's code or one behind it.
        let distance = unsafe { self.pc.offset_from(proto.code.as_ptr()) };
        usize::try_from(distance).unwrap_or(0).saturating_sub(1)
    }
}
