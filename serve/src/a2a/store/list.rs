//! Pages of tasks.

use std::collections::BTreeMap;
use std::sync::Arc;

use a2a::{ListTasks, Status, Task, TaskPage};

use super::super::tasks::PageBuilder;
use super::fold::{DAMAGED, TaskFold};
use super::summary::TaskSummary;
use super::{StoreError, TaskStore};

/// The default number of tasks on a page.
const PAGE: u32 = 50;
/// The maximum number of tasks on a page.
const MOST: u32 = 100;

/// The tasks to put on a page.
struct SelectedTasks {
    tasks: Vec<TaskSummary>,
    /// Whether more tasks follow.
    has_more: bool,
    size: u32,
    total: u64,
}

impl TaskStore {
    /// Returns a page of all tasks, most recently changed first. A task that changes during paging moves to the top of
    /// a new list, and appears on no page twice. Blocks on the disk.
    ///
    /// # Errors
    /// The page token is invalid, or the log cannot be read.
    pub fn page(&self, asked: &ListTasks) -> Result<TaskPage, StoreError> {
        self.page_of(asked, &|_| true)
    }

    /// Returns a page of the tasks that the caller sees, like [`TaskStore::page`]. It tells nothing of the others.
    pub(super) fn page_of(&self, asked: &ListTasks, sees: &dyn Fn(&str) -> bool) -> Result<TaskPage, StoreError> {
        let wanted = self.wanted(asked, sees)?;
        let (mut page, mut has_more, mut last) = (PageBuilder::default(), wanted.has_more, None);
        for summary in wanted.tasks {
            let task = match self.in_list(&summary.task_id, asked) {
                Ok(found) => found,
                Err(error) => Some(Arc::new(unreadable(&summary, &error))),
            };
            if task.is_some_and(|task| page.push(task, asked).is_err()) {
                has_more = true;
                break;
            }
            last = Some(summary.cursor);
        }
        let next_page_token = last.filter(|_| has_more).map(|last| format!("{last:x}")).unwrap_or_default();
        Ok(TaskPage { tasks: page.done(), next_page_token, page_size: wanted.size, total_size: wanted.total })
    }

    /// Selects the tasks for a page.
    fn wanted(&self, asked: &ListTasks, sees: &dyn Fn(&str) -> bool) -> Result<SelectedTasks, StoreError> {
        let token = asked.page_token.as_deref().filter(|token| !token.is_empty());
        let before =
            token.map_or(Ok(u64::MAX), |token| read(token).ok_or_else(|| StoreError::PageToken(token.into())))?;
        let size = asked.page_size.unwrap_or(PAGE).clamp(1, MOST);
        let (mut total, mut newest) = (0, BTreeMap::new());
        self.each_task(|task| {
            let fits = asked.context_id.as_deref().is_none_or(|id| task.context_id == id)
                && asked.state.is_none_or(|state| task.state == Some(state))
                && asked.changed_since_ms.is_none_or(|since| task.at_ms >= since)
                && sees(task.task_id());
            if !fits {
                return;
            }
            total += 1;
            let is_full = newest.len() > size as usize;
            if task.cursor >= before || is_full && newest.first_key_value().is_some_and(|(at, _)| *at > task.cursor) {
                return;
            }
            newest.insert(task.cursor, task.to_summary());
            // One more than the page has, which shows that it is not the last one.
            if is_full {
                newest.pop_first();
            }
        })?;
        let has_more = newest.len() > size as usize;
        let tasks = newest.into_values().rev().take(size as usize).collect();
        Ok(SelectedTasks { tasks, has_more, size, total })
    }

    /// Reads the requested parts of a task, and holds no others in memory.
    fn in_list(&self, task_id: &str, asked: &ListTasks) -> Result<Option<Arc<Task>>, StoreError> {
        let newest = asked.history_length.map_or(0, |length| length as usize);
        let fold = TaskFold::in_list(task_id, newest > 0, asked.include_artifacts);
        let Some(found) = self.fold_into(fold, task_id)?.done() else { return Ok(None) };
        let mut task = Arc::unwrap_or_clone(found.task);
        let older = task.history.len().saturating_sub(newest);
        task.history.drain(..older);
        Ok(Some(Arc::new(task)))
    }
}

fn read(token: &str) -> Option<u64> {
    let plain = token.bytes().all(|byte| byte.is_ascii_hexdigit());
    u64::from_str_radix(token, 16).ok().filter(|_| plain)
}

/// Returns a placeholder for a task whose records cannot be read.
fn unreadable(row: &TaskSummary, error: &StoreError) -> Task {
    Task {
        id: row.task_id.clone(),
        context_id: row.context_id.clone(),
        status: Status { state: row.state, message: None, at_ms: Some(row.at_ms) },
        artifacts: Vec::new(),
        history: Vec::new(),
        metadata: base::data::Data::dict([(DAMAGED, base::data::Data::from(error.to_string().as_str()))]),
    }
}
