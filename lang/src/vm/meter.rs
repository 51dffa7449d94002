//! Stops the walks over values that a [`Meter`] counts.
//!
//! The limits are those of the run that is at work on this thread: fuel, memory, time, interruption. The reason for which a walk was
//! stopped is kept until the machine raises it, which it does before the script sees the result of the walk.
#![allow(unsafe_code)]

use super::fiber::Fiber;
use super::tasks::{self, Noticed};
use super::{Context, Isolate, Meter, Proto, Raise, Stopped, native};
use crate::later::{Machine, ThisCrate};
use crate::value::meter::{start_anew, take_stopped};
use std::cell::{Cell, RefCell};
use std::ptr;
use std::rc::Rc;

thread_local! {
    static WALKS: FiberMeter = const {
        FiberMeter {
            run: Cell::new(ptr::null()),
            line: Cell::new(InterruptState { context: ptr::null(), noticed: Noticed::NEW, halted: 0 }),
        }
    };
    /// Why a walk was stopped, until that is raised.
    static WHY: RefCell<Option<StopReason>> = const { RefCell::new(None) };
}

/// The walks of a thread.
struct FiberMeter {
    /// The run at work; null outside of any.
    run: Cell<*const Isolate>,
    /// The fiber at work.
    line: Cell<InterruptState>,
}

/// Why a walk was stopped.
enum StopReason {
    /// A limit of the run was reached.
    Limit(Box<Raise>),
    /// The fiber is interrupted; it knows by what.
    Interrupted,
}

/// State that decides whether a fiber is interrupted.
#[derive(Clone, Copy)]
pub(super) struct InterruptState {
    context: *const Context,
    noticed: Noticed,
    halted: u16,
}

impl Stopped {
    /// Returns the error to hand on; inside of a fiber the machine puts the reason in its place.
    #[must_use]
    pub fn raise(self) -> Box<Raise> {
        let limit = WALKS.with(|walks| {
            if walks.line.get().context.is_null() {
                take_stopped();
                return WHY.take();
            }
            None
        });
        match limit {
            Some(StopReason::Limit(raise)) => raise,
            _ => Raise::cancelled("interrupted"),
        }
    }
}

impl Machine for ThisCrate {
    type Proto = Proto;
    type Run = native::BuiltinRun;
    type Callable<'a> = dyn native::Callable + 'a;
    type Next = native::Next;

    fn charge_walk(steps: u64) -> bool {
        with_run(|isolate| {
            // A walk is work like any other: after a slice of it, other tasks have their turn.
            if isolate.walked_a_slice(steps) {
                isolate.account().look_soon();
            }
            if !isolate.burn(steps) {
                return Some(StopReason::Limit(isolate.out_of_fuel()));
            }
            match isolate.check_memory(0).and_then(|()| isolate.check_time(false)) {
                Err(raise) => Some(StopReason::Limit(raise)),
                // The main task was told, and takes the error from there.
                Ok(told) => (told || is_interrupted(isolate)).then_some(StopReason::Interrupted),
            }
        })
        .flatten()
        .is_some_and(stop)
    }

    fn lacks_room(bytes: usize) -> bool {
        with_run(|isolate| isolate.check_memory(bytes).err())
            .flatten()
            .is_some_and(|raise| stop(StopReason::Limit(raise)))
    }
}

/// Remembers why a walk must stop; the machine looks soon. Returns true.
fn stop(why: StopReason) -> bool {
    with_run(|isolate| isolate.account().look_soon());
    WHY.with_borrow_mut(|known| {
        known.get_or_insert(why);
    });
    true
}

fn with_run<T>(work: impl FnOnce(&Isolate) -> T) -> Option<T> {
    let run = WALKS.with(|walks| walks.run.get());
    // SAFETY: set by `within` for the time of its work, during which the caller holds the isolate.
    (!run.is_null()).then(|| work(unsafe { &*run }))
}

fn is_interrupted(isolate: &Isolate) -> bool {
    let line = WALKS.with(|walks| walks.line.get());
    if line.context.is_null() {
        return false;
    }
    // SAFETY: set by `Fiber::on_line` for the time of its work, during which the fiber holds the context.
    let context = unsafe { &*line.context };
    let nesting = isolate.nesting();
    let ending = context.task.is_ending(nesting);
    (isolate.host().is_interrupted() && !ending)
        || context.task.interrupts(line.noticed, nesting)
        || (!ending && context.halt.as_ref().is_some_and(|halt| halt.interrupts(line.halted)))
}

/// Does something that belongs to a run. What stopped a walk of it does not outlive it, and the steps of its walks count for no
/// other run of the thread.
pub(super) fn within<T>(isolate: &Isolate, work: impl FnOnce() -> T) -> T {
    let outer = WALKS.with(|walks| walks.run.replace(isolate));
    let outer_steps = isolate.steps_left().begin();
    let done = work();
    WALKS.with(|walks| {
        walks.run.set(outer);
        if take_stopped() {
            WHY.take();
            start_anew();
        }
    });
    isolate.keep_steps_left(outer_steps.begin());
    done
}

impl Isolate {
    /// Goes through what a run came to, after its end: on its account, and with its time anew.
    ///
    /// # Errors
    /// The limit that was reached.
    pub fn walk_result<T>(&self, work: impl FnOnce() -> T) -> Result<T, Box<Raise>> {
        self.start_watch();
        let done = self.on_account(|| {
            let done = work();
            if Meter::is_stopped() { Err(Stopped.raise()) } else { Ok(done) }
        });
        self.end_watch();
        done
    }
}

impl Fiber {
    /// Runs a slice of this fiber; what interrupts the fiber stops its walks.
    pub(super) fn on_line<T>(&mut self, slice: impl FnOnce(&mut Self) -> T) -> T {
        let line = InterruptState { context: Rc::as_ptr(&self.context), noticed: self.noticed, halted: self.halted };
        let outer = WALKS.with(|walks| walks.line.replace(line));
        let done = slice(self);
        WALKS.with(|walks| walks.line.set(outer));
        done
    }

    /// The fiber has noticed what interrupts it.
    pub(super) fn note_line(&self) {
        WALKS.with(|walks| {
            let line = walks.line.get();
            if ptr::eq(line.context, Rc::as_ptr(&self.context)) {
                walks.line.set(InterruptState { noticed: self.noticed, halted: self.halted, ..line });
            }
        });
    }

    /// Takes what stopped a walk, to raise it.
    #[cold]
    pub(super) fn stopped_walk(&mut self) -> Option<Box<Raise>> {
        start_anew();
        let why = WHY.take()?;
        Some(match why {
            StopReason::Limit(raise) => raise,
            StopReason::Interrupted => {
                if self.isolate.host().is_interrupted() {
                    tasks::interrupt(&self.isolate, &self.context.task, "interrupted");
                }
                self.interrupt().unwrap_or_else(|| Raise::cancelled("interrupted"))
            }
        })
    }
}
