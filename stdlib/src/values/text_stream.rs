//! A model's answer, read piece by piece. The request starts with the first read, does not read
//! ahead, and is cancelled when the stream is dropped.

use crate::fault::AgentCode;
use lang::value::{HostBox, HostObject, Value};
use lang::vm::{Local, Next, Raise, Wait};
use runtime::model::Delta;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// The buffer of arriving pieces.
#[derive(Clone, Default)]
pub(crate) struct Pieces(Rc<Coming>);

#[derive(Default)]
struct Coming {
    waiting: RefCell<VecDeque<String>>,
    /// The reader has had some.
    read: Cell<bool>,
    /// The answer has begun anew after the reader had some of it.
    broken: Cell<bool>,
}

impl Pieces {
    /// Takes a piece of the answer in.
    pub(crate) fn take_in(&self, delta: Delta<'_>) {
        match delta {
            Delta::Text(text) if !text.is_empty() => self.0.waiting.borrow_mut().push_back(text.to_owned()),
            Delta::Restart { .. } if self.0.read.get() => self.0.broken.set(true),
            Delta::Restart { .. } => self.0.waiting.borrow_mut().clear(),
            _ => {}
        }
    }

    fn pop(&self) -> Option<String> {
        let piece = self.0.waiting.borrow_mut().pop_front()?;
        self.0.read.set(true);
        Some(piece)
    }
}

/// A request and what has come of its answer.
pub(super) struct TextSource {
    pieces: Pieces,
    /// The request, until it is over.
    request: Option<Local<Result<(), Box<Raise>>>>,
    /// The error, raised after the pieces that arrived before it.
    failed: Option<Box<Raise>>,
}

impl TextSource {
    /// One whose `request` writes arriving text to `pieces`.
    pub(super) fn new(pieces: Pieces, request: impl Future<Output = Result<(), Box<Raise>>> + 'static) -> Self {
        Self { pieces, request: Some(Box::pin(request)), failed: None }
    }

    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<String>, Box<Raise>>> {
        loop {
            if self.pieces.0.broken.get() {
                (self.request, self.failed) = (None, None);
                self.pieces.0.broken.set(false);
                self.pieces.0.waiting.borrow_mut().clear();
                return Poll::Ready(Err(broken()));
            }
            if let Some(piece) = self.pieces.pop() {
                return Poll::Ready(Ok(Some(piece)));
            }
            let Some(request) = &mut self.request else {
                return Poll::Ready(self.failed.take().map_or(Ok(None), Err));
            };
            match request.as_mut().poll(cx) {
                Poll::Ready(ended) => (self.request, self.failed) = (None, ended.err()),
                Poll::Pending if self.pieces.0.waiting.borrow().is_empty() && !self.pieces.0.broken.get() => {
                    return Poll::Pending;
                }
                Poll::Pending => {}
            }
        }
    }
}

/// Half an answer was read, and another one begins.
fn broken() -> Box<Raise> {
    Raise::error(AgentCode::Model, "the response ended after a part of it was read")
        .field("category", "connection")
        .help("discard what was read and call again, or use `llm_call`, which retries automatically")
}

/// The source, taken out during a wait.
type SharedTextSource = Rc<RefCell<Option<TextSource>>>;

/// A stream of pieces of text.
pub(crate) struct TextStream {
    source: SharedTextSource,
}

impl TextStream {
    /// Returns the stream as a value; `request` writes arriving text to `pieces`.
    pub(crate) fn value(pieces: Pieces, request: impl Future<Output = Result<(), Box<Raise>>> + 'static) -> Value {
        let source = TextSource::new(pieces, request);
        HostBox::value(Self { source: Rc::new(RefCell::new(Some(source))) })
    }

    fn wait(&self) -> Wait {
        let shared = self.source.clone();
        let mut taken: Option<TakenTextSource> = None;
        Wait::new(poll_fn(move |cx| {
            let taken = taken
                .get_or_insert_with(|| TakenTextSource { source: shared.borrow_mut().take(), shared: shared.clone() });
            let Some(source) = &mut taken.source else { return Poll::Ready(Err(taken_already())) };
            source.poll_next(cx).map(|next| {
                next.map(|piece| piece.map_or(Value::Nil, |piece| Value::pair(Value::from(piece), Value::Bool(true))))
            })
        }))
    }
}

fn taken_already() -> Box<Raise> {
    Raise::error(lang::vm::RunCode::Value, "another task already waits for this stream")
}

/// Puts the request back when the wait is over, also one that was given up.
struct TakenTextSource {
    shared: SharedTextSource,
    source: Option<TextSource>,
}

impl Drop for TakenTextSource {
    fn drop(&mut self) {
        if let Some(source) = self.source.take() {
            *self.shared.borrow_mut() = Some(source);
        }
    }
}

impl HostObject for TextStream {
    fn type_name(&self) -> &'static str {
        "stream"
    }

    fn next(&self) -> Option<Next> {
        let mut shared = self.source.borrow_mut();
        let Some(source) = &mut *shared else { return Some(Next::Ready(Err(taken_already()))) };
        if let Some(piece) = source.pieces.pop() {
            return Some(Next::Ready(Ok(Some(Value::from(piece)))));
        }
        // A look at what has come, so that `try_next` gets it. Sockets can be looked at only where a runtime is.
        if tokio::runtime::Handle::try_current().is_ok()
            && let Poll::Ready(next) = source.poll_next(&mut Context::from_waker(Waker::noop()))
        {
            return Some(Next::Ready(next.map(|piece| piece.map(Value::from))));
        }
        Some(Next::Later(self.wait()))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
