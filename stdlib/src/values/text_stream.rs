//! A model's answer, read piece by piece. The request starts with the first read, does not read
//! ahead, and is cancelled when the stream is dropped.

use crate::codes::AgentCode;
use lang::value::{HostBox, HostObject, Value};
use lang::vm::{Local, Next, Raise, StreamSource};
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

/// A stream of pieces of text.
pub(crate) struct TextStream {
    source: StreamSource<TextSource>,
}

impl TextStream {
    /// Returns the stream as a value; `request` writes arriving text to `pieces`.
    pub(crate) fn value(pieces: Pieces, request: impl Future<Output = Result<(), Box<Raise>>> + 'static) -> Value {
        HostBox::value(Self { source: StreamSource::new(TextSource::new(pieces, request)) })
    }
}

impl TextSource {
    /// Looks for what has come; nothing if that is not known without a wait.
    fn look(&mut self) -> Option<Result<Option<String>, Box<Raise>>> {
        if let Some(piece) = self.pieces.pop() {
            return Some(Ok(Some(piece)));
        }
        // Sockets can be looked at only where a runtime is.
        tokio::runtime::Handle::try_current().ok()?;
        match self.poll_next(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(next) => Some(next),
            Poll::Pending => None,
        }
    }
}

impl HostObject for TextStream {
    fn type_name(&self) -> &'static str {
        "stream"
    }

    fn next(&self) -> Option<Next> {
        let shown = |piece: Option<String>| piece.map(Value::from);
        // So that `try_next` gets it.
        Some(match self.source.look(TextSource::look) {
            Err(taken) => Next::Ready(Err(taken)),
            Ok(Some(next)) => Next::Ready(next.map(shown)),
            Ok(None) => {
                Next::Later(self.source.wait(async move |source| poll_fn(|cx| source.poll_next(cx)).await.map(shown)))
            }
        })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
