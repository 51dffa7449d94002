//! `parallel`: a task for each item, and their results in the order of the items.

use super::Task;
use super::spawn::{spawn, stop_all};
use crate::value::Value;
use crate::vm::element;
use crate::vm::{Context, Cx, Isolate, On, Outcome, Raise, Wait, Why};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

/// Items that run at one time where nothing else was said.
const AT_ONCE: usize = 10_000;

/// Code that runs for each item.
pub(crate) struct ItemWork {
    /// The items.
    pub(crate) items: ParallelItems,
    /// The closure.
    pub(crate) function: Value,
    /// Maximum number of concurrent tasks.
    pub(crate) at_once: Option<usize>,
    /// Failures are results.
    pub(crate) settle: bool,
}

/// The items.
pub(crate) enum ParallelItems {
    /// The numbers from 0 up to this one.
    Count(usize),
    /// The elements of what reads like a list, and how many there are.
    Of(Value, usize),
}

impl ParallelItems {
    /// Returns the number of tasks.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Count(n) | Self::Of(_, n) => *n,
        }
    }

    fn at(&self, index: usize) -> Value {
        match self {
            Self::Count(_) => Value::from(index),
            Self::Of(items, _) => element(items, index).unwrap_or_default(),
        }
    }
}

/// A `parallel` that is running.
pub(crate) struct Group {
    isolate: Rc<Isolate>,
    context: Rc<Context>,
    work: ItemWork,
    /// Whether its waiter is cleaning up.
    cleans_up: bool,
    state: RefCell<GroupState>,
}

#[derive(Default)]
struct GroupState {
    next: usize,
    running: BTreeMap<usize, Rc<Task>>,
    outcomes: Vec<Option<Outcome>>,
    /// The first failure.
    failed: Option<Box<Raise>>,
    /// No more items are started.
    over: bool,
    /// Tells the tasks that wait for it to stop.
    given_up: bool,
    waker: Option<Waker>,
}

/// Runs the work.
pub(crate) fn parallel(cx: &Cx<'_>, work: ItemWork) -> Wait {
    let group = Rc::new(Group {
        isolate: cx.isolate.clone(),
        context: Rc::new(Context { path: cx.context.path.child("each"), ..(**cx.context).clone() }),
        state: RefCell::new(GroupState { outcomes: vec![None; work.items.len()], ..GroupState::default() }),
        work,
        cleans_up: cx.context.task.signals.is_stopped(),
    });
    let stopped = Rc::downgrade(&group);
    let guard = GroupGuard(group);
    Wait::new(poll_fn(move |cx| guard.0.poll(cx.waker())))
        .on(On::Task("for the items of a `parallel`", None))
        .stopped_by(move |reason| {
            if let Some(group) = stopped.upgrade() {
                group.give_up(reason);
            }
        })
}

/// Items do not outlive the `parallel`.
struct GroupGuard(Rc<Group>);

impl Drop for GroupGuard {
    fn drop(&mut self) {
        self.0.give_up("the `parallel` was cancelled");
    }
}

impl Group {
    fn poll(self: &Rc<Self>, waker: &Waker) -> Poll<Outcome> {
        self.state.borrow_mut().waker = Some(waker.clone());
        while let Some(index) = self.next() {
            let cx = Cx { isolate: &self.isolate, context: &self.context };
            let item = self.work.items.at(index);
            match spawn(&cx, &self.work.function, &[item], Some((Rc::downgrade(self), index))) {
                Ok(task) => {
                    self.state.borrow_mut().running.insert(index, task);
                }
                Err(raise) => self.fail(raise),
            }
        }
        let state = &mut *self.state.borrow_mut();
        if !state.running.is_empty() {
            return Poll::Pending;
        }
        if let Some(raise) = state.failed.take() {
            return Poll::Ready(Err(raise));
        }
        state.over = true;
        Poll::Ready(Ok(self.result(std::mem::take(&mut state.outcomes))))
    }

    /// The item to be started next, where one may be.
    fn next(&self) -> Option<usize> {
        let state = &mut *self.state.borrow_mut();
        let room = state.running.len() < self.work.at_once.unwrap_or(AT_ONCE);
        if state.over || !room || state.next >= self.work.items.len() {
            return None;
        }
        state.next += 1;
        Some(state.next - 1)
    }

    /// An item's task is over.
    pub(super) fn item_done(&self, index: usize, task: &Rc<Task>) {
        self.state.borrow_mut().running.remove(&index);
        // What nobody asks for stays unseen.
        let outcome = if self.is_given_up() { None } else { task.outcome() };
        match outcome {
            Some(Err(raise)) if !self.work.settle || matches!(raise.why, Why::Exit(_) | Why::Exhausted) => {
                self.fail(raise);
            }
            outcome => {
                if let Some(slot) = self.state.borrow_mut().outcomes.get_mut(index) {
                    *slot = outcome;
                }
            }
        }
        let waker = self.state.borrow_mut().waker.take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Whether nobody will ask what its items came to.
    pub(super) fn is_given_up(&self) -> bool {
        // Its items may hear sooner than whoever waits for them that all of it is to stop.
        self.state.borrow().given_up || !self.cleans_up && self.context.task.signals.is_stopped()
    }

    fn give_up(&self, reason: &str) {
        self.state.borrow_mut().given_up = true;
        self.stop(&Raise::cancelled(reason));
    }

    /// The first failure counts; the others are cancelled.
    fn fail(&self, raise: Box<Raise>) {
        self.state.borrow_mut().failed.get_or_insert(raise);
        self.stop(&Raise::cancelled("another item of the `parallel` failed"));
    }

    fn stop(&self, raise: &Raise) {
        let running: Vec<_> = {
            let mut state = self.state.borrow_mut();
            state.over = true;
            state.running.values().cloned().collect()
        };
        stop_all(&self.isolate, running, raise);
    }

    fn result(&self, outcomes: Vec<Option<Outcome>>) -> Value {
        if !self.work.settle {
            return Value::list(outcomes.into_iter().map(|o| o.and_then(Result::ok).unwrap_or_default()).collect());
        }
        let total = outcomes.len();
        let results: Vec<Value> = outcomes
            .into_iter()
            .map(|outcome| match outcome {
                Some(Ok(value)) => Value::ok(value),
                Some(Err(raise)) => Value::err(raise.to_value()),
                None => Value::err(Value::Nil),
            })
            .collect();
        let succeeded = results.iter().filter(|r| matches!(r.as_result(), Some(Ok(_)))).count();
        Value::record([
            ("results", Value::list(results)),
            ("succeeded", Value::from(succeeded)),
            ("failed", Value::from(total - succeeded)),
        ])
    }
}
