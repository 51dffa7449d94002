//! Pages of tasks.

use std::sync::Arc;

use a2a::{ListTasks, Status, Task, TaskPage};

use super::super::tasks::PageBuilder;
use super::fold::{DAMAGED, TaskFold};
use super::index::{TaskIndex, TaskSummary};
use super::{StoreError, TaskStore};

/// The default number of tasks on a page.
const PAGE: u32 = 50;
/// The maximum number of tasks on a page.
const MOST: u32 = 100;

/// The tasks to put on a page.
pub(super) struct SelectedTasks {
    /// The cursor, the id and the summary of each task.
    pub(super) tasks: Vec<(u64, Arc<str>, TaskSummary)>,
    /// Whether more tasks follow.
    pub(super) has_more: bool,
    pub(super) size: u32,
    pub(super) total: u64,
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
        let wanted = {
            let mut index = self.index();
            index.refresh(&self.0.store)?;
            wanted(&index, asked, sees)?
        };
        let (mut page, mut has_more, mut last) = (PageBuilder::default(), wanted.has_more, None);
        for (cursor, id, row) in wanted.tasks {
            let task = match self.in_list(&id, asked) {
                Ok(found) => found,
                Err(error) => Some(Arc::new(unreadable(&id, &row, &error))),
            };
            if task.is_some_and(|task| page.push(task, asked).is_err()) {
                has_more = true;
                break;
            }
            last = Some(cursor);
        }
        let next_page_token = last.filter(|_| has_more).map(|last| format!("{last:x}")).unwrap_or_default();
        Ok(TaskPage { tasks: page.done(), next_page_token, page_size: wanted.size, total_size: wanted.total })
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

/// Selects the tasks for a page.
pub(super) fn wanted(
    index: &TaskIndex,
    asked: &ListTasks,
    sees: &dyn Fn(&str) -> bool,
) -> Result<SelectedTasks, StoreError> {
    let token = asked.page_token.as_deref().filter(|token| !token.is_empty());
    let before = token.map_or(Ok(u64::MAX), |token| read(token).ok_or_else(|| StoreError::PageToken(token.into())))?;
    let size = asked.page_size.unwrap_or(PAGE).clamp(1, MOST);
    let fits = |id: &str, row: &TaskSummary| {
        asked.context_id.as_ref().is_none_or(|id| row.context_id == *id)
            && asked.state.is_none_or(|state| row.state == state)
            && asked.changed_since_ms.is_none_or(|since| row.at_ms >= since)
            && sees(id)
    };
    let total = index.below(u64::MAX).filter(|(_, id, row)| fits(id, row)).count() as u64;
    let mut rest = index.below(before).filter(|(_, id, row)| fits(id, row));
    let tasks = rest.by_ref().take(size as usize).map(|(cursor, id, row)| (cursor, id.clone(), row.clone())).collect();
    let has_more = rest.next().is_some();
    Ok(SelectedTasks { tasks, has_more, size, total })
}

fn read(token: &str) -> Option<u64> {
    let plain = token.bytes().all(|byte| byte.is_ascii_hexdigit());
    u64::from_str_radix(token, 16).ok().filter(|_| plain)
}

/// Returns a placeholder for a task whose records cannot be read.
fn unreadable(id: &Arc<str>, row: &TaskSummary, error: &StoreError) -> Task {
    Task {
        id: id.clone(),
        context_id: row.context_id.clone(),
        status: Status { state: row.state, message: None, at_ms: Some(row.at_ms) },
        artifacts: Vec::new(),
        history: Vec::new(),
        metadata: base::data::Data::dict([(DAMAGED, base::data::Data::from(error.to_string().as_str()))]),
    }
}
