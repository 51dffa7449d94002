//! A host for tests: it keeps what is printed, its time moves when nobody can do anything else, and it counts polls.

use lang::builtins::{Builtin, args};
use lang::value::Value;
use lang::vm::{Called, Cx, Function, Host, Idle, Local, On, Raise, Wait};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// Host that the tests run on.
#[derive(Default)]
pub(crate) struct Bench {
    pub(crate) out: RefCell<String>,
    clock: Rc<Clock>,
}

#[derive(Default)]
struct Clock {
    now: Cell<u64>,
    last: Cell<u64>,
    timers: RefCell<BTreeMap<(u64, u64), Waker>>,
}

struct Entry(Rc<Clock>, (u64, u64));

impl Drop for Entry {
    fn drop(&mut self) {
        self.0.timers.borrow_mut().remove(&self.1);
    }
}

impl Host for Bench {
    fn print(&self, text: &str) -> Result<(), Box<Raise>> {
        self.out.borrow_mut().push_str(text);
        Ok(())
    }
    fn eprint(&self, text: &str) {
        self.out.borrow_mut().push_str(text);
    }
    fn now_ms(&self) -> u64 {
        self.clock.now.get()
    }
    fn random(&self) -> u64 {
        4
    }
    fn alarm(&self, at_ms: u64) -> Local<()> {
        self.clock.last.set(self.clock.last.get() + 1);
        let entry = Entry(self.clock.clone(), (at_ms, self.clock.last.get()));
        Box::pin(poll_fn(move |cx| {
            if entry.0.now.get() >= at_ms {
                return Poll::Ready(());
            }
            entry.0.timers.borrow_mut().insert(entry.1, cx.waker().clone());
            Poll::Pending
        }))
    }
    fn idle(&self, _outside: bool) -> Idle {
        let first = self.clock.timers.borrow_mut().pop_first();
        let Some(((at, _), waker)) = first else { return Idle::Never };
        self.clock.now.set(self.clock.now.get().max(at));
        waker.wake();
        Idle::Moved
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

lang::builtins! { "" =>
    /// Waits.
    waits "sleep(ms: int) -> nil" sleep;
    /// Calls a function up to its first wait, and gives it up without a word.
    plain "call_and_drop(f: fn() -> any) -> nil" call_and_drop;
}

/// Builtins of the tests.
pub(crate) static OWN: &[&[Builtin]] = &[TABLE];

fn sleep(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let host = cx.isolate.host();
    let alarm = host.alarm(host.now_ms() + args::duration(args, 0)?);
    Ok(Wait::new(async move {
        alarm.await;
        Ok(Value::Nil)
    })
    .on(On::Clock))
}

fn call_and_drop(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let function = Function::new(cx.isolate, cx.context, args::function(args, 0)?.clone());
    let Some(Called::Later(wait)) = function.map(|f| f.call([])) else { return Ok(Value::Nil) };
    let mut future = pin!(wait.get());
    let polled = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_pending(), "it waits");
    Ok(Value::Nil)
}

#[derive(Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Polls until it is done; `before` is told how many polls there were. One that waits without being woken would wait for
/// ever.
pub(crate) fn block_on_with<T>(future: impl Future<Output = T>, mut before: impl FnMut(u64)) -> T {
    let flag = Arc::new(Flag::default());
    let waker = Waker::from(flag.clone());
    let mut future = pin!(future);
    for polls in 1.. {
        before(polls);
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => assert!(flag.0.swap(false, Ordering::SeqCst), "nobody would ever wake it"),
        }
    }
    unreachable!("so many polls take years")
}

/// Runs a future like [`block_on_with`], without a notification.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    block_on_with(future, |_| {})
}
