//! How much of what was said of a task is kept, and how much of tasks is on a page: the same while they live and where they are read
//! from the log.

use std::sync::Arc;

use a2a::{Content, ListTasks, Message, Part, Task};

/// The most messages of a history. Beyond, the oldest are dropped, but for the one that the task began with.
pub(super) const MOST_SAID: usize = 1_000;
/// The most bytes of a history, likewise.
pub(super) const MOST_SAID_BYTES: usize = 16 << 20;

/// Puts one more message into a history of so many bytes, and drops what is too much then.
pub(in crate::a2a) fn push_bounded(history: &mut Vec<Arc<Message>>, bytes: &mut usize, message: Arc<Message>) {
    *bytes += weight_of(&message);
    history.push(message);
    while history.len() > 2 && (history.len() > MOST_SAID || *bytes > MOST_SAID_BYTES) {
        *bytes = bytes.saturating_sub(weight_of(&history.remove(1)));
    }
}

/// What counts for a part beside what it holds.
const PART: usize = 64;

/// Roughly the bytes of a message.
pub(in crate::a2a) fn weight_of(message: &Message) -> usize {
    weight_of_parts(&message.parts) + message.metadata.weight() + 2 * PART
}

/// Roughly the bytes of parts.
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

/// The most bytes of a page of tasks, unless its first task alone has more.
const MOST_OF_PAGE: usize = 8 << 20;

/// A page of tasks that is being filled. It ends early where its tasks take too much, and has one at least.
#[derive(Default)]
pub(in crate::a2a) struct Page {
    tasks: Vec<Arc<Task>>,
    bytes: usize,
}

impl Page {
    /// Puts one more on it, of which as much counts as is `asked` for.
    ///
    /// # Errors
    /// It does not fit: the next page begins with it.
    pub(in crate::a2a) fn push(&mut self, task: Arc<Task>, asked: &ListTasks) -> Result<(), Arc<Task>> {
        let bytes = self.bytes.saturating_add(weight_in_list(&task, asked));
        if bytes > MOST_OF_PAGE && !self.tasks.is_empty() {
            return Err(task);
        }
        self.bytes = bytes;
        self.tasks.push(task);
        Ok(())
    }

    pub(in crate::a2a) fn done(self) -> Vec<Arc<Task>> {
        self.tasks
    }
}

/// Roughly the bytes of what a list shows of a task.
fn weight_in_list(task: &Task, asked: &ListTasks) -> usize {
    let newest = asked.history_length.map_or(0, |length| length as usize);
    let older = task.history.len().saturating_sub(newest);
    let said = task.history[older..].iter().chain(&task.status.message).map(|message| weight_of(message));
    let artifacts = task.artifacts.iter().filter(|_| asked.include_artifacts);
    let made = artifacts.map(|artifact| weight_of_parts(&artifact.parts) + artifact.metadata.weight());
    PART + task.metadata.weight() + said.chain(made).sum::<usize>()
}
