//! [`Mailbox`]: what waits for a session's worker. It holds at most one of each thing, so no peer can fill it.

mod state;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use runtime::reminder::Reminder;
use runtime::reminder::lifecycle::Selector;
use tokio::sync::{Notify, oneshot, watch};

use crate::store::SessionJournal;

use super::{Ended, HostError, Prompt};

pub(super) use state::Put;
use state::State;

/// A prompt, and where its end is told.
pub(super) struct Asked {
    pub(super) prompt: Prompt,
    pub(super) answer: oneshot::Sender<Ended>,
}

/// What a session is asked to do beside its work.
pub(super) enum Errand {
    /// Say what it hands to a child.
    HandOver(oneshot::Sender<Vec<Arc<Reminder>>>),
    /// Clear pending reminders, and say how many.
    Clear(Selector, oneshot::Sender<usize>),
}

/// The most requests to clear reminders that wait while a session is busy.
pub(crate) const CLEARS: usize = 64;
/// The most requests for inherited reminders that wait while a session is busy. More inherit nothing, as those do that wait in vain.
const SUCCESSORS: usize = 64;

pub(super) struct Mailbox {
    id: Arc<str>,
    /// Where the session is written down, if it is.
    book: OnceLock<Arc<SessionJournal>>,
    inside: Mutex<Inside>,
    changed: Notify,
    /// The session is over.
    over: watch::Sender<bool>,
}

#[derive(Default)]
struct Inside {
    state: State<Asked>,
    /// How a prompt ended that had asked something, and that nobody has answered.
    unheard: Option<Ended>,
    /// Requests for what a child inherits.
    successors: Vec<oneshot::Sender<Vec<Arc<Reminder>>>>,
    /// Reminders that are to be cleared, and where their number is told.
    clears: VecDeque<(Selector, oneshot::Sender<usize>)>,
}

impl Inside {
    fn may_clear(&self, id: &Arc<str>) -> Result<(), HostError> {
        match self.state.gone() {
            Some(gone) => Err(gone),
            None if self.clears.len() >= CLEARS => Err(HostError::Busy(id.clone())),
            None => Ok(()),
        }
    }
}

impl Mailbox {
    pub(super) fn new(id: Arc<str>) -> Arc<Mailbox> {
        let (book, inside, changed, over) = Default::default();
        Arc::new(Mailbox { id, book, inside, changed, over })
    }

    pub(super) fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// Where the session is written down; nothing where it is not, or is only being opened.
    pub(super) fn book(&self) -> Option<&Arc<SessionJournal>> {
        self.book.get()
    }

    /// The session is written down there.
    pub(super) fn set_book(&self, book: &Arc<SessionJournal>) {
        let _ = self.book.set(book.clone());
    }

    /// Nothing panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state. All who wait look again after every change, so none can miss what it waits for.
    fn change<T>(&self, change: impl FnOnce(&mut State<Asked>) -> T) -> T {
        let changed = change(&mut self.lock().state);
        self.changed.notify_waiters();
        changed
    }

    /// Waits for what `look` finds, which changes nothing where it finds nothing.
    async fn wait<T>(&self, mut look: impl FnMut(&mut State<Asked>) -> Option<T>) -> T {
        self.look(|inside| look(&mut inside.state)).await
    }

    async fn look<T>(&self, mut look: impl FnMut(&mut Inside) -> Option<T>) -> T {
        loop {
            let changed = self.changed.notified();
            let found = look(&mut self.lock());
            if let Some(found) = found {
                self.changed.notify_waiters();
                return found;
            }
            changed.await;
        }
    }
}

/// For those who talk to the session.
impl Mailbox {
    /// Puts a prompt in; where its end will be told.
    pub(super) fn ask(&self, prompt: Prompt) -> Result<oneshot::Receiver<Ended>, HostError> {
        let (answer, end) = oneshot::channel();
        self.change(|state| state.put(&self.id, Asked { prompt, answer }))?;
        Ok(end)
    }

    /// Puts in what is an answer and nothing else; where its end will be told.
    pub(super) fn reply(&self, prompt: Prompt) -> Result<oneshot::Receiver<Ended>, HostError> {
        let (answer, end) = oneshot::channel();
        self.change(|state| state.reply(&self.id, Asked { prompt, answer }))?;
        Ok(end)
    }

    /// Ready once a prompt has ended whose question nobody has answered, or the session.
    pub(super) async fn unheard(&self) -> Result<Ended, HostError> {
        self.look(|inside| inside.unheard.take().map(Ok).or_else(|| inside.state.gone().map(Err))).await
    }

    /// Returns what a child inherits now; empty if the session is over, or too many ask.
    pub(super) async fn hand_over(&self) -> Vec<Arc<Reminder>> {
        let (successor, handed) = oneshot::channel();
        {
            let mut inside = self.lock();
            if inside.state.gone().is_some() {
                return Vec::new();
            }
            // While the worker is busy, requests are not removed when their senders go away.
            inside.successors.retain(|successor| !successor.is_closed());
            if inside.successors.len() >= SUCCESSORS {
                return Vec::new();
            }
            inside.successors.push(successor);
        }
        self.change(|_| ());
        handed.await.unwrap_or_default()
    }

    /// Whether the session can be asked to clear reminders.
    pub(super) fn may_clear(&self) -> Result<(), HostError> {
        self.lock().may_clear(&self.id)
    }

    /// Asks the session to clear pending reminders. It does so also if nobody waits for the number.
    pub(super) fn clear(&self, selector: Selector) -> Result<oneshot::Receiver<usize>, HostError> {
        let (number, cleared) = oneshot::channel();
        {
            let mut inside = self.lock();
            inside.may_clear(&self.id)?;
            inside.clears.push_back((selector, number));
        }
        self.change(|_| ());
        Ok(cleared)
    }

    /// Stops the prompt at hand, or the question that waits for one; false where there is neither.
    pub(super) fn cancel(&self, reason: Arc<str>) -> bool {
        self.change(|state| state.cancel(reason))
    }

    /// Ends the session; what it is at is cancelled.
    pub(super) fn close(&self) {
        self.change(State::close);
    }

    pub(super) fn is_busy(&self) -> bool {
        self.lock().state.is_busy()
    }

    /// Ready once the session is at nothing, or over.
    pub(super) async fn idle(&self) {
        self.wait(|state| state.is_idle().then_some(())).await;
    }

    /// Why nothing of the session is left to answer.
    pub(super) fn gone(&self) -> Option<HostError> {
        self.lock().state.gone()
    }

    /// Ready once the session is over: why nothing of it is left to answer.
    pub(super) async fn is_over(&self) -> HostError {
        // The sender is here, so it cannot fail.
        let _ = self.over.subscribe().wait_for(|over| *over).await;
        self.gone().unwrap_or_else(|| HostError::Closed(self.id.clone()))
    }
}

/// For its worker.
impl Mailbox {
    /// The next prompt; nothing where the session is to end.
    pub(super) async fn next(&self) -> Option<Asked> {
        let next = self.wait(State::take).await;
        self.lock().unheard = None;
        next
    }

    /// Ready once what the worker is at is to stop: why.
    pub(super) async fn stopped(&self) -> Arc<str> {
        self.wait(State::hear).await
    }

    /// What would become of a question now.
    pub(super) fn fate(&self) -> Put {
        self.lock().state.fate()
    }

    /// The prompt at hand is over with a question, unless it is to stop.
    pub(super) fn asked(&self) -> Put {
        self.change(State::asked)
    }

    /// The prompt that answers the question; nothing where none will.
    pub(super) async fn answer(&self) -> Option<Asked> {
        self.wait(State::answer).await
    }

    /// What ran is over, and the next prompt may come. An answer that comes too late is given back.
    pub(super) fn ended(&self) -> Option<Asked> {
        self.change(State::ended)
    }

    /// It is over with a question that nobody has answered.
    pub(super) fn ended_unheard(&self, ended: Ended) {
        self.lock().unheard = Some(ended);
        self.change(|_| ());
    }

    /// What it is asked to do beside its work; nothing once it is over.
    pub(super) async fn errand(&self) -> Option<Errand> {
        self.look(|inside| {
            let clear = inside.clears.pop_front().map(|(selector, number)| Errand::Clear(selector, number));
            match clear.or_else(|| inside.successors.pop().map(Errand::HandOver)) {
                Some(errand) => Some(Some(errand)),
                None => inside.state.gone().map(|_| None),
            }
        })
        .await
    }

    /// The session is over. Who waits for a prompt of it is told by that.
    pub(super) fn over(&self, why: HostError) {
        {
            let mut inside = self.lock();
            inside.successors.clear();
            inside.clears.clear();
        }
        drop(self.change(|state| state.over(why)));
        self.over.send_replace(true);
    }
}
