//! Questions of a task to its caller, and the caller's replies.

use std::sync::Arc;

use a2a::{Content, Message, Part, Role, Status, Task, TaskState, Version};
use base::data::Data;
use sha2::{Digest, Sha256};
use tokio::sync::oneshot;

use super::super::agent_message;
use super::{TaskEffect, TaskStateMachine, weight_of};
use crate::host::{PermissionQuestion, Verdict};

/// The maximum number of pending questions of a task. A further permission question gets no verdict, so its tool does
/// not run. The script itself asks one question at a time.
pub(super) const MAX_QUESTIONS: usize = 256;

/// A question of a task to its caller.
pub(in crate::a2a::tasks) enum TaskQuestion {
    /// A question from the script.
    Question(Arc<str>),
    /// A question whether a tool may run.
    Permission {
        /// The number of the question.
        number: u64,
        /// The question.
        question: PermissionQuestion,
        /// The channel for the verdict.
        verdict: oneshot::Sender<Verdict>,
    },
}

/// The result of a message to a task.
#[derive(Debug, PartialEq)]
pub(in crate::a2a::tasks) enum MessageOutcome {
    /// The message is the answer or a part of it.
    Taken(Vec<TaskEffect>),
    /// The message came before.
    Known,
    /// The task asks nothing, or must stop.
    Unasked,
}

/// The possible replies to a permission question.
static OPTIONS: [(&str, Verdict); 4] = [
    ("allow", Verdict::AllowOnce),
    ("allow_always", Verdict::AllowAlways),
    ("deny", Verdict::RejectOnce),
    ("deny_always", Verdict::RejectAlways),
];

impl TaskStateMachine {
    /// Returns whether the current question is about a permission.
    pub(in crate::a2a::tasks) fn asks_permission(&self) -> bool {
        matches!(self.asking.front(), Some(TaskQuestion::Permission { .. }))
    }

    /// Asks the caller a question, after the pending ones. A task that must stop asks nothing.
    pub(in crate::a2a::tasks) fn ask(&mut self, asking: TaskQuestion, now: u64) -> Vec<TaskEffect> {
        let is_full = self.asking.len() >= MAX_QUESTIONS && matches!(asking, TaskQuestion::Permission { .. });
        if self.is_over() || self.halt.is_some() || is_full {
            return Vec::new();
        }
        self.may_be_message = false;
        self.asking.push_back(asking);
        if self.asking.len() > 1 { Vec::new() } else { self.put_question(now) }
    }

    /// Restores a question that an earlier process asked and that is not answered.
    pub(in crate::a2a::tasks) fn still_asks(&mut self) {
        let question = question_of(&self.task.status).map(TaskQuestion::Question);
        self.asking.extend(question);
    }

    /// Returns whether the task waits for the answer to a question from the script.
    pub(in crate::a2a::tasks) fn asks(&self) -> bool {
        self.state() == TaskState::InputRequired && matches!(self.asking.front(), Some(TaskQuestion::Question(_)))
    }

    /// Handles a message of the caller.
    pub(in crate::a2a::tasks) fn reply(&mut self, message: &Message, now: u64) -> MessageOutcome {
        if self.has_said(message) {
            return MessageOutcome::Known;
        }
        if self.is_over() || self.halt.is_some() || self.asking.is_empty() {
            return MessageOutcome::Unasked;
        }
        let mut out = self.retire();
        let message = self.of_task(message.clone());
        out.extend(self.push(Arc::new(message.clone())));
        match self.asking.pop_front() {
            Some(TaskQuestion::Permission { number, question, verdict }) => match verdict_of(&message) {
                Some(said) => drop(verdict.send(said)),
                None => self.asking.push_front(TaskQuestion::Permission { number, question, verdict }),
            },
            Some(TaskQuestion::Question(_)) => self.reply = Some(message),
            None => {}
        }
        out.extend(self.go_on(now));
        MessageOutcome::Taken(out)
    }

    /// Adds a message that is injected into the running task to the history.
    pub(in crate::a2a::tasks) fn hear(&mut self, message: &Message) -> Vec<TaskEffect> {
        let message = self.of_task(message.clone());
        self.push(Arc::new(message))
    }

    /// Removes a message that could not be injected from the history.
    pub(in crate::a2a::tasks) fn unhear(&mut self, message: &Message) {
        let history = &mut Arc::make_mut(&mut self.task).history;
        let place = history.iter().rposition(|known| known.role == message.role && is_same_message(known, message));
        if let Some(place) = place {
            self.said = self.said.saturating_sub(weight_of(&history.remove(place)));
        }
    }

    /// Takes the answer to the script's question.
    pub(in crate::a2a::tasks) fn take_reply(&mut self) -> Option<Message> {
        self.reply.take()
    }

    /// Withdraws a permission question.
    pub(in crate::a2a::tasks) fn take_back(&mut self, wanted: u64, now: u64) -> Vec<TaskEffect> {
        let is_wanted =
            |asking: &TaskQuestion| matches!(asking, TaskQuestion::Permission { number, .. } if *number == wanted);
        let Some(place) = self.asking.iter().position(is_wanted) else { return Vec::new() };
        self.asking.remove(place);
        if place > 0 || self.is_over() || self.halt.is_some() {
            return Vec::new();
        }
        self.go_on(now)
    }

    /// Drops the script's question, as its prompt has ended.
    pub(super) fn forget_questions(&mut self) {
        self.asking.clear();
        self.reply = None;
    }

    fn go_on(&mut self, now: u64) -> Vec<TaskEffect> {
        match self.asking.is_empty() {
            true => self.stand(TaskState::Working, None, Data::Nil, now),
            false => self.put_question(now),
        }
    }

    fn put_question(&mut self, now: u64) -> Vec<TaskEffect> {
        let message = match self.asking.front() {
            Some(TaskQuestion::Question(text)) => agent_message::sentence(text),
            Some(TaskQuestion::Permission { question, .. }) => for_permission(question),
            None => return Vec::new(),
        };
        self.stand(TaskState::InputRequired, Some(message), Data::Nil, now)
    }
}

/// Returns whether a message repeats an earlier one, including its id.
pub(super) fn is_same_message(known: &Message, message: &Message) -> bool {
    known.message_id == message.message_id && is_repeat(known, message)
}

/// Returns a digest of the content that [`is_repeat`] compares, except the context. It is stored with a task, so that
/// a later process finds the repeat of a message without reading all tasks whose messages have its id.
pub(in crate::a2a) fn digest_of(message: &Message) -> Arc<str> {
    let content = Message { message_id: "".into(), context_id: None, task_id: None, ..message.clone() };
    let digest = Sha256::digest(Version::V1_0.message(&content).to_json());
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect::<String>().into()
}

/// Returns whether a message has the content of an earlier one. The task and context of the earlier one may have been
/// chosen by the server.
pub(in crate::a2a::tasks) fn is_repeat(known: &Message, message: &Message) -> bool {
    let is_context = message.context_id.is_none() || message.context_id == known.context_id;
    let what = |message: &Message| (message.role, message.metadata.clone());
    is_context
        && what(known) == what(message)
        && known.parts == message.parts
        && known.extensions == message.extensions
        && known.reference_task_ids == message.reference_task_ids
}

/// Returns the script's question that a task waits with, or `None` if it waits for something else.
pub(in crate::a2a) fn question_of(status: &Status) -> Option<Arc<str>> {
    let message = status.message.as_ref().filter(|_| status.state == TaskState::InputRequired)?;
    is_question(message).then(|| message.text().into())
}

/// Returns the answered questions of the script, each with the message that answers it, in order.
pub(in crate::a2a::tasks) fn answered(task: &Task) -> impl Iterator<Item = (Arc<str>, &Message)> {
    let pairs = task.history.iter().zip(task.history.iter().skip(1));
    let pairs = pairs.filter(|(asks, says)| asks.role == Role::Agent && says.role == Role::User && is_question(asks));
    pairs.map(|(asks, says)| (asks.text().into(), says.as_ref()))
}

/// Returns whether a status message is a question from the script, not a permission question.
fn is_question(message: &Message) -> bool {
    let is_permission = |part: &Part| matches!(&part.content, Content::Data(data) if !data.get("permission").is_nil());
    !message.parts.iter().any(is_permission)
}

fn for_permission(question: &PermissionQuestion) -> Message {
    let options = OPTIONS.iter().map(|(word, _)| *word);
    let words: Vec<_> = options.clone().collect();
    let text = format!(
        "May `{}` run? {}. Reply with one of: {}. `allow_always` covers {} in this session",
        question.call.name,
        question.reason,
        words.join(", "),
        question.scope
    );
    let permission = Data::dict([
        ("tool", Data::from(&question.call.name)),
        ("arguments", question.call.arguments.clone()),
        ("reason", (&question.reason).into()),
        ("options", Data::list(options.map(Data::from))),
    ]);
    agent_message::says(vec![Part::text(text), Part::data(Data::dict([("permission", permission)]))])
}

/// Reads the verdict from a reply to a permission question: a text or data that is one of the options, or data with
/// such a field `permission`. Returns `None` if there is no verdict, or several that differ.
fn verdict_of(message: &Message) -> Option<Verdict> {
    let word = |text: &str| {
        let text = text.trim().to_lowercase();
        OPTIONS.iter().find(|(word, _)| *word == text).map(|(_, verdict)| verdict.clone())
    };
    let mut said = message.parts.iter().filter_map(|part| match &part.content {
        Content::Text(text) | Content::Data(Data::Str(text)) => word(text),
        Content::Data(data) => data.get("permission").as_str().and_then(word),
        Content::Raw(_) | Content::Url(_) => None,
    });
    let first = said.next()?;
    said.all(|other| other == first).then_some(first)
}
