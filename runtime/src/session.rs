//! Sessions: a transcript with a name, its place among other sessions, and its queue of injections.
//!
//! [`Session::with`] is the only access to its state, and the closure cannot wait: so no borrow is alive while a hook,
//! tool, provider or model runs, and any of those may call back into the session.
use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::sync::{Arc, PoisonError};

use base::data::Data;
use base::ids::{IdStream, Ids, SharedIds};

use crate::cancel::Cancel;
use crate::events::EventKind;
use crate::lifecycle::{LifecycleBatch, RecordOwner};
use crate::model::PrefixMeter;
use crate::reminder::bridge::{Queue, SharedQueue};
use crate::spans::TraceContext;
use crate::transcript::Transcript;

mod directory;
mod inbox;
mod injections;
mod journal;
mod observe;
mod open_calls;
mod pending_keys;
mod prompts;
mod recover;
mod reminders;
#[cfg(test)]
mod stalled_log;
#[cfg(test)]
mod tests;

pub use directory::{SessionError, Sessions};
pub use inbox::{AcceptedInjection, Inbox};
pub use journal::{Conversation, ConversationJournal, JournalChange};
pub use observe::{ReminderObserver, ReminderSeen};
pub use open_calls::{NOT_RUN, close_open_calls, open_calls};
pub use recover::{Recovered, RecoveredReminder};
pub use reminders::ReminderProducer;

/// A session.
pub struct Session {
    id: Arc<str>,
    ids: SharedIds,
    queue: SharedQueue,
    /// Set while an inbox accepts for it on another thread.
    watched: Cell<bool>,
    /// The owner that its records share.
    whose: RefCell<Option<Arc<RecordOwner>>>,
    /// By event, the batch of results of providers that had nothing to remind of, which is logged again and again.
    quiet: RefCell<Vec<(EventKind, Arc<LifecycleBatch>)>>,
    /// Observer of its reminders.
    observer: RefCell<Option<Rc<dyn ReminderObserver>>>,
    state: RefCell<SessionState>,
}

/// The mutable state of a session.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct SessionState {
    /// The conversation and its events.
    pub transcript: Transcript,
    /// Time it was opened, in milliseconds since 1970-01-01 UTC.
    pub created_at_ms: u64,
    /// The session it was forked from or works for.
    pub parent_id: Option<Arc<str>>,
    /// The span of another process that caused it; its loops belong to that trace.
    pub cause: Option<TraceContext>,
    /// Sessions forked from it or working for it: the newest of them, at most [`SessionState::MOST_CHILDREN`].
    pub child_ids: Vec<Arc<str>>,
    /// In a fork: number of events it copied.
    pub branched_at_event_index: Option<usize>,
    /// `{primary, additional_roots: [{path, mount_mode?}]}`, else nil.
    pub workspace_anchor: Data,
    /// Number of turns so far, over all loops.
    pub turns: u32,
    /// Meter for the bytes that consecutive requests share.
    pub prefix: PrefixMeter,
    /// Data that reminder providers keep between events (bands that have fired), by provider id.
    pub provider_memory: std::collections::BTreeMap<Arc<str>, Data>,
    /// Whether it was closed.
    pub closed: bool,
    /// Stops the loop that runs in it.
    pub at_work: Option<Cancel>,
    /// Whether a loop is running in it.
    pub busy: bool,
    /// Whether it holds a copy of an open session's transcript: changes to it do not affect that session, and its
    /// records are marked.
    pub is_copy: bool,
}

impl SessionState {
    /// Maximum number of children that a session remembers. A daemon may start any number of workers.
    pub const MOST_CHILDREN: usize = 1_000;

    /// Remembers a child, and forgets the oldest one if there are too many.
    pub(crate) fn add_child(&mut self, id: Arc<str>) {
        self.child_ids.push(id);
        let excess = self.child_ids.len().saturating_sub(Self::MOST_CHILDREN);
        self.child_ids.drain(..excess);
    }
}

impl Session {
    /// Creates a session with an empty transcript of the same id. Its ids come from `stream` alone.
    #[must_use]
    pub fn new(id: impl Into<Arc<str>>, mut stream: IdStream, now_ms: u64) -> Rc<Session> {
        let id = id.into();
        let queue = Queue::shared(stream.child());
        let transcript = Transcript::new(id.clone());
        let state = SessionState { transcript, created_at_ms: now_ms, ..SessionState::default() };
        Rc::new(Session {
            id,
            ids: SharedIds::new(stream),
            queue,
            watched: Cell::default(),
            whose: RefCell::default(),
            quiet: RefCell::default(),
            observer: RefCell::default(),
            state: RefCell::new(state),
        })
    }

    /// Restores a stored session.
    pub(crate) fn restored(id: Arc<str>, stream: IdStream, queue: SharedQueue, state: SessionState) -> Rc<Session> {
        Rc::new(Session {
            id,
            ids: SharedIds::new(stream),
            queue,
            watched: Cell::default(),
            whose: RefCell::default(),
            quiet: RefCell::default(),
            observer: RefCell::default(),
            state: RefCell::new(state),
        })
    }

    /// Returns whether nothing has happened in it yet.
    #[must_use]
    pub fn is_fresh(&self) -> bool {
        let is_empty = |state: &mut SessionState| {
            state.turns == 0 && state.transcript.messages().is_empty() && state.transcript.event_count() == 0
        };
        let queued = self.queue.lock().unwrap_or_else(PoisonError::into_inner).pending().len();
        queued == 0 && self.with(is_empty)
    }

    /// Takes over the content of a stored session with the same id and continues from it. Its own workspace anchor, if
    /// set, wins.
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

    /// Returns the name.
    #[must_use]
    pub fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// Returns the source of its ids.
    #[must_use]
    pub fn ids(&self) -> &dyn Ids {
        &self.ids
    }

    /// Returns the id stream for a child session.
    #[must_use]
    pub fn child_ids(&self) -> IdStream {
        self.ids.child()
    }

    /// Returns whether it was closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.with(|state| state.closed)
    }

    /// Returns whether a loop is running in it.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.with(|state| state.busy)
    }

    /// Occupies it for one loop, until the returned guard is dropped. Two loops in one conversation would separate
    /// calls from their answers.
    pub fn occupy(self: &Rc<Self>) -> Result<LoopGuard, SessionError> {
        if self.with(|state| std::mem::replace(&mut state.busy, true)) {
            return Err(SessionError::Busy(self.id.clone()));
        }
        Ok(LoopGuard(self.clone()))
    }

    /// Returns the queue of injections, which a host on another thread shares.
    #[must_use]
    pub fn queue(&self) -> &SharedQueue {
        &self.queue
    }

    /// Reads or changes the state. The closure must not call `with` again.
    pub fn with<R>(&self, look: impl FnOnce(&mut SessionState) -> R) -> R {
        look(&mut self.state.borrow_mut())
    }

    /// Returns the current transcript, shared instead of copied.
    #[must_use]
    pub fn transcript(&self) -> Transcript {
        self.with(|state| state.transcript.clone())
    }
}

/// Guard of a session that a loop occupies.
#[derive(Debug)]
pub struct LoopGuard(Rc<Session>);

impl Drop for LoopGuard {
    fn drop(&mut self) {
        self.0.with(|state| (state.busy, state.at_work) = (false, None));
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("id", &self.id).finish_non_exhaustive()
    }
}
