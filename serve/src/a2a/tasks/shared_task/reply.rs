//! Messages of callers to an existing task: the answer to its question, or an injection into its running loop.

use std::sync::Arc;

use a2a::{Message, TaskState};
use base::data::Data;
use runtime::session::Inbox;

use super::super::state_machine::{MessageOutcome, TaskEffect};
use super::{LEFT, SharedTask, SharedTaskState};
use crate::a2a::Refusal;
use crate::a2a::context::injected;
use crate::a2a::feed::Subscription;
use crate::a2a::injection::PeerReminder;
use crate::a2a::tasks::TaskChange;
use crate::clock::now_ms;

/// The sender of a message to a task.
pub(in crate::a2a::tasks) struct Replier<'a> {
    /// Whether it may answer permission questions.
    pub(in crate::a2a::tasks) may_permit: bool,
    /// Called when the task takes the message, before anything follows from it.
    pub(in crate::a2a::tasks) is_taken: &'a (dyn Fn() + Sync),
}

/// The result of a message that is not refused.
enum ReplyOutcome {
    /// The task has it. The subscription begins with the task as it is after the message.
    Taken(Subscription),
    /// It waits in the queue of the task's session, as the item with this id.
    Injected(Subscription, Inbox, Arc<str>),
    /// The session is opening, and accepts nothing yet.
    Opening,
}

/// A message in the queue of the task's session.
struct QueuedMessage {
    /// The changes of the task.
    out: Vec<TaskEffect>,
    inbox: Inbox,
    /// The id of the queued item.
    id: Arc<str>,
}

impl SharedTask {
    /// Accepts a message from the caller: a task that waits for its caller takes it as the answer, and a running one as
    /// a message to its loop, like `session/inject` of editors. Reminders that came with it are held until they are
    /// injected. Returns a subscription that begins with the task as it is after the message. If the task still waits
    /// for its caller, nothing follows.
    ///
    /// # Errors
    /// The task is over, must stop, or is left to the next process; its queue is full; or the message cannot be
    /// injected or stored. Nothing has changed then.
    pub(in crate::a2a::tasks) async fn accept(
        &self,
        message: &Message,
        mut reminders: Vec<PeerReminder>,
        replier: Replier<'_>,
    ) -> Result<Subscription, Refusal> {
        self.is_here()?;
        loop {
            match self.reply(message, &mut reminders, &replier)? {
                ReplyOutcome::Taken(follows) => return Ok(follows),
                ReplyOutcome::Injected(follows, inbox, id) => {
                    if let Err(error) = inbox.durable().await
                        && self.withdraw(message, &inbox, &id)
                    {
                        return Err(Refusal::Log(error));
                    }
                    self.injections.hold(reminders);
                    return Ok(follows);
                }
                ReplyOutcome::Opening => drop(self.inbox().await?),
            }
        }
    }

    fn reply(
        &self,
        message: &Message,
        reminders: &mut Vec<PeerReminder>,
        replier: &Replier<'_>,
    ) -> Result<ReplyOutcome, Refusal> {
        let mut state = self.lock();
        if state.is_left {
            return Err(LEFT);
        }
        if state.machine.asks_permission() && !replier.may_permit {
            return Err(Refusal::NoScope("permit"));
        }
        let (out, queued) = match state.machine.reply(message, now_ms()) {
            MessageOutcome::Known => return Ok(ReplyOutcome::Taken(self.follow_reply(&mut state))),
            MessageOutcome::Taken(out) => (out, None),
            MessageOutcome::Unasked => match self.inject(&mut state, message)? {
                Some(QueuedMessage { out, inbox, id }) => (out, Some((inbox, id))),
                None => return Ok(ReplyOutcome::Opening),
            },
        };
        (replier.is_taken)();
        if queued.is_none() {
            // The task may read them as soon as it has its answer.
            self.injections.hold(std::mem::take(reminders));
        }
        let frames = self.put(&mut state, out, now_ms());
        frames.iter().for_each(|frame| self.tell(frame));
        let follows = self.follow_reply(&mut state);
        drop(state);
        self.changed.notify_waiters();
        Ok(match queued {
            Some((inbox, id)) => ReplyOutcome::Injected(follows, inbox, id),
            None => ReplyOutcome::Taken(follows),
        })
    }

    /// Queues a message for the loop of the running task. Returns `None` while the session is opening.
    fn inject(&self, state: &mut SharedTaskState, message: &Message) -> Result<Option<QueuedMessage>, Refusal> {
        let task_id = self.id.clone();
        if state.machine.is_over() {
            return Err(Refusal::Over { task_id, state: state.machine.state() });
        }
        if state.machine.halted().is_some() {
            return Err(Refusal::Halting(task_id));
        }
        let payload = injected(message)?;
        let Some(handle) = &state.handle else { return Ok(None) };
        // A session that was closed has no more loops; the end of its task follows.
        let inbox = handle.inbox().map_err(|_| Refusal::Halting(task_id))?.clone();
        let id = inbox.accept_message(payload).map_err(Refusal::Queue)?.id;
        self.injections.sent(&id, &message.message_id);
        let sent = Data::dict([("id", Data::from(&id)), ("message_id", (&message.message_id).into())]);
        let mut out = state.machine.hear(message);
        out.push(TaskEffect::Change(TaskChange::Injected(sent)));
        Ok(Some(QueuedMessage { out, inbox, id }))
    }

    /// Undoes the injection of a message that cannot be stored. Returns false if a loop was faster.
    fn withdraw(&self, message: &Message, inbox: &Inbox, id: &str) -> bool {
        if inbox.revoke(id).is_err() {
            return false;
        }
        self.injections.unsent(id);
        self.lock().machine.unhear(message);
        true
    }

    /// Subscribes after a message. The frame that ends the streams of a task that still asks was reported before.
    fn follow_reply(&self, state: &mut SharedTaskState) -> Subscription {
        self.follow_in(state, |state: TaskState| state.is_terminal() || state.is_interrupted())
    }
}
