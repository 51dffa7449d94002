//! The agent's answer: the artifact `answer`, in pieces as they arrive.

use std::sync::Arc;

use a2a::{Artifact, ArtifactUpdate, Message, Part, Role};
use base::data::Data;

use super::super::{ANSWER, TaskChange};
use super::{TaskEffect, TaskStateMachine, weight_of_parts};

/// The agent's answer so far.
#[derive(Default)]
pub(super) struct AgentAnswer {
    /// The id of the current message; `None` before the first.
    message_id: Option<Arc<str>>,
    /// The parts before `text`: texts and data, in order.
    before: Vec<Part>,
    /// The current text, which grows.
    text: String,
    /// The size counted for it.
    weight: usize,
    /// Whether the task lacks a part of it.
    is_new: bool,
}

impl AgentAnswer {
    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.before.is_empty()
    }

    /// Returns the id of its message, if the answer is not empty.
    pub(super) fn id(&self) -> Option<&Arc<str>> {
        self.message_id.as_ref().filter(|_| !self.is_empty())
    }

    fn parts(&self) -> Vec<Part> {
        let text = (!self.text.is_empty()).then(|| Part::text(self.text.as_str()));
        self.before.iter().cloned().chain(text).collect()
    }

    /// Appends data as a part of its own: text that follows begins another part.
    fn push_data(&mut self, data: Data) {
        let text = std::mem::take(&mut self.text);
        if !text.is_empty() {
            self.before.push(Part::text(text));
        }
        self.before.push(Part::data(data));
    }
}

impl TaskStateMachine {
    /// Appends text to the answer. Text of another message begins the answer anew, and the earlier text moves to the
    /// history.
    pub(super) fn answer_text(&mut self, message_id: &Arc<str>, text: &Arc<str>) -> Vec<TaskEffect> {
        if text.is_empty() {
            return Vec::new();
        }
        let mut out = self.answer_of(message_id);
        if !self.make_room(text.len()) {
            return out;
        }
        let append = !self.answer.is_empty();
        self.answer.weight += text.len();
        self.answer.text.push_str(text);
        self.answer.is_new = true;
        out.push(self.answered(vec![Part::text(text.clone())], append, false));
        out
    }

    /// Appends data to the answer.
    pub(super) fn answer_data(&mut self, message_id: &Arc<str>, data: Data) -> Vec<TaskEffect> {
        let mut out = self.answer_of(message_id);
        let parts = vec![Part::data(data.clone())];
        let weight = weight_of_parts(&parts);
        if !self.make_room(weight) {
            return out;
        }
        let append = !self.answer.is_empty();
        self.answer.weight += weight;
        self.answer.push_data(data);
        self.answer.is_new = true;
        out.push(self.answered(parts, append, false));
        out
    }

    /// Returns the whole answer as one update, so that no subscriber needs its pieces.
    pub(super) fn answer_whole(&mut self) -> Option<TaskEffect> {
        let parts = self.answer.parts();
        (!parts.is_empty()).then(|| self.answered(parts, false, true))
    }

    fn answer_of(&mut self, message_id: &Arc<str>) -> Vec<TaskEffect> {
        let before = self.answer.message_id.replace(message_id.clone());
        let Some(before) = before.filter(|before| before != message_id) else { return Vec::new() };
        let said = std::mem::replace(
            &mut self.answer,
            AgentAnswer { message_id: Some(message_id.clone()), is_new: true, ..AgentAnswer::default() },
        );
        if said.is_empty() {
            return Vec::new();
        }
        self.made = self.made.saturating_sub(said.weight);
        let message = Arc::new(self.of_task(Message::new(Role::Agent, before, said.parts())));
        self.remember(message.clone());
        vec![TaskEffect::Change(TaskChange::Answered(message))]
    }

    fn answered(&mut self, parts: Vec<Part>, append: bool, last_chunk: bool) -> TaskEffect {
        let place = self.task.artifacts.iter().position(|artifact| &*artifact.artifact_id == ANSWER);
        if place.is_none() {
            self.keep_answer();
        }
        TaskEffect::Change(TaskChange::Artifact(ArtifactUpdate {
            task_id: self.task.id.clone(),
            context_id: self.task.context_id.clone(),
            artifact: Arc::new(artifact(parts)),
            append,
            last_chunk,
            metadata: Data::Nil,
        }))
    }

    /// Copies the answer so far to the task.
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
