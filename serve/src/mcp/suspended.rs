//! [`SuspendedCalls`]: calls that wait for the user of a client without a session. The client sends its request again, with
//! the answer and with the state that names the call.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::data::Data;
use stdlib::ServedCall;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::calls::RunningCall;
use super::client::McpClient;
use super::fault::McpFault;
use super::peer::CallFeed;
use super::question::{self, PendingQuestion};
use crate::spawn::spawn;

/// The time for which a call waits for an answer.
const EXPIRY: Duration = Duration::from_secs(15 * 60);
/// The key of the question in `inputRequests`.
const KEY: &str = "answer";

/// Calls that wait for an answer, by states that cannot be guessed. Clones share them.
#[derive(Clone)]
pub(super) struct SuspendedCalls {
    most: usize,
    all: Arc<Mutex<HashMap<Arc<str>, SuspendedCall>>>,
}

/// A call that waits for an answer. Dropping it cancels the call.
struct SuspendedCall {
    call: RunningCall,
    feed: Arc<CallFeed>,
    question: PendingQuestion,
    /// The call that the repeated request must make.
    served: ServedCall,
    since: Instant,
    _expiry: Expiry,
}

/// The timer that ends a call. Dropping it stops the timer.
struct Expiry(AbortHandle);

impl Drop for Expiry {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl SuspendedCalls {
    /// Creates a store that keeps at most `most` calls.
    pub(super) fn new(most: usize) -> SuspendedCalls {
        SuspendedCalls { most: most.max(1), all: Arc::default() }
    }

    /// Locks the calls. Code that holds this lock does not panic.
    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, SuspendedCall>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of calls that wait.
    pub(super) fn waiting(&self) -> usize {
        self.lock().len()
    }

    /// Keeps a call until its question is answered, and returns the result that asks the client. If there are too
    /// many, the oldest call ends: its client has probably given up.
    pub(super) fn suspend(
        &self,
        call: RunningCall,
        feed: Arc<CallFeed>,
        served: ServedCall,
        question: PendingQuestion,
    ) -> Data {
        let state: Arc<str> = uuid::Uuid::new_v4().simple().to_string().into();
        let (calls, expired) = (self.clone(), state.clone());
        let expiry = spawn(async move {
            tokio::time::sleep(EXPIRY).await;
            calls.lock().remove(&expired);
        });
        let result = input_required(&state, &question);
        let suspended = SuspendedCall {
            call,
            feed,
            question,
            served,
            since: Instant::now(),
            _expiry: Expiry(expiry.abort_handle()),
        };
        let mut all = self.lock();
        if all.len() >= self.most
            && let Some(oldest) = all.iter().min_by_key(|(_, call)| call.since).map(|(state, _)| state.clone())
        {
            all.remove(&oldest);
        }
        all.insert(state, suspended);
        result
    }

    /// Continues the call that a repeated request names, with the answer in it.
    ///
    /// # Errors
    /// The call is not known, or the request differs from the one that began it.
    pub(super) fn resume(&self, params: &Data, served: &ServedCall, client: &McpClient) -> Result<Resumed, McpFault> {
        let mut all = self.lock();
        let unknown =
            || McpFault::params("unknown `requestState`: it has expired or was used; send the request without it");
        let state = params.get("requestState").as_str().ok_or_else(unknown)?;
        let suspended = all.get(state).ok_or_else(unknown)?;
        if suspended.served != *served {
            return Err(McpFault::params("the request must be the one whose result has this `requestState`"));
        }
        let reply = params.get("inputResponses").get(KEY);
        if reply.is_nil() {
            return Ok(Resumed::Unanswered(input_required(state, &suspended.question)));
        }
        let SuspendedCall { call, feed, question, .. } = all.remove(state).ok_or_else(unknown)?;
        feed.attach(client.clone());
        question.answer(question::answer_of(reply));
        Ok(Resumed::Running(call, feed))
    }
}

/// The state of a call after its request was repeated.
pub(super) enum Resumed {
    /// It has the answer.
    Running(RunningCall, Arc<CallFeed>),
    /// The request has no answer: this result asks again.
    Unanswered(Data),
}

fn input_required(state: &str, question: &PendingQuestion) -> Data {
    Data::dict([
        ("resultType", Data::from("input_required")),
        ("inputRequests", Data::dict([(KEY, question.to_input_request())])),
        ("requestState", state.into()),
    ])
}
