//! Tasks that an ended process left unfinished. Every lifecycle record names the process that runs the task, and a
//! file beside the log is locked for as long as that process lives.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use a2a::{Message, Part, Role, Status, StatusUpdate, TaskState};
use base::data::Data;
use base::lock::LockFile;
use eventlog::LogCode;

use super::super::tasks::{RestoredTask, TaskChange, question_of};
use super::record::TaskBrief;
use super::summary::TaskSummary;
use super::unwritten_answer::UnwrittenAnswer;
use super::{OpenTask, StoreError, TaskStore, now_ms};

/// The name of the lock that a process holds while it looks for tasks of ended processes.
const LOCK: &str = "tasks";
/// The timeout for another process that holds the lock.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// The reason why an unfinished task fails.
enum FailureCause {
    /// Its process ended.
    Ended,
    /// Its process ended, and its deadline has passed.
    Late,
}

impl TaskStore {
    /// Takes over the tasks of ended processes. Returns those that this process must run again; the others fail.
    pub(super) fn take_over(&self) -> Result<Vec<RestoredTask>, StoreError> {
        let _one = self.one_at_a_time()?;
        let mut again = Vec::new();
        for id in self.orphans()? {
            let fold = self.fold(&id)?;
            let Some(mut brief) = fold.brief.clone() else { continue };
            let is_said = fold.answer_is_said();
            let Some(mut restored) = fold.done() else { continue };
            let runs_again = self.0.resumable.load(Ordering::Relaxed) || asks(&restored);
            let resumable = runs_again && !restored.task.history.is_empty();
            let now = now_ms();
            brief.process = self.0.store.process().clone();
            if restored.begun.deadline_ms.is_some_and(|deadline| deadline <= now) {
                self.fail(&mut brief, &restored, &FailureCause::Late);
            } else if resumable {
                let mut open = OpenTask { brief, pieces: UnwrittenAnswer::default() };
                let said = restored.begin_anew(is_said).map(TaskChange::Answered);
                let said = said.map(|said| open.written(now, &said)).unwrap_or_default();
                self.write(&id, now, said.into_iter().chain([open.brief.lifecycle("resumed")]));
                self.open().insert(id, open);
                again.push(restored);
            } else {
                self.fail(&mut brief, &restored, &FailureCause::Ended);
            }
        }
        self.flush()?;
        Ok(again)
    }

    /// Reads a task. If its process has ended, the task fails, unless it may run again.
    pub(super) fn load_or_end(&self, task_id: &str) -> Result<Option<RestoredTask>, StoreError> {
        let fold = self.fold(task_id)?;
        let is_orphan = self.is_orphan(fold.brief.as_ref())?;
        let found = fold.done();
        if !is_orphan || self.0.resumable.load(Ordering::Relaxed) || found.as_ref().is_some_and(asks) {
            return Ok(found);
        }
        let _one = self.one_at_a_time()?;
        let fold = self.fold(task_id)?;
        let Some(mut brief) = fold.brief.clone() else { return Ok(None) };
        if self.is_orphan(Some(&brief))? {
            brief.process = self.0.store.process().clone();
            if let Some(restored) = fold.done() {
                self.fail(&mut brief, &restored, &FailureCause::Ended);
            }
            self.flush()?;
        }
        self.load(task_id)
    }

    fn is_orphan(&self, brief: Option<&TaskBrief>) -> Result<bool, StoreError> {
        let Some(brief) = brief.filter(|brief| !brief.state.is_terminal()) else { return Ok(false) };
        Ok(brief.process != *self.0.store.process() && !self.0.store.lives(&brief.process)?)
    }

    /// Returns the open tasks whose process has ended.
    fn orphans(&self) -> Result<Vec<Arc<str>>, StoreError> {
        let mut lives: HashMap<Arc<str>, bool> = HashMap::new();
        let mut orphans = Vec::new();
        // Oldest first, in the order in which they came.
        for TaskSummary { task_id, process, .. } in self.open_elsewhere()? {
            let alive = match lives.get(&process) {
                Some(alive) => *alive,
                None => {
                    let alive = self.0.store.lives(&process)?;
                    lives.insert(process, alive);
                    alive
                }
            };
            if !alive {
                orphans.push(task_id);
            }
        }
        Ok(orphans)
    }

    fn fail(&self, brief: &mut TaskBrief, restored: &RestoredTask, why: &FailureCause) {
        let at_ms = now_ms();
        let (text, code) = match why {
            FailureCause::Late => ("Deadline exceeded", "DEADLINE_EXCEEDED"),
            FailureCause::Ended if restored.task.status.state.is_interrupted() => {
                ("The server ended while the task waited for input; its results so far are kept.", CODE)
            }
            FailureCause::Ended => ("The server ended while the task was running; its results so far are kept.", CODE),
        };
        let parts = vec![Part::text(text), Part::data(Data::dict([("code", Data::from(code))]))];
        let mut message = Message::new(Role::Agent, format!("msg_{}", uuid::Uuid::new_v4().simple()), parts);
        message.task_id = Some(restored.task.id.clone());
        message.context_id = Some(restored.task.context_id.clone());
        let status = Status { state: TaskState::Failed, message: Some(message.into()), at_ms: Some(at_ms) };
        let (task_id, context_id) = (restored.task.id.clone(), restored.task.context_id.clone());
        let update = StatusUpdate { task_id, context_id, status, metadata: Data::Nil };
        let written = brief.status(&update);
        self.write(&restored.task.id, at_ms, [written]);
    }

    /// Waits until everything written can be read by all processes.
    fn flush(&self) -> Result<(), StoreError> {
        Ok(self.0.store.log().look(|_| Ok(()))?)
    }

    fn one_at_a_time(&self) -> Result<LockFile, StoreError> {
        let lock = self.0.store.lock_within(LOCK, LOCK_TIMEOUT);
        lock.map_err(|error| StoreError::CannotClaim(error.to_string()))
    }
}

/// Returns whether a task waits for the answer to a question from the script. Nothing of it runs meanwhile, so it can
/// go on waiting.
fn asks(restored: &RestoredTask) -> bool {
    question_of(&restored.task.status).is_some()
}

/// The code of the error with which a task of an ended process fails.
const CODE: &str = LogCode::ProcessEnded.as_str();
