//! [`TaskFold`]: rebuilds a task from its records, in the order of the log.

use std::collections::VecDeque;
use std::sync::Arc;

use a2a::{Frame, Status, StatusUpdate, Task, TaskState};
use base::data::Data;
use eventlog::Record;
use runtime::event_log::Topic;

use super::super::tasks::{RestoredTask, TaskOrigin, TaskPosition, push_bounded, weight_of};
use super::record::{SPELLING, TaskBrief};
use artifact_fold::ArtifactFold;

mod artifact_fold;

/// The key in a task's metadata that names its unreadable records.
pub(super) const DAMAGED: &str = "harn.damaged";
/// The reason why a second creation record is skipped.
const AGAIN: &str = "the task had already started";
/// The maximum number of injections to keep; beyond it, the oldest is dropped. A running task has the same limit.
const MOST_INJECTED: usize = 1_024;

/// A task as it is rebuilt from its records. Unknown records are skipped; unreadable ones are named in the task's
/// metadata, and the rest of the task is restored.
pub(super) struct TaskFold {
    task: Task,
    /// The content of the last lifecycle record; `None` until the task is created.
    pub(super) brief: Option<TaskBrief>,
    begun: TaskOrigin,
    /// The task's artifacts, added to it at the end.
    made: ArtifactFold,
    /// The size of its history in bytes.
    said: usize,
    injected: VecDeque<Data>,
    has_begun: bool,
    /// The cursor of the last record.
    cursor: u64,
    wanted: FoldedParts,
    damaged: Option<String>,
}

/// The parts of a task to rebuild.
#[derive(Clone, Copy)]
struct FoldedParts {
    history: bool,
    artifacts: bool,
    injected: bool,
}

impl FoldedParts {
    /// Returns whether a content record is needed.
    fn has(self, word: &str) -> bool {
        match word {
            "message" => self.history,
            "artifact" => self.artifacts,
            "injected" => self.injected,
            _ => true,
        }
    }
}

impl TaskFold {
    /// Creates a fold for a complete task.
    pub(super) fn new(task_id: &str) -> TaskFold {
        TaskFold::of(task_id, FoldedParts { history: true, artifacts: true, injected: true })
    }

    /// Creates a fold for a task in a list. Records that are not needed are skipped.
    pub(super) fn in_list(task_id: &str, history: bool, artifacts: bool) -> TaskFold {
        TaskFold::of(task_id, FoldedParts { history, artifacts, injected: false })
    }

    fn of(task_id: &str, wanted: FoldedParts) -> TaskFold {
        let status = Status { state: TaskState::Submitted, message: None, at_ms: None };
        let (artifacts, history, metadata) = (Vec::new(), Vec::new(), Data::Nil);
        TaskFold {
            task: Task { id: task_id.into(), context_id: "".into(), status, artifacts, history, metadata },
            brief: None,
            begun: TaskOrigin::default(),
            made: ArtifactFold::default(),
            said: 0,
            injected: VecDeque::new(),
            has_begun: false,
            cursor: 0,
            wanted,
            damaged: None,
        }
    }

    /// Applies the next record.
    pub(super) fn take(&mut self, record: &Record) {
        self.cursor = record.cursor;
        let payload = &*record.payload;
        let is_own = payload.get("task_id").as_str() == Some(self.task.id.as_ref());
        let Some(topic) = Topic::named(&record.topic).filter(|_| is_own) else { return };
        let Some(word) = topic.word_of(&record.kind) else { return };
        let read = match topic {
            Topic::Task => self.lifecycle(word, payload, record.occurred_at_ms),
            Topic::TaskContent if self.wanted.has(word) => self.content(word, payload),
            Topic::TaskContent
            | Topic::Reminder
            | Topic::Turn
            | Topic::Message
            | Topic::State
            | Topic::Injection
            | Topic::Activity
            | Topic::Permission
            | Topic::Life
            | Topic::Shown
            | Topic::Hub
            | Topic::Channel => Ok(()),
        };
        if let Err(why) = read {
            let (kind, cursor) = (&record.kind, record.cursor);
            self.damaged
                .get_or_insert_with(|| format!("invalid record `{kind}` at cursor {cursor} of the event log: {why}"));
        }
    }

    /// Returns whether the whole answer is also in the history, and no piece of the next one has come. A process may
    /// end between the two.
    pub(super) fn answer_is_said(&self) -> bool {
        self.made.is_said
    }

    /// Returns the task, or `None` if it was never created.
    pub(super) fn done(self) -> Option<RestoredTask> {
        let brief = self.brief?;
        let mut task = Task { artifacts: self.made.done(), ..self.task };
        if let Some(damaged) = self.damaged {
            task.metadata = merged(task.metadata, &Data::dict([(DAMAGED, Data::from(damaged.as_str()))]));
        }
        Some(RestoredTask {
            task: Arc::new(task),
            session_id: brief.session_id,
            begun: TaskOrigin { is_alone: brief.is_alone, ..self.begun },
            injected: self.injected.into(),
            position: TaskPosition { process: brief.process, cursor: self.cursor },
        })
    }

    fn lifecycle(&mut self, word: &str, payload: &Data, at_ms: u64) -> Result<(), String> {
        if !["created", "status", "resumed"].contains(&word) {
            return Ok(());
        }
        let brief = TaskBrief::read(payload)?;
        if word == "created" && self.brief.is_some() {
            return Err(AGAIN.to_owned());
        }
        self.task.context_id = brief.context_id.clone();
        let state = brief.state;
        self.brief = Some(brief);
        match word {
            "created" => {
                self.task.status.state = state;
                self.task.status.at_ms.get_or_insert(at_ms);
                Ok(())
            }
            "status" => {
                // The state is set even if the rest cannot be read.
                self.task.status = Status { state, message: None, at_ms: Some(at_ms) };
                match frame(payload)? {
                    Frame::Status(StatusUpdate { status, metadata, .. }) => {
                        self.task.status = Status { state, ..status };
                        self.task.metadata = merged(std::mem::take(&mut self.task.metadata), &metadata);
                        Ok(())
                    }
                    _ => Err("`frame` is not a status".to_owned()),
                }
            }
            // The answer so far was added to the history before this record.
            _ => {
                self.made.forget_answer();
                Ok(())
            }
        }
    }

    fn content(&mut self, word: &str, payload: &Data) -> Result<(), String> {
        match word {
            "begun" if std::mem::replace(&mut self.has_begun, true) => return Err(AGAIN.to_owned()),
            "begun" => {
                self.begun.metadata = payload.get("metadata").clone();
                self.begun.deadline_ms = payload.get("deadline_ms").as_int().and_then(|ms| u64::try_from(ms).ok());
                let Frame::Task(task) = frame(payload)? else { return Err("`frame` is not a task".to_owned()) };
                self.task = Task { id: self.task.id.clone(), ..Arc::unwrap_or_clone(task) };
                if !self.wanted.history {
                    self.task.history.clear();
                }
                self.said = self.task.history.iter().map(|message| weight_of(message)).sum();
            }
            "message" => {
                let Frame::Message(message) = frame(payload)? else {
                    return Err("`frame` is not a message".to_owned());
                };
                push_bounded(&mut self.task.history, &mut self.said, message);
                if payload.get("is_answer").as_bool() == Some(true) {
                    self.made.answer_is_said();
                }
            }
            "artifact" => {
                let Frame::Artifact(update) = frame(payload)? else {
                    return Err("`frame` is not an artifact".to_owned());
                };
                self.made.take(update);
            }
            "injected" => {
                if self.injected.len() == MOST_INJECTED {
                    self.injected.pop_front();
                }
                self.injected.push_back(payload.get("value").clone());
            }
            _ => {}
        }
        Ok(())
    }
}

fn frame(payload: &Data) -> Result<Frame, String> {
    SPELLING.read_frame(payload.get("frame")).map_err(|misfit| match misfit.field.as_str() {
        "" => format!("`frame` {}", misfit.message),
        field => format!("`frame.{field}` {}", misfit.message),
    })
}

/// Returns a dict with changed entries merged into it.
fn merged(metadata: Data, changed: &Data) -> Data {
    let Some(changed) = changed.as_dict() else { return metadata };
    let metadata = if metadata.is_nil() { Data::empty_dict() } else { metadata };
    changed.iter().fold(metadata, |merged, (key, value)| merged.with(key.clone(), value.clone()))
}
