//! [`Handle`]: one session, for those who talk to it from other threads.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use runtime::data::Data;
use runtime::reminder::Reminder;
use runtime::reminder::lifecycle::Selector;
use runtime::session::Inbox;
use tokio::sync::oneshot;

use crate::store::SessionJournal;

use super::mailbox::Mailbox;
use super::{Ended, HostError, NewSession, Prompt};

/// One session. Clones are the same session; one that outlives it only refuses.
#[derive(Clone)]
pub struct Handle(Arc<Shared>);

struct Shared {
    opened: NewSession,
    mode: Arc<Mutex<Arc<str>>>,
    inbox: Inbox,
    mailbox: Arc<Mailbox>,
}

impl Handle {
    pub(super) fn new(opened: NewSession, mode: Arc<Mutex<Arc<str>>>, inbox: Inbox, mailbox: Arc<Mailbox>) -> Handle {
        Handle(Arc::new(Shared { opened, mode, inbox, mailbox }))
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &Arc<str> {
        self.0.mailbox.id()
    }

    /// Where it works.
    #[must_use]
    pub fn cwd(&self) -> Option<&Path> {
        self.0.opened.cwd.as_deref()
    }

    /// What the wire said about it when it was opened.
    #[must_use]
    pub fn metadata(&self) -> &Data {
        &self.0.opened.metadata
    }

    /// What accepts reminders and messages for it: what is put in reaches its current conversation at the next seam of a loop,
    /// and none is needed for putting it in.
    ///
    /// # Errors
    /// It was closed, or broke off.
    pub fn inbox(&self) -> Result<&Inbox, HostError> {
        self.0.mailbox.gone().map_or(Ok(&self.0.inbox), Err)
    }

    /// Its mode.
    #[must_use]
    pub fn mode(&self) -> Arc<str> {
        self.0.mode.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Gives it another mode, at once: a prompt at hand sees it too. Nothing is shown by that.
    pub fn set_mode(&self, mode: impl Into<Arc<str>>) {
        let mode = mode.into();
        if let Some(book) = self.0.mailbox.book() {
            book.mode(&mode);
        }
        *self.0.mode.lock().unwrap_or_else(PoisonError::into_inner) = mode;
    }

    pub(super) fn book(&self) -> Option<Arc<SessionJournal>> {
        self.0.mailbox.book().cloned()
    }

    /// Whether it is at work on a prompt.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.0.mailbox.is_busy()
    }

    /// Runs the script's pipeline, and waits for its end. Dropping the future stops nothing; [`Handle::cancel`] does.
    ///
    /// # Errors
    /// It is at work on another prompt, was closed, or broke off.
    pub async fn prompt(&self, prompt: Prompt) -> Result<Ended, HostError> {
        let end = self.0.mailbox.ask(prompt)?;
        match end.await {
            Ok(ended) => Ok(ended),
            Err(_) => Err(self.0.mailbox.is_over().await),
        }
    }

    /// Answers what it asks, and waits for the end of that prompt. As [`Handle::prompt`], but where nothing is asked any more
    /// this is no prompt.
    ///
    /// # Errors
    /// It asks nothing, was closed, or broke off.
    pub async fn answer(&self, prompt: Prompt) -> Result<Ended, HostError> {
        let end = self.0.mailbox.reply(prompt)?;
        match end.await {
            Ok(ended) => Ok(ended),
            Err(_) => Err(self.0.mailbox.is_over().await),
        }
    }

    /// Waits until a prompt that has asked something ends without an answer: it was cancelled, or failed. Told once, to
    /// whoever waits.
    ///
    /// # Errors
    /// The session was closed, or broke off.
    pub async fn unheard(&self) -> Result<Ended, HostError> {
        self.0.mailbox.unheard().await
    }

    /// The pending reminders that it hands to a child now, as its own sub-agents get them; none where it is over.
    pub async fn hand_over(&self) -> Vec<Arc<Reminder>> {
        self.0.mailbox.hand_over().await
    }

    /// Clears the reminders that a selector means: the queued ones now, the pending ones of its transcript also while it works.
    /// Returns the ids of the former, and where the number of the latter is told.
    ///
    /// # Errors
    /// It was closed or broke off, or too many such requests wait.
    pub fn clear_reminders(&self, selector: Selector) -> Result<(Vec<Arc<str>>, oneshot::Receiver<usize>), HostError> {
        self.0.mailbox.may_clear()?;
        // The queue first: what a seam takes from it meanwhile is in the transcript when that is cleared.
        let queued = self.inbox()?.clear(&selector);
        Ok((queued, self.0.mailbox.clear(selector)?))
    }

    /// Stops the prompt at hand: its loops, tools and plain code, with two seconds of grace for `finally`. It ends as
    /// [`super::Stop::Cancelled`]. Where none is, the question that waits for an answer: nobody is told of its end, but
    /// [`Handle::idle`] waits for that, and the next prompt is one of its own. False where nothing is at hand.
    pub fn cancel(&self, reason: impl Into<Arc<str>>) -> bool {
        self.0.mailbox.cancel(reason.into())
    }

    /// Waits until it is at nothing: no prompt, no question, nothing that cleans up; or is over.
    pub async fn idle(&self) {
        self.0.mailbox.idle().await;
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("id", self.id()).finish_non_exhaustive()
    }
}
