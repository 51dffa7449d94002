//! [`SessionHandle`]: a session, for other threads.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use base::data::Data;
use runtime::lifecycle::Selector;
use runtime::reminder::Reminder;
use runtime::session::Inbox;
use tokio::sync::oneshot;

use crate::store::SessionJournal;

use super::mailbox::Mailbox;
use super::{EndedPrompt, HostError, NewSession, Prompt};

/// A session. Clones refer to the same session; a handle that outlives it refuses requests.
#[derive(Clone)]
pub struct SessionHandle(Arc<SessionHandleState>);

struct SessionHandleState {
    opened: NewSession,
    mode: Arc<Mutex<Arc<str>>>,
    inbox: Inbox,
    mailbox: Arc<Mailbox>,
}

impl SessionHandle {
    pub(super) fn new(
        opened: NewSession,
        mode: Arc<Mutex<Arc<str>>>,
        inbox: Inbox,
        mailbox: Arc<Mailbox>,
    ) -> SessionHandle {
        SessionHandle(Arc::new(SessionHandleState { opened, mode, inbox, mailbox }))
    }

    /// Returns the session's id.
    #[must_use]
    pub fn id(&self) -> &Arc<str> {
        self.0.mailbox.id()
    }

    /// Returns the working directory.
    #[must_use]
    pub fn cwd(&self) -> Option<&Path> {
        self.0.opened.cwd.as_deref()
    }

    /// Returns the protocol's metadata from the opening of the session.
    #[must_use]
    pub fn metadata(&self) -> &Data {
        &self.0.opened.metadata
    }

    /// Returns the inbox that accepts reminders and messages. They reach the current conversation at the next seam of
    /// a loop, but are accepted without one.
    ///
    /// # Errors
    /// The session was closed or broke.
    pub fn inbox(&self) -> Result<&Inbox, HostError> {
        self.0.mailbox.gone().map_or(Ok(&self.0.inbox), Err)
    }

    /// Returns the session's mode.
    #[must_use]
    pub fn mode(&self) -> Arc<str> {
        self.0.mode.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets the mode, also for the current prompt. Sends no event.
    pub fn set_mode(&self, mode: impl Into<Arc<str>>) {
        let mode = mode.into();
        if let Some(journal) = self.0.mailbox.journal() {
            journal.mode(&mode);
        }
        *self.0.mode.lock().unwrap_or_else(PoisonError::into_inner) = mode;
    }

    pub(super) fn mailbox(&self) -> &Arc<Mailbox> {
        &self.0.mailbox
    }

    pub(super) fn journal(&self) -> Option<Arc<SessionJournal>> {
        self.0.mailbox.journal().cloned()
    }

    /// Returns whether the session is busy with a prompt.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.0.mailbox.is_busy()
    }

    /// Waits until the session is not busy with a prompt, or is over.
    pub(crate) async fn turn_over(&self) {
        self.0.mailbox.turn_over().await;
    }

    /// Counts a use of the session, so that it is not closed as idle now. Returns false if it is about to end.
    pub(crate) fn keep_awake(&self) -> bool {
        self.0.mailbox.keep_awake()
    }

    /// Runs the script's pipeline, and waits for its end. Dropping the future does not stop it; use
    /// [`SessionHandle::cancel`].
    ///
    /// # Errors
    /// The session is busy with another prompt, was closed, or broke.
    pub async fn prompt(&self, prompt: Prompt) -> Result<EndedPrompt, HostError> {
        let end = self.0.mailbox.ask(prompt)?;
        match end.await {
            Ok(ended) => Ok(ended),
            Err(_) => Err(self.0.mailbox.is_over().await),
        }
    }

    /// Answers the session's question, and waits for the end of that prompt. Unlike [`SessionHandle::prompt`], this
    /// never begins a new prompt.
    ///
    /// # Errors
    /// The session asks nothing, was closed, or broke.
    pub async fn answer(&self, prompt: Prompt) -> Result<EndedPrompt, HostError> {
        let end = self.0.mailbox.reply(prompt)?;
        match end.await {
            Ok(ended) => Ok(ended),
            Err(_) => Err(self.0.mailbox.is_over().await),
        }
    }

    /// Declines to answer the session's question, and waits for the end of that prompt: `task.ask` returns nil.
    ///
    /// # Errors
    /// The session asks nothing, was closed, or broke.
    pub async fn decline(&self) -> Result<EndedPrompt, HostError> {
        self.answer(Prompt { declines: true, ..Prompt::default() }).await
    }

    /// Waits until a prompt ends whose question got no answer: it was cancelled, or failed. Only one caller gets the
    /// result.
    ///
    /// # Errors
    /// The session was closed or broke.
    pub async fn unheard(&self) -> Result<EndedPrompt, HostError> {
        self.0.mailbox.unheard().await
    }

    /// Returns the pending reminders that a child inherits now, as for a sub-agent; empty if the session is over.
    pub async fn hand_over(&self) -> Vec<Arc<Reminder>> {
        self.0.mailbox.hand_over().await
    }

    /// Clears the reminders that `selector` matches: queued ones now, and pending ones of the transcript also while
    /// the session is busy. Returns the ids of the former, and a receiver for the number of the latter.
    ///
    /// # Errors
    /// The session was closed or broke, or too many such requests are pending.
    pub fn clear_reminders(&self, selector: Selector) -> Result<(Vec<Arc<str>>, oneshot::Receiver<usize>), HostError> {
        self.0.mailbox.may_clear()?;
        // Clear the queue first: an item that a seam delivers meanwhile is in the transcript when that is cleared.
        let queued = self.inbox()?.clear(&selector);
        Ok((queued, self.0.mailbox.clear(selector)?))
    }

    /// Cancels the current prompt: its loops, tools and plain code, with two seconds of grace for `finally`. It ends
    /// as [`super::PromptOutcome::Cancelled`]. Without a current prompt, cancels the question that waits for an answer: its
    /// end is not reported, but [`SessionHandle::idle`] waits for it, and the next prompt is independent of it. Returns
    /// false if there is neither.
    pub fn cancel(&self, reason: impl Into<Arc<str>>) -> bool {
        self.0.mailbox.cancel(reason.into())
    }

    /// Waits until the session has no prompt, question or clean-up, or is over.
    pub async fn idle(&self) {
        self.0.mailbox.idle().await;
    }
}

impl fmt::Debug for SessionHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("id", self.id()).finish_non_exhaustive()
    }
}
