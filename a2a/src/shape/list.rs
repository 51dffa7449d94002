//! Asking for tasks, and the page that answers: spelled alike in both versions, but for the state and the tasks.

use runtime::data::Data;

use super::fields::Fields;
use super::object::Object;
use super::{ShapeError, Version, key, word};
use crate::{ListTasks, TaskPage};

/// The maximum number of tasks on a page.
const MAX_PAGE: u32 = 100;

pub(super) fn read(version: Version, params: &Object<'_>) -> Result<ListTasks, ShapeError> {
    let page_size = params.count(&key::PAGE_SIZE)?;
    if page_size.is_some_and(|size| size == 0 || size > MAX_PAGE) {
        return Err(params.wrong(&key::PAGE_SIZE, &format!("must be from 1 to {MAX_PAGE}")));
    }
    let state = match version {
        Version::V1_0 => word::read_loud_state(params, &key::STATUS)?,
        Version::V0_3 => word::read_quiet_state(params, &key::STATUS)?,
    };
    Ok(ListTasks {
        context_id: params.text(&key::CONTEXT_ID)?,
        // In 1.0 a caller that says nothing may write the word for nothing.
        state: state.filter(|state| version != Version::V1_0 || *state != crate::TaskState::Unknown),
        changed_since_ms: params.moment(&key::STATUS_TIMESTAMP_AFTER)?,
        page_size,
        page_token: params.text(&key::PAGE_TOKEN)?,
        history_length: params.count(&key::HISTORY_LENGTH)?,
        include_artifacts: params.flag(&key::INCLUDE_ARTIFACTS)?.unwrap_or(false),
    })
}

pub(super) fn page(version: Version, page: &TaskPage, asked: &ListTasks) -> Data {
    let history = asked.history_length.unwrap_or(0);
    let tasks = page.tasks.iter().map(|task| {
        let artifacts = if asked.include_artifacts { task.artifacts.as_slice() } else { &[] };
        version.task_with(task, Some(history), artifacts)
    });
    Fields::new()
        .with(&key::TASKS, tasks.collect::<Data>())
        .with(&key::NEXT_PAGE_TOKEN, page.next_page_token.as_str())
        .with(&key::PAGE_SIZE, page.page_size)
        .with(&key::TOTAL_SIZE, page.total_size)
        .done()
}
