//! [`Mailbox`]: what waits for a session's worker. It holds at most one of each thing, so no peer can fill it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, oneshot, watch};

use super::{Ended, HostError, Prompt};

/// A prompt, and where its end is told.
pub(super) struct Asked {
    pub(super) prompt: Prompt,
    pub(super) answer: oneshot::Sender<Ended>,
}

/// What the worker finds.
pub(super) enum News {
    /// What it asked is not answered any more: why.
    Cancel(Arc<str>),
    /// A prompt.
    Prompt(Asked),
    /// The session is to end, and with it a prompt that nobody has begun.
    Close(Option<Asked>),
}

pub(super) struct Mailbox {
    id: Arc<str>,
    state: Mutex<State>,
    /// The worker looks.
    news: Notify,
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
}

impl Mailbox {
    pub(super) fn new(id: Arc<str>) -> Arc<Mailbox> {
        let (news, over) = (Notify::new(), watch::Sender::new(false));
        Arc::new(Mailbox { id, state: Mutex::default(), news, over })
    }

    pub(super) fn id(&self) -> &Arc<str> {
        &self.id
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
        self.news.notify_one();
        Ok(end)
    }

    /// Stops the prompt at hand, or the question that waits for one; false where there is neither.
    pub(super) fn cancel(&self, reason: Arc<str>) -> bool {
        let mut state = self.lock();
        if !state.busy && !state.asking {
            return false;
        }
        state.cancel.get_or_insert(reason);
        self.news.notify_one();
        true
    }

    /// Ends the session; what it is at is cancelled.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closing = true;
        self.news.notify_one();
    }

    pub(super) fn is_busy(&self) -> bool {
        self.lock().busy
    }

    /// Why nothing of it is left to answer.
    pub(super) fn gone(&self) -> Option<HostError> {
        self.lock().gone.clone()
    }

    /// The next thing for a worker that is at nothing.
    pub(super) async fn next(&self) -> News {
        loop {
            {
                let mut state = self.lock();
                if state.closing {
                    return News::Close(state.prompt.take());
                }
                // Before its cancellation, which it finds once it has begun.
                if let Some(asked) = state.prompt.take() {
                    return News::Prompt(asked);
                }
                if let Some(reason) = state.cancel.take() {
                    return News::Cancel(reason);
                }
            }
            self.news.notified().await;
        }
    }

    /// Ready once what the worker is at is to stop: why.
    pub(super) async fn stopped(&self) -> Arc<str> {
        loop {
            {
                let mut state = self.lock();
                if state.closing {
                    return "the session was closed".into();
                }
                if let Some(reason) = state.cancel.take() {
                    return reason;
                }
            }
            self.news.notified().await;
        }
    }

    /// The prompt at hand is over, and the next one may come. A cancellation that came too late for it is forgotten.
    pub(super) fn ended(&self) {
        let mut state = self.lock();
        (state.busy, state.cancel) = (false, None);
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

    /// Ready once the session is over.
    pub(super) async fn is_over(&self) {
        // The sender is here, so it cannot fail.
        let _ = self.over.subscribe().wait_for(|over| *over).await;
    }
}
