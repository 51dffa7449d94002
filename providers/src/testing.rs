//! What the crate's own tests share.

use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use runtime::clock::Clock;
use runtime::event_log::MemoryLog;
use runtime::ids::IdStream;
use runtime::seam::{Local, Scope, Turn};
use runtime::session::Session;

/// Runs a future that never really waits for anything outside.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut cx = Context::from_waker(Waker::noop());
    match future.as_mut().poll(&mut cx) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the future waits"),
    }
}

/// A clock on which sleeping takes no time; it remembers how long everybody slept.
#[derive(Default)]
pub(crate) struct SkippingClock {
    now: Cell<u64>,
    pub(crate) slept: RefCell<Vec<u64>>,
}

impl Clock for SkippingClock {
    fn now_ms(&self) -> u64 {
        self.now.get()
    }

    fn sleep_until(&self, at_ms: u64) -> Local<'_, ()> {
        Box::pin(async move {
            let ms = at_ms.saturating_sub(self.now.get());
            self.slept.borrow_mut().push(ms);
            self.now.set(self.now.get() + ms);
        })
    }
}

/// A session and what surrounds it.
pub(crate) struct Place {
    pub(crate) session: Rc<Session>,
    pub(crate) scope: Scope,
    pub(crate) clock: Rc<SkippingClock>,
}

impl Place {
    pub(crate) fn new() -> Place {
        let clock = Rc::new(SkippingClock::default());
        let scope = Scope::new(clock.clone(), Rc::new(MemoryLog::default()));
        Place { session: Session::new("s", IdStream::new(1, "test"), 0), scope, clock }
    }

    pub(crate) fn turn(&self) -> Turn<'_> {
        Turn { session: &self.session, number: 1, scope: &self.scope }
    }
}
