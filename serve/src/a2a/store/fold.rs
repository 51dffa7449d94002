//! [`Fold`]: the records of one task, in the order of the log, made into the task.

use std::sync::Arc;

use runtime::data::Data;
use runtime::event_log::Record;
use stdlib::a2a::{Artifact, ArtifactUpdate, Content, Frame, Part, Status, StatusUpdate, Task, TaskState, Version};

use super::super::desk::{Begun, Restored};
use super::pieces::goes_on;
use super::record::{Brief, SPELLING};
use super::{CONTENT_TOPIC, TASK_TOPIC};

/// The metadata of a task of which something cannot be read: what.
pub(super) const DAMAGED: &str = "harn.damaged";

/// What the records of a task come to. What is not known is passed over; what cannot be read is named in the task's metadata, and
/// all else of the task is there.
pub(super) struct Fold {
    task: Task,
    /// What the last record of its life says; nothing as long as it was not created.
    pub(super) brief: Option<Brief>,
    version: Version,
    begun: Begun,
    injected: Vec<Data>,
    damaged: Option<String>,
}

impl Fold {
    pub(super) fn new(task_id: &str) -> Fold {
        let status = Status { state: TaskState::Submitted, message: None, at_ms: None };
        let (artifacts, history, metadata) = (Vec::new(), Vec::new(), Data::Nil);
        let task = Task { id: task_id.into(), context_id: "".into(), status, artifacts, history, metadata };
        Fold { task, brief: None, version: SPELLING, begun: Begun::default(), injected: Vec::new(), damaged: None }
    }

    /// Takes the next record.
    pub(super) fn take(&mut self, record: &Record) {
        let payload = &*record.payload;
        let is_own = payload.get("task_id").as_str() == Some(self.task.id.as_ref());
        let word = record.kind.strip_prefix(record.topic.as_ref()).and_then(|rest| rest.strip_prefix('.'));
        let Some(word) = word.filter(|_| is_own) else { return };
        let read = match record.topic.as_ref() {
            TASK_TOPIC => self.life(word, payload, record.occurred_at_ms),
            CONTENT_TOPIC => self.content(word, payload),
            _ => Ok(()),
        };
        if let Err(why) = read {
            let (kind, cursor) = (&record.kind, record.cursor);
            self.damaged.get_or_insert_with(|| {
                format!("the record `{kind}` with the cursor {cursor} of the event log is not whole: {why}")
            });
        }
    }

    /// The whole; nothing where it was never created.
    pub(super) fn done(self) -> Option<Restored> {
        let brief = self.brief?;
        let mut task = self.task;
        if let Some(damaged) = self.damaged {
            task.metadata = merged(task.metadata, &Data::dict([(DAMAGED, Data::from(damaged.as_str()))]));
        }
        Some(Restored {
            task: Arc::new(task),
            version: self.version,
            session_id: brief.session_id,
            begun: Begun { is_alone: brief.is_alone, ..self.begun },
            injected: self.injected,
        })
    }

    fn life(&mut self, word: &str, payload: &Data, at_ms: u64) -> Result<(), String> {
        if !["created", "status", "resumed"].contains(&word) {
            return Ok(());
        }
        let brief = Brief::read(payload)?;
        self.task.context_id = brief.context_id.clone();
        let state = brief.state;
        self.brief = Some(brief);
        match word {
            "created" => {
                let version = payload.get("version").as_str().and_then(Version::of_header);
                self.version = version.unwrap_or(SPELLING);
                self.task.status.state = state;
                self.task.status.at_ms.get_or_insert(at_ms);
                Ok(())
            }
            "status" => {
                // How far it has come is told also where the rest cannot be read.
                self.task.status = Status { state, message: None, at_ms: Some(at_ms) };
                match frame(payload)? {
                    Frame::Status(StatusUpdate { status, metadata, .. }) => {
                        self.task.status = Status { state, ..status };
                        self.task.metadata = merged(std::mem::take(&mut self.task.metadata), &metadata);
                        Ok(())
                    }
                    _ => Err("`frame` is no status".to_owned()),
                }
            }
            _ => Ok(()),
        }
    }

    fn content(&mut self, word: &str, payload: &Data) -> Result<(), String> {
        match word {
            "begun" => {
                self.begun.metadata = payload.get("metadata").clone();
                self.begun.deadline_ms = payload.get("deadline_ms").as_int().and_then(|ms| u64::try_from(ms).ok());
                let Frame::Task(task) = frame(payload)? else { return Err("`frame` is no task".to_owned()) };
                self.task = Task { id: self.task.id.clone(), ..Arc::unwrap_or_clone(task) };
            }
            "message" => {
                let Frame::Message(message) = frame(payload)? else { return Err("`frame` is no message".to_owned()) };
                self.task.history.push(message);
            }
            "artifact" => {
                let Frame::Artifact(update) = frame(payload)? else { return Err("`frame` is no artifact".to_owned()) };
                self.artifact(update);
            }
            "injected" => self.injected.push(payload.get("value").clone()),
            _ => {}
        }
        Ok(())
    }

    fn artifact(&mut self, update: ArtifactUpdate) {
        let ArtifactUpdate { artifact, append, .. } = update;
        let id = &artifact.artifact_id;
        match self.task.artifacts.iter_mut().find(|known| known.artifact_id == *id) {
            Some(known) if append => appended(Arc::make_mut(known), &artifact),
            Some(known) => *known = artifact,
            None => self.task.artifacts.push(artifact),
        }
    }
}

/// Puts the next parts behind those that are there.
fn appended(artifact: &mut Artifact, more: &Artifact) {
    artifact.name = more.name.clone().or(artifact.name.take());
    artifact.description = more.description.clone().or(artifact.description.take());
    artifact.metadata = merged(std::mem::take(&mut artifact.metadata), &more.metadata);
    for part in &more.parts {
        let goes_on = goes_on(artifact, part);
        match (artifact.parts.last_mut(), &part.content) {
            (Some(Part { content: Content::Text(text), .. }), Content::Text(piece)) if goes_on => {
                *text = format!("{text}{piece}").into();
            }
            _ => artifact.parts.push(part.clone()),
        }
    }
}

fn frame(payload: &Data) -> Result<Frame, String> {
    SPELLING.read_frame(payload.get("frame")).map_err(|misfit| match misfit.field.as_str() {
        "" => format!("`frame` {}", misfit.message),
        field => format!("`frame.{field}` {}", misfit.message),
    })
}

/// One dict and what of it has changed.
fn merged(metadata: Data, changed: &Data) -> Data {
    let Some(changed) = changed.as_dict() else { return metadata };
    let metadata = if metadata.is_nil() { Data::empty_dict() } else { metadata };
    changed.iter().fold(metadata, |merged, (key, value)| merged.with(key.clone(), value.clone()))
}
