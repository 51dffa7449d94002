//! [`Worker`]: a thread and its sessions.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use stdlib::Diagnostic;
use tokio::runtime::LocalRuntime;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tracing::Instrument as _;

use super::mailbox::Mailbox;
use super::offer::{OfferTimes, SessionOffer};
use super::session::live;
use super::stored_opening::StoredOpening;
use super::{HostError, NewSession, Peer, Served, SessionHandle};

/// A session to open.
pub(super) struct SessionOpening {
    pub(super) new: NewSession,
    /// The session's storage; `None` if sessions are not stored.
    pub(super) kept: Option<StoredOpening>,
    pub(super) mailbox: Arc<Mailbox>,
    pub(super) answer: oneshot::Sender<Result<SessionHandle, HostError>>,
}

/// A thread and its sessions. The thread ends when this is dropped and all its sessions are over.
pub(super) struct Worker {
    /// Pending offers, at most as many as the host permits open sessions.
    opens: mpsc::UnboundedSender<Arc<SessionOffer>>,
    load: Arc<AtomicUsize>,
    offers: Arc<OfferTimes>,
    end: oneshot::Receiver<()>,
}

/// The stack size of a thread in bytes: deep recursion of scripts uses other memory.
const STACK: usize = 8 << 20;

impl Worker {
    /// Starts a thread, and waits until it can serve.
    ///
    /// # Errors
    /// The system refuses a thread or an async runtime.
    pub(super) fn start(index: usize, served: Served, peer: Arc<dyn Peer>) -> Result<Worker, Box<Diagnostic>> {
        Worker::start_on(runtime, index, served, peer)
    }

    fn start_on(
        runtime: fn() -> io::Result<LocalRuntime>,
        index: usize,
        served: Served,
        peer: Arc<dyn Peer>,
    ) -> Result<Worker, Box<Diagnostic>> {
        let (opens, found) = mpsc::unbounded_channel();
        let (ended, end) = oneshot::channel();
        let (built, is_built) = std::sync::mpsc::channel();
        let load = Arc::<AtomicUsize>::default();
        let offers = Arc::<OfferTimes>::default();
        let (count, taken) = (load.clone(), offers.clone());
        let work = move || {
            let runtime = match runtime() {
                Ok(runtime) => runtime,
                Err(why) => return drop(built.send(Err(why))),
            };
            // The starting thread waits for this.
            let _ = built.send(Ok(()));
            runtime.block_on(work(found, &served, &peer, &count, &taken));
            // A blocked file operation must not prevent the server from ending.
            runtime.shutdown_background();
            let _ = ended.send(());
        };
        let thread = std::thread::Builder::new().name(format!("worker-{index}")).stack_size(STACK).spawn(work);
        let lacks = |what: &str, why: io::Error| Box::new(stdlib::outside(format!("could not start {what}: {why}")));
        thread.map_err(|why| lacks("a thread for sessions", why))?;
        let is_built = is_built.recv().unwrap_or_else(|gone| Err(io::Error::other(gone)));
        // Without timers and sockets, no session can be served there.
        is_built.map_err(|why| lacks("the async runtime of a thread for sessions", why))?;
        Ok(Worker { opens, load, offers, end })
    }

    /// Returns the number of its sessions.
    pub(super) fn load(&self) -> usize {
        self.load.load(Ordering::Relaxed)
    }

    /// Returns whether an offer to it is late, so that one of its sessions seems to block it.
    pub(super) fn is_held_up(&self, late: Duration) -> bool {
        self.offers.is_late(late)
    }

    /// Opens a session on it, and counts it as its own. Until the worker takes it, other workers may be offered the
    /// same session.
    pub(super) fn open(&self, open: SessionOpening) -> Weak<SessionOffer> {
        let offer = SessionOffer::new(open, &self.load);
        self.offer(&offer);
        Arc::downgrade(&offer)
    }

    /// Offers a session to it, unless another worker takes the session first.
    pub(super) fn offer(&self, offer: &Arc<SessionOffer>) {
        self.offers.add();
        if self.opens.send(offer.clone()).is_err()
            && let Some(open) = offer.take(&self.load)
        {
            open.mailbox.over(HostError::Stopping);
        }
    }

    /// Waits until its sessions are over and the thread ends.
    pub(super) async fn ended(self) {
        drop(self.opens);
        let _ = self.end.await;
    }
}

/// Creates the async runtime of a thread.
fn runtime() -> io::Result<LocalRuntime> {
    tokio::runtime::Builder::new_current_thread().enable_all().event_interval(8).build_local(Default::default())
}

/// Runs sessions until no more can be opened and all are over.
async fn work(
    mut opens: mpsc::UnboundedReceiver<Arc<SessionOffer>>,
    served: &Served,
    peer: &Arc<dyn Peer>,
    load: &Arc<AtomicUsize>,
    offers: &OfferTimes,
) {
    let mut sessions = JoinSet::new();
    let mut boxes: HashMap<_, Arc<Mailbox>> = HashMap::new();
    let mut more = true;
    while more || !sessions.is_empty() {
        tokio::select! {
            biased;
            Some(ended) = sessions.join_next_with_id() => {
                let (id, why) = match ended {
                    Ok((id, ())) => (id, None),
                    Err(error) => (error.id(), Some(panicked(error))),
                };
                load.fetch_sub(1, Ordering::Relaxed);
                if let Some(mailbox) = boxes.remove(&id) {
                    peer.over(mailbox.id());
                    over(&mailbox, why);
                }
            }
            open = opens.recv(), if more => match open {
                Some(offer) => {
                    offers.came();
                    let Some(open) = offer.take(load) else { continue };
                    let mailbox = open.mailbox.clone();
                    let span = tracing::info_span!("run", run_id = &**mailbox.id());
                    let task = sessions.spawn_local(live(open, served.clone(), peer.clone()).instrument(span));
                    boxes.insert(task.id(), mailbox);
                }
                None => more = false,
            }
        }
    }
}

fn over(mailbox: &Mailbox, broken: Option<Arc<str>>) {
    let id = mailbox.id().clone();
    mailbox.over(match broken {
        Some(why) => HostError::Broken { id, why },
        None => HostError::Closed(id),
    });
}

/// Returns the panic message of a session.
fn panicked(error: tokio::task::JoinError) -> Arc<str> {
    let Ok(panic) = error.try_into_panic() else { return "its task was dropped".into() };
    let said = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let said = said.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    format!("internal error of the runtime: {said}").into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::testing::{Watcher, served};

    #[test]
    fn a_worker_that_could_not_wait_for_anything_does_not_start() {
        let served = served("a.harn", "pipeline default(task) {}", 1, None);
        let started = Worker::start_on(|| Err(io::Error::other("no more files")), 0, served, Arc::<Watcher>::default());
        let told = started.err().map(|diagnostic| diagnostic.message);
        assert_eq!(told.as_deref(), Some("could not start the async runtime of a thread for sessions: no more files"));
    }
}
