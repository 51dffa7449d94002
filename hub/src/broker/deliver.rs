//! From changes to the events that subscribers see.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use prost::Message as _;

use crate::proto::a2a::{Task, TaskState};
use crate::proto::agenthub::{
    AgentCardEvent, AgentEvent, AgentEventMetadata, TaskArtifactUpdateEvent, TaskStatusUpdateEvent,
    agent_event::Payload,
};

use super::change::{AgentRecord, Change, ChangeKind};
use super::memory::{HeapUse as _, allocated};
use super::task::{Assignment, TaskEntry, is_final};
use super::{Broker, Level, payload};

/// The kind of subscription that gets an event. A subscription to all events gets those that are `main`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    /// Messages.
    Messages,
    /// Tasks, their updates and artifacts.
    Tasks,
    /// Registrations.
    Cards,
}

/// The agents that get an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Audience {
    /// These agents.
    Agents(Vec<String>),
    /// All agents except one.
    AllExcept(String),
}

/// An event that many subscribers share. It reads like an [`AgentEvent`]; one that shows a task is composed when it is
/// first read, since most events have no subscriber.
#[derive(Debug, Clone)]
pub struct SharedEvent(Arc<ComposedEvent>);

#[derive(Debug)]
struct ComposedEvent {
    /// The event, without its payload if it shows a task.
    header: AgentEvent,
    shown: Option<ShownTask>,
    /// Boxed, because few events are ever read.
    composed: OnceLock<Box<AgentEvent>>,
}

/// The part of a task that an event shows.
#[derive(Debug)]
enum ShownTask {
    Whole(Arc<Task>),
    FirstMessage(Arc<Task>),
}

impl SharedEvent {
    fn new(header: AgentEvent, shown: Option<ShownTask>) -> SharedEvent {
        SharedEvent(Arc::new(ComposedEvent { header, shown, composed: OnceLock::new() }))
    }

    /// Returns the id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.0.header.event_id
    }

    /// Returns the id of its task; empty if it has none.
    #[must_use]
    pub fn task_id(&self) -> &str {
        match (&self.0.shown, &self.0.header.payload) {
            (Some(ShownTask::Whole(task) | ShownTask::FirstMessage(task)), _) => &task.id,
            (None, Some(Payload::Message(message))) => &message.task_id,
            (None, Some(Payload::StatusUpdate(update))) => &update.task_id,
            (None, Some(Payload::ArtifactUpdate(update))) => &update.task_id,
            (None, Some(Payload::Task(task))) => &task.id,
            (None, Some(Payload::AgentCard(_)) | None) => "",
        }
    }

    fn routing(&self) -> Option<&AgentEventMetadata> {
        self.0.header.routing.as_ref()
    }

    /// Returns its approximate memory. The task that it shows counts as its own: it may be an earlier state, which nothing
    /// else needs, and it is copied when the event is read.
    fn memory(&self) -> usize {
        let shown = match &self.0.shown {
            Some(ShownTask::Whole(task) | ShownTask::FirstMessage(task)) => size_of::<Task>() + task.heap(),
            None => 0,
        };
        allocated(size_of::<ComposedEvent>() + 2 * size_of::<usize>()) + self.0.header.heap() + shown
    }
}

impl Deref for SharedEvent {
    type Target = AgentEvent;

    fn deref(&self) -> &AgentEvent {
        let ComposedEvent { header, shown, composed } = &*self.0;
        let Some(shown) = shown else { return header };
        composed.get_or_init(|| {
            let payload = match shown {
                ShownTask::Whole(task) => Some(Payload::Task(Task::clone(task))),
                ShownTask::FirstMessage(task) => task.history.first().cloned().map(Payload::Message),
            };
            Box::new(AgentEvent { payload, ..header.clone() })
        })
    }
}

impl PartialEq for SharedEvent {
    fn eq(&self, other: &SharedEvent) -> bool {
        **self == **other
    }
}

/// An event for subscribers.
#[derive(Debug, Clone, PartialEq)]
pub struct RoutedEvent {
    /// Number of the change.
    pub number: u64,
    /// The subscriptions that get it.
    pub channel: Channel,
    /// Whether subscriptions to all events get it.
    pub main: bool,
    /// The agents that get it.
    pub audience: Audience,
    /// The event.
    pub event: SharedEvent,
    /// Context of the message or task.
    pub context_id: String,
    /// State of the task.
    pub state: TaskState,
    /// Type of the task: the event type of its first message.
    pub task_type: String,
    /// Events of one lane stay in order.
    pub lane: Arc<str>,
    /// Size of the event.
    pub bytes: usize,
    /// Approximate memory of the event, in bytes.
    pub memory: usize,
}

impl RoutedEvent {
    /// Returns the priority.
    #[must_use]
    pub fn level(&self) -> Level {
        Level::of(self.event.routing().map_or(0, |routing| routing.priority))
    }

    /// Returns the event type.
    #[must_use]
    pub fn event_type(&self) -> &str {
        self.event.routing().map_or("", |routing| &routing.event_type)
    }
}

impl Broker {
    /// Returns the events of a change that has been applied.
    #[must_use]
    pub fn events(&self, change: &Change) -> Vec<RoutedEvent> {
        let sender = change.routing.as_ref().map_or("", |routing| &routing.from_agent_id);
        match &change.kind {
            Some(ChangeKind::AgentRegistered(agent)) => vec![card(change, agent, "registered")],
            Some(ChangeKind::AgentUnregistered(agent)) => vec![card(change, agent, "unregistered")],
            Some(ChangeKind::HealthChanged(agent)) => vec![card(change, agent, "updated")],
            Some(ChangeKind::MessagePublished(message)) => {
                let routing = change.routing.clone().unwrap_or_default();
                let audience = if routing.to_agent_id.is_empty() {
                    self.audience_of_tags(&routing)
                } else {
                    Audience::Agents(vec![routing.to_agent_id.clone()])
                };
                let event = event(change, Payload::Message(message.clone()), routing);
                vec![routed(change, None, Channel::Messages, true, audience, event, &message.context_id)]
            }
            Some(ChangeKind::TaskSubmitted(submitted)) => {
                let Some(entry) = submitted.task.as_ref().and_then(|task| self.task(&task.id)) else {
                    return Vec::new();
                };
                self.offer(change, entry, true)
            }
            Some(ChangeKind::TaskRequeued(requeued)) => {
                self.task(&requeued.task_id).map_or_else(Vec::new, |entry| self.offer(change, entry, false))
            }
            Some(ChangeKind::TaskAcknowledged(ids)) if ids.redelivered => {
                let entries = ids.task_ids.iter().filter_map(|id| self.task(id));
                entries.flat_map(|entry| self.offer(change, entry, false)).collect()
            }
            Some(ChangeKind::MessageAppended(message)) => {
                let Some(entry) = self.task(&message.task_id) else { return Vec::new() };
                let mut audience = others(entry, sender);
                let routing = change.routing.clone().unwrap_or_default();
                if !routing.to_agent_id.is_empty() && !audience.contains(&routing.to_agent_id) {
                    audience.push(routing.to_agent_id.clone());
                }
                let audience = Audience::Agents(audience);
                let event = event(change, Payload::Message(message.clone()), routing);
                let copy = (audience.clone(), (event.0.clone(), None));
                vec![
                    routed(change, Some(entry), Channel::Messages, true, audience, event, &entry.task.context_id),
                    routed(change, Some(entry), Channel::Tasks, false, copy.0, copy.1, &entry.task.context_id),
                ]
            }
            Some(ChangeKind::StatusChanged(changed)) => {
                let Some(entry) = self.task(&changed.task_id) else { return Vec::new() };
                let state =
                    changed.status.as_ref().map_or(TaskState::Unspecified, crate::proto::a2a::TaskStatus::state);
                let update = TaskStatusUpdateEvent {
                    task_id: changed.task_id.clone(),
                    context_id: entry.task.context_id.clone(),
                    status: changed.status.clone(),
                    r#final: is_final(state),
                    metadata: changed.metadata.clone(),
                };
                task_update(change, entry, sender, Payload::StatusUpdate(update), "task.status_update")
            }
            Some(ChangeKind::ArtifactChanged(changed)) => {
                let Some(entry) = self.task(&changed.task_id) else { return Vec::new() };
                let update = TaskArtifactUpdateEvent {
                    task_id: changed.task_id.clone(),
                    context_id: entry.task.context_id.clone(),
                    artifact: changed.artifact.clone(),
                    append: changed.append,
                    last_chunk: changed.last_chunk,
                    metadata: changed.metadata.clone(),
                };
                task_update(change, entry, sender, Payload::ArtifactUpdate(update), "task.artifact")
            }
            _ => Vec::new(),
        }
    }

    /// Returns the event that hands a waiting task to its agent once more; `None` if the task does not wait for it.
    pub(crate) fn waiting_event(&self, number: u64, agent_id: &str) -> Option<RoutedEvent> {
        let entry = self.order.get(&number).and_then(|id| self.task(id))?;
        let is_target = matches!(&entry.assignment, Assignment::Inbox(target) if target == agent_id);
        if !is_target || entry.state() != TaskState::Submitted || entry.worker.is_some() {
            return None;
        }
        let change = Change {
            number,
            event_id: entry.event_id.clone(),
            at_ms: entry.delivered_ms,
            trace_id: entry.trace.trace_id.clone(),
            span_id: entry.trace.span_id.clone(),
            ..Change::default()
        };
        self.offer(&change, entry, false).pop()
    }

    /// Returns the numbers of the tasks that wait for an agent, by priority and age.
    pub(crate) fn waiting_for(&self, agent_id: &str) -> Vec<u64> {
        let Some(queue) = self.queues.get(&Assignment::Inbox(agent_id.to_owned())) else { return Vec::new() };
        let mut waiting: Vec<(Level, u64)> =
            (queue.iter()).filter_map(|(number, id)| self.tasks.get(id).map(|entry| (entry.level(), number))).collect();
        waiting.sort_by_key(|(level, number)| (std::cmp::Reverse(*level), *number));
        waiting.into_iter().map(|(_, number)| number).collect()
    }

    /// Returns the event that hands a task to its agent, or announces it to the candidates of its queue. The first time,
    /// its message is an event too.
    fn offer(&self, change: &Change, entry: &TaskEntry, first: bool) -> Vec<RoutedEvent> {
        let mut routing = entry.routing.clone();
        let audience = match &entry.assignment {
            Assignment::Inbox(target) => {
                routing.to_agent_id.clone_from(target);
                vec![target.clone()]
            }
            Assignment::Queue(_) => self.candidates(entry),
            Assignment::Copies => return Vec::new(),
        };
        let audience = Audience::Agents(audience);
        let context = &entry.task.context_id;
        let mut events = Vec::with_capacity(2);
        if first {
            let message = (header(change, routing.clone()), Some(ShownTask::FirstMessage(entry.task.clone())));
            events.push(routed(change, Some(entry), Channel::Messages, false, audience.clone(), message, context));
        }
        let task = (header(change, routing), Some(ShownTask::Whole(entry.task.clone())));
        events.push(routed(change, Some(entry), Channel::Tasks, true, audience, task, context));
        events
    }

    /// Returns the agents whose tags match those of a message; all, if it has none.
    fn audience_of_tags(&self, routing: &AgentEventMetadata) -> Audience {
        if routing.subscriptions.is_empty() {
            return Audience::AllExcept(routing.from_agent_id.clone());
        }
        Audience::Agents(self.matching(routing).map(|agent| agent.agent_id.clone()).collect())
    }
}

fn routed(
    change: &Change,
    entry: Option<&TaskEntry>,
    channel: Channel,
    main: bool,
    audience: Audience,
    (mut event, shown): (AgentEvent, Option<ShownTask>),
    context_id: &str,
) -> RoutedEvent {
    if let Some(entry) = entry
        && event.trace_id.is_empty()
    {
        event.trace_id.clone_from(&entry.trace.trace_id);
        event.span_id.clone_from(&entry.trace.span_id);
    }
    let task_id = entry.map_or("", |entry| &entry.task.id);
    let lane = if !context_id.is_empty() {
        format!("c{context_id}")
    } else if task_id.is_empty() {
        // Messages without a context keep the order of their sender.
        format!("s{}", event.routing.as_ref().map_or("", |routing| &routing.from_agent_id))
    } else {
        format!("t{task_id}")
    };
    let shown_bytes = if shown.is_some() { entry.map_or(0, |entry| entry.bytes) } else { 0 };
    let bytes = event.encoded_len() + shown_bytes;
    let event = SharedEvent::new(event, shown);
    RoutedEvent {
        number: change.number,
        bytes,
        memory: event_memory(&event, &audience, context_id),
        channel,
        main,
        audience,
        event,
        context_id: context_id.to_owned(),
        state: entry.map_or(TaskState::Unspecified, TaskEntry::state),
        task_type: entry.map_or_else(String::new, |entry| entry.routing.event_type.clone()),
        lane: lane.into(),
    }
}

/// Returns the approximate memory of an event with its receivers.
fn event_memory(event: &SharedEvent, audience: &Audience, context_id: &str) -> usize {
    let agents = match audience {
        Audience::Agents(ids) => ids.heap(),
        Audience::AllExcept(id) => id.heap(),
    };
    // Its context and its lane.
    let texts = 2 * context_id.heap();
    allocated(size_of::<RoutedEvent>() + 2 * size_of::<usize>()) + event.memory() + agents + texts
}

fn task_update(change: &Change, entry: &TaskEntry, sender: &str, payload: Payload, kind: &str) -> Vec<RoutedEvent> {
    let mut routing = change.routing.clone().unwrap_or_default();
    if routing.event_type.is_empty() {
        routing.event_type = kind.to_owned();
    }
    if routing.priority == 0 {
        routing.priority = entry.routing.priority;
    }
    let event = event(change, payload, routing);
    let audience = Audience::Agents(others(entry, sender));
    vec![routed(change, Some(entry), Channel::Tasks, true, audience, event, &entry.task.context_id)]
}

fn others(entry: &TaskEntry, sender: &str) -> Vec<String> {
    let mut others: Vec<String> = Vec::new();
    for agent in [Some(entry.requester()), entry.worker_or_target()].into_iter().flatten() {
        if agent != sender && !agent.is_empty() && !others.iter().any(|known| known == agent) {
            others.push(agent.to_owned());
        }
    }
    others
}

fn event(change: &Change, payload: Payload, routing: AgentEventMetadata) -> (AgentEvent, Option<ShownTask>) {
    (AgentEvent { payload: Some(payload), ..header(change, routing) }, None)
}

/// Returns an event without its payload.
fn header(change: &Change, routing: AgentEventMetadata) -> AgentEvent {
    AgentEvent {
        event_id: change.event_id.clone(),
        timestamp: Some(payload::timestamp(change.at_ms)),
        payload: None,
        routing: Some(routing),
        trace_id: change.trace_id.clone(),
        span_id: change.span_id.clone(),
    }
}

fn card(change: &Change, agent: &AgentRecord, kind: &str) -> RoutedEvent {
    let routing = AgentEventMetadata {
        from_agent_id: agent.agent_id.clone(),
        event_type: format!("agent.{kind}"),
        ..AgentEventMetadata::default()
    };
    let health = payload::string(if agent.healthy { "healthy" } else { "unhealthy" });
    let content = AgentCardEvent {
        agent_id: agent.agent_id.clone(),
        agent_card: agent.card.clone(),
        event_type: kind.to_owned(),
        metadata: Some(payload::metadata([("health", health)])),
    };
    let (event, shown) = event(change, Payload::AgentCard(content), routing);
    let bytes = event.encoded_len();
    let (event, audience) = (SharedEvent::new(event, shown), Audience::AllExcept(agent.agent_id.clone()));
    RoutedEvent {
        number: change.number,
        bytes,
        memory: event_memory(&event, &audience, ""),
        channel: Channel::Cards,
        main: true,
        audience,
        event,
        context_id: String::new(),
        state: TaskState::Unspecified,
        task_type: String::new(),
        lane: format!("a{}", agent.agent_id).into(),
    }
}
