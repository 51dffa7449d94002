//! [`Contexts`], and the [`Seat`] of a task in a session.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::host::{Handle, Host, HostError, NewSession};

use super::prompt::here;

/// Which contexts have a session. Clones are the same.
#[derive(Clone)]
pub(in crate::a2a) struct Contexts(Arc<Shared>);

struct Shared {
    host: Host,
    mode: Arc<str>,
    /// The most sessions that stay open without work.
    idle: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    contexts: HashMap<Arc<str>, Context>,
    /// Those without work, by when they last had some.
    idle: BTreeMap<u64, Arc<str>>,
    /// How many times one has become idle.
    count: u64,
}

/// A context that has a session, or is about to.
enum Context {
    /// A task works in it.
    Taken,
    /// It waits for one: its session, and its place among those without work.
    Idle(Handle, u64),
}

/// The place of a task in a session. When it is dropped the next task of the context may have it.
pub(in crate::a2a) struct Seat {
    contexts: Contexts,
    context_id: Arc<str>,
    session_id: Arc<str>,
    /// It is the context's own; else it ends with the task.
    is_kept: bool,
    /// The context's session was open already.
    waiting: Option<Handle>,
    /// The session, once it is open.
    handle: Option<Handle>,
    /// It is of no use for another task.
    is_spoiled: bool,
    /// Its session is being opened, or at work on the task.
    is_at_work: bool,
}

/// How long a session that is just being closed may take to make way. One that does not stop keeps its context taken.
const PATIENCE: Duration = Duration::from_secs(5);

impl Contexts {
    pub(in crate::a2a) fn new(host: Host, mode: Arc<str>, idle: usize) -> Contexts {
        Contexts(Arc::new(Shared { host, mode, idle, state: Mutex::default() }))
    }

    /// Nothing panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a task: in its context's session, or where that is at work in one of its own.
    pub(in crate::a2a) fn seat(&self, context_id: &Arc<str>, task_id: &str) -> Seat {
        let mut state = self.lock();
        let waiting = match state.contexts.insert(context_id.clone(), Context::Taken) {
            None => None,
            Some(Context::Taken) => return self.alone(context_id, task_id),
            Some(Context::Idle(handle, place)) => {
                state.idle.remove(&place);
                Some(handle)
            }
        };
        let mut seat = self.alone(context_id, task_id);
        (seat.session_id, seat.is_kept, seat.waiting) = (session_id("context", &seat.context_id), true, waiting);
        seat
    }

    /// A place for a task in a session of its own.
    pub(in crate::a2a) fn alone(&self, context_id: &Arc<str>, task_id: &str) -> Seat {
        Seat {
            contexts: self.clone(),
            context_id: context_id.clone(),
            session_id: session_id("task", task_id),
            is_kept: false,
            waiting: None,
            handle: None,
            is_spoiled: false,
            is_at_work: false,
        }
    }

    /// How many contexts are known, and how many of them are without work.
    #[cfg(test)]
    pub(in crate::a2a) fn counts(&self) -> (usize, usize) {
        let state = self.lock();
        (state.contexts.len(), state.idle.len())
    }
}

/// The session of a context, or of a task alone. It follows from the id, so that any process finds it on the log; and callers choose
/// ids, while those of sessions become names of files.
fn session_id(of: &str, id: &str) -> Arc<str> {
    let digest = Sha256::digest(format!("{of} {id}"));
    let hex: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("sess_{hex}").into()
}

impl Seat {
    /// Whether its session ends with the task.
    pub(in crate::a2a) fn is_alone(&self) -> bool {
        !self.is_kept
    }

    /// The session that it is in.
    pub(in crate::a2a) fn session_id(&self) -> &Arc<str> {
        &self.session_id
    }

    /// Where its session has to be opened, one that broke off or is just being closed makes way. One that does not even so is
    /// refused by [`Seat::open`].
    pub(in crate::a2a) async fn make_way(&mut self) {
        self.waiting = self.waiting.take().filter(|handle| handle.inbox().is_ok());
        if self.waiting.is_none() {
            self.is_at_work = true;
            let _ = tokio::time::timeout(PATIENCE, self.contexts.0.host.close(&self.session_id)).await;
        }
    }

    /// Its session, opened where it is not open; where the context had one that was closed, from the log. So it is with the
    /// session of a task that runs again (`resumed`).
    ///
    /// # Errors
    /// As [`Host::open`].
    pub(in crate::a2a) async fn open(&mut self, resumed: bool) -> Result<Handle, HostError> {
        let handle = match self.waiting.take() {
            Some(handle) => handle,
            None => self.begin(resumed).await?,
        };
        self.handle = Some(handle.clone());
        self.is_at_work = true;
        Ok(handle)
    }

    async fn begin(&self, resumed: bool) -> Result<Handle, HostError> {
        let host = &self.contexts.0.host;
        if (self.is_kept || resumed) && host.keeps_sessions() {
            match host.resume(&self.session_id, here()).await {
                Err(HostError::UnknownSession(_)) => {}
                resumed => return resumed,
            }
        }
        let mode = Some(self.contexts.0.mode.clone());
        let id = Some(self.session_id.clone());
        host.open(NewSession { cwd: here(), mode, id, ..NewSession::default() }).await
    }

    /// The session is of no use for another task.
    pub(in crate::a2a) fn spoil(&mut self) {
        (self.is_spoiled, self.is_at_work) = (true, false);
    }

    /// The session is at nothing any more. As long as nobody says so it may be at work for any time, so it is of no use for
    /// another task, and its context counts as taken until it is closed.
    pub(in crate::a2a) fn rests(&mut self) {
        self.is_at_work = false;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if self.is_at_work {
            let context_id = self.is_kept.then(|| self.context_id.clone());
            return self.contexts.close(self.session_id.clone(), context_id);
        }
        let mut closing = Vec::new();
        let mut handle = self.handle.take().or(self.waiting.take());
        if !self.is_kept || self.is_spoiled {
            closing.extend(handle.take().map(|handle| handle.id().clone()));
        }
        if self.is_kept {
            closing.extend(self.contexts.lock().free(&self.context_id, handle, self.contexts.0.idle));
        }
        for id in closing {
            self.contexts.close(id, None);
        }
    }
}

impl Contexts {
    /// Closes a session, in its own time; then its context, where it is one's own, is free for another.
    fn close(&self, session_id: Arc<str>, context_id: Option<Arc<str>>) {
        let contexts = self.clone();
        // Without a runtime the process ends, and the sessions with it.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            let _ = contexts.0.host.close(&session_id).await;
            if let Some(context_id) = context_id {
                contexts.lock().contexts.remove(&context_id);
            }
        });
    }
}

impl State {
    /// A context's session is free again; the sessions that are too many without work.
    fn free(&mut self, context_id: &Arc<str>, handle: Option<Handle>, most: usize) -> Vec<Arc<str>> {
        match handle.filter(|handle| handle.inbox().is_ok()) {
            Some(handle) => {
                self.count += 1;
                self.idle.insert(self.count, context_id.clone());
                self.contexts.insert(context_id.clone(), Context::Idle(handle, self.count));
            }
            None => drop(self.contexts.remove(context_id)),
        }
        let mut closing = Vec::new();
        while self.idle.len() > most {
            let Some((_, oldest)) = self.idle.pop_first() else { break };
            if let Some(Context::Idle(handle, _)) = self.contexts.remove(&oldest) {
                closing.push(handle.id().clone());
            }
        }
        closing
    }
}
