//! Code of another language at work. It cannot give its native stack away as a fiber can, so it has one of its own: where it
//! must wait it is suspended with all of that stack, and goes on where it was.
//!
//! - [`begin`]: starts such code; what it gives at once, or a wait for it.
//! - [`call`]: called by that code: a function of the run, which may wait.
//! - [`tick`]: called by that code now and then: fuel, memory, time, the stack, interruptions, and the turns of others.
//! - [`roomy`]: such a stack for a moment, for work of that code which recurses.
//! - [`outside`]: called by that code for work that needs much of the native stack, or may start such code again.
//!
//! Fibers never run on such a stack, since what grows the native stack for them ([`super::nesting`]) knows nothing of it.
#![allow(unsafe_code)]

use super::fiber::Exit;
use super::nesting::{polled_in, with_room};
use super::wait::{On, Outcome};
use super::{Context, Cx, Fiber, Isolate, Raise, RunCode, Wait, nesting, resume, yield_once};
use crate::value::Value;
use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind, set_hook, take_hook};
use std::ptr;
use std::rc::Rc;
use std::sync::Once;

/// Address space of one stack, and smaller ones if the system refuses it. Only what is used of it takes memory.
///
/// Libraries of other languages drop nested values recursively, so a stack has room for the deepest value that fits into
/// the memory which their code can have ([`most_memory`]).
const STACKS: [u64; 6] = [8 << 30, 4 << 30, 2 << 30, 1 << 30, 512 << 20, 256 << 20];
/// Bytes of a stack that dropping a value takes for each byte of the value, at most: a list of one item takes 40 bytes, and
/// dropping it fewer than 250.
const DROPPED: usize = 8;
/// Part of the stack that must be free while code runs, for the calls between two checks.
const RESERVE: usize = 512 << 10;
/// Stacks of which more was used are given back to the system.
const KEPT_SIZE: usize = 256 << 10;
/// Unused stacks that are kept.
const KEPT: usize = 16;
/// Operations in a slice: about 100 µs.
const SLICE: i64 = 1_000;

thread_local! {
    static UNUSED: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
    /// Line whose stack the thread is on, or `None` if it is on its own.
    static CURRENT: RefCell<Option<Rc<StackState>>> = const { RefCell::new(None) };
}

/// Why such code is suspended.
enum Pause {
    /// A function that it called must wait, or its slice is over.
    Call(Box<(Fiber, Exit)>),
    /// Its own slice is over.
    Turn,
}

type StackCoroutine = Coroutine<Outcome, Pause, Outcome>;

/// State of the run that the code on a stack can reach.
struct StackState {
    isolate: Rc<Isolate>,
    context: Rc<Context>,
    /// Into the stack, while the coroutine is there.
    yielder: Cell<*const Yielder<Outcome, Pause>>,
    /// Counts its operations and notices what interrupts it.
    meter: RefCell<Fiber>,
    /// For the next call.
    spare: RefCell<Option<Fiber>>,
    /// The lowest address at which it may be.
    lowest: usize,
    /// Bytes that the run can hold meanwhile.
    most_memory: usize,
    /// The lowest address at which it was seen.
    seen: Cell<usize>,
    /// The coroutine is dropped before its end.
    dropped: Cell<bool>,
}

/// Starts `body` on a stack of its own.
///
/// # Errors
/// When calls are nested too deep, or there is no memory for a stack; what the body comes to is in the wait.
pub fn begin(cx: &Cx<'_>, body: impl FnOnce() -> Outcome + 'static) -> Result<Wait, Box<Raise>> {
    let nesting = cx.isolate.nesting();
    if nesting.level() >= nesting::MOST {
        return Err(nesting::too_deep());
    }
    let mut work = CoroutineWork::new(cx, body)?;
    let _within = nesting.enter();
    let paused = match with_room(|| work.step(Ok(Value::Nil))) {
        CoroutineResult::Return(outcome) => return Ok(Wait::ready(outcome)),
        CoroutineResult::Yield(pause) => pause,
    };
    Ok(Wait::new(polled_in(cx.isolate.clone(), nesting.calls(), work.drive(paused))).on(On::Script))
}

/// Calls a function of the run and waits for it: for code that [`begin`] started.
///
/// # Errors
/// Cause of the interruption.
pub fn call(function: Value, args: Vec<Value>) -> Outcome {
    let Some(line) = current() else { return Err(nobody()) };
    let spare = line.spare.take();
    let started = line.clone();
    let run = outside(move || {
        let StackState { isolate, context, .. } = &*started;
        let mut fiber = match spare {
            Some(fiber) => fiber,
            None => Fiber::idle(isolate, context),
        };
        fiber.begin_again();
        fiber.start(function, args).map(|()| {
            let exit = fiber.run();
            (fiber, exit)
        })
    });
    match run? {
        (fiber, Exit::Done(value)) => {
            *line.spare.borrow_mut() = Some(fiber);
            Ok(value)
        }
        (_, Exit::Raised(raise)) => Err(raise),
        waiting => line.suspend(Pause::Call(Box::new(waiting))),
    }
}

/// Runs `work` with the context for which [`begin`]'s code runs, or returns `None` outside of any.
pub fn inside<T>(work: impl FnOnce(&mut Cx<'_>) -> T) -> Option<T> {
    let line = current()?;
    Some(work(&mut Cx { isolate: &line.isolate, context: &line.context }))
}

/// Counts one operation of code that [`begin`] started, and now and then lets others have their turn.
///
/// # Errors
/// Cause of its end: a reached limit of fuel, memory or time, a full stack, or a signal.
#[inline]
pub fn tick() -> Result<(), Box<Raise>> {
    let Some(line) = current() else { return Ok(()) };
    let here = stack_pointer();
    if here < line.seen.get() {
        line.seen.set(here);
        if here < line.lowest {
            return Err(full());
        }
    }
    let turn = line.meter.borrow_mut().tick()?;
    if !turn {
        return Ok(());
    }
    line.isolate.check_most(line.most_memory)?;
    line.suspend(Pause::Turn).map(drop)
}

/// Does something on the thread's own stack.
pub fn outside<T>(work: impl FnOnce() -> T) -> T {
    let Some(line) = current() else { return work() };
    let yielder = line.yielder.get();
    let work = ParentWork(move || {
        // What is done there is not done by the code at work: it cannot suspend it.
        let _others = LineGuard::new(None);
        work()
    });
    // SAFETY: the current line's coroutine is running, so its yielder is on its stack; see `Crossing` for the other stack.
    unsafe { &*yielder }.on_parent_stack(move || work.run())
}

/// Does something that recurses deeper than the thread's own stack may have room for, and neither waits nor calls the run.
pub fn roomy<T>(work: impl FnOnce() -> T) -> T {
    let stack = UNUSED.try_with(|unused| unused.borrow_mut().pop()).ok().flatten();
    let Some(mut stack) = stack.or_else(|| new_stack().ok()) else { return work() };
    let _others = LineGuard::new(None);
    // Nobody knows how much of it was used: it goes back to the system.
    corosensei::on_stack(&mut stack, work)
}

/// Creates the largest stack that the system permits.
fn new_stack() -> std::io::Result<DefaultStack> {
    let sizes = STACKS.into_iter().filter_map(|size| usize::try_from(size).ok());
    let mut refused = None;
    for size in sizes {
        match DefaultStack::new(size) {
            Ok(stack) => return Ok(stack),
            Err(error) => refused = Some(error),
        }
    }
    Err(refused.unwrap_or_else(|| std::io::ErrorKind::OutOfMemory.into()))
}

/// Returns the bytes that a run can hold while code works on a stack: the deepest value of that size can be dropped on it.
fn most_memory(stack: &DefaultStack) -> usize {
    (stack.base().get() - stack.limit().get()) / DROPPED
}

/// Returns whether more than [`KEPT_SIZE`] of a stack was used. Unused pages contain zeros.
fn is_used_deep(stack: &DefaultStack) -> bool {
    const WORDS: usize = 512;
    let lowest = stack.base().get() - KEPT_SIZE - WORDS * size_of::<usize>();
    debug_assert!(lowest > stack.limit().get(), "the stack is smaller");
    // SAFETY: the smallest stack is larger, nothing runs on it, and it is aligned to pages.
    let words = unsafe { std::slice::from_raw_parts(ptr::with_exposed_provenance::<usize>(lowest), WORDS) };
    words.iter().any(|word| *word != 0)
}

/// Runs the code at work. A panic in it is an error of the script: neither its message nor its backtrace is printed.
fn guarded(line: &StackState, body: impl FnOnce() -> Outcome) -> Outcome {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(outcome) => outcome,
        // That is how a stack is unwound which nobody wants any more.
        Err(unwinding) if line.dropped.get() => resume_unwind(unwinding),
        Err(_) => Err(Raise::error(RunCode::Outside, "internal error in a library of the other language")),
    }
}

/// Installs a panic hook that is silent while code is at work on a stack of its own: its panics are caught, by itself or by
/// [`guarded`]. Work on the thread's own stack in between is reported as ever.
fn silence_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            let at_work = CURRENT.try_with(|current| current.try_borrow().is_ok_and(|line| line.is_some()));
            if !at_work.unwrap_or(false) {
                usual(panic);
            }
        }));
    });
}

/// Work for the parent's stack.
struct ParentWork<F>(F);

// SAFETY: the bound keeps references to the yielder away from the parent's stack. Nobody but `Line` holds one, and no line
// is current there, so nobody can reach it. The thread is the same.
unsafe impl<F> Send for ParentWork<F> {}

impl<F: FnOnce() -> T, T> ParentWork<F> {
    fn run(self) -> T {
        (self.0)()
    }
}

fn current() -> Option<Rc<StackState>> {
    CURRENT.with_borrow(Clone::clone)
}

/// Guard that restores the current line when it is dropped, also when a panic passes.
struct LineGuard(Option<Rc<StackState>>);

impl LineGuard {
    fn new(line: Option<Rc<StackState>>) -> Self {
        Self(CURRENT.replace(line))
    }
}

impl Drop for LineGuard {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

impl StackState {
    /// Waits for what is paused; what that gives.
    fn suspend(&self, pause: Pause) -> Outcome {
        // SAFETY: the line is current, so its coroutine is running and its yielder is on its stack.
        unsafe { &*self.yielder.get() }.suspend(pause)
    }
}

/// A coroutine and its line. Dropped while it is suspended, it is unwound.
struct CoroutineWork {
    body: Option<StackCoroutine>,
    line: Rc<StackState>,
}

impl CoroutineWork {
    fn new(cx: &Cx<'_>, body: impl FnOnce() -> Outcome + 'static) -> Result<Self, Box<Raise>> {
        let stack = match UNUSED.with_borrow_mut(Vec::pop) {
            Some(stack) => stack,
            None => new_stack().map_err(|e| no_stack(&e))?,
        };
        silence_panics();
        let mut meter = Fiber::idle(cx.isolate, cx.context);
        meter.slice_of(SLICE);
        let line = Rc::new(StackState {
            isolate: cx.isolate.clone(),
            context: cx.context.clone(),
            yielder: Cell::new(ptr::null()),
            meter: RefCell::new(meter),
            spare: RefCell::new(None),
            lowest: stack.limit().get() + RESERVE,
            most_memory: most_memory(&stack),
            seen: Cell::new(stack.base().get()),
            dropped: Cell::new(false),
        });
        let own = line.clone();
        let body = StackCoroutine::with_stack(stack, move |yielder, _| {
            own.yielder.set(yielder);
            // The body is dropped before it has returned, while its stack is there.
            let outcome = guarded(&own, body);
            own.meter.borrow_mut().settle();
            outcome
        });
        Ok(Self { body: Some(body), line })
    }

    /// Lets it go on until it pauses again.
    fn step(&mut self, given: Outcome) -> CoroutineResult<Pause, Outcome> {
        let Some(body) = &mut self.body else { return CoroutineResult::Return(Err(nobody())) };
        let _at_work = LineGuard::new(Some(self.line.clone()));
        self.line.isolate.on_account(|| body.resume(given))
    }

    async fn drive(mut self, mut pause: Pause) -> Outcome {
        loop {
            let given = match pause {
                Pause::Turn => {
                    yield_once().await;
                    Ok(Value::Nil)
                }
                Pause::Call(waiting) => {
                    let (fiber, exit) = *waiting;
                    resume(fiber, exit).await
                }
            };
            match self.step(given) {
                CoroutineResult::Return(outcome) => return outcome,
                CoroutineResult::Yield(next) => pause = next,
            }
        }
    }
}

impl Drop for CoroutineWork {
    fn drop(&mut self) {
        let Some(mut body) = self.body.take() else { return };
        if !body.done() {
            // What lies on its stack is dropped as if it were at work.
            let _at_work = LineGuard::new(Some(self.line.clone()));
            self.line.dropped.set(true);
            self.line.isolate.on_account(|| body.force_unwind());
        }
        let stack = body.into_stack();
        if self.line.seen.get() + KEPT_SIZE < stack.base().get() || is_used_deep(&stack) {
            return;
        }
        // A thread that ends has no use for it.
        let _ = UNUSED.try_with(|unused| {
            let mut unused = unused.borrow_mut();
            if unused.len() < KEPT {
                unused.push(stack);
            }
        });
    }
}

/// About where the stack ends now.
#[inline(always)]
fn stack_pointer() -> usize {
    let here = 0u8;
    ptr::from_ref(std::hint::black_box(&here)).addr()
}

impl Fiber {
    /// Has so many operations until the next look.
    fn slice_of(&mut self, operations: i64) {
        self.slice = self.slice().min(operations);
        self.ticks = self.slice;
    }

    /// One operation; whether the slice is over.
    fn tick(&mut self) -> Result<bool, Box<Raise>> {
        self.ticks -= 1;
        self.weigh()?;
        if self.ticks > 0 {
            return Ok(false);
        }
        let looked = self.slow_tick();
        let looked = looked.map_err(|raise| self.as_memory(raise));
        self.slice_of(SLICE);
        looked.map(|()| true)
    }

    /// Pays for the operations of a slice that is not over.
    fn settle(&mut self) {
        self.isolate.burn(u64::try_from(self.slice - self.ticks.max(0)).unwrap_or(0));
        self.slice = 0;
        self.ticks = 0;
    }

    /// Knows no more than a new one.
    fn begin_again(&mut self) {
        self.noticed = self.context.task.noticed();
        self.halted = 0;
        self.caught.clear();
    }
}

fn nobody() -> Box<Raise> {
    Raise::error(RunCode::Outside, "no task is running that could wait")
}

fn no_stack(error: &std::io::Error) -> Box<Raise> {
    Raise::error(RunCode::Outside, format!("could not allocate a stack: {error}"))
}

fn full() -> Box<Raise> {
    Raise::error(RunCode::Depth, "calls nested too deeply for the stack").help("check for infinite recursion")
}
