//! Limits on a task's history and on a page of tasks, shared by live tasks and tasks read from the log.

use std::sync::Arc;

use a2a::{Content, ListTasks, Message, Part, Task};

/// The maximum number of messages in a history. Beyond it, the oldest are dropped, except the one that began the task.
pub(super) const MOST_SAID: usize = 1_000;
/// The maximum size of a history in bytes, with the same rule.
pub(super) const MOST_SAID_BYTES: usize = 16 << 20;

/// Appends a message to a history of `bytes` bytes, and drops what exceeds the limits.
pub(in crate::a2a) fn push_bounded(history: &mut Vec<Arc<Message>>, bytes: &mut usize, message: Arc<Message>) {
    *bytes += weight_of(&message);
    history.push(message);
    while history.len() > 2 && (history.len() > MOST_SAID || *bytes > MOST_SAID_BYTES) {
        *bytes = bytes.saturating_sub(weight_of(&history.remove(1)));
    }
}

/// The size counted for a part in addition to its content, in bytes.
const PART: usize = 64;

/// Returns the approximate size of a message in bytes.
pub(in crate::a2a) fn weight_of(message: &Message) -> usize {
    weight_of_parts(&message.parts) + message.metadata.weight() + 2 * PART
}

/// Returns the approximate size of parts in bytes.
pub(super) fn weight_of_parts(parts: &[Part]) -> usize {
    let weight = |part: &Part| {
        let held = match &part.content {
            Content::Text(text) | Content::Raw(text) | Content::Url(text) => text.len(),
            Content::Data(data) => data.weight(),
        };
        PART + held + part.metadata.weight()
    };
    parts.iter().map(weight).sum()
}

/// The maximum size of a page of tasks in bytes, unless its first task alone is larger.
const MOST_OF_PAGE: usize = 8 << 20;

/// A page of tasks that is being filled. It ends early if its tasks are too large, and has at least one.
#[derive(Default)]
pub(crate) struct PageBuilder {
    tasks: Vec<Arc<Task>>,
    bytes: usize,
}

impl PageBuilder {
    /// Adds a task, and counts only the parts of it that are `asked` for.
    ///
    /// # Errors
    /// The task does not fit: the next page begins with it.
    pub(crate) fn push(&mut self, task: Arc<Task>, asked: &ListTasks) -> Result<(), Arc<Task>> {
        let bytes = self.bytes.saturating_add(weight_in_list(&task, asked));
        if bytes > MOST_OF_PAGE && !self.tasks.is_empty() {
            return Err(task);
        }
        self.bytes = bytes;
        self.tasks.push(task);
        Ok(())
    }

    pub(crate) fn done(self) -> Vec<Arc<Task>> {
        self.tasks
    }
}

/// Returns the approximate size of the parts of a task that a list shows, in bytes.
fn weight_in_list(task: &Task, asked: &ListTasks) -> usize {
    let newest = asked.history_length.map_or(0, |length| length as usize);
    let older = task.history.len().saturating_sub(newest);
    let said = task.history[older..].iter().chain(&task.status.message).map(|message| weight_of(message));
    let artifacts = task.artifacts.iter().filter(|_| asked.include_artifacts);
    let made = artifacts.map(|artifact| weight_of_parts(&artifact.parts) + artifact.metadata.weight());
    PART + task.metadata.weight() + said.chain(made).sum::<usize>()
}
