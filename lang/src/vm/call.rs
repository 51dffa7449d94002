//! Windows and frames: how a call begins and how it ends.
#![allow(unsafe_code)]

use super::fiber::{Exit, Fiber, Frame, Pending};
use super::iterate::{Advanced, Yielded};
use super::native::{BuiltinRun, Step};
use super::wait::WaitState;
use super::{Cx, Proto, Raise, RunCode, Wait};
use crate::advice;
use crate::declaration::Builtin;
use crate::value::{Closure, HostBox, Value, article, inspect};
use std::ptr;
use std::rc::Rc;

/// Cost of a step of a builtin that asks an iterator or calls a builtin.
pub(super) const NATIVE_TICK: i64 = 4;

/// Outcome of a call.
pub(super) enum Entered {
    /// A new frame is on top.
    Frame,
    /// It is done already.
    Value(Value),
    /// It must wait, and this is what to do with what that gives.
    Wait(Wait, Pending),
    /// The slice is over in the middle of it.
    Pause,
}

/// Outcome of a call that a builtin makes.
enum Begun {
    /// A new frame is on top.
    Frame,
    /// It is done already.
    Value(Value),
    /// It must wait.
    Wait(Wait),
    /// A builtin's frame is on top; this is what it wants first.
    Step(Step),
}

impl Fiber {
    /// Calls the root function with the arguments in the first registers.
    pub(super) fn enter_root(&mut self, argc: usize) -> Result<(), Box<Raise>> {
        // It would run at once otherwise, and a task begins when its turn comes.
        if matches!(&self.root, Value::Host(_)) && self.root.is_callable() {
            self.entry_host = Some(argc);
            return Ok(());
        }
        let callee: *const Value = &raw const self.root;
        // SAFETY: `root` is a field of the fiber, which stays where it is; nothing that begins a call changes it.
        match self.enter(unsafe { &*callee }, 0, argc, 0, true)? {
            Entered::Frame | Entered::Pause => {}
            Entered::Value(value) => self.woken = Some(Ok(value)),
            Entered::Wait(wait, pending) => {
                self.pending = pending;
                self.entry_wait = Some(wait);
            }
        }
        Ok(())
    }

    /// Calls the root function that [`Self::enter_root`] left for the first slice.
    pub(super) fn enter_host(&mut self, argc: usize) -> Exit {
        let Value::Host(host) = &self.root else { return Exit::Done(Value::Nil) };
        let host = host.clone();
        match self.begin_host(&host, 0, argc) {
            Ok(Begun::Wait(wait)) => {
                self.pending = Pending::Register(0);
                Exit::Wait(wait)
            }
            Ok(Begun::Value(value)) => Exit::Done(value),
            Ok(Begun::Frame | Begun::Step(_)) => Exit::Done(Value::Nil),
            Err(raise) => Exit::Raised(raise),
        }
    }

    /// Calls `callee` with `argc` arguments from the absolute register `base` on. `lenient` callers (builtins) may give
    /// more arguments than the function takes.
    pub(super) fn enter(
        &mut self,
        callee: &Value,
        base: usize,
        argc: usize,
        dst: u16,
        lenient: bool,
    ) -> Result<Entered, Box<Raise>> {
        match callee {
            Value::Closure(closure) => {
                let (proto, closure) = (Rc::as_ptr(&closure.proto), Rc::as_ptr(closure));
                // SAFETY: the closure keeps its code.
                let entry = unsafe { (*proto).entry };
                self.enter_script((proto, entry), closure, base, argc, dst, lenient)?;
                Ok(Entered::Frame)
            }
            Value::Builtin(builtin) => self.enter_builtin(builtin, base, argc, dst, lenient),
            Value::Host(host) if host.object().callable().is_some() => match self.begin_host(host, base, argc)? {
                Begun::Wait(wait) => Ok(Entered::Wait(wait, Pending::Register(dst))),
                Begun::Value(value) => Ok(Entered::Value(value)),
                Begun::Step(step) => self.native_step(step),
                Begun::Frame => Ok(Entered::Frame),
            },
            other => {
                let message = format!("{} is not a function", with_article(other));
                let raise = Raise::error(RunCode::Call, message).about_callee(format!("this is {}", inspect(other)));
                Err(raise.help_by_some(advice::called(other.into())))
            }
        }
    }

    /// Calls a compiled function, from the instruction `entry` on.
    pub(super) fn enter_script(
        &mut self,
        (proto, entry): (*const Proto, u32),
        closure: *const Closure,
        base: usize,
        argc: usize,
        dst: u16,
        lenient: bool,
    ) -> Result<(), Box<Raise>> {
        // SAFETY: kept by the isolate, or by the closure that the caller's register holds.
        let code = unsafe { &*proto };
        debug_assert!(code.verified.get(), "code of `{}` was not verified", code.title());
        self.check_depth()?;
        let params = usize::from(code.params);
        self.ensure(base + usize::from(code.regs).max(argc) + 1);
        if argc != params || code.rest {
            self.fit_arguments(code, base, argc, lenient)?;
        }
        // What calls leniently is no script.
        let mut frame = Frame::script(proto, closure, base, dst, !lenient);
        debug_assert!((entry as usize) < code.code.len(), "entry {entry}");
        // SAFETY: the verifier lets no entry pass that lies outside of the code.
        frame.pc = unsafe { frame.pc.add(entry as usize) };
        self.frames.push(frame);
        self.room = self.frames.capacity().min(self.isolate.limits().depth);
        Ok(())
    }

    /// Refuses one frame more than may be.
    pub(super) fn check_depth(&self) -> Result<(), Box<Raise>> {
        let limit = self.isolate.limits().depth;
        if self.frames.len() < limit {
            return Ok(());
        }
        let message = format!("calls nested more than {limit} levels deep");
        let raise = Raise::error(RunCode::Depth, message).labelled("this call exceeds the limit");
        Err(raise.help(self.isolate.limits().suggestions.depth))
    }

    fn fit_arguments(&mut self, code: &Proto, base: usize, argc: usize, lenient: bool) -> Result<(), Box<Raise>> {
        let params = usize::from(code.params);
        if argc < usize::from(code.required) || (argc > params && !code.rest && !lenient) {
            // `self` is not counted: its place is before the dot.
            let own = usize::from(code.method);
            let required = usize::from(code.required).saturating_sub(own);
            let (params, argc) = (params.saturating_sub(own), argc.saturating_sub(own));
            return Err(wrong_arity(&code.title(), required, params, code.rest, argc, code));
        }
        if code.rest {
            let extra: Vec<Value> = (params..argc).map(|i| std::mem::take(&mut self.stack[base + i])).collect();
            for i in argc..params {
                self.stack[base + i] = Value::Nil;
            }
            self.stack[base + params] = Value::list(extra);
        } else {
            for i in argc.min(params)..argc.max(params) {
                self.stack[base + i] = Value::Nil;
            }
        }
        Ok(())
    }

    /// Calls a builtin.
    pub(super) fn enter_builtin(
        &mut self,
        builtin: &'static Builtin,
        base: usize,
        argc: usize,
        dst: u16,
        lenient: bool,
    ) -> Result<Entered, Box<Raise>> {
        match self.begin_builtin(builtin, base, argc, dst, lenient)? {
            Begun::Value(value) => Ok(Entered::Value(value)),
            Begun::Wait(wait) => Ok(Entered::Wait(wait, Pending::Register(dst))),
            Begun::Step(step) => self.native_step(step),
            Begun::Frame => Ok(Entered::Frame),
        }
    }

    /// Calls a function of another language.
    fn begin_host(&mut self, host: &Rc<HostBox>, base: usize, argc: usize) -> Result<Begun, Box<Raise>> {
        let Some(callable) = host.object().callable() else { return Ok(Begun::Value(Value::Nil)) };
        let args = self.stack[base..base + argc].iter_mut().map(std::mem::take).collect();
        let Self { isolate, context, .. } = self;
        let result = callable.call(&mut Cx { isolate, context }, args);
        let result = result?;
        self.weigh()?;
        begun(result)
    }

    /// Calls a builtin up to the first thing that it wants.
    fn begin_builtin(
        &mut self,
        builtin: &'static Builtin,
        base: usize,
        mut argc: usize,
        dst: u16,
        lenient: bool,
    ) -> Result<Begun, Box<Raise>> {
        let (min, max) = (usize::from(builtin.arity.min), usize::from(builtin.arity.max));
        if argc < min || (argc > max && !builtin.arity.rest) {
            if argc < min || !lenient {
                let hidden = usize::from(builtin.is_method());
                let fewer = |n: usize| n.saturating_sub(hidden);
                return Err(arity_error(&builtin.full_name(), fewer(min), fewer(max), builtin.arity.rest, fewer(argc))
                    .help(advice::signature(builtin.sig)));
            }
            self.clear(base + max, argc - max);
            argc = max;
        }
        if let Some(denied) = builtin.caps.iter().find(|c| self.isolate.is_denied(**c))
            && !self.isolate.host().exempts(builtin.name)
        {
            let message = format!(
                "`{}` requires the capability `{}`, which this run does not have",
                builtin.full_name(),
                denied.name()
            );
            return Err(Raise::error(RunCode::Denied, message).help(self.isolate.limits().suggestions.right));
        }
        let size = argc.max(max);
        self.ensure(base + size + 1);
        for value in &mut self.stack[base + argc..base + size] {
            *value = Value::Nil;
        }
        match builtin.run {
            BuiltinRun::Plain(function) => {
                let Self { isolate, context, stack, .. } = self;
                let result = function(&mut Cx { isolate, context }, &mut stack[base..base + size]);
                self.clear(base, size);
                let value = result?;
                self.weigh()?;
                Ok(Begun::Value(value))
            }
            BuiltinRun::Waits(function) => {
                let Self { isolate, context, stack, .. } = self;
                let result = function(&mut Cx { isolate, context }, &mut stack[base..base + size]);
                self.clear(base, size);
                let wait = result?;
                self.weigh()?;
                begun(wait)
            }
            BuiltinRun::Native(native) => {
                self.check_depth()?;
                let window = size + usize::from(native.slots);
                self.ensure(base + window + 1);
                for value in &mut self.stack[base + size..base + window] {
                    *value = Value::Nil;
                }
                let Self { isolate, context, stack, .. } = self;
                let step = (native.enter)(&mut Cx { isolate, context }, &mut stack[base..base + window]);
                self.frames.push(Frame::native(builtin, base, window, dst));
                match step.and_then(|step| self.weigh().map(|()| step)) {
                    Ok(step) => Ok(Begun::Step(step)),
                    Err(raise) => {
                        self.frames.pop();
                        self.clear(base, window);
                        Err(raise)
                    }
                }
            }
        }
    }

    /// Calls a builtin that answers at once and needs no right, with its result for the absolute register `dst`. False when
    /// that is not so, and nothing has happened.
    #[inline(never)]
    pub(super) fn quick(
        &mut self,
        builtin: &'static Builtin,
        base: usize,
        argc: usize,
        dst: usize,
    ) -> Result<bool, Box<Raise>> {
        let BuiltinRun::Plain(function) = builtin.run else { return Ok(false) };
        let arity = builtin.arity;
        let size = argc.max(usize::from(arity.max));
        if !builtin.caps.is_empty()
            || argc < usize::from(arity.min)
            || (argc > usize::from(arity.max) && !arity.rest)
            || base + size >= self.stack.len()
        {
            return Ok(false);
        }
        for value in &mut self.stack[base + argc..base + size] {
            *value = Value::Nil;
        }
        let Self { isolate, context, stack, .. } = self;
        let result = function(&mut Cx { isolate, context }, &mut stack[base..base + size]);
        self.clear(base, size);
        self.stack[dst] = result?;
        self.weigh()?;
        Ok(true)
    }

    /// Gives the frame on top what it asked for. A script's frame has it in a register then; a builtin goes on.
    pub(super) fn hand(&mut self, value: Value, dst: u16) -> Result<Entered, Box<Raise>> {
        match self.frames.last() {
            None => Ok(Entered::Value(value)),
            Some(frame) if frame.builtin().is_none() => {
                self.answer_script(value, dst);
                Ok(Entered::Frame)
            }
            Some(_) => {
                let step = self.resume_native(value)?;
                self.native_step(step)
            }
        }
    }

    /// Gives the builtin frame on top what it asked for; what it wants next.
    fn resume_native(&mut self, value: Value) -> Result<Step, Box<Raise>> {
        let Some(frame) = self.frames.last() else { return Ok(Step::Return(value)) };
        let (base, window, wants_item) = (frame.base, frame.window(), frame.wants_item);
        let Some(native) = frame.machine() else { return Ok(Step::Return(value)) };
        let Self { isolate, context, stack, .. } = self;
        let (cx, registers) = (&mut Cx { isolate, context }, &mut stack[base..base + window]);
        if wants_item {
            (native.item)(cx, registers, (!matches!(value, Value::Unbound)).then_some(value))
        } else {
            (native.resume)(cx, registers, value)
        }
    }

    /// Carries out what the builtin frame on top wants, until a script's frame is on top or there is none.
    pub(super) fn native_step(&mut self, mut step: Step) -> Result<Entered, Box<Raise>> {
        loop {
            let Some(frame) = self.frames.last_mut() else { return Ok(Entered::Value(Value::Nil)) };
            let (value, dst) = match step {
                Step::Return(value) => {
                    let (base, window, dst, owned) = (frame.base, frame.window(), frame.dst, frame.owned);
                    self.frames.pop();
                    self.clear(base, window);
                    if owned {
                        self.finish_iter(base, Value::Nil);
                    }
                    (if owned { Value::Unbound } else { value }, dst)
                }
                Step::Yield(value) => match self.yielded(value)? {
                    Yielded::Item(value, dst) => (value, dst),
                    Yielded::Step(next) => {
                        step = next;
                        continue;
                    }
                },
                Step::Next { source } => {
                    frame.wants_item = true;
                    let source = frame.base + source;
                    if self.native_tick()? {
                        self.woken = Some(Ok(Value::Nil));
                        self.pending = Pending::Next { source };
                        return Ok(Entered::Pause);
                    }
                    match self.advance(source, 0)? {
                        Advanced::Ready(item) => step = self.resume_native(item.unwrap_or(Value::Unbound))?,
                        Advanced::Frame => return Ok(Entered::Frame),
                        Advanced::Step(next) => step = next,
                        Advanced::Wait(wait) => return Ok(Entered::Wait(wait, Pending::Item)),
                    }
                    continue;
                }
                Step::Call { callee, args, argc } => {
                    frame.wants_item = false;
                    let base = frame.base;
                    // A closure's code is reached through its block, not through this register, which may move.
                    let callee = self.stack[base + callee].clone();
                    match self.begin(&callee, base + args, argc)? {
                        Begun::Frame => return Ok(Entered::Frame),
                        Begun::Wait(wait) => return Ok(Entered::Wait(wait, Pending::Register(0))),
                        Begun::Value(value) => {
                            if self.native_tick()? {
                                self.woken = Some(Ok(value));
                                self.pending = Pending::Register(0);
                                return Ok(Entered::Pause);
                            }
                            step = self.resume_native(value)?;
                        }
                        Begun::Step(next) => step = next,
                    }
                    continue;
                }
            };
            match self.frames.last() {
                Some(frame) if frame.builtin().is_some() => step = self.resume_native(value)?,
                _ => return self.hand(value, dst),
            }
        }
    }

    /// A walk that runs no script is a loop all the same. Whether the slice is over.
    fn native_tick(&mut self) -> Result<bool, Box<Raise>> {
        self.ticks -= NATIVE_TICK;
        if self.ticks >= 0 {
            return Ok(false);
        }
        self.slow_tick().map(|()| true)
    }

    /// Calls `callee` for the builtin on top.
    fn begin(&mut self, callee: &Value, base: usize, argc: usize) -> Result<Begun, Box<Raise>> {
        if let Value::Builtin(builtin) = callee {
            return self.begin_builtin(builtin, base, argc, 0, true);
        }
        if let Value::Host(host) = callee
            && host.object().callable().is_some()
        {
            return self.begin_host(host, base, argc);
        }
        self.enter(callee, base, argc, 0, true).map(|_| Begun::Frame)
    }

    /// Ends the function on top and gives its result to its caller.
    pub(super) fn leave(&mut self, value: Value) -> Option<Exit> {
        let Some(frame) = self.frames.pop() else { return Some(Exit::Done(value)) };
        // SAFETY: a script's function runs; its code is kept.
        let size = unsafe { &*frame.proto }.regs;
        self.clear(frame.base, usize::from(size));
        if !frame.plain && !self.frames.is_empty() {
            // A builtin that calls closures is a loop: it is looked at as one.
            self.ticks -= 8;
            if self.ticks < 0 {
                return self.pause(value, frame.dst);
            }
        }
        self.answer(value, frame.dst)
    }

    /// Puts the elements of the list in register `base` into the registers from there on; how many.
    pub(super) fn unpack_arguments(&mut self, base: usize) -> usize {
        let Value::List(list) = std::mem::take(&mut self.stack[base]) else { return 0 };
        self.ensure(base + list.items.len() + 1);
        for (i, item) in list.items.iter().enumerate() {
            self.stack[base + i] = item.clone();
        }
        list.items.len()
    }

    /// Moves a self tail call's arguments into the parameters and empties the rest of the window.
    pub(super) fn restart(&mut self, from: usize, argc: usize) -> Result<(), Box<Raise>> {
        let Some(frame) = self.frames.last() else { return Ok(()) };
        let (proto, base) = (frame.proto, frame.base);
        // SAFETY: the running function is kept.
        let code = unsafe { &*proto };
        for i in 0..argc {
            self.stack.swap(base + i, from + i);
        }
        self.clear(base + argc, usize::from(code.regs).saturating_sub(argc));
        if argc != usize::from(code.params) || code.rest {
            self.fit_arguments(code, base, argc, false)?;
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.pc = code.code.as_ptr();
        }
        Ok(())
    }
}

/// Returns a value that is already available without a wait.
fn begun(wait: Wait) -> Result<Begun, Box<Raise>> {
    match wait.state {
        WaitState::Now(outcome) => outcome.map(Begun::Value),
        WaitState::Later(_) => Ok(Begun::Wait(wait)),
    }
}

fn wrong_arity(name: &str, min: usize, max: usize, rest: bool, given: usize, code: &Proto) -> Box<Raise> {
    let raise = arity_error(name, min, max, rest, given);
    match &code.source {
        Some(source) => raise.also(source, code.span, "declared here"),
        None => raise,
    }
}

fn arity_error(name: &str, min: usize, max: usize, rest: bool, given: usize) -> Box<Raise> {
    let message = advice::arity(&format!("`{name}`"), min, (!rest).then_some(max), given);
    Raise::error(RunCode::Arity, message)
}

/// A value's type in a sentence.
pub(super) fn with_article(value: &Value) -> String {
    article(value.type_name())
}

/// A function that was called by its number has captured nothing.
pub(super) const NO_CLOSURE: *const Closure = ptr::null();
