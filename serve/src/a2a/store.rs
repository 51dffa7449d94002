//! Tasks that survive the process: how they are stored in the event log and restored.
//!
//! A task is a run of its own on the log, like a session: all its records name it as the run, whichever process writes
//! them, so that the log finds them by an index.
//!
//! | topic | records |
//! |---|---|
//! | `a2a.task` | created, status, resumed: the data for lists, and the process that runs the task |
//! | `a2a.content` | begun, message, artifact, injected: the content, as frames of protocol version 1.0 |
//!
//! - [`TaskStore`]: the tasks of a log; implements [`TaskJournal`](super::tasks::TaskJournal).
//! - `record`: converts changes to records. `unwritten_answer`: gathers the pieces of an answer. `fold`: rebuilds a
//!   task from its records.
//! - `summary`: summaries of all tasks, from an index of the log. `list`: pages of them.
//! - `takeover`: tasks that ended processes left unfinished.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use a2a::{ListTasks, Message, TaskPage, TaskState};
use base::data::Data;
use eventlog::{DurableFuture, Log, NewRecord, Query, SharedLog, Ticket};
use runtime::event_log::Topic;
use tokio::sync::Semaphore;

use super::tasks::{RestoredTask, TaskChange, TaskFilter, TaskJournal, TaskPosition, digest_of};
use crate::clock::now_ms;
use crate::host::Waiting;
use crate::spawn::spawn_blocking;
use crate::store::{SessionStore, StoreError};
use fold::TaskFold;
use record::{TaskBrief, TaskRecord};
pub(crate) use record::{is_task_run, run_of};

mod fold;
mod list;
mod record;
mod summary;
mod takeover;
#[cfg(test)]
mod tests;
mod unwritten_answer;

/// The interval for checks of another process while its task is followed: a process that is killed writes nothing.
const PROCESS_CHECK: Duration = Duration::from_millis(500);

/// Returns the state of a task after a record of its lifecycle; `None` for a record that cannot be read.
pub(crate) fn task_state(payload: &Data) -> Option<TaskState> {
    TaskBrief::read(payload).ok().map(|brief| brief.state)
}

/// The tasks of a log file. Clones share their state.
#[derive(Clone)]
pub struct TaskStore(Arc<TaskStoreState>);

struct TaskStoreState {
    store: SessionStore,
    /// The open tasks that this process writes.
    open: Mutex<HashMap<Arc<str>, OpenTask>>,
    /// Permits one list at a time: each holds a page in memory.
    lists: Arc<Semaphore>,
    /// Whether the served pipeline may run again.
    resumable: AtomicBool,
}

/// An open task that this process writes.
struct OpenTask {
    brief: TaskBrief,
    pieces: unwritten_answer::UnwrittenAnswer,
}

impl TaskStore {
    /// Creates the store of the tasks that a process serves, in the log of its sessions.
    #[must_use]
    pub fn new(sessions: SessionStore) -> TaskStore {
        TaskStore(Arc::new(TaskStoreState {
            store: sessions,
            open: Mutex::default(),
            lists: Arc::new(Semaphore::new(1)),
            resumable: AtomicBool::new(false),
        }))
    }

    /// Locks the map of open tasks. Every operation leaves it consistent.
    fn open(&self) -> MutexGuard<'_, HashMap<Arc<str>, OpenTask>> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a task, whichever process writes it. Blocks on the disk; the cost is proportional to the task's records.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn load(&self, task_id: &str) -> Result<Option<RestoredTask>, StoreError> {
        Ok(self.fold(task_id)?.done())
    }

    fn fold(&self, task_id: &str) -> Result<TaskFold, StoreError> {
        self.fold_into(TaskFold::new(task_id), task_id)
    }

    fn fold_into(&self, mut fold: TaskFold, task_id: &str) -> Result<TaskFold, StoreError> {
        self.0.store.log().look(|file| file.of_run(&record::run_of(task_id), |record| fold.take(&record)))?;
        Ok(fold)
    }

    fn write(&self, task_id: &str, at_ms: u64, written: impl IntoIterator<Item = TaskRecord>) -> Ticket {
        let log = self.0.store.log_of(&record::run_of(task_id));
        let append = |TaskRecord { topic, word, payload }| {
            log.append(NewRecord {
                topic: topic.into(),
                kind: topic.kind(word).into(),
                payload: payload.into(),
                headers: Data::Nil,
                occurred_at_ms: at_ms,
            })
        };
        written.into_iter().map(append).last().unwrap_or(Ticket::NONE)
    }

    /// Runs a blocking operation off the caller's thread.
    fn beside<T: Send + 'static>(
        &self,
        work: impl FnOnce(&TaskStore) -> Result<T, StoreError> + Send + 'static,
    ) -> Waiting<Result<T, StoreError>> {
        let store = self.clone();
        Box::pin(async move {
            let done = spawn_blocking(move || work(&store)).await;
            // It fails only if the thread's runtime is gone.
            done.unwrap_or(Err(StoreError::NotKept))
        })
    }
}

impl TaskJournal for TaskStore {
    fn note(&self, task_id: &Arc<str>, at_ms: u64, change: &TaskChange) -> Ticket {
        let mut all = self.open();
        if let TaskChange::Created { task, session_id, begun, .. } = change {
            let brief = TaskBrief::new(task, session_id.clone(), begun.is_alone, self.0.store.process());
            all.insert(task_id.clone(), OpenTask { brief, pieces: unwritten_answer::UnwrittenAnswer::default() });
        }
        let Some(open) = all.get_mut(task_id) else { return Ticket::NONE };
        let written = open.written(at_ms, change);
        if open.brief.state.is_terminal() {
            all.remove(task_id);
        }
        self.write(task_id, at_ms, written)
    }

    fn settled(&self, upto: Ticket) -> DurableFuture {
        self.0.store.log().settled(upto)
    }

    fn find(&self, task_id: &str) -> Waiting<Result<Option<RestoredTask>, StoreError>> {
        let task_id = task_id.to_owned();
        self.beside(move |store| store.load_or_end(&task_id))
    }

    fn changed(&self, task_id: &str, since: &TaskPosition) -> Waiting<Result<(), StoreError>> {
        let topics = vec![Topic::Task.as_str().into()];
        let query = Query { topics, after: since.cursor, ..Query::subject(&*record::run_of(task_id)) };
        let mut tail = Log::tail(self.0.store.log(), query);
        let (store, process) = (self.clone(), since.process.clone());
        Box::pin(async move {
            loop {
                tokio::select! {
                    // Records that were removed may have been changes, too.
                    item = tail.next() => return Ok(item.map(drop)?),
                    () = tokio::time::sleep(PROCESS_CHECK) => {}
                }
                let process = process.clone();
                if !store.beside(move |store| store.0.store.lives(&process)).await? {
                    return Ok(());
                }
            }
        })
    }

    fn begun_by(&self, first: &Message) -> Waiting<Result<Vec<Arc<str>>, StoreError>> {
        let first = first.clone();
        self.beside(move |store| store.tasks_begun_by(&first))
    }

    fn list(&self, asked: &ListTasks, sees: TaskFilter) -> Option<Waiting<Result<TaskPage, StoreError>>> {
        let (store, asked) = (self.clone(), asked.clone());
        Some(Box::pin(async move {
            // The semaphore is never closed, so this always succeeds.
            let turn = store.0.lists.clone().acquire_owned().await.ok();
            let read = move |store: &TaskStore| {
                // A caller that disconnects meanwhile does not end the read.
                let _turn = turn;
                store.page_of(&asked, &*sees)
            };
            store.beside(read).await
        }))
    }

    fn left(&self, resumable: bool) -> Result<Vec<RestoredTask>, StoreError> {
        self.0.resumable.store(resumable, Ordering::Relaxed);
        self.0.store.log().index_payloads()?;
        self.take_over()
    }

    fn leave(&self, task_id: &str, asks: bool) -> bool {
        (asks || self.0.resumable.load(Ordering::Relaxed)) && self.open().remove(task_id).is_some()
    }
}
