//! [`Host`]: all sessions of a served script.

use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use base::keyed_limit::{KeyedLimit, KeyedPermit};
use eventlog::SqliteLog;
use runtime::session::Inbox;
use stdlib::{Diagnostic, Servable};
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

use super::idle::IdleSessions;
use super::mailbox::Mailbox;
use super::offer::SessionOffer;
use super::stored_opening::StoredOpening;
use super::worker::{SessionOpening, Worker};
use super::{HostError, NewSession, Peer, ReminderEvent, Served, SessionEvent, SessionHandle};
use crate::Metrics;
use crate::drain::PendingWork;
use crate::metrics::Exposition;
use crate::probe::Probed;
use crate::spawn::spawn;
use crate::store::SessionStore;
use crate::trim::RetentionTask;

mod stored;

/// The timeout for a stopped session, beyond its grace period.
const PATIENCE: Duration = Duration::from_secs(1);

/// All sessions of a served script. Clones share their state. Sessions live until they are closed or the host is
/// stopped; dropping the last clone cancels them without waiting.
#[derive(Clone)]
pub struct Host(Arc<HostShared>);

struct HostShared {
    served: Served,
    resumable: bool,
    peer: Arc<dyn Peer>,
    /// The store for sessions; `None` if they end with the process.
    store: Option<SessionStore>,
    /// Removes old sessions and tasks from the log.
    _retention: Option<RetentionTask>,
    /// The limit of the open sessions of each account.
    accounts: KeyedLimit<Arc<str>>,
    state: Mutex<HostState>,
    /// Notified when the opening of a session has ended.
    opened: Notify,
}

struct HostState {
    /// The workers; empty once the host is stopping.
    workers: Vec<Worker>,
    sessions: HashMap<Arc<str>, SessionEntry>,
    /// Whether new sessions and prompts from clients are refused.
    is_draining: bool,
}

struct SessionEntry {
    mailbox: Arc<Mailbox>,
    /// The session's handle; `None` while it is opening.
    handle: Option<SessionHandle>,
    /// The permit of its account; `None` if sessions have no accounts.
    _permit: Option<KeyedPermit<Arc<str>>>,
}

impl Host {
    /// Reports to a session's client an event of a reminder that has not reached the transcript.
    pub(crate) fn show_reminder(&self, session_id: &Arc<str>, event: ReminderEvent) {
        self.0.peer.show(session_id, SessionEvent::Reminder(event));
    }

    /// Starts to serve a script.
    ///
    /// # Errors
    /// The script is invalid, as `check` reports it, or has no pipeline; or the system refuses a thread or an async
    /// runtime.
    pub fn start(served: Served, peer: Arc<dyn Peer>) -> Result<Host, Vec<Diagnostic>> {
        let resumable = if served.protocol == stdlib::MCP_PROTOCOL {
            stdlib::check_entries(&served.source, (served.run)())?;
            false
        } else {
            let Servable { resumable } = stdlib::check_served(&served.source, (served.run)())?;
            resumable
        };
        let store =
            served.log.clone().map(SessionStore::new).transpose().map_err(|error| vec![stored::diagnostic(&error)])?;
        let retention = store.as_ref().and_then(|store| RetentionTask::start(store, served.settings.retention));
        let workers = (0..served.settings.workers.max(1)).map(|i| Worker::start(i, served.clone(), peer.clone()));
        let workers = workers.collect::<Result<_, _>>().map_err(|diagnostic| vec![*diagnostic])?;
        let state = Mutex::new(HostState { workers, sessions: HashMap::new(), is_draining: false });
        let accounts = KeyedLimit::new(served.settings.most_of_account());
        let opened = Notify::new();
        Ok(Host(Arc::new(HostShared {
            served,
            resumable,
            peer,
            _retention: retention,
            store,
            accounts,
            state,
            opened,
        })))
    }

    /// Returns the store of its sessions; `None` if they are not stored.
    pub(crate) fn store(&self) -> Option<&SessionStore> {
        self.0.store.as_ref()
    }

    /// Locks the state. Code that holds this lock does not panic.
    fn lock(&self) -> MutexGuard<'_, HostState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a session on the worker with the fewest sessions, and runs the script's top level there. A worker that is
    /// blocked by plain code is skipped; if the chosen one does not respond in time, the first worker that is free
    /// takes the session.
    ///
    /// # Errors
    /// The id is taken, too many are open, also of its account, the host is stopping, or the top level fails.
    pub async fn open(&self, new: NewSession) -> Result<SessionHandle, HostError> {
        let kept = self.0.store.clone().map(StoredOpening::New);
        self.begin(new, kept).await
    }

    async fn begin(&self, new: NewSession, kept: Option<StoredOpening>) -> Result<SessionHandle, HostError> {
        let id = new.id.clone().unwrap_or_else(fresh_id);
        let mailbox = Mailbox::new(id.clone());
        let (answer, opened) = oneshot::channel();
        let late = self.0.served.settings.late;
        let offer = {
            let mut state = self.lock();
            if state.sessions.contains_key(&id) {
                return Err(HostError::Exists(id));
            }
            // The limit of its own account first: that is for its client to change.
            let permit = match self.0.peer.limited_account(&id) {
                Some(account) => Some(self.0.accounts.take(account).ok_or_else(|| self.account_full())?),
                None => None,
            };
            if state.sessions.len() >= self.0.served.settings.sessions {
                return Err(HostError::Full(state.sessions.len()));
            }
            let best = state.workers.iter().min_by_key(|worker| (worker.is_held_up(late), worker.load()));
            let offer =
                best.ok_or(HostError::Stopping)?.open(SessionOpening { new, kept, mailbox: mailbox.clone(), answer });
            state.sessions.insert(id.clone(), SessionEntry { mailbox: mailbox.clone(), handle: None, _permit: permit });
            offer
        };
        // Closes the session also if the caller drops this future.
        let unopened = OpeningSession { host: self, mailbox: Some(mailbox.clone()), offer: offer.clone() };
        let mut opened = pin!(opened);
        let opened = tokio::select! {
            biased;
            opened = &mut opened => opened,
            () = tokio::time::sleep(late) => {
                self.offer_to_all(&offer);
                opened.await
            }
        };
        let opened = match opened {
            Ok(opened) => opened,
            Err(_) => Err(mailbox.is_over().await),
        };
        let handle = opened?;
        let mut state = self.lock();
        let Some(entry) = state.sessions.get_mut(&id) else { return Err(HostError::Closed(id)) };
        entry.handle = Some(handle.clone());
        self.0.opened.notify_waiters();
        self.0.served.metrics.sessions.add();
        unopened.keep();
        Ok(handle)
    }

    /// Checks whether a session of an account can be opened now.
    ///
    /// # Errors
    /// Too many are open.
    pub(crate) fn has_room(&self, account: &str) -> Result<(), HostError> {
        if !self.0.accounts.has_room(account) {
            return Err(self.account_full());
        }
        let open = self.lock().sessions.len();
        if open >= self.0.served.settings.sessions { Err(HostError::Full(open)) } else { Ok(()) }
    }

    fn account_full(&self) -> HostError {
        HostError::AccountFull(self.0.accounts.most())
    }

    /// Offers a session to all workers, after the chosen one did not take it in time. The first that is free takes it;
    /// a second offer to the chosen one has no effect.
    fn offer_to_all(&self, offer: &Weak<SessionOffer>) {
        let Some(offer) = offer.upgrade().filter(|offer| offer.is_open()) else { return };
        self.lock().workers.iter().for_each(|worker| worker.offer(&offer));
    }

    /// Returns the open session with this id. A session that broke is still found, and refuses requests.
    ///
    /// # Errors
    /// The session is not found.
    pub fn session(&self, id: &str) -> Result<SessionHandle, HostError> {
        let found = self.lock().sessions.get(id).and_then(|entry| entry.handle.clone());
        found.ok_or_else(|| HostError::UnknownSession(id.into()))
    }

    /// Returns a session that is open, or that another request opens now, once it is open.
    ///
    /// # Errors
    /// The session is not open, or its opening has failed.
    pub(crate) async fn opened(&self, id: &str) -> Result<SessionHandle, HostError> {
        loop {
            let mut ended = pin!(self.0.opened.notified());
            ended.as_mut().enable();
            match self.lock().sessions.get(id).map(|entry| entry.handle.clone()) {
                Some(Some(handle)) => return Ok(handle),
                Some(None) => {}
                None => return Err(HostError::UnknownSession(id.into())),
            }
            ended.await;
        }
    }

    /// Returns whether the script permits its pipeline to run again after a process ended during a run.
    #[must_use]
    pub fn is_resumable(&self) -> bool {
        self.0.resumable
    }

    /// Returns all open sessions, ordered by id.
    #[must_use]
    pub fn sessions(&self) -> Vec<SessionHandle> {
        let mut all: Vec<_> = self.lock().sessions.values().filter_map(|entry| entry.handle.clone()).collect();
        all.sort_by(|a, b| a.id().cmp(b.id()));
        all
    }

    /// Cancels a session's work, waits for its clean-up, and closes it.
    ///
    /// # Errors
    /// No session has this id.
    pub async fn close(&self, id: &str) -> Result<(), HostError> {
        let found = self.lock().sessions.get(id).map(|entry| entry.mailbox.clone());
        let mailbox = found.ok_or_else(|| HostError::UnknownSession(id.into()))?;
        mailbox.close();
        self.end(&mailbox).await;
        Ok(())
    }

    /// Waits for the end of a session that closes, and forgets it.
    pub(super) async fn end(&self, mailbox: &Arc<Mailbox>) {
        mailbox.is_over().await;
        stored::let_go(mailbox).await;
        self.forget(mailbox);
    }

    /// Returns an open session, and counts that as a use, so that it is not closed as idle now. If the session is about
    /// to end, waits for the end, after which it can be loaded again.
    ///
    /// # Errors
    /// The session is not open.
    pub(crate) async fn awake(&self, id: &str) -> Result<SessionHandle, HostError> {
        let handle = self.session(id)?;
        if handle.keep_awake() {
            return Ok(handle);
        }
        self.end(handle.mailbox()).await;
        Err(HostError::UnknownSession(id.into()))
    }

    /// Closes the sessions that have been idle for `limit`: without a prompt, a question, a background task of the
    /// script and an attached client. Never returns.
    pub(crate) async fn close_idle(&self, limit: Duration) -> Infallible {
        let mut idle = IdleSessions::new(limit);
        loop {
            tokio::time::sleep(idle.pause()).await;
            for mailbox in self.begin_to_close_idle(&mut idle, Instant::now()) {
                let host = self.clone();
                spawn(async move { host.end(&mailbox).await });
            }
        }
    }

    /// Begins to close the sessions that have been idle for long at the time `now`, and returns them.
    pub(super) fn begin_to_close_idle(&self, idle: &mut IdleSessions, now: Instant) -> Vec<Arc<Mailbox>> {
        if self.writes().is_err() {
            // The end of a session could not be recorded.
            return Vec::new();
        }
        let open: Vec<SessionHandle> = self.sessions();
        let quiet = open.iter().filter_map(|handle| {
            let mailbox = handle.mailbox();
            let unused = mailbox.unused_since();
            if self.0.peer.is_attended(mailbox.id()) {
                // The time begins when the last client has left.
                mailbox.keep_awake();
                return None;
            }
            // Without a log, what waits for the next turn would be lost.
            let has_injections = self.0.store.is_none() && handle.inbox().is_ok_and(|inbox| inbox.depth() > 0);
            if has_injections { None } else { Some((mailbox.id().clone(), unused?)) }
        });
        let due = idle.look(quiet.collect(), now);
        let closing = open
            .iter()
            .map(SessionHandle::mailbox)
            .filter(|mailbox| due.get(mailbox.id()).is_some_and(|used| mailbox.close_unused(*used)));
        closing.cloned().collect()
    }

    /// Cancels the work of all sessions, and waits a little over two seconds for their clean-up. No session can be
    /// opened from now on.
    pub async fn stop(&self) {
        let (workers, open): (Vec<_>, Vec<_>) = {
            let mut state = self.lock();
            let open = state.sessions.values().map(|entry| entry.mailbox.clone()).collect();
            (std::mem::take(&mut state.workers), open)
        };
        for mailbox in &open {
            mailbox.close();
        }
        let all = async {
            for mailbox in &open {
                self.end(mailbox).await;
            }
            for worker in workers {
                worker.ended().await;
            }
        };
        let grace = Duration::from_millis(runtime::stop::GRACE_MS);
        // Threads that block for longer are abandoned.
        let _ = tokio::time::timeout(grace + PATIENCE, all).await;
    }

    /// Refuses new sessions and prompts from clients; running work goes on.
    pub(crate) fn begin_drain(&self) {
        self.lock().is_draining = true;
    }

    /// Refuses new work from clients while the host drains.
    ///
    /// # Errors
    /// The host drains or is stopping.
    pub(crate) fn accepts(&self) -> Result<(), HostError> {
        {
            let state = self.lock();
            if state.is_draining || state.workers.is_empty() {
                return Err(HostError::Stopping);
            }
        }
        self.writes()
    }

    /// Refuses what must be recorded while the event log cannot be written.
    ///
    /// # Errors
    /// The error of the log.
    pub(crate) fn writes(&self) -> Result<(), HostError> {
        let log = self.0.served.log.as_ref();
        log.map_or(Ok(()), |log| log.availability().map_err(|error| HostError::Store(error.into())))
    }

    /// Returns the work that shutdown waits for: busy sessions and records that are not yet written.
    pub(crate) fn waits(&self) -> PendingWork {
        let sessions = self.lock().sessions.values().filter(|entry| entry.mailbox.is_busy()).count();
        PendingWork { tasks: 0, sessions, records: self.0.served.log.as_ref().map_or(0, |log| log.backlog().0) }
    }

    /// Waits until no session is busy.
    pub(crate) async fn idle(&self) {
        let open: Vec<_> = self.lock().sessions.values().map(|entry| entry.mailbox.clone()).collect();
        for mailbox in open {
            mailbox.idle().await;
        }
    }

    /// Returns the metrics of the sessions.
    pub(crate) fn metrics(&self) -> &Metrics {
        &self.0.served.metrics
    }

    /// Returns the number of sessions of each worker.
    #[cfg(test)]
    pub(super) fn loads(&self) -> Vec<usize> {
        self.lock().workers.iter().map(Worker::load).collect()
    }

    fn forget(&self, mailbox: &Arc<Mailbox>) {
        let mut state = self.lock();
        if state.sessions.get(mailbox.id()).is_some_and(|entry| Arc::ptr_eq(&entry.mailbox, mailbox)) {
            state.sessions.remove(mailbox.id());
            self.0.opened.notify_waiters();
        }
    }
}

impl Probed for Host {
    fn readiness(&self) -> Result<(), &'static str> {
        let state = self.lock();
        if state.is_draining {
            Err("draining")
        } else if state.workers.is_empty() {
            Err("stopping")
        } else if state.sessions.len() >= self.0.served.settings.sessions {
            Err("session limit reached")
        } else {
            self.writes().map_err(|_| "the event log cannot be written")
        }
    }

    fn expose(&self, to: &mut Exposition) {
        let handles = self.sessions();
        let depths: Vec<usize> = handles.iter().filter_map(|handle| handle.inbox().ok().map(Inbox::depth)).collect();
        let (open, is_draining) = {
            let state = self.lock();
            (state.sessions.len(), state.is_draining)
        };
        let most = self.0.served.settings.sessions;
        to.value("harn_sessions_open", "gauge", "Open sessions.", open);
        to.value("harn_sessions_open_limit", "gauge", "Maximum number of open sessions.", most);
        to.value("harn_sessions_busy", "gauge", "Sessions that are processing a prompt.", self.waits().sessions);
        to.value("harn_draining", "gauge", "1 while new work is rejected, else 0.", u8::from(is_draining));
        let help = "Injections waiting for a loop, in all sessions.";
        to.value("harn_injection_queue_depth", "gauge", help, depths.iter().sum::<usize>());
        let help = "Largest number of injections waiting for a loop in one session.";
        to.value("harn_injection_queue_depth_max", "gauge", help, depths.iter().max().unwrap_or(&0));
        if let Some((unsaved, limit)) = self.0.served.log.as_ref().map(SqliteLog::backlog) {
            to.value("harn_event_log_unsaved_records", "gauge", "Records queued for the event log.", unsaved);
            let help = "Largest number of records queued for the event log.";
            to.value("harn_event_log_unsaved_records_limit", "gauge", help, limit);
        }
        self.metrics().expose(to);
    }
}

impl Drop for HostShared {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        state.sessions.values().for_each(|entry| entry.mailbox.close());
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("sessions", &self.lock().sessions.len()).finish_non_exhaustive()
    }
}

/// A session that is opening. If that fails, dropping this closes and removes it.
struct OpeningSession<'a> {
    host: &'a Host,
    mailbox: Option<Arc<Mailbox>>,
    offer: Weak<SessionOffer>,
}

impl OpeningSession<'_> {
    fn keep(mut self) {
        self.mailbox = None;
    }
}

impl Drop for OpeningSession<'_> {
    fn drop(&mut self) {
        if let Some(mailbox) = self.mailbox.take() {
            mailbox.close();
            if let Some(offer) = self.offer.upgrade() {
                offer.withdraw();
            }
            self.host.forget(&mailbox);
        }
    }
}

/// Returns an unguessable id.
fn fresh_id() -> Arc<str> {
    let random = uuid::Uuid::new_v4();
    format!("sess_{}", random.simple()).into()
}
