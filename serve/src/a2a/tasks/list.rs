//! A page of the tasks in memory, most recently changed first.

use std::sync::Arc;

use a2a::{ListTasks, ShapeError, Task, TaskPage};

use super::{PageBuilder, TaskManager};
use crate::a2a::Refusal;

/// The default and the maximum number of tasks on a page.
const PAGE: (u32, u32) = (50, 100);

impl TaskManager {
    /// Returns a page of the tasks in memory.
    pub(super) fn page(&self, asked: &ListTasks) -> Result<TaskPage, Refusal> {
        let after = asked.page_token.as_deref().map(read_page_token).transpose()?;
        let all = self.0.directory().all();
        let wanted = |task: &Arc<Task>| {
            self.sees(&task.id)
                && asked.context_id.as_ref().is_none_or(|id| *id == task.context_id)
                && asked.state.is_none_or(|state| state == task.status.state)
                && asked.changed_since_ms.is_none_or(|since| task.status.at_ms.unwrap_or_default() >= since)
        };
        let mut tasks: Vec<_> = all.iter().map(|shared_task| shared_task.task()).filter(wanted).collect();
        tasks.sort_by(|a, b| place(b).cmp(&place(a)));
        let total_size = tasks.len() as u64;
        let page_size = asked.page_size.unwrap_or(PAGE.0).clamp(1, PAGE.1);
        let behind = |task: &Arc<Task>| after.as_ref().is_none_or(|(at, id)| place(task) < (*at, id));
        let mut rest = tasks.into_iter().filter(behind);
        let (mut page, mut is_full) = (PageBuilder::default(), false);
        for task in rest.by_ref().take(page_size as usize) {
            if page.push(task, asked).is_err() {
                is_full = true;
                break;
            }
        }
        let tasks = page.done();
        let last = tasks.last().filter(|_| is_full || rest.next().is_some());
        let next_page_token = last.map(|task| page_token(task)).unwrap_or_default();
        Ok(TaskPage { tasks, next_page_token, page_size, total_size })
    }
}

/// Returns the sort key of a task.
fn place(task: &Task) -> (u64, &str) {
    (task.status.at_ms.unwrap_or_default(), &task.id)
}

/// Returns the token of the page after a task.
pub(crate) fn page_token(task: &Task) -> String {
    let (at_ms, id) = place(task);
    format!("{at_ms}.{id}")
}

/// Returns the place of the last task of the page before.
///
/// # Errors
/// The token was not returned by a page.
pub(crate) fn read_page_token(token: &str) -> Result<(u64, String), Refusal> {
    let read = token.split_once('.').and_then(|(at, id)| Some((at.parse().ok()?, id.to_owned())));
    read.ok_or_else(|| {
        let message = "`pageToken` was not returned by an earlier page".to_owned();
        Refusal::Params(ShapeError { field: "pageToken".to_owned(), message, suggestion: None })
    })
}
