//! [`HubTaskFrames`]: what happens to a task of a hub, as frames of the Agent2Agent protocol.

use std::sync::Arc;

use ::hub::proto::agenthub::agent_event::Payload;
use ::hub::{FollowEnd, TaskFollower};
use a2a::{Frame, Task, TaskState};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use stdlib::hub_convert::{artifact_update_of, status_update_of, task_of};

use crate::a2a::TaskFrames;
use crate::a2a::feed::{FeedItem, FeedUpdate};

/// The frames of a task: its present state, and its updates until it is over or waits for its caller.
pub(super) struct HubTaskFrames {
    first: Option<Task>,
    /// `None` after the last frame.
    follower: Option<TaskFollower>,
}

impl HubTaskFrames {
    pub(super) fn new(task: Task, follower: TaskFollower) -> HubTaskFrames {
        // A task that waited for its caller goes on once it is answered.
        let follower = (!follower.was_settled()).then_some(follower);
        HubTaskFrames { first: Some(task), follower }
    }

    async fn next_item(&mut self) -> Option<FeedItem> {
        if let Some(task) = self.first.take() {
            return Some(update(Frame::Task(task.into()), self.follower.is_none()));
        }
        loop {
            let event = match self.follower.as_mut()?.next().await {
                Ok(event) => event,
                Err(end) => {
                    self.follower = None;
                    return Some(if end == FollowEnd::Lagged { FeedItem::Lagged } else { FeedItem::Left });
                }
            };
            let frame = match event.payload.clone() {
                Some(Payload::StatusUpdate(update)) => Frame::Status(status_update_of(update)),
                Some(Payload::ArtifactUpdate(update)) => Frame::Artifact(artifact_update_of(update)),
                // It returned to its queue.
                Some(Payload::Task(task)) => Frame::Task(task_of(task).into()),
                // A stream of a task has no messages of its caller.
                _ => continue,
            };
            let is_last = matches!(&frame, Frame::Status(update) if rests(update.status.state));
            if is_last {
                self.follower = None;
            }
            return Some(update(frame, is_last));
        }
    }
}

impl TaskFrames for HubTaskFrames {
    fn next(&mut self) -> BoxFuture<'_, Option<FeedItem>> {
        self.next_item().boxed()
    }
}

fn update(frame: Frame, is_last: bool) -> FeedItem {
    FeedItem::Update(Arc::new(FeedUpdate::Frame(frame)), is_last)
}

/// Returns whether a stream ends with this state.
fn rests(state: TaskState) -> bool {
    state.is_terminal() || state.is_interrupted()
}
