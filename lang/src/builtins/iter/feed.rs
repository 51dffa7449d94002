//! Sources that are read beside the reader of a stream: each by a task of its own, which asks its source for an item only when
//! the reader asks it for one.

use crate::builtins::{Builtin, BuiltinRun, Native, Step, arity};
use crate::value::{HostBox, HostObject, Value, release};
use crate::vm::tasks::spawn;
use crate::vm::{Cx, Holder, Isolate, Next, On, Raise, Task, Wait};
use std::any::Any;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, Waker};

/// An item, with the time at which its source handed it over.
pub(super) struct Arrival {
    pub(super) item: Value,
    pub(super) at_ms: u64,
}

/// Items on their way to the reader, at most one of each source.
#[derive(Default)]
struct Feed {
    state: RefCell<FeedState>,
}

#[derive(Default)]
struct FeedState {
    /// In the order of their arrival, each with the number of its source.
    arrived: VecDeque<(usize, Arrival)>,
    sources: Vec<FeedSource>,
    reader: Option<Waker>,
    /// The stream is gone, or has failed: no source is asked again.
    is_closed: bool,
}

/// Progress of a source.
struct FeedSource {
    progress: Progress,
    waker: Option<Waker>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// It waits to be asked.
    Idle,
    /// The reader wants an item of it.
    Asked,
    /// It makes one, or the reader has not taken the last one yet.
    Busy,
    /// It has no more.
    Over,
}

impl Holder for Feed {
    fn clear(&self) {
        let arrived = std::mem::take(&mut self.state.borrow_mut().arrived);
        arrived.into_iter().for_each(|(_, arrival)| release(arrival.item));
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.clear();
    }
}

/// The end of a feed at which a source's task is.
struct FeedEnd {
    feed: Rc<Feed>,
    number: usize,
}

impl FeedEnd {
    /// Returns whether the reader wants an item; nothing while it wants none, `false` if it never will.
    fn wanted(&self, cx: &Context<'_>) -> Poll<bool> {
        let state = &mut *self.feed.state.borrow_mut();
        if state.is_closed {
            return Poll::Ready(false);
        }
        let Some(source) = state.sources.get_mut(self.number) else { return Poll::Ready(false) };
        if source.progress == Progress::Asked {
            source.progress = Progress::Busy;
            return Poll::Ready(true);
        }
        source.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    fn put(&self, arrival: Arrival) {
        let mut state = self.feed.state.borrow_mut();
        if state.is_closed {
            return;
        }
        state.arrived.push_back((self.number, arrival));
        wake(state.reader.take());
    }

    fn end(&self) {
        let mut state = self.feed.state.borrow_mut();
        if let Some(source) = state.sources.get_mut(self.number) {
            source.progress = Progress::Over;
        }
        wake(state.reader.take());
    }
}

fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}

impl HostObject for FeedEnd {
    fn type_name(&self) -> &'static str {
        "feed"
    }

    fn next(&self) -> Option<Next> {
        let end = Self { feed: self.feed.clone(), number: self.number };
        let wait = poll_fn(move |cx| {
            end.wanted(cx)
                .map(|wanted| Ok(if wanted { Value::pair(Value::Nil, Value::Bool(true)) } else { Value::Nil }))
        });
        Some(Next::Later(Wait::new(wait).on(On::Task("for the reader of its stream", None))))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

// Registers of a source's task: the source, its end of the feed, whether the source was asked.
const SOURCE: usize = 0;
const END: usize = 1;
const IS_ASKED: usize = 2;

/// Reads a source for a feed.
static READ: Builtin = Builtin {
    module: "<iter>",
    name: "read",
    sig: "read(source: any, end: any)",
    doc: "",
    caps: &[],
    pure: false,
    property: false,
    arity: arity("read(source: any, end: any)"),
    run: BuiltinRun::Native(&READER),
    lint: None,
    typed_by: &[],
};

static READER: Native = Native {
    enter: |_, regs| {
        regs[IS_ASKED] = Value::Bool(false);
        Ok(Step::Next { source: END })
    },
    item: |cx, regs, item| {
        let is_asked = regs[IS_ASKED].truthy();
        let Some(end) = regs[END].as_host::<FeedEnd>() else { return Ok(Step::Return(Value::Nil)) };
        match item {
            None if is_asked => {
                end.end();
                Ok(Step::Return(Value::Nil))
            }
            None => Ok(Step::Return(Value::Nil)),
            Some(item) if is_asked => {
                end.put(Arrival { item, at_ms: cx.isolate.host().now_ms() });
                regs[IS_ASKED] = Value::Bool(false);
                Ok(Step::Next { source: END })
            }
            Some(_) => {
                regs[IS_ASKED] = Value::Bool(true);
                Ok(Step::Next { source: SOURCE })
            }
        }
    },
    resume: |_, _, _| Ok(Step::Return(Value::Nil)),
    slots: 1,
};

/// A task that reads a source, and the place of the reader among those who wait for its end.
struct SourceTask {
    task: Rc<Task>,
    ticket: u64,
}

/// The reader of a feed. The tasks end when it is dropped.
pub(super) struct FeedReader {
    feed: Rc<Feed>,
    tasks: Vec<SourceTask>,
    isolate: Weak<Isolate>,
}

impl FeedReader {
    /// Starts a task for each of the sources, which are iterators.
    pub(super) fn start(cx: &Cx<'_>, sources: Vec<Value>) -> Result<Self, Box<Raise>> {
        let feed = Rc::<Feed>::default();
        let holder: Rc<dyn Holder> = feed.clone();
        cx.isolate.note_holder(&holder);
        // Dropped with what was started, if one cannot be.
        let mut reader = Self { feed: feed.clone(), tasks: Vec::new(), isolate: Rc::downgrade(cx.isolate) };
        for (number, source) in sources.into_iter().enumerate() {
            feed.state.borrow_mut().sources.push(FeedSource { progress: Progress::Idle, waker: None });
            let end = HostBox::value(FeedEnd { feed: feed.clone(), number });
            let task = spawn(cx, &Value::Builtin(&READ), &[source, end], None)?;
            reader.tasks.push(SourceTask { ticket: task.waiters.ticket(), task });
        }
        Ok(reader)
    }

    /// Returns the run, while there is one.
    pub(super) fn isolate(&self) -> Option<Rc<Isolate>> {
        self.isolate.upgrade()
    }

    /// Asks every source that has nothing on its way, and returns what arrived first; `None` when all of them are over. The error
    /// of a source ends the feed.
    pub(super) fn poll_next(&mut self, cx: &Context<'_>) -> Poll<Result<Option<Arrival>, Box<Raise>>> {
        let Some(isolate) = self.isolate() else { return Poll::Ready(Ok(None)) };
        let arrived = {
            let state = &mut *self.feed.state.borrow_mut();
            if state.is_closed {
                return Poll::Ready(Ok(None));
            }
            let arrived = state.arrived.pop_front();
            if let Some((number, _)) = &arrived
                && let Some(source) = state.sources.get_mut(*number)
                && source.progress == Progress::Busy
            {
                source.progress = Progress::Idle;
            }
            arrived
        };
        if let Some((_, arrival)) = arrived {
            return Poll::Ready(Ok(Some(arrival)));
        }
        let failed = self.tasks.iter().find_map(|source| source.task.result(&isolate)?.err());
        if let Some(raise) = failed {
            self.close();
            return Poll::Ready(Err(raise));
        }
        let state = &mut *self.feed.state.borrow_mut();
        if state.sources.iter().all(|source| source.progress == Progress::Over) {
            return Poll::Ready(Ok(None));
        }
        for source in state.sources.iter_mut().filter(|source| source.progress == Progress::Idle) {
            source.progress = Progress::Asked;
            wake(source.waker.take());
        }
        state.reader = Some(cx.waker().clone());
        for source in self.tasks.iter().filter(|source| !source.task.is_done()) {
            source.task.waiters.join(source.ticket, cx.waker());
        }
        Poll::Pending
    }

    /// Ends the tasks: those that wait to be asked at once, those that wait for their source by cancelling them.
    pub(super) fn close(&mut self) {
        let busy: Vec<bool> = {
            let state = &mut *self.feed.state.borrow_mut();
            state.is_closed = true;
            state.sources.iter_mut().for_each(|source| wake(source.waker.take()));
            state.sources.iter().map(|source| source.progress == Progress::Busy).collect()
        };
        self.feed.clear();
        let isolate = self.isolate();
        for (source, is_busy) in self.tasks.iter().zip(busy) {
            source.task.waiters.leave(source.ticket);
            if let Some(isolate) = isolate.as_ref().filter(|_| is_busy) {
                source.task.cancel(isolate, "its stream is not read any more");
            }
        }
    }
}

impl Drop for FeedReader {
    fn drop(&mut self) {
        self.close();
    }
}
