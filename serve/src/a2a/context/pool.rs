//! [`ContextPool`], and the [`SessionLease`] of a task in a session.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::data::Data;
use sha2::{Digest, Sha256};

use crate::host::{Host, HostError, NewSession, SessionHandle};

use super::prompt::here;
use crate::spawn::spawn_on;

/// The contexts that have a session. Clones share their state.
#[derive(Clone)]
pub(in crate::a2a) struct ContextPool(Arc<ContextPoolShared>);

struct ContextPoolShared {
    host: Host,
    mode: Arc<str>,
    /// The maximum number of idle sessions that stay open.
    idle: usize,
    /// Whether clients of other protocols use the same sessions.
    shares: bool,
    state: Mutex<ContextPoolState>,
}

#[derive(Default)]
struct ContextPoolState {
    /// The contexts, by the ids of their sessions.
    contexts: HashMap<Arc<str>, PooledContext>,
    /// The sessions of idle contexts, by the order in which they became idle.
    idle: BTreeMap<u64, Arc<str>>,
    /// The number of times that a context became idle.
    count: u64,
}

/// A context that has a session, or is about to.
enum PooledContext {
    /// A task runs in it.
    Taken,
    /// No task runs in it: its session, and its key among the idle contexts.
    Idle(SessionHandle, u64),
}

/// A task's use of a session. Dropping it frees the session for the next task of the context.
pub(in crate::a2a) struct SessionLease {
    contexts: ContextPool,
    session_id: Arc<str>,
    /// Whether the session is the context's own; if not, it ends with the task.
    is_kept: bool,
    /// The context's session, if it was already open.
    waiting: Option<SessionHandle>,
    /// The session, once it is open.
    handle: Option<SessionHandle>,
    /// Whether the session must not be used for another task.
    is_spoiled: bool,
    /// Whether the session is opening or busy with the task.
    is_at_work: bool,
}

/// The timeout for a session that is being closed. If it does not stop, its context stays taken.
const PATIENCE: Duration = Duration::from_secs(5);

impl ContextPool {
    pub(in crate::a2a) fn new(host: Host, mode: Arc<str>, idle: usize, shares: bool) -> ContextPool {
        ContextPool(Arc::new(ContextPoolShared { host, mode, idle, shares, state: Mutex::default() }))
    }

    /// Locks the state. Code that holds this lock does not panic.
    fn lock(&self) -> MutexGuard<'_, ContextPoolState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a lease for a task: in the session of its context, or in a session of its own if that one is busy.
    pub(in crate::a2a) fn lease(&self, session_id: &Arc<str>, task_id: &str) -> SessionLease {
        let mut state = self.lock();
        let waiting = match state.contexts.insert(session_id.clone(), PooledContext::Taken) {
            None => None,
            Some(PooledContext::Taken) => return self.alone(task_id),
            Some(PooledContext::Idle(handle, place)) => {
                state.idle.remove(&place);
                Some(handle)
            }
        };
        let mut lease = self.alone(task_id);
        (lease.session_id, lease.is_kept, lease.waiting) = (session_id.clone(), true, waiting);
        lease
    }

    /// Returns the session of a context. A context of a host whose sessions are shared can name one of them.
    pub(in crate::a2a) fn session_of(&self, context_id: &Arc<str>) -> ContextSession {
        if self.0.shares && is_session(context_id) {
            return ContextSession::Named(context_id.clone());
        }
        ContextSession::Derived { context_id: context_id.clone(), common: session_id("context", context_id) }
    }

    /// Returns whether clients of other protocols use the same sessions.
    pub(in crate::a2a) fn shares_sessions(&self) -> bool {
        self.0.shares
    }

    /// Takes a lease for a task in a session of its own.
    pub(in crate::a2a) fn alone(&self, task_id: &str) -> SessionLease {
        SessionLease {
            contexts: self.clone(),
            session_id: session_id("task", task_id),
            is_kept: false,
            waiting: None,
            handle: None,
            is_spoiled: false,
            is_at_work: false,
        }
    }

    /// Returns how many contexts are known, and how many of them are idle.
    #[cfg(test)]
    pub(in crate::a2a) fn counts(&self) -> (usize, usize) {
        let state = self.lock();
        (state.contexts.len(), state.idle.len())
    }
}

/// The session of a context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ContextSession {
    /// The session whose id is that of the context.
    Named(Arc<str>),
    /// A session whose id follows from that of the context.
    Derived {
        context_id: Arc<str>,
        /// The id of the session if all callers reach the same tasks.
        common: Arc<str>,
    },
}

impl ContextSession {
    /// Returns the id of the session if all callers reach the same tasks.
    pub(in crate::a2a) fn of_all(self) -> Arc<str> {
        match self {
            ContextSession::Named(id) | ContextSession::Derived { common: id, .. } => id,
        }
    }
}

/// Returns the id of the session of a context of an account.
pub(crate) fn session_of_account(account: &str, context_id: &str) -> Arc<str> {
    // The length separates the two.
    session_id("account", &format!("{} {account} {context_id}", account.len()))
}

/// Returns the id of the session of a context, or of a single task. It is derived from `id`, so that any process finds
/// it on the log, and hashed, because callers choose ids and session ids become file names.
fn session_id(of: &str, id: &str) -> Arc<str> {
    let digest = Sha256::digest(format!("{of} {id}"));
    let hex: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("sess_{hex}").into()
}

/// Returns whether an id has the form of a session's id.
pub(crate) fn is_session(id: &str) -> bool {
    id.strip_prefix("sess_").is_some_and(|hex| hex.len() == 32 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Returns whether a session accepts a task, and counts that as a use. One that was idle for long may be closing.
fn is_usable(handle: &SessionHandle) -> bool {
    handle.inbox().is_ok() && handle.keep_awake()
}

impl SessionLease {
    /// Returns whether the session ends with the task.
    pub(in crate::a2a) fn is_alone(&self) -> bool {
        !self.is_kept
    }

    /// Returns the id of the session.
    pub(in crate::a2a) fn session_id(&self) -> &Arc<str> {
        &self.session_id
    }

    /// Closes an old session with this id if a new one must be opened. If it does not stop in time,
    /// [`SessionLease::open`] fails.
    pub(in crate::a2a) async fn make_way(&mut self) {
        self.waiting = self.waiting.take().filter(is_usable);
        if self.waiting.is_none() && self.is_kept && self.contexts.0.shares {
            // A client of another protocol may have opened it, or loaded it.
            let open = self.contexts.0.host.session(&self.session_id).ok();
            self.waiting = open.filter(is_usable);
        }
        if self.waiting.is_none() {
            self.is_at_work = true;
            let _ = tokio::time::timeout(PATIENCE, self.contexts.0.host.close(&self.session_id)).await;
        }
    }

    /// Returns the session, opening it if necessary. A session that the context had before, or that of a `resumed`
    /// task, is restored from the log.
    ///
    /// # Errors
    /// See [`Host::open`].
    pub(in crate::a2a) async fn open(&mut self, resumed: bool) -> Result<SessionHandle, HostError> {
        let handle = match self.waiting.take() {
            Some(handle) => handle,
            None => self.begin(resumed).await?,
        };
        self.handle = Some(handle.clone());
        self.is_at_work = true;
        Ok(handle)
    }

    async fn begin(&self, resumed: bool) -> Result<SessionHandle, HostError> {
        let host = &self.contexts.0.host;
        if (self.is_kept || resumed) && host.keeps_sessions() {
            match host.resume(&self.session_id, here(), Data::Nil).await {
                Err(HostError::UnknownSession(_)) => {}
                resumed => return resumed,
            }
        }
        let mode = Some(self.contexts.0.mode.clone());
        let id = Some(self.session_id.clone());
        host.open(NewSession { cwd: here(), mode, id, ..NewSession::default() }).await
    }

    /// Marks the session as unusable for another task.
    pub(in crate::a2a) fn spoil(&mut self) {
        (self.is_spoiled, self.is_at_work) = (true, false);
    }

    /// Marks the session as no longer busy. Until then it may be busy for any time, so no other task may use it, and
    /// its context counts as taken until it is closed.
    pub(in crate::a2a) fn rests(&mut self) {
        self.is_at_work = false;
    }
}

impl Drop for SessionLease {
    fn drop(&mut self) {
        if self.is_at_work {
            return self.contexts.close(self.session_id.clone(), self.is_kept);
        }
        let mut closing = Vec::new();
        let mut handle = self.handle.take().or(self.waiting.take());
        if !self.is_kept || self.is_spoiled {
            closing.extend(handle.take().map(|handle| handle.id().clone()));
        }
        if self.is_kept {
            closing.extend(self.contexts.lock().free(&self.session_id, handle, self.contexts.0.idle));
        }
        for id in closing {
            self.contexts.close(id, false);
        }
    }
}

impl ContextPool {
    /// Closes a session in the background, then frees its context if it is the session of one.
    fn close(&self, session_id: Arc<str>, is_kept: bool) {
        let contexts = self.clone();
        // Without a runtime the process is ending, and the sessions with it.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        spawn_on(&runtime, async move {
            let _ = contexts.0.host.close(&session_id).await;
            if is_kept {
                contexts.lock().contexts.remove(&session_id);
            }
        });
    }
}

impl ContextPoolState {
    /// Frees a context's session. Returns the idle sessions beyond the limit.
    fn free(&mut self, session_id: &Arc<str>, handle: Option<SessionHandle>, most: usize) -> Vec<Arc<str>> {
        match handle.filter(|handle| handle.inbox().is_ok()) {
            Some(handle) => {
                self.count += 1;
                self.idle.insert(self.count, session_id.clone());
                self.contexts.insert(session_id.clone(), PooledContext::Idle(handle, self.count));
            }
            None => drop(self.contexts.remove(session_id)),
        }
        let mut closing = Vec::new();
        while self.idle.len() > most {
            let Some((_, oldest)) = self.idle.pop_first() else { break };
            if let Some(PooledContext::Idle(handle, _)) = self.contexts.remove(&oldest) {
                closing.push(handle.id().clone());
            }
        }
        closing
    }
}
