//! [`LeaseRenewal`]: extends the lease of a task while its worker is busy in it.
//!
//! It ends when the script no longer holds the task, when the task is over, when the hub says that the lease is lost, and
//! when the script has not called the task for a time that an option sets. It runs on the thread of the script, so a script
//! that computes without end loses its lease.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use hub::proto::worker::RenewRequest;
use hub::proto::worker::hub_worker_client::HubWorkerClient;
use tonic::{Request, Status};

use super::Transport;
use super::client::is_transient;

/// The shortest and the longest time between two renewals.
const INTERVALS: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(600));

/// The renewal of a lease. It ends when this is dropped.
pub(crate) struct LeaseRenewal {
    state: Mutex<RenewalState>,
    renew_for: Duration,
}

struct RenewalState {
    /// The last call of the task by the script.
    called: Instant,
    is_over: bool,
}

/// The requests of a renewal.
pub(crate) struct RenewalRequests {
    pub(crate) transport: Transport,
    pub(crate) token: Option<Arc<str>>,
    pub(crate) request: RenewRequest,
}

impl LeaseRenewal {
    /// Begins to renew a lease of a duration.
    pub(crate) fn start(requests: RenewalRequests, lease: Duration, renew_for: Duration) -> Arc<LeaseRenewal> {
        let state = Mutex::new(RenewalState { called: Instant::now(), is_over: false });
        let renewal = Arc::new(LeaseRenewal { state, renew_for });
        if !renew_for.is_zero() {
            let interval = (lease / 3).clamp(INTERVALS.0, INTERVALS.1);
            tokio::spawn(renew(Arc::downgrade(&renewal), requests, interval));
        }
        renewal
    }

    /// Notes that the script called the task.
    pub(crate) fn note_call(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).called = Instant::now();
    }

    /// Ends it.
    pub(crate) fn end(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).is_over = true;
    }

    fn goes_on(&self) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        !state.is_over && state.called.elapsed() < self.renew_for
    }
}

async fn renew(renewal: Weak<LeaseRenewal>, requests: RenewalRequests, interval: Duration) {
    loop {
        tokio::time::sleep(interval).await;
        if !renewal.upgrade().is_some_and(|renewal| renewal.goes_on()) {
            return;
        }
        match requests.send().await {
            Ok(()) => {}
            // The hub may be back before the lease ends.
            Err(status) if is_transient(&status) => {}
            // The next call of the task reports it.
            Err(status) => {
                tracing::debug!(task_id = %requests.request.task_id, "lease not renewed: {status}");
                return;
            }
        }
    }
}

impl RenewalRequests {
    async fn send(&self) -> Result<(), Status> {
        let mut request = Request::new(self.request.clone());
        super::client::sign(&mut request, self.token.as_deref())?;
        HubWorkerClient::new(self.transport.clone()).renew(request).await.map(|_| ())
    }
}
