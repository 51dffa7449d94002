//! Messages and new tasks.

use prost::Message as _;
use prost_types::value::Kind;

use crate::broker::change::{ChangeKind, SubmittedTask};
use crate::broker::command::{Caller, Publish, PublishReceipt, Reply};
use crate::broker::error::{BrokerError, ErrorKind};
use crate::broker::fingerprint::Fingerprint;
use crate::broker::task::{Assignment, is_final};
use crate::broker::{Broker, payload};
use crate::proto::a2a::{Message, Task, TaskState, TaskStatus};

use super::{MAX_ID_BYTES, Step, check_id, check_length, not_involved, sender};

/// Maximum size of all copies of a broadcast task, in bytes: they are written as a whole.
const MOST_COPIED: usize = 32 << 20;

/// Destination of a new task, with the other settings of its message.
struct Plan {
    /// The agent, or the agents of the copies.
    targets: Vec<String>,
    queue: String,
    is_broadcast: bool,
    deadline_ms: u64,
    max_attempts: u32,
}

impl Step<'_> {
    pub(super) fn publish(&mut self, caller: &Caller, mut publish: Publish) -> Result<Reply, BrokerError> {
        sender(caller, &mut publish.routing)?;
        let message = &mut publish.message;
        check_length("message_id", &message.message_id)?;
        check_length("context_id", &message.context_id)?;
        check_length("task_id", &message.task_id)?;
        let from = publish.routing.from_agent_id.clone();
        // Of the message as it was sent: ids that the broker makes differ when it is sent again.
        let digest = Fingerprint::of("publish").message(message).message(&publish.routing).end();
        if let Some(first) = self.repeated(&from, &message.message_id, digest)? {
            return Ok(Reply::Published(first));
        }
        if message.message_id.is_empty() {
            message.message_id = format!("msg_{}", (self.ids)());
        }
        if publish.submits {
            if message.task_id.is_empty() {
                message.task_id = format!("task_{}", (self.ids)());
            }
            if message.context_id.is_empty() && self.broker.task(&message.task_id).is_none() {
                message.context_id = format!("ctx_{}", (self.ids)());
            }
        }
        let most = self.broker.options.max_task_bytes;
        if message.encoded_len() > most {
            return Err(BrokerError::limit(format!("the message is larger than {most} bytes")));
        }
        let (message_id, task_id) = (message.message_id.clone(), message.task_id.clone());
        let event_id = if task_id.is_empty() {
            self.plain_message(publish)?
        } else if self.broker.task(&task_id).is_some() {
            self.append(publish)?
        } else {
            self.submit(publish)?
        };
        let receipt = PublishReceipt { event_id, message_id, task_id };
        self.keep(&from, &receipt, digest);
        Ok(Reply::Published(receipt))
    }

    fn plain_message(&mut self, publish: Publish) -> Result<String, BrokerError> {
        self.check_known(&publish.routing.to_agent_id)?;
        Ok(self.emit(publish.routing, publish.trace, ChangeKind::MessagePublished(publish.message)))
    }

    fn append(&mut self, mut publish: Publish) -> Result<String, BrokerError> {
        self.check_known(&publish.routing.to_agent_id)?;
        let message = &mut publish.message;
        let Some(entry) = self.broker.task(&message.task_id) else {
            return Err(BrokerError::not_found("task", &message.task_id));
        };
        let id = base::ids::shortened(&message.task_id);
        if is_final(entry.state()) {
            let state = payload::state_name(entry.state());
            let text = format!("the task `{id}` is {state} and takes no more messages");
            return Err(BrokerError::new(ErrorKind::FailedPrecondition, text));
        }
        if !entry.involves(&publish.routing.from_agent_id) {
            return Err(not_involved(&publish.routing.from_agent_id, &message.task_id));
        }
        if !message.context_id.is_empty() && message.context_id != entry.task.context_id {
            let context = base::ids::shortened(&entry.task.context_id);
            return Err(BrokerError::invalid(format!("the task `{id}` belongs to another context: `{context}`")));
        }
        message.context_id.clone_from(&entry.task.context_id);
        let options = &self.broker.options;
        if entry.task.history.len() >= options.max_history {
            return Err(BrokerError::limit(format!(
                "too many messages of the task `{id}`: the limit is {}",
                options.max_history
            )));
        }
        self.broker.check_size(entry.bytes, message.encoded_len(), &id)?;
        let copies = self.copies_of_message(&entry.copies, message)?;
        let event_id =
            self.emit(publish.routing.clone(), publish.trace.clone(), ChangeKind::MessageAppended(publish.message));
        for copy in copies {
            self.emit(publish.routing.clone(), publish.trace.clone(), ChangeKind::MessageAppended(copy));
        }
        Ok(event_id)
    }

    /// Returns a message to a broadcast task for each of its copies that is not over.
    fn copies_of_message(&self, copies: &[String], message: &Message) -> Result<Vec<Message>, BrokerError> {
        let open = copies.iter().filter_map(|id| self.broker.task(id)).filter(|copy| !is_final(copy.state()));
        let most = self.broker.options.max_history;
        let (mut messages, length) = (Vec::new(), message.encoded_len());
        for copy in open {
            let id = base::ids::shortened(&copy.task.id);
            if copy.task.history.len() >= most {
                return Err(BrokerError::limit(format!("too many messages of the task `{id}`: the limit is {most}")));
            }
            self.broker.check_size(copy.bytes, length, &id)?;
            if (messages.len() + 1).saturating_mul(length) > MOST_COPIED {
                let text = format!("the copies of the message would be larger than {MOST_COPIED} bytes");
                return Err(BrokerError::limit(text));
            }
            messages.push(Message {
                task_id: copy.task.id.clone(),
                context_id: copy.task.context_id.clone(),
                ..message.clone()
            });
        }
        Ok(messages)
    }

    fn submit(&mut self, publish: Publish) -> Result<String, BrokerError> {
        let plan = self.plan(&publish)?;
        let Publish { message, routing, trace, .. } = publish;
        let task_id = message.task_id.clone();
        let timestamp = payload::timestamp(self.now_ms);
        let submitted = |message: Message, metadata, target: &str, queue: &str, parent: &str| {
            let status = TaskStatus { state: TaskState::Submitted as i32, update: None, timestamp: Some(timestamp) };
            ChangeKind::TaskSubmitted(SubmittedTask {
                task: Some(Task {
                    id: message.task_id.clone(),
                    context_id: message.context_id.clone(),
                    status: Some(status),
                    artifacts: Vec::new(),
                    history: vec![message],
                    metadata,
                }),
                target: target.to_owned(),
                queue: queue.to_owned(),
                parent: parent.to_owned(),
                deadline_ms: plan.deadline_ms,
                max_attempts: plan.max_attempts,
            })
        };
        let metadata = message.metadata.clone();
        if !plan.is_broadcast {
            let target = plan.targets.first().map_or("", String::as_str);
            let kind = submitted(message, metadata, target, &plan.queue, "");
            return Ok(self.emit(routing, trace, kind));
        }
        let copies: Vec<ChangeKind> = (plan.targets.iter())
            .map(|target| {
                let copy = Message { task_id: copy_id(&task_id, target), ..message.clone() };
                let mut metadata = metadata.clone().unwrap_or_default();
                let parent = prost_types::Value { kind: Some(Kind::StringValue(task_id.clone())) };
                metadata.fields.insert("parent_task_id".to_owned(), parent);
                submitted(copy, Some(metadata), target, "", &task_id)
            })
            .collect();
        let kind = submitted(message, metadata, "", "", "");
        let event_id = self.emit(routing.clone(), trace.clone(), kind);
        for copy in copies {
            self.emit(routing.clone(), trace.clone(), copy);
        }
        Ok(event_id)
    }

    /// Decides where a new task goes.
    fn plan(&self, publish: &Publish) -> Result<Plan, BrokerError> {
        let Publish { message, routing, .. } = publish;
        let options = &self.broker.options;
        let deadline_ms = payload::deadline(message.metadata.as_ref())?;
        let deadline_ms = deadline_ms.map(|at_ms| at_ms.saturating_add_signed(self.broker.ahead_ms));
        if deadline_ms.is_some_and(|at_ms| at_ms <= self.now_ms) {
            return Err(BrokerError::invalid("`metadata.deadline` is in the past"));
        }
        let max_attempts = payload::max_attempts(message.metadata.as_ref())?.unwrap_or(options.max_attempts);
        let queue = payload::queue(message.metadata.as_ref())?;
        check_length("metadata.queue", &queue)?;
        let mut plan = Plan {
            targets: Vec::new(),
            is_broadcast: false,
            queue,
            deadline_ms: deadline_ms.unwrap_or(0),
            max_attempts: max_attempts.min(options.max_attempts),
        };
        if !routing.to_agent_id.is_empty() {
            if !plan.queue.is_empty() {
                return Err(BrokerError::invalid("`metadata.queue` and `routing.to_agent_id` are mutually exclusive"));
            }
            self.check_known(&routing.to_agent_id)?;
            plan.targets.push(routing.to_agent_id.clone());
        } else if plan.queue.is_empty() {
            plan.is_broadcast = true;
            plan.targets = self.broker.matching(routing).map(|agent| agent.agent_id.clone()).collect();
            self.check_copies(&message.task_id, &plan.targets)?;
            if plan.targets.len().saturating_mul(message.encoded_len()) > MOST_COPIED {
                let text = format!("the copies of the broadcast would be larger than {MOST_COPIED} bytes");
                return Err(BrokerError::limit(text));
            }
        }
        let open = self.broker.tasks.len() - self.broker.finished.len();
        let copies = if plan.is_broadcast { plan.targets.len() } else { 0 };
        if open + 1 + copies > options.max_tasks {
            return Err(BrokerError::limit(format!("too many unfinished tasks: the limit is {}", options.max_tasks)));
        }
        Ok(plan)
    }

    fn check_copies(&self, task_id: &str, targets: &[String]) -> Result<(), BrokerError> {
        let most = self.broker.options.max_copies;
        if targets.is_empty() {
            return Err(BrokerError::new(
                ErrorKind::NotFound,
                "no registered agent matches the broadcast; register one, or set `routing.to_agent_id` or `metadata.queue`",
            ));
        }
        if targets.len() > most {
            return Err(BrokerError::limit(format!(
                "too many copies of the broadcast: {} agents match, the limit is {most}",
                targets.len()
            )));
        }
        for target in targets {
            let copy = copy_id(task_id, target);
            if copy.len() > MAX_ID_BYTES {
                let target = base::ids::shortened(target);
                let text = format!(
                    "the id of the copy for `{target}` is longer than {MAX_ID_BYTES} bytes: use a shorter `task_id`"
                );
                return Err(BrokerError::invalid(text));
            }
            if self.broker.task(&copy).is_some() {
                let copy = base::ids::shortened(&copy);
                return Err(BrokerError::invalid(format!("a task with the id of a copy exists: `{copy}`")));
            }
        }
        Ok(())
    }

    /// Checks that a target is registered or has a subscription. No target means all.
    fn check_known(&self, agent_id: &str) -> Result<(), BrokerError> {
        if agent_id.is_empty() {
            return Ok(());
        }
        check_id("routing.to_agent_id", agent_id)?;
        let is_known = self.broker.agents.contains_key(agent_id) || self.broker.attached.contains_key(agent_id);
        if is_known { Ok(()) } else { Err(BrokerError::not_found("agent", agent_id)) }
    }

    /// Derives the status of a broadcast task from those of its copies, after one of them changed.
    pub(super) fn aggregate(&mut self, copy_id: &str) {
        let Some(parent_id) = self.broker.task(copy_id).and_then(|copy| copy.parent.clone()) else { return };
        let Some(parent) = self.broker.task(&parent_id) else { return };
        if parent.assignment != Assignment::Copies || is_final(parent.state()) {
            return;
        }
        let states: Vec<TaskState> = parent
            .copies
            .iter()
            .filter_map(|id| self.broker.task(id))
            .map(crate::broker::task::TaskEntry::state)
            .collect();
        let count = |wanted: TaskState| states.iter().filter(|state| **state == wanted).count();
        let before = parent.state();
        let after = if !states.iter().all(|state| is_final(*state)) {
            // A copy that was only rejected has not begun.
            let is_idle = states.iter().all(|state| matches!(state, TaskState::Submitted | TaskState::Rejected));
            if is_idle { before } else { TaskState::Working }
        } else if count(TaskState::Failed) > 0 {
            TaskState::Failed
        } else if count(TaskState::Cancelled) > 0 {
            TaskState::Cancelled
        } else if count(TaskState::Completed) > 0 {
            TaskState::Completed
        } else {
            TaskState::Rejected
        };
        if after == before {
            return;
        }
        let counted = [TaskState::Completed, TaskState::Failed, TaskState::Cancelled, TaskState::Rejected]
            .map(|state| (payload::state_name(state).to_lowercase(), count(state)));
        let text = counted.iter().map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>().join(", ");
        let text = format!("{text} of {} copies", states.len());
        #[allow(clippy::cast_precision_loss)]
        let fields = counted.iter().map(|(name, count)| (name.as_str(), Kind::NumberValue(*count as f64)));
        let data = payload::metadata(fields);
        if before == TaskState::Submitted && matches!(after, TaskState::Completed) {
            self.broker_status(&parent_id, TaskState::Working, text.clone(), Some(data.clone()), false);
        }
        self.broker_status(&parent_id, after, text, Some(data), false);
    }
}

impl Broker {
    pub(super) fn check_size(&self, bytes: usize, added: usize, id: &str) -> Result<(), BrokerError> {
        let most = self.options.max_task_bytes;
        if bytes.saturating_add(added) > most {
            return Err(BrokerError::limit(format!("the task `{id}` would be larger than {most} bytes")));
        }
        Ok(())
    }
}

/// Returns the id of an agent's copy of a broadcast task.
fn copy_id(task_id: &str, agent_id: &str) -> String {
    format!("{task_id}.{agent_id}")
}
