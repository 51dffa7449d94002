//! Reminders that a sub-task inherits: the pending ones of the tasks on this server that its message names. The same
//! filter applies to sub-agents.

use std::sync::Arc;
use std::time::Duration;

use a2a::Message;
use base::data::Data;
use runtime::reminder::Reminder;

use super::shared::ManagerState;
use super::shared_task::SharedTask;
use crate::a2a::injection::of_metadata;

/// The timeout for a parent's reminders: a parent that runs plain code does not answer at once.
const STOP_TIMEOUT: Duration = Duration::from_secs(1);
/// The maximum number of parents of a task.
const MOST: usize = 8;

/// Returns the pending reminders of the tasks that the message names as its parent or refers to, if they run here.
/// Reminders that the message carries itself are not inherited again.
pub(super) async fn inherited(
    shared: &ManagerState,
    shared_task: &SharedTask,
    message: &Message,
    metadata: &Data,
) -> Vec<Arc<Reminder>> {
    let parent = metadata.get("parent_task_id").as_shared_str();
    let mut named: Vec<Arc<str>> = parent.into_iter().chain(message.reference_task_ids.iter().cloned()).collect();
    named.dedup();
    let carried: Vec<_> = of_metadata(metadata).unwrap_or_default().into_iter().filter_map(|given| given.id).collect();
    let mut handed: Vec<Arc<Reminder>> = Vec::new();
    for id in named.iter().filter(|id| **id != shared_task.id).take(MOST) {
        let parent = shared.directory().find(id);
        let Some(session) = parent.and_then(|parent| parent.handle()) else { continue };
        let of_parent = tokio::time::timeout(STOP_TIMEOUT, session.hand_over()).await.unwrap_or_default();
        let is_new = |reminder: &Arc<Reminder>| {
            !carried.contains(&reminder.id) && !handed.iter().any(|known| known.id == reminder.id)
        };
        let new: Vec<_> = of_parent.into_iter().filter(is_new).collect();
        handed.extend(new);
    }
    handed
}
