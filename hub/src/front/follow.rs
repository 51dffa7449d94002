//! [`TaskFollower`]: the events of one task, for a caller that waits for it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::failures::{FailedOperation, report};
use tokio::sync::Notify;

use crate::broker::task::{TaskEntry, is_final, is_interrupted};
use crate::broker::{BrokerError, ErrorKind, RoutedEvent, SharedEvent};
use crate::proto::a2a::{Task, TaskState};
use crate::proto::agenthub::agent_event::Payload;

use super::{Hub, HubState};

/// Maximum number of events that wait for a follower.
const MAX_EVENTS: usize = 1_024;

/// Maximum size of the events that wait for a follower, in bytes. A single event may be larger.
const MAX_BYTES: usize = 16 << 20;

/// The reason that a follower gets no more events.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FollowEnd {
    /// It is too slow: too many events wait for it.
    #[error("the task was not followed fast enough")]
    Lagged,
    /// The hub ends.
    #[error("the hub is shutting down")]
    Closed,
    /// The hub failed.
    #[error(transparent)]
    Failed(BrokerError),
}

/// The events that wait for a follower.
pub(super) struct FollowerQueue {
    /// Number of the last change that the follower knew from the beginning.
    after: u64,
    state: Mutex<PendingEvents>,
    changed: Notify,
}

#[derive(Default)]
struct PendingEvents {
    events: VecDeque<Arc<RoutedEvent>>,
    bytes: usize,
    end: Option<FollowEnd>,
}

impl FollowerQueue {
    fn lock(&self) -> MutexGuard<'_, PendingEvents> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn offer(&self, event: &Arc<RoutedEvent>) {
        if event.number <= self.after {
            return;
        }
        let mut state = self.lock();
        if state.end.is_some() {
            return;
        }
        let bytes = state.bytes.saturating_add(event.bytes);
        if state.events.len() >= MAX_EVENTS || (bytes > MAX_BYTES && !state.events.is_empty()) {
            *state = PendingEvents { end: Some(FollowEnd::Lagged), ..PendingEvents::default() };
            let message = "stopped following a task for a caller: its events were not read fast enough";
            report(FailedOperation::Delivery, "slow hub follower", message);
        } else {
            state.bytes = bytes;
            state.events.push_back(event.clone());
        }
        drop(state);
        self.changed.notify_one();
    }

    pub(super) fn end(&self, end: FollowEnd) {
        self.lock().end.get_or_insert(end);
        self.changed.notify_one();
    }
}

/// The place of a follower, of which there is a limited number. A caller takes it before it submits the task that it will
/// follow, so that the request is refused before it changes anything.
pub struct FollowerPlace(Hub);

impl Drop for FollowerPlace {
    fn drop(&mut self) {
        self.0.lock().following -= 1;
    }
}

/// A follower of a task. Dropping it ends nothing else.
pub struct TaskFollower {
    /// Freed after the queue is removed.
    place: Arc<FollowerPlace>,
    task_id: String,
    queue: Arc<FollowerQueue>,
    was_settled: bool,
}

impl TaskFollower {
    /// Returns whether the task was over, or waited for its requester, when it was followed first.
    #[must_use]
    pub fn was_settled(&self) -> bool {
        self.was_settled
    }

    /// Waits for the next event of the task. Dropping the future loses nothing.
    ///
    /// # Errors
    /// Fails if no more events come.
    pub async fn next(&mut self) -> Result<SharedEvent, FollowEnd> {
        loop {
            {
                let mut state = self.queue.lock();
                if let Some(event) = state.events.pop_front() {
                    state.bytes = state.bytes.saturating_sub(event.bytes);
                    return Ok(event.event.clone());
                }
                if let Some(end) = &state.end {
                    return Err(end.clone());
                }
            }
            // A permit is stored if an event came since the lock was released.
            self.queue.changed.notified().await;
        }
    }
}

impl Drop for TaskFollower {
    fn drop(&mut self) {
        let mut state = self.place.0.lock();
        if let Some(queues) = state.followers.get_mut(&self.task_id) {
            queues.retain(|queue| !Arc::ptr_eq(queue, &self.queue));
            if queues.is_empty() {
                state.followers.remove(&self.task_id);
            }
        }
    }
}

impl HubState {
    /// Offers stored events to the followers of their tasks.
    pub(super) fn offer_to_followers(&self, events: &[Arc<RoutedEvent>]) {
        if self.followers.is_empty() {
            return;
        }
        // A change may be several events, of which one is the main one.
        for event in events.iter().filter(|event| event.main) {
            let followers = self.followers.get(event.event.task_id());
            followers.into_iter().flatten().for_each(|queue| queue.offer(event));
        }
    }

    /// Ends all followers.
    pub(super) fn end_followers(&self, end: &FollowEnd) {
        self.followers.values().flatten().for_each(|queue| queue.end(end.clone()));
    }
}

/// Returns whether a task in a state may be over or wait for its requester.
fn may_settle(state: TaskState) -> bool {
    is_final(state) || is_interrupted(state)
}

impl Hub {
    /// Takes the place of a follower.
    ///
    /// # Errors
    /// Fails if too many tasks are followed, or the store failed.
    pub fn follower_place(&self) -> Result<Arc<FollowerPlace>, BrokerError> {
        let mut state = self.lock();
        if let Some(error) = &state.failed {
            return Err(error.clone());
        }
        let most = state.broker.options().max_subscriptions;
        if state.following >= most {
            return Err(BrokerError::limit(format!("too many followed tasks: the limit is {most}")));
        }
        state.following += 1;
        Ok(Arc::new(FollowerPlace(self.clone())))
    }

    /// Returns a task as it is now, and a follower of what comes next.
    ///
    /// # Errors
    /// Fails if the task does not exist, too many tasks are followed, or the store failed.
    pub async fn follow(&self, task_id: &str) -> Result<(Task, TaskFollower), BrokerError> {
        self.follow_in(&self.follower_place()?, task_id).await
    }

    /// Follows a task like [`Hub::follow`], in a place that was taken before.
    ///
    /// # Errors
    /// Fails if the task does not exist, or the store failed.
    pub async fn follow_in(
        &self,
        place: &Arc<FollowerPlace>,
        task_id: &str,
    ) -> Result<(Task, TaskFollower), BrokerError> {
        let (task, follower, unsettled) = {
            let mut state = self.lock();
            if let Some(error) = &state.failed {
                return Err(error.clone());
            }
            let task = state.broker.task_with_history(task_id, 0)?;
            let was_settled = state.broker.task(task_id).is_some_and(TaskEntry::is_settled);
            let after = state.broker.last_number();
            let queue = Arc::new(FollowerQueue { after, state: Mutex::default(), changed: Notify::new() });
            state.followers.entry(task_id.to_owned()).or_default().push(queue.clone());
            let unsettled = (!state.outbox.is_empty()).then_some(state.appended);
            let follower = TaskFollower { place: place.clone(), task_id: task_id.to_owned(), queue, was_settled };
            (task, follower, unsettled)
        };
        if let Some(number) = unsettled {
            self.settle(number).await?;
        }
        Ok((task, follower))
    }

    /// Waits until a task is over or waits for its requester, at most for some time, and returns it as it is then, and
    /// whether it is so. A task whose requester has answered does not wait for it any more.
    ///
    /// # Errors
    /// Fails if the task does not exist, the hub ends, or the store failed.
    pub async fn settled_task(&self, task_id: &str, wait: Duration) -> Result<(Task, bool), BrokerError> {
        self.settled_task_in(&self.follower_place()?, task_id, wait).await
    }

    /// Waits for a task like [`Hub::settled_task`], in a place that was taken before.
    ///
    /// # Errors
    /// Fails if the task does not exist, the hub ends, or the store failed.
    pub async fn settled_task_in(
        &self,
        place: &Arc<FollowerPlace>,
        task_id: &str,
        wait: Duration,
    ) -> Result<(Task, bool), BrokerError> {
        let end = tokio::time::Instant::now() + wait;
        loop {
            let (task, mut follower) = self.follow_in(place, task_id).await?;
            if follower.was_settled() {
                return Ok((task, true));
            }
            loop {
                match tokio::time::timeout_at(end, follower.next()).await {
                    Err(_) => {
                        let (task, follower) = self.follow_in(place, task_id).await?;
                        return Ok((task, follower.was_settled()));
                    }
                    Ok(Ok(event)) => {
                        let is_settling = match &event.payload {
                            Some(Payload::StatusUpdate(update)) => {
                                update.status.as_ref().is_some_and(|status| may_settle(status.state()))
                            }
                            _ => false,
                        };
                        if is_settling {
                            break;
                        }
                    }
                    // Its present state shows what it missed.
                    Ok(Err(FollowEnd::Lagged)) => break,
                    Ok(Err(FollowEnd::Closed)) => {
                        return Err(BrokerError::new(
                            ErrorKind::Unavailable,
                            "the hub is shutting down; ask again later",
                        ));
                    }
                    Ok(Err(FollowEnd::Failed(error))) => return Err(error),
                }
            }
        }
    }
}
