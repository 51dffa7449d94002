//! [`Mailbox`]: pending requests to a session's worker. Each kind is limited, so that no peer can fill it.

mod state;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use runtime::lifecycle::Selector;
use runtime::reminder::Reminder;
use tokio::sync::{Notify, OnceCell, oneshot, watch};

use crate::store::SessionJournal;

use super::{EndedPrompt, HostError, Prompt};

use state::MailboxState;
pub(super) use state::QuestionFate;

/// A prompt, and the channel for its end.
pub(super) struct PendingPrompt {
    pub(super) prompt: Prompt,
    pub(super) answer: oneshot::Sender<EndedPrompt>,
}

/// A request to a session beside its prompts.
pub(super) enum SideRequest {
    /// Return the reminders that a child inherits.
    HandOver(oneshot::Sender<Vec<Arc<Reminder>>>),
    /// Clear pending reminders, and return their number.
    Clear(Selector, oneshot::Sender<usize>),
}

/// The maximum number of clear requests that are pending while a session is busy.
pub(crate) const CLEARS: usize = 64;
/// The maximum number of pending requests for inherited reminders while a session is busy. Further requests inherit
/// nothing, like those that time out.
const SUCCESSORS: usize = 64;

pub(super) struct Mailbox {
    id: Arc<str>,
    /// The session's journal, if it is stored.
    journal: OnceLock<Arc<SessionJournal>>,
    inside: Mutex<MailboxContents>,
    changed: Notify,
    /// Whether background tasks of the script run beside its prompts.
    works_beside: AtomicBool,
    /// Whether the session is over.
    over: watch::Sender<bool>,
    /// Set once the session is released, so that it is released once.
    released: OnceCell<()>,
}

/// The number of the last use of any session.
static LAST_USE: AtomicU64 = AtomicU64::new(0);

/// Returns the number of a new use.
fn next_use() -> u64 {
    LAST_USE.fetch_add(1, Ordering::Relaxed)
}

#[derive(Default)]
struct MailboxContents {
    state: MailboxState<PendingPrompt>,
    /// The number of the last use of the session.
    used: u64,
    /// The end of a prompt whose question got no answer.
    unheard: Option<EndedPrompt>,
    /// Pending requests for inherited reminders.
    successors: Vec<oneshot::Sender<Vec<Arc<Reminder>>>>,
    /// Pending clear requests, each with the channel for the number.
    clears: VecDeque<(Selector, oneshot::Sender<usize>)>,
}

impl MailboxContents {
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
        let inside = Mutex::new(MailboxContents { used: next_use(), ..MailboxContents::default() });
        let (journal, changed, works_beside, over, released) = Default::default();
        Arc::new(Mailbox { id, journal, inside, changed, works_beside, over, released })
    }

    pub(super) fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// Returns the session's journal; `None` if it is not stored, or is still opening.
    pub(super) fn journal(&self) -> Option<&Arc<SessionJournal>> {
        self.journal.get()
    }

    /// Sets the session's journal.
    pub(super) fn set_journal(&self, journal: &Arc<SessionJournal>) {
        let _ = self.journal.set(journal.clone());
    }

    /// Locks the state. Code that holds this lock does not panic.
    fn lock(&self) -> MutexGuard<'_, MailboxContents> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and wakes all waiting tasks to check it, so that none can miss a change.
    fn change<T>(&self, change: impl FnOnce(&mut MailboxState<PendingPrompt>) -> T) -> T {
        let changed = {
            let mut inside = self.lock();
            inside.used = next_use();
            change(&mut inside.state)
        };
        self.changed.notify_waiters();
        changed
    }

    /// Waits until `look` returns a value. `look` must not change the state if it returns `None`.
    async fn wait<T>(&self, mut look: impl FnMut(&mut MailboxState<PendingPrompt>) -> Option<T>) -> T {
        self.look(|inside| look(&mut inside.state)).await
    }

    async fn look<T>(&self, mut look: impl FnMut(&mut MailboxContents) -> Option<T>) -> T {
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

/// Methods for clients of the session.
impl Mailbox {
    /// Adds a prompt. Returns the receiver for its end.
    pub(super) fn ask(&self, prompt: Prompt) -> Result<oneshot::Receiver<EndedPrompt>, HostError> {
        let (answer, end) = oneshot::channel();
        self.change(|state| state.put(&self.id, PendingPrompt { prompt, answer }))?;
        Ok(end)
    }

    /// Adds an answer, which never begins a new prompt. Returns the receiver for its end.
    pub(super) fn reply(&self, prompt: Prompt) -> Result<oneshot::Receiver<EndedPrompt>, HostError> {
        let (answer, end) = oneshot::channel();
        self.change(|state| state.reply(&self.id, PendingPrompt { prompt, answer }))?;
        Ok(end)
    }

    /// Waits until a prompt ends whose question got no answer, or until the session ends.
    pub(super) async fn unheard(&self) -> Result<EndedPrompt, HostError> {
        self.look(|inside| inside.unheard.take().map(Ok).or_else(|| inside.state.gone().map(Err))).await
    }

    /// Returns the reminders that a child inherits now; empty if the session is over, or too many requests are
    /// pending.
    pub(super) async fn hand_over(&self) -> Vec<Arc<Reminder>> {
        let (successor, handed) = oneshot::channel();
        {
            let mut inside = self.lock();
            if inside.state.gone().is_some() {
                return Vec::new();
            }
            // While the worker is busy, it does not remove requests whose senders are gone.
            inside.successors.retain(|successor| !successor.is_closed());
            if inside.successors.len() >= SUCCESSORS {
                return Vec::new();
            }
            inside.successors.push(successor);
        }
        self.change(|_| ());
        handed.await.unwrap_or_default()
    }

    /// Checks whether the session accepts a clear request.
    pub(super) fn may_clear(&self) -> Result<(), HostError> {
        self.lock().may_clear(&self.id)
    }

    /// Requests that pending reminders be cleared. This happens also if the receiver is dropped.
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

    /// Cancels the current prompt, or the question that waits for an answer; returns false if there is neither.
    pub(super) fn cancel(&self, reason: Arc<str>) -> bool {
        self.change(|state| state.cancel(reason))
    }

    /// Ends the session, and cancels its work.
    pub(super) fn close(&self) {
        self.change(MailboxState::close);
    }

    pub(super) fn is_busy(&self) -> bool {
        self.lock().state.is_busy()
    }

    /// Waits until the session has no current prompt, or is over.
    pub(super) async fn turn_over(&self) {
        self.wait(|state| (!state.is_busy() || state.gone().is_some()).then_some(())).await;
    }

    /// Counts a use. Returns false if the session is about to end.
    pub(super) fn keep_awake(&self) -> bool {
        let mut inside = self.lock();
        inside.used = next_use();
        !inside.state.is_closing()
    }

    /// Returns the number of the last use if the session has no work: no prompt, question, clean-up, or background task
    /// of the script.
    pub(super) fn unused_since(&self) -> Option<u64> {
        self.unused(&self.lock())
    }

    fn unused(&self, inside: &MailboxContents) -> Option<u64> {
        let has_work =
            !inside.state.is_idle() || inside.state.is_closing() || self.works_beside.load(Ordering::Relaxed);
        (!has_work).then_some(inside.used)
    }

    /// Ends the session if it has no work and was not used since the use with this number. Returns whether it ends.
    pub(super) fn close_unused(&self, used: u64) -> bool {
        {
            let mut inside = self.lock();
            if self.unused(&inside) != Some(used) {
                return false;
            }
            inside.state.close();
        }
        self.changed.notify_waiters();
        true
    }

    /// Releases the session, which is over, unless this was done.
    pub(super) async fn release(&self, release: impl Future<Output = ()>) {
        self.released.get_or_init(|| release).await;
    }

    /// Waits until the session is idle or over.
    pub(super) async fn idle(&self) {
        self.wait(|state| state.is_idle().then_some(())).await;
    }

    /// Returns why the session no longer responds, if so.
    pub(super) fn gone(&self) -> Option<HostError> {
        self.lock().state.gone()
    }

    /// Waits until the session is over, and returns why it no longer responds.
    pub(super) async fn is_over(&self) -> HostError {
        // The sender is in `self`, so this cannot fail.
        let _ = self.over.subscribe().wait_for(|over| *over).await;
        self.gone().unwrap_or_else(|| HostError::Closed(self.id.clone()))
    }
}

/// Methods for the worker of the session.
impl Mailbox {
    /// Records whether background tasks of the script run beside its prompts.
    pub(super) fn works_beside(&self, works: bool) {
        self.works_beside.store(works, Ordering::Relaxed);
    }

    /// Waits for the next prompt; `None` if the session must end.
    pub(super) async fn next(&self) -> Option<PendingPrompt> {
        let next = self.wait(MailboxState::take).await;
        self.lock().unheard = None;
        next
    }

    /// Waits until the current work must stop, and returns the reason.
    pub(super) async fn stopped(&self) -> Arc<str> {
        self.wait(MailboxState::hear).await
    }

    /// Returns the fate of a question asked now.
    pub(super) fn fate(&self) -> QuestionFate {
        self.lock().state.fate()
    }

    /// Ends the current prompt with a question, unless it must stop.
    pub(super) fn asked(&self) -> QuestionFate {
        self.change(MailboxState::asked)
    }

    /// Waits for the prompt that answers the question; `None` if none will.
    pub(super) async fn answer(&self) -> Option<PendingPrompt> {
        self.wait(MailboxState::answer).await
    }

    /// Ends the current run, so that the next prompt may come. Returns an answer that came too late.
    pub(super) fn ended(&self) -> Option<PendingPrompt> {
        self.change(MailboxState::ended)
    }

    /// Records the end of a prompt whose question got no answer.
    pub(super) fn ended_unheard(&self, ended: EndedPrompt) {
        self.lock().unheard = Some(ended);
        self.change(|_| ());
    }

    /// Waits for the next request beside prompts; `None` once the session is over.
    pub(super) async fn errand(&self) -> Option<SideRequest> {
        self.look(|inside| {
            let clear = inside.clears.pop_front().map(|(selector, number)| SideRequest::Clear(selector, number));
            match clear.or_else(|| inside.successors.pop().map(SideRequest::HandOver)) {
                Some(errand) => Some(Some(errand)),
                None => inside.state.gone().map(|_| None),
            }
        })
        .await
    }

    /// Ends the session. Waiting clients of a prompt get `why`.
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
