//! [`MailboxState`]: the state of a session between its clients, which add prompts, and the worker that runs them.
//! Every change is a method here, without threads and without waiting; [`super::Mailbox`] adds a lock and wakes waiting
//! tasks.
//!
//! ```text
//!            take             asked                answer
//!   Idle ───────────▶ Working ──────────▶ Asking ───────────▶ Working
//!    ▲                   │                   │ cancel            │
//!    │       ended       │                   ▼       ended       │
//!    └───────────────────┴─────────────── Stopping ──────────────┘
//! ```

use std::sync::Arc;

use crate::host::HostError;

/// The state of a session. `P` is a prompt with the channel for its end.
#[cfg_attr(test, derive(Clone, Debug))]
pub(super) struct MailboxState<P> {
    at: Activity,
    /// The reason why the current run must stop, until the run has received it.
    stop: Option<Arc<str>>,
    /// Whether the current run knows that it must stop.
    heard: bool,
    next: Option<NextPrompt<P>>,
    closing: bool,
    /// The reason why the session no longer responds.
    gone: Option<HostError>,
}

/// The activity of the worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Activity {
    /// No prompt is running.
    Idle,
    /// A prompt is running.
    Working,
    /// The pipeline asked a question, which ended its prompt. The next prompt is the answer.
    Asking,
    /// The question was cancelled, and the pipeline cleans up. The next prompt waits for the end of that.
    Stopping,
}

/// A prompt that was added and is not taken.
#[cfg_attr(test, derive(Clone, Debug))]
struct NextPrompt<P> {
    prompt: P,
    /// The reason, if it was cancelled before it was taken.
    cancelled: Option<Arc<str>>,
    /// Whether it is an answer that never begins a new prompt.
    is_reply: bool,
}

/// The fate of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::host) enum QuestionFate {
    /// The session waits for its answer.
    Asked,
    /// The run is about to learn that it must stop. The question must be held until then: dropping it would answer it.
    Withdrawn,
    /// The run cleans up, and goes on without an answer.
    Unanswered,
}

impl<P> Default for MailboxState<P> {
    fn default() -> MailboxState<P> {
        MailboxState { at: Activity::Idle, stop: None, heard: false, next: None, closing: false, gone: None }
    }
}

/// Methods for clients.
impl<P> MailboxState<P> {
    /// Adds a prompt.
    pub(super) fn put(&mut self, id: &Arc<str>, prompt: P) -> Result<(), HostError> {
        if let Some(gone) = &self.gone {
            return Err(gone.clone());
        }
        if self.closing {
            return Err(HostError::Closed(id.clone()));
        }
        if self.is_busy() {
            return Err(HostError::Busy(id.clone()));
        }
        self.next = Some(NextPrompt { prompt, cancelled: None, is_reply: false });
        Ok(())
    }

    /// Adds an answer, which never begins a new prompt.
    pub(super) fn reply(&mut self, id: &Arc<str>, prompt: P) -> Result<(), HostError> {
        if self.at != Activity::Asking && self.gone.is_none() && !self.closing {
            return Err(HostError::NotAsking(id.clone()));
        }
        self.put(id, prompt)?;
        if let Some(next) = &mut self.next {
            next.is_reply = true;
        }
        Ok(())
    }

    /// Cancels the current prompt, or the question that waits for an answer; returns false if there is neither. Each
    /// is cancelled once.
    pub(super) fn cancel(&mut self, reason: Arc<str>) -> bool {
        if let Some(next) = &mut self.next {
            next.cancelled.get_or_insert_with(|| reason.clone());
        }
        match self.at {
            Activity::Idle => return self.next.is_some(),
            // The next prompt comes after the clean-up.
            Activity::Stopping => return true,
            Activity::Asking if self.next.is_none() => self.at = Activity::Stopping,
            // The current prompt, or an answer that is not taken yet.
            Activity::Asking | Activity::Working => {}
        }
        if !self.heard {
            self.stop.get_or_insert(reason);
        }
        true
    }

    /// Ends the session, and cancels its work.
    pub(super) fn close(&mut self) {
        self.closing = true;
    }

    /// Returns whether there is a current prompt.
    pub(super) fn is_busy(&self) -> bool {
        self.at == Activity::Working || self.next.is_some()
    }

    /// Returns whether the session is idle or over.
    pub(super) fn is_idle(&self) -> bool {
        self.gone.is_some() || (self.at == Activity::Idle && self.next.is_none())
    }

    /// Returns whether the session is about to end.
    pub(super) fn is_closing(&self) -> bool {
        self.closing
    }

    /// Returns why the session no longer responds, if so.
    pub(super) fn gone(&self) -> Option<HostError> {
        self.gone.clone()
    }
}

/// Methods for the worker.
impl<P> MailboxState<P> {
    /// Takes the next prompt and begins its run. The inner option is `None` if the session must end instead.
    pub(super) fn take(&mut self) -> Option<Option<P>> {
        match self.next.take() {
            Some(next) => {
                (self.at, self.stop, self.heard) = (Activity::Working, next.cancelled, false);
                Some(Some(next.prompt))
            }
            None => self.closing.then_some(None),
        }
    }

    /// Takes the reason why the current run must stop, and records that the run knows it.
    pub(super) fn hear(&mut self) -> Option<Arc<str>> {
        let reason = self.stop.take().or_else(|| self.closing.then(|| "the session was closed".into()));
        self.heard |= reason.is_some();
        reason
    }

    /// Returns the fate of a question asked now.
    pub(super) fn fate(&self) -> QuestionFate {
        match (self.heard, self.stop.is_some() || self.closing) {
            (true, _) => QuestionFate::Unanswered,
            (false, true) => QuestionFate::Withdrawn,
            (false, false) => QuestionFate::Asked,
        }
    }

    /// Ends the current prompt with a question, unless it must stop.
    pub(super) fn asked(&mut self) -> QuestionFate {
        let fate = self.fate();
        if fate == QuestionFate::Asked {
            self.at = Activity::Asking;
        }
        fate
    }

    /// Takes the prompt that answers the question. The inner option is `None` if none will.
    pub(super) fn answer(&mut self) -> Option<Option<P>> {
        if self.at == Activity::Stopping {
            return Some(None);
        }
        match self.next.take() {
            Some(next) => {
                // If it was cancelled, the run learns of that next.
                self.at = Activity::Working;
                Some(Some(next.prompt))
            }
            None => self.closing.then_some(None),
        }
    }

    /// Ends the current run. A late cancellation of this run is dropped; a cancellation of a pending prompt stays.
    /// Returns an answer that was not taken.
    pub(super) fn ended(&mut self) -> Option<P> {
        (self.at, self.stop, self.heard) = (Activity::Idle, None, false);
        self.next.take_if(|next| next.is_reply).map(|next| next.prompt)
    }

    /// Ends the session. Returns the pending prompt; dropping it notifies its sender.
    pub(super) fn over(&mut self, why: HostError) -> Option<P> {
        self.gone.get_or_insert(why);
        self.next.take().map(|next| next.prompt)
    }
}
