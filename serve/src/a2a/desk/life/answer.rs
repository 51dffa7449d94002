//! The agent's answer: the artifact `answer`, in pieces while it comes.

use std::sync::Arc;

use runtime::data::Data;
use stdlib::a2a::{Artifact, ArtifactUpdate, Message, Part, Role};

use super::super::{ANSWER, Change};
use super::{Life, Out};

/// What has come of the agent's answer.
#[derive(Default)]
pub(super) struct Answer {
    /// The message that comes; nothing before the first.
    message_id: Option<Arc<str>>,
    text: String,
    data: Data,
    /// The task does not have all of it yet.
    is_new: bool,
}

impl Answer {
    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.data.is_nil()
    }

    fn parts(&self) -> Vec<Part> {
        let text = (!self.text.is_empty()).then(|| Part::text(self.text.as_str()));
        let data = (!self.data.is_nil()).then(|| Part::data(self.data.clone()));
        text.into_iter().chain(data).collect()
    }
}

impl Life {
    /// A piece of the answer has come. With another message it begins anew, and what was said before goes to the history.
    pub(super) fn answer_text(&mut self, message_id: &Arc<str>, text: &Arc<str>) -> Vec<Out> {
        if text.is_empty() {
            return Vec::new();
        }
        let mut out = self.answer_of(message_id);
        if !self.make_room(text.len()) {
            return out;
        }
        let append = !self.answer.is_empty();
        self.answer.text.push_str(text);
        self.answer.is_new = true;
        out.push(self.answered(vec![Part::text(text.clone())], append, false));
        out
    }

    /// The answer is data.
    pub(super) fn answer_data(&mut self, message_id: &Arc<str>, data: Data) -> Vec<Out> {
        let mut out = self.answer_of(message_id);
        if !self.make_room(data.weight()) {
            return out;
        }
        let append = !self.answer.is_empty();
        self.answer.data = data.clone();
        self.answer.is_new = true;
        out.push(self.answered(vec![Part::data(data)], append, false));
        out
    }

    /// All of the answer once more, so that nobody needs its pieces.
    pub(super) fn answer_whole(&mut self) -> Option<Out> {
        let parts = self.answer.parts();
        (!parts.is_empty()).then(|| self.answered(parts, false, true))
    }

    fn answer_of(&mut self, message_id: &Arc<str>) -> Vec<Out> {
        let before = self.answer.message_id.replace(message_id.clone());
        let Some(before) = before.filter(|before| before != message_id) else { return Vec::new() };
        let said = std::mem::replace(
            &mut self.answer,
            Answer { message_id: Some(message_id.clone()), is_new: true, ..Answer::default() },
        );
        if said.is_empty() {
            return Vec::new();
        }
        self.made = self.made.saturating_sub(said.text.len() + said.data.weight());
        let message = self.of_task(Message::new(Role::Agent, before, said.parts()));
        self.push(Arc::new(message))
    }

    fn answered(&mut self, parts: Vec<Part>, append: bool, last_chunk: bool) -> Out {
        let place = self.task.artifacts.iter().position(|artifact| &*artifact.artifact_id == ANSWER);
        let index = place.unwrap_or_else(|| {
            self.keep_answer();
            self.task.artifacts.len().saturating_sub(1)
        });
        Out::Change(Change::Artifact(ArtifactUpdate {
            task_id: self.task.id.clone(),
            context_id: self.task.context_id.clone(),
            artifact: Arc::new(artifact(parts)),
            index: u32::try_from(index).ok(),
            append,
            last_chunk,
            metadata: Data::Nil,
        }))
    }

    /// The task has all of the answer that has come.
    pub(super) fn keep_answer(&mut self) {
        if !std::mem::take(&mut self.answer.is_new) {
            return;
        }
        let whole = Arc::new(artifact(self.answer.parts()));
        let artifacts = &mut Arc::make_mut(&mut self.task).artifacts;
        match artifacts.iter_mut().find(|artifact| &*artifact.artifact_id == ANSWER) {
            Some(known) => *known = whole,
            None => artifacts.push(whole),
        }
    }
}

fn artifact(parts: Vec<Part>) -> Artifact {
    Artifact {
        artifact_id: ANSWER.into(),
        name: Some(ANSWER.into()),
        description: None,
        parts,
        metadata: Data::Nil,
        extensions: Vec::new(),
    }
}
