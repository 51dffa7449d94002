//! Converts the changes of a task to records.

use std::borrow::Cow;
use std::sync::Arc;

use a2a::{Frame, StatusUpdate, Task, TaskState, Version};
use base::data::Data;
use runtime::event_log::Topic;

use super::super::tasks::{TaskChange, TaskOrigin, digest_of};
use super::OpenTask;

/// A record to write.
pub(super) struct TaskRecord {
    pub(super) topic: Topic,
    pub(super) word: &'static str,
    pub(super) payload: Data,
}

/// The version of frames on the log, independent of the caller's version.
pub(super) const SPELLING: Version = Version::V1_0;

/// Returns the run id of a task. The server's own task ids are used as they are; ids from callers get a prefix that
/// those cannot have.
pub(crate) fn run_of(task_id: &str) -> Cow<'_, str> {
    let is_own = task_id
        .strip_prefix("task_")
        .is_some_and(|rest| rest.len() == 32 && rest.bytes().all(|byte| byte.is_ascii_hexdigit()));
    if is_own { Cow::Borrowed(task_id) } else { Cow::Owned(format!("task_:{task_id}")) }
}

/// Returns the id of the task with a run id.
pub(super) fn task_of(run_id: &str) -> &str {
    run_id.strip_prefix("task_:").unwrap_or(run_id)
}

/// Returns whether a run id is one of a task.
pub(crate) fn is_task_run(run_id: &str) -> bool {
    run_id.starts_with("task_")
}

/// The content of every lifecycle record, so that a list needs only one record of each task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TaskBrief {
    pub(super) task_id: Arc<str>,
    pub(super) context_id: Arc<str>,
    pub(super) session_id: Option<Arc<str>>,
    /// Whether its session ends with it.
    pub(super) is_alone: bool,
    pub(super) state: TaskState,
    /// The process that runs it.
    pub(super) process: Arc<str>,
}

impl TaskBrief {
    pub(super) fn new(task: &Task, session_id: Option<Arc<str>>, is_alone: bool, process: &Arc<str>) -> TaskBrief {
        let (task_id, context_id) = (task.id.clone(), task.context_id.clone());
        TaskBrief { task_id, context_id, session_id, is_alone, state: task.status.state, process: process.clone() }
    }

    pub(super) fn to_data(&self) -> Data {
        Data::dict_of_present([
            ("task_id", Data::from(&self.task_id)),
            ("context_id", Data::from(&self.context_id)),
            ("session_id", self.session_id.as_ref().into()),
            ("is_alone", if self.is_alone { Data::from(true) } else { Data::Nil }),
            ("state", self.state.as_str().into()),
            ("process", Data::from(&self.process)),
        ])
    }

    /// Reads a lifecycle record. A state of a later version counts as unknown.
    ///
    /// # Errors
    /// A field is missing or invalid.
    pub(super) fn read(payload: &Data) -> Result<TaskBrief, String> {
        let text = |field: &str| {
            payload.get(field).as_shared_str().ok_or_else(|| {
                format!(
                    "`{field}` is not a \
            string"
                )
            })
        };
        Ok(TaskBrief {
            task_id: text("task_id")?,
            context_id: text("context_id")?,
            session_id: payload.get("session_id").as_shared_str(),
            is_alone: payload.get("is_alone").as_bool().unwrap_or(false),
            state: text("state")?.parse().unwrap_or(TaskState::Unknown),
            process: text("process")?,
        })
    }

    /// Returns a lifecycle record.
    pub(super) fn lifecycle(&self, word: &'static str) -> TaskRecord {
        TaskRecord { topic: Topic::Task, word, payload: self.to_data() }
    }

    /// Returns the record of a status change.
    pub(super) fn status(&mut self, update: &StatusUpdate) -> TaskRecord {
        self.state = update.status.state;
        let TaskRecord { topic, word, payload } = self.lifecycle("status");
        let frame = SPELLING.frame(&Frame::Status(update.clone()), false);
        TaskRecord { topic, word, payload: payload.with("frame", frame) }
    }
}

impl OpenTask {
    /// Returns the records of a change.
    pub(super) fn written(&mut self, at_ms: u64, change: &TaskChange) -> Vec<TaskRecord> {
        let mut written = Vec::new();
        if !matches!(change, TaskChange::Artifact(_)) {
            written.extend(self.pieces.flush().map(|update| self.content("artifact", &Frame::Artifact(update))));
        }
        match change {
            TaskChange::Created { task, version, begun, .. } => {
                written.push(self.begun(task, begun));
                let mut created = self.brief.lifecycle("created");
                created.payload.set("version", version.as_str().into());
                if let Some(first) = task.history.first() {
                    created.payload.set("message_id", (&first.message_id).into());
                    created.payload.set("message_digest", digest_of(first).into());
                }
                written.push(created);
            }
            TaskChange::Said(message) => written.push(self.content("message", &Frame::Message(message.clone()))),
            TaskChange::Answered(message) => {
                let mut said = self.content("message", &Frame::Message(message.clone()));
                said.payload.set("is_answer", true.into());
                written.push(said);
            }
            TaskChange::Status(update) => written.push(self.brief.status(update)),
            TaskChange::Artifact(update) => {
                let due = self.pieces.take(at_ms, update);
                written.extend(due.into_iter().map(|update| self.content("artifact", &Frame::Artifact(update))));
            }
            TaskChange::Injected(value) => {
                let payload = Data::dict([("task_id", Data::from(&self.brief.task_id)), ("value", value.clone())]);
                written.push(TaskRecord { topic: Topic::TaskContent, word: "injected", payload });
            }
        }
        written
    }

    fn content(&self, word: &'static str, frame: &Frame) -> TaskRecord {
        let frame = SPELLING.frame(frame, false);
        let payload = Data::dict([("task_id", Data::from(&self.brief.task_id)), ("frame", frame)]);
        TaskRecord { topic: Topic::TaskContent, word, payload }
    }

    fn begun(&self, task: &Arc<Task>, begun: &TaskOrigin) -> TaskRecord {
        let TaskRecord { topic, word, mut payload } = self.content("begun", &Frame::Task(task.clone()));
        for (field, value) in
            [("metadata", begun.metadata.clone()), ("deadline_ms", begun.deadline_ms.map_or(Data::Nil, Data::from))]
        {
            if !value.is_nil() {
                payload.set(field, value);
            }
        }
        TaskRecord { topic, word, payload }
    }
}
