//! The lock of a `mutex` block.
//!
//! It belongs to a task: a task that is inside may enter again. Whoever comes while it is taken is handed the lock in the
//! order of coming, so nobody is passed by.

use super::Task;
use crate::value::Value;
use crate::vm::{On, Wait};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

/// A task in the queue, and how to wake it once it has been asked.
type Waiting = (Rc<Task>, Option<Waker>);

/// The lock of one `mutex` block of the program.
#[derive(Default)]
pub(crate) struct Lock {
    /// The task that is inside, and how often.
    owner: RefCell<Option<Rc<Task>>>,
    times: Cell<usize>,
    tickets: Cell<u64>,
    /// The one that was handed the lock and has not noticed yet.
    handed: Cell<u64>,
    queue: RefCell<BTreeMap<u64, Waiting>>,
}

impl Lock {
    /// Takes the lock for a task, and tells `entered` at that moment.
    pub(crate) fn enter(self: &Rc<Self>, task: &Rc<Task>, entered: impl Fn(&Rc<Self>) + 'static) -> Wait {
        if self.try_enter(task) {
            entered(self);
            return Wait::ready(Ok(Value::Nil));
        }
        self.tickets.set(self.tickets.get() + 1);
        let mut place = LockTicket { lock: self.clone(), ticket: self.tickets.get(), taken: false };
        self.queue.borrow_mut().insert(place.ticket, (task.clone(), None));
        let wait = poll_fn(move |cx| {
            if place.lock.handed.get() == place.ticket {
                place.lock.handed.set(0);
                place.taken = true;
                entered(&place.lock);
                return Poll::Ready(Ok(Value::Nil));
            }
            if let Some((_, waker)) = place.lock.queue.borrow_mut().get_mut(&place.ticket) {
                *waker = Some(cx.waker().clone());
            }
            Poll::Pending
        });
        Wait::new(wait).on(On::Task("to enter a `mutex` block", None))
    }

    fn try_enter(&self, task: &Rc<Task>) -> bool {
        let mut owner = self.owner.borrow_mut();
        match &*owner {
            Some(inside) if !Rc::ptr_eq(inside, task) => return false,
            _ => {}
        }
        *owner = Some(task.clone());
        self.times.set(self.times.get() + 1);
        true
    }

    /// Leaves the block; the next one in the queue has the lock then.
    pub(crate) fn leave(&self) {
        self.times.set(self.times.get().saturating_sub(1));
        if self.times.get() > 0 {
            return;
        }
        let next = self.queue.borrow_mut().pop_first();
        let Some((ticket, (task, waker))) = next else {
            let left = self.owner.borrow_mut().take();
            drop(left);
            return;
        };
        let left = self.owner.borrow_mut().replace(task);
        drop(left);
        self.times.set(1);
        self.handed.set(ticket);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// A place in the queue. One that is dropped after it was handed the lock hands it on.
struct LockTicket {
    lock: Rc<Lock>,
    ticket: u64,
    taken: bool,
}

impl Drop for LockTicket {
    fn drop(&mut self) {
        if self.taken {
            return;
        }
        if self.lock.handed.get() == self.ticket {
            self.lock.handed.set(0);
            self.lock.leave();
        } else {
            self.lock.queue.borrow_mut().remove(&self.ticket);
        }
    }
}
