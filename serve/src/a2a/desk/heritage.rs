//! What a sub-task inherits: the pending reminders of the tasks of this server that its message names, by the one filter that
//! sub-agents have.

use std::sync::Arc;
use std::time::Duration;

use a2a::Message;
use runtime::data::Data;
use runtime::reminder::Reminder;

use super::cell::Cell;
use super::shared::Shared;
use crate::a2a::injection::of_metadata;

/// How long a parent may take to say what it hands over: one that is at work in plain code does not answer at once.
const PATIENCE: Duration = Duration::from_secs(1);
/// The most parents of a task.
const MOST: usize = 8;

/// What the tasks hand over that a message names as its parent or refers to, as far as they are at work here. What the message
/// carries itself is not inherited once more.
pub(super) async fn inherited(shared: &Shared, cell: &Cell, message: &Message, metadata: &Data) -> Vec<Arc<Reminder>> {
    let parent = metadata.get("parent_task_id").as_shared_str();
    let mut named: Vec<Arc<str>> = parent.into_iter().chain(message.reference_task_ids.iter().cloned()).collect();
    named.dedup();
    let carried: Vec<_> = of_metadata(metadata).unwrap_or_default().into_iter().filter_map(|given| given.id).collect();
    let mut handed: Vec<Arc<Reminder>> = Vec::new();
    for id in named.iter().filter(|id| **id != cell.id).take(MOST) {
        let parent = shared.directory().find(id);
        let Some(session) = parent.and_then(|parent| parent.handle()) else { continue };
        let of_parent = tokio::time::timeout(PATIENCE, session.hand_over()).await.unwrap_or_default();
        let is_new = |reminder: &Arc<Reminder>| {
            !carried.contains(&reminder.id) && !handed.iter().any(|known| known.id == reminder.id)
        };
        let new: Vec<_> = of_parent.into_iter().filter(is_new).collect();
        handed.extend(new);
    }
    handed
}
