//! Sessions: a transcript with a name, its place among other sessions, and its queue of injections.
//!
//! [`Session::with`] is the only way to its state, and the closure cannot wait: so no borrow is alive while a hook, tool,
//! provider or model runs, and any of those may come back here.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::sync::{Arc, PoisonError};

use crate::cancel::Cancel;
use crate::data::Data;
use crate::ids::{IdStream, Ids, SharedIds};
use crate::model::PrefixMeter;
use crate::reminder::bridge::{Queue, SharedQueue};
use crate::reminder::lifecycle::Whose;
use crate::transcript::Transcript;

mod directory;
mod go_on;
mod inbox;
mod injections;
mod journal;
mod observe;
mod open_calls;
mod prompts;
mod reminders;
#[cfg(test)]
mod tests;

pub use directory::{SessionError, Sessions};
pub use go_on::{Recovered, RecoveredReminder};
pub use inbox::{INJECTION_TOPIC, Inbox, Injected};
pub use journal::{Change, Conversation, ConversationJournal, MESSAGE_TOPIC, STATE_TOPIC};
pub use observe::{ReminderObserver, ReminderSeen};
pub use open_calls::{NOT_RUN, close_open_calls, open_calls};

/// A session.
pub struct Session {
    id: Arc<str>,
    ids: SharedIds,
    queue: SharedQueue,
    /// Set while an inbox accepts for it on another thread.
    watched: Cell<bool>,
    /// The owner that its records share.
    whose: RefCell<Option<Arc<Whose>>>,
    /// Sees what becomes of its reminders.
    observer: RefCell<Option<Rc<dyn ReminderObserver>>>,
    state: RefCell<State>,
}

/// The mutable state of a session.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct State {
    /// The conversation and its events.
    pub transcript: Transcript,
    /// When it was opened, in milliseconds since 1970-01-01 UTC.
    pub created_at_ms: u64,
    /// The session it was forked from or works for.
    pub parent_id: Option<Arc<str>>,
    /// Sessions forked from it or working for it.
    pub child_ids: Vec<Arc<str>>,
    /// In a fork: how many events it took over.
    pub branched_at_event_index: Option<usize>,
    /// `{primary, additional_roots: [{path, mount_mode?}]}`, else nil.
    pub workspace_anchor: Data,
    /// Turns so far, over all loops.
    pub turns: u32,
    /// Measures what consecutive requests share.
    pub prefix: PrefixMeter,
    /// Data that reminder providers keep between events (bands that have fired), by provider id.
    pub provider_memory: std::collections::BTreeMap<Arc<str>, Data>,
    /// Whether it was closed.
    pub closed: bool,
    /// Stops the loop at work in it.
    pub at_work: Option<Cancel>,
    /// A loop is at work in it.
    pub busy: bool,
    /// It holds a copy of an open session's transcript: what is done to it does not touch that session, and its records say
    /// so.
    pub is_copy: bool,
}

impl Session {
    /// A session with an empty transcript of the same id. Its ids come from `stream` alone.
    #[must_use]
    pub fn new(id: impl Into<Arc<str>>, mut stream: IdStream, now_ms: u64) -> Rc<Session> {
        let id = id.into();
        let queue = Queue::shared(stream.child());
        let transcript = Transcript::new(id.clone());
        let state = State { transcript, created_at_ms: now_ms, ..State::default() };
        Rc::new(Session {
            id,
            ids: SharedIds::new(stream),
            queue,
            watched: Cell::default(),
            whose: RefCell::default(),
            observer: RefCell::default(),
            state: RefCell::new(state),
        })
    }

    /// A session that was stored.
    pub(crate) fn restored(id: Arc<str>, stream: IdStream, queue: SharedQueue, state: State) -> Rc<Session> {
        Rc::new(Session {
            id,
            ids: SharedIds::new(stream),
            queue,
            watched: Cell::default(),
            whose: RefCell::default(),
            observer: RefCell::default(),
            state: RefCell::new(state),
        })
    }

    /// Whether nothing has happened in it yet.
    #[must_use]
    pub fn is_fresh(&self) -> bool {
        let is_empty = |state: &mut State| {
            state.turns == 0 && state.transcript.messages().is_empty() && state.transcript.event_count() == 0
        };
        let queued = self.queue.lock().unwrap_or_else(PoisonError::into_inner).pending().len();
        queued == 0 && self.with(is_empty)
    }

    /// Takes over what a stored session of the same id holds: it goes on where that one was. Where it works is what it says
    /// itself, if it does.
    pub fn take_over(&self, stored: &Session) {
        self.ids.go_on_with(stored.id_stream());
        let theirs = stored.queue.lock().unwrap_or_else(PoisonError::into_inner).clone_content();
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).take_over(theirs);
        let state = stored.with(|state| state.clone());
        self.with(|own| {
            let anchor = std::mem::take(&mut own.workspace_anchor);
            *own = state;
            if !anchor.is_nil() {
                own.workspace_anchor = anchor;
            }
        });
        self.tell_pending();
    }

    /// Returns the current state of its ids.
    pub(crate) fn id_stream(&self) -> IdStream {
        self.ids.stream()
    }

    /// The name.
    #[must_use]
    pub fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// Returns the source of its ids.
    #[must_use]
    pub fn ids(&self) -> &dyn Ids {
        &self.ids
    }

    /// The id stream for a child session.
    #[must_use]
    pub fn child_ids(&self) -> IdStream {
        self.ids.child()
    }

    /// Returns whether it was closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.with(|state| state.closed)
    }

    /// Whether a loop is at work in it.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.with(|state| state.busy)
    }

    /// Takes it for one loop, until what is given is dropped. Two in one conversation would tear calls from their answers.
    pub fn occupy(self: &Rc<Self>) -> Result<Occupied, SessionError> {
        if self.with(|state| std::mem::replace(&mut state.busy, true)) {
            return Err(SessionError::Busy(self.id.clone()));
        }
        Ok(Occupied(self.clone()))
    }

    /// The queue of injections; a host on another thread holds the same.
    #[must_use]
    pub fn queue(&self) -> &SharedQueue {
        &self.queue
    }

    /// Looks at or changes the state. The closure must not call `with` again.
    pub fn with<R>(&self, look: impl FnOnce(&mut State) -> R) -> R {
        look(&mut self.state.borrow_mut())
    }

    /// Returns the current transcript, shared instead of copied.
    #[must_use]
    pub fn transcript(&self) -> Transcript {
        self.with(|state| state.transcript.clone())
    }
}

/// A session that a loop is at work in.
#[derive(Debug)]
pub struct Occupied(Rc<Session>);

impl Drop for Occupied {
    fn drop(&mut self) {
        self.0.with(|state| (state.busy, state.at_work) = (false, None));
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("id", &self.id).finish_non_exhaustive()
    }
}
