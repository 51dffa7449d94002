//! Streaming of an answer: each piece is shown to observers and sent to the handlers of `model_delta`, in order, while
//! the request is in flight.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use base::call::{Answer, LocalFuture, Outcome, call_error};

use crate::events::EventKind;
use crate::hooks::HookEvent;
use crate::model::{Delta, OwnedDelta};
use crate::stop::{GRACE_MS, until_stopped};

use super::RunningLoop;

/// Maximum number of pieces that wait for handlers; at this limit the model waits for them.
const MOST: usize = 64;

/// The pieces of one answer.
pub(super) struct Deltas {
    /// The pieces that no handler has received yet. Stays empty if there is no handler.
    waiting: RefCell<VecDeque<OwnedDelta>>,
    /// Whether handlers receive them.
    told: bool,
    /// The text so far, if the answer is streamed.
    text: Option<RefCell<String>>,
    over: Cell<bool>,
}

impl Deltas {
    /// Creates the state for an answer that is streamed or not.
    pub(super) fn new(told: bool, streamed: bool) -> Deltas {
        Deltas { waiting: RefCell::default(), told, text: streamed.then(RefCell::default), over: Cell::new(false) }
    }

    /// Returns whether handlers receive the pieces.
    pub(super) fn told(&self) -> bool {
        self.told
    }

    /// Returns the text so far.
    pub(super) fn text(&self) -> Option<String> {
        self.text.as_ref().map(RefCell::take).filter(|text| !text.is_empty())
    }

    /// Adds a piece.
    pub(super) fn take_in(&self, delta: Delta<'_>) {
        if let Some(text) = &self.text {
            match delta {
                Delta::Text(piece) => text.borrow_mut().push_str(piece),
                Delta::Restart { .. } => text.borrow_mut().clear(),
                _ => {}
            }
        }
        if self.told {
            self.waiting.borrow_mut().push_back(OwnedDelta::of(delta));
        }
    }

    fn is_full(&self) -> bool {
        self.waiting.borrow().len() >= MOST
    }

    /// Marks the answer as ended. The remaining pieces are still delivered unless the loop was stopped.
    fn end(&self, stopped: bool) {
        self.over.set(true);
        if stopped {
            self.waiting.borrow_mut().clear();
        }
    }

    /// Returns the next piece for handlers, or `None` once all were delivered. The task that adds a piece polls this
    /// next.
    async fn next(&self) -> Option<OwnedDelta> {
        poll_fn(|_| match self.waiting.borrow_mut().pop_front() {
            Some(piece) => Poll::Ready(Some(piece)),
            None if self.over.get() => Poll::Ready(None),
            None => Poll::Pending,
        })
        .await
    }
}

impl RunningLoop<'_> {
    /// Returns whether a handler or a provider subscribes to pieces.
    pub(super) fn tells_deltas(&self) -> bool {
        let hooks = self.parts.hooks.session();
        hooks.iter().any(|hook| hook.event == EventKind::ModelDelta)
            || self.providers.iter().any(|provider| provider.subscribes_to().contains(EventKind::ModelDelta))
    }

    /// Waits for an answer whose pieces go to `deltas`, and notifies handlers of each. A slow handler holds the model
    /// up.
    ///
    /// The waiting future is boxed: loops nest, and it must not enlarge the stack of loops without such handlers.
    pub(super) fn let_come<'a, T: 'a>(
        &'a self,
        iteration: u32,
        deltas: &'a Deltas,
        call: Answer<'a, Outcome<T>>,
    ) -> LocalFuture<'a, Outcome<T>> {
        let grace_ms = self.parts.model.grace_ms();
        Box::pin(async move {
            let call = async {
                until_stopped(&self.scope, grace_ms, call.get()).await.map_err(call_error).and_then(|outcome| outcome)
            };
            let told = until_stopped(&self.scope, GRACE_MS, self.tell_while(iteration, deltas, call)).await;
            told.map_err(call_error).and_then(|outcome| outcome)
        })
    }

    async fn tell_while<T>(
        &self,
        iteration: u32,
        deltas: &Deltas,
        call: impl Future<Output = Outcome<T>>,
    ) -> Outcome<T> {
        let mut call = pin!(call);
        let mut telling = pin!(async {
            while let Some(piece) = deltas.next().await {
                self.emit(&HookEvent::ModelDelta { iteration, delta: piece.as_delta() }).await?;
            }
            Ok(())
        });
        let mut answered = None;
        poll_fn(|cx| {
            loop {
                if answered.is_none()
                    && !deltas.is_full()
                    && let Poll::Ready(answer) = call.as_mut().poll(cx)
                {
                    deltas.end(self.scope.check().is_err());
                    answered = Some(answer);
                }
                let was_full = deltas.is_full();
                match telling.as_mut().poll(cx) {
                    Poll::Ready(Err(thrown)) => return Poll::Ready(Err(thrown)),
                    Poll::Ready(Ok(())) => {
                        // Ends only when no more pieces come.
                        return answered.take().map_or(Poll::Pending, Poll::Ready);
                    }
                    Poll::Pending => {}
                }
                // Room was made, so the model may go on.
                if answered.is_some() || !was_full || deltas.is_full() {
                    return Poll::Pending;
                }
            }
        })
        .await
    }
}
