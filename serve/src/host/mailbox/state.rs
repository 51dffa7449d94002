//! [`State`]: where a session stands between those who put prompts in and the worker that runs them. Every change is a method
//! here, without threads and without waiting; [`super::Mailbox`] puts a lock around it and wakes whoever waits.
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

/// Where a session stands. `P` is a prompt with the place where its end is told.
#[cfg_attr(test, derive(Clone, Debug))]
pub(super) struct State<P> {
    at: At,
    /// What runs is to stop, and has not heard of it: why.
    stop: Option<Arc<str>>,
    /// What runs has heard that it is to stop.
    heard: bool,
    next: Option<Next<P>>,
    closing: bool,
    /// Nothing of it is left to answer: why.
    gone: Option<HostError>,
}

/// What the worker is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// Nothing that a prompt began.
    Idle,
    /// A prompt.
    Working,
    /// The pipeline asked something, which ended its prompt. The next one is the answer.
    Asking,
    /// The question was cancelled, and the pipeline cleans up. The next prompt waits until it is over.
    Stopping,
}

/// A prompt that was put in and is not taken.
#[cfg_attr(test, derive(Clone, Debug))]
struct Next<P> {
    prompt: P,
    /// It was cancelled before it was taken: why.
    cancelled: Option<Arc<str>>,
    /// It is the answer to the question and nothing else.
    is_reply: bool,
}

/// What becomes of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::host) enum Put {
    /// The session waits for its answer.
    Asked,
    /// What runs is about to hear that it is to stop. The question is to be held until then: who drops one has answered it.
    Withdrawn,
    /// What runs cleans up, and goes on without an answer.
    Unanswered,
}

impl<P> Default for State<P> {
    fn default() -> State<P> {
        State { at: At::Idle, stop: None, heard: false, next: None, closing: false, gone: None }
    }
}

/// What others do.
impl<P> State<P> {
    /// Puts a prompt in.
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
        self.next = Some(Next { prompt, cancelled: None, is_reply: false });
        Ok(())
    }

    /// Puts in what is an answer and nothing else.
    pub(super) fn reply(&mut self, id: &Arc<str>, prompt: P) -> Result<(), HostError> {
        if self.at != At::Asking && self.gone.is_none() && !self.closing {
            return Err(HostError::NotAsking(id.clone()));
        }
        self.put(id, prompt)?;
        if let Some(next) = &mut self.next {
            next.is_reply = true;
        }
        Ok(())
    }

    /// Stops the prompt at hand, or the question that waits for one; false where there is neither. Each is stopped once.
    pub(super) fn cancel(&mut self, reason: Arc<str>) -> bool {
        if let Some(next) = &mut self.next {
            next.cancelled.get_or_insert_with(|| reason.clone());
        }
        match self.at {
            At::Idle => return self.next.is_some(),
            // What comes next is for after.
            At::Stopping => return true,
            At::Asking if self.next.is_none() => self.at = At::Stopping,
            // The prompt at hand; also where it is an answer that is not taken.
            At::Asking | At::Working => {}
        }
        if !self.heard {
            self.stop.get_or_insert(reason);
        }
        true
    }

    /// Ends the session; what it is at is to stop.
    pub(super) fn close(&mut self) {
        self.closing = true;
    }

    /// A prompt is at hand.
    pub(super) fn is_busy(&self) -> bool {
        self.at == At::Working || self.next.is_some()
    }

    /// It is at nothing, or over.
    pub(super) fn is_idle(&self) -> bool {
        self.gone.is_some() || (self.at == At::Idle && self.next.is_none())
    }

    /// Why nothing of the session is left to answer.
    pub(super) fn gone(&self) -> Option<HostError> {
        self.gone.clone()
    }
}

/// What its worker does.
impl<P> State<P> {
    /// Takes the next prompt, which begins its run. The inner nothing where the session is to end instead.
    pub(super) fn take(&mut self) -> Option<Option<P>> {
        match self.next.take() {
            Some(next) => {
                (self.at, self.stop, self.heard) = (At::Working, next.cancelled, false);
                Some(Some(next.prompt))
            }
            None => self.closing.then_some(None),
        }
    }

    /// Hears that what runs is to stop: why.
    pub(super) fn hear(&mut self) -> Option<Arc<str>> {
        let reason = self.stop.take().or_else(|| self.closing.then(|| "the session was closed".into()));
        self.heard |= reason.is_some();
        reason
    }

    /// What would become of a question now.
    pub(super) fn fate(&self) -> Put {
        match (self.heard, self.stop.is_some() || self.closing) {
            (true, _) => Put::Unanswered,
            (false, true) => Put::Withdrawn,
            (false, false) => Put::Asked,
        }
    }

    /// The prompt at hand is over with a question, unless it is to stop.
    pub(super) fn asked(&mut self) -> Put {
        let fate = self.fate();
        if fate == Put::Asked {
            self.at = At::Asking;
        }
        fate
    }

    /// Takes the prompt that answers. The inner nothing where none will.
    pub(super) fn answer(&mut self) -> Option<Option<P>> {
        if self.at == At::Stopping {
            return Some(None);
        }
        match self.next.take() {
            Some(next) => {
                // Where it was cancelled, what runs is told so.
                self.at = At::Working;
                Some(Some(next.prompt))
            }
            None => self.closing.then_some(None),
        }
    }

    /// What ran is over. A cancellation that came too late for it goes with it; one of a prompt that is still to come stays
    /// with that. An answer that nobody has taken is given back.
    pub(super) fn ended(&mut self) -> Option<P> {
        (self.at, self.stop, self.heard) = (At::Idle, None, false);
        self.next.take_if(|next| next.is_reply).map(|next| next.prompt)
    }

    /// The session is over. The prompt that it leaves behind is told so by being dropped.
    pub(super) fn over(&mut self, why: HostError) -> Option<P> {
        self.gone.get_or_insert(why);
        self.next.take().map(|next| next.prompt)
    }
}
