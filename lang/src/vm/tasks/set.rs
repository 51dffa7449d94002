//! The tasks of a run.
//!
//! Each is a future with a waker of its own; only those that were woken are polled, in the order of waking, beside the main
//! one. Timers of deadlines are such futures too. Nothing here knows who polls the whole: any driver does.

use super::{Task, stuck};
use crate::vm::{Isolate, Local};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

/// Futures polled before the driver may look at sockets and timers again.
const TURN: u32 = 16;

/// Time that the turns may take together.
const TURN_TIME: Duration = Duration::from_millis(10);

/// The main future's place in the queue.
const MAIN: usize = usize::MAX;

/// All tasks and timers of a run.
pub(in crate::vm) struct Tasks {
    slots: RefCell<Vec<Slot>>,
    free: RefCell<Vec<usize>>,
    ready: Arc<Ready>,
    /// The task that is being polled.
    current: RefCell<Option<Rc<Task>>>,
    /// Tasks that are not over.
    live: Cell<usize>,
    /// Fibers that wait for an external operation.
    outside: Cell<usize>,
    numbers: Cell<u64>,
    /// Tasks that failed in a way that nobody had seen when they ended.
    failed: RefCell<Vec<Rc<Task>>>,
    /// Tells the main one that something else ended the run.
    pub(super) root: RefCell<Option<Rc<Task>>>,
    drained: RefCell<Option<Waker>>,
}

#[derive(Default)]
struct Slot {
    job: Option<Local<()>>,
    waker: Option<Arc<JobWaker>>,
    task: Option<Rc<Task>>,
    number: u64,
}

/// Names a future of the set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::vm) struct FutureKey {
    slot: usize,
    number: u64,
}

impl Default for Tasks {
    fn default() -> Self {
        Self {
            slots: RefCell::default(),
            free: RefCell::default(),
            ready: Arc::default(),
            current: RefCell::default(),
            live: Cell::new(0),
            outside: Cell::new(0),
            numbers: Cell::new(0),
            failed: RefCell::default(),
            root: RefCell::default(),
            drained: RefCell::default(),
        }
    }
}

impl Tasks {
    /// A number that nobody had before.
    pub(in crate::vm) fn number(&self) -> u64 {
        self.numbers.set(self.numbers.get() + 1);
        self.numbers.get()
    }

    /// The task that is being polled; nothing before the first one waits.
    pub(in crate::vm) fn current(&self) -> Option<Rc<Task>> {
        self.current.borrow().clone()
    }

    /// The main task; nothing before the first one waits.
    pub(in crate::vm) fn main(&self) -> Option<Rc<Task>> {
        self.root.borrow().clone()
    }

    /// Tasks that are not over.
    pub(in crate::vm) fn live(&self) -> usize {
        self.live.get()
    }

    /// Whether there is anything to be polled beside the main fiber.
    pub(in crate::vm) fn is_busy(&self) -> bool {
        self.slots.borrow().len() > self.free.borrow().len()
    }

    /// Another main task takes the place of the one before.
    pub(super) fn take_over(&self, main: &Rc<Task>) {
        *self.root.borrow_mut() = Some(main.clone());
        *self.current.borrow_mut() = Some(main.clone());
    }

    pub(super) fn waits_outside(&self, more: bool) {
        let count = self.outside.get();
        self.outside.set(if more { count + 1 } else { count.saturating_sub(1) });
    }

    /// Puts a future in, to be polled soon.
    pub(in crate::vm) fn add(&self, job: Local<()>, task: Option<Rc<Task>>) -> FutureKey {
        let number = self.number();
        let free = self.free.borrow_mut().pop();
        let mut slots = self.slots.borrow_mut();
        let slot = free.unwrap_or_else(|| {
            slots.push(Slot::default());
            slots.len() - 1
        });
        let waker = Arc::new(JobWaker { ready: self.ready.clone(), slot, queued: AtomicBool::new(false) });
        waker.wake_by_ref();
        if task.is_some() {
            self.live.set(self.live.get() + 1);
        }
        slots[slot] = Slot { job: Some(job), waker: Some(waker), task, number };
        FutureKey { slot, number }
    }

    /// Takes a timer out.
    pub(in crate::vm) fn remove(&self, key: FutureKey) {
        let freed = match self.slots.borrow_mut().get_mut(key.slot) {
            Some(slot) if slot.number == key.number => std::mem::take(slot),
            _ => return,
        };
        self.free.borrow_mut().push(key.slot);
        drop(freed);
    }

    /// A task is over.
    pub(super) fn ended(&self, failed: Option<Rc<Task>>) {
        self.failed.borrow_mut().extend(failed);
        self.live.set(self.live.get().saturating_sub(1));
        if self.live.get() == 0
            && let Some(waker) = self.drained.borrow_mut().take()
        {
            waker.wake();
        }
    }

    /// Every task that is not over.
    pub(super) fn all(&self) -> Vec<Rc<Task>> {
        self.slots.borrow().iter().filter_map(|slot| slot.task.clone()).filter(|task| !task.is_done()).collect()
    }

    /// Drops everything without running any more of it.
    pub(in crate::vm) fn clear(&self) {
        let slots = std::mem::take(&mut *self.slots.borrow_mut());
        self.free.borrow_mut().clear();
        self.live.set(0);
        drop(slots);
    }

    /// The errors of tasks that nobody saw, in the order in which they ended.
    pub(in crate::vm) fn unseen(&self) -> Vec<Rc<Task>> {
        std::mem::take(&mut *self.failed.borrow_mut())
    }

    fn poll_job(&self, index: usize) {
        let (mut job, waker, number) = {
            let mut slots = self.slots.borrow_mut();
            let Some(slot) = slots.get_mut(index) else { return };
            let (Some(job), Some(waker)) = (slot.job.take(), slot.waker.clone()) else { return };
            (*self.current.borrow_mut()).clone_from(&slot.task);
            (job, waker, slot.number)
        };
        waker.queued.store(false, Ordering::Release);
        let done = job.as_mut().poll(&mut Context::from_waker(&Waker::from(waker))).is_ready();
        if done {
            self.remove(FutureKey { slot: index, number });
            return;
        }
        let mut slots = self.slots.borrow_mut();
        match slots.get_mut(index) {
            Some(slot) if slot.number == number => slot.job = Some(job),
            // It was taken out while it ran.
            _ => drop(slots),
        }
    }

    /// Polls what was woken; the main future's result when it has one.
    fn turn<T>(
        &self,
        cx: &Context<'_>,
        isolate: &Rc<Isolate>,
        main_waker: &Arc<JobWaker>,
        length: u32,
        mut main: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        self.ready.turning.store(true, Ordering::Release);
        lock(&self.ready.driver).replace(cx.waker().clone());
        let mut left = length;
        let mut again = true;
        let began = Instant::now();
        while left > 0 && (left == length || began.elapsed() < TURN_TIME) {
            let next = lock(&self.ready.queue).pop_front();
            match next {
                Some(MAIN) => {
                    main_waker.queued.store(false, Ordering::Release);
                    (*self.current.borrow_mut()).clone_from(&self.root.borrow());
                    let polled = main(&mut Context::from_waker(&Waker::from(main_waker.clone())));
                    if polled.is_ready() {
                        self.ready.turning.store(false, Ordering::Release);
                        return polled;
                    }
                }
                Some(index) => self.poll_job(index),
                None if stuck::idle(self, isolate, self.outside.get() > 0) => {}
                None => {
                    again = false;
                    break;
                }
            }
            left -= 1;
        }
        self.ready.turning.store(false, Ordering::Release);
        // What another thread woke meanwhile did not wake the driver.
        if again || !lock(&self.ready.queue).is_empty() {
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

/// Runs `main`, and beside it the tasks of the run, until `main` is done.
pub async fn run<T>(isolate: &Rc<Isolate>, root: &Rc<Task>, main: impl Future<Output = T>) -> T {
    run_by(isolate, root, TURN, main).await
}

/// Does what [`run`] does, with at most so many steps per poll.
pub async fn run_by<T>(isolate: &Rc<Isolate>, root: &Rc<Task>, steps: u32, main: impl Future<Output = T>) -> T {
    let tasks = isolate.tasks();
    *tasks.root.borrow_mut() = Some(root.clone());
    let main_waker = Arc::new(JobWaker { ready: tasks.ready.clone(), slot: MAIN, queued: AtomicBool::new(false) });
    main_waker.wake_by_ref();
    let mut main = pin!(main);
    poll_fn(|cx| isolate.on_account(|| tasks.turn(cx, isolate, &main_waker, steps.max(1), |cx| main.as_mut().poll(cx))))
        .await
}

/// Runs the tasks of the run while `work`, which is no part of it, waits for an external operation: whatever they wait for, it is
/// no deadlock.
pub async fn run_beside<T>(isolate: &Rc<Isolate>, steps: u32, work: impl Future<Output = T>) -> T {
    /// Counted until it is dropped.
    struct Outside<'a>(&'a Tasks);
    impl Drop for Outside<'_> {
        fn drop(&mut self) {
            self.0.waits_outside(false);
        }
    }
    isolate.tasks().waits_outside(true);
    let _outside = Outside(isolate.tasks());
    run_by(isolate, &Rc::default(), steps, work).await
}

/// Ends a run: what is still running is cancelled, and cleans up within the grace.
pub async fn close(isolate: &Rc<Isolate>, root: &Rc<Task>) {
    let tasks = isolate.tasks();
    super::spawn::stop_all(isolate, tasks.all(), &crate::vm::Raise::cancelled("the run is over"));
    let drained = poll_fn(|cx| {
        if tasks.live() == 0 {
            return Poll::Ready(());
        }
        *tasks.drained.borrow_mut() = Some(cx.waker().clone());
        Poll::Pending
    });
    run(isolate, root, drained).await;
    tasks.clear();
}

/// Fibers that were woken. Wakers may be called from any thread.
#[derive(Default)]
struct Ready {
    queue: Mutex<VecDeque<usize>>,
    driver: Mutex<Option<Waker>>,
    /// The driver is here and looks at the queue by itself.
    turning: AtomicBool,
}

struct JobWaker {
    ready: Arc<Ready>,
    slot: usize,
    queued: AtomicBool,
}

impl Wake for JobWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.queued.swap(true, Ordering::AcqRel) {
            return;
        }
        lock(&self.ready.queue).push_back(self.slot);
        if !self.ready.turning.load(Ordering::Acquire)
            && let Some(driver) = lock(&self.ready.driver).as_ref()
        {
            driver.wake_by_ref();
        }
    }
}

/// Nothing panics while it holds one of these.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
