//! What a task asks its caller, and what the caller says.

use std::sync::Arc;

use a2a::{Content, Message, Part, Role, Status, Task, TaskState};
use runtime::data::Data;
use tokio::sync::oneshot;

use super::super::say;
use super::{Life, Out};
use crate::host::{PermissionQuestion, Verdict};

/// What a task asks its caller.
pub(in crate::a2a::desk) enum Asking {
    /// A question of the script.
    Question(Arc<str>),
    /// Whether a tool may run.
    Permission {
        /// Which question it is.
        number: u64,
        /// What is asked.
        question: PermissionQuestion,
        /// Where the verdict goes.
        verdict: oneshot::Sender<Verdict>,
    },
}

/// What becomes of a message to a task.
#[derive(Debug, PartialEq)]
pub(in crate::a2a::desk) enum Reply {
    /// It is the answer, or a part of what is asked.
    Taken(Vec<Out>),
    /// It has come before.
    Known,
    /// Another message with its id has come before.
    Other,
    /// Nothing is asked.
    Unasked,
}

/// What may be said to a question for a permission.
static OPTIONS: [(&str, Verdict); 4] = [
    ("allow", Verdict::AllowOnce),
    ("allow_always", Verdict::AllowAlways),
    ("deny", Verdict::RejectOnce),
    ("deny_always", Verdict::RejectAlways),
];

impl Life {
    /// Its caller is asked; behind what it is asked already. A task that is to stop asks nothing.
    pub(in crate::a2a::desk) fn ask(&mut self, asking: Asking, now: u64) -> Vec<Out> {
        if self.is_over() || self.halt.is_some() {
            return Vec::new();
        }
        self.may_be_message = false;
        self.asking.push_back(asking);
        if self.asking.len() > 1 { Vec::new() } else { self.put_question(now) }
    }

    /// A process before has asked this, and nobody has answered.
    pub(in crate::a2a::desk) fn still_asks(&mut self) {
        let question = question_of(&self.task.status).map(Asking::Question);
        self.asking.extend(question);
    }

    /// Whether it waits for the answer to a question of the script.
    pub(in crate::a2a::desk) fn asks(&self) -> bool {
        self.state() == TaskState::InputRequired && matches!(self.asking.front(), Some(Asking::Question(_)))
    }

    /// Its caller says something.
    pub(in crate::a2a::desk) fn reply(&mut self, message: &Message, now: u64) -> Reply {
        if let Some(known) = self.said_as(&message.message_id) {
            return if is_repeat(known, message) { Reply::Known } else { Reply::Other };
        }
        if self.is_over() || self.halt.is_some() || self.asking.is_empty() {
            return Reply::Unasked;
        }
        let mut out = self.retire();
        let message = self.of_task(message.clone());
        out.extend(self.push(Arc::new(message.clone())));
        match self.asking.pop_front() {
            Some(Asking::Permission { number, question, verdict }) => match verdict_of(&message) {
                Some(said) => drop(verdict.send(said)),
                None => self.asking.push_front(Asking::Permission { number, question, verdict }),
            },
            Some(Asking::Question(_)) => self.reply = Some(message),
            None => {}
        }
        out.extend(self.go_on(now));
        Reply::Taken(out)
    }

    /// What was answered to the script's question, once.
    pub(in crate::a2a::desk) fn take_reply(&mut self) -> Option<Message> {
        self.reply.take()
    }

    /// A question for a permission is taken back.
    pub(in crate::a2a::desk) fn take_back(&mut self, wanted: u64, now: u64) -> Vec<Out> {
        let is_wanted = |asking: &Asking| matches!(asking, Asking::Permission { number, .. } if *number == wanted);
        let Some(place) = self.asking.iter().position(is_wanted) else { return Vec::new() };
        self.asking.remove(place);
        if place > 0 || self.is_over() || self.halt.is_some() {
            return Vec::new();
        }
        self.go_on(now)
    }

    /// The script's question is of no use any more, as its prompt has ended.
    pub(super) fn forget_questions(&mut self) {
        self.asking.clear();
        self.reply = None;
    }

    fn go_on(&mut self, now: u64) -> Vec<Out> {
        match self.asking.is_empty() {
            true => self.stand(TaskState::Working, None, Data::Nil, now),
            false => self.put_question(now),
        }
    }

    fn put_question(&mut self, now: u64) -> Vec<Out> {
        let message = match self.asking.front() {
            Some(Asking::Question(text)) => say::sentence(text),
            Some(Asking::Permission { question, .. }) => for_permission(question),
            None => return Vec::new(),
        };
        self.stand(TaskState::InputRequired, Some(message), Data::Nil, now)
    }
}

/// Whether a message is one that has come before. The task and context of the earlier one may have been chosen here.
pub(in crate::a2a::desk) fn is_repeat(known: &Message, message: &Message) -> bool {
    let is_context = message.context_id.is_none() || message.context_id == known.context_id;
    let what = |message: &Message| (message.role, message.metadata.clone());
    is_context
        && what(known) == what(message)
        && known.parts == message.parts
        && known.extensions == message.extensions
        && known.reference_task_ids == message.reference_task_ids
}

/// The question of a script that a task waits with; nothing where it waits for something else.
pub(in crate::a2a) fn question_of(status: &Status) -> Option<Arc<str>> {
    let message = status.message.as_ref().filter(|_| status.state == TaskState::InputRequired)?;
    is_question(message).then(|| message.text().into())
}

/// The questions of the script that were answered, each with the message that answers it, in order.
pub(in crate::a2a::desk) fn answered(task: &Task) -> impl Iterator<Item = (Arc<str>, &Message)> {
    let pairs = task.history.iter().zip(task.history.iter().skip(1));
    let pairs = pairs.filter(|(asks, says)| asks.role == Role::Agent && says.role == Role::User && is_question(asks));
    pairs.map(|(asks, says)| (asks.text().into(), says.as_ref()))
}

/// Whether a message that a task waits with is the script's, and no question for a permission.
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
    say::says(vec![Part::text(text), Part::data(Data::dict([("permission", permission)]))])
}

/// What a message says to a question for a permission: a text or data that is one of the options, or data with the field
/// `permission` that is one; nothing where it says none, or several that differ.
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
