//! [`Mailbox`]: what waits for a session's worker. It holds at most one of each thing, so no peer can fill it.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Poll, Waker};

use tokio::sync::{oneshot, watch};

use crate::store::Book;

use super::{Ended, HostError, Prompt};

/// A prompt, and where its end is told.
pub(super) struct Asked {
    pub(super) prompt: Prompt,
    pub(super) answer: oneshot::Sender<Ended>,
}

pub(super) struct Mailbox {
    id: Arc<str>,
    /// Where the session is written down, if it is.
    book: OnceLock<Arc<Book>>,
    state: Mutex<State>,
    /// The session is over.
    over: watch::Sender<bool>,
}

#[derive(Default)]
struct State {
    /// A prompt was taken and is not over.
    busy: bool,
    prompt: Option<Asked>,
    cancel: Option<Arc<str>>,
    /// It asked something and waits for the next prompt.
    asking: bool,
    closing: bool,
    /// Nothing of it is left to answer: why.
    gone: Option<HostError>,
    /// Those of the worker who wait for something new.
    waiting: Vec<Waker>,
}

impl State {
    fn wake(&mut self) {
        self.waiting.drain(..).for_each(Waker::wake);
    }
}

impl Mailbox {
    pub(super) fn new(id: Arc<str>) -> Arc<Mailbox> {
        Arc::new(Mailbox { id, book: OnceLock::new(), state: Mutex::default(), over: watch::Sender::new(false) })
    }

    pub(super) fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// Where the session is written down; nothing where it is not, or is only being opened.
    pub(super) fn book(&self) -> Option<&Arc<Book>> {
        self.book.get()
    }

    /// The session is written down there.
    pub(super) fn set_book(&self, book: &Arc<Book>) {
        let _ = self.book.set(book.clone());
    }

    /// Nothing panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a prompt in; where its end will be told.
    pub(super) fn ask(&self, prompt: Prompt) -> Result<oneshot::Receiver<Ended>, HostError> {
        let mut state = self.lock();
        if let Some(gone) = &state.gone {
            return Err(gone.clone());
        }
        if state.closing {
            return Err(HostError::Closed(self.id.clone()));
        }
        if std::mem::replace(&mut state.busy, true) {
            return Err(HostError::Busy(self.id.clone()));
        }
        let (answer, end) = oneshot::channel();
        state.prompt = Some(Asked { prompt, answer });
        state.wake();
        Ok(end)
    }

    /// Stops the prompt at hand, or the question that waits for one; false where there is neither.
    pub(super) fn cancel(&self, reason: Arc<str>) -> bool {
        let mut state = self.lock();
        if !state.busy && !state.asking {
            return false;
        }
        state.cancel.get_or_insert(reason);
        state.wake();
        true
    }

    /// Ends the session; what it is at is cancelled.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closing = true;
        state.wake();
    }

    #[cfg(test)]
    pub(super) fn is_asking(&self) -> bool {
        self.lock().asking
    }

    pub(super) fn is_busy(&self) -> bool {
        self.lock().busy
    }

    /// Waits for what `look` finds.
    async fn wait<T>(&self, mut look: impl FnMut(&mut State) -> Option<T>) -> T {
        poll_fn(|cx| {
            let mut state = self.lock();
            if let Some(found) = look(&mut state) {
                return Poll::Ready(found);
            }
            if !state.waiting.iter().any(|known| known.will_wake(cx.waker())) {
                state.waiting.push(cx.waker().clone());
            }
            Poll::Pending
        })
        .await
    }

    /// The next prompt; nothing where the session is to end.
    pub(super) async fn next(&self) -> Option<Asked> {
        self.wait(|state| match state.prompt.take() {
            Some(asked) => Some(Some(asked)),
            None => state.closing.then_some(None),
        })
        .await
    }

    /// Ready once what the worker is at is to stop: why.
    pub(super) async fn stopped(&self) -> Arc<str> {
        self.wait(|state| match state.cancel.take() {
            Some(reason) => Some(reason),
            None => state.closing.then(|| "the session was closed".into()),
        })
        .await
    }

    /// The prompt at hand is over, and the next one may come. A cancellation that came too late for it is forgotten, unless
    /// it is of one that has come already.
    pub(super) fn ended(&self) {
        let mut state = self.lock();
        state.busy = state.prompt.is_some();
        if !state.busy {
            state.cancel = None;
        }
    }

    /// It waits for a prompt that answers it, or does so no more.
    pub(super) fn asking(&self, asking: bool) {
        self.lock().asking = asking;
    }

    /// The session is over. Who waits for a prompt of it is told by that.
    pub(super) fn over(&self, why: HostError) {
        let mut state = self.lock();
        state.gone.get_or_insert(why);
        state.prompt = None;
        drop(state);
        self.over.send_replace(true);
    }

    /// Why nothing of the session is left to answer.
    pub(super) fn gone(&self) -> Option<HostError> {
        self.lock().gone.clone()
    }

    /// Ready once the session is over: why nothing of it is left to answer.
    pub(super) async fn is_over(&self) -> HostError {
        // The sender is here, so it cannot fail.
        let _ = self.over.subscribe().wait_for(|over| *over).await;
        self.lock().gone.clone().unwrap_or_else(|| HostError::Closed(self.id.clone()))
    }
}
